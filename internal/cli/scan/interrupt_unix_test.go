//go:build unix

package scan

import (
	"bytes"
	"errors"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/iostreams"
)

// endless is a file that never ends; in the middle of it the user presses Ctrl-C.
type endless struct{ frames int64 }

func (e *endless) Next(f *capture.Frame) error {
	if e.frames++; e.frames == 100 {
		if err := syscall.Kill(os.Getpid(), syscall.SIGINT); err != nil {
			return err
		}
	}
	if e.frames > 100 {
		time.Sleep(time.Millisecond)
	}
	*f = capture.Frame{Number: e.frames, Time: 1e18 + e.frames, Len: 1, Data: []byte{0}, Link: capture.LinkEthernet}
	return nil
}

func (*endless) Close() error { return nil }

// TestInterrupt checks that Ctrl-C ends the reading of a file as its end does, with an error
// that says so.
func TestInterrupt(t *testing.T) {
	if signal.Ignored(os.Interrupt) {
		t.Skip("Ctrl-C is ignored here, as in a job in the background")
	}
	var errs bytes.Buffer
	sys := &System{IO: &iostreams.IO{Out: &errs, Err: &errs}, Open: func([]string, capture.Options) (Frames, error) { return &endless{}, nil }}
	p := New(sys, &Input{files: []string{"file.pcap"}}, Options{})
	ended := false
	p.Add(Consumer{End: func() error { ended = true; return nil }})
	err := p.Run()
	assert.That(t, errors.As(err, new(exit.Interrupted)) && ended, "%v, ended %v", err, ended)
	if status := exit.Status(sys.IO, err); status != exit.Signal || !bytes.Contains(errs.Bytes(), []byte("interrupted: the output is partial")) {
		t.Errorf("status %d, %s", status, &errs)
	}
}
