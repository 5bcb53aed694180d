package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var (
	slowNetworkShare = &diagnose.Threshold{Name: "share", Value: 0.5, Unit: "of the time of the RPCs",
		Reason: "below that, the server is the first place to look at"}
	slowNetworkTime = &diagnose.Threshold{Name: "time", Value: 0.01, Unit: "s for each RPC",
		Reason: "a local network takes less than a millisecond"}
	slowNetworkRPCs = &diagnose.Threshold{Name: "RPCs", Value: 20, Unit: "RPCs",
		Reason: "with fewer, a single loss decides"}
)

var _ = add(diagnose.Rule{
	Code:     "slow.network",
	Severity: diagnose.Warning,
	Noun:     "RPC that the network delayed",
	Summary:  "RPCs pass more time in the network than in the server.",
	Meaning: "The part of the network in the latency of an RPC is one round trip of its connection, and what retransmission cost. " +
		"Where captures of both sides are merged, it is the difference between the latencies that both saw. The rule sums up the parts of all RPCs between a client and a server.",
	Limits: "A capture on the server does not see the time from the client to the server; one on the client does. " +
		"The time in which bulk data is transferred is a part of its own: it depends on the network, and on how fast both hosts are. RPCs that lost an unknown time by retransmission are left out.",
	Next: "See tcp.round_trip and tcp.retransmission for the hosts and links; ping and iperf3 between both nodes.",

	Thresholds: []*diagnose.Threshold{slowNetworkShare, slowNetworkTime, slowNetworkRPCs},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := &slowNetworks{report: r, pairs: fifo.NewMap[nodePair, *networkTimes](maxPairs)}
		return diagnose.Hooks{Done: s.done, Tick: func(int64) { s.end() }, End: s.end}
	},
})

// slowNetworks sums up where the time of RPCs between two nodes passes. Only RPCs for
// which the network took long are looked at one by one.
type slowNetworks struct {
	report *diagnose.Reporter
	pairs  *fifo.Map[nodePair, *networkTimes]
	pair   nodePair
	last   *networkTimes // of pair
}

// networkTimes are the RPCs between two nodes.
type networkTimes struct {
	n           int64
	parts       parts
	first, last int64
	slowest     slowest
}

func (s *slowNetworks) done(r *track.RPC) {
	if s.last == nil || s.pair.client != r.Client || s.pair.server != r.Server {
		s.find(nodePair{r.Client, r.Server})
	}
	p, ok := partsOf(r)
	if !ok {
		return
	}
	t := s.last
	if t.n == 0 {
		t.first = r.Begin()
	}
	t.n++
	t.last = r.Begin()
	t.parts.add(&p)
	if p.network >= slowNetworkTime.Nanoseconds() {
		t.slowest.add(r, p.network)
	}
}

// find makes a pair of nodes the last one.
func (s *slowNetworks) find(pair nodePair) {
	t := fifo.GetOrNew(s.pairs, pair)
	s.pair, s.last = pair, t
}

func (s *slowNetworks) end() {
	s.pairs.All(func(pair nodePair, t *networkTimes) bool {
		perRPC := float64(t.parts.network) / float64(max(t.n, 1))
		if float64(t.n) >= slowNetworkRPCs.Value && perRPC >= float64(slowNetworkTime.Nanoseconds()) &&
			float64(t.parts.network) >= slowNetworkShare.Value*float64(t.parts.sum()) {
			f := diagnose.Finding{Subject: diagnose.Subject{Client: pair.client, Server: pair.server}, First: t.first, Last: t.last, Count: t.n,
				Text: fmt.Sprintf("The RPCs of %s to %s wait for the network more than for the server: %s took %s, %s. That is %s in the network for each RPC.",
					pair.client, pair.server, plural(t.n, "RPC"), duration(t.parts.sum()), t.parts.text(), duration(int64(perRPC)))}
			t.slowest.prove(&f)
			s.report.Report(f)
		}
		return true
	})
}
