package lnet

import (
	"net/netip"
	"slices"
	"unsafe"

	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
)

// psnBits is the size of a packet sequence number.
const psnBits = 24

// packetOrder puts the requests to a queue pair in the order of their packet sequence
// numbers. It holds packets behind a gap, and all packets until it is known which is the
// first one.
type packetOrder struct {
	known   bool   // next is set
	started bool   // next is the number of the next packet to take, not only the lowest seen
	next    uint32 // extended to 32 bits
	acked   bool
	ack     uint32 // number behind those that the receiver acknowledged

	held     []heldPacket // in order
	bytes    int          // of buffers in held
	behind   int          // packets that came since the gap opened
	silent   bool         // the receiver has sent nothing since then
	finished bool         // the connection was ended
	busy     bool         // packets of held are being taken
	gapEntry
}

// heldPacket is a packet behind a gap.
type heldPacket struct {
	requestPacket
	buf []byte // its headers and data, borrowed from the pool
	at  int64  // count of the source's frames when it came
}

const heldPacketSize = int(unsafe.Sizeof(heldPacket{}))

// unwrap extends the number of a packet from 24 to 32 bits: the result is near to o.next.
func (o *packetOrder) unwrap(psn uint32) uint32 {
	const shift = 32 - psnBits
	return o.next + uint32(int32((psn-o.next)<<shift)>>shift)
}

// arrive takes a packet if it is the next one in order, and holds it otherwise. Its number is
// o.next + d.
func (q *queuePair) arrive(src *source, g *requestPacket, d int32) {
	o := &q.order
	if o.started && len(o.held) == 0 {
		if d > 0 && !q.lnd.lnet {
			q.lnd.gap(q, int(d), Lost, g)
			o.next, d = g.psn, 0
		}
		if d == 0 && q.take(g, false) {
			q.releasePeer()
			return
		}
	}
	q.hold(src, g)
	q.updateGap()
	q.release()
	q.giveUpGaps(src)
}

// take passes the next packet in order to o2iblnd. It returns false if the packet has to
// wait for one of the other direction; with forced set no packet waits.
func (q *queuePair) take(g *requestPacket, forced bool) bool {
	if !q.lnd.take(q, g, forced) {
		return false
	}
	q.order.next = g.psn + 1
	return true
}

// hold adds a packet to the held ones, unless one with its number is held.
func (q *queuePair) hold(src *source, g *requestPacket) {
	o, pool := &q.order, &q.ib.out.pool
	if len(o.held) == 0 {
		o.behind, o.silent = 0, true
	}
	o.behind++
	i := len(o.held)
	for i > 0 && int32(o.held[i-1].psn-g.psn) > 0 {
		i--
	}
	if i > 0 && o.held[i-1].psn == g.psn {
		return
	}
	h := heldPacket{requestPacket: *g, at: src.frames}
	n := len(g.headers)
	h.buf = append(append(pool.get(n+len(g.data)), g.headers...), g.data...)
	h.headers, h.data = h.buf[:n:n], h.buf[n:]
	o.bytes += cap(h.buf)
	if o.held == nil {
		o.held = pool.packets.take()
	}
	pool.lent += heldPacketSize
	o.held = append(o.held, heldPacket{})
	copy(o.held[i+1:], o.held[i:])
	o.held[i] = h
	src.list(&o.gapEntry)
}

func (q *queuePair) holds() bool { return len(q.order.held) > 0 }

// updateGap files the queue pair under the frame of its first held packet.
func (q *queuePair) updateGap() {
	var first int64
	if held := q.order.held; len(held) > 0 {
		first = held[0].Order
	}
	q.ib.out.gaps.update(&q.order.gapEntry, first)
}

// release takes the held packets that have no gap before them.
func (q *queuePair) release() {
	o := &q.order
	if !o.started || o.busy {
		return
	}
	o.busy = true
	n := 0
	for n < len(o.held) {
		h := &o.held[n]
		if int32(h.psn-o.next) > 0 || h.psn == o.next && !q.take(&h.requestPacket, false) {
			break
		}
		n++
		q.releasePeer()
	}
	o.busy = false
	q.dropHeld(n)
}

