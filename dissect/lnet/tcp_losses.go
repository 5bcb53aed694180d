package lnet

import (
	"net/netip"

	"github.com/lshark/lshark/dissect/lnet/link"
)

// Loss is a run of bytes of a stream that the capture does not have, or in which
// no header was found, and in which messages may have begun. Bytes inside a
// message with a captured header are holes of that message and no Loss.
type Loss struct {
	Source   int // capture point
	Src, Dst netip.AddrPort
	From, To int64 // between which times, in nanoseconds since the epoch
	Bytes    int64

	// Why is the reason: Lost, Snaplen, BeforeFile or EndOfFile when they may have come before the
	// beginning or after the end of the capture, or Present when they were captured and no header
	// was found in them.
	Why    Why
	OneWay bool // of this direction of the connection nothing was captured so far

	// NIDs are those of the last messages on the connection, at most MaxLossNIDs,
	// in no order: its ends, and through a router the nodes behind it.
	NIDs []NID
}

// MaxLossNIDs is how many NIDs a Loss has at most.
const MaxLossNIDs = maxRecentNIDs

// lossDelay is how long bytes that were acknowledged may be missing before they
// count as lost, in nanoseconds: frames may be out of order. It is also how long bytes from
// before the capture may take to be acknowledged.
const lossDelay = 1e9

// lose reports l, of which Bytes, From, To, Why and OneWay are set: bytes of a
// direction of a connection.
//
// A single byte is none: it is the sequence number of a FIN, or of a keep-alive probe, which
// is that of the last byte.
func (o *output) lose(c *conn, back bool, l Loss) {
	if o.opt.Lost == nil || l.Bytes <= keepAliveBytes {
		return
	}
	if l.From == 0 || l.From > l.To {
		l.From = l.To
	}
	l.Source, l.NIDs = int(c.key.Source), c.nids.list
	l.Src, l.Dst = c.ends(back)
	if !c.syn {
		l.maybeBefore(o.begins[l.Source])
	}
	o.report(l)
}

// maybeBefore takes when the capture began, for a connection of which it does not have the beginning.
// What is proven soon after that may have been on the way before, and bytes without a header may be
// the rest of a message whose header was.
func (l *Loss) maybeBefore(begin int64) {
	soon := begin + lossDelay
	if l.Why == Lost && l.To < soon || l.Why == Present && l.From < soon {
		l.Why = BeforeFile
	}
}

// report gives a loss to the hook, which must be set.
func (o *output) report(l Loss) {
	o.loss = l
	o.opt.Lost(&o.loss)
}

// unseen follows the bytes of a direction that its ends prove, by an ACK or a
// sequence number, though the capture does not have them.
type unseen struct {
	known    bool
	captured uint32 // sequence number behind the last byte that was captured or reported
	proven   uint32 // and behind the last one that was proven
	from, to int64  // between which times the bytes were sent that are proven and not captured; 0 without any
	since    int64  // time of the first proof of them
	last     int64  // time of the last captured byte
}

// saw takes captured bytes up to a sequence number.
func (u *unseen) saw(to uint32, now int64) {
	if !u.known {
		u.known, u.captured, u.proven = true, to, to
	}
	u.last = now
	if int32(to-u.captured) > 0 {
		u.captured = to
	}
	if int32(u.captured-u.proven) >= 0 {
		u.proven, u.from = u.captured, 0
	}
}

// prove takes a sequence number up to which bytes were sent. It returns how many
// of them have been missing for so long that they are lost.
func (u *unseen) prove(to uint32, now int64) int64 {
	if !u.known {
		u.known, u.captured, u.proven, u.last = true, to, to, now
		return 0
	}
	if int32(to-u.proven) > 0 {
		u.proven, u.to = to, now
		if u.from == 0 {
			u.from, u.since = u.last, now
		}
	}
	if u.from == 0 || now-u.since < lossDelay {
		return 0
	}
	return int64(u.proven - u.captured)
}

// begin takes the first ACK of the receiver, where the capture does not have the beginning of the
// connection: what it acknowledges may have been on the way before.
func (u *unseen) begin(ack uint32) {
	if u.known && int32(ack-u.captured) > 0 {
		u.captured = ack
		u.proven, u.from = ack, 0
	}
}

// missing returns how many bytes are proven and not captured.
func (u *unseen) missing() int64 {
	if u.from == 0 {
		return 0
	}
	return int64(u.proven - u.captured)
}

// loseUnseen reports n bytes that were proven and not captured, without those of
// the message that the framer is in the middle of.
func (r *reassembly) loseUnseen(n int64) {
	f, u, why := &r.framer, &r.unseen, Lost
	if isAcked := r.acked && int32(r.ack-u.proven) >= 0; !isAcked && (r.acked || r.tcp.out.ending == EndOfFile) {
		why = EndOfFile // they never arrived, or may be sent again later
	}
	if m := &f.msg; m.size > 0 {
		n -= max(0, int64(m.size-m.have))
	}
	r.tcp.out.lose(f.conn, f.back, Loss{Bytes: n, From: u.from, To: u.to, Why: why, OneWay: !r.started})
	u.captured, u.last, u.from = u.proven, u.to, 0
}

// maxLostBefore bounds what loseBefore reports: no host has more on the way.
const maxLostBefore = 1 << 24

// loseBefore takes the bytes between the first ACK and the first segment that was captured. They are lost
// when the receiver acknowledges them, unless they may have been on the way before the capture.
func (r *reassembly) loseBefore(g *link.Segment) {
	u := &r.unseen
	if n := int32(r.begin.first - u.captured); !u.known || n <= 0 || n >= maxLostBefore {
		return
	}
	if u.missing() > 0 && int32(r.begin.first-u.proven) >= 0 { // proven before
		r.loseUnseen(u.missing())
	}
	if n := int32(r.begin.first - u.captured); n > 0 {
		if o := r.tcp.out; g.Time < o.begins[int(r.framer.conn.key.Source)]+lossDelay {
			o.lose(r.framer.conn, r.framer.back, Loss{Bytes: int64(n), From: u.last, To: g.Time, Why: Lost})
		} else {
			r.begin.lacks = uint32(n)
		}
		u.captured = r.begin.first
	}
}

// follow takes what a segment shows of the bytes that both ends have sent. first says that it has
// the first ACK of the other direction.
func (r *reassembly) follow(peer *reassembly, g *link.Segment, first bool) {
	if g.Flags&tcpRST != 0 {
		return
	}
	if n := sequenceLength(g); n > 0 {
		if !r.started && r.begin.midStream {
			r.loseBefore(g)
		}
		r.unseen.saw(g.Seq+uint32(n), g.Time)
	} else if lost := r.unseen.prove(g.Seq, g.Time); lost > 0 {
		r.loseUnseen(lost)
	}
	if g.Flags&tcpACK == 0 {
		return
	}
	if first && !peer.framer.conn.syn {
		peer.unseen.begin(g.Ack)
		if peer.started {
			peer.begin.before, peer.begin.hasBefore = g.Ack, true
		}
	}
	if b := &peer.begin; b.lacks > 0 && int32(g.Ack-b.first) >= 0 {
		r.tcp.out.lose(peer.framer.conn, peer.framer.back, Loss{Bytes: int64(b.lacks), To: g.Time, Why: Lost})
		b.lacks = 0
	}
	if lost := peer.unseen.prove(g.Ack, g.Time); lost > 0 {
		peer.loseUnseen(lost)
	}
}
