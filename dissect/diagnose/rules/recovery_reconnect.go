package rules

import (
	"slices"

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
	Limits:  "Reported where a request without a reply was captured. Whether the server or the network was at fault is not decided here. Connects that were refused meanwhile are reported by rules about connects, and not here.",
	Next:    "lshark diagnose --only slow,tcp for the same time. lctl get_param *.*.timeouts on the client has the service times that it expected.",
	Samples: []string{"rolled_back.pcap.zst", "tcp_reset.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		l := &lostConnections{report: r}
		return diagnose.Hooks{Recovery: l.recovery, End: l.end}
	},
})

// lostConnections are connections to targets that were lost, and what else happened to
// targets.
type lostConnections struct {
	report         *diagnose.Reporter
	lost, restarts []*recovery.Recovery
}

func (l *lostConnections) recovery(v *recovery.Recovery) {
	switch {
	case v.Kind == recovery.Reconnect && v.GoneBy == recovery.SignUnanswered && len(l.lost) < maxRestarts:
		l.lost = append(l.lost, v)
	case v.Kind.IsOutage() && len(l.restarts) < maxRestarts:
		l.restarts = append(l.restarts, v)
	}
}

func (l *lostConnections) end() {
	for _, v := range l.lost {
		refused := slices.ContainsFunc(v.Clients, func(c *recovery.Client) bool { return len(c.Refusals) > 0 || c.LostBy == recovery.SignRefused })
		if f := recoveryFinding(v); !refused {
			l.describe(v, &f)
			l.report.Report(f)
		}
	}
}

// wasDown reports whether the server of a connection was seen to have been without one of its
// targets meanwhile.
func (l *lostConnections) wasDown(v *recovery.Recovery) bool {
	return slices.ContainsFunc(l.restarts, func(r *recovery.Recovery) bool {
		return (r.ServerBefore == v.Server || r.Server == v.Server) && r.Begin() <= v.Back.Time && (!isSet(r.Back) || r.Back.Time >= v.Begin())
	})
}

func (l *lostConnections) describe(v *recovery.Recovery, f *diagnose.Finding) {
	f.Count = int64(len(v.Clients))
	f.Text = nodes(clientNIDs(v.Clients)) + " lost the connection to " + v.Target + " on " + v.Server.String() + " (" + signText(v.GoneBy) + ") and connected again"
	if wait := v.Back.Time - v.LastReply.Time; isSet(v.LastReply) && isSet(v.Back) {
		f.Text += ", " + duration(wait) + " after the last reply"
	}
	f.Text += "."
	if !l.wasDown(v) {
		f.Text += " The target ran on."
	}
	impact := v.Impact()
	f.Text += impactText(&impact)
	f.Prove(v.LastReply, "the last reply before")
	f.Prove(v.Gone, "%s", signText(v.GoneBy))
	f.Prove(v.Back, "a connect is accepted again")
}
