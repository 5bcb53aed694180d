package rules

import (
	"fmt"
	"math"
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "tcp.refused",
	Severity: diagnose.Warning,
	Noun:     "refused connection",
	Summary:  "A host refused TCP connections to the port of LNet: LNet does not run there, or a packet filter refuses them.",
	Meaning: "A host answers an attempt to connect with RST when no program listens on the port. It is up, and LNet is not: it was not " +
		"started, or was stopped. " +
		"Nothing of this node can be used; clients try its failover partners, and connect again and again. " +
		"A packet filter refuses connections in the same way: where LNet of the host exchanges messages with others meanwhile, it is one.",
	Limits:  "In a capture of the host that is refused alone, LNet that does not run and a filter look the same.",
	Next:    "On the host that refused: lctl list_nids, lsmod | grep lnet, and whether the node was restarted without starting its services.",
	Samples: []string{"crashed_server.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		known := factsOf(r)
		return followAborted(r, false, func(r *diagnose.Reporter, h hostPair, p *abortedPair) *diagnose.Finding {
			return refusedFinding(r, known, h, p)
		})
	},
})

func refusedFinding(r *diagnose.Reporter, known *facts.Facts, h hostPair, p *abortedPair) *diagnose.Finding {
	f := p.between(h, r.Paths())
	f.Node = hostNID(r.Paths(), h.from)
	f.Text = fmt.Sprintf("%s refused %s of %s to port %d", h.from, plural(p.count, "connection"), h.to, p.port.Port())
	path := onPath(f.Node, hostNID(r.Paths(), h.to))
	suspect(&f, atNode(f.Node), path, atConfig(f.Node))
	if peer, at, ok := servedOther(known, h, facts.Span{From: p.first, To: p.last}); ok {
		exclude(&f, atNode(f.Node), at, "LNet of this host exchanges messages with "+peer.String())
		f.Text += fmt.Sprintf(", though LNet runs there: it exchanged messages with %s meanwhile. A packet filter, or a service at this port that refuses this host, does that.", peer)
		f.Next = "On the host that refused, and on the way: packet filters (nft list ruleset, iptables -L), and what listens at this port (ss -ltnp)."
		f.Node = lnet.NID{}
		return &f
	}
	f.Text += ": LNet does not run there, or a packet filter refuses it."
	return &f
}

// servedOther returns another host with which the host that refused connections exchanged messages meanwhile, without a pause in which it may
// have been started anew.
func servedOther(known *facts.Facts, h hostPair, s facts.Span) (peer netip.Addr, at facts.Point, ok bool) {
	pause := min(facts.LongPause, inFlight+s.Length()/2)
	s = facts.Span{From: s.From - facts.LongPause/2, To: s.To + facts.LongPause/2}
	at, peer, ok = known.Partner(h.from, h.to, s, func(c *facts.Contact) bool { return c.Messages.Pause(s) <= pause })
	return peer, at, ok
}

var _ = add(diagnose.Rule{
	Code:     "tcp.reset",
	Severity: diagnose.Warning,
	Noun:     "aborted connection",
	Summary:  "A host aborted connections of LNet.",
	Meaning: "A connection that ends with RST was aborted: by a host that no longer knows it, since it was restarted, by LNet when a peer " +
		"seems to be dead, or by a firewall. Connections that a client has left before, as when it unmounts and unloads its modules, do not count. " +
		"LNet connects again; RPCs that were on their way are sent again after a timeout. It is a warning where all between two nodes are " +
		"aborted at once, though both go on.",
	Limits: "Who aborted the connection is known by the address of the segment; a firewall uses that of a host.",
	Next:   "Look at the console logs of both hosts at this time (LNetError, socklnd), and whether one of them was restarted (recovery.*).",

	Samples: []string{"crashed_server.pcap.zst", "evicted_ping.pcap.zst", "late_recovery.pcap.zst", "late_recovery_client.pcap.zst", "missed_recovery.pcap.zst", "partition.pcap.zst", "tcp_reset.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		left := fifo.NewMap[hostPair, int64](maxPairs) // when hosts disconnected from targets of others
		h := followAborted(r, true, resetFinding)
		aborted := h.TCPEvent
		h.TCPEvent = func(m *lnet.TCPEvent) {
			if !m.RST || !hasLeft(r, left, pairOf(m)) && !hasLeft(r, left, hostPair{m.Source, m.Dst.Addr(), m.Src.Addr()}) {
				aborted(m)
			}
		}
		h.Opcodes = opcodes.OpcodesOf(opcodes.Disconnects)
		h.Sent = func(_ *track.RPC, m *dissect.Message) {
			fifo.Put(left, hostPair{m.Source, m.Src.Addr(), m.Dst.Addr()}, m.Time)
		}
		return h
	},
})

