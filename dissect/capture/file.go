package capture

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const stdinName = "standard input"

// file is one input of a Reader.
type file struct {
	name   string
	short  string // one of FileNames
	index  int    // in the list of inputs
	os     *os.File
	size   int64         // bytes when it was opened; -1 for a pipe
	offset time.Duration // added to the times
	source int           // index of the capture point, -1 before the first frame
	idle   time.Duration // Options.Idle
	frame  Frame         // the next one, in a merge
	number int64         // of the frame that was returned last, in a merge

	read  atomic.Int64 // bytes read of the file, which may be compressed
	ended bool         // the end was read
	close sync.Once
	done  chan struct{} // closed with the file
	input *input        // nil before the first frame
	recs  records
	plain bool // not compressed

	byHand string // of input, after it was released

	// The frame behind one whose time is far from that of the frame before.
	ahead     Frame
	aheadErr  error
	hasAhead  bool
	aheadData []byte // of the frame before it
	near      int64  // time of the last frame
	count     int64  // frames read
	strange   strangeTimes
}

// strangeTimes are the frames of a file whose times cannot be right.
type strangeTimes struct {
	first int64         // number of the first one
	off   time.Duration // of its time from those of its neighbours
	more  int64
}

// farTime is so long that a time which is further from those of the frames before and behind it,
// that are close to each other, is damaged.
const farTime = int64(time.Hour)

func isFar(a, b int64) bool { return a-b > farTime || b-a > farTime }

// openFile opens an input without reading from it.
func openFile(path string, index int) (*file, error) {
	f := &file{name: path, index: index, size: -1, source: -1, done: make(chan struct{})}
	if path == "-" {
		f.name, f.os = stdinName, standardInput()
	} else {
		var err error
		if f.os, err = os.Open(path); err != nil {
			return nil, err
		}
	}
	info, err := f.os.Stat()
	if err == nil && info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.EISDIR}
	}
	if err != nil {
		f.os.Close()
		return nil, err
	}
	if info.Mode().IsRegular() {
		f.size = info.Size()
		if at, err := f.os.Seek(0, io.SeekCurrent); err == nil {
			f.size -= at // standard input may have been read before
		}
	}
	return f, nil
}

// standardInput returns os.Stdin. If that is a pipe, it is opened a second time
// where the system supports it, because Close can interrupt a read only from a
// descriptor that was opened here, not from an inherited one.
func standardInput() *os.File {
	if info, err := os.Stdin.Stat(); err == nil && info.Mode()&fs.ModeNamedPipe != 0 {
		if f, err := os.OpenFile("/proc/self/fd/0", os.O_RDONLY|syscall.O_NONBLOCK, 0); err == nil {
			return f
		}
	}
	return os.Stdin
}

// Read reads from the file and counts the bytes, for Progress. After the end it
// reads no more: a terminal would wait for input again.
func (f *file) Read(p []byte) (int, error) {
	if f.ended {
		return 0, io.EOF
	}
	n, err := f.os.Read(p)
	f.read.Add(int64(n))
	f.ended = err == io.EOF
	return n, err
}

// start detects compression and format, with a buffer of size bytes on src.
func (f *file) start(size int, src io.Reader) error {
	in := newInput(f.name, src, size)
	unpack, err := decompressor(in)
	if err != nil {
		return in.damage(0, "%v", err)
	}
	f.plain = unpack == nil
	if !f.plain {
		if size == inputSize {
			unpack = newReadAhead(unpack, f.done)
		}
		in = newInput(f.name, unpack, size)
	}
	f.input = in
	f.recs, err = newRecords(in)
	return err
}

