package rules

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var (
	smallMessages = &diagnose.Threshold{Name: "small messages", Value: 3, Unit: "messages each way",
		Reason: "fewer may have been on their way before the host fell silent"}
	largeSegment = &diagnose.Threshold{Name: "segment", Value: 600, Unit: "B", Reason: "every path carries packets of that size"}
)

var _ = add(diagnose.Rule{
	Code:     "tcp.black_hole",
	Severity: diagnose.Warning,
	Noun:     "loss of all large packets",
	Summary:  "Large packets to a host are lost, and small ones arrive: an MTU black hole.",
	Meaning: "Where a part of the way carries smaller packets than both hosts believe, and nothing tells them (ICMP is filtered, or a " +
		"switch drops silently), each segment of full size is lost, however often it is sent, while pings, lock requests and other small " +
		"messages go on. " +
		"The rule looks for segments that were sent again four times or more without an acknowledgement, while smaller messages between the " +
		"same hosts, on other connections, were answered.",
	Limits: "A firewall or a router that stalls one connection, and not its size, looks the same.",
	Next: "ping -M do -s 8972 (or 1472) HOST from both sides, and smaller sizes until it works. Compare the MTU of both hosts (ip link), " +
		"of the switch ports, and of VLANs and tunnels between them.",

	Thresholds: []*diagnose.Threshold{smallMessages, largeSegment},
	Samples:    []string{"black_hole.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		b := newStalledStreams(r)
		return diagnose.Hooks{TCPEvent: b.marked, Message: b.message, Done: b.done, End: func() {
			for h, p := range fifo.All(b.pairs) {
				for _, s := range p.silences {
					if s.isBlackHole() {
						r.Report(b.finding(r, h, s))
						break
					}
				}
			}
		}}
	},
})

// stalledStreams finds segments that are never acknowledged, and what arrives on other
// connections of the same hosts meanwhile.
type stalledStreams struct {
	report *diagnose.Reporter
	retransmissions
	open []*stalledStream
	slow []slowRPC
	rpcs []*track.Connection // of slow
}

// stalledStream is a silence that may go on.
type stalledStream struct {
	*silence
	from, to netip.Addr
	passed   passedMessages // since the last retransmission
}

// passedMessages are those between two hosts while some bytes are not acknowledged.
type passedMessages struct {
	there, back int
	largest     int // bytes of those there
}

const maxStalled = 64

func newStalledStreams(r *diagnose.Reporter) *stalledStreams {
	return &stalledStreams{report: r, retransmissions: newRetransmissions()}
}

func (b *stalledStreams) marked(m *lnet.TCPEvent) {
	s := b.silence(m)
	if s == nil {
		return
	}
	for _, x := range b.open {
		if x.silence == s { // what has passed until now did so while the bytes were lost
			s.passed.there += x.passed.there
			s.passed.back += x.passed.back
			s.passed.largest = max(s.passed.largest, x.passed.largest)
			x.passed = passedMessages{}
			return
		}
	}
	if len(b.open) == maxStalled {
		b.open = append(b.open[:0], b.open[1:]...)
	}
	b.open = append(b.open, &stalledStream{silence: s, from: m.Src.Addr(), to: m.Dst.Addr()})
}

func (b *stalledStreams) message(_ *track.RPC, m *dissect.Message) {
	if len(b.open) > 0 && (m.Missing(0, m.Size) == lnet.Lost || m.Tail == lnet.EndOfFile) {
		return // which may have been on its way for long, or still is
	}
	for _, x := range b.open {
		passed := &x.passed
		if m.Time <= x.silence.last.Time { // where bytes are missing, messages come later than segments
			passed = &x.silence.passed
		}
		switch src, dst := m.Src.Addr(), m.Dst.Addr(); {
		case m.Time <= x.silence.from:
		case src == x.from && dst == x.to:
			passed.there++
			passed.largest = max(passed.largest, m.Size)
		case src == x.to && dst == x.from:
			passed.back++
		}
	}
}

// done keeps the RPCs that waited for bytes that were sent again.
func (b *stalledStreams) done(r *track.RPC) {
	if ns, ok := r.Latency(); ok && r.Retransmits() > 0 && ns > maxResentTime && r.Connection != nil && len(b.slow) < maxStalled {
		b.slow, b.rpcs = append(b.slow, slowRPC{r.Opcode, r.Requested(), r.Replied(), ns}), append(b.rpcs, r.Connection)
	}
}

