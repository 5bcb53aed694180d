package lnet

import (
	"fmt"
	"math/bits"

	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
)

// Magic numbers at the start of a message, in either byte order.
const (
	KibMagic = 0x0be91b91
	magicGNI = 0xb00fbabe
	magicKFI = 0xdeadbeef
	magicEFA = 0x2be092be
)

// Types of o2iblnd messages: ibm_type.
const (
	KibConnreq   = 0xc0
	KibConnack   = 0xc1
	KibNoop      = 0xd0
	KibImmediate = 0xd1
	KibPutReq    = 0xd2
	KibPutNak    = 0xd3
	KibPutAck    = 0xd4
	KibPutDone   = 0xd5
	KibGetReq    = 0xd6
	KibGetDone   = 0xd7
)

// Versions of o2iblnd messages.
const (
	kibVersion1 = 0x11
	kibVersion2 = 0x12
)

// Sizes of o2iblnd messages and offsets in them, in bytes.
const (
	KibSize     = 48                  // of the header
	KibSum      = 12                  // offset of the checksum
	kibPayload  = KibSize + lnet4Size // offset of the LNet payload, or of the cookie of a PUT_REQ or GET_REQ
	kibReqSize  = kibPayload + 8      // of a PUT_REQ, and of a GET_REQ up to the descriptor
	kibAckDesc  = KibSize + 16        // offset of the descriptor in a PUT_ACK
	kibDoneSize = KibSize + 12        // of PUT_NAK, PUT_DONE and GET_DONE
	kibFrags    = 8                   // offset of the fragments in a descriptor
	kibFragSize = 12
	MaxKib      = 1 << 16 // longest message, which is 4096 by default
)

// maxPacketHeaders is how many bytes are kept of BTH and extension headers: those of an
// RDMA WRITE with immediate data, or of a datagram.
const maxPacketHeaders = ib.BTHSize + 16 + 4

// unknownCredits is the number of credits where the connect was not captured.
const unknownCredits = -1

// kibHead is the header of an o2iblnd message.
type kibHead struct {
	order    order
	version  uint16
	kind     uint8
	credits  uint8 // returned to the receiver
	size     int
	sum      uint32
	src, dst NID
}

// parseKib parses the header of an o2iblnd message. It reports whether b begins with one.
func parseKib(b []byte) (h kibHead, ok bool) {
	if len(b) < KibSize {
		return h, false
	}
	o := orderLittle
	if o.u32(b) != KibMagic {
		o = orderBig
	}
	if o.u32(b) != KibMagic {
		return h, false
	}
	h = kibHead{
		order: o, version: o.u16(b[4:]), kind: b[6], credits: b[7], size: int(o.u32(b[8:])), sum: o.u32(b[KibSum:]),
		src: NID4(o.u64(b[16:])), dst: NID4(o.u64(b[32:])),
	}
	return h, true
}

// NIDs returns the NIDs of sender and receiver in the header of the first o2iblnd message, which
// messages without an LNet header have, too. A message that does not begin with one has zero NIDs.
func (b *IB) NIDs() (src, dst NID) {
	if b != nil && len(b.Parts) > 0 && !b.Parts[0].Back {
		h, _ := parseKib(b.Parts[0].Data)
		return h.src, h.dst
	}
	return NID{}, NID{}
}

// O2IBChecksum returns the checksum of an o2iblnd message, for which the checksum
// itself counts as zero.
func O2IBChecksum(b []byte) uint32 {
	var sum uint32
	for i, c := range b {
		if i >= KibSum && i < KibSum+4 {
			c = 0
		}
		sum = bits.RotateLeft32(sum, 1) + uint32(int32(int8(c)))
	}
	if sum == 0 {
		return 1
	}
	return sum
}

// o2iblnd finds the o2iblnd messages in the packets to a queue pair, and joins the transfers
// whose requests were sent to it.
type o2iblnd struct {
	lnet    bool  // o2iblnd messages were found or announced
	taken   int64 // time of the last packet
	mtu     int   // payload of a packet that is not the last one of its message, in bytes; 0 while unknown
	credits credits

	send     partial // the SEND in progress
	sendHead kibHead
	sendID   packetID
	sendLast link.Frame // the last one of its packets
	frames   frameList  // of the SEND

	requests transferList // that were sent to this queue pair, the oldest first
	writes   writes
}

// packetID identifies a packet.
type packetID struct {
	psn     uint32
	headers [maxPacketHeaders]byte
	n       int // bytes of headers
}

func (id *packetID) set(g *requestPacket) {
	id.psn = g.psn
	id.n = copy(id.headers[:], g.headers)
}

