package scan

import (
	"github.com/lshark/lshark/capture"
	"github.com/lshark/lshark/dissect"
)

// CanReadAgain reports whether Again can read the input a second time.
func (p *Pass) CanReadAgain() bool { return p.in.rereadable() }

// Again reads the input from its beginning to its end while the pass goes on, and
// passes all messages to handle. It ends early where the input is damaged, which
// the pass itself will report.
func (p *Pass) Again(handle func(*dissect.Message)) {
	src, err := p.in.open(p.sys, p.offsets)
	if err != nil {
		return
	}
	defer src.frames.Close()
	d := dissect.New(dissect.Options{Handle: handle, Ports: p.in.ports})
	defer d.Close()
	var f capture.Frame
	for src.next(&f) == nil {
		if p.in.keep != nil {
			if ok, err := p.in.keep.Match(f.Link, f.Data, f.Len); err != nil || !ok {
				continue
			}
		}
		d.Frame(&f)
	}
}
