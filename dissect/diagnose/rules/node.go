package rules

import (
	"cmp"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/fifo"
)

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
		known := factsOf(r)
		var list []*recovery.Recovery // restarts of targets
		return diagnose.Hooks{Recovery: func(v *recovery.Recovery) {
			if (v.Kind == recovery.Restart || v.Kind == recovery.Failover) && len(list) < maxRestarts {
				list = append(list, v)
			}
		}, End: func() {
			var servers []lnet.NID
			for _, v := range list {
				servers = withNew(servers, cmp.Or(v.ServerBefore, v.Server), unlimited)
			}
			for _, node := range servers {
				for _, o := range outagesOf(known, facts.HostOf(node)) {
					if targets := o.explains(node, list); len(targets) > 0 {
						r.Report(o.finding(node, targets))
					}
				}
			}
		}}
	},
})

const (
	maxRestarts = 1 << 10
	inFlight    = int64(1e9) // nanoseconds in which a message may still arrive that was sent before
)

// outage is a silence of a host after which it did not know its connections.
type outage struct {
	*facts.Silence
	back track.Point // the host resets a connection
}

// outagesOf returns the outages of a host. Of silences that end with the same reset, the first one counts.
func outagesOf(known *facts.Facts, host netip.Addr) (list []outage) {
	for _, s := range known.Silences() {
		if s.Receiver != host {
			continue
		}
		back, ok := known.ResetAfter(host, s.From+inFlight)
		if !ok {
			continue
		}
		at := slices.IndexFunc(list, func(o outage) bool { return o.back == back })
		switch {
		case at < 0:
			list = append(list, outage{s, back})
		case s.From < list[at].From:
			list[at].Silence = s
		}
	}
	return list
}

// explains returns the restarts of targets that an outage of their server explains.
func (o *outage) explains(node lnet.NID, restarts []*recovery.Recovery) (list []*recovery.Recovery) {
	for _, v := range restarts {
		known := cmp.Or(v.LastReply.Time, v.Begin())
		if cmp.Or(v.ServerBefore, v.Server) == node && v.Back.Time > o.back.Time && known < o.back.Time && v.Begin() >= o.From-inFlight {
			list = append(list, v)
		}
	}
	return list
}

func (o *outage) finding(node lnet.NID, targets []*recovery.Recovery) diagnose.Finding {
	sum := sumRestarts(targets)
	first, last, recovered := sum.first, sum.last, sum.recovered
	f := diagnose.Finding{Subject: diagnose.Subject{Server: node}, Node: node, Key: node.String() + strconv.FormatInt(o.From, 10),
		First: cmp.Or(sum.lastReply.Time, o.From), Last: max(last.Time, recovered.Time), Targets: sum.names}
	suspect(&f, atNode(node))
	from, seen := "its last message", isSet(sum.lastReply)
	if !seen {
		from = "the first bytes that it did not get"
	}
	names := sum.names
	if sum.unnamed {
		names = append(names[:len(names):len(names)], "targets without a name in the capture")
	}
	text := node.String() + " was restarted, and with it " + words(names)
	f.Text = text + ": it sent nothing for " + atLeastTime(!seen, o.back.Time-f.First) + ", then reset connections that it did not know any more" +
		". The first target was back " + duration(first.Time-f.First) + " after " + from
	if len(targets) > 1 {
		f.Text += ", the last one " + duration(last.Time-f.First) + " after it"
	}
	away := atLeastTime(true, first.Time-f.First)
	if seen { // it may have sent more to others
		away = atMostTime(true, first.Time-f.First)
	}
	f.Brief = text + ": it was away for " + away + ", until the first target was back"
	if isSet(recovered) {
		f.Text += "; clients had recovered " + duration(recovered.Time-f.First) + " after it"
		f.Brief += ", and clients had recovered after " + duration(recovered.Time-f.First)
	}
	f.Text += "." + impactOf(sum.impact, false)
	f.Brief += "." + impactOf(sum.impact, false) + " Look at its console, BMC or hypervisor for what happened before its last message, not at " +
		"the network or the clients."
	if sum.moved {
		f.Text += " Targets of it were started on another server."
	}
	f.Prove(sum.lastReply, "the last message of %s before", node)
	what := "bytes to it are"
	if o.Probes {
		what = "a keep-alive probe to it is"
	}
	f.Prove(o.Silence.First, "%s sent again", what)
	f.Prove(o.back, "the first sign of life: it resets a connection")
	f.Prove(first, "the first target accepts a connect again")
	f.Prove(last, "the last target accepts a connect again")
	f.Prove(recovered, "clients of the last target have recovered")
	return f
}