// kibMessage is an o2iblnd message whose last packet was taken.
type kibMessage struct {
	kibHead
	body   *partial
	data   []byte     // captured bytes
	sent   int        // bytes in the SEND, which may differ from the size in the header
	at     link.Frame // that completed it
	id     *packetID
	end    uint32 // number behind its last packet
	frames frameList
}

// take handles the next packet in order. It returns false if the packet has to wait for one
// of the other direction; with forced set no packet waits.
func (l *o2iblnd) take(q *queuePair, g *requestPacket, forced bool) bool {
	if !g.opcode.Last() && g.size > 0 {
		l.mtu = g.size
	}
	switch operation := g.opcode.Operation(); {
	case operation == ib.Send && !l.takeSend(q, g, forced), operation == ib.Write && (l.lnet || q.ib.pairByWrite(q, g)) &&
		!l.takeWrite(q, g, forced):
		return false
	}
	l.taken = g.Time
	return true
}

// takeSend handles a packet of a SEND.
func (l *o2iblnd) takeSend(q *queuePair, g *requestPacket, forced bool) bool {
	p, out := &l.send, q.ib.out
	first, last := g.opcode.First(), g.opcode.Last()
	if first {
		l.endSend(q)
		if !l.beginSend(q, g) {
			return true
		}
	}
	if p.size == 0 {
		return true // its first packet is missing, or it is not o2iblnd's
	}
	if out.opt.Frames {
		l.frames.add(g.Order, p.have > 0, out)
	}
	p.retransmitted = p.retransmitted || g.again
	l.sendLast = later(l.sendLast, g.Frame)
	data := g.data
	if first && last { // no copy
		p.have = min(len(data), p.size)
		data = data[:p.have]
		p.miss(g.size-len(g.data), Snaplen, out)
	} else {
		p.add(data, g.size, out)
		data = p.buf
	}
	if !last {
		return true
	}
	done := l.finishSend(q, data, g.psn+1, forced || !first)
	l.dropSend(q)
	return done
}

// beginSend parses the header in the first packet of a SEND. It reports whether it is one of
// o2iblnd.
func (l *o2iblnd) beginSend(q *queuePair, g *requestPacket) bool {
	h, ok := parseKib(g.data)
	if !ok {
		l.foreign(q, g)
		return false
	}
	if !l.lnet {
		l.lnet = true
		if q.peer != nil {
			q.peer.lnd.lnet = true
		}
	}
	l.sendHead = h
	l.sendID.set(g)
	l.sendLast = g.Frame
	p := &l.send
	p.seq, p.order = g.psn, h.order
	p.size = max(min(h.size, MaxKib), KibSize)
	if g.opcode.Last() {
		p.size = g.size
	}
	p.keep = q.ib.out.affordable(p.size)
	return true
}

// add adds size bytes, of which data were captured. Bytes beyond the message are ignored.
func (p *partial) add(data []byte, size int, out *output) {
	n := min(size, p.size-p.have)
	data = data[:min(len(data), n)]
	if p.have < p.keep && len(data) > 0 {
		k := min(len(data), p.keep-p.have)
		p.buf = out.pool.grow(p.buf, p.have+k-len(p.buf))
		p.fillHole()
		p.buf = append(p.buf, data[:k]...)
	}
	p.have += len(data)
	p.miss(n-len(data), Snaplen, out)
}

// miss adds n bytes that are missing.
func (p *partial) miss(n int, why Why, out *output) {
	n = min(n, p.size-p.have)
	if n <= 0 {
		return
	}
	if p.have < p.keep {
		p.addHole(Hole{p.have, min(n, p.keep-p.have), why}, out)
	}
	p.have += n
}

// release returns the buffers of a message.
func (p *partial) release(pool *pool) {
	pool.put(p.buf)
	if p.holes != nil {
		pool.lent -= len(p.holes) * holeSize
		pool.holes.put(p.holes)
	}
	*p = partial{}
}

// dropSend ends the SEND in progress.
func (l *o2iblnd) dropSend(q *queuePair) {
	pool := &q.ib.out.pool
	l.send.release(pool)
	l.frames.keepLast(pool)
}

// endSend hands out a SEND whose last packets are missing.
func (l *o2iblnd) endSend(q *queuePair) {
	if p := &l.send; p.size > 0 {
		p.miss(p.size-p.have, q.ib.out.ending, q.ib.out)
		l.finishSend(q, p.buf, q.order.next, true)
	}
	l.dropSend(q)
}

