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
	told     bool // somebody got the error
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
			w.mu.Lock()
			failed := w.drain() != nil
			w.mu.Unlock()
			if failed {
				return // the next one to write, flush or close gets the error
			}
		}
	}
}

func (w *writer) write(b []byte) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(b) == 0 || w.err != nil {
		return w.tell()
	}
	_, err := w.buf.Write(b)
	if err == nil && w.each {
		err = w.buf.Flush()
	}
	w.fail(err)
	return w.tell()
}

func (w *writer) flush() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drain()
	return w.tell()
}

// drain writes what is kept back.
func (w *writer) drain() error {
	if w.err == nil {
		w.fail(w.buf.Flush())
	}
	return w.err
}

// tell returns the error to someone who passes it on.
func (w *writer) tell() error {
	w.told = w.err != nil
	return w.err
}

func (w *writer) fail(err error) {
	if err != nil {
		w.err = fmt.Errorf("%w: %w", errWrite, err)
	}
}

// close writes what is left. An error that was returned before is not returned
// again.
func (w *writer) close() error {
	close(w.stop)
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.told {
		return nil
	}
	return w.drain()
}