// isBlackHole reports whether only large segments were lost during a silence.
func (s *silence) isBlackHole() bool {
	return float64(s.bytes) >= largeSegment.Value && s.passed.largest < s.bytes &&
		float64(min(s.passed.there, s.passed.back)) >= smallMessages.Value
}

// mayBeBlackHole reports whether it is too early to say.
func (s *silence) mayBeBlackHole(now int64) bool {
	const longestTimeout = int64(120e9) // of TCP
	return float64(s.bytes) >= largeSegment.Value && now-s.last.Time < longestTimeout
}

func (b *stalledStreams) finding(r *diagnose.Reporter, h hostPair, s *silence) diagnose.Finding {
	f := h.finding(r.Paths())
	f.First, f.Last, f.Count = s.from, s.last.Time, s.again
	f.Prove(s.first, "%s sends %d bytes again", h.from, s.bytes)
	f.Prove(s.last, "the last of %d times", s.again)
	from, to := hostNID(r.Paths(), h.from), hostNID(r.Paths(), h.to)
	waited := ""
	for i, one := range b.slow {
		c := b.rpcs[i]
		if (c.Client == to && c.Server == from || c.Client == from && c.Server == to) && one.request.Time < s.last.Time &&
			one.reply.Time > s.from {
			waited = fmt.Sprintf(" %s of %s waited %s.", operationText(one.opcode), c.Client, duration(one.ns))
			f.Prove(one.reply, "the reply to the request that waited")
			break
		}
	}
	last, vain := s.last.Time, s.again
	if s.got || waited != "" {
		last, vain = s.vain, s.again-1
	}
	f.Text = fmt.Sprintf("Large packets from %s to %s were lost for at least %s, and small ones arrived: a segment of %d bytes was sent "+
		"again %d times in vain, while %d messages of at most %d bytes got through, and were answered (MTU black hole).",
		h.from, h.to, duration(last-s.from), s.bytes, vain, s.passed.there, s.passed.largest) + waited
	f.Brief = f.Text + " Look for the MTU of the hosts, switch ports, VLANs and tunnels between them, not at the servers."
	return f
}

var _ = add(diagnose.Rule{
	Code:     "tcp.no_answer",
	Severity: diagnose.Warning,
	Noun:     "silence of a host",
	Summary:  "A host did not acknowledge anything for a while: it or the network to it was down.",
	Meaning: "When a host does not acknowledge what was sent to it, TCP sends the same bytes again and again, each time after twice the time. " +
		"Four such retransmissions take three seconds or more; a network that only loses some of its packets hardly loses one segment five times. " +
		"Three keep-alive probes in a row without an answer count likewise: each next one still has the old TCP timestamp of the silent host.",
	Limits: "Whether the host was down, or the network in one of both directions, cannot be told from one capture. The host may have been " +
		"busy only if its kernel was: TCP is acknowledged by the kernel.",
	Next: "Compare with a capture of the other host. Look for a restart or a crash of the host, and for changes of links in the logs of " +
		"both hosts and of the switches.",

	Thresholds: []*diagnose.Threshold{{Name: "repeats", Value: silentRepeats, Unit: "retransmissions",
		Reason: "with the shortest timeout of TCP, 0.2 s, they take 3 s"}},
	Samples: []string{"crashed_server.pcap.zst", "evicted_ping.pcap.zst", "frozen_server.pcap.zst", "late_recovery.pcap.zst",
		"late_recovery_client.pcap.zst", "no_answer.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		x := newStalledStreams(r)
		report := func(end bool) {
			for h, p := range fifo.All(x.pairs) {
				back := r.Paths().Get(h.source, h.to, h.from)
				proven := back != nil && back.Messages > 0 || slices.ContainsFunc(p.silences, func(s *silence) bool { return !s.alone })
				if p.silenced > 0 && proven && !slices.ContainsFunc(p.silences, func(s *silence) bool {
					return s.isBlackHole() || !end && s.mayBeBlackHole(r.Now())
				}) {
					r.Report(silenceFinding(r, h, p))
				}
			}
		}
		return diagnose.Hooks{TCPEvent: x.marked, Message: x.message, Tick: func(int64) { report(false) }, End: func() { report(true) }}
	},
})

