package lnet

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
)

// Bounds of transfers.
const (
	maxTransfers = 1024 // of a queue pair, requested and not complete
	maxSpare     = 1024 // records kept for reuse
	transferSize = int(unsafe.Sizeof(transfer{}))
	maxParts     = 3 // o2iblnd messages of a transfer
)

// transfer is an LNet message whose payload comes in RDMA writes: one that a PUT_REQ
// announces, or the REPLY to the GET in a GET_REQ. The DONE after the writes completes it.
type transfer struct {
	partial // the headers and the payload so far

	owner       *queuePair // that the request was sent to
	get         bool       // requested by GET_REQ, not PUT_REQ
	requested   bool       // the request was captured
	targetKnown bool       // to is set, by the GET_REQ or PUT_ACK
	cookie      uint64     // of the request
	sink        uint64     // cookie of the PUT_ACK, which the PUT_DONE returns
	reply       Header     // LNet header of the REPLY
	head        kibHead    // of the request
	status      int32

	parts transferParts
	to    target

	first      packetID // first packet of the first write, if it was captured
	from       uint32   // number of the first packet of the writes, or of the request
	last       link.Frame
	writes     IBWrites
	places     placeList
	frames     frameList
	damaged    bool // a checksum is wrong
	wantCalled bool // Options.Want was called
}

// transferParts has the o2iblnd messages of a transfer, one after another in buf.
type transferParts struct {
	buf  []byte // borrowed from the pool
	list [maxParts]transferPart
	n    int
}

// transferPart is an o2iblnd message of a transfer.
type transferPart struct {
	frame link.Frame
	kind  uint8
	end   int // offset in transferParts.buf; it begins where the one before ends
}

// target is the memory that the writes of a transfer go to, as described in a PUT_ACK or
// GET_REQ.
type target struct {
	order     order
	key       uint32
	fragments int // that were captured
	cut       bool
	off       int // of the first one in transferParts.buf
	total     int // bytes of all
}

// writes follows the RDMA writes to a queue pair.
type writes struct {
	current *transfer // to which the write in progress belongs, nil while unknown
	pos     int       // where its next byte goes in the payload
	left    int       // bytes of it to come; 0 when no write with a captured RETH is in progress

	awaitsDone *transfer // of the last write, until its DONE comes
	gap        bool      // packets are missing since that write
	run        writeRun
}

// writeRun is a part of a write whose first packet, with the address, is in a gap. Its place
// in the payload is known when the next write or the DONE comes.
type writeRun struct {
	partial
	writes IBWrites
	places placeList // with offsets in the run
	frames frameList
}

// newTransfer adds a transfer whose request was sent to q. It abandons the oldest ones when
// there are too many.
func (t *infiniband) newTransfer(q *queuePair, get bool, cookie uint64) *transfer {
	for l := &q.lnd; len(l.requests) >= maxTransfers || len(l.requests) > 0 && t.out.full(); {
		l.requests[0].abandon()
	}
	var x *transfer
	if n := len(t.spare); n > 0 {
		x, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		x = new(transfer)
	}
	t.out.pool.lent += transferSize
	x.owner, x.get, x.cookie = q, get, cookie
	q.lnd.requests = append(q.lnd.requests, x)
	return x
}

// drop removes a transfer, which was handed out or lacks its request.
func (x *transfer) drop() {
	q := x.owner
	t := q.ib
	pool := &t.out.pool
	l := &q.lnd
	if i := slices.Index(l.requests, x); i >= 0 {
		l.requests = slices.Delete(l.requests, i, i+1)
	}
	l.writes.forget(x)
	if q.peer != nil {
		q.peer.lnd.writes.forget(x)
	}
	x.partial.release(pool)
	pool.put(x.parts.buf)
	x.frames.keepLast(pool)
	x.places.release(pool)
	pool.lent -= transferSize
	*x = transfer{frames: x.frames[:0], places: x.places}
	if len(t.spare) < maxSpare {
		t.spare = append(t.spare, x)
	}
}