// releasePeer takes the packets of the peer that waited for this queue pair.
func (q *queuePair) releasePeer() {
	if q.peer != nil && len(q.peer.order.held) > 0 {
		q.peer.release()
	}
}

// dropHeld removes the first n held packets, which were taken.
func (q *queuePair) dropHeld(n int) {
	if n == 0 {
		return
	}
	o, pool := &q.order, &q.ib.out.pool
	for i := range o.held[:n] {
		o.bytes -= cap(o.held[i].buf)
		pool.put(o.held[i].buf)
	}
	pool.lent -= n * heldPacketSize
	k := copy(o.held, o.held[n:])
	clear(o.held[k:])
	o.held = o.held[:k]
	if k > 0 {
		o.behind, o.silent = 0, true
	} else {
		pool.packets.put(o.held)
		o.held = nil
	}
	q.updateGap()
}

// giveUpGaps gives up gaps that will not be filled any more.
func (q *queuePair) giveUpGaps(src *source) {
	for len(q.order.held) > 0 && !q.order.busy && q.gapExpired(src) {
		q.giveUpGap()
	}
}

// gapExpired reports whether to give up the first gap: there is too much behind it, or its
// packet should have come. The same holds for a packet of the other direction that is
// waited for.
func (q *queuePair) gapExpired(src *source) bool {
	o, out := &q.order, q.ib.out
	first := &o.held[0]
	switch {
	case o.bytes > out.opt.MaxStream || len(o.held) > maxHeld || out.full():
		return true
	case src.frames-first.at < ReorderFrames:
		return false
	case !o.started, first.psn == o.next:
		return true
	case o.finished, o.acked && int32(o.ack-first.psn) >= 0, o.silent && o.behind >= maxUnacked:
		return true
	}
	return src.now-first.Time > maxGapAge
}

// giveUpGap gives up the packets missing before the first held one, or the wait of that
// packet for the other direction.
func (q *queuePair) giveUpGap() {
	o := &q.order
	first := &o.held[0]
	switch n := int32(first.psn - o.next); {
	case !o.started:
		o.started, o.next = true, first.psn
	case n > 0:
		why := Lost
		if q.ib.out.ending == EndOfFile && !(o.acked && int32(o.ack-first.psn) >= 0) {
			why = EndOfFile // they may have come later
		} else if q.lnd.lnet { // others may have READs, which take a number for each packet of the answer
			q.ib.stats.Gaps++
			q.ib.stats.LostPackets += int64(n)
		}
		q.lnd.gap(q, int(n), why, &first.requestPacket)
		o.next = first.psn
	case q.peer == nil && q.ib.giveUpEarlier(q, first.Order): // first may have waited for one of those
	default:
		o.busy = true
		q.take(&first.requestPacket, true)
		o.busy = false
		q.dropHeld(1)
		q.releasePeer()
	}
	q.release()
}

// giveUpEarlier gives up the first gap of each queue pair without a peer in the direction
// opposite to that of q, where a packet from before a frame is held behind it. It reports
// whether there was one.
func (t *infiniband) giveUpEarlier(q *queuePair, before int64) (any bool) {
	for _, other := range slices.Clone(t.unpaired[q.hosts().reverse()]) {
		if held := other.order.held; len(held) > 0 && held[0].Order < before && !other.order.busy {
			other.giveUpGap()
			any = true
		}
	}
	return any
}

// begin sets where the packets begin, as the connection manager announced it.
func (q *queuePair) begin(psn uint32) {
	o := &q.order
	if !o.known {
		o.known, o.next = true, psn
	}
	if !o.started {
		o.next = o.unwrap(psn)
		o.started = true
	}
	q.release()
}

// closeOrder takes all packets that the queue pair and its peer hold, in the order of the
// first held frames, since packets of one may wait for those of the other.
func (q *queuePair) closeOrder() {
	for {
		first := q
		if p := q.peer; p != nil && len(p.order.held) > 0 && (len(q.order.held) == 0 || p.order.held[0].Order < q.order.held[0].Order) {
			first = p
		}
		if len(first.order.held) == 0 {
			break
		}
		first.giveUpGap()
	}
	if n := q.sent.unseen.missing(); n > 0 {
		q.loseUnseen(n)
	}
	q.unseen.report(q)
}