// hostNID returns the NID of a host, one of TCP where messages do not show it.
func hostNID(all *paths.Paths, a netip.Addr) (nid lnet.NID) {
	for p := range all.All {
		switch {
		case p.From == a && p.FromNID.Len > 0:
			return p.FromNID
		case p.To == a && p.ToNID.Len > 0:
			return p.ToNID
		}
	}
	const tcp = 2
	nid.Type, nid.Len = tcp, uint8(copy(nid.Addr[:], a.AsSlice()))
	return nid
}

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

var _ = add(diagnose.Rule{
	Code:     "node.not_on_wire",
	Severity: diagnose.Warning,
	Noun:     "message that never came onto the wire",
	Summary:  "A node sent requests or replies, by its debug log, that never came onto the wire.",
	Meaning: "The log of a node has each request that ptlrpc has sent, and each reply that a thread has made. In a capture at the same node, messages are " +
		"missing that LNet could not send: it had no connection to the other node, no route, or a packet filter of the node dropped them. " +
		"The rule needs the debug log of the node (--log) with the flag rpctrace, beside a capture that was taken at this node.",
	Limits: "Where the capture lacks bytes at that time, nothing is reported.",
	Next: "On this node: the console log for errors of LNet and of its drivers at that time, lnetctl net show -v, lnetctl route show, lctl ping of " +
		"the other node, and its packet filter (nft list ruleset).",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		n := &notOnWire{r, factsOf(r), fifo.NewMap[unsent, *tally](maxPairs)}
		return diagnose.Hooks{Unseen: n.take, Done: n.take}
	},
})

// notOnWire counts the RPCs of which a log has more than the capture.
type notOnWire struct {
	report *diagnose.Reporter
	known  *facts.Facts
	nodes  *fifo.Map[unsent, *tally]
}

// unsent is what a node did not send to another one.
type unsent struct {
	nodePair
	what debuglog.NotOnWire
}

func (n *notOnWire) take(r *track.RPC) {
	if r.Log == nil || r.Log.NotOnWire == debuglog.Nothing {
		return
	}
	k := unsent{nodePair{r.Client, r.Server}, r.Log.NotOnWire}
	t := fifo.GetOrNew(n.nodes, k)
	s, at := &r.Log.Server, r.Requested()
	what, sent := "its request", r.Client.String()+" sent "
	if k.what == debuglog.ReplyUnseen {
		what, sent = "the reply", r.Server.String()+" made replies for "
		at = track.Point{Frame: -s.LastLine, File: s.File, Time: s.Handled}
	}
	t.add(r, at)
	t.prove(at, "%s of %s x%d", what, operationText(r.Opcode), r.XID)
	f := t.finding(diagnose.Subject{Client: k.client, Server: k.server, Detail: k.what.String()})
	f.Node = k.client
	f.Text = sent + t.operationsText()
	if k.what == debuglog.ReplyUnseen {
		f.Node = k.server
		f.Text += " of " + k.client.String()
	} else {
		f.Text += " to " + k.server.String()
	}
	f.Text += ", by its log, that never came onto the wire."
	suspect(&f, inLNet(k.client, k.server), atNode(f.Node), onPath(k.client, k.server))
	excludePath(&f, n.known, k.client, k.server, facts.Span{From: f.First, To: f.Last})
	if to := facts.HostOf(k.server); f.Node == k.client && to.IsValid() && len(n.known.Peers(to)) == 0 {
		f.Text += " The capture has nothing of " + k.server.String() + ": it may be down, or nobody may have this address."
		suspect(&f, atNode(k.server), atConfig(k.client), inLNet(k.client, k.server), atNode(k.client))
	}
	n.report.Report(f)
}

var secondResets = &diagnose.Threshold{Name: "resets", Value: 2, Unit: "resets from the second address",
	Reason: "a bond may send single frames over another port, with its Ethernet address"}

var _ = add(diagnose.Rule{
	Code:     "node.duplicate_address",
	Severity: diagnose.Error,
	Noun:     "address that two hosts have",
	Summary:  "Two hosts have the same IP address: connections are reset from a second Ethernet address.",
	Meaning: "A host that gets segments of connections which it does not have resets them. Where the frames of a host come from one Ethernet address, and resets in its name " +
		"from another one, while the first goes on sending, a second host has the IP address.",
	Limits: "Behind a router all frames have the address of the router. A firewall that resets connections in the name of a host does so from an Ethernet " +
		"address of its own, too.",
	Next:       "arping -D -I INTERFACE ADDRESS from a third host; ip neigh on the peers; look for the second Ethernet address in the tables of the switch.",
	Thresholds: []*diagnose.Threshold{secondResets},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		hosts := fifo.NewMap[hostAt, *hostAddresses](maxPairs)
		return diagnose.Hooks{Active: func(a *lnet.Activity) {
			if a.MAC != (macAddress{}) {
				fifo.GetOrNew(hosts, hostAt{a.Source, a.Src.Addr()}).frame(a)
			}
		}, End: func() {
			for h, x := range fifo.All(hosts) {
				if float64(x.resets.count) >= secondResets.Value && x.last > x.resets.first {
					f := x.finding(hostNID(r.Paths(), h.host))
					f.Compare(secondResets, float64(x.resets.count))
					r.Report(f)
				}
			}
		}}
	},
})

