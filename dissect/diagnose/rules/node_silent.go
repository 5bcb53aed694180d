package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
)

var _ = addTrouble(diagnose.Rule{
	Code:     "node.silent",
	Severity: diagnose.Error,
	Noun:     "silence of a node",
	Summary:  "A node acknowledged nothing for a while: it or the network to it was down.",
	Meaning: "When a host does not acknowledge what was sent to it, TCP sends the same bytes again and again, each time after twice the time. " +
		"After three seconds that counts as a silence. Where the node exchanges nothing with anybody meanwhile, it stands still, is dead, or is cut off.",
	Limits: "A node that stands still, and one whose link is down, look the same in a capture of another node.",
	Next: "Look at the console log of this node, or that of its hypervisor or BMC, for the time when it was silent; then at its link, the switch " +
		"port and the cable. The nodes that waited for it are not to blame.",
	Samples: []string{"crashed_server.pcap.zst", "evicted_ping.pcap.zst", "frozen_server.pcap.zst", "late_recovery.pcap.zst", "late_recovery_client.pcap.zst", "no_answer.pcap.zst", "partition.pcap.zst", "vanished_client.pcap.zst"},
}, func(g *suspects.Group) bool {
	return onlySuspect(diagnose.AtNode)(g) || suspectsAre(g, diagnose.AtNode, diagnose.AtPath) && !suspectsAre(g, diagnose.AtPath) && sumOf(g).silences != nil
}, func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	s, long := sumOf(g), silent(g)
	text, look := "", " Look at the node and its link first."
	if s.silences == nil { // by the logs of those who waited
		if len(g.Troubles) > 1 {
			f.Text += " All that they have in common is " + nodes([]lnet.NID{g.Suspects[0].Node}) + ": it, or its link, is the cause."
		} else {
			f.Text += " The cause is " + nodes([]lnet.NID{g.Suspects[0].Node}) + ", or its link."
		}
		f.Brief = f.Text + look
		return
	}
	if len(g.Suspects) == 1 {
		node := g.Suspects[0].Node
		f.Subject = diagnose.Subject{Client: f.Client, Server: f.Server} // whatever waited for it
		if f.Node = node; len(s.senders()) > 1 {
			if f.Client == node {
				f.Server = lnet.NID{}
			} else {
				f.Client = lnet.NID{}
			}
		}
		text = fmt.Sprintf("%s was silent for at least %s: it acknowledged nothing, and nothing came from it.", node, roundedDown(long.Length()))
		if slices.ContainsFunc(s.waits, func(w *facts.Wait) bool {
			return w.Client == node && w.Request.IsLog() && w.From > long.From && w.From < long.To
		}) {
			text += " By its log, it was up and had requests to send."
			look = " Look at its link first."
			f.Next = "Look at its link, the switch port and the cable. The nodes that waited for it are not to blame."
		}
	} else {
		text = notAcknowledged(&s, long)
	}
	if waited := f.Text; waited != "" {
		text += " " + waited
	}
	if slices.ContainsFunc(g.Suspects, func(p diagnose.Place) bool { return p.Kind == diagnose.AtPath }) {
		look = " Look at the node, its link, and the way to it."
	}
	f.Text, f.Brief = text, text+look
})

// notAcknowledged says whose bytes a node did not acknowledge, and for how long.
func notAcknowledged(s *troubleSum, long facts.Span) string {
	return fmt.Sprintf("%s acknowledged nothing that %s sent for at least %s.", s.silences[0].To, nodes(s.senders()), roundedDown(long.Length()))
}

// senders returns who sent what the first silent node did not acknowledge.
func (s *troubleSum) senders() (list []lnet.NID) {
	for _, x := range s.silences {
		if x.To == s.silences[0].To {
			list = withNew(list, x.From, maxNames)
		}
	}
	return list
}
