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

// what returns what was sent to the host without an answer, with a verb.
func (s *hostSilence) what() string {
	if s.probes {
		return "a keep-alive probe to it is"
	}
	return "bytes to it are"
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
	suspect(&f, atNode(node))
	from, seen := "its last message", isSet(s.begin)
	if !seen {
		from = "the first bytes that it did not get"
	}
	names := sum.names
	if sum.unnamed {
		names = append(names[:len(names):len(names)], "targets without a name in the capture")
	}
	text := node.String() + " was restarted, and with it " + words(names)
	f.Text = text + ": it sent nothing for " + atLeastTime(!seen, s.back.Time-f.First)
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
	f.Text += "." + impactOf(sum.impact, false)
	away := atLeastTime(true, first.Time-f.First)
	if seen { // it may have sent more to others
		away = atMostTime(true, first.Time-f.First)
	}
	f.Brief = text + ": it was away for " + away + ", until the first target was back"
	if isSet(recovered) {
		f.Brief += ", and clients had recovered after " + duration(recovered.Time-f.First)
	}
	f.Brief += "." + impactOf(sum.impact, false) + " Look at its console, BMC or hypervisor for what happened before its last message, not at " +
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
