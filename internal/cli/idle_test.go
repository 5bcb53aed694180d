package cli

import (
	"bytes"
	"io"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/scan"
)

// paused is a capture that pauses after one of its frames, as a pipe with a slow
// writer does.
type paused struct {
	scan.Frames
	after int64 // the frame before the pause
	waits int   // timeouts left
	read  int64
}

func (p *paused) Next(f *capture.Frame) error {
	if p.read == p.after && p.waits > 0 {
		p.waits--
		return capture.ErrTimeout
	}
	p.read++
	return p.Frames.Next(f)
}

// pausing returns an Open func for captures that pause after a frame, for so
// many timeouts.
func pausing(after int64, waits int) func(paths []string, o capture.Options) (scan.Frames, error) {
	return func(paths []string, o capture.Options) (scan.Frames, error) {
		r, err := capture.Open(paths, o)
		return &paused{Frames: r, after: after, waits: waits}, err
	}
}

// TestSilentPipe checks that RPCs that have ended are shown while a pipe is
// silent.
func TestSilentPipe(t *testing.T) {
	const last = 200 // a frame before which RPCs have ended
	shown := 0
	open := pausing(last, 120)
	var out bytes.Buffer
	sys := testSystem(&out, io.Discard)
	sys.Open = func(paths []string, o capture.Options) (scan.Frames, error) {
		src, err := open(paths, o)
		return &watched{src, func() { shown = bytes.Count(out.Bytes(), []byte{'\n'}) }}, err
	}
	if status := Run(sys, []string{"rpcs", sampleFile}); status != exit.OK {
		t.Fatalf("status %d", status)
	}
	if want := bytes.Count(out.Bytes(), []byte{'\n'}); shown == 0 || shown >= want {
		t.Errorf("%d lines of %d when the pipe was silent", shown, want)
	}
}

// watched calls over at the end of a pause.
type watched struct {
	scan.Frames
	over func()
}

func (w *watched) Next(f *capture.Frame) error {
	if p := w.Frames.(*paused); p.read == p.after && p.waits == 0 {
		w.over()
	}
	return w.Frames.Next(f)
}

// TestSlowPipe checks that a pause of the writer while RPCs are pending changes
// no result: time goes by the frames, not by the clock.
func TestSlowPipe(t *testing.T) {
	for _, args := range [][]string{
		{"rpcs", "-T", "json"},
		{"stats", "-T", "json"},
		{"stats", "-T", "json", "--interval", "1s"},
		{"imports", "-T", "json"},
	} {
		args = append(args, sampleFile)
		want, _, _ := run(t, args...)
		for _, frame := range []int64{0, 45, 81, 135, 189, 243} {
			var out, errs bytes.Buffer
			sys := testSystem(&out, &errs)
			sys.Open = pausing(frame, 1)
			status := Run(sys, args)
			if status != exit.OK || out.String() != want {
				t.Errorf("%v, a pause after frame %d: status %d, %d bytes that are not the %d without it: %s",
					args, frame, status, out.Len(), len(want), &errs)
			}
		}
	}
}
