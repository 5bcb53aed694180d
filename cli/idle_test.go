package cli

import (
	"bytes"
	"testing"

	"github.com/lshark/lshark/capture"
)

// paused is a capture that says nothing for a while behind one of its frames,
// as a pipe does whose writer is slow.
type paused struct {
	frames
	behind int64
	said   int64
}

func (p *paused) Next(f *capture.Frame) error {
	if p.said == p.behind {
		p.said++
		return capture.ErrTimeout
	}
	p.said++
	return p.frames.Next(f)
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
			status := Run(&IO{Out: &out, Err: &errs, Env: func(string) string { return "" },
				Open: func(paths []string, o capture.Options) (frames, error) {
					r, err := capture.Open(paths, o)
					return &paused{frames: r, behind: frame}, err
				}}, args)
			if status != exitOK || out.String() != want {
				t.Errorf("%v, a pause behind frame %d: status %d, %d bytes that are not the %d without it: %s",
					args, frame, status, out.Len(), len(want), &errs)
			}
		}
	}
}
