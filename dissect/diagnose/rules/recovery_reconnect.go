package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/recovery"
)

var _ = add(diagnose.Rule{
	Code:     "recovery.reconnect",
	Severity: diagnose.Warning,
	Noun:     "lost connection",
	Summary:  "Clients lost the connection to a target that ran on, and connected again.",
	Meaning: "A client that gets no reply in time gives up the connection and connects again. The target was not restarted and still knew the client, so nothing is lost, but requests waited. " +
		"Servers that are slower than they had promised, and networks that lose packets, do that.",
	Limits: "Reported where a request without a reply was captured. Whether the server or the network was at fault is not decided here. Connects that were refused meanwhile are reported by rules about connects, and not here.",
	Next:   "lshark diagnose --only slow,tcp for the same time. lctl get_param *.*.timeouts on the client has the service times that it expected.",
	Start: startRecoveries(func(v *recovery.Recovery, f *diagnose.Finding) bool {
		if v.Kind != recovery.Reconnect || v.GoneBy != recovery.SignUnanswered {
			return false
		}
		for _, c := range v.Clients {
			if len(c.Refusals) > 0 || c.LostBy == recovery.SignRefused {
				return false
			}
		}
		f.Count = int64(len(v.Clients))
		f.Text = nodes(clientNIDs(v.Clients)) + " lost the connection to " + v.Target + " on " + v.Server.String() + " (" + signText(v.GoneBy) + ") and connected again"
		if wait := v.Back.Time - v.LastReply.Time; isSet(v.LastReply) && isSet(v.Back) {
			f.Text += ", " + duration(wait) + " after the last reply"
		}
		f.Text += ". The target ran on."
		impact := v.Impact()
		f.Text += impactText(&impact)
		f.Prove(v.LastReply, "the last reply before")
		f.Prove(v.Gone, "%s", signText(v.GoneBy))
		f.Prove(v.Back, "a connect is accepted again")
		return true
	}),
})
