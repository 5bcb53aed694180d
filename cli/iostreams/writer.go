package iostreams

import (
	"bufio"
	"errors"
	"fmt"
	"sync"
	"time"
)

// ErrWrite is wrapped by all errors of a Writer.
var ErrWrite = errors.New("cannot write")

// Pace is how soon the output has to show what was written.
type Pace int

// The paces.
const (
	AtOnce   Pace = iota // after each Write: somebody is watching
	Soon                 // within a moment: the input is a pipe, which may pause
	Whenever             // when the buffer is full
)

// Writer is a buffered Out. It may be used by several goroutines.
type Writer struct {
	mu       sync.Mutex
	buf      *bufio.Writer
	pace     Pace
	closed   chan struct{}
	err      error
	returned bool // err was returned by Write or Flush
}

// NewWriter returns a Writer for Out. On a terminal its pace is AtOnce. Close
// must be called.
func (s *IO) NewWriter(pace Pace) *Writer {
	const size = 64 << 10
	if s.OutTTY {
		pace = AtOnce
	}
	w := &Writer{buf: bufio.NewWriterSize(s.Out, size), pace: pace, closed: make(chan struct{})}
	if pace == Soon {
		go w.flushSoon()
	}
	return w
}

// Pace returns the pace in use.
func (w *Writer) Pace() Pace { return w.pace }

// flushSoon flushes in intervals until the Writer is closed or fails.
func (w *Writer) flushSoon() {
	const interval = 100 * time.Millisecond
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-w.closed:
			return
		case <-t.C:
			w.mu.Lock()
			w.flush()
			failed := w.err != nil
			w.mu.Unlock()
			if failed {
				return // the next Write, Flush or Close returns the error
			}
		}
	}
}

// Write writes b. After an error it writes nothing and returns that error.
func (w *Writer) Write(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(b) > 0 && w.err == nil {
		_, err := w.buf.Write(b)
		if err == nil && w.pace == AtOnce {
			err = w.buf.Flush()
		}
		w.fail(err)
	}
	w.returned = w.err != nil
	return w.err
}

// Flush writes what is buffered.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	w.returned = w.err != nil
	return w.err
}

func (w *Writer) flush() {
	if w.err == nil {
		w.fail(w.buf.Flush())
	}
}

func (w *Writer) fail(err error) {
	if err != nil {
		w.err = fmt.Errorf("%w: %w", ErrWrite, err)
	}
}

// Close writes what is buffered. It does not close Out. An error that Write or
// Flush returned before is not returned again.
func (w *Writer) Close() error {
	close(w.closed)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.returned {
		return nil
	}
	w.flush()
	return w.err
}