// sentPackets follows the requests to a queue pair in the order of capture: it finds those
// that are sent again, the time until then, and the round trip to the acknowledgement.
type sentPackets struct {
	analysis  analysis // with packet sequence numbers in place of those of bytes
	unseen    unseen   // counts packets
	ackWanted uint32   // number behind the last packet that asks for an acknowledgement
	again     []resentPackets
	run       resentRun // of packets that were sent again last
	refused   uint32    // number of the packet that the last NAK refused
	refusedAt int64     // time of that NAK
	nak       bool      // that packet has not been sent again since
}

// resentRun are packets that were sent again one after the other.
type resentRun struct {
	from, to uint32
	time     int64 // of the last one
}

// resentPackets are packets that were sent again.
type resentPackets struct {
	from, to    uint32
	packets     int
	first, last int64 // when they were sent first, and again; first is 0 when unknown
	spurious    bool  // the receiver had acknowledged them
	notCaptured bool  // the first transmission was not
}

// sentPacket records a packet in the order of capture. It reports whether the packet was
// sent again and its first transmission was not captured.
func (q *queuePair) sentPacket(p *link.Packet, psn uint32) bool {
	s := &q.sent
	a := &s.analysis
	if !a.started {
		a.started, a.next = true, psn
	}
	if s.nak && psn == s.refused {
		defer func() { s.nak = false }()
	}
	d := int32(psn - a.next)
	if d < 0 {
		return q.outOfSequence(p, psn)
	}
	h := a.remembered()
	if d > 0 {
		h.addTime(sendTime{seq: a.next, time: p.Time, missing: dataAhead})
		a.next = psn
		a.rtt.cancel()
	}
	if k := len(h.times); k == 0 || h.times[k-1].missing != captured || p.Time-h.times[k-1].time >= sendTimeStep {
		h.addTime(sendTime{seq: psn, time: p.Time})
	}
	a.next++
	a.raised = p.Time
	s.unseen.saw(a.next, p.Time)
	if p.BTH.AckRequest {
		s.ackWanted = a.next
		a.rtt.begin(a.next, p.Time)
	}
	return false
}

// outOfSequence records a packet whose number is lower than that of an earlier one. It
// reports whether the packet was sent again and its first transmission was not captured.
func (q *queuePair) outOfSequence(p *link.Packet, psn uint32) (again bool) {
	s, o, stats := &q.sent, &q.order, &q.ib.stats
	before := o.started && int32(psn-o.next) < 0 || o.holds(psn)
	late := p.Time-s.analysis.raised >= resentAge || s.nak && int32(psn-s.refused) >= 0
	if !before && !late {
		stats.OutOfOrder++
		return false
	}
	first, known := s.analysis.timeOf(psn)
	if s.isCopy(p, psn, before && known && first.missing == captured, first.time) {
		return false
	}
	stats.Retransmits++
	s.analysis.rtt.cancel()
	r := resentPackets{from: psn, to: psn + 1, packets: 1, last: p.Time, notCaptured: !before}
	r.spurious = o.acked && int32(o.ack-psn) > 0
	if known {
		r.first = first.time
	}
	if psn != s.run.to {
		s.run.from = psn
		if !r.spurious && q.lnd.lnet {
			q.event(IBEvent{Frame: p.Frame, PSN: p.BTH.PSN, Again: true, FirstSent: r.first})
		}
	}
	s.run.to, s.run.time = psn+1, p.Time
	s.resent(&r)
	return !before
}

// isCopy reports whether a packet is the same one again, as mirrored ports show it: a sender waits for
// longer, or for a NAK. sent is when it was sent first, if it was captured.
func (s *sentPackets) isCopy(p *link.Packet, psn uint32, captured bool, sent int64) bool {
	switch {
	case s.nak && psn == s.refused, psn == s.run.to && sent <= s.run.time && p.Time-s.run.time < copyAge:
		return false
	case int32(psn-s.run.from) >= 0 && int32(psn-s.run.to) < 0 && p.Time-s.run.time < copyAge:
		return true
	}
	return captured && p.Time-sent < copyAge
}

