package lnet

import (
	"net/netip"

	"github.com/lshark/lshark/dissect/lnet/link"
)

// Activity tells that Src has sent something to Dst, be it an empty ACK or a keep-alive probe: the first
// segment of a TCP connection, or packet of an InfiniBand connection, in this direction and second of capture
// time. Segments that open, close or abort a connection are each an Activity of their own.
type Activity struct {
	link.Frame
	Source   int // capture point
	Conn     int // number of the connection
	Src, Dst netip.AddrPort
	MAC      [6]byte // Ethernet address that the frame came from, of Src or of the last router; zero without Ethernet
	Unacked  int64   // since when, at least, Dst has not acknowledged something that Src has sent; 0 when it has all, or when that is unknown

	SYN, ACK, FIN, RST bool // flags of the segment
}

const activitySecond = 1e9 // ns

// activeSecond is one more than the beginning of the last second with an Activity, 0 before the first.
type activeSecond int64

// begins reports whether a second begins with the time now, and notes it. Frames out of order do not
// begin the second before again.
func (s *activeSecond) begins(now int64) bool {
	if *s != 0 && uint64(now-int64(*s)+1+activitySecond) < 2*activitySecond {
		return false
	}
	*s = activeSecond(now - now%activitySecond + 1)
	return true
}

// reportActivity passes on that a segment was sent.
func (t *tcp) reportActivity(c *conn, dir uint8, g *link.Segment) {
	r := &c.half[dir]
	m := &t.out.activity
	*m = Activity{Frame: g.Frame, Source: int(c.key.Source), Conn: c.number, MAC: g.MAC,
		SYN: g.Flags&tcpSYN != 0, ACK: g.Flags&tcpACK != 0, FIN: g.Flags&tcpFIN != 0, RST: g.Flags&tcpRST != 0}
	m.Src, m.Dst = c.ends(dir == 1)
	if r.acked {
		m.Unacked = r.analysis.unackedSince(r.ack)
	}
	t.out.opt.Active(m)
}

// reportActivity passes on that a packet was sent to the queue pair, if messages were found on its connection.
func (q *queuePair) reportActivity(p *link.Packet) {
	conn := q.conn
	if conn < 0 && q.peer != nil {
		conn = q.peer.conn
	}
	if conn < 0 || !q.active.begins(p.Time) {
		return
	}
	m := &q.ib.out.activity
	*m = Activity{Frame: p.Frame, Source: int(q.key.source), Conn: conn, MAC: p.MAC}
	m.Src, m.Dst = packetEnds(p.Src, p.Dst, p.SrcPort)
	if o, s := &q.order, &q.sent; o.acked && int32(s.ackWanted-o.ack) > 0 {
		m.Unacked = s.analysis.unackedSince(o.ack)
	}
	q.ib.out.opt.Active(m)
}

// unackedSince returns when what comes behind an acknowledged sequence number was sent first, at the latest: 0 if
// nothing was, or if the time is unknown.
func (a *analysis) unackedSince(ack uint32) int64 {
	if int32(a.next-ack) <= 0 {
		return 0
	}
	first, _ := a.timeOf(ack)
	return first.time
}