// hasLeft reports whether a host has disconnected from the targets of another one, and sent it nothing since: LNet aborts
// connections that nobody uses when its module is unloaded.
func hasLeft(r *diagnose.Reporter, left *fifo.Map[hostPair, int64], h hostPair) bool {
	at, ok := fifo.Get(left, h)
	path := r.Paths().Get(h.source, h.from, h.to)
	return ok && path != nil && path.Last.Time <= at
}

// socklndConns is how many connections two nodes have.
const socklndConns = 3

// abortedPair are the connections between two hosts that were aborted by one of them, the first one, or by both.
type abortedPair struct {
	series
	port netip.AddrPort // that the host was connected to
	both bool
}

// followAborted follows the connections that hosts abort: those that were established, or those
// that were refused.
func followAborted(r *diagnose.Reporter, established bool,
	finding func(*diagnose.Reporter, hostPair, *abortedPair) *diagnose.Finding) diagnose.Hooks {
	conns, pairs := fifo.NewMap[int, bool](maxStreams), fifo.NewMap[hostPair, *abortedPair](maxPairs)
	return diagnose.Hooks{TCPEvent: func(m *lnet.TCPEvent) {
		if !m.RST || isRefusal(m) == established {
			return
		}
		if _, known := fifo.Get(conns, m.Conn); known {
			return
		}
		fifo.Put(conns, m.Conn, true)
		h := pairOf(m)
		p, both := fifo.Get(pairs, hostPair{h.source, h.to, h.from})
		if both {
			p.both = true
		} else {
			p = fifo.GetOrNew(pairs, h)
		}
		if p.count == 0 {
			p.port = m.Src
		}
		does := "refuses"
		if established {
			does = "aborts"
		}
		p.note(pointOf(m), "%s %s a connection", m.Src.Addr(), does)
	}, End: func() {
		for h, p := range fifo.All(pairs) {
			r.Report(*finding(r, h, p))
		}
	}}
}

// isRefusal reports whether a reset answers a SYN: that has no acknowledgement, so the
// reset has the sequence number 0.
func isRefusal(m *lnet.TCPEvent) bool { return m.RST && m.Seq == 0 }

func resetFinding(r *diagnose.Reporter, h hostPair, p *abortedPair) *diagnose.Finding {
	f := p.between(h, r.Paths())
	from, to := hostNID(r.Paths(), h.from), hostNID(r.Paths(), h.to)
	suspect(&f, atNode(from), byAdmin, inLNet(from, to), onPath(from, to))
	if f.Client.Len > 0 {
		f.Node = from
	} else { // of two servers, the other one may have been silent, or this one restarted
		f.Server = from
	}
	f.Severity = diagnose.Note
	who, whom := h.from.String(), h.to.String()
	if p.both {
		who, whom = who+" and "+whom, "each other"
		f.Suspects = append(f.Suspects, atNode(to))
	}
	f.Text = fmt.Sprintf("%s aborted %s to %s (RST). RPCs that were on their way have to be sent again.", who, plural(p.count, "connection"), whom)
	there, back := r.Paths().Get(h.source, h.from, h.to), r.Paths().Get(h.source, h.to, h.from)
	atOnce := p.count >= socklndConns && p.last-p.first < inFlight && there != nil && back != nil && there.Messages > 0 && back.Messages > 0
	if atOnce && there.First.Time < p.first && there.Last.Time > p.last && back.Last.Time > p.last {
		f.Severity = diagnose.Warning
		f.Text += " Both hosts were up before and after it."
		f.Brief = fmt.Sprintf("%s aborted %s to %s at once (RST), though both hosts were up. Look on %s for who closed its sockets (LNet, ss "+
			"-K, a firewall).", who, plural(p.count, "connection"), whom, who)
	}
	return &f
}

