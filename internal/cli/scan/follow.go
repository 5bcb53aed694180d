package scan

import (
	"io"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/logs"
	"github.com/lshark/lshark/dissect/track/targets"
)

// Observe sets what takes all that the pass finds. It ends before the End funcs of
// consumers are called.
func (p *Pass) Observe(o Observer) { p.observer = o }

// Follow returns a Follower of what the pass finds, which calls hooks.
func (p *Pass) Follow(hooks ...follow.Hooks) *follow.Follower {
	f := follow.New(p.FollowOptions(), hooks...)
	p.Observe(f)
	return f
}

// FollowOptions returns the options of a Follower for the pass. The targets of connections
// that were made before the capture began are found by the messages so far and, in files
// that can be read twice, by a look at those ahead.
func (p *Pass) FollowOptions() follow.Options {
	o := follow.Options{Live: p.in.Live()}
	if len(p.in.logs) > 0 && !p.in.OnlyLogs() && p.opt.Logs.Beside {
		o.Logs = logs.New(p.in.logs)
		o.Logs.HostNID, o.Logs.Elsewhere = p.in.names.NID, p.opt.Logs.Elsewhere
		p.logs = o.Logs
	}
	if p.in.Rereadable() {
		o.LookAhead = p.lookAhead
	} else {
		p.targets = targets.New(p.in.names)
		o.Targets = p.targets
	}
	return o
}

// readNames sets the names that are given, with those in the comment of a capture file, which
// is known when a frame was read.
func (p *Pass) readNames() {
	p.names = p.in.names
	if p.src.reader == nil {
		return
	}
	if format, _ := p.src.reader.Format(); strings.HasPrefix(format.Comment, targets.CommentTitle) {
		p.names = p.in.names.Clone()
		if err := p.names.Read(strings.NewReader(format.Comment), "the comment of the capture"); err != nil && p.in.flags.Verbose {
			p.sys.Say("%v", err)
		}
	}
	if p.targets != nil {
		p.targets.SetNames(p.names)
	}
}

// The number of bytes of frames that lookAhead reads: the lower one if all targets are known
// by then, or if so many requests told nothing more about them. What proves a target is
// usually in the first seconds.
const (
	minLookAhead  = 8 << 20
	maxLookAhead  = 32 << 20
	quietRequests = 4096
)

// framesPerLook is how many frames are read between two looks at the clock and the targets.
const framesPerLook = 256

// heldAhead is how many RPCs lookAhead holds that have their reply: of each, only the first copies of its
// messages tell anything.
const heldAhead = 1 << 10

// lookAhead reads the input from its beginning while the pass goes on, and returns the
// connections whose targets it found, with what finds those behind the end of the look. It
// ends early where the input is damaged, which the pass itself will report.
func (p *Pass) lookAhead() (track.Known, *targets.Evidence) {
	e := targets.New(p.names)
	t := track.NewPairing(track.Options{Sent: e.Sent, Answered: e.Answered, Held: heldAhead})
	d := dissect.New(dissect.Options{Ports: p.in.ports, Answered: heldAhead, Handle: func(m *dissect.Message) {
		if m.Kind == lnet.Request || m.Kind == lnet.Reply {
			t.Message(m)
		}
	}})
	var further *targets.Evidence
	begun, bytes, n := time.Now(), 0, 0
	_ = p.readAgain(func(f *capture.Frame, keep bool) error {
		bytes += len(f.Data)
		end := bytes > maxLookAhead
		if n++; n%framesPerLook == 0 {
			late := p.opt.LookAhead > 0 && time.Since(begun) > p.opt.LookAhead
			end = end || late || bytes > minLookAhead && (e.Requests() > quietRequests || e.Complete())
		}
		if end {
			further = targets.New(p.names)
			return io.EOF
		}
		if keep {
			d.Frame(f)
		}
		return nil
	})
	d.Close()
	e.Conclude()
	return t.Known(), further
}