// forget removes a transfer from w, which is about to be dropped.
func (w *writes) forget(x *transfer) {
	if w.current == x {
		w.current = nil
	}
	if w.awaitsDone == x {
		w.awaitsDone = nil
	}
}

// transferList has transfers in the order of their requests.
type transferList []*transfer

// byCookie returns the transfer with a cookie in its request, or nil.
func (l transferList) byCookie(get bool, cookie uint64) *transfer {
	return l.newest(func(x *transfer) bool { return x.get == get && x.cookie == cookie })
}

// bySink returns the transfer with a cookie in its PUT_ACK, or nil.
func (l transferList) bySink(cookie uint64) *transfer {
	return l.newest(func(x *transfer) bool { return !x.get && x.targetKnown && x.sink == cookie })
}

// byAddress returns the transfer with an address in its descriptor, or nil.
func (l transferList) byAddress(get bool, key uint32, va uint64) *transfer {
	return l.newest(func(x *transfer) bool {
		_, ok := x.position(key, va)
		return ok && x.get == get
	})
}

// newest returns the most recently requested transfer for which fits returns true, or nil.
func (l transferList) newest(fits func(x *transfer) bool) *transfer {
	for i := len(l) - 1; i >= 0; i-- {
		if fits(l[i]) {
			return l[i]
		}
	}
	return nil
}

// unanswered returns the PUT of n bytes whose PUT_ACK did not come, nil unless there is
// exactly one; any reports whether there are such PUTs of any size.
func (l transferList) unanswered(n int) (only *transfer, any bool) {
	several := false
	for _, x := range l {
		if x.get || x.targetKnown {
			continue
		}
		any = true
		if x.size-x.payloadOff == n {
			several = several || only != nil
			only = x
		}
	}
	if several {
		return nil, true
	}
	return only, any
}

// addPart adds an o2iblnd message to a transfer.
func (x *transfer) addPart(k *kibMessage) {
	if x.parts.n == maxParts {
		return
	}
	out := x.owner.ib.out
	x.parts.buf = append(out.pool.grow(x.parts.buf, len(k.data)), k.data...)
	x.parts.list[x.parts.n] = transferPart{k.at, k.kind, len(x.parts.buf)}
	x.parts.n++
	x.damaged = x.damaged || k.sum != 0 && len(k.data) == k.size && O2IBChecksum(k.data) != k.sum
	x.last = later(x.last, k.at)
	if out.opt.Frames {
		for _, order := range k.frames {
			x.frames.add(order, len(x.frames) > 0, out)
		}
	}
}

// later returns the frame with the higher number.
func later(a, b link.Frame) link.Frame {
	if a.Order > b.Order {
		return a
	}
	return b
}

// setTarget reads the descriptor at an offset of an o2iblnd message, which is the last part
// of the transfer.
func (x *transfer) setTarget(k *kibMessage, off int) {
	x.targetKnown = true
	if len(k.data) < off+kibFrags {
		x.to.cut = true
		return
	}
	d := k.data[off:]
	n := k.order.u32(d[4:])
	captured := (len(d) - kibFrags) / kibFragSize
	x.to = target{order: k.order, key: k.order.u32(d), fragments: min(int(min(n, MaxKib)), captured), cut: int64(n) > int64(captured)}
	x.to.off = len(x.parts.buf) - len(k.data) + off + kibFrags
	for i := range x.to.fragments {
		x.to.total += int(x.fragmentSize(i))
	}
	x.to.total = min(x.to.total, maxPayload)
}

// fragmentSize returns the size of a fragment.
func (x *transfer) fragmentSize(i int) uint32 {
	return x.to.order.u32(x.parts.buf[x.to.off+i*kibFragSize:])
}

