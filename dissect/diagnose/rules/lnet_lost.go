package rules

import (
	"slices"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
)

var _ = addTrouble(diagnose.Rule{
	Code:     "lnet.lost",
	Severity: diagnose.Warning,
	Noun:     "message that LNet lost",
	Summary:  "Messages between two nodes were lost above TCP.",
	Meaning: "A reply came to the host of the client, whose TCP acknowledged it, and the client sent the request again as if it had no reply: " +
		"LNet of the client dropped it.",
	Limits:  "Why LNet drops messages is not on the wire.",
	Next:    "On the client: lnetctl stats show (drop_count), lctl get_param peers nis, the console log for LNet errors, lctl net_drop_list.",
	Samples: []string{"lost_in_lnet.pcap.zst"},
}, func(g *suspects.Group) bool { return onlySuspect(diagnose.AtLNet)(g) && isIgnored(g) }, describeLost)

// isIgnored reports whether a reply was seen before a request was sent again.
func isIgnored(g *suspects.Group) bool {
	return slices.ContainsFunc(g.Troubles, func(t *suspects.Trouble) bool { return t.Wait != nil && !t.Wait.Before.IsZero() })
}

func describeLost(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	what := "The request was acknowledged by TCP, and answered at once when it was sent again: the request or its reply was lost in LNet or ptlrpc of " +
		"one of both nodes."
	if isIgnored(g) {
		what = "The reply had come to the host of the client, whose TCP acknowledged it: it was lost in LNet of the client."
	}
	f.Text += " " + what + excluded(g, diagnose.AtPath, diagnose.AtStorage, diagnose.AtThread)
	f.Brief = diagnose.Sentences(f.Text, 2) + " Look at LNet of " + g.Suspects[0].Node.String() + " and " + g.Suspects[0].Peer.String() +
		", not at the network or the storage."
}
