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
// reason. Selection describes which RPCs they have.
type Rotation struct {
	Time, KeepTime time.Duration
	Size, KeepSize int64 // bytes
	Selection      Description
}

// Description describes a Selection for the readers of a file.
type Description struct {
	Filter string
	Sample uint64 // one of so many; 0: none
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
const (
	minRetry = time.Second
	maxRetry = time.Minute
)

// recordDir is the directory that a Recorder writes files to. Only the goroutine of the
// Recorder uses it, except stats.
type recordDir struct {
	opt  RecorderOptions
	dir  outdir.Dir
	open *recordFile // the file that is being written, or nil

	retry     time.Duration // the last one, 0: the last attempt succeeded
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
	size   countingWriter
	buffer *bufio.Writer
	rows   *rows.Writer[*track.RPC]
	n      int64
	rotate time.Time // when it is to be completed, zero: not by time; in a live capture by the monotonic clock
	base   string    // of its name
}

// isDue reports whether the file is to be completed by time.
func (f *recordFile) isDue(now time.Time) bool { return !f.rotate.IsZero() && !now.Before(f.rotate) }

type countingWriter struct {
	to io.Writer
	n  int64
}

func (w *countingWriter) Write(b []byte) (int, error) {
	n, err := w.to.Write(b)
	w.n += int64(n)
	return n, err
}

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
	f := d.open
	f.n++
	if err := f.rows.Append(r); err != nil {
		d.fail(err)
		return
	}
	if d.opt.Size > 0 && f.size.n+int64(f.buffer.Buffered()) >= d.opt.Size {
		d.complete()
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
	if d.retry != 0 && time.Now().Before(d.retryAt) {
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
	if d.retry != 0 {
		d.opt.Log("records: writing again, %d records were lost", d.lostSince)
		d.retry, d.lostSince = 0, 0
	}
	return true
}

// backOff sets when files are written again after an error. It logs the first error, and then one
// every maxRetry.
func (d *recordDir) backOff(err error) {
	if d.retry < maxRetry {
		d.opt.Log("records: %v; records are dropped, the capture goes on", err)
	}
	d.retry = min(max(2*d.retry, minRetry), maxRetry)
	d.retryAt = time.Now().Add(d.retry)
}

func (d *recordDir) newFile(now time.Time) (*recordFile, error) {
	base := d.dir.Base(now, "")
	file, err := d.dir.CreateFile(base)
	if err != nil {
		return nil, err
	}
	f := &recordFile{file: file, size: countingWriter{to: file}, base: base}
	f.buffer = bufio.NewWriterSize(&f.size, fileBuffer)
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
	if s := d.opt.Selection; s.Filter != "" {
		f.rows.SetMetadata(filterKey, s.Filter)
	}
	if s := d.opt.Selection; s.Sample > 0 {
		f.rows.SetMetadata(sampleKey, "1/"+strconv.FormatUint(s.Sample, 10))
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
