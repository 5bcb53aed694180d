package rules

import (
	"math"
	"net/netip"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/dissect/track/recovery"
	"github.com/lshark/lshark/internal/fifo"
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
		"The rule looks for nodes from which no message, retransmission or reset came while bytes to them were sent again four times or more, " +
		"or three keep-alive probes got no answer. " +
		"That others reached the senders meanwhile, or that there are several of them, shows that they are not to blame. A node that at last " +
		"acknowledges the first transmission of what was sent again meanwhile (by the TCP timestamp) stood still: one that was cut off would " +
		"never have got it.",
	Limits: "What happened on the way between this node and the place of the capture looks the same as a node that is down. The node may have " +
		"been well before and after the time in which others tried to reach it. Of a node from " +
		"which nothing was captured at all, only the time is known in which it acknowledged nothing.",
	Next: "Look at the console log of this node, or that of its hypervisor or BMC, for the time when it was silent; then at its link, " +
		"the switch port and the cable. The nodes that waited for it are not to blame.",

	Thresholds: []*diagnose.Threshold{silentTime},
	Samples: []string{"crashed_server.pcap.zst", "evicted_ping.pcap.zst", "frozen_server.pcap.zst", "late_recovery.pcap.zst",
		"late_recovery_client.pcap.zst", "no_answer.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		n := diagnose.Shared(r, newNodeLife)
		return diagnose.Hooks{End: func() { n.reportSilent(r) }}
	},
})

// reportSilent reports the silences of nodes, and the nodes that reached no other.
func (n *nodeLife) reportSilent(r *diagnose.Reporter) {
	cut := n.cutOff()
	for a, h := range fifo.All(n.hosts) {
		for _, s := range h.silences {
			if f := n.silent(h, s); s.isProven() && (len(s.reaching) > 0 || len(s.peers) > 1) && f.Last-f.First >= silentTime.Nanoseconds() {
				r.Report(f)
			}
		}
		if list := cut[a]; len(list) > 1 {
			r.Report(n.isolated(h, list))
		}
	}
}

func (n *nodeLife) silent(h *hostLife, s *hostSilence) diagnose.Finding {
	f := n.finding(h, s)
	took := atLeast(!isSet(s.begin) || !isSet(s.back) && h.silence != s) + duration(f.Last-f.First)
	f.Brief = "Nothing came from " + f.Node.String() + " for " + took
	if !isSet(s.begin) && !isSet(s.back) { // nor at any other time
		f.Brief = f.Node.String() + " did not answer for " + took
	}
	f.Text = f.Brief + ": it acknowledged nothing of what " + n.names(s.peers) + " sent to it again and again"
	if tried := s.last.Time - s.from; s.last != s.first && f.Last-s.last.Time > tried { // they gave up long before, and it may have been well since
		f.Text += " for " + duration(tried)
		f.Brief += ", in which " + n.names(s.peers) + " tried for " + duration(tried) + " to reach it"
	}
	switch n := len(s.reaching); {
	case n == 1:
		f.Text += ", while others reached the sender"
	case n > 1:
		f.Text += ", while others reached these"
	}
	f.Text += "."
	outcome := s.outcome()
	f.Text += sentence(outcome) + "."
	f.Brief += "; " + outcome + ". Look at this node and its link, not at those that waited for it."
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
	f := diagnose.Finding{Node: hostNID(n.capture.Paths(), h.addr), Key: h.addr.String() + strconv.FormatInt(s.from, 10), First: s.from,
		Last: s.last.Time}
	if isServer(n.capture.Paths(), h.addr) {
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
		f.Last = n.capture.Now()
	}
	f.Prove(s.begin, "the last message of %s before", h.addr)
	f.Prove(s.first, "%s sent again", s.what())
	if s.last != s.first {
		f.Prove(s.last, "for the last time")
	}
	f.Prove(s.back, "the first sign of life")
	return f
}

// isProven reports whether the host would have been captured if it had answered.
func (s *hostSilence) isProven() bool { return !s.alone || isSet(s.begin) || isSet(s.back) }