type macAddress = [6]byte

// hostAt is a host at a capture point.
type hostAt struct {
	source int
	host   netip.Addr
}

// hostAddresses are the Ethernet addresses that the frames of a host come from.
type hostAddresses struct {
	own    macAddress // of the first frame that is no reset
	last   int64      // time of the last frame from it
	second macAddress
	resets series // from second
}

func (x *hostAddresses) frame(a *lnet.Activity) {
	switch {
	case a.MAC == x.own:
		x.last = a.Time
	case a.RST && x.own != (macAddress{}) && (x.resets.count == 0 || a.MAC == x.second):
		x.second = a.MAC
		x.resets.note(track.Point{Frame: a.Number, File: a.File, Time: a.Time}, "a reset from the Ethernet address %s", net.HardwareAddr(a.MAC[:]))
	case x.own == (macAddress{}) && !a.RST:
		x.own, x.last = a.MAC, a.Time
	}
}

func (x *hostAddresses) finding(node lnet.NID) diagnose.Finding {
	f := x.resets.finding(diagnose.Subject{Server: node})
	f.Node = node
	f.Text = fmt.Sprintf("Two hosts have the address of %s: its frames come from the Ethernet address %s, and %s in its name from %s.", node, net.HardwareAddr(x.own[:]),
		plural(x.resets.count, "reset"), net.HardwareAddr(x.second[:]))
	f.Brief = f.Text + " Look for the host with the second Ethernet address."
	suspect(&f, atNode(node))
	return f
}

// uncorrected are words of lines about hardware that could not correct an error.
var uncorrected = []string{" ue ", "uncorrect", "fatal", "recoverable", "machine check exception"}

var _ = addLines(diagnose.Rule{
	Code:        "node.fault",
	Severity:    diagnose.Error,
	Noun:        "machine fault",
	CountsLines: true,
	Summary:     "The kernel of a node reports a fault of its machine or of itself.",
	Meaning:     "Panics, failed assertions, CPUs that are stuck, memory that is used up or damaged, and network links that are down stop all that a node does.",
	Next:        "The lines around it in the log of this node, its hardware, and what was changed there.",
}, lines{
	kinds: []debuglog.Kind{debuglog.Panic, debuglog.Bug, debuglog.CPUStuck, debuglog.OutOfMemory, debuglog.MemoryError, debuglog.LinkDown, debuglog.NetDeviceFailed},
	where: func(l *track.LogLine) []diagnose.Place {
		if l.Kind == debuglog.MemoryError && !slices.ContainsFunc(uncorrected, func(s string) bool { return strings.Contains(strings.ToLower(l.Text), s) }) {
			return nil // the hardware has corrected it, or another line says what it is
		}
		return []diagnose.Place{atNode(l.Node)}
	},
})

var _ = addLines(diagnose.Rule{
	Code:     "node.injected",
	Severity: diagnose.Warning,
	Noun:     "injected fault",
	Summary:  "A fault is injected into Lustre, as tests do.",
	Meaning:  "lctl set_param fail_loc lets Lustre fail, drop a message or sleep at a place in its code. The kernel logs that it does so.",
	Next:     "lctl get_param fail_loc fail_val on that node; fail_loc=0 ends it.",
}, lines{
	kinds: []debuglog.Kind{debuglog.Injected},
	where: func(l *track.LogLine) []diagnose.Place {
		switch {
		case strings.Contains(l.Text, "id 312 sleeping for "): // OBD_FAIL_LDLM_PAUSE_CANCEL
			return []diagnose.Place{atHolder(l.Node), byAdmin}
		case strings.Contains(l.Text, " sleeping for "):
			return []diagnose.Place{atThread(l.Node), byAdmin}
		case strings.Contains(l.Text, "cfs_fail_loc=408,"), strings.Contains(l.Text, "cfs_fail_loc=409,"): // wrong checksums of data
			return []diagnose.Place{atClient(l.Node), byAdmin}
		case strings.Contains(l.Text, "cfs_fail_loc="): // what it does, the line does not say
			return []diagnose.Place{byAdmin}
		}
		return nil // a device that is read-only, as umount -f makes it
	},
})
