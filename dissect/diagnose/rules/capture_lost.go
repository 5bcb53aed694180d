package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
)

var _ = add(diagnose.Rule{
	Code:     "capture.lost",
	Severity: diagnose.Warning,
	Summary:  "The capture lacks bytes that the hosts received.",
	Meaning: "TCP and InfiniBand acknowledge what has arrived. Bytes that were acknowledged and are in no frame of the capture were lost by the capture: the program or the switch that captured could not keep up. " +
		"It is a warning where requests or replies may be in these bytes, and a note where they are in the middle of bulk data only.",
	Limits: "Bytes that were lost and acknowledged before the first frame of a connection, or after the last one, cannot be found.",
	Next: "An RPC without a reply at these times may have had one: lshark rpcs lists its reply as not_captured, not as unanswered. " +
		"For the next capture, write to a local disk, capture fewer bytes of each frame (tcpdump -s 1024), and give tcpdump a larger buffer (-B 65536).",
	Samples: []string{"lost_frames.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		l := newLosses()
		report := func() {
			if sum, directions := sumOfLosses(l.some); sum.runs > 0 {
				r.Report(lostFinding(&sum, directions))
			}
		}
		return diagnose.Hooks{Lost: l.lost, Message: l.message, Tick: func(int64) { report() }, End: func() {
			if report(); l.some.Len() == 0 && l.all.Len() == 0 {
				reportGaps(r)
			}
		}}
	},
})

func lostFinding(sum *loss, directions []direction) diagnose.Finding {
	where := " in " + plural(sum.runs, "place") + ": "
	if sum.runs == 1 {
		where = ", "
	}
	return diagnose.Finding{First: sum.first, Last: sum.last, Count: sum.runs,
		Text: fmt.Sprintf("The capture lacks %s that the hosts received%s%s. "+
			"Requests and replies may be in them, so that some RPCs are missing, and of others it is unknown whether and when they were answered.",
			size(sum.bytes), where, directionsText(directions))}
}

// reportGaps reports bytes that are missing in the middle of messages only.
func reportGaps(r *diagnose.Reporter) {
	c := r.Capture()
	switch gaps := c.TCP.Gaps + c.IB.Gaps; {
	case c.TCP.LostBytes > 0:
		r.Report(withNote(diagnose.Finding{First: r.First(), Last: r.Now(), Count: gaps, Text: fmt.Sprintf("The capture lacks %s in the middle of messages. No request and no reply is missing, but what these bytes were is unknown, such as the data that was read or written.",
			size(c.TCP.LostBytes))}))
	case c.IB.LostPackets > 0:
		r.Report(withNote(diagnose.Finding{First: r.First(), Last: r.Now(), Count: gaps, Text: fmt.Sprintf("The capture lacks %s of InfiniBand in the middle of messages. No request and no reply is missing, but what these bytes were is unknown, such as the data that was read or written.",
			plural(c.IB.LostPackets, "packet"))}))
	}
}