// holds reports whether a packet is held.
func (o *packetOrder) holds(psn uint32) bool {
	for i := len(o.held); i > 0; i-- {
		if d := int32(o.held[i-1].psn - psn); d <= 0 {
			return d == 0
		}
	}
	return false
}

// resent records packets that were sent again, for the messages in them: those that were
// handed out, and those that are not complete.
func (s *sentPackets) resent(r *resentPackets) {
	sent := &s.analysis.remembered().sent
	var t Transfer
	r.add(&t)
	for i := range sent.ring {
		if m := &sent.ring[i]; int32(r.to-m.from) > 0 && int32(m.to-r.from) > 0 {
			sent.report(m.number, &t)
		}
	}
	if sent.any && int32(r.to-sent.end) <= 0 {
		return
	}
	again := s.again
	if k := len(again); k > 0 {
		last := &again[k-1]
		if last.to == r.from && last.spurious == r.spurious && last.notCaptured == r.notCaptured || k == maxResentRanges {
			last.from, last.to = lower(last.from, r.from), higher(last.to, r.to)
			last.packets++
			last.last = r.last
			return
		}
	}
	s.again = append(again, *r)
}

// add adds the packets, and the latency that sending them again cost, to t.
func (r *resentPackets) add(t *Transfer) {
	one := Transfer{Resent: r.packets, NotCaptured: r.notCaptured}
	switch {
	case r.spurious:
		one.Timed = r.packets
	case r.first != 0:
		one.Timed = r.packets
		one.lose(r.first, r.last)
	}
	t.Add(&one)
}

// transfer sets m.Transfer of a complete message, whose packets have the numbers from from up
// to to, and records the message, since its packets may be sent again later. acked is set
// if they were acknowledged before, while the message was held.
func (s *sentPackets) transfer(m *Message, from, to uint32, acked bool) {
	m.Transfer, m.RoundTrips = Transfer{RTT: s.analysis.rtt.least()}, s.analysis.rtt.recent.take()
	if len(s.again) > 0 {
		keep := s.again[:0]
		for i := range s.again {
			r := &s.again[i]
			if int32(r.to-from) > 0 && int32(to-r.from) > 0 {
				r.add(&m.Transfer)
			}
			if int32(r.to-to) > 0 {
				keep = append(keep, *r)
			}
		}
		s.again = keep
	}
	sent := &s.analysis.remembered().sent
	sent.add(sentMessage{from: from, to: to, number: m.Number, time: m.Time})
	if acked {
		sent.pending = 0
	}
}

// IBEvent tells that Dst refused a packet of Src, or that Src sent one again.
type IBEvent struct {
	link.Frame // with the negative acknowledgement, or with the packet that was sent again
	Source     int
	Conn       int // number of the connection; -1 before its first message
	Src, Dst   netip.AddrPort
	PSN        uint32      // of the packet; the sender's id of a message of the connection manager
	Syndrome   ib.Syndrome // of a negative acknowledgement
	Again      bool        // this packet and those behind it were sent again
	FirstSent  int64       // of one that was sent again: when it was sent first; 0 when unknown
}

// refuse passes on that p refuses a packet to a queue pair.
func (t *infiniband) refuse(q *queuePair, p *link.Packet) {
	t.stats.Naks++
	if p.Syndrome.RNR() {
		t.stats.RNR++
	}
	q.event(IBEvent{Frame: p.Frame, PSN: p.BTH.PSN, Syndrome: p.Syndrome})
}

// event passes on an event of packets to the queue pair.
func (q *queuePair) event(e IBEvent) {
	e.Source, e.Conn = int(q.key.source), q.conn
	e.Src, e.Dst = q.ends()
	q.ib.pass(e)
}

// pass passes on an event.
func (t *infiniband) pass(e IBEvent) {
	if hook := t.out.opt.IBEvent; hook != nil {
		t.out.ibEvent = e
		hook(&t.out.ibEvent)
	}
}

