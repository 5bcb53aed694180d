package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"
)

// segmentSize is the size of the parts of a spool in bytes, and so of its longest
// record.
const (
	segmentBits = 22
	segmentSize = 1 << segmentBits
)

// errDropped is returned for a record that is no longer kept.
var errDropped = errors.New("no longer kept")

// spool is records one behind the other: the first ones in memory, those beyond a number
// of bytes in a temporary file without a name. One goroutine may append while others
// read.
type spool struct {
	memory int   // bytes that are kept in memory
	most   int64 // bytes that are kept in all, 0: any number; beyond them, the oldest are dropped

	mu       sync.RWMutex
	segments []*segment // the last one is being filled
	first    int64      // number of the first segment
	inMemory int        // segments in memory
	spare    []byte     // of a segment that is no longer in memory
	file     *os.File   // nil until it is needed
	slots    int64      // size of the file in segments
	free     []int64    // slots that are not in use
}

// segment is a part of a spool. No record continues in the next one.
type segment struct {
	buf  []byte // nil when it is in the file
	slot int64  // its place in the file
	size int
}

// append adds a record of at most segmentSize-binary.MaxVarintLen64 bytes and returns its
// position. Positions grow.
func (s *spool) append(record []byte) (position int64, err error) {
	var head [binary.MaxVarintLen64]byte
	n := binary.PutUvarint(head[:], uint64(len(record)))
	if len(s.segments) == 0 || len(s.last().buf)+n+len(record) > segmentSize {
		if err := s.grow(); err != nil {
			return 0, err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.last()
	position = (s.first+int64(len(s.segments))-1)<<segmentBits | int64(len(x.buf))
	x.buf = append(append(x.buf, head[:n]...), record...)
	x.size = len(x.buf)
	return position, nil
}

func (s *spool) last() *segment { return s.segments[len(s.segments)-1] }

// grow adds a segment. It moves the one before to the file when there are enough in
// memory, and drops the oldest one when there are too many.
func (s *spool) grow() error {
	if len(s.segments) > 0 && (s.inMemory+1)*segmentSize > s.memory {
		if err := s.moveLast(); err != nil {
			return err
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.most > 0 && len(s.segments) > 1 && int64(len(s.segments)+1)*segmentSize > s.most {
		s.dropFirst()
	}
	buf := s.spare
	s.spare = nil
	if buf == nil {
		buf = make([]byte, 0, segmentSize)
	}
	s.segments = append(s.segments, &segment{buf: buf[:0]})
	s.inMemory++
	return nil
}

func (s *spool) moveLast() (err error) {
	if s.file == nil {
		if s.file, err = tempFile(); err != nil {
			return err
		}
	}
	x, slot := s.last(), s.slots
	if n := len(s.free); n > 0 {
		slot, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.slots++
	}
	if _, err := s.file.WriteAt(x.buf, slot*segmentSize); err != nil {
		return fmt.Errorf("temporary file: %w", err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spare, x.buf, x.slot = x.buf, nil, slot
	s.inMemory--
	return nil
}

func (s *spool) dropFirst() {
	x := s.segments[0]
	if x.buf != nil {
		s.inMemory--
	} else {
		s.free = append(s.free, x.slot)
	}
	s.segments[0] = nil
	s.segments = s.segments[1:]
	s.first++
}

// oldest returns the lowest position that may be read.
func (s *spool) oldest() int64 {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return s.first << segmentBits
}

// window is how many bytes are read from the file at once.
const window = 64 << 10

// reader reads records of a spool. It keeps a part of the file, as records are often read
// in their order.
type reader struct {
	spool *spool
	buf   []byte
	from  int64 // position of buf
}

// read returns the record at a position, valid until the next call.
func (r *reader) read(position int64) ([]byte, error) {
	if b := r.inWindow(position); b != nil {
		return b, nil
	}
	s := r.spool
	s.mu.RLock()
	defer s.mu.RUnlock()
	number, off := position>>segmentBits, int(position&(segmentSize-1))
	if number < s.first || number-s.first >= int64(len(s.segments)) {
		return nil, errDropped
	}
	x := s.segments[number-s.first]
	for size := window; ; size = segmentSize {
		end := min(off+size, x.size)
		if cap(r.buf) < end-off {
			r.buf = make([]byte, 0, end-off)
		}
		r.buf, r.from = r.buf[:end-off], position
		if x.buf != nil {
			copy(r.buf, x.buf[off:end])
		} else if _, err := s.file.ReadAt(r.buf, x.slot*segmentSize+int64(off)); err != nil && err != io.EOF {
			r.buf = r.buf[:0]
			return nil, fmt.Errorf("temporary file: %w", err)
		}
		if b := r.inWindow(position); b != nil {
			return b, nil
		}
		if size == segmentSize {
			return nil, errDropped // not a position of a record
		}
	}
}

// inWindow returns the record at a position if all of it is in r.buf, else nil.
func (r *reader) inWindow(position int64) []byte {
	if position < r.from || position >= r.from+int64(len(r.buf)) {
		return nil
	}
	b := r.buf[position-r.from:]
	n, head := binary.Uvarint(b)
	if head <= 0 || n > uint64(len(b)-head) {
		return nil
	}
	return b[head : head+int(n) : head+int(n)]
}

func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.segments, s.spare = nil, nil
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	return errors.Join(f.Close(), removeOpen(f.Name()))
}

// tempFile creates a file that is removed when it is closed, or when the process ends.
func tempFile() (*os.File, error) {
	dir := os.Getenv("TMPDIR")
	if dir == "" && runtime.GOOS != "windows" {
		dir = "/var/tmp" // /tmp is often in memory
	}
	f, err := os.CreateTemp(dir, "lshark-")
	if err != nil {
		return nil, err
	}
	if runtime.GOOS != "windows" {
		err = os.Remove(f.Name())
	}
	return f, err
}

// removeOpen removes a file that could not be removed while it was open.
func removeOpen(name string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	return os.Remove(name)
}
