package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"slices"
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
	first    int64    // number of the first segment
	segments [][]byte // nil: in the file; no record continues in the next one, and the last one is being filled
	file     *os.File // nil until it is needed
}

// append adds a record of at most segmentSize-binary.MaxVarintLen64 bytes and returns its
// position. Positions grow.
func (s *spool) append(record []byte) (position int64, err error) {
	last := len(s.segments) - 1
	if last < 0 || len(s.segments[last])+binary.MaxVarintLen64+len(record) > segmentSize {
		if err := s.grow(); err != nil {
			return 0, err
		}
		last = len(s.segments) - 1
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	x := s.segments[last]
	position = (s.first+int64(last))<<segmentBits | int64(len(x))
	s.segments[last] = append(binary.AppendUvarint(x, uint64(len(record))), record...)
	return position, nil
}

// grow adds a segment. It moves the one before to the file when there are enough in
// memory, and drops the oldest one when there are too many.
func (s *spool) grow() error {
	n := len(s.segments)
	number := s.first + int64(n) // of the new segment
	moves := n > 0 && number >= int64(s.memory>>segmentBits)
	if moves {
		if err := s.write(number-1, s.segments[n-1]); err != nil {
			return fmt.Errorf("temporary file: %w", err)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if moves {
		s.segments[n-1] = nil
	}
	if s.most > 0 && n > 1 && int64(n)+1 > s.most>>segmentBits {
		s.segments = slices.Delete(s.segments, 0, 1)
		s.first++
	}
	s.segments = append(s.segments, make([]byte, 0, segmentSize))
	return nil
}

// write writes a segment to the file.
func (s *spool) write(number int64, b []byte) (err error) {
	if s.file == nil {
		if s.file, err = tempFile(); err != nil {
			return err
		}
	}
	_, err = s.file.WriteAt(b, s.place(number))
	return err
}

// place returns the place of a segment in the file: that of one that was dropped, where not all are kept.
func (s *spool) place(number int64) int64 {
	if s.most > 0 {
		number %= max(2, s.most>>segmentBits)
	}
	return number << segmentBits
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
	s := r.spool
	s.mu.RLock()
	defer s.mu.RUnlock()
	number, off := position>>segmentBits, position&(segmentSize-1)
	if number < s.first || number-s.first >= int64(len(s.segments)) {
		return nil, errDropped
	}
	if x := s.segments[number-s.first]; x != nil {
		return recordAt(x, off), nil
	}
	b := recordAt(r.buf, position-r.from)
	for _, size := range [...]int64{window, segmentSize} { // few records are longer than a window
		if b != nil {
			break
		}
		size = min(size, segmentSize-off)
		r.buf = slices.Grow(r.buf[:0], int(size))[:size]
		n, err := s.file.ReadAt(r.buf, s.place(number)+off)
		r.buf, r.from = r.buf[:n], position
		if err != nil && err != io.EOF {
			return nil, fmt.Errorf("temporary file: %w", err)
		}
		b = recordAt(r.buf, 0)
	}
	return b, nil
}

// recordAt returns the record at an offset, nil if it is not all there.
func recordAt(buf []byte, off int64) []byte {
	if off < 0 || off >= int64(len(buf)) {
		return nil
	}
	b := buf[off:]
	n, head := binary.Uvarint(b)
	if head <= 0 || n > uint64(len(b)-head) {
		return nil
	}
	return b[head : head+int(n) : head+int(n)]
}

func (s *spool) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.segments = nil
	if s.file == nil {
		return nil
	}
	f := s.file
	s.file = nil
	err := f.Close()
	os.Remove(f.Name()) // where it is still there
	return err
}

// tempFile creates a file that is removed at once or, on systems that do not remove open files,
// when it is closed.
func tempFile() (*os.File, error) {
	dir := os.Getenv("TMPDIR")
	if dir == "" && runtime.GOOS != "windows" {
		dir = "/var/tmp" // /tmp is often in memory
	}
	f, err := os.CreateTemp(dir, "lshark-")
	if err == nil && runtime.GOOS != "windows" {
		err = os.Remove(f.Name())
	}
	return f, err
}
