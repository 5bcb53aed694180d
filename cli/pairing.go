package cli

import (
	"github.com/lshark/lshark/cli/scan"
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/track"
	"github.com/lshark/lshark/track/targets"
)

// newPairing returns a Pairing for the messages of a pass that finds the targets of
// connections which were made before the capture began: by a second reading of
// files, else from the messages so far. Call it before adding the consumer that
// closes it.
func newPairing(p *scan.Pass, o track.Options) *track.Pairing {
	if p.CanReadAgain() {
		o.Known = func() track.Known {
			e := targets.New()
			t := track.NewPairing(track.Options{Sent: e.Sent, Answered: e.Answered})
			e.AddHandle = t.AddHandle
			p.Again(func(m *dissect.Message) { t.Message(m) })
			e.Conclude()
			return t.Known()
		}
		return track.NewPairing(o)
	}
	e := targets.New()
	sent, answered := o.Sent, o.Answered
	o.Sent = func(r *track.RPC, m *dissect.Message) {
		e.Sent(r, m)
		if sent != nil {
			sent(r, m)
		}
	}
	o.Answered = func(r *track.RPC, m *dissect.Message) {
		e.Answered(r, m)
		if answered != nil {
			answered(r, m)
		}
	}
	t := track.NewPairing(o)
	e.AddHandle = t.AddHandle
	p.Add(scan.Consumer{End: func() error {
		e.Conclude()
		return nil
	}})
	return t
}
