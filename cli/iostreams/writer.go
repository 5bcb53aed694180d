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

// FlushPolicy is when a Writer flushes its buffer.
type FlushPolicy int

// The flush policies.
const (
	FlushEachWrite FlushPolicy = iota // for a terminal or a live capture
	FlushOften                        // every 100 ms: the input is a pipe, which may pause
	FlushWhenFull                     // when the buffer is full
)

// Writer is a buffered Out. It may be used by several goroutines.
type Writer struct {
	mu       sync.Mutex
	buf      *bufio.Writer
	policy   FlushPolicy
	closed   chan struct{}
	err      error
	returned bool // err was returned by Write or Flush
}

// NewWriter returns a Writer for Out. On a terminal its policy is FlushEachWrite.
// Close must be called.
func (s *IO) NewWriter(policy FlushPolicy) *Writer {
	const size = 64 << 10
	if s.OutTTY {
		policy = FlushEachWrite
	}
	w := &Writer{buf: bufio.NewWriterSize(s.Out, size), policy: policy, closed: make(chan struct{})}
	if policy == FlushOften {
		go w.flushOften()
	}
	return w
}

// FlushPolicy returns the policy in use.
func (w *Writer) FlushPolicy() FlushPolicy { return w.policy }

// flushOften flushes in intervals until the Writer is closed or fails.
func (w *Writer) flushOften() {
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
		if err == nil && w.policy == FlushEachWrite {
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