// finishSend hands out the message in a SEND, or makes it a part of a transfer; data are
// its captured bytes, and end is the number behind its last packet. It returns false if it
// has to wait for a message of the other direction.
func (l *o2iblnd) finishSend(q *queuePair, data []byte, end uint32, forced bool) bool {
	p := &l.send
	k := kibMessage{kibHead: l.sendHead, body: p, at: l.sendLast, id: &l.sendID, end: end, frames: l.frames, sent: p.have}
	p.trim(max(min(p.have, k.size), KibSize))
	k.data = data[:min(len(data), p.size)]
	if k.kind == KibPutDone || k.kind == KibGetDone {
		if k.known() && !l.finishTransfer(q, &k, forced) {
			return false
		}
		l.exchangeCredits(q, &k)
		return true
	}
	answer := k.kind == KibPutAck || k.kind == KibPutNak
	if answer && k.known() && !forced && !l.answerReady(q, &k) {
		return false
	}
	l.writes.end(q.ib)
	l.exchangeCredits(q, &k)
	switch {
	case !k.known():
		l.other(q, &k, Unknown)
		return true
	case k.kind == KibImmediate:
		l.immediate(q, &k)
	case k.kind == KibPutReq, k.kind == KibGetReq:
		l.request(q, &k)
	case answer:
		l.answer(q, &k)
	case k.kind == KibNoop:
		l.other(q, &k, Noop)
	default:
		l.other(q, &k, Unknown)
	}
	return true
}

// known reports whether the version of the message is one that is decoded.
func (k *kibMessage) known() bool { return k.version == kibVersion1 || k.version == kibVersion2 }

// exchangeCredits updates the credits of both ends.
func (l *o2iblnd) exchangeCredits(q *queuePair, k *kibMessage) {
	if q.peer != nil {
		q.peer.lnd.credits.returned(k.credits)
	}
	if l.credits.spend(k.kind) {
		q.ib.stats.Exhausted++
	}
}

// trim sets the size of the message, and drops the bytes beyond it.
func (p *partial) trim(size int) {
	p.size, p.have = size, min(p.have, size)
	p.keepOnly(size)
}

// keepOnly lowers the number of bytes to keep. Holes behind them get the length 0.
func (p *partial) keepOnly(n int) {
	p.keep = min(p.keep, n)
	for i := len(p.holes) - 1; i >= 0; i-- {
		h := &p.holes[i]
		if h.Off+h.Len <= p.keep {
			return
		}
		h.Len = max(0, p.keep-h.Off)
	}
}

// immediate hands out a message with its payload.
func (l *o2iblnd) immediate(q *queuePair, k *kibMessage) {
	p := k.body
	if !p.setLNet(k.data) {
		l.other(q, k, Unknown)
		return
	}
	q.describe(k, p, k.data)
	m, out := &q.ib.out.msg, q.ib.out
	if out.opt.Want != nil && p.size > p.payloadOff && k.sum == 0 {
		m.Data = k.data[:min(len(k.data), p.payloadOff)]
		p.keepOnly(p.payloadOff + max(0, out.opt.Want(m)))
		k.data = k.data[:min(len(k.data), p.keep)]
	}
	if n := p.size - p.payloadOff; int64(m.LNet.Length) > int64(n) {
		m.Note("short", fmt.Sprintf("the LNet header claims %d bytes of payload, the message has %d", m.LNet.Length, n))
	}
	q.emit(k, p, k.data, p.seq)
}

// setLNet sets where the LNet header of a message is; b are its captured bytes. It reports
// whether there is a header.
func (p *partial) setLNet(b []byte) bool {
	if len(b) < KibSize+lnet4Size-lnetCommand || p.size < kibPayload {
		return false
	}
	p.kind, p.form, p.lnetOff, p.payloadOff = Unknown, formShort, KibSize, kibPayload
	p.cut = len(b) < kibPayload
	return true
}

// other hands out a message without an LNet header.
func (l *o2iblnd) other(q *queuePair, k *kibMessage, kind Kind) {
	p := k.body
	p.kind, p.lnetOff, p.payloadOff = Noop, -1, p.size
	q.describe(k, p, k.data)
	m := &q.ib.out.msg
	m.Kind, m.LNet.Src, m.LNet.Dst = kind, k.src, k.dst
	if kind == Unknown {
		m.Note("unknown", fmt.Sprintf("o2iblnd message of version 0x%x and type 0x%x", k.version, k.kind))
	}
	q.emit(k, p, k.data, p.seq)
}

