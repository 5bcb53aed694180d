package rules

import (
	"fmt"
	"net/netip"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

var (
	smallMessages = &diagnose.Threshold{Name: "small messages", Value: 3, Unit: "messages each way",
		Reason: "fewer may have been on their way before the host fell silent"}
	largeSegment = &diagnose.Threshold{Name: "segment", Value: 600, Unit: "B", Reason: "every path carries packets of that size"}
)

var _ = add(diagnose.Rule{
	Code:     "tcp.black_hole",
	Severity: diagnose.Warning,
	Noun:     "loss of all large packets",
	Summary:  "Large packets to a host are lost, and small ones arrive: an MTU black hole.",
	Meaning: "Where a part of the way carries smaller packets than both hosts believe, and nothing tells them (ICMP is filtered, or a " +
		"switch drops silently), each segment of full size is lost, however often it is sent, while pings, lock requests and other small " +
		"messages go on. " +
		"The rule looks for segments that were sent again four times or more without an acknowledgement, while smaller messages between the " +
		"same hosts, on other connections, were answered.",
	Limits: "A firewall or a router that stalls one connection, and not its size, looks the same.",
	Next: "ping -M do -s 8972 (or 1472) HOST from both sides, and smaller sizes until it works. Compare the MTU of both hosts (ip link), " +
		"of the switch ports, and of VLANs and tunnels between them.",

	Thresholds: []*diagnose.Threshold{smallMessages, largeSegment},
	Samples:    []string{"black_hole.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		b := newStalledStreams(r)
		return diagnose.Hooks{TCPEvent: b.marked, Message: b.message, Done: b.done, End: func() {
			for h, p := range b.pairs.All {
				for _, s := range p.silences {
					if s.isBlackHole() {
						r.Report(b.finding(r, h, s))
						break
					}
				}
			}
		}}
	},
})

// stalledStreams finds segments that are never acknowledged, and what arrives on other
// connections of the same hosts meanwhile.
type stalledStreams struct {
	report *diagnose.Reporter
	retransmissions
	open []*stalledStream
	slow []slowRPC
	rpcs []*track.Connection // of slow
}

// stalledStream is a silence that may go on.
type stalledStream struct {
	*silence
	from, to netip.Addr
	passed   passedMessages // since the last retransmission
}

// passedMessages are those between two hosts while some bytes are not acknowledged.
type passedMessages struct {
	there, back int
	largest     int // bytes of those there
}

const maxStalled = 64

func newStalledStreams(r *diagnose.Reporter) *stalledStreams {
	return &stalledStreams{report: r, retransmissions: newRetransmissions()}
}

func (b *stalledStreams) marked(m *lnet.TCPEvent) {
	s := b.silence(m)
	if s == nil {
		return
	}
	for _, x := range b.open {
		if x.silence == s { // what has passed until now did so while the bytes were lost
			s.passed.there += x.passed.there
			s.passed.back += x.passed.back
			s.passed.largest = max(s.passed.largest, x.passed.largest)
			x.passed = passedMessages{}
			return
		}
	}
	if len(b.open) == maxStalled {
		b.open = append(b.open[:0], b.open[1:]...)
	}
	b.open = append(b.open, &stalledStream{silence: s, from: m.Src.Addr(), to: m.Dst.Addr()})
}

func (b *stalledStreams) message(_ *track.RPC, m *dissect.Message) {
	if len(b.open) > 0 && (m.Missing(0, m.Size) == lnet.Lost || m.Tail == lnet.EndOfFile) {
		return // which may have been on its way for long, or still is
	}
	for _, x := range b.open {
		passed := &x.passed
		if m.Time <= x.silence.last.Time { // where bytes are missing, messages come later than segments
			passed = &x.silence.passed
		}
		switch src, dst := m.Src.Addr(), m.Dst.Addr(); {
		case m.Time <= x.silence.from:
		case src == x.from && dst == x.to:
			passed.there++
			passed.largest = max(passed.largest, m.Size)
		case src == x.to && dst == x.from:
			passed.back++
		}
	}
}

// done keeps the RPCs that waited for bytes that were sent again.
func (b *stalledStreams) done(r *track.RPC) {
	if ns, ok := r.Latency(); ok && r.Retransmits() > 0 && ns > maxResentTime && r.Connection != nil && len(b.slow) < maxStalled {
		b.slow, b.rpcs = append(b.slow, slowRPC{r.Opcode, r.Requested(), r.Replied(), ns}), append(b.rpcs, r.Connection)
	}
}

// isBlackHole reports whether only large segments were lost during a silence.
func (s *silence) isBlackHole() bool {
	return float64(s.bytes) >= largeSegment.Value && s.passed.largest < s.bytes &&
		float64(min(s.passed.there, s.passed.back)) >= smallMessages.Value
}

// mayBeBlackHole reports whether it is too early to say.
func (s *silence) mayBeBlackHole(now int64) bool {
	const longestTimeout = int64(120e9) // of TCP
	return float64(s.bytes) >= largeSegment.Value && now-s.last.Time < longestTimeout
}

func (b *stalledStreams) finding(r *diagnose.Reporter, h hostPair, s *silence) diagnose.Finding {
	f := h.finding(r.Paths())
	f.First, f.Last, f.Count = s.from, s.last.Time, s.again
	f.Prove(s.first, "%s sends %d bytes again", h.from, s.bytes)
	f.Prove(s.last, "the last of %d times", s.again)
	from, to := hostNID(r.Paths(), h.from), hostNID(r.Paths(), h.to)
	waited := ""
	for i, one := range b.slow {
		c := b.rpcs[i]
		if (c.Client == to && c.Server == from || c.Client == from && c.Server == to) && one.request.Time < s.last.Time &&
			one.reply.Time > s.from {
			waited = fmt.Sprintf(" %s of %s waited %s.", operationText(one.opcode), c.Client, duration(one.ns))
			f.Prove(one.reply, "the reply to the request that waited")
			break
		}
	}
	last, vain := s.last.Time, s.again
	if s.got || waited != "" {
		last, vain = s.vain, s.again-1
	}
	f.Text = fmt.Sprintf("Large packets from %s to %s were lost for at least %s, and small ones arrived: a segment of %d bytes was sent "+
		"again %d times in vain, while %d messages of at most %d bytes got through, and were answered (MTU black hole).",
		h.from, h.to, duration(last-s.from), s.bytes, vain, s.passed.there, s.passed.largest) + waited
	f.Brief = f.Text + " Look for the MTU of the hosts, switch ports, VLANs and tunnels between them, not at the servers."
	return f
}
