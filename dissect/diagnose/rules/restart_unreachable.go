package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/recovery"
)

var _ = add(diagnose.Rule{
	Code:     "restart.unreachable",
	Severity: diagnose.Error,
	Noun:     "target that did not come back",
	Summary:  "A target that clients used did not answer any more, and was not seen again.",
	Meaning: "Clients lost a target: requests and then connects to it were not answered until the end of the capture. Its server is down, hangs, or is cut off. Applications wait until it is back. " +
		"Requests whose replies the capture may have missed do not count.",
	Limits: "What happened to the server is not in the capture.",
	Next:   "Is the server up (ping, lctl ping NID from a client)? Its console log; the HA software, if the target should have moved to another server.",
	Start: startRecoveries(func(v *recovery.Recovery, f *diagnose.Finding) bool {
		if v.Kind != recovery.Unreachable {
			return false
		}
		f.Text = v.Target + " on " + v.ServerBefore.String() + " did not answer any more. " + nodes(clientNIDs(v.Clients)) + " lost it and was not connected again by the end of the capture." + refusalsText(v)
		impact := v.Impact()
		f.Text += impactText(&impact)
		f.Prove(v.LastReply, "its last reply")
		f.Prove(v.Gone, "%s", signText(v.GoneBy))
		for _, c := range v.Clients {
			f.Prove(c.Lost, "%s loses the target: %s", c.Connection.Client, signText(c.LostBy))
		}
		return true
	}),
})
