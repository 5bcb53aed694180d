package rules

import (
	"net/netip"
	"strconv"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/dissect/track/recovery"
)

var silentTime = &diagnose.Threshold{Name: "silence", Value: 5, Unit: "s", Reason: "a link that flaps, or a spanning tree that changes, " +
	"takes less; LNet and clients notice what takes longer"}

var _ = add(diagnose.Rule{
	Code:     "node.silent",
	Severity: diagnose.Warning,
	Noun:     "silence of a node",
	Summary:  "A node sent nothing for a while, although others sent to it again and again.",
	Meaning: "The kernel of a host acknowledges what arrives, however busy the host is. A node that acknowledges nothing and sends nothing " +
		"is down, stands still, or is cut off from the network. " +
		"The rule looks for nodes from which no message, retransmission or reset came while bytes to them were sent again four times or more. " +
		"That others reached the senders meanwhile, or that there are several of them, shows that they are not to blame. A node that at last " +
		"acknowledges the first transmission of what was sent again meanwhile (by the TCP timestamp) stood still: one that was cut off would " +
		"never have got it.",
	Limits: "What happened on the way between this node and the place of the capture looks the same as a node that is down. Of a node from " +
		"which nothing was captured at all, only the time is known in which it acknowledged nothing.",
	Next: "Look at the console log of this node, or that of its hypervisor or BMC, for the time when it was silent; then at its link, " +
		"the switch port and the cable. The nodes that waited for it are not to blame.",

	Thresholds: []*diagnose.Threshold{silentTime},
	Samples: []string{"crashed_server.pcap.zst", "evicted_ping.pcap.zst", "frozen_server.pcap.zst", "late_recovery.pcap.zst",
		"late_recovery_client.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		n := newNodeLife(r)
		return diagnose.Hooks{Message: n.message, TCPEvent: n.marked, IBEvent: n.packet, End: n.reportSilent}
	},
})

// reportSilent reports the silences of nodes, and the nodes that reached no other.
func (n *nodeLife) reportSilent() {
	n.end()
	cut := n.cutOff()
	for a, h := range n.hosts.All {
		for _, s := range h.silences {
			if f := n.silent(h, s); (len(s.reaching) > 0 || len(s.peers) > 1) && f.Last-f.First >= silentTime.Nanoseconds() {
				n.report.Report(f)
			}
		}
		if list := cut[a]; len(list) > 1 {
			n.report.Report(n.isolated(h, list))
		}
	}
}

func (n *nodeLife) silent(h *hostLife, s *hostSilence) diagnose.Finding {
	f := n.finding(h, s)
	took := atLeast(!isSet(s.begin) || !isSet(s.back) && h.silence != s) + duration(f.Last-f.First)
	node := f.Node.String()
	f.Text = node + " was silent for " + took + ": it acknowledged nothing of what " + n.names(s.peers) + " sent to it again and again"
	switch n := len(s.reaching); {
	case n == 1:
		f.Text += ", while others reached the sender"
	case n > 1:
		f.Text += ", while others reached these"
	}
	f.Text += "."
	outcome := s.outcome()
	f.Text += sentence(outcome) + "."
	f.Brief = node + " was silent for " + took + "; " + outcome + ". Look at this node and its link, not at those that waited for it."
	return f
}

// isolated describes a node that reached none of several others.
func (n *nodeLife) isolated(h *hostLife, list []*hostSilence) diagnose.Finding {
	f := n.finding(h, list[0])
	f.Evidence = nil
	var others []netip.Addr
	for _, s := range list {
		f.First, f.Last = min(f.First, s.from), max(f.Last, s.last.Time)
		others = append(others, s.addr)
		f.Prove(s.first, "%s does not acknowledge what the node sends", s.addr)
	}
	f.Text = f.Node.String() + " reached none of " + n.names(others) + " for " + duration(f.Last-f.First) +
		": it was cut off from the network, as nothing that it sent was acknowledged by any of them."
	f.Brief = f.Text + " Look at this node and its link, not at the others."
	return f
}

// finding returns a finding about a silence, with its times and evidence.
func (n *nodeLife) finding(h *hostLife, s *hostSilence) diagnose.Finding {
	f := diagnose.Finding{Node: hostNID(n.report.Paths(), h.addr), Key: h.addr.String() + strconv.FormatInt(s.from, 10), First: s.from,
		Last: s.last.Time}
	if isServer(n.report.Paths(), h.addr) {
		f.Server = f.Node
	} else {
		f.Client = f.Node
	}
	if isSet(s.begin) {
		f.First = s.begin.Time
	}
	if isSet(s.back) {
		f.Last = s.back.Time
	} else if h.silence == s && isSet(s.begin) { // else the capture may have nothing of it
		f.Last = n.report.Now()
	}
	f.Prove(s.begin, "the last message of %s before", h.addr)
	f.Prove(s.first, "bytes to it are sent again")
	if s.last != s.first {
		f.Prove(s.last, "they are sent again for the last time")
	}
	f.Prove(s.back, "the first sign of life")
	return f
}

// outcome returns how the silence ended.
func (s *hostSilence) outcome() string {
	switch {
	case s.still:
		return "then it went on with the same connections: it stood still, and was not restarted"
	case !isSet(s.back) && !isSet(s.begin):
		return "the capture has nothing that it sent"
	case s.unseen:
		return "how it ended was not captured"
	case !isSet(s.back):
		return "nothing came from it until the capture ended"
	case s.reset:
		return "then it reset connections: it did not know them any more, as after a restart"
	case s.same:
		return "then it went on with the same connections: it was not restarted, but cut off or standing still"
	}
	return "then it connected anew"
}

