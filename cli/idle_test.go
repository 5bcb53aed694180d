package cli

import (
	"bytes"
	"io"
	"testing"

	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/cli/exit"
	"github.com/lshark/lshark/cli/scan"
)

// paused is a capture that says nothing for a while behind one of its frames,
// as a pipe does whose writer is slow.
type paused struct {
	scan.Frames
	behind int64
	waits  int // how often it says so
	said   int64
}

func (p *paused) Next(f *capture.Frame) error {
	if p.said == p.behind && p.waits > 0 {
		p.waits--
		return capture.ErrTimeout
	}
	p.said++
	return p.Frames.Next(f)
}

// pausing opens captures that pause.
func pausing(behind int64, waits int) func(paths []string, o capture.Options) (scan.Frames, error) {
	return func(paths []string, o capture.Options) (scan.Frames, error) {
		r, err := capture.Open(paths, o)
		return &paused{Frames: r, behind: behind, waits: waits}, err
	}
}

// TestSilentPipe: what has ended is shown while a pipe is silent.
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

// watched tells when a pause is over.
type watched struct {
	scan.Frames
	over func()
}

func (w *watched) Next(f *capture.Frame) error {
	if p := w.Frames.(*paused); p.said == p.behind && p.waits == 0 {
		w.over()
	}
	return w.Frames.Next(f)
}

// TestSlowPipe: a pipe's writer who stops while RPCs are under way changes
// nothing. The time of its frames is long gone.
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
				t.Errorf("%v, a pause behind frame %d: status %d, %d bytes that are not the %d without it: %s",
					args, frame, status, out.Len(), len(want), &errs)
			}
		}
	}
}
