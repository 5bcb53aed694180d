package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
)

var _ = addTrouble(diagnose.Rule{
	Code:     "lock.wait",
	Severity: diagnose.Warning,
	Noun:     "wait for a lock",
	Summary:  "A client waited long for a lock that another one kept.",
	Meaning:  "The server asks the holder of a lock to give it back when another client needs it. The rule reports waits whose holder is known.",
	Limits:   "Why the holder kept the lock is not in the capture.",
	Next: "On the holder: what the job does with the file, how much it has to write back (osc.*.max_dirty_mb, slow OSTs), and whether the callback was " +
		"answered late (a busy or unreachable node). lshark locks --slowest 10 and lshark locks --blockers show all waits.",
}, func(g *suspects.Group) bool { return onlySuspect(diagnose.AtHolder)(g) }, func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	f.Node = g.Suspects[0].Node
	f.Text += " A lock was in conflict that " + holderText(f.Node) + " kept."
})

// holderText returns the node of a holder, or that it is not known.
func holderText(n lnet.NID) string {
	if n.Len == 0 {
		return "a client outside the capture"
	}
	return n.String()
}
