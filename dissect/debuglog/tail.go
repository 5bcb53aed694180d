package debuglog

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// ErrNoMore is what Next returns of a log that is followed, when all that it has so far was read.
var ErrNoMore = errors.New("no more lines so far")

// Follow opens a log that grows. It is followed when it is replaced by another file, or copied and truncated.
func Follow(path string) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	t := &tail{path: path, file: f, rest: make([]byte, 0, maxLine)}
	r := NewReader(t)
	r.file, r.tail = t, t
	if err := r.setClock(path, f); err != nil {
		t.Close()
		return nil, err
	}
	return r, nil
}

// tail reads whole lines of a file that grows.
type tail struct {
	path     string
	file     *os.File
	offset   int64
	rest     []byte // was read, and not passed on
	last     []byte // that were read in front of offset
	whole    int    // bytes of rest that are whole lines
	replaced bool   // another file has the path, and what was written to this one before is to be read
	begins   bool   // what is read next is the beginning of a file
}

// Close closes the file.
func (t *tail) Close() error { return t.file.Close() }

// Read reads whole lines. At the end it returns ErrNoMore.
func (t *tail) Read(b []byte) (int, error) {
	for t.whole == 0 {
		if !t.isRead(t.file) {
			if err := t.truncated(); err != nil {
				return 0, err
			}
		}
		n, err := t.file.Read(t.rest[len(t.rest):cap(t.rest)])
		if n == 0 {
			if err != nil && err != io.EOF {
				return 0, err
			}
			if goesOn, err := t.reopen(); !goesOn {
				return 0, err
			}
			continue
		}
		t.begins = t.begins || t.offset == 0
		t.offset += int64(n)
		t.rest = t.rest[:len(t.rest)+n]
		t.last = append(t.last, t.rest[len(t.rest)-min(n, maxLast):]...)
		t.last = append(t.last[:0], t.last[max(0, len(t.last)-maxLast):]...)
		if t.whole = bytes.LastIndexByte(t.rest, '\n') + 1; t.whole == 0 && len(t.rest) == cap(t.rest) {
			t.whole = len(t.rest) // a line that is too long
		}
	}
	n := copy(b, t.rest[:t.whole])
	t.rest, t.whole = append(t.rest[:0], t.rest[n:]...), t.whole-n
	return n, nil
}

// maxLast bytes tell a file that was read from one that was truncated and has grown again.
const maxLast = 256

// isRead reports whether a file begins with what was read: bytes in front of offset are compared.
func (t *tail) isRead(f *os.File) bool {
	var b [maxLast]byte
	n, _ := f.ReadAt(b[:len(t.last)], t.offset-int64(len(t.last)))
	return bytes.Equal(b[:n], t.last)
}

// truncated begins again with a file that was truncated, after what a copy of it has that was not read.
func (t *tail) truncated() error {
	name := filepath.Base(t.path)
	list, _ := os.ReadDir(filepath.Dir(t.path)) // without it, the lines are lost
	for _, e := range list {
		if !strings.HasPrefix(e.Name(), name) || e.Name() == name || !e.Type().IsRegular() {
			continue
		}
		f, err := os.Open(filepath.Join(filepath.Dir(t.path), e.Name()))
		if err != nil {
			continue
		}
		if _, err = f.Seek(t.offset, io.SeekStart); err == nil && t.isRead(f) {
			err = t.file.Close()
			t.file = f
			return err
		}
		f.Close()
	}
	t.offset, t.rest, t.last = 0, t.rest[:0], t.last[:0]
	_, err := t.file.Seek(0, io.SeekStart)
	return err
}

// reopen looks whether the file was replaced. If there is nothing to read, it returns false and ErrNoMore or why.
func (t *tail) reopen() (bool, error) {
	now, err := os.Stat(t.path)
	if errors.Is(err, fs.ErrNotExist) { // it was renamed just now
		return false, ErrNoMore
	} else if err != nil {
		return false, err
	}
	this, err := t.file.Stat()
	switch {
	case err != nil:
		return false, err
	case os.SameFile(this, now), now.Size() == 0: // the writer turns to the new file later
		return false, ErrNoMore
	case !t.replaced:
		t.replaced = true
		return true, nil
	}
	next, err := os.Open(t.path)
	if err != nil {
		return false, err
	}
	err = t.file.Close()
	t.file, t.offset, t.last, t.replaced = next, 0, t.last[:0], false
	if len(t.rest) > 0 {
		t.rest = append(t.rest, '\n')
		t.whole = len(t.rest)
	}
	return err == nil, err
}
