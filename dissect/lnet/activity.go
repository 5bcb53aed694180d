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
	Src, Dst netip.AddrPort
	MAC      [6]byte // Ethernet address that the frame came from, of Src or of the last router; zero without Ethernet

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
	m := &t.out.activity
	*m = Activity{Frame: g.Frame, Source: int(c.key.Source), MAC: g.MAC,
		SYN: g.Flags&tcpSYN != 0, ACK: g.Flags&tcpACK != 0, FIN: g.Flags&tcpFIN != 0, RST: g.Flags&tcpRST != 0}
	m.Src, m.Dst = c.ends(dir == 1)
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
	*m = Activity{Frame: p.Frame, Source: int(q.key.source), MAC: p.MAC}
	m.Src, m.Dst = packetEnds(p.Src, p.Dst, p.SrcPort)
	q.ib.out.opt.Active(m)
}