// silenceFinding describes when a host did not answer.
func silenceFinding(r *diagnose.Reporter, h hostPair, p *resentPair) diagnose.Finding {
	f := h.finding(r.Paths())
	f.Count = p.silenced
	longest := p.silences[0]
	connects := 0
	for _, s := range p.silences {
		if f.First == 0 || s.from < f.First {
			f.First = s.from
		}
		f.Last = max(f.Last, s.last.Time)
		if s.last.Time-s.from > longest.last.Time-longest.from {
			longest = s
		}
		if s.syn {
			connects++
		}
	}
	what, again := "acknowledge what "+h.from.String()+" sent", "the same bytes were sent again"
	switch {
	case longest.probes:
		what, again = "answer the keep-alive probes of "+h.from.String(), "they were sent again"
	case connects == len(p.silences):
		what = "acknowledge the attempts of " + h.from.String() + " to connect"
	}
	f.Text = fmt.Sprintf("%s did not %s for at least %s: %s %d times.", h.to, what, duration(longest.last.Time-longest.from), again,
		longest.again)
	switch back := r.Paths().Get(h.source, h.to, h.from); {
	case back == nil || back.Messages == 0:
		f.Text += " The capture has nothing that it sent."
	case float64(longest.passed.back) >= smallMessages.Value:
		f.Text += " Other messages from it arrived meanwhile."
	case back.Last.Time > f.Last:
		f.Text += " It answered again later, so it or the network between both was interrupted."
	default:
		f.Text += " Nothing came from it until the end of the capture."
	}
	for _, s := range p.silences {
		if s.probes {
			f.Prove(s.first, "%s sends a keep-alive probe again that was not answered", h.from)
			f.Prove(s.last, "the last of %d", s.again)
			continue
		}
		f.Prove(s.first, "%s sends bytes again that were not acknowledged", h.from)
		f.Prove(s.last, "the last of %d retransmissions of them", s.again)
	}
	return f
}

var _ = add(diagnose.Rule{
	Code:     "tcp.refused",
	Severity: diagnose.Warning,
	Noun:     "refused connection",
	Summary:  "A host refused TCP connections to the port of LNet: LNet does not run there.",
	Meaning: "A host answers an attempt to connect with RST when no program listens on the port. It is up, and LNet is not: it was not " +
		"started, or was stopped. " +
		"Nothing of this node can be used; clients try its failover partners, and connect again and again.",
	Limits:  "A firewall can refuse connections in the same way.",
	Next:    "On the host that refused: lctl list_nids, lsmod | grep lnet, and whether the node was restarted without starting its services.",
	Samples: []string{"crashed_server.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return followAborted(r, false, refusedFinding)
	},
})

func refusedFinding(r *diagnose.Reporter, h hostPair, p *abortedPair) diagnose.Finding {
	f := p.between(h, r.Paths())
	f.Node = hostNID(r.Paths(), h.from)
	f.Text = fmt.Sprintf("%s refused %s of %s to port %d: LNet does not run there.", h.from, plural(p.count, "connection"), h.to,
		p.port.Port())
	return f
}

var manyResets = &diagnose.Threshold{Name: "connections", Value: 4, Unit: "connections",
	Reason: "LNet uses three connections between two nodes, and aborts them once when a node is restarted"}

var _ = add(diagnose.Rule{
	Code:     "tcp.reset",
	Severity: diagnose.Warning,
	Noun:     "aborted connection",
	Summary:  "A host aborted connections of LNet.",
	Meaning: "A connection that ends with RST was aborted: by a host that no longer knows it, since it was restarted, by LNet when a peer " +
		"seems to be dead, or by a firewall. " +
		"LNet connects again; RPCs that were on their way are sent again after a timeout. A few are a note, more, or all between two nodes at " +
		"once, a warning.",
	Limits: "Who aborted the connection is known by the address of the segment; a firewall uses that of a host.",
	Next:   "Look at the console logs of both hosts at this time (LNetError, socklnd), and whether one of them was restarted (recovery.*).",

	Thresholds: []*diagnose.Threshold{manyResets},
	Samples: []string{"crashed_server.pcap.zst", "evicted_ping.pcap.zst", "late_recovery.pcap.zst", "late_recovery_client.pcap.zst",
		"missed_recovery.pcap.zst", "tcp_reset.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return followAborted(r, true, resetFinding)
	},
})

// socklndConns is how many connections two nodes have.
const socklndConns = 3

// abortedPair are the connections of a host that another aborted.
type abortedPair struct {
	series
	port netip.AddrPort // that the host was connected to
}

