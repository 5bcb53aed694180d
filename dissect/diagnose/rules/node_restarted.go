package rules

import (
	"net/netip"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/recovery"
)

var _ = add(diagnose.Rule{
	Code:     "node.restarted",
	Severity: diagnose.Warning,
	Noun:     "restart of a node",
	Summary:  "A server was restarted as a whole, with its targets.",
	Meaning: "When a server goes down, nothing comes from it; when it is up again, its kernel resets connections that it does not know, LNet accepts new ones, and its targets are started one after the other, with a recovery each. " +
		"The rule looks for restarts of targets on the same server while that was silent for a while, or reset or refused connections.",
	Limits:  "Only targets that clients in the capture use are named. A node whose targets were all unmounted and mounted again is not restarted: its connections go on.",
	Next:    "Look at the console log of the server for the time before its last message, at its BMC or hypervisor, and at the HA software: who reset it, and why. The network and the clients are not the cause. lshark recovery -v shows the steps of each client.",
	Samples: []string{"crashed_server.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		n := &restartedNodes{nodeLife: newNodeLife(r)}
		return diagnose.Hooks{Message: n.message, TCPEvent: n.marked, Recovery: n.recovery, End: n.finish}
	},
})

// restartedNodes finds the servers that were restarted.
type restartedNodes struct {
	*nodeLife
	list []*recovery.Recovery // restarts of targets
}

const maxRestarts = 1 << 10

func (n *restartedNodes) recovery(v *recovery.Recovery) {
	if (v.Kind == recovery.Restart || v.Kind == recovery.Failover) && len(n.list) < maxRestarts {
		n.list = append(n.list, v)
	}
}

func (n *restartedNodes) finish() {
	n.end()
	n.hosts.All(func(a netip.Addr, h *hostLife) bool {
		node := hostNID(n.report.Paths(), a)
		for _, s := range h.outages() {
			if targets := n.targetsOf(node, s); len(targets) > 0 {
				n.report.Report(n.restarted(h, s, node, targets))
			}
		}
		return true
	})
}

// outages returns the silences of a host after which it did not know its connections.
func (h *hostLife) outages() (list []*hostSilence) {
	for _, s := range h.silences {
		if isSet(s.back) && (s.reset || !s.same) {
			list = append(list, s)
		}
	}
	return list
}

// targetsOf returns the restarts of targets that a silence of their server explains.
func (n *restartedNodes) targetsOf(node lnet.NID, s *hostSilence) (list []*recovery.Recovery) {
	for _, v := range n.list {
		server := v.ServerBefore
		if server.Len == 0 {
			server = v.Server
		}
		if server == node && v.Back.Time > s.back.Time && v.Begin() < s.back.Time && v.Begin() >= s.from-inFlight {
			list = append(list, v)
		}
	}
	return list
}

// restarted describes the restart of a node.
func (n *restartedNodes) restarted(h *hostLife, s *hostSilence, node lnet.NID, targets []*recovery.Recovery) diagnose.Finding {
	f := diagnose.Finding{Subject: diagnose.Subject{Server: node}, Node: node, Key: node.String() + duration(s.from), First: s.from}
	if isSet(s.begin) {
		f.First = s.begin.Time
	}
	slices.SortFunc(targets, func(a, b *recovery.Recovery) int { return strings.Compare(a.Target, b.Target) })
	var names []string
	var first, last, recovered track.Point
	var impact recovery.Impact
	moved := false
	for _, v := range targets {
		names = append(names, v.Target)
		if !isSet(first) || v.Back.Time < first.Time {
			first = v.Back
		}
		if v.Back.Time > last.Time {
			last = v.Back
		}
		if v.Completed.Time > recovered.Time {
			recovered = v.Completed
		}
		moved = moved || v.Kind == recovery.Failover
		one := v.Impact()
		impact.Waited += one.Waited
		impact.Unanswered += one.Unanswered
		impact.Longest = max(impact.Longest, one.Longest)
	}
	f.Last = max(last.Time, recovered.Time)
	after := func(t int64) string { return duration(t-f.First) + " after its last message" }
	text := node.String() + " was restarted, and with it " + words(names)
	f.Text = text + ": it sent nothing for " + duration(s.back.Time-f.First)
	if s.reset {
		f.Text += ", then reset connections that it did not know any more"
	}
	f.Text += ". The first target was back " + after(first.Time)
	if len(targets) > 1 {
		f.Text += ", the last one " + duration(last.Time-f.First) + " after it"
	}
	if isSet(recovered) {
		f.Text += "; clients had recovered " + duration(recovered.Time-f.First) + " after it"
	}
	f.Text += "." + impactText(&impact)
	f.Brief = text + ": it was away for " + duration(first.Time-f.First) + ", until the first target was back"
	if isSet(recovered) {
		f.Brief += ", and clients had recovered after " + duration(recovered.Time-f.First)
	}
	f.Brief += "." + impactText(&impact) + " Look at its console, BMC or hypervisor for what happened before its last message, not at the network or the clients."
	if moved {
		f.Text += " Targets of it were started on another server."
	}
	f.Prove(s.begin, "the last message of %s before", node)
	f.Prove(s.first, "bytes to it are sent again")
	f.Prove(s.back, "the first sign of life%s", resetText(s.reset))
	f.Prove(first, "the first target accepts a connect again")
	f.Prove(last, "the last target accepts a connect again")
	f.Prove(recovered, "clients of the last target have recovered")
	return f
}

func resetText(reset bool) string {
	if reset {
		return ": it resets a connection"
	}
	return ""
}