// position returns the offset in the payload that a write to an address fills. It reports
// whether the address is in the memory of the transfer.
func (x *transfer) position(key uint32, va uint64) (pos int, ok bool) {
	if !x.targetKnown || key != x.to.key {
		return 0, false
	}
	for i := range x.to.fragments {
		size := x.fragmentSize(i)
		addr := x.to.order.u64(x.parts.buf[x.to.off+i*kibFragSize+4:])
		if va-addr < uint64(size) {
			return min(pos+int(va-addr), maxPayload), true
		}
		pos += int(size)
	}
	return x.have - x.payloadOff, x.to.cut
}

// request handles a PUT_REQ or GET_REQ.
func (l *o2iblnd) request(q *queuePair, k *kibMessage) {
	p, out := k.body, q.ib.out
	if !p.setLNet(k.data) {
		l.other(q, k, Unknown)
		return
	}
	get := k.kind == KibGetReq
	if get || len(k.data) < kibReqSize {
		l.requestMessage(q, k)
	}
	if len(k.data) < kibReqSize {
		return
	}
	cookie := k.order.u64(k.data[kibPayload:])
	x := l.requests.byCookie(get, cookie)
	if x == nil || x.requested {
		x = q.ib.newTransfer(q, get, cookie)
	}
	x.requested, x.head, x.from = true, k.kibHead, p.seq
	x.retransmitted = p.retransmitted
	x.partial.order, x.seq = k.order, p.seq
	x.addPart(k)
	var h Header
	decodeLNet(&h, formShort, k.data[KibSize:])
	if get {
		x.setTarget(k, kibReqSize)
		x.partial.kind, x.lnetOff, x.payloadOff = Noop, -1, 0
		x.size = x.to.total
		if x.to.cut {
			x.size = int(min(h.Sink, maxPayload))
		}
		x.reply = replyHeader(&h, x.size)
	} else {
		x.partial.kind, x.form, x.lnetOff, x.payloadOff = Unknown, formShort, KibSize, kibPayload
		x.buf = append(out.pool.get(kibPayload), k.data[:kibPayload]...)
		x.have = kibPayload
		x.size = kibPayload + int(min(h.Length, maxPayload))
		if x.targetKnown && !x.to.cut {
			x.size = min(x.size, kibPayload+x.to.total)
		}
	}
	x.keep = x.size
	x.callWant(k)
}

// callWant calls Options.Want, once, and sets how many bytes to keep. It does so for a REPLY
// only when the queue pair is known to which it is sent.
func (x *transfer) callWant(k *kibMessage) {
	out := x.owner.ib.out
	if x.wantCalled || !x.requested || x.sender() == nil {
		return
	}
	x.wantCalled = true
	if out.opt.Want != nil {
		x.fillMessage(*k)
		out.msg.Data = x.buf
		x.keepOnly(x.payloadOff + max(0, out.opt.Want(&out.msg)))
	}
	x.keepOnly(out.affordable(x.keep))
}

// replyHeader returns the LNet header of the REPLY to a GET_REQ, which is not sent.
func replyHeader(get *Header, length int) Header {
	return Header{Type: TypeReply, Src: get.Dst, Dst: get.Src, Length: uint32(length), Handle: get.Handle}
}

// requestMessage hands out a GET_REQ as GET, or a PUT_REQ whose end was not captured.
func (l *o2iblnd) requestMessage(q *queuePair, k *kibMessage) {
	p := k.body
	p.trim(kibPayload)
	data := k.data[:min(len(k.data), kibPayload)]
	q.describe(k, p, data)
	if k.kind == KibPutReq {
		p.size += int(min(q.ib.out.msg.LNet.Length, maxPayload))
		p.keep = p.size
		p.miss(p.size-p.have, Snaplen, q.ib.out)
		q.describe(k, p, data)
	}
	q.emit(k, p, data, p.seq)
}

