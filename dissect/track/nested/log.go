package nested

import (
	"slices"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// loggedThread is a thread of a server as the log of its node shows it: what it served and
// sent, each by the clock of the log.
type loggedThread struct {
	served []servedSpan
	sent   []sentCall
}

type servedSpan struct {
	number uint64
	span   track.Span
}

type sentCall struct {
	call *Call
	time int64
}

// The bounds of what is kept of logs.
const (
	maxLoggedThreads = 1 << 12
	maxServed        = 1 << 4 // of a thread
	maxSent          = 1 << 6 // of a thread
)

// takeLog links an RPC that has ended to others by what logs have about it: a thread that
// sends a request while it handles another one sends it because of that. Clocks play no role,
// as one log has both.
func (t *Tracker) takeLog(r *track.RPC, e *entry) {
	c := &r.Log.Client
	if r.Log.Cause.XID != 0 {
		c = &r.Log.Cause
	}
	if r.Log.HasClient && c.Sent != 0 {
		t.takeSent(r, e, fifo.GetOrNew(t.logged, c.Thread()), c.Sent)
	}
	if s := &r.Log.Server; r.Log.HasServer && s.Handling != 0 && s.Handled != 0 && e.operation != nil {
		t.takeServed(e, fifo.GetOrNew(t.logged, s.Thread()), s)
	}
}

// takeSent takes an RPC that a node sent.
func (t *Tracker) takeSent(r *track.RPC, e *entry, th *loggedThread, sent int64) {
	if e.call == nil {
		e.call = &Call{Number: t.entry(r).number, opcode: r.Opcode, to: r.Server, span: track.Span{From: r.Begin()}}
		if r.HasReply {
			e.call.span.To = r.Replied().Time
		}
	}
	for _, s := range th.served {
		if s.span.From <= sent && sent <= s.span.To {
			e.around = s.number
			return
		}
	}
	if len(th.sent) == maxSent {
		th.sent = slices.Delete(th.sent, 0, 1)
	}
	th.sent = append(th.sent, sentCall{e.call, sent})
}

// takeServed takes an RPC that a server served.
func (t *Tracker) takeServed(e *entry, th *loggedThread, s *debuglog.Call) {
	o := e.operation
	th.sent = slices.DeleteFunc(th.sent, func(c sentCall) bool {
		if c.time < s.Handling || c.time > s.Handled {
			return false
		}
		if guess := c.call.guess; guess != nil && guess != o {
			guess.calls = slices.DeleteFunc(guess.calls, func(other *Call) bool { return other == c.call })
		}
		if c.call.Link <= ByTime || !slices.Contains(o.calls, c.call) {
			o.add(c.call, ByThread)
		}
		if c.call.logged = true; o.span.To != 0 && (c.call.span.From < o.span.From || c.call.span.From > o.span.To) {
			from := o.span.To - s.Handled + c.time // another capture has it, by another clock
			if c.call.span.To != 0 {
				c.call.span.To += from - c.call.span.From
			}
			c.call.span.From = from
		}
		return true
	})
	if len(th.served) == maxServed {
		th.served = slices.Delete(th.served, 0, 1)
	}
	th.served = append(th.served, servedSpan{e.number, track.Span{From: s.Handling, To: s.Handled}})
}

// Around returns the number of an RPC that has ended before, and which another one is nested in
// by the log of its server; ok is false when there is none.
func (t *Tracker) Around(r *track.RPC) (number uint64, ok bool) {
	number = t.rpcs.Of(r).around
	return number, number != 0
}