var _ = add(diagnose.Rule{
	Code:     "tcp.one_rail",
	Severity: diagnose.Warning,
	Noun:     "use of one rail",
	Summary:  "A node says that some of its network interfaces do not work: it can be reached by the others only.",
	Meaning: "In the reply to a ping of LNet (discovery), a node lists its NIDs and whether each interface works. " +
		"With an interface down, everything goes through the others, or fails where there is no other on this network. Interfaces of any " +
		"network count, also of InfiniBand.",
	Limits: "Of a node with more than two interfaces, only the first two are known. A node finds out that an interface is down by its " +
		"link, or as nothing comes in through it. That other nodes do not use an interface that works is not found: a capture of one " +
		"interface sees nothing of the others.",
	Next: "On the node: lnetctl net show -v (status, health value), ip link, and the cable and the switch port of the interface.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		rails := fifo.NewMap[lnet.NID, *interfaces](maxPairs) // by the first NID of a node
		report := func() {
			for node, n := range fifo.All(rails) {
				f := n.finding(diagnose.Subject{}, node.String()+" lists its interfaces", "the same in the last reply")
				f.Key = node.String()
				suspect(&f, atNode(node))
				some := "one of its interfaces does"
				if len(n.down) > 1 {
					some = fmt.Sprintf("%d of its interfaces do", len(n.down))
				}
				f.Text = fmt.Sprintf("%s says that %s not work: %s.", node, some, nodes(n.down))
				if n.all {
					f.Text += " It can be reached by " + nodes(n.up) + " only."
				}
				r.Report(f)
			}
		}
		return diagnose.Hooks{Message: func(_ *track.RPC, m *dissect.Message) {
			if m.Kind != lnet.PingReply {
				return
			}
			if up, down, all := interfacesIn(m); len(down) > 0 {
				n := fifo.GetOrNew(rails, m.LNet.Src)
				n.up, n.down, n.all = up, down, all
				n.add(track.PointOf(m))
			}
		}, Tick: func(int64) { report() }, End: report}
	},
})

// interfaces are those of a node in its last reply with one that does not work.
type interfaces struct {
	run
	up, down []lnet.NID
	all      bool // there are no others
}

// interfacesIn returns the interfaces in the reply to a ping.
func interfacesIn(m *dissect.Message) (up, down []lnet.NID, all bool) {
	all = opcodes.PingInterfaces(m.Payload(), func(nid uint64, isDown bool) {
		switch {
		case isDown && lnet.NID4(nid) == m.LNet.Src: // it has just sent this through it
			up = append(up, lnet.NID4(nid))
		case isDown:
			down = append(down, lnet.NID4(nid))
		default:
			up = append(up, lnet.NID4(nid))
		}
	})
	return up, down, all
}

var (
	slowAck = &diagnose.Threshold{Name: "acknowledgement", Value: float64(paths.SlowAck) / 1e9, Unit: "s",
		Reason: "a local network takes less than a millisecond, and a busy host hardly more than some"}
	slowAckSamples = &diagnose.Threshold{Name: "measurements", Value: paths.MinSamples, Unit: "measurements in a second",
		Reason: "a host may delay single acknowledgements by 40 ms or more, so the fastest of several counts"}
	slowAckSeconds = &diagnose.Threshold{Name: "seconds", Value: 3, Unit: "seconds",
		Reason: "one or two slow seconds may be a host that was busy"}
	slowAckRatio = &diagnose.Threshold{Name: "ratio", Value: 5, Unit: "times the usual round trip",
		Reason: "in a file system that spans long distances, 20 ms may be usual"}
	slowAckResent = &diagnose.Threshold{Name: "segments sent again", Value: 3, Unit: "segments from or to the host",
		Reason: "a host that is slow all the time may only be far away; where segments are lost as well, it is a bad link"}
	slowAckLossy = &diagnose.Threshold{Name: "segments sent again, of messages", Value: .75, Unit: "%", Reason: "a few are lost in any network"}
)

var _ = add(diagnose.Rule{
	Code:     "tcp.round_trip",
	Severity: diagnose.Warning,
	Noun:     "slow second with another host",
	Summary:  "Packets to or from a host take far longer than usual, or than those of its peers.",
	Meaning: "TCP shows how long data waits for its acknowledgement. Of each second the fastest acknowledgement of a host counts, since " +
		"hosts delay some of them. " +
		"Where even the fastest takes far longer than in other seconds, or than those of the other hosts, the network between the host and " +
		"the capture point is slow. Each RPC takes longer by that, and bulk data many times that.",
	Limits: "The time is that between the capture point and the host and back: what is slow on the other side of the capture point does not show. " +
		"Seconds with fewer than five measurements are left out. At least one of the slow seconds must have bulk data, as acknowledgements of " +
		"a lot of data are not delayed. " +
		"A host that is far away all the time is not reported unless there are two others to compare with.",
	Next: "ping the host from several nodes, at the same time. Look for a link with a wrong speed, a full queue (tc -s qdisc), a detour of " +
		"the route, and for power saving of the network card.",

	Thresholds: []*diagnose.Threshold{slowAck, slowAckSamples, slowAckSeconds, slowAckRatio, slowAckResent, slowAckLossy},
	Samples:    []string{"slow_client.pcap.zst", "slow_network.pcap.zst", "two_faults.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		known := factsOf(r)
		return diagnose.Hooks{Tick: func(int64) { reportRoundTrips(r, known) }, End: func() { reportRoundTrips(r, known) }}
	},
})