// answerReady reports whether a PUT_ACK or PUT_NAK need not wait for its PUT_REQ, which was
// sent in the other direction.
func (l *o2iblnd) answerReady(q *queuePair, k *kibMessage) bool {
	if len(k.data) < kibDoneSize {
		return true
	}
	x := l.answeredTransfer(q, k)
	return x != nil && x.requested || q.peer != nil && k.kind == KibPutAck
}

// answeredTransfer returns the transfer that a PUT_ACK or PUT_NAK answers, nil if it is unknown.
func (l *o2iblnd) answeredTransfer(q *queuePair, k *kibMessage) *transfer {
	cookie := k.order.u64(k.data[KibSize:])
	q.ib.pairByRequest(q, func(l *o2iblnd) bool { return l.requests.byCookie(false, cookie) != nil })
	if q.peer == nil {
		return nil
	}
	return q.peer.lnd.requests.byCookie(false, cookie)
}

// answer handles a PUT_ACK or PUT_NAK.
func (l *o2iblnd) answer(q *queuePair, k *kibMessage) {
	if len(k.data) < kibDoneSize {
		return
	}
	x := l.answeredTransfer(q, k)
	if q.peer == nil {
		return
	}
	if k.kind == KibPutNak {
		if x != nil && x.requested && !x.targetKnown {
			x.addPart(k)
			x.status = int32(k.order.u32(k.data[KibSize+8:]))
			x.refuse(k)
		}
		return
	}
	if x != nil && x.targetKnown || len(k.data) < kibAckDesc {
		return
	}
	if x == nil {
		x = q.ib.newTransfer(q.peer, false, k.order.u64(k.data[KibSize:]))
	}
	x.sink = k.order.u64(k.data[KibSize+8:])
	x.addPart(k)
	x.setTarget(k, kibAckDesc)
	if x.requested && !x.to.cut {
		x.size = min(x.size, kibPayload+x.to.total)
		x.keepOnly(x.size)
	}
}

// refuse hands out a PUT that the receiver refused with k, a PUT_NAK.
func (x *transfer) refuse(k *kibMessage) {
	done := *k
	done.end = x.from + 1
	x.trim(x.have)
	x.fillMessage(done)
	x.owner.ib.out.msg.Note("rdma_failed", fmt.Sprintf("the receiver refused the data: PUT_NAK with status %d", x.status))
	x.handOut(&done)
}

// takeWrite takes a packet of an RDMA write. It returns false if the packet has to wait
// for the message that describes where it goes.
func (l *o2iblnd) takeWrite(q *queuePair, g *requestPacket, forced bool) bool {
	w := &l.writes
	if g.opcode.First() {
		x := l.locate(q, g)
		if (x == nil || !x.requested) && !forced {
			return false
		}
		pos := 0
		if x != nil {
			pos, _ = x.position(g.rkey, g.va)
		} else {
			x, _ = l.requests.unanswered(int(g.length))
		}
		l.beginWrite(q, g, x, pos)
	}
	if w.left == 0 {
		w.run.take(g, q.ib.out)
		return true
	}
	if x := w.current; x != nil {
		x.write(w.pos, g, q.ib.out)
	} else {
		q.ib.stats.Unjoined += int64(g.size)
	}
	w.pos += g.size
	w.left -= min(w.left, g.size)
	if g.opcode.Last() {
		w.left = 0
	}
	return true
}

// locate returns the transfer that a write belongs to, nil if it is unknown.
func (l *o2iblnd) locate(q *queuePair, g *requestPacket) *transfer {
	if x := l.requests.byAddress(false, g.rkey, g.va); x != nil {
		return x
	}
	q.ib.pairByRequest(q, func(l *o2iblnd) bool { return l.requests.byAddress(true, g.rkey, g.va) != nil })
	if q.peer == nil {
		return nil
	}
	return q.peer.lnd.requests.byAddress(true, g.rkey, g.va)
}

