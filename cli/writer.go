package cli

import (
	"bufio"
	"errors"
	"fmt"
	"sync"
	"time"
)

// errWrite marks errors of the output.
var errWrite = errors.New("cannot write")

// writer is the output of records. On a terminal and in live captures each is
// seen at once; what comes from a pipe soon after.
type writer struct {
	mu       sync.Mutex
	buf      *bufio.Writer
	each     bool // flush every record
	buffered bool // nobody waits for single records
	stop     chan struct{}
	err      error
}

func newWriter(sys *IO, in *input) *writer {
	const size = 64 << 10
	w := &writer{buf: bufio.NewWriterSize(sys.Out, size), stop: make(chan struct{})}
	w.each = sys.OutTTY || in.live()
	pipe := in.piped()
	w.buffered = !w.each && !pipe
	if pipe && !w.each {
		go w.tick()
	}
	return w
}

// tick flushes what a writer at the other end of our input waits to see.
func (w *writer) tick() {
	const patience = 100 * time.Millisecond
	t := time.NewTicker(patience)
	defer t.Stop()
	for {
		select {
		case <-w.stop:
			return
		case <-t.C:
			if w.flush() != nil {
				return // write returns the error
			}
		}
	}
}

func (w *writer) write(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(b) == 0 || w.err != nil {
		return w.err
	}
	_, err := w.buf.Write(b)
	if err == nil && w.each {
		err = w.buf.Flush()
	}
	w.fail(err)
	return w.err
}

func (w *writer) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err == nil {
		w.fail(w.buf.Flush())
	}
	return w.err
}

func (w *writer) fail(err error) {
	if err != nil {
		w.err = fmt.Errorf("%w: %w", errWrite, err)
	}
}

// close writes what is left. An error that write returned before is not
// returned again.
func (w *writer) close() error {
	close(w.stop)
	failed := w.err != nil
	err := w.flush()
	if failed {
		return nil
	}
	return err
}