func reportRoundTrips(r *diagnose.Reporter, known *facts.Facts) {
	for p := range r.Paths().All {
		seconds, bulk := 0, false
		for _, s := range p.Slow {
			seconds += s.Seconds
			bulk = bulk || s.Bulk
		}
		if !bulk || float64(seconds) < slowAckSeconds.Value {
			continue
		}
		if usual, text, ok := usualRoundTrip(r.Paths(), p); ok && float64(p.Slow[0].Least) >= slowAckRatio.Value*float64(usual) {
			f := roundTripFinding(r, p, seconds, text)
			f.CompareTime(slowAck, p.Slow[0].Least)
			f.Compare(slowAckSeconds, float64(seconds))
			f.Compare(slowAckRatio, float64(p.Slow[0].Least)/float64(usual))
			resent, messages := resentWith(r.Paths(), p)
			if resent >= slowAckResent.Value {
				f.Text += fmt.Sprintf(" %.0f segments from or to it were sent again, or came twice.", resent)
			}
			if _, changed := p.Typical(); !changed {
				f.Compare(slowAckResent, resent)
				isDisturbed := slices.ContainsFunc(p.Slow, func(s paths.SlowSpan) bool { // else the peer was gone
					return slices.ContainsFunc(known.Peers(p.To), func(peer netip.Addr) bool {
						return known.DisturbedIn(peer, p.To, facts.Span{From: s.From.Time, To: s.To.Time}) && !wasSilent(known, peer)
					})
				})
				if f.Compare(slowAckLossy, 100*resent/messages); resent < slowAckResent.Value || 100*resent/messages < slowAckLossy.Value || !isDisturbed {
					f.Severity = diagnose.Note
				}
			}
			r.Report(f)
		}
	}
}

// wasSilent reports whether a host acknowledged nothing to another one for a while.
func wasSilent(f *facts.Facts, host netip.Addr) bool {
	return slices.ContainsFunc(f.Peers(host), func(peer netip.Addr) bool {
		return f.UnackedIn(peer, host, facts.Span{To: math.MaxInt64}) != nil
	})
}

// resentWith returns how many segments the receiver of a path and all others have sent each other again, and how many messages they exchanged.
func resentWith(all *paths.Paths, p *paths.Path) (resent, messages float64) {
	for other := range all.All {
		if other.Source == p.Source && (other.From == p.To || other.To == p.To) {
			resent, messages = resent+float64(other.TCP.Retransmissions), messages+float64(other.Messages)
		}
	}
	return resent, messages
}

// usualRoundTrip returns the time in which the receiver of a path usually acknowledges,
// else the median of other hosts.
func usualRoundTrip(all *paths.Paths, p *paths.Path) (ns int64, text string, ok bool) {
	if ns, ok := p.Typical(); ok {
		return ns, "in other seconds, the fastest took " + duration(ns), true
	}
	hosts := make(map[netip.Addr]bool)
	var list []int64
	for other := range all.All {
		if other.Source != p.Source || other.To == p.To || hosts[other.To] {
			continue
		}
		ns, ok := other.Typical()
		if !ok && len(other.Slow) == 0 {
			ns, ok = other.Fastest()
		}
		if ok {
			hosts[other.To] = true
			list = append(list, ns)
		}
	}
	if len(list) < 2 {
		return 0, "", false
	}
	slices.Sort(list)
	ns = list[len(list)/2]
	return ns, fmt.Sprintf("the fastest of %d other hosts took %s (median)", len(list), duration(ns)), true
}

func roundTripFinding(r *diagnose.Reporter, p *paths.Path, seconds int, usual string) diagnose.Finding {
	h := hostPair{p.Source, p.From, p.To}
	least := p.Slow[0].Least
	for _, s := range p.Slow {
		least = min(least, s.Least)
	}
	f := h.finding(r.Paths())
	f.First, f.Last, f.Count = p.Slow[0].From.Time, p.Slow[len(p.Slow)-1].To.Time, int64(seconds)
	suspect(&f, onPath(hostNID(r.Paths(), p.From), f.Node))
	f.Text = fmt.Sprintf("The network to or from %s is slow: in each of %d seconds, its fastest acknowledgement to %s took %s or more; %s.",
		p.To, seconds, p.From, roundedDown(least), usual)
	for _, s := range p.Slow {
		f.Prove(s.From, "the fastest acknowledgement of %s in the second from here on took %s or more", p.To, roundedDown(s.Least))
	}
	return f
}