// beginWrite begins a write at a position of the payload of a transfer, which is nil if it
// is unknown.
func (l *o2iblnd) beginWrite(q *queuePair, g *requestPacket, x *transfer, pos int) {
	w := &l.writes
	if w.awaitsDone != x {
		w.abandonLost()
	}
	if x != nil {
		w.run.moveTo(x, pos, q.ib.out)
		if x.writes.Packets == 0 {
			x.writes.VA, x.writes.RKey = g.va, g.rkey
			x.first.set(g)
			x.callWant(&kibMessage{kibHead: x.head, id: &x.first, at: g.Frame})
		}
		w.awaitsDone, w.gap = x, false
	}
	w.run.drop(q.ib)
	w.current, w.pos, w.left = x, pos, max(int(min(g.length, maxPayload)), g.size)
}

// write adds the payload of a packet, which belongs to a position of the payload of the
// transfer.
func (x *transfer) write(pos int, g *requestPacket, out *output) {
	if x.writes.Packets == 0 {
		x.from = g.psn
		x.writes.First = g.Frame
	}
	x.writes.Packets++
	x.writes.Bytes += g.size
	x.writes.Last = g.Frame
	x.last = later(x.last, g.Frame)
	x.retransmitted = x.retransmitted || g.again
	if out.opt.Frames {
		x.frames.add(g.Order, true, out)
		x.places.add(IBPlace{g.psn, x.payloadOff + pos, g.size}, out)
	}
	x.place(x.payloadOff+pos, g.data, g.size, out)
}

// place puts size bytes, of which data were captured, at an offset of the message. The bytes
// between them and the ones before are missing.
func (p *partial) place(off int, data []byte, size int, out *output) {
	if n := p.have - off; n > 0 {
		data, size = data[min(n, len(data)):], size-n
	} else {
		p.miss(-n, Lost, out)
	}
	if size > 0 {
		p.add(data, size, out)
	}
}

// skip takes a packet in the middle of a write if none of its bytes are needed. It returns
// false if they are, or if the packet is another one.
func (w *writes) skip(q *queuePair, p *link.Packet) bool {
	x := w.current
	if x == nil || p.BTH.Opcode.First() || p.BTH.Opcode.Last() || w.left <= p.Size || !x.skipping() ||
		x.have != x.payloadOff+w.pos || x.size-x.have < p.Size || q.ib.out.opt.Frames {
		return false
	}
	x.have += p.Size
	w.pos += p.Size
	w.left -= p.Size
	q.lnd.taken = p.Time
	x.writes.Packets++
	x.writes.Bytes += p.Size
	x.writes.Last = p.Frame
	x.last = later(x.last, p.Frame)
	return true
}

// take adds a packet.
func (r *writeRun) take(g *requestPacket, out *output) {
	if r.size == 0 {
		r.size = maxPayload
		r.keep = out.affordable(r.size)
		r.seq = g.psn
		r.writes = IBWrites{First: g.Frame}
	}
	if out.opt.Frames {
		r.frames.add(g.Order, r.writes.Packets > 0, out)
		r.places.add(IBPlace{g.psn, r.have, g.size}, out)
	}
	r.writes.Packets++
	r.writes.Bytes += g.size
	r.writes.Last = g.Frame
	r.retransmitted = r.retransmitted || g.again
	r.add(g.data, g.size, out)
}

// moveTo adds the run to a transfer, before the offset end of the payload.
func (r *writeRun) moveTo(x *transfer, end int, out *output) {
	if r.have == 0 || end < r.have || end > x.size-x.payloadOff {
		return
	}
	w := &x.writes
	if w.Packets == 0 {
		x.from, w.First = r.seq, r.writes.First
	}
	w.Packets += r.writes.Packets
	w.Bytes += r.writes.Bytes
	w.Last = r.writes.Last
	x.last = later(x.last, w.Last)
	x.retransmitted = x.retransmitted || r.retransmitted
	for _, order := range r.frames {
		x.frames.add(order, true, out)
	}
	off, at := x.payloadOff+end-r.have, 0
	for _, p := range r.places {
		x.places.add(IBPlace{p.PSN, off + p.Off, p.Len}, out)
	}
	for _, h := range r.holes {
		x.place(off+at, r.buf[at:h.Off], h.Off-at, out)
		x.place(off+h.Off, nil, h.Len, out)
		at = h.Off + h.Len
	}
	x.place(off+at, r.buf[min(at, len(r.buf)):], r.have-at, out)
	r.have = 0
}