// acknowledge handles an ACK or NAK of packets to this queue pair.
func (q *queuePair) acknowledge(src *source, p *link.Packet) {
	o, s := &q.order, &q.sent
	if !o.known {
		return
	}
	last := o.next
	if s.analysis.started {
		last = s.analysis.next
	}
	ack := o.unwrap(p.BTH.PSN)
	if d := int32(ack - last); d > maxBehind || d < -maxBehind {
		return // of another queue pair with this number
	}
	if p.Syndrome.ACK() {
		ack++
	} else if !s.nak || s.refused != ack || p.Time-s.refusedAt >= copyAge {
		q.ib.refuse(q, p)
		s.nak, s.refused, s.refusedAt = true, ack, p.Time
	}
	o.silent = false
	if !o.acked || int32(ack-o.ack) > 0 {
		o.acked, o.ack = true, ack
		s.analysis.rtt.end(ack, p.Time, false)
		s.analysis.remembered().sent.acknowledge(ack, p.Time)
	}
	if lost := s.unseen.prove(ack, p.Time); lost > 0 {
		q.loseUnseen(lost)
	}
	if len(o.held) > 0 {
		q.giveUpGaps(src)
	}
}

// loseUnseen reports packets that were acknowledged and not captured.
func (q *queuePair) loseUnseen(n int64) {
	u := &q.sent.unseen
	q.lose(n, Lost, u.from, u.to)
	u.captured, u.last, u.from = u.proven, u.to, 0
}

// lose reports n packets to this queue pair that were not captured, and were sent between
// two times.
func (q *queuePair) lose(n int64, why Why, from, until int64) {
	if !q.lnd.lnet || q.ib.out.opt.Lost == nil || n <= 0 {
		return
	}
	if from == 0 || from > until {
		from = until
	}
	src, dst := q.ends()
	l := Loss{Source: int(q.key.source), Src: src, Dst: dst, From: from, To: until, Bytes: q.lnd.bytes(n), Why: why,
		NIDs: connectionNIDs(q)}
	l.maybeBefore(q.ib.out.begins[l.Source])
	q.ib.out.report(l)
}

// connectionNIDs returns the NIDs seen on the connection of a queue pair.
func connectionNIDs(q *queuePair) []NID {
	if nids := q.nids.list; len(nids) > 0 || q.peer == nil {
		return nids
	}
	return q.peer.nids.list
}

// unseenRequests counts the requests that a queue pair has sent and that were not captured,
// by the acknowledgements to it. It is used while the peer is unknown, as in a capture of
// one direction.
type unseenRequests struct {
	known    bool
	psn      uint32 // of the last acknowledgement
	time     int64
	from     int64 // the requests not reported yet were sent between from and time
	packets  int64 // number of the requests not reported yet
	srcPort  uint16
	receiver [16]byte
}

// acknowledge records p, an acknowledgement to the queue pair.
func (u *unseenRequests) acknowledge(p *link.Packet) {
	n, from := int64(1), p.Time
	if u.known {
		n, from = int64(int32(p.BTH.PSN-u.psn)<<(32-psnBits)>>(32-psnBits)), u.time
	}
	switch {
	case n <= 0:
		return
	case n > maxBehind:
		n, from = 1, p.Time // of another queue pair with this number
	}
	if u.packets == 0 {
		u.from = from
	}
	u.packets += n
	u.known, u.psn, u.time, u.srcPort, u.receiver = true, p.BTH.PSN, p.Time, p.SrcPort, p.Src
}

// report reports the requests as a loss, if the queue pair q carries LNet and no captured
// packet can be one of them.
func (u *unseenRequests) report(q *queuePair) {
	t := q.ib
	if u.packets == 0 || !q.lnd.lnet || t.out.opt.Lost == nil || t.unpaired.any(hosts{q.key.addr, u.receiver, q.key.source}) {
		return
	}
	src, dst := packetEnds(q.key.addr, u.receiver, u.srcPort)
	l := Loss{Source: int(q.key.source), Src: src, Dst: dst, From: u.from, To: u.time, Bytes: q.lnd.bytes(u.packets), Why: Lost,
		OneWay: true, NIDs: connectionNIDs(q)}
	l.maybeBefore(t.out.begins[l.Source])
	t.out.report(l)
	u.packets = 0
}
