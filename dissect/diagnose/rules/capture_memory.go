package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
)

var _ = add(diagnose.Rule{
	Code:     "capture.memory",
	Severity: diagnose.Warning,
	Summary:  "Messages were truncated because too many were incomplete at the same time.",
	Meaning: "Messages of which bytes are missing are kept in memory until a retransmission or a late frame completes them. " +
		"The memory for that is limited; beyond the limit only the first bytes of a message are kept.",
	Limits: "Which messages these were is not recorded.",
	Next:   "Read fewer files at a time, or the connections of fewer nodes (lshark -f 'host 192.0.2.3').",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{End: func() {
			if n := r.Capture().Unaffordable; n > 0 {
				r.Report(diagnose.Finding{First: r.First(), Last: r.Now(), Count: n, Text: plural(n, "message") + " had to be truncated to limit the use of memory. Names, jobs, locks and results in the rest of them are unknown."})
			}
		}}
	},
})