// placeList has the places of packets of RDMA writes, for IBWrites.Places.
type placeList []IBPlace

// idlePlaces is for how many packets the list of a transfer that ended may have room: a
// transfer of 1 MiB takes 1024 packets of 1 KiB.
const idlePlaces = 1024

const placeSize = int(unsafe.Sizeof(IBPlace{}))

// add adds a place, unless too much is held.
func (l *placeList) add(p IBPlace, out *output) {
	if out.full() {
		return
	}
	p.PSN &= 1<<psnBits - 1
	*l = append(*l, p)
	out.pool.lent += placeSize
}

// release empties the list.
func (l *placeList) release(pool *pool) {
	pool.lent -= len(*l) * placeSize
	if cap(*l) > idlePlaces {
		*l = nil
	}
	*l = (*l)[:0]
}

// drop ends the run. It counts bytes that were not moved to a transfer as unjoined.
func (r *writeRun) drop(t *infiniband) {
	t.stats.Unjoined += int64(r.have)
	r.release(&t.out.pool)
	r.frames.keepLast(&t.out.pool)
	r.frames = r.frames[:0]
	r.places.release(&t.out.pool)
}

// end ends the write in progress: the next message is not the DONE of these writes.
func (w *writes) end(t *infiniband) {
	w.run.drop(t)
	w.current, w.left = nil, 0
	w.abandonLost()
}

// abandonLost hands out the transfer that awaits its DONE, if packets after its writes were
// lost: its DONE must be one of them.
func (w *writes) abandonLost() {
	x, lost := w.awaitsDone, w.gap
	w.awaitsDone, w.gap = nil, false
	if x != nil && lost {
		x.abandon()
	}
}

// gapInWrites handles n missing packets before next. It returns how many of them belong to a
// known transfer.
func (l *o2iblnd) gapInWrites(q *queuePair, n int, next *requestPacket) (inside int) {
	w := &l.writes
	w.run.drop(q.ib)
	w.gap = true
	if w.left > 0 {
		inside = min(n, l.packets(w.left))
		if n < l.packets(w.left) && next.opcode.Operation() == ib.Write && !next.opcode.First() {
			w.pos += n * l.mtu
			w.left -= n * l.mtu
			return n
		}
	} else if x := w.awaitsDone; x != nil {
		inside = min(n, l.packets(x.size-x.have)+1) // and the DONE
	}
	w.current, w.left = nil, 0
	return inside
}

// finishTransfer takes a PUT_DONE or GET_DONE. It returns false if it has to wait for a
// message of the other direction.
func (l *o2iblnd) finishTransfer(q *queuePair, k *kibMessage, forced bool) bool {
	if len(k.data) < kibDoneSize {
		l.writes.end(q.ib)
		return true
	}
	cookie, status := k.order.u64(k.data[KibSize:]), int32(k.order.u32(k.data[KibSize+8:]))
	x, wait := l.transferOf(q, k, cookie)
	if x == nil || !x.requested {
		if !forced && wait {
			return false
		}
		if x != nil {
			q.ib.stats.Unjoined += int64(x.writes.Bytes)
			x.drop()
		}
		l.writes.end(q.ib)
		return true
	}
	if l.writes.awaitsDone != x {
		l.writes.abandonLost()
	}
	x.finish(q, k, status)
	return true
}

