package monitor

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/outdir"
	"github.com/lshark/lshark/render/parquet/rows"
	"github.com/lshark/lshark/render/records"
)

// RecorderOptions are the settings of a Recorder.
type RecorderOptions struct {
	Dir string
	Rotation
	Sensor  string // name of the capturing host
	Capture string // name of the capture: the interface, or the files
	Release string
	Live    bool // files are rotated by the time of day, else by the times of the RPCs
	Log     func(format string, args ...any)

	// Free returns how many bytes are left on the disk; nil: by the system.
	Free func(dir string) (int64, error)
}

// Rotation is when files are completed and when they are removed. 0: never for that
// reason.
type Rotation struct {
	Time, KeepTime time.Duration
	Size, KeepSize int64 // bytes

	// Which RPCs a file has, for its readers: those that match a filter, and one of so many; empty
	// and 0: none.
	Filter string
	Sample uint64
}

// Names of files, and how they are written.
const (
	filePrefix    = "lshark-rpcs-"
	fileSuffix    = ".parquet"
	fileBuffer    = 1 << 20
	pruneInterval = time.Minute
)

// Keys of the metadata of a file: which RPCs it has.
const (
	filterKey = "lshark.filter"
	sampleKey = "lshark.sample"
)

// Files are written again this long after an error.
const retryInterval = 10 * time.Second

// recordDir is the directory that a Recorder writes files to. Only the goroutine of the
// Recorder uses it, except stats.
type recordDir struct {
	opt  RecorderOptions
	dir  outdir.Dir
	open *recordFile // the file that is being written, or nil

	failing   bool // the last attempt has failed
	retryAt   time.Time
	lostSince int64 // records since the error was logged
	pruneAt   time.Time

	mu    sync.Mutex
	stats RecorderStats
}

// count changes the counts.
func (d *recordDir) count(change func(*RecorderStats)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.stats)
}

type recordFile struct {
	file   *os.File
	buffer *bufio.Writer
	rows   *rows.Writer[*track.RPC]
	n      int64
	rotate time.Time // when it is to be completed, zero: not by time; in a live capture by the monotonic clock
	base   string    // of its name
}

// isDue reports whether the file is to be completed by time.
func (f *recordFile) isDue(now time.Time) bool { return !f.rotate.IsZero() && !now.Before(f.rotate) }

func openRecordDir(o RecorderOptions) (*recordDir, error) {
	d := &recordDir{opt: o}
	d.dir = outdir.Dir{Path: o.Dir, Prefix: filePrefix, Suffix: fileSuffix,
		Log: func(format string, args ...any) { o.Log("records: "+format, args...) }}
	if err := d.dir.Open(o.Sensor); err != nil {
		return nil, err
	}
	d.prune(time.Now())
	return d, nil
}

func (d *recordDir) add(r *track.RPC, now time.Time) {
	if d.open != nil && d.open.isDue(now) {
		d.complete()
	}
	if d.open == nil && !d.create(now) {
		d.lose(1)
		return
	}
	d.open.n++
	if err := d.open.rows.Append(r); err != nil {
		d.fail(err)
	}
}

// checkSize completes a file that is large enough.
func (d *recordDir) checkSize() {
	if f := d.open; f != nil && d.opt.Size > 0 {
		written, err := f.file.Seek(0, io.SeekCurrent)
		if err == nil && written+int64(f.buffer.Buffered()) >= d.opt.Size {
			d.complete()
		}
	}
}

// lose counts records that are not written.
func (d *recordDir) lose(n int64) {
	d.count(func(s *RecorderStats) { s.LostOnDisk += n })
	d.lostSince += n
}

// tick is called each second. It completes a file also when no more records come, and while that is
// still possible where the disk is nearly full. now is the time of day; batches are up to batchAge
// behind it.
func (d *recordDir) tick(now time.Time) {
	if d.open != nil {
		err := outdir.CheckFree(d.opt.Dir, d.opt.Free)
		if err != nil || d.opt.Live && d.open.isDue(now.Add(-2*batchAge)) {
			d.complete()
		}
		if err != nil {
			d.backOff(err)
		}
	}
	if !now.Before(d.pruneAt) {
		d.prune(now)
	}
}

func (d *recordDir) set(o Rotation) {
	d.complete()
	d.opt.Rotation = o
	d.prune(time.Now())
}

// create creates a file, unless an error was so recent that it is too early to try again.
func (d *recordDir) create(now time.Time) bool {
	if d.failing && time.Now().Before(d.retryAt) {
		return false
	}
	err := outdir.CheckFree(d.opt.Dir, d.opt.Free)
	if err == nil {
		d.open, err = d.newFile(now)
	}
	if err != nil {
		d.backOff(err)
		return false
	}
	if d.failing {
		d.opt.Log("records: writing again, %d records were lost", d.lostSince)
		d.failing, d.lostSince = false, 0
	}
	return true
}

// backOff sets when files are written again after an error, of which it logs the first.
func (d *recordDir) backOff(err error) {
	if !d.failing {
		d.opt.Log("records: %v; records are dropped, the capture goes on", err)
	}
	d.failing, d.retryAt = true, time.Now().Add(retryInterval)
}

func (d *recordDir) newFile(now time.Time) (*recordFile, error) {
	base := d.dir.Base(now, "")
	file, err := d.dir.CreateFile(base)
	if err != nil {
		return nil, err
	}
	f := &recordFile{file: file, buffer: bufio.NewWriterSize(file, fileBuffer), base: base}
	f.rows = rows.NewWriter(f.buffer, &records.RPCs, rows.Options{Release: d.opt.Release, Sensor: d.opt.Sensor, Capture: d.opt.Capture})
	if d.opt.Time > 0 {
		f.rotate = now.Add(d.opt.Time - now.Sub(now.Truncate(d.opt.Time)))
	}
	return f, nil
}

// complete closes the file that is open and gives it its name.
func (d *recordDir) complete() {
	f := d.open
	if f == nil {
		return
	}
	if d.opt.Filter != "" {
		f.rows.SetMetadata(filterKey, d.opt.Filter)
	}
	if d.opt.Sample > 0 {
		f.rows.SetMetadata(sampleKey, "1/"+strconv.FormatUint(d.opt.Sample, 10))
	}
	for _, step := range []func() error{f.rows.Close, f.buffer.Flush, f.file.Sync, f.file.Close} {
		if err := step(); err != nil {
			d.fail(err)
			return
		}
	}
	if _, err := d.dir.Publish(f.file.Name(), f.base); err != nil {
		d.fail(err)
		return
	}
	d.open = nil
	d.count(func(s *RecorderStats) {
		s.Files++
		s.Written += f.n
	})
	d.prune(time.Now())
}

// fail removes the file that is open after an error, and counts what was in it.
func (d *recordDir) fail(err error) {
	d.lose(d.open.n)
	d.backOff(err)
	d.open.file.Close() // it may be closed already
	d.dir.Remove(d.open.file.Name())
	d.open = nil
}

// prune removes own files that are too old, and the oldest while there are too many bytes.
func (d *recordDir) prune(now time.Time) {
	d.pruneAt = now.Add(pruneInterval)
	removed, left := d.dir.Prune(now, d.opt.KeepTime, d.opt.KeepSize)
	d.count(func(s *RecorderStats) {
		s.Pruned += removed
		s.DiskBytes = left
	})
}
