// Package slowest keeps the RPCs that applications waited for the longest, with copies
// of their requests and replies.
//
// A Slowest receives RPCs from a track.Pairing: pass its methods Sent, Answered and
// Done as hooks in track.Options. Which RPC is slow is known when it ends, so requests
// are copied and kept until then. The number and the size of the copies are bounded; beyond
// that, RPCs are kept without messages. In steady state an RPC costs no allocation.
package slowest

import (
	"slices"

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

	limit    int
	list     []slow  // slowest first; with equal times, in the order in which they ended
	answered []int64 // the longest latencies of answered RPCs, ended or not; longest first
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
func New(limit int) *Slowest { return &Slowest{limit: limit} }

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
	isSlow := s.Selects && s.takes(ns) || !s.Selects && s.noteLatency(ns)
	if !isSlow && !hasToWait(r, m) {
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

// noteLatency notes a latency and reports whether it is one of the longest so far.
func (s *Slowest) noteLatency(ns int64) bool {
	if len(s.answered) == s.limit {
		if s.limit == 0 || ns <= s.answered[s.limit-1] {
			return false
		}
		s.answered = s.answered[:s.limit-1]
	}
	at, _ := slices.BinarySearchFunc(s.answered, ns, longestFirst)
	s.answered = slices.Insert(s.answered, at, ns)
	return true
}

// longestFirst compares times for a search that finds the place behind those that are
// equal.
func longestFirst(a, b int64) int {
	if a >= b {
		return -1
	}
	return 1
}

// takes reports whether an RPC that took so long belongs to the slowest so far.
func (s *Slowest) takes(ns int64) bool {
	return len(s.list) < s.limit || s.limit > 0 && ns > s.list[len(s.list)-1].waited
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
	if !ok || !s.takes(ns) {
		s.Drop(r)
		return
	}
	x := slow{rpc: r.Clone(), waited: ns}
	if c := s.rpcs.Of(r); *c != nil {
		s.detach(*c)
		x.copies, *c = *c, nil
	}
	if len(s.list) == s.limit {
		last := len(s.list) - 1
		if c := s.list[last].copies; c != nil {
			s.reuse(c)
		}
		s.list = s.list[:last]
	}
	at, _ := slices.BinarySearchFunc(s.list, ns, func(x slow, ns int64) int { return longestFirst(x.waited, ns) })
	s.list = slices.Insert(s.list, at, x)
}

// List returns the slowest RPCs, slowest first.
func (s *Slowest) List() []RPC {
	list := make([]RPC, len(s.list))
	for i, x := range s.list {
		list[i] = RPC{RPC: x.rpc, Waited: x.waited}
		if c := x.copies; c != nil {
			list[i].Request = c.messages.At(c.request)
			if c.reply >= 0 {
				list[i].Reply = c.messages.At(c.reply)
			}
		}
	}
	return list
}
