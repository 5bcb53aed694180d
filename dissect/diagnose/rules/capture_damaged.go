package rules

import "github.com/lshark/lshark/dissect/diagnose"

var _ = add(diagnose.Rule{
	Code:     "capture.damaged",
	Severity: diagnose.Warning,
	Summary:  "The capture file ends too early, or is damaged.",
	Meaning: "The file could not be read to its end: it ends in the middle of a frame, as when the disk was full or the program that captured was killed, or its bytes are no frame. " +
		"Everything before that was read.",
	Limits: "What came after is unknown. RPCs that were waiting for a reply then count as \"end\", not as unanswered.",
	Next:   "Copy the file again, and compare its size. If it was written by tcpdump -w, stop tcpdump with SIGINT, and use -U.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{End: func() {
			if why := r.Capture().Damaged; why != "" {
				r.Report(diagnose.Finding{First: r.Now(), Text: "The capture could not be read to its end: " + why + ". What happened after that is unknown."})
			}
		}}
	},
})
