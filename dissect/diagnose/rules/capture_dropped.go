package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
)

var _ = add(diagnose.Rule{
	Code:     "capture.dropped",
	Severity: diagnose.Warning,
	Summary:  "Frames came faster than they could be captured.",
	Meaning:  "In a live capture the kernel counts the frames that it had to drop because lshark had not read those before.",
	Limits:   "A capture file does not have this count; its rule is capture.lost.",
	Next: "Write to a file with tcpdump -s 1024 -B 65536 and diagnose that, or capture fewer frames with a filter (-f), " +
		"such as those of one server. An RPC without a reply may have had one.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{End: func() {
			c := r.Capture()
			if c.Dropped == 0 {
				return
			}
			r.Report(diagnose.Finding{Count: c.Dropped, First: r.First(), Last: r.Now(),
				Text: fmt.Sprintf("%s were dropped because they came faster than they could be read (%d were read). RPCs are missing, and of others it is unknown whether and when they were answered.",
					plural(c.Dropped, "frame"), c.Frames)})
		}}
	},
})
