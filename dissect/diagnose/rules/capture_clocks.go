package rules

import (
	"fmt"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/diagnose"
)

var clockDifference = &diagnose.Threshold{Name: "difference", Value: 0.001, Unit: "s",
	Reason: "a smaller difference is not more than the latency of a network, and does not matter when logs are compared"}

var _ = add(diagnose.Rule{
	Code:     "capture.clocks",
	Severity: diagnose.Note,
	Summary:  "The clocks of captures that are merged differ; times were corrected by an estimate.",
	Meaning: "Captures of several nodes have times by the clocks of these nodes. From the packets that two captures have in common, the difference of their clocks is estimated, " +
		"and the times of the second file are corrected by that.",
	Limits: "The estimate takes the delay of the network as the same in both directions, and the difference as constant. Without packets in common, times are taken as they are.",
	Next:   "Where the times matter, give the difference with --offset FILE=SECONDS. Compare times of the nodes' logs with those of their own capture, without the correction.",

	Thresholds: []*diagnose.Threshold{clockDifference},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{End: func() {
			var words []string
			for _, c := range r.Capture().Estimated {
				if d := c.Offset; d.Abs() >= time.Duration(clockDifference.Nanoseconds()) {
					word := "ahead of"
					if d > 0 {
						word = "behind"
					}
					words = append(words, fmt.Sprintf("that of %s is %s %s", c.File, duration(int64(d.Abs())), word))
				}
			}
			if n := len(words); n > 0 {
				r.Report(diagnose.Finding{First: r.First(), Count: int64(n), Text: "The clocks of the captures differ: " + strings.Join(words[:min(n, maxFilesShown)], ", ") +
					" that of the first file with packets in common. Times were corrected by this estimate, so times between two files may be wrong by part of the network's delay."})
			}
		}}
	},
})
