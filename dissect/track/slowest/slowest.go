// Package slowest keeps the RPCs that applications waited for the longest, with copies
// of their requests and replies.
//
// A Slowest receives RPCs from a track.Pairing: pass its methods Sent, Answered and
// Done as hooks in track.Options. Which RPC is slow is known when it ends, so requests
// are copied and kept until then. The number and the size of the copies are bounded; beyond
// that, RPCs are kept without messages. In steady state an RPC costs no allocation.
package slowest

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
)

// The bounds of what is kept of RPCs that have not ended.
const (
	maxCopies = 1 << 12 // RPCs
	maxBytes  = 1 << 25 // of all their messages
	maxSize   = 1 << 18 // bytes of a message; larger ones are not copied
	maxReused = 1 << 12 // bytes of the messages of an RPC whose memory is used again
)

// RPC is an RPC that has ended.
type RPC struct {
	*track.RPC
	Waited         int64            // nanoseconds, see track.RPC.Waited
	Request, Reply *dissect.Message // nil: not kept
}

// Slowest keeps the slowest RPCs.
type Slowest struct {
	// Selects says that Drop is called for some RPCs: how long these took then is no reason
	// not to copy the messages of others.
	Selects bool

	ended    track.Top[*slow]
	answered track.Top[*slow] // nil: the latencies of answered RPCs, ended or not
	rpcs     track.Attached[*copies]
	free     []*copies
	copied   int // RPCs that have not ended and have copies
	bytes    int // in these copies
}

// copies are those of the messages of an RPC.
type copies struct {
	messages       dissect.Arena
	request, reply int // positions in messages, -1: not copied
}

// slow is an RPC that is kept.
type slow struct {
	rpc    *track.RPC
	waited int64
	copies *copies // nil: none
}

// New makes a Slowest that keeps limit RPCs.
func New(limit int) *Slowest {
	return &Slowest{ended: track.Top[*slow]{Limit: limit}, answered: track.Top[*slow]{Limit: limit}}
}

// Sent takes a request.
func (s *Slowest) Sent(r *track.RPC, m *dissect.Message) {
	c := s.rpcs.Of(r)
	if *c != nil || r.OneWay || s.copied == maxCopies || !s.fits(m) {
		return
	}
	if n := len(s.free); n > 0 {
		*c, s.free = s.free[n-1], s.free[:n-1]
	} else {
		*c = &copies{}
	}
	s.copied++
	s.copy(*c, m)
	(*c).request, (*c).reply = 0, -1
}

// Answered takes a reply.
func (s *Slowest) Answered(r *track.RPC, m *dissect.Message) {
	c := *s.rpcs.Of(r)
	if c == nil || c.reply >= 0 {
		return
	}
	ns, _ := r.Waited()
	isSlow := s.Selects && s.ended.Takes(ns) || !s.Selects && s.answered.Takes(ns)
	if s.answered.Add(ns, nil, nil); !isSlow && !hasToWait(r, m) {
		s.Drop(r)
		return
	}
	if s.fits(m) {
		c.reply = c.messages.Len()
		s.copy(c, m)
	}
}

// fits reports whether there is room for a copy of a message.
func (s *Slowest) fits(m *dissect.Message) bool {
	return len(m.Data) <= maxSize && s.bytes+len(m.Data) <= maxBytes
}

func (s *Slowest) copy(c *copies, m *dissect.Message) {
	s.bytes -= c.messages.Size()
	c.messages.Add(m)
	s.bytes += c.messages.Size()
}

// hasToWait reports whether a reply to an LDLM_ENQUEUE shows that the lock is blocked:
// the application then waits longer than for the reply.
func hasToWait(r *track.RPC, m *dissect.Message) bool {
	if r.Opcode != opcodes.LDLM_ENQUEUE || !r.HasOpcode || m.Msg == nil {
		return false
	}
	_, blocked := opcodes.BlockedLock(m.Msg)
	return blocked
}

// Drop forgets an RPC, in place of Done where that is not to be kept.
func (s *Slowest) Drop(r *track.RPC) {
	c := s.rpcs.Of(r)
	if *c == nil {
		return
	}
	s.detach(*c)
	s.reuse(*c)
	*c = nil
}

// detach stops counting copies among those of RPCs that have not ended.
func (s *Slowest) detach(c *copies) {
	s.copied--
	s.bytes -= c.messages.Size()
}

// reuse keeps memory for the copies of a later RPC.
func (s *Slowest) reuse(c *copies) {
	if c.messages.Size() > maxReused {
		return
	}
	c.messages.Reset()
	s.free = append(s.free, c)
}

// Done takes an RPC that has ended.
func (s *Slowest) Done(r *track.RPC) {
	ns, ok := r.Waited()
	if !ok || !s.ended.Takes(ns) {
		s.Drop(r)
		return
	}
	x := &slow{rpc: r.Clone(), waited: ns}
	if c := s.rpcs.Of(r); *c != nil {
		s.detach(*c)
		x.copies, *c = *c, nil
	}
	s.ended.Add(ns, x, func(x *slow) {
		if x.copies != nil {
			s.reuse(x.copies)
		}
	})
}

// List returns the slowest RPCs, slowest first.
func (s *Slowest) List() (list []RPC) {
	for _, x := range s.ended.List() {
		e := RPC{RPC: x.rpc, Waited: x.waited}
		if c := x.copies; c != nil {
			e.Request = c.messages.At(c.request)
			if c.reply >= 0 {
				e.Reply = c.messages.At(c.reply)
			}
		}
		list = append(list, e)
	}
	return list
}
