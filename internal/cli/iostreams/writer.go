package iostreams

import (
	"bufio"
	"errors"
	"fmt"
	"io"
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
	FlushOften                        // 100 ms after a write: the input is a pipe, which may pause
	FlushWhenFull                     // when the buffer is full
)

// Writer is a buffered Out, or a file. It may be used by several goroutines.
type Writer struct {
	mu        sync.Mutex
	buf       *bufio.Writer
	file      *File // nil for Out
	policy    FlushPolicy
	waiting   bool         // with FlushOften, a flush is due
	finish    func() error // see Finish
	written   bool         // Write was called
	discarded bool         // Discard was
	err       error
}

// NewWriter returns a Writer for Out. On a terminal its policy is FlushEachWrite.
// Close must be called.
func (s *IO) NewWriter(policy FlushPolicy) *Writer {
	if s.OutTTY {
		return newWriter(terminal{s}, FlushEachWrite)
	}
	return newWriter(s.Out, policy)
}

// NewFileWriter returns a Writer for a file; inPlace is that of CreateFile. The file
// gets its name when Close is called, if Write was called before and nothing failed.
func NewFileWriter(path string, inPlace bool) (*Writer, error) {
	f, err := CreateFile(path, inPlace)
	if err != nil {
		return nil, err
	}
	w := newWriter(f, FlushWhenFull)
	w.file = f
	return w, nil
}

func newWriter(out io.Writer, policy FlushPolicy) *Writer {
	const size = 64 << 10
	return &Writer{buf: bufio.NewWriterSize(out, size), policy: policy}
}

// Write writes b. After an error it writes nothing and returns that error.
func (w *Writer) Write(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.written = true
	return w.write(b)
}

func (w *Writer) write(b []byte) error {
	if len(b) > 0 && w.err == nil {
		_, err := w.buf.Write(b)
		w.fail(err)
		switch {
		case w.policy == FlushEachWrite:
			w.flush()
		case w.policy == FlushOften && !w.waiting:
			w.waiting = true
			time.AfterFunc(100*time.Millisecond, func() {
				w.mu.Lock()
				defer w.mu.Unlock()
				w.waiting = false
				w.flush() // the next Write, Flush or Close returns its error
			})
		}
	}
	return w.err
}

// Stream returns an io.Writer that writes to w. Write, Flush or Close of w return its
// errors again.
func (w *Writer) Stream() io.Writer { return stream{w} }

type stream struct{ *Writer }

func (s stream) Write(b []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(b), s.write(b)
}

// Finish sets a func for Close, which calls it before anything else if Write was called
// and nothing failed. It writes what is left to Stream.
func (w *Writer) Finish(f func() error) { w.finish = f }

// Discard lets Close remove a file, as if nothing had been written.
func (w *Writer) Discard() { w.discarded = true }

// Flush writes what is buffered.
func (w *Writer) Flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.flush()
	return w.err
}

func (w *Writer) flush() {
	if w.err == nil {
		w.fail(w.buf.Flush())
	}
}

func (w *Writer) fail(err error) {
	switch {
	case err == nil || w.err != nil:
	case w.file != nil:
		// Not wrapped: a closed reader of a file is a failure, a closed reader of the
		// standard output is not.
		w.err = fmt.Errorf("%w the file: %v", ErrWrite, err)
	default:
		w.err = fmt.Errorf("%w: %w", ErrWrite, err)
	}
}

// Close writes what is buffered. It does not close Out. Write and Flush may have returned
// its error before.
func (w *Writer) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.finish != nil && w.written && w.err == nil {
		w.mu.Unlock() // it writes to Stream
		err := w.finish()
		w.mu.Lock()
		w.fail(err)
	}
	w.flush()
	if w.file != nil {
		w.fail(w.file.End(w.written && !w.discarded && w.err == nil))
	}
	return w.err
}
