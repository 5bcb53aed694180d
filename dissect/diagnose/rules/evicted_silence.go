package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/evictions"
)

var _ = add(diagnose.Rule{
	Code:     "evicted.silence",
	Severity: diagnose.Error,
	Noun:     "eviction",
	Summary:  "A server evicted a client from which it had heard nothing for long.",
	Meaning: "An idle client pings each of its targets, so that the server knows that it is alive. A server evicts a client from which nothing came for several ping intervals, six by default. " + evictionMeaning +
		"The rule looks for evicted clients that got no reply from the target for that long before they found out, and that no callback or restart explains.",
	Limits: evictionLimits + "It reports nothing where parts of the time in question were not captured. Somebody may have evicted the silent client by hand.",
	Next: "Find out where the client was: suspended, crashed, hung, or cut off from the network (lshark diagnose --only tcp; lctl ping from both sides). " +
		"Other clients that were silent at the same time point to a switch, or to the server's link.",
	Thresholds: []*diagnose.Threshold{
		{Name: "silence", Value: float64(evictions.MinSilence) / 1e9, Unit: "s", Reason: "Servers evict after six pings by default, which are at least five seconds apart."},
		{Name: "silence in ping intervals", Value: evictions.MinSilentPings, Unit: "pings", Reason: "The number after which servers evict can be set, but not below this."},
	},
	Samples: []string{"evicted_ping.pcap.zst"},
	Start: startEvictions(evictions.Silence, func(e *evictions.Eviction, f *diagnose.Finding) {
		f.First = e.Lost.Time - e.Silence
		f.Text = whoEvicted(e) + " after it had heard nothing from it for long: the client got no reply for " + duration(e.Silence) + " before it found out"
		if e.Interval != 0 {
			f.Text += ", though it pings about every " + duration(e.Interval)
		}
		f.Text += "."
		f.Prove(e.Served, "the last reply that the client got before")
	}),
})