// foreign hands out a message of another network driver, if its magic is known.
func (l *o2iblnd) foreign(q *queuePair, g *requestPacket) {
	q.ib.stats.Foreign++
	if len(g.data) < KibSize || l.lnet {
		return
	}
	name := ""
	for _, o := range [...]order{orderLittle, orderBig} {
		switch o.u32(g.data) {
		case magicGNI:
			name = "gnilnd"
		case magicKFI:
			name = "kfilnd"
		case magicEFA:
			name = "efalnd"
		default:
			continue
		}
		l.send.order = o
		break
	}
	if name == "" {
		return
	}
	p := &l.send
	p.seq, p.size, p.have, p.keep = g.psn, g.size, g.size, g.size
	l.sendID.set(g)
	k := kibMessage{body: p, data: g.data, at: g.Frame, id: &l.sendID, end: g.psn + 1, sent: g.size}
	k.size = g.size
	p.kind, p.lnetOff, p.payloadOff = Noop, -1, p.size
	if n := len(g.data); n < p.size {
		p.have = n
		p.miss(p.size-n, Snaplen, q.ib.out)
	}
	q.describe(&k, p, k.data)
	m := &q.ib.out.msg
	m.Kind = Unknown
	m.Note("foreign", "begins like a message of "+name+", which is not decoded")
	q.emit(&k, p, k.data, p.seq)
	l.dropSend(q)
}

// describe sets the fields of the shared Message that the headers determine; b begins with
// them.
func (q *queuePair) describe(k *kibMessage, p *partial, b []byte) {
	m, t := &q.ib.out.msg, q.ib
	p.describe(m, b)
	m.setFrame(&k.at)
	m.Frames = k.frames
	m.Source, m.Conn = int(q.key.source), q.number()
	m.Src, m.Dst = q.ends()
	m.Transport, m.Version = O2IB, uint8(k.version)
	r := &t.message
	*r = IB{DestQP: q.key.number, PSN: k.id.psn & (1<<psnBits - 1), Headers: k.id.headers[:k.id.n], Local: q.local,
		Credits: q.lnd.credits.known()}
	m.Seq = r.PSN
	if q.peer != nil {
		r.SrcQP = q.peer.key.number
	}
	t.parts = append(t.parts[:0], IBPart{Frame: k.at, Data: k.data})
	r.Parts = t.parts
	m.IB = r
}

// emit hands out the shared Message after describe; data are its kept bytes. Its packets have
// the numbers from from up to k.end; equal numbers stand for none.
func (q *queuePair) emit(k *kibMessage, p *partial, data []byte, from uint32) {
	out := q.ib.out
	m := &out.msg
	m.Data = data
	if (p.lnetOff >= 0 || m.Kind == GetReply) && !p.cut {
		out.classify()
	}
	m.Holes = append(m.Holes, p.holes...)
	for n := len(m.Holes); n > 0 && m.Holes[n-1].Len == 0; n-- {
		m.Holes = m.Holes[:n-1]
	}
	p.setTail(m, out.ending)
	p.addNotes(m)
	if !p.cut {
		q.nids.add(m.LNet.Src)
		q.nids.add(m.LNet.Dst)
	}
	switch {
	case k.sent < k.size:
		m.Note("short", fmt.Sprintf("the message claims %d bytes, the SEND has %d", k.size, k.sent))
	case k.sent > k.size:
		m.Note("tail", fmt.Sprintf("%d bytes behind the message", k.sent-k.size))
	}
	if k.sum != 0 && len(k.data) == k.size {
		if sum := O2IBChecksum(k.data); sum != k.sum {
			m.Note("checksum", fmt.Sprintf("o2iblnd checksum 0x%08x should be 0x%08x", k.sum, sum))
		}
	}
	m.Number = out.stats.Messages + 1
	m.Transfer = Transfer{}
	if k.end != from {
		q.sent.transfer(m, from, k.end, q.order.acked && int32(q.order.ack-k.end) >= 0)
	}
	out.deliver()
}

// gap handles n missing packets before next.
func (l *o2iblnd) gap(q *queuePair, n int, why Why, next *requestPacket) {
	inside := 0
	if p := &l.send; p.size > 0 {
		inside = min(n, l.packets(p.size-p.have))
		if next.opcode.First() || next.opcode.Operation() != ib.Send || inside < n {
			p.miss(p.size-p.have, why, q.ib.out)
			l.endSend(q)
		} else {
			p.miss(n*l.mtu, why, q.ib.out)
		}
	}
	inside = max(inside, l.gapInWrites(q, n, next))
	q.lose(int64(n-inside), why, l.taken, next.Time)
}

// bytes returns the largest payload of n packets in bytes, or n while the MTU is unknown.
func (l *o2iblnd) bytes(n int64) int64 { return n * int64(max(1, l.mtu)) }

// packets returns how many packets n bytes take.
func (l *o2iblnd) packets(n int) int {
	if l.mtu == 0 {
		return 1
	}
	return (n + l.mtu - 1) / l.mtu
}

// close hands out the unfinished SEND and transfers at the end of the queue pair.
func (l *o2iblnd) close(q *queuePair) {
	l.endSend(q)
	l.writes.run.drop(q.ib)
	for len(l.requests) > 0 {
		l.requests[0].abandon()
	}
	l.frames = nil
}