// names returns the NIDs of hosts, as in "A, B and 3 others".
func (n *nodeLife) names(hosts []netip.Addr) string {
	var list []lnet.NID
	for _, a := range hosts {
		list = append(list, hostNID(n.report.Paths(), a))
	}
	return nodes(list)
}

// isServer reports whether others send requests to a host.
func isServer(all *paths.Paths, a netip.Addr) bool {
	for p := range all.All {
		if p.To == a && p.Requests > 0 {
			return true
		}
	}
	return false
}

// cutOff returns the silences of several nodes at the same time of which only one host
// knows, by this host.
func (n *nodeLife) cutOff() map[netip.Addr][]*hostSilence {
	by := make(map[netip.Addr][]*hostSilence)
	for _, h := range n.hosts.All {
		for _, s := range h.silences {
			if len(s.peers) != 1 || len(s.reaching) > 0 {
				continue
			}
			list := by[s.peers[0]]
			if len(list) == 0 || s.from < list[0].last.Time && s.last.Time > list[0].from && s.addr != list[0].addr {
				by[s.peers[0]] = append(list, s)
			}
		}
	}
	return by
}

var _ = add(diagnose.Rule{
	Code:     "node.restarted",
	Severity: diagnose.Warning,
	Noun:     "restart of a node",
	Summary:  "A server was restarted as a whole, with its targets.",
	Meaning: "When a server goes down, nothing comes from it; when it is up again, its kernel resets connections that it does not know, " +
		"LNet accepts new ones, and its targets are started one after the other, with a recovery each. " +
		"The rule looks for restarts of targets on the same server while that was silent for a while, or reset or refused connections.",
	Limits: "Only targets that clients in the capture use are named. A node whose targets were all unmounted and mounted again is not " +
		"restarted: its connections go on.",
	Next: "Look at the console log of the server for the time before its last message, at its BMC or hypervisor, and at the HA " +
		"software: who reset it, and why. The network and the clients are not the cause. lshark recovery -v shows the steps of each client.",
	Samples: []string{"crashed_server.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		n := &restartedNodes{nodeLife: newNodeLife(r)}
		return diagnose.Hooks{Message: n.message, TCPEvent: n.marked, IBEvent: n.packet, Recovery: n.recovery, End: n.finish}
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
	for a, h := range n.hosts.All {
		node := hostNID(n.report.Paths(), a)
		for _, s := range h.outages() {
			if targets := n.targetsOf(node, s); len(targets) > 0 {
				n.report.Report(n.restarted(h, s, node, targets))
			}
		}
	}
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
		known := v.Begin()
		if isSet(v.LastReply) {
			known = v.LastReply.Time
		}
		if server == node && v.Back.Time > s.back.Time && known < s.back.Time && v.Begin() >= s.from-inFlight {
			list = append(list, v)
		}
	}
	return list
}

func (n *restartedNodes) restarted(h *hostLife, s *hostSilence, node lnet.NID, targets []*recovery.Recovery) diagnose.Finding {
	f := diagnose.Finding{Subject: diagnose.Subject{Server: node}, Node: node, Key: node.String() + strconv.FormatInt(s.from, 10),
		First: s.from}
	if isSet(s.begin) {
		f.First = s.begin.Time
	}
	sum := sumRestarts(targets)
	first, last, recovered := sum.first, sum.last, sum.recovered
	f.Last, f.Targets = max(last.Time, recovered.Time), sum.names
	from, seen := "its last message", isSet(s.begin)
	if !seen {
		from = "the first bytes that it did not get"
	}
	text := node.String() + " was restarted, and with it " + words(sum.names)
	f.Text = text + ": it sent nothing for " + atLeast(!seen) + duration(s.back.Time-f.First)
	if s.reset {
		f.Text += ", then reset connections that it did not know any more"
	}
	f.Text += ". The first target was back " + duration(first.Time-f.First) + " after " + from
	if len(targets) > 1 {
		f.Text += ", the last one " + duration(last.Time-f.First) + " after it"
	}
	if isSet(recovered) {
		f.Text += "; clients had recovered " + duration(recovered.Time-f.First) + " after it"
	}
	f.Text += "." + impactText(sum.impact)
	f.Brief = text + ": it was away for " + atLeast(!seen) + duration(first.Time-f.First) + ", until the first target was back"
	if isSet(recovered) {
		f.Brief += ", and clients had recovered after " + duration(recovered.Time-f.First)
	}
	f.Brief += "." + impactText(sum.impact) + " Look at its console, BMC or hypervisor for what happened before its last message, not at " +
		"the network or the clients."
	if sum.moved {
		f.Text += " Targets of it were started on another server."
	}
	f.Prove(s.begin, "the last message of %s before", node)
	f.Prove(s.first, "bytes to it are sent again")
	life := "the first sign of life"
	if s.reset {
		life += ": it resets a connection"
	}
	f.Prove(s.back, "%s", life)
	f.Prove(first, "the first target accepts a connect again")
	f.Prove(last, "the last target accepts a connect again")
	f.Prove(recovered, "clients of the last target have recovered")
	return f
}
