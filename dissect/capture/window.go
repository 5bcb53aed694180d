package capture

import (
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	windowSize = 1 << 20  // bytes read ahead of a capture file
	headSize   = 64 << 10 // bytes read ahead for the time of the first frame
	maxRecord  = 16 << 20 // bytes of a record, at most; frames have up to 64 KiB, with BIG TCP 512 KiB
)

// window is a sliding view of an input. Records are parsed in its buffer, so a
// byte is copied only once: from the kernel.
type window struct {
	name   string // for messages
	src    io.Reader
	buf    []byte
	lo, hi int   // buf[lo:hi] has been read from src and is not used yet
	base   int64 // offset of buf[0] in the input
	err    error // of src, after which it is not read again
}

func newWindow(name string, src io.Reader, size int) *window {
	return &window{name: name, src: src, buf: make([]byte, size)}
}

// need reads until buf[lo:] has n bytes. It reports false if the input ends
// before; the reason is in err.
func (w *window) need(n int) bool {
	return w.hi-w.lo >= n || w.fill(n)
}

// empty reports whether the next byte has to be read.
func (w *window) empty() bool { return w.lo == w.hi }

// fill reads until the window has n bytes, and as many more as fit.
func (w *window) fill(n int) bool {
	w.hi = copy(w.buf, w.buf[w.lo:w.hi])
	w.base += int64(w.lo)
	w.lo = 0
	for idle := 0; w.hi < n; {
		if w.err != nil {
			return false
		}
		if w.hi == len(w.buf) {
			// The buffer doubles only when it is full: an invalid length
			// costs no more memory than twice the bytes of the input.
			w.buf = append(w.buf, make([]byte, len(w.buf))...)
		}
		got, err := w.src.Read(w.buf[w.hi:])
		w.hi += got
		w.err = err
		if idle++; got > 0 {
			idle = 0
		} else if err == nil && idle > 100 {
			w.err = io.ErrNoProgress
		}
	}
	return true
}

// skip skips n bytes without keeping them in memory.
func (w *window) skip(n int64) bool {
	for n > int64(w.hi-w.lo) {
		n -= int64(w.hi - w.lo)
		w.lo = w.hi
		if !w.need(1) {
			return false
		}
	}
	w.lo += int(n)
	return true
}

// Read makes a window the io.Reader of a decompressor.
func (w *window) Read(p []byte) (int, error) {
	if !w.need(1) {
		return 0, w.err
	}
	n := copy(p, w.buf[w.lo:w.hi])
	w.lo += n
	return n, nil
}

// offset returns the offset of the next byte in the input.
func (w *window) offset() int64 { return w.base + int64(w.lo) }

// damage returns the error for a record that begins at the given offset.
func (w *window) damage(at int64, format string, args ...any) error {
	return &DamageError{File: w.name, Offset: at, Cause: fmt.Sprintf(format, args...)}
}

// truncated returns the error for an incomplete record of the given size, of
// which the window has the first bytes. If it has none of them, the input ends
// after a whole record, and the error is io.EOF.
func (w *window) truncated(what string, size int64) error {
	return w.truncatedAt(w.offset(), int64(w.hi-w.lo), what, size)
}

// truncatedAt is truncated for a record at offset at, of which the input has
// have bytes.
func (w *window) truncatedAt(at, have int64, what string, size int64) error {
	switch {
	case errors.Is(w.err, os.ErrClosed):
		return w.err
	case w.err != io.EOF:
		return w.damage(at+have, "%v", w.err)
	case have == 0:
		return io.EOF
	}
	return w.damage(at, "cut short: the file ends %d bytes into a %s of %d", have, what, size)
}
