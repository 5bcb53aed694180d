package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
)

var _ = add(diagnose.Rule{
	Code:     "capture.one_way",
	Severity: diagnose.Warning,
	Summary:  "Of some connections the capture has one direction only.",
	Meaning: "The acknowledgements of one host show that it received bytes from the other, and not a single message of the other was captured. " +
		"That is so where requests and replies take different ways through the network, or where a switch port is mirrored for one direction.",
	Limits:  "It is known from acknowledgements: where none was captured, hosts that are silent and hosts that were not captured look the same.",
	Next:    "Capture on a node instead of a switch, or mirror both directions of the port. On nodes with several network interfaces, capture on all of them (tcpdump -i any).",
	Samples: []string{"one_way.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		l := newLosses()
		return diagnose.Hooks{Lost: l.lost, Message: l.message, End: func() {
			sum, directions := sumOfLosses(l.all)
			if sum.runs == 0 {
				return
			}
			r.Report(diagnose.Finding{Brief: "The capture has nothing of what was sent " + directionsText(directions) + ": errors, latencies, restarts and evictions cannot be seen there.", First: sum.first, Last: sum.last, Count: int64(len(directions)),
				Text: "The capture has nothing of what was sent " + directionsText(directions) + ", though " + size(sum.bytes) +
					" arrived there. Requests without a reply, and replies without a request, are due to that; latency and errors of these RPCs are unknown."})
		}}
	},
})
