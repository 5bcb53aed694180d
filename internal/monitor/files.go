package monitor

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"github.com/lshark/lshark/dissect/track"
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

// Names of files. The temporary ones are hidden from programs that read all Parquet files
// of a directory.
const (
	filePrefix    = "lshark-rpcs-"
	fileSuffix    = ".parquet"
	tempPrefix    = ".lshark-rpcs-"
	tempSuffix    = ".parquet.tmp"
	lockName      = ".lshark-monitor.lock"
	fileTimeForm  = "20060102T150405Z"
	filesPerName  = 10000
	fileBuffer    = 1 << 20
	keptFree      = 64 << 20 // bytes that are left free on the disk
	freeInterval  = time.Second
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
// Recorder uses it, except counts.
type recordDir struct {
	opt    RecorderOptions
	sensor string // as it is in names of files
	lock   *os.File
	open   *recordFile // the file that is being written, or nil
	counts struct{ written, files, lost, pruned, diskBytes atomic.Int64 }

	retry     time.Duration // the last one, 0: the last attempt succeeded
	retryAt   time.Time
	lostSince int64 // records since the error was logged
	freeAt    time.Time
	pruneAt   time.Time
}

type recordFile struct {
	file   *os.File
	size   countingWriter
	buffer *bufio.Writer
	rows   *rows.Writer[*track.RPC]
	n      int64
	begun  time.Time // when it was created, by the clock that can be set back: without a monotonic reading
	rotate time.Time // when it is to be completed, zero: not by time
	path   string
}

// maxStepBack is by how much the clock may be set back before an open file is completed.
const maxStepBack = 5 * time.Second

// isDue reports whether the file is to be completed by time: also when the clock was set
// back, after which rotate may be far away.
func (f *recordFile) isDue(now time.Time) bool {
	return !f.rotate.IsZero() && (!now.Before(f.rotate) || now.Before(f.begun.Add(-maxStepBack)))
}

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
	if o.Free == nil {
		o.Free = freeBytes
	}
	d := &recordDir{opt: o, sensor: fileSensor(o.Sensor)}
	if err := d.makeDir(); err != nil {
		return nil, err
	}
	d.removeTemporary()
	d.prune(time.Now())
	return d, nil
}

// makeDir makes the directory, if it is not there, and locks it.
func (d *recordDir) makeDir() error {
	if err := os.MkdirAll(d.opt.Dir, 0o750); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(d.opt.Dir, lockName), os.O_CREATE|os.O_RDWR|noFollow, 0o640)
	if err != nil {
		return err
	}
	if err := lockFile(lock); err != nil {
		lock.Close()
		return fmt.Errorf("%s: another lshark monitor writes to this directory", d.opt.Dir)
	}
	if d.lock != nil {
		d.lock.Close()
	}
	d.lock = lock
	return nil
}

func (d *recordDir) unlock() error { return d.lock.Close() }

// removeTemporary removes what a process that was killed has left.
func (d *recordDir) removeTemporary() {
	entries, err := os.ReadDir(d.opt.Dir)
	if err != nil {
		d.opt.Log("records: %v", err)
	}
	for _, e := range entries {
		if d.isOwn(e.Name(), tempPrefix, tempSuffix) && e.Type().IsRegular() {
			if err := os.Remove(filepath.Join(d.opt.Dir, e.Name())); err != nil {
				d.opt.Log("records: %v", err)
			}
		}
	}
}

