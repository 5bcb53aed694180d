package rules

import (
	"math"
	"net/netip"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/paths"
	"github.com/lshark/lshark/internal/fifo"
)

// nodeLife follows when hosts send something, and when they do not although others send to
// them again and again.
type nodeLife struct {
	report *diagnose.Reporter
	resent retransmissions
	hosts  *fifo.Map[netip.Addr, *hostLife]
	conns  *fifo.Map[int, *connHosts]
	conn   int        // of the last message
	ends   *connHosts // of this connection
	now    int64      // time of the last message or segment
	begun  int64      // when they came again after a pause

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

func newNodeLife(r *diagnose.Reporter) *nodeLife {
	return &nodeLife{report: r, resent: newRetransmissions(), hosts: fifo.NewMap[netip.Addr, *hostLife](maxHosts),
		conns: fifo.NewMap[int, *connHosts](maxStreams)}
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
		n.conn, n.ends = m.Conn, n.conns.GetOrMake(m.Conn, func() *connHosts {
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
	for _, h := range n.hosts.All {
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
	if !m.RST && m.Retransmissions == 0 && m.Waited == 0 {
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
		s = &hostSilence{addr: h.addr, begin: h.last, first: resent.first, from: resent.from}
		h.silence, h.silences = s, append(h.silences, s)
	}
	s.last = p
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