// what returns what was sent to the host without an answer, with a verb.
func (s *hostSilence) what() string {
	if s.probes {
		return "a keep-alive probe to it is"
	}
	return "bytes to it are"
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
		return "it had not come back when the capture ended"
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
		list = append(list, hostNID(n.capture.Paths(), a))
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
	for _, h := range fifo.All(n.hosts) {
		for _, s := range h.silences {
			if len(s.peers) != 1 || len(s.reaching) > 0 || !s.isProven() {
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
		n := &restartedNodes{nodeLife: diagnose.Shared(r, newNodeLife)}
		return diagnose.Hooks{Recovery: n.recovery, End: func() { n.finish(r) }}
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

func (n *restartedNodes) finish(r *diagnose.Reporter) {
	for a, h := range fifo.All(n.hosts) {
		node := hostNID(n.capture.Paths(), a)
		for _, s := range h.outages() {
			if targets := n.targetsOf(node, s); len(targets) > 0 {
				r.Report(n.restarted(h, s, node, targets))
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
	names := sum.names
	if sum.unnamed {
		names = append(names[:len(names):len(names)], "targets without a name in the capture")
	}
	text := node.String() + " was restarted, and with it " + words(names)
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
	f.Prove(s.first, "%s sent again", s.what())
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

// nodeLife follows when hosts send something, and when they do not although others send to
// them again and again.
type nodeLife struct {
	capture *diagnose.Reporter // of the first rule that needs it
	resent  retransmissions
	hosts   *fifo.Map[netip.Addr, *hostLife]
	conns   *fifo.Map[int, *connHosts]
	conn    int        // of the last message
	ends    *connHosts // of this connection
	now     int64      // time of the last message or segment
	begun   int64      // when they came again after a pause

	// Messages are handed out later than segments where bytes are missing. Segments wait for
	// the messages before them.
	waiting []lnet.TCPEvent
}

// hostLife is what a host has sent and received.
type hostLife struct {
	addr     netip.Addr
	last     track.Point  // its last message
	seen     int64        // time of the last sign of life
	heard    [2]heardFrom // the hosts from which something came last
	silence  *hostSilence // that goes on
	silences []*hostSilence
}

// connHosts are the hosts of a connection.
type connHosts struct {
	begun int64 // time of the first message
	hosts [2]*hostLife
}

// heardFrom is when something came from a host.
type heardFrom struct {
	host netip.Addr
	at   int64
}

// hostSilence is a time in which nothing came from a host.
type hostSilence struct {
	addr     netip.Addr
	begin    track.Point // its last message before
	first    track.Point // the first bytes that are sent again to it
	last     track.Point // the last ones
	from     int64       // when these were sent first
	back     track.Point // the first message from it, or its first reset
	reset    bool        // back is a reset: it does not know the connection
	same     bool        // back belongs to a connection that it had before
	still    bool        // it got what had waited for it: it had stood still
	unseen   bool        // its end was not captured
	probes   bool        // first is a keep-alive probe
	alone    bool        // all are probes that prove nothing if the host was not captured
	peers    []netip.Addr
	reaching []netip.Addr // those of them that others reached meanwhile
}

const (
	maxWaiting  = 1 << 10 // segments
	maxHosts    = 1 << 13
	maxOutages  = 16 // of a host
	maxOldPeers = 32
	inFlight    = int64(1e9)   // nanoseconds in which a message may still arrive that was sent before
	pause       = int64(125e9) // without anything: TCP sends again after 120 s at most, so that nothing was captured
)

func newNodeLife(r *diagnose.Reporter) (*nodeLife, diagnose.Hooks) {
	n := &nodeLife{capture: r, resent: newRetransmissions(), hosts: fifo.NewMap[netip.Addr, *hostLife](maxHosts),
		conns: fifo.NewMap[int, *connHosts](maxStreams)}
	return n, diagnose.Hooks{Message: n.message, TCPEvent: n.marked, IBEvent: n.packet, End: n.end}
}

func (n *nodeLife) host(a netip.Addr) *hostLife {
	h := fifo.GetOrNew(n.hosts, a)
	h.addr = a
	return h
}

// message takes a message: its sender lives, and its receiver can be reached.
func (n *nodeLife) message(_ *track.RPC, m *dissect.Message) {
	if len(n.waiting) > 0 {
		n.until(m.Time)
	}
	n.advance(m.Time)
	if n.ends == nil || n.conn != m.Conn {
		n.conn, n.ends = m.Conn, fifo.GetOrMake(n.conns, m.Conn, func() *connHosts {
			return &connHosts{m.Time, [2]*hostLife{n.host(m.Src.Addr()), n.host(m.Dst.Addr())}}
		})
	}
	src, d := n.ends.hosts[0], n.ends.hosts[1]
	if src.addr != m.Src.Addr() {
		src, d = d, src
	}
	if src.addr != m.Src.Addr() || d.addr != m.Dst.Addr() { // a queue pair that has moved
		src, d = n.host(m.Src.Addr()), n.host(m.Dst.Addr())
	}
	src.lives(m, n.ends.begun)
	if m.Time >= src.last.Time {
		src.last = track.PointOf(m)
	}
	src.seen = max(src.seen, m.Time)
	if d.last.Frame == 0 && m.Kind == lnet.Reply { // nothing of it is captured, and it sends requests
		d.seen = m.Time
	}
	if d.heard[0].host != src.addr {
		d.heard[1] = d.heard[0]
	}
	d.heard[0] = heardFrom{src.addr, m.Time}
}

// advance sets the time. Behind a pause it ends all silences: what happened meanwhile was not
// captured.
func (n *nodeLife) advance(now int64) {
	before := n.now
	n.now = max(before, now)
	if now-before <= pause || before == 0 {
		return
	}
	n.begun = now
	for _, h := range fifo.All(n.hosts) {
		if h.silence != nil {
			h.silence.unseen, h.silence = true, nil
		}
	}
}

// lives takes a message of the host, on a connection that had begun by a time. One of which
// bytes are missing is handed out late: it may belong before or into the last silence.
func (h *hostLife) lives(m *dissect.Message, begun int64) {
	if len(h.silences) == 0 {
		return
	}
	s := h.silences[len(h.silences)-1]
	if s.unseen {
		return
	}
	switch p := track.PointOf(m); {
	case isSet(s.back) && m.Time >= s.back.Time:
	case m.Time <= s.from+inFlight:
		if m.Time > s.begin.Time {
			s.begin = p
		}
	default:
		s.same = begun < s.from || m.Kind != lnet.Connreq && m.Kind != lnet.Hello
		s.reset, s.still = false, false
		if s.last.Time > m.Time {
			s.last = s.first
		}
		s.back, h.silence = p, nil
	}
}

func (n *nodeLife) marked(m *lnet.TCPEvent) {
	if !m.RST && m.Retransmissions == 0 && m.Waited == 0 && m.Probes == 0 && !m.Answer {
		return
	}
	if len(n.waiting) >= maxWaiting {
		n.until(n.waiting[maxWaiting/2].Time)
	}
	n.waiting = append(n.waiting, *m)
}

// packet takes a packet of InfiniBand that is refused or sent again, as if it were a segment.
func (n *nodeLife) packet(e *lnet.IBEvent) {
	if !e.Again {
		n.host(e.Dst.Addr()).seen = e.Time
		return
	}
	n.marked(&lnet.TCPEvent{Frame: e.Frame, Source: e.Source, Conn: e.Conn, Src: e.Src, Dst: e.Dst, Seq: e.PSN, FirstSent: e.FirstSent,
		TCPAnomalies: lnet.TCPAnomalies{Retransmissions: 1}})
}

// until takes the segments up to a time.
func (n *nodeLife) until(time int64) {
	done := 0
	for done < len(n.waiting) && n.waiting[done].Time <= time {
		n.segment(&n.waiting[done])
		done++
	}
	if done > 0 {
		n.waiting = append(n.waiting[:0], n.waiting[done:]...)
	}
}

// end takes all segments: the capture has ended.
func (n *nodeLife) end() { n.until(math.MaxInt64) }

// segment takes a segment that is sent again, or aborts a connection.
func (n *nodeLife) segment(m *lnet.TCPEvent) {
	n.advance(m.Time)
	p := pointOf(m)
	h := n.host(m.Src.Addr())
	resent := n.resent.silence(m)
	to := n.host(m.Dst.Addr())
	if resent != nil {
		if to.last.Time < n.begun {
			to.last = track.Point{}
		}
		to.unanswered(resent, h, p)
		return
	}
	if s := h.silence; s != nil {
		s.reset, s.same, s.still = m.RST, !m.RST && !m.SYN, m.Waited > inFlight
		s.back, h.silence = p, nil
	} else if k := len(h.silences); k > 0 && m.Waited > inFlight && m.Time-h.silences[k-1].back.Time < inFlight {
		h.silences[k-1].still = true
	}
	h.seen = max(h.seen, m.Time)
}

// unanswered takes bytes that were sent to the host again without an answer.
func (h *hostLife) unanswered(resent *silence, from *hostLife, p track.Point) {
	if h.seen > resent.from+inFlight {
		return // it sends messages meanwhile
	}
	s := h.silence
	if s == nil {
		if len(h.silences) >= maxOutages {
			return
		}
		s = &hostSilence{addr: h.addr, begin: h.last, first: resent.first, from: resent.from, probes: resent.probes, alone: true}
		h.silence, h.silences = s, append(h.silences, s)
	}
	s.last = p
	s.alone = s.alone && resent.alone
	s.from = min(s.from, resent.from)
	s.peers = withNew(s.peers, from.addr, maxOldPeers)
	for _, other := range from.heard {
		if other.host.IsValid() && other.host != h.addr && other.at > resent.from+inFlight {
			s.reaching = withNew(s.reaching, from.addr, maxOldPeers)
		}
	}
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
