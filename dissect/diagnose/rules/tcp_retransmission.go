package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var (
	resentSegments = &diagnose.Threshold{Name: "segments", Value: 10, Unit: "segments",
		Reason: "a few are lost in every network, and TCP needs some to find out how fast it may send"}
	resentShare = &diagnose.Threshold{Name: "share", Value: 0.005, Unit: "of the bytes",
		Reason: "a loss of one segment in two hundred halves what TCP can send over a network with a round trip of a millisecond"}
	resentTime = &diagnose.Threshold{Name: "time", Value: 0.5, Unit: "s",
		Reason: "less than that is not noticed by an application, and a single loss at the end of a message costs 0.2 s"}
)

var _ = add(diagnose.Rule{
	Code:     "tcp.retransmission",
	Severity: diagnose.Warning,
	Noun:     "retransmitted segment",
	Summary:  "A host sends segments again because they were lost.",
	Meaning: "TCP sends a segment again when it is not acknowledged: at once if later segments were (fast retransmission), else after 0.2 s or more (timeout). " +
		"The RPCs whose bytes were in it take longer by that. The rule counts the segments that a host sent again to another, and how much of the latency of their RPCs passed by that.",
	Limits: "Segments that were lost before they came to the capture point, and were not sent again, are not seen: what the other host sends again is seen better on its side. " +
		"Segments that the receiver had already (spurious), and those that are sent again and again to a host that does not answer (tcp.no_answer), do not count.",
	Next: "Find the link that loses frames: ip -s link and ethtool -S on both hosts (errors, drops), the counters of the switch ports between them, and tc -s qdisc. Compare with other hosts on the same switch.",

	Thresholds: []*diagnose.Threshold{resentSegments, resentShare, resentTime},
	Samples:    []string{"black_hole.pcap.zst", "losses.pcap.zst", "two_faults.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := &lossyHosts{report: r, retransmissions: newRetransmissions(), cost: fifo.NewMap[nodePair, *resentCost](maxPairs)}
		return diagnose.Hooks{TCPEvent: x.marked, Done: x.done, Tick: func(int64) { x.end() }, End: x.end}
	},
})

// lossyHosts finds hosts between which segments are lost.
type lossyHosts struct {
	report *diagnose.Reporter
	retransmissions
	cost *fifo.Map[nodePair, *resentCost]
}

// resentCost is what retransmissions cost the RPCs between two nodes.
type resentCost struct {
	rpcs int64
	time int64 // nanoseconds of latency
	most int64
	at   track.Point // request of the RPC that lost most
}

// maxResentTime is the longest time that single losses cost an RPC. It is longer when a
// host does not answer.
const maxResentTime = 3e9

// done sums up what retransmissions cost.
func (x *lossyHosts) done(r *track.RPC) {
	if r.Retransmits() == 0 {
		return
	}
	ns, ok := r.RetransmitTime()
	if !ok || ns == 0 || ns > maxResentTime {
		return
	}
	key := nodePair{r.Client, r.Server}
	c := fifo.GetOrNew(x.cost, key)
	c.rpcs++
	c.time += ns
	if ns > c.most {
		c.most, c.at = ns, r.Requested()
	}
}

// costBetween returns what retransmissions cost the RPCs between two nodes, either way.
func (x *lossyHosts) costBetween(a, b lnet.NID) (sum resentCost) {
	for _, key := range []nodePair{{a, b}, {b, a}} {
		if c, ok := x.cost.Get(key); ok {
			sum.rpcs += c.rpcs
			sum.time += c.time
			if c.most > sum.most {
				sum.most, sum.at = c.most, c.at
			}
		}
	}
	return sum
}

func (x *lossyHosts) end() {
	x.pairs.All(func(h hostPair, p *resentPair) bool {
		x.check(h, p)
		return true
	})
}

// check reports a direction if what was sent again matters.
func (x *lossyHosts) check(h hostPair, p *resentPair) {
	path := x.report.Paths().Get(h.source, h.from, h.to)
	if path == nil || p.segments == 0 {
		return
	}
	cost := x.costBetween(path.FromNID, path.ToNID)
	share := float64(p.bytes) / float64(max(path.Bytes, 1))
	many := float64(p.segments) >= resentSegments.Value && share >= resentShare.Value
	if !many && cost.time < resentTime.Nanoseconds() {
		return
	}
	f := h.finding(x.report.Paths())
	f.First, f.Last, f.Count = p.first, p.last, p.segments
	f.Text = fmt.Sprintf("%s sent %s to %s again (%.1f %% of the bytes of its messages).",
		h.from, plural(p.segments, "segment"), h.to, 100*share)
	if cost.time > 0 {
		f.Text += fmt.Sprintf(" As far as known, %s between both lost %s by retransmission, at most %s.", plural(cost.rpcs, "RPC"), duration(cost.time), duration(cost.most))
	}
	for _, at := range p.evidence {
		f.Prove(at, "%s sends bytes again", h.from)
	}
	f.Prove(cost.at, "the request of the RPC that lost most time by retransmission")
	x.report.Report(f)
}
