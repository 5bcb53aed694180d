package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
)

var _ = add(diagnose.Rule{
	Code:     "tcp.no_answer",
	Severity: diagnose.Warning,
	Noun:     "silence of a host",
	Summary:  "A host did not acknowledge anything for a while: it or the network to it was down.",
	Meaning: "When a host does not acknowledge what was sent to it, TCP sends the same bytes again and again, each time after twice the time. " +
		"Four such retransmissions take three seconds or more; a network that only loses some of its packets hardly loses one segment five times.",
	Limits: "Whether the host was down, or the network in one of both directions, cannot be told from one capture. The host may have been busy only if its kernel was: TCP is acknowledged by the kernel.",
	Next:   "Compare with a capture of the other host. Look for a restart or a crash of the host, and for changes of links in the logs of both hosts and of the switches.",

	Thresholds: []*diagnose.Threshold{{Name: "repeats", Value: silentRepeats, Unit: "retransmissions", Reason: "with the shortest timeout of TCP, 0.2 s, they take 3 s"}},
	Samples:    []string{"crashed_server.pcap.zst", "evicted_ping.pcap.zst", "frozen_server.pcap.zst", "late_recovery.pcap.zst", "late_recovery_client.pcap.zst", "no_answer.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := newStalledStreams(r)
		report := func() {
			x.pairs.All(func(h hostPair, p *resentPair) bool {
				if p.silenced > 0 && !slices.ContainsFunc(p.silences, (*silence).isBlackHole) {
					r.Report(silenceFinding(r, h, p))
				}
				return true
			})
		}
		return diagnose.Hooks{TCPEvent: x.marked, Message: x.message, Tick: func(int64) { report() }, End: report}
	},
})

// silenceFinding describes when a host did not answer.
func silenceFinding(r *diagnose.Reporter, h hostPair, p *resentPair) diagnose.Finding {
	f := h.finding(r.Paths())
	f.Count = p.silenced
	longest := p.silences[0]
	connects := 0
	for _, s := range p.silences {
		if f.First == 0 || s.from < f.First {
			f.First = s.from
		}
		f.Last = max(f.Last, s.last.Time)
		if s.last.Time-s.from > longest.last.Time-longest.from {
			longest = s
		}
		if s.syn {
			connects++
		}
	}
	what := "what " + h.from.String() + " sent"
	if connects == len(p.silences) {
		what = "the attempts of " + h.from.String() + " to connect"
	}
	f.Text = fmt.Sprintf("%s did not acknowledge %s for at least %s: the same bytes were sent again %d times.", h.to, what, duration(longest.last.Time-longest.from), longest.again)
	switch back := r.Paths().Get(h.source, h.to, h.from); {
	case back == nil || back.Messages == 0:
		f.Text += " The capture has nothing that it sent."
	case back.Last.Time > f.Last:
		f.Text += " It answered again later, so it or the network between both was interrupted."
	default:
		f.Text += " Nothing came from it until the end of the capture."
	}
	for _, s := range p.silences {
		f.Prove(s.first, "%s sends bytes again that were not acknowledged", h.from)
		f.Prove(s.last, "the last of %d retransmissions of them", s.again)
	}
	return f
}
