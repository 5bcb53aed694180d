package scan

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
)

// Captured returns what is known about the frames so far. It is complete in the
// End func of a Consumer.
func (p *Pass) Captured() diagnose.Capture {
	if p.in.OnlyLogs() {
		return diagnose.Capture{}
	}
	c := diagnose.Capture{Stats: p.dissector.Stats(), Files: max(1, len(p.in.files)), FirstFrame: p.First()}
	c.Dropped, c.InterfaceDropped, _ = p.src.dropped() // report writes the error
	for _, x := range p.cut.list {
		if x.Frames > 0 {
			c.Truncated = append(c.Truncated, x)
		}
	}
	if len(p.in.files) > 1 {
		for i, name := range capture.FileNames(p.in.files) {
			path := p.in.files[i]
			if _, given := p.in.offsets[path]; !given && p.offsets[path] != 0 {
				c.Estimated = append(c.Estimated, diagnose.ClockOffset{File: name, Offset: p.offsets[path]})
			}
		}
	}
	var damage *capture.DamageError
	switch {
	case errors.As(p.inputErr, &damage):
		c.Damaged = damage.Plain() // findings are escaped where they are shown
	case p.inputErr != nil:
		c.Damaged = p.inputErr.Error()
	}
	return c
}

// truncations are how much files have of their frames, in the order of their first frames:
// also files that have all of them.
type truncations struct {
	list []diagnose.Truncated
	last int // file of the last frame
}

func (t *truncations) frame(f *capture.Frame) {
	if len(t.list) == 0 || t.list[t.last].File != f.File {
		t.last = t.find(f.File)
	}
	x := &t.list[t.last]
	x.Snaplen = max(x.Snaplen, len(f.Data))
	if len(f.Data) < f.Len {
		x.Frames++
	}
}

// find returns the index of a file, which it adds if it is new.
func (t *truncations) find(file string) int {
	at := slices.IndexFunc(t.list, func(x diagnose.Truncated) bool { return x.File == file })
	if at < 0 {
		at = len(t.list)
		t.list = append(t.list, diagnose.Truncated{File: file})
	}
	return at
}

// tooShort describes the files whose frames are truncated before the headers of
// Lustre, each in a sentence.
func (t *truncations) tooShort() (notes []string) {
	for _, x := range t.list {
		if x.Snaplen >= lnet.MinSnaplen || x.Frames == 0 && x.File != "" {
			continue
		}
		note := fmt.Sprintf("frames are truncated to %d bytes, too short for the headers of Lustre; capture with a snaplen of 1024 (tcpdump -s 1024)", x.Snaplen)
		if x.File != "" {
			note = x.File + ": " + note
		}
		notes = append(notes, note)
	}
	return notes
}
