package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
)

var _ = addTrouble(diagnose.Rule{
	Code:     "target.hung",
	Severity: diagnose.Error,
	Noun:     "target that hung",
	Summary:  "A target served nothing that needs its storage.",
	Meaning: "A target whose storage hangs still answers pings, so that its clients do not give it up: their reads and writes wait, all of them. " +
		"The rule reports waits for which the network, LNet, the node, its queue and its threads are excluded.",
	Limits: "RPCs of clients that the capture does not have may have been served.",
	Next: "On the server: dmesg for errors and timeouts of the disks (\"blocked for more than\", multipath, RAID), iostat -x 1, zpool " +
		"status, and the stacks of its threads.",
}, onlySuspect(diagnose.AtStorage), func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	storage := g.Suspects[0]
	f.Text += " The cause is the " + storage.String() + ", as all else is excluded."
	f.Brief = f.Text + " Look there."
})
