package rules

import (
	"fmt"
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/paths"
)

var (
	slowAck = &diagnose.Threshold{Name: "acknowledgement", Value: float64(paths.SlowAck) / 1e9, Unit: "s",
		Reason: "a local network takes less than a millisecond, and one within a country 20 ms"}
	slowAckSamples = &diagnose.Threshold{Name: "measurements", Value: paths.MinSamples, Unit: "measurements in a second",
		Reason: "a host may delay single acknowledgements by 40 ms or more, so the fastest of several counts"}
	slowAckSeconds = &diagnose.Threshold{Name: "seconds", Value: 3, Unit: "seconds",
		Reason: "one or two slow seconds may be a host that was busy"}
	slowAckRatio = &diagnose.Threshold{Name: "ratio", Value: 10, Unit: "times the usual round trip",
		Reason: "in a file system that spans long distances, 20 ms may be usual"}
)

var _ = add(diagnose.Rule{
	Code:     "tcp.round_trip",
	Severity: diagnose.Warning,
	Noun:     "slow second with another host",
	Summary:  "Packets to or from a host take far longer than usual, or than those of its peers.",
	Meaning: "TCP shows how long data waits for its acknowledgement. Of each second the fastest acknowledgement of a host counts, since " +
		"hosts delay some of them. " +
		"Where even the fastest takes far longer than in other seconds, or than those of the other hosts, the network between the host and " +
		"the capture point is slow. Each RPC takes longer by that, and bulk data many times that.",
	Limits: "The time is that between the capture point and the host and back: what is slow on the other side of the capture point does not show. " +
		"Seconds with fewer than five measurements are left out. At least one of the slow seconds must have bulk data, as acknowledgements of " +
		"a lot of data are not delayed. " +
		"A host that is far away all the time is not reported unless there are two others to compare with.",
	Next: "ping the host from several nodes, at the same time. Look for a link with a wrong speed, a full queue (tc -s qdisc), a detour of " +
		"the route, and for power saving of the network card.",

	Thresholds: []*diagnose.Threshold{slowAck, slowAckSamples, slowAckSeconds, slowAckRatio},
	Samples:    []string{"slow_client.pcap.zst", "slow_network.pcap.zst", "two_faults.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{Tick: func(int64) { reportRoundTrips(r) }, End: func() { reportRoundTrips(r) }}
	},
})

func reportRoundTrips(r *diagnose.Reporter) {
	for p := range r.Paths().All {
		seconds, bulk := 0, false
		for _, s := range p.Slow {
			seconds += s.Seconds
			bulk = bulk || s.Bulk
		}
		if !bulk || float64(seconds) < slowAckSeconds.Value {
			continue
		}
		if usual, text, ok := usualRoundTrip(r.Paths(), p); ok && float64(p.Slow[0].Least) >= slowAckRatio.Value*float64(usual) {
			r.Report(roundTripFinding(r, p, seconds, text))
		}
	}
}

// usualRoundTrip returns the time in which the receiver of a path usually acknowledges,
// else the median of the other hosts.
func usualRoundTrip(all *paths.Paths, p *paths.Path) (ns int64, text string, ok bool) {
	if ns, ok := p.Typical(); ok {
		return ns, "in other seconds, the fastest took " + duration(ns), true
	}
	hosts := make(map[netip.Addr]bool)
	var list []int64
	for other := range all.All {
		if other.Source != p.Source || other.To == p.To || hosts[other.To] {
			continue
		}
		if ns, ok := other.Typical(); ok {
			hosts[other.To] = true
			list = append(list, ns)
		}
	}
	if len(list) < 2 {
		return 0, "", false
	}
	slices.Sort(list)
	ns = list[len(list)/2]
	return ns, fmt.Sprintf("the fastest of %d other hosts took %s (median)", len(list), duration(ns)), true
}

func roundTripFinding(r *diagnose.Reporter, p *paths.Path, seconds int, usual string) diagnose.Finding {
	h := hostPair{p.Source, p.From, p.To}
	least := p.Slow[0].Least
	for _, s := range p.Slow {
		least = min(least, s.Least)
	}
	f := h.finding(r.Paths())
	f.First, f.Last, f.Count = p.Slow[0].From.Time, p.Slow[len(p.Slow)-1].To.Time, int64(seconds)
	f.Text = fmt.Sprintf("The network to or from %s is slow: in each of %d seconds, its fastest acknowledgement to %s took %s or more; %s.",
		p.To, seconds, p.From, duration(least), usual)
	for _, s := range p.Slow {
		f.Prove(s.From, "from here on, no acknowledgement of %s in less than %s", p.To, duration(s.Least))
	}
	return f
}