func (d *recordDir) add(r *track.RPC, now time.Time) {
	if d.open != nil && d.open.isDue(now) {
		d.complete()
	}
	if d.open == nil && !d.create(now) || !d.hasRoom() {
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
	d.counts.lost.Add(n)
	d.lostSince += n
}

// tick completes a file also when no more records come. now is the time of day; batches
// are up to batchAge behind it.
func (d *recordDir) tick(now time.Time) {
	if d.opt.Live && d.open != nil && d.open.isDue(now.Add(-2*batchAge)) {
		d.complete()
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

// hasRoom reports whether there is room on the disk for the file that is open. When the disk is nearly full the
// file is completed, while that is still possible.
func (d *recordDir) hasRoom() bool {
	now := time.Now()
	if now.Before(d.freeAt) {
		return true
	}
	d.freeAt = now.Add(freeInterval)
	free, err := d.opt.Free(d.opt.Dir)
	if err != nil || free >= keptFree {
		return true // an error shows when something is written
	}
	d.complete()
	d.backOff(fmt.Errorf("the disk is nearly full: %d MB are left", free>>20))
	return false
}

// create creates a file, unless an error was so recent that it is too early to try again.
func (d *recordDir) create(now time.Time) bool {
	if d.retry != 0 && time.Now().Before(d.retryAt) {
		return false
	}
	f, err := d.newFile(now)
	if err != nil {
		d.backOff(err)
		return false
	}
	d.open, d.freeAt = f, time.Time{}
	if !d.hasRoom() {
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
	base := d.sensor + "-" + now.UTC().Format(fileTimeForm)
	pattern := tempPrefix + base + "-*" + tempSuffix
	file, err := os.CreateTemp(d.opt.Dir, pattern)
	if errors.Is(err, os.ErrNotExist) { // the directory was moved away or removed
		if err = d.makeDir(); err == nil {
			file, err = os.CreateTemp(d.opt.Dir, pattern)
		}
	}
	if err != nil {
		return nil, err
	}
	f := &recordFile{file: file, begun: now.Round(0), size: countingWriter{to: file}, path: filepath.Join(d.opt.Dir, filePrefix+base)}
	f.buffer = bufio.NewWriterSize(&f.size, fileBuffer)
	f.rows = rows.NewWriter(f.buffer, &records.RPCs, rows.Options{Release: d.opt.Release, Sensor: d.opt.Sensor, Capture: d.opt.Capture})
	if d.opt.Time > 0 {
		f.rotate = now.Truncate(d.opt.Time).Add(d.opt.Time)
	}
	// A file system without permissions, such as FAT, refuses them: those of CreateTemp stay.
	_ = file.Chmod(0o640)
	return f, nil
}

// complete closes the file that is open and gives it its name.
func (d *recordDir) complete() {
	f := d.open
	if f == nil {
		return
	}
	if f.n == 0 {
		d.discard()
		return
	}
	if s := d.opt.Selection; s.Filter != "" {
		f.rows.SetMetadata(filterKey, s.Filter)
	}
	if s := d.opt.Selection; s.Sample > 0 {
		f.rows.SetMetadata(sampleKey, "1/"+strconv.FormatUint(s.Sample, 10))
	}
	err := f.rows.Close()
	if err == nil {
		err = f.buffer.Flush()
	}
	if err == nil {
		err = f.file.Sync()
	}
	if err == nil {
		err = f.file.Close()
	}
	if err == nil {
		err = f.publish()
	}
	if err != nil {
		d.fail(err)
		return
	}
	d.open = nil
	d.counts.files.Add(1)
	d.counts.written.Add(f.n)
	d.prune(time.Now())
}

// publish renames the file. A second one of the same second gets a number.
func (f *recordFile) publish() error {
	for n := range filesPerName {
		path := f.path
		if n > 0 {
			path += "-" + strconv.Itoa(n)
		}
		path += fileSuffix
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		return os.Rename(f.file.Name(), path)
	}
	return errors.New("too many files of one second")
}

// fail removes the file that is open after an error, and counts what was in it.
func (d *recordDir) fail(err error) {
	d.lose(d.open.n)
	d.discard()
	d.backOff(err)
}

func (d *recordDir) discard() {
	d.open.file.Close() // it may be closed already
	if err := os.Remove(d.open.file.Name()); err != nil && !errors.Is(err, os.ErrNotExist) {
		d.opt.Log("records: %v", err)
	}
	d.open = nil
}

func (d *recordDir) close() { d.complete() }

type keptFile struct {
	path string
	size int64
	time time.Time // when it was completed
}

// prune removes own files that are too old, and the oldest while there are too many bytes.
func (d *recordDir) prune(now time.Time) {
	d.pruneAt = now.Add(pruneInterval)
	entries, err := os.ReadDir(d.opt.Dir)
	if err != nil {
		d.opt.Log("records: %v", err)
		return
	}
	var kept []keptFile
	var total int64
	for _, e := range entries {
		if !d.isOwn(e.Name(), filePrefix, fileSuffix) || !e.Type().IsRegular() {
			continue
		}
		info, err := e.Info()
		if err != nil {
			continue // removed in the meantime
		}
		kept = append(kept, keptFile{filepath.Join(d.opt.Dir, e.Name()), info.Size(), info.ModTime()})
		total += info.Size()
	}
	slices.SortFunc(kept, func(a, b keptFile) int { return cmp.Or(a.time.Compare(b.time), cmp.Compare(a.path, b.path)) })
	for _, f := range kept {
		old := d.opt.KeepTime > 0 && now.Sub(f.time) > d.opt.KeepTime
		if !old && (d.opt.KeepSize == 0 || total <= d.opt.KeepSize) {
			break
		}
		if err := os.Remove(f.path); err != nil && !errors.Is(err, os.ErrNotExist) {
			d.opt.Log("records: %v", err)
			continue
		}
		total -= f.size
		d.counts.pruned.Add(1)
	}
	d.counts.diskBytes.Store(total)
}

// isOwn reports whether a name is one that this host gives to files: the prefix, the sensor,
// the time, what makes the name unique, and the suffix. Files of other hosts may be in the
// directory, too.
func (d *recordDir) isOwn(name, prefix, suffix string) bool {
	rest, ok := strings.CutPrefix(name, prefix+d.sensor+"-")
	if !ok || !strings.HasSuffix(rest, suffix) {
		return false
	}
	begun, _, _ := strings.Cut(strings.TrimSuffix(rest, suffix), "-")
	_, err := time.Parse(fileTimeForm, begun)
	return err == nil
}

// fileSensor returns the name of a sensor without what may not be in the name of a file.
func fileSensor(name string) string {
	return strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (r == '.' || r == '_' || r == '-' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z') {
			return r
		}
		return '_'
	}, name)
}