// followAborted follows the connections that hosts abort: those that were established, or those
// that were refused.
func followAborted(r *diagnose.Reporter, established bool,
	finding func(*diagnose.Reporter, hostPair, *abortedPair) diagnose.Finding) diagnose.Hooks {
	conns, pairs := fifo.NewMap[int, bool](maxStreams), fifo.NewMap[hostPair, *abortedPair](maxPairs)
	return diagnose.Hooks{TCPEvent: func(m *lnet.TCPEvent) {
		if !m.RST || isRefusal(m) == established {
			return
		}
		if _, known := fifo.Get(conns, m.Conn); known {
			return
		}
		fifo.Put(conns, m.Conn, true)
		p := fifo.GetOrNew(pairs, pairOf(m))
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
			r.Report(finding(r, h, p))
		}
	}}
}

// isRefusal reports whether a reset answers a SYN: that has no acknowledgement, so the
// reset has the sequence number 0.
func isRefusal(m *lnet.TCPEvent) bool { return m.RST && m.Seq == 0 }

func resetFinding(r *diagnose.Reporter, h hostPair, p *abortedPair) diagnose.Finding {
	f := p.between(h, r.Paths())
	if from := hostNID(r.Paths(), h.from); f.Client.Len > 0 {
		f.Node = from
	} else { // of two servers, the other one may have been silent, or this one restarted
		f.Server = from
	}
	f.Severity = diagnose.Note
	f.Text = fmt.Sprintf("%s aborted %s to %s (RST). RPCs that were on their way have to be sent again.", h.from,
		plural(p.count, "connection"), h.to)
	there, back := r.Paths().Get(h.source, h.from, h.to), r.Paths().Get(h.source, h.to, h.from)
	atOnce := p.count >= socklndConns && p.last-p.first < inFlight && there != nil && back != nil && there.Messages > 0 && back.Messages > 0
	if float64(p.count) >= manyResets.Value || atOnce {
		f.Severity = diagnose.Warning
	}
	if atOnce && there.First.Time < p.first && there.Last.Time > p.last && back.Last.Time > p.last {
		f.Text += " Both hosts were up before and after it."
		f.Brief = fmt.Sprintf("%s aborted %s to %s at once (RST), though both hosts were up. Look on %s for who closed its sockets (LNet, ss "+
			"-K, a firewall), not at %s or the network.", h.from, plural(p.count, "connection"), h.to, h.from, h.to)
	}
	return f
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
				some := "one of its interfaces does"
				if len(n.down) > 1 {
					some = fmt.Sprintf("%d of its interfaces do", len(n.down))
				}
				f.Text = fmt.Sprintf("%s says that %s not work: %s.", node, some, nodes(n.down))
				if n.all {
					f.Text += " It can be reached by " + railsText(n.up) + "."
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
	const most = 64
	all = opcodes.PingInterfaces(m.Payload(), func(nid uint64, isDown bool) {
		switch {
		case isDown && lnet.NID4(nid) == m.LNet.Src: // it has just sent this through it
			up = append(up, lnet.NID4(nid))
		case len(up)+len(down) >= most:
		case isDown:
			down = append(down, lnet.NID4(nid))
		default:
			up = append(up, lnet.NID4(nid))
		}
	})
	return up, down, all
}

// railsText lists the interfaces that work.
func railsText(up []lnet.NID) string {
	if len(up) == 0 {
		return "none"
	}
	var words []string
	for _, n := range up[:min(len(up), maxFilesShown)] {
		words = append(words, n.String())
	}
	if more := len(up) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("%d others", more))
	}
	return strings.Join(words, ", ") + " only"
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

	Thresholds: []*diagnose.Threshold{slowAck, slowAckSamples, slowAckSeconds, slowAckRatio},
	Samples:    []string{"slow_client.pcap.zst", "slow_network.pcap.zst", "two_faults.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{Tick: func(int64) { reportRoundTrips(r) }, End: func() { reportRoundTrips(r) }}
	},
})

func reportRoundTrips(r *diagnose.Reporter) {
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
			r.Report(roundTripFinding(r, p, seconds, text))
		}
	}
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
	f.Text = fmt.Sprintf("The network to or from %s is slow: in each of %d seconds, its fastest acknowledgement to %s took %s or more; %s.",
		p.To, seconds, p.From, duration(least), usual)
	for _, s := range p.Slow {
		f.Prove(s.From, "from here on, no acknowledgement of %s in less than %s", p.To, duration(s.Least))
	}
	return f
}