// transferOf returns the transfer that a DONE belongs to, nil if it is unknown; wait
// reports whether a later message of the other direction may identify it.
func (l *o2iblnd) transferOf(q *queuePair, k *kibMessage, cookie uint64) (x *transfer, wait bool) {
	if k.kind == KibGetDone {
		q.ib.pairByRequest(q, func(l *o2iblnd) bool { return l.requests.byCookie(true, cookie) != nil })
		if q.peer == nil {
			return nil, true
		}
		return q.peer.lnd.requests.byCookie(true, cookie), true
	}
	if x = l.requests.bySink(cookie); x != nil {
		return x, true
	}
	if c := l.writes.awaitsDone; c != nil && !c.get && !c.targetKnown {
		return c, false
	}
	_, wait = l.requests.unanswered(0)
	return nil, wait
}

// finish hands out a transfer that is complete, with k, its DONE, which was sent to q.
func (x *transfer) finish(q *queuePair, k *kibMessage, status int32) {
	out := q.ib.out
	x.status = status
	x.addPart(k)
	end := x.size - x.payloadOff
	if x.get && status >= 0 {
		end = min(int(status), end)
	}
	q.lnd.writes.run.moveTo(x, end, out)
	q.lnd.writes.forget(x)
	q.lnd.writes.end(q.ib)
	switch {
	case status < 0:
		x.trim(x.have)
	case x.get:
		x.trim(max(end, x.have))
	}
	x.miss(x.size-x.have, Lost, out)
	if x.get {
		x.reply.Length = uint32(x.size)
	}
	q.ib.stats.Joined++
	done := *k
	x.fillMessage(done)
	if status < 0 {
		out.msg.Note("rdma_failed", fmt.Sprintf("the sender did not write the data: status %d", status))
	}
	x.handOut(&done)
}

// abandon hands out a transfer whose DONE was not captured.
func (x *transfer) abandon() {
	if !x.requested || x.get && (x.owner.peer == nil || x.writes.Packets == 0) {
		x.drop()
		return
	}
	var id packetID
	id.psn = x.from
	k := kibMessage{kibHead: x.head, id: &id, end: x.from + uint32(max(1, x.writes.Packets))}
	out := x.owner.ib.out
	x.fillMessage(k)
	if code := "truncated"; x.have == x.size {
		if out.ending == Lost {
			code = "gap"
		}
		out.msg.Note(code, fmt.Sprintf("the end of the transfer is %s", out.ending))
	}
	x.handOut(&k)
}

// fillMessage sets the fields of the shared Message that the headers of a transfer
// determine. The o2iblnd message k completes the transfer.
func (x *transfer) fillMessage(k kibMessage) {
	q := x.sender()
	k.at, k.frames, k.version = later(x.last, k.at), x.frames, x.head.version
	q.describe(&k, &x.partial, x.buf)
	m, r := &q.ib.out.msg, &q.ib.message
	if x.get {
		m.LNet, m.Kind = x.reply, GetReply
	}
	parts := q.ib.parts[:0]
	begin := 0
	for _, p := range x.parts.list[:x.parts.n] {
		back := p.kind == KibPutAck || p.kind == KibPutNak || p.kind == KibGetReq
		parts = append(parts, IBPart{Frame: p.frame, Back: back, Data: x.parts.buf[begin:p.end]})
		begin = p.end
	}
	q.ib.parts, r.Parts = parts, parts
	r.Writes, r.Status = x.writes, x.status
	r.Writes.Headers, r.Writes.Places = x.first.headers[:x.first.n], x.places
}

// sender returns the queue pair that the payload is sent to.
func (x *transfer) sender() *queuePair {
	if x.get {
		return x.owner.peer
	}
	return x.owner
}

// handOut hands out a transfer, whose fields are set in the shared Message, and drops it.
func (x *transfer) handOut(k *kibMessage) {
	q := x.sender()
	m := &q.ib.out.msg
	if x.damaged {
		m.Note("checksum", "the o2iblnd checksum of a part of this transfer is wrong")
	}
	k.sum, k.sent, k.size = 0, 0, 0
	q.emit(k, &x.partial, x.buf, x.from)
	x.drop()
}