// next reads the next frame, without its number and capture point. A damaged time becomes that
// of the frame before, and of the first frame that of the frame behind. What comes through a pipe
// is not delayed for that, but for a frame after a pause of an hour, which waits for the next one.
func (f *file) next(fr *Frame) error {
	var err error
	if f.hasAhead {
		*fr, err, f.hasAhead = f.ahead, f.aheadErr, false
	} else {
		err = f.readFrame(fr)
	}
	if err != nil {
		return err
	}
	f.count++
	if (f.count == 1 && f.size >= 0) || (f.count > 1 && isFar(fr.Time, f.near)) {
		f.aheadData = append(f.aheadData[:0], fr.Data...)
		fr.Data = f.aheadData
		f.aheadErr, f.hasAhead = f.readFrame(&f.ahead), true
		behind := f.ahead.Time
		switch {
		case f.aheadErr != nil:
		case f.count > 1 && !isFar(behind, f.near):
			f.setTime(fr, f.near)
		case f.count == 1 && fr.Time-behind > farTime:
			f.setTime(fr, behind)
		}
	}
	f.near = fr.Time
	return nil
}

// setTime replaces a damaged time.
func (f *file) setTime(fr *Frame, at int64) {
	if f.strange.first == 0 {
		f.strange.first, f.strange.off = f.count, time.Duration(fr.Time-at).Abs()
	} else {
		f.strange.more++
	}
	fr.Time = at
}

// readFrame reads a frame with the time that it has in the file.
func (f *file) readFrame(fr *Frame) error {
	if f.recs == nil {
		if err := f.start(inputSize, f); err != nil {
			return err
		}
	}
	if f.idle > 0 && f.plain && f.input.Buffered() == 0 {
		if err := f.wait(); err != nil {
			return err
		}
	}
	err := f.recs.next(f.input, fr)
	if err == nil {
		fr.Time += int64(f.offset)
		return nil
	}
	if err == io.EOF && f.plain && f.input.at < f.size {
		return f.input.damage(f.input.at, "the file became shorter while it was read: it had %d bytes", f.size)
	}
	return err
}

// wait waits for the first byte of a record. After f.idle it returns ErrTimeout.
func (f *file) wait() error {
	if f.os.SetReadDeadline(time.Now().Add(f.idle)) != nil {
		f.idle = 0 // this kind of file has no read deadlines
		return nil
	}
	if _, err := f.input.Peek(1); errors.Is(err, os.ErrDeadlineExceeded) {
		return ErrTimeout
	}
	f.os.SetReadDeadline(time.Time{}) // fails only for a closed file, as the next read will
	return nil
}

// peek reads the time of the first frame and releases the buffer, because of
// hundreds of rotated files only one is read at a time. A pipe cannot be read
// twice and keeps its buffer.
func (f *file) peek() error {
	if f.size < 0 || f.os == os.Stdin {
		return f.next(&f.frame)
	}
	if err := f.start(headSize, io.NewSectionReader(f.os, 0, f.size)); err != nil {
		return err
	}
	err := f.recs.next(f.input, &f.frame)
	f.frame.Time += int64(f.offset)
	f.input, f.recs, f.frame.Data = nil, nil, nil
	return err
}

// releaseInput gives the buffer away when nothing more is read.
func (f *file) releaseInput() {
	if f.input != nil {
		f.byHand = f.input.byHand
		f.input.release()
		f.input = nil
	}
}

// end closes the file. It may be called more than once, and during a read.
func (f *file) end() error {
	var err error
	f.close.Do(func() {
		close(f.done)
		err = f.os.Close()
	})
	if errors.Is(err, os.ErrClosed) {
		return nil
	}
	return err
}

// FileNames returns a short name for each path, in the order of the paths: its
// last element, with as many of the elements before it as are needed to tell it
// from the other paths. The names of equal paths are equal.
func FileNames(paths []string) []string {
	names := make([]string, len(paths))
	for n, left := 1, len(paths); left > 0; n++ {
		users := make(map[string]string) // the path with a name, empty when there are several
		for _, path := range paths {
			name := lastElements(path, n)
			if other, taken := users[name]; taken && other != path {
				path = ""
			}
			users[name] = path
		}
		for i, path := range paths {
			if name := lastElements(path, n); names[i] == "" && users[name] == path {
				names[i] = name
				left--
			}
		}
	}
	return names
}

// lastElements returns the last n elements of a path, or all of it.
func lastElements(path string, n int) string {
	for i := len(path) - 1; i >= 0; i-- {
		if os.IsPathSeparator(path[i]) {
			if n--; n == 0 {
				return path[i+1:]
			}
		}
	}
	return path
}
