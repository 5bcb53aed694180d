package scan

import (
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/targets"
)

// FollowOptions returns the options of a Follower for the pass. The targets of connections
// that were made before the capture began are found by a second reading of files, else by
// the messages so far.
func (p *Pass) FollowOptions() follow.Options {
	o := follow.Options{Live: p.in.Live()}
	if p.in.Rereadable() {
		o.Known = p.readTargets
	} else {
		o.Targets = targets.New(p.in.names)
	}
	return o
}

// framesPerLook is how many frames are read between two looks at the clock.
const framesPerLook = 256

// readTargets reads the input from its beginning to its end while the pass goes
// on, and returns the connections whose targets it found. It ends early where
// the input is damaged, which the pass itself will report.
func (p *Pass) readTargets() track.Known {
	e := targets.New(p.in.names)
	t := track.NewPairing(track.Options{Sent: e.Sent, Answered: e.Answered})
	src, err := p.in.open(p.sys, p.offsets)
	if err != nil {
		return track.Known{}
	}
	defer src.frames.Close()
	d := dissect.New(dissect.Options{Ports: p.in.ports, Handle: func(m *dissect.Message) {
		if m.Kind == lnet.Request || m.Kind == lnet.Reply {
			t.Message(m)
		}
	}})
	begun := time.Now()
	var f capture.Frame
	for n := 1; src.next(&f) == nil; n++ {
		if p.opt.LookAhead > 0 && n%framesPerLook == 0 && time.Since(begun) > p.opt.LookAhead {
			break
		}
		if p.in.keep != nil {
			if ok, err := p.in.keep.Match(f.Link, f.Data, f.Len); err != nil || !ok {
				continue
			}
		}
		d.Frame(&f)
	}
	d.Close()
	e.Conclude()
	return t.Known()
}
