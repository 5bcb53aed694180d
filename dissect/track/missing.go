package track

import (
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Missing is why an RPC has no reply.
type Missing uint8

// The reasons. A reply that is there, or not due, is not missing.
const (
	NotMissing     Missing = iota
	CaptureEnded           // the capture ended before it was due
	Unanswered             // it was due, and everything that the server sent was captured
	NotCaptured            // bytes of the server were not captured where it may have been
	EncryptedReply         // it may be one of the encrypted replies that fit no request, or it is encrypted when it was due
	missingReasons
)

var missingNames = [missingReasons]string{"", "end", "unanswered", "not_captured", "encrypted"}

// String returns the name in JSON, empty for NotMissing.
func (m Missing) String() string { return missingNames[m] }

// MissingReasons returns the reasons why a reply that is due can be missing.
func MissingReasons() []Missing {
	return []Missing{CaptureEnded, Unanswered, NotCaptured, EncryptedReply}
}

// A client waits longer than the estimate that it sends in pb_timeout: a quarter
// of it, five seconds, and the latency of the network.
const (
	minWait     = 15e9 // ns
	waitPerTime = 1.25
)

// lossKey is a direction between two addresses at a capture point.
type lossKey struct {
	source   int
	from, to netip.Addr
}

// lossTable has the times in which a direction was not captured completely, or
// had encrypted replies without a request.
type lossTable struct {
	losses    *fifo.Map[lossKey, *lossyPath]
	encrypted *fifo.Map[lossKey, *Spans]
}

// lossyPath is a direction that was not captured completely.
type lossyPath struct {
	Spans
	nids nidSet // of the nodes between which it carries messages
}

const (
	maxLossKeys  = 1 << 12
	maxLossSpans = 64
)

// Spans are stretches of time in order.
type Spans []Span

// Add adds a span. Those that overlap are joined, and when there would be more than
// most, the last ones.
func (l *Spans) Add(s Span, most int) {
	n := len(*l)
	if n > 0 {
		last := &(*l)[n-1]
		if n == most || s.From <= last.To && s.To >= last.From {
			last.From, last.To = min(last.From, s.From), max(last.To, s.To)
			return
		}
	}
	*l = append(*l, s)
}

// Overlap reports whether one of the spans overlaps another one.
func (l Spans) Overlap(t Span) bool {
	return slices.ContainsFunc(l, func(s Span) bool { return s.From <= t.To && s.To >= t.From })
}

func newLossTable() lossTable {
	return lossTable{fifo.NewMap[lossKey, *lossyPath](maxLossKeys), fifo.NewMap[lossKey, *Spans](maxLossKeys)}
}

// Lost takes a run of bytes that were not captured.
func (t *Pairing) Lost(l *lnet.Loss) { t.lost.add(l) }

func (t *lossTable) add(l *lnet.Loss) {
	k := lossKey{l.Source, l.Src.Addr(), l.Dst.Addr()}
	p := fifo.GetOrNew(t.losses, k)
	p.Add(Span{l.From, l.To}, maxLossSpans)
	for _, n := range l.NIDs {
		p.nids.add(n)
	}
}

// nidSet is a few NIDs.
type nidSet []lnet.NID

func (s *nidSet) add(n lnet.NID) {
	if !s.isFull() && !s.has(n) {
		*s = append(*s, n)
	}
}

// isFull reports whether there may be more of them.
func (s nidSet) isFull() bool { return len(s) == lnet.MaxLossNIDs }

// isFirst reports whether a NID is the one that was added first: most nodes have
// one.
func (s nidSet) isFirst(n lnet.NID) bool { return len(s) > 0 && s[0] == n }

// has reports whether a NID is in the set.
func (s nidSet) has(n lnet.NID) bool { return slices.Contains(s, n) }

// hasAny reports whether the sets have a NID in common.
func (s nidSet) hasAny(other nidSet) bool { return slices.ContainsFunc(other, s.has) }

// carries reports whether a path may have carried the reply to an RPC whose request
// a capture point saw: by the way of the request, by another rail of the same
// nodes, or through another router.
func (p *lossyPath) carries(k lossKey, r *RPC, s *Sighting) bool {
	switch {
	case k.source != s.Source:
		return false
	case k.from == s.receiver && k.to == s.sender:
		return true
	case len(p.nids) == 0:
		return k.to == s.sender
	}
	client, server := p.nids.has(r.Client), p.nids.has(r.Server)
	if c := r.Connection; c != nil {
		a, b := c.clients, c.servers
		if opcodes.IsCallback(r.Opcode) {
			a, b = b, a
		}
		client, server = client || p.nids.hasAny(a), server || p.nids.hasAny(b)
	}
	return client && (server || p.nids.isFull())
}

// touches reports whether messages of a connection may have been lost in a stretch of time.
func (t *lossTable) touches(c *Connection, s Span) bool {
	for k, p := range fifo.All(t.losses) {
		between := (p.nids.has(c.Client) || p.nids.hasAny(c.clients)) && (p.nids.has(c.Server) || p.nids.hasAny(c.servers))
		if (between || len(p.nids) == 0 && k.mayBe(c) || p.nids.isFull()) && p.Overlap(s) {
			return true
		}
	}
	return false
}

// mayBe reports whether two hosts between which no message was captured may have messages of a
// connection: one of them is an end of it, or the addresses of its NIDs are not those of hosts.
func (k *lossKey) mayBe(c *Connection) bool {
	isAt := func(n lnet.NID) bool { return !n.IsTCP() || n.IsAt(k.from) || n.IsAt(k.to) }
	return isAt(c.Client) || isAt(c.Server) || !k.from.IsValid()
}

// isLossy reports whether the reply to an RPC may have been lost in a stretch of
// time at the capture point of a sighting.
func (t *lossTable) isLossy(r *RPC, s *Sighting, due Span) bool {
	for k, p := range fifo.All(t.losses) {
		if p.Overlap(due) && p.carries(k, r, s) {
			return true
		}
	}
	return false
}

// missing returns why an RPC has no reply, by all that was captured so far.
func (t *Pairing) missing(r *RPC) Missing {
	if !r.HasRequest || r.HasReply || r.OneWay {
		return NotMissing
	}
	known := r.deadline != 0
	captured, encrypted, long := false, false, false
	for i := range r.Seen {
		s := &r.Seen[i]
		if s.Request.IsZero() {
			continue
		}
		due := Span{s.Request.Time, t.now}
		if known {
			due.To = min(due.To, r.deadline)
		}
		captured = captured || !t.lost.isLossy(r, s, due)
		replies, ok := fifo.Get(t.lost.encrypted, lossKey{s.Source, s.receiver, s.sender})
		encrypted = encrypted || ok && r.Encrypted && replies.Overlap(due)
		long = long || t.now-s.Request.Time > minWait
	}
	reconnected := r.Connection != nil && !opcodes.IsCallback(r.Opcode) && r.ConnCnt != 0 && r.Connection.connCnt > r.ConnCnt // which ends the wait
	switch {
	case !captured:
		return NotCaptured
	case encrypted:
		return EncryptedReply
	case r.Sends > 1, r.Expired, known && t.now > r.deadline, reconnected:
		return Unanswered
	case r.Encrypted && long:
		return EncryptedReply
	}
	return CaptureEnded
}

// expectReply sets when the wait of the client for a reply ends at the latest.
func (r *RPC) expectReply(sent int64, estimate uint32) {
	if estimate != 0 {
		r.deadline = max(r.deadline, sent+int64(waitPerTime*1e9)*int64(estimate)+minWait)
	}
}
