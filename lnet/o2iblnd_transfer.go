package lnet

import (
	"fmt"
	"slices"
	"unsafe"

	"github.com/lshark/lshark/lnet/ib"
	"github.com/lshark/lshark/lnet/link"
)

// Bounds of transfers.
const (
	maxTransfers = 1024 // of a queue pair, requested and not complete
	maxSpare     = 1024 // records kept for reuse
	transferSize = int(unsafe.Sizeof(transfer{}))
	maxParts     = 3 // o2iblnd messages of a transfer
)

// transfer is a PUT, or the REPLY to a GET, whose payload comes in RDMA writes. It is
// complete when the DONE comes that follows them.
type transfer struct {
	partial // the headers and the payload so far

	owner     *queuePair // that the request was sent to
	get       bool       // requested by GET_REQ, not PUT_REQ
	requested bool       // the request was captured
	answered  bool       // it is known where the writes go
	cookie    uint64     // of the request
	sink      uint64     // of the PUT_ACK, which the PUT_DONE returns
	reply     Header     // LNet header of the REPLY
	head      kibHead    // of the request
	status    int32

	parts transferText
	to    target

	first   packetID // first packet of the first write, if it was captured
	from    uint32   // number of the first packet of the writes, or of the request
	last    link.Frame
	writes  IBWrites
	frames  frameList
	damaged bool // a checksum is wrong
	asked   bool // Options.Want was asked
}

// transferText has the o2iblnd messages of a transfer.
type transferText struct {
	buf  []byte // borrowed from the pool
	list [maxParts]textPart
	n    int
}

// textPart is an o2iblnd message of a transfer.
type textPart struct {
	frame link.Frame
	kind  uint8
	end   int // in transferText.buf; it begins where the one before ends
}

// target is the memory that the writes of a transfer go to, as described in a PUT_ACK or
// GET_REQ.
type target struct {
	order     order
	key       uint32
	fragments int // that were captured
	cut       bool
	off       int // of the first one in transferText.buf
	total     int // bytes of all
}

// writes follows the RDMA writes to a queue pair.
type writes struct {
	current *transfer // to which the write in progress belongs, nil while unknown
	pos     int       // where its next byte goes in the payload
	left    int       // bytes of it to come; 0 when no write with a captured RETH is in progress

	chain *transfer // of the last write, until its DONE comes
	gap   bool      // packets are missing since that write
	run   writeRun
}

// writeRun is a part of a write whose first packet is in a gap. Where it goes is known when
// the write ends and what follows is known.
type writeRun struct {
	partial
	writes IBWrites
	frames frameList
}

// newTransfer adds a transfer that was requested at q. Of too many the oldest go.
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

// drop removes a transfer that was handed out or cannot be.
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
	pool.lent -= transferSize
	frames := x.frames[:0]
	*x = transfer{frames: frames}
	if len(t.spare) < maxSpare {
		t.spare = append(t.spare, x)
	}
}

// forget ends what is in progress of a transfer.
func (w *writes) forget(x *transfer) {
	if w.current == x {
		w.current = nil
	}
	if w.chain == x {
		w.chain = nil
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
	return l.newest(func(x *transfer) bool { return !x.get && x.answered && x.sink == cookie })
}

// byAddress returns the transfer with an address in its descriptor, or nil.
func (l transferList) byAddress(get bool, key uint32, va uint64) *transfer {
	return l.newest(func(x *transfer) bool {
		_, ok := x.position(key, va)
		return ok && x.get == get
	})
}

// newest returns the transfer that was requested last of those that fit, or nil.
func (l transferList) newest(fits func(x *transfer) bool) *transfer {
	for i := len(l) - 1; i >= 0; i-- {
		if fits(l[i]) {
			return l[i]
		}
	}
	return nil
}

// unanswered returns the only PUT of n bytes whose PUT_ACK did not come, nil if there is
// none or another one; any reports whether there are such PUTs of any size.
func (l transferList) unanswered(n int) (only *transfer, any bool) {
	several := false
	for _, x := range l {
		if x.get || x.answered {
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
	x.parts.list[x.parts.n] = textPart{k.at, k.kind, len(x.parts.buf)}
	x.parts.n++
	x.damaged = x.damaged || k.sum != 0 && len(k.data) == k.size && kibSumOf(k.data) != k.sum
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
	x.answered = true
	if len(k.data) < off+kibFrags {
		x.to.cut = true
		return
	}
	d := k.data[off:]
	n := k.order.u32(d[4:])
	captured := (len(d) - kibFrags) / kibFragSize
	x.to = target{order: k.order, key: k.order.u32(d), fragments: min(int(min(n, maxKib)), captured), cut: int64(n) > int64(captured)}
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

// position returns where in the payload an address is.
func (x *transfer) position(key uint32, va uint64) (pos int, ok bool) {
	if !x.answered || key != x.to.key {
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

// request takes a PUT_REQ or GET_REQ.
func (l *o2iblnd) request(q *queuePair, k *kibMessage) {
	p, out := k.body, q.ib.out
	if !p.setLNet(k.data) {
		l.other(q, k, Unknown)
		return
	}
	get := k.kind == kibGetReq
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
	decodeLNet(&h, formShort, k.data[kibSize:])
	if get {
		x.setTarget(k, kibReqSize)
		x.partial.kind, x.lnetOff, x.payloadOff = Noop, -1, 0
		x.size = x.to.total
		if x.to.cut {
			x.size = int(min(h.Sink, maxPayload))
		}
		x.reply = replyHeader(&h, x.size)
	} else {
		x.partial.kind, x.form, x.lnetOff, x.payloadOff = Unknown, formShort, kibSize, kibPayload
		x.buf = append(out.pool.get(kibPayload), k.data[:kibPayload]...)
		x.have = kibPayload
		x.size = kibPayload + int(min(h.Length, maxPayload))
		if x.answered && !x.to.cut {
			x.size = min(x.size, kibPayload+x.to.total)
		}
	}
	x.keep = x.size
	x.askWant(k)
}

// askWant sets how many bytes to keep. Of a REPLY that is possible only when it is known
// which queue pair it is sent to.
func (x *transfer) askWant(k *kibMessage) {
	out := x.owner.ib.out
	if x.asked || !x.requested || x.sender() == nil {
		return
	}
	x.asked = true
	if out.opt.Want != nil {
		x.fillMessage(*k)
		out.msg.Data = x.buf
		x.keepOnly(x.payloadOff + max(0, out.opt.Want(&out.msg)))
	}
	x.keepOnly(out.affordable(x.keep))
}

// replyHeader returns the LNet header of the REPLY to a GET, which is not sent when the
// data are written.
func replyHeader(get *Header, length int) Header {
	return Header{Type: TypeReply, Src: get.Dst, Dst: get.Src, Length: uint32(length), Handle: get.Handle}
}

// requestMessage hands out a GET_REQ as GET, or a PUT_REQ whose end was not captured.
func (l *o2iblnd) requestMessage(q *queuePair, k *kibMessage) {
	p := k.body
	p.trim(kibPayload)
	data := k.data[:min(len(k.data), kibPayload)]
	q.describe(k, p, data)
	if k.kind == kibPutReq {
		p.size += int(min(q.ib.out.msg.LNet.Length, maxPayload))
		p.keep = p.size
		p.miss(p.size-p.have, Snaplen, q.ib.out)
		q.describe(k, p, data)
	}
	q.emit(k, p, data, p.seq)
}

// answers reports whether it is known what a PUT_ACK or PUT_NAK answers. It is sent in the
// other direction than its PUT_REQ.
func (l *o2iblnd) answers(q *queuePair, k *kibMessage) bool {
	if len(k.data) < kibDoneSize {
		return true
	}
	x := l.answered(q, k)
	return x != nil && x.requested || q.peer != nil && k.kind == kibPutAck
}

// answered returns the transfer that a PUT_ACK or PUT_NAK answers, nil if it is unknown.
func (l *o2iblnd) answered(q *queuePair, k *kibMessage) *transfer {
	cookie := k.order.u64(k.data[kibSize:])
	q.ib.pairByRequest(q, func(l *o2iblnd) bool { return l.requests.byCookie(false, cookie) != nil })
	if q.peer == nil {
		return nil
	}
	return q.peer.lnd.requests.byCookie(false, cookie)
}

// answer takes a PUT_ACK or PUT_NAK.
func (l *o2iblnd) answer(q *queuePair, k *kibMessage) {
	if len(k.data) < kibDoneSize {
		return
	}
	x := l.answered(q, k)
	if q.peer == nil {
		return
	}
	if k.kind == kibPutNak {
		if x != nil && x.requested && !x.answered {
			x.addPart(k)
			x.status = int32(k.order.u32(k.data[kibSize+8:]))
			x.refuse(k)
		}
		return
	}
	if x != nil && x.answered {
		return
	}
	if x == nil {
		x = q.ib.newTransfer(q.peer, false, k.order.u64(k.data[kibSize:]))
	}
	x.sink = k.order.u64(k.data[kibSize+8:])
	x.addPart(k)
	x.setTarget(k, kibAckDesc)
	if x.requested && !x.to.cut {
		x.size = min(x.size, kibPayload+x.to.total)
		x.keepOnly(x.size)
	}
}

// refuse hands out a PUT that the receiver refused.
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
	if w.chain != x {
		w.endChain()
	}
	if x != nil {
		w.run.moveTo(x, pos, q.ib.out)
		if x.writes.Packets == 0 {
			x.writes.VA, x.writes.RKey = g.va, g.rkey
			x.first.set(g)
			x.askWant(&kibMessage{kibHead: x.head, id: &x.first, at: g.Frame})
		}
		w.chain, w.gap = x, false
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
	}
	x.place(x.payloadOff+pos, g.data, g.size, out)
}

// place puts size bytes at an offset of the message. What lies between them and the bytes
// before is missing.
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

// skip takes a packet in the middle of a write of which no bytes are needed. It returns
// false if it is not such a packet.
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
	}
	r.writes.Packets++
	r.writes.Bytes += g.size
	r.writes.Last = g.Frame
	r.retransmitted = r.retransmitted || g.again
	r.add(g.data, g.size, out)
}

// moveTo adds the run to a transfer; end is where it ends in the payload.
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
	for _, h := range r.holes {
		x.place(off+at, r.buf[at:h.Off], h.Off-at, out)
		x.place(off+h.Off, nil, h.Len, out)
		at = h.Off + h.Len
	}
	x.place(off+at, r.buf[min(at, len(r.buf)):], r.have-at, out)
	r.have = 0
}

// drop ends the run. What was not moved to a transfer belongs to none that is known.
func (r *writeRun) drop(t *infiniband) {
	t.stats.Unjoined += int64(r.have)
	r.release(&t.out.pool)
	r.frames.keepLast(&t.out.pool)
	r.frames = r.frames[:0]
}

// end ends what is in progress: a message follows that is not the DONE of these writes.
func (w *writes) end(t *infiniband) {
	w.run.drop(t)
	w.current, w.left = nil, 0
	w.endChain()
}

// endChain hands out the transfer whose writes came last if its DONE must be in a gap.
func (w *writes) endChain() {
	x, lost := w.chain, w.gap
	w.chain, w.gap = nil, false
	if x != nil && lost {
		x.abandon()
	}
}

// gapInWrites takes n packets that are missing, and returns how many of them were writes
// of a known transfer.
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
	} else if x := w.chain; x != nil {
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
	cookie, status := k.order.u64(k.data[kibSize:]), int32(k.order.u32(k.data[kibSize+8:]))
	x, late := l.transferOf(q, k, cookie)
	if x == nil || !x.requested {
		if !forced && late {
			return false
		}
		if x != nil {
			q.ib.stats.Unjoined += int64(x.writes.Bytes)
			x.drop()
		}
		l.writes.end(q.ib)
		return true
	}
	if l.writes.chain != x {
		l.writes.endChain()
	}
	x.finish(q, k, status)
	return true
}

// transferOf returns the transfer that a DONE belongs to, nil if it is unknown; late
// reports whether a message of the other direction may show it.
func (l *o2iblnd) transferOf(q *queuePair, k *kibMessage, cookie uint64) (x *transfer, late bool) {
	if k.kind == kibGetDone {
		q.ib.pairByRequest(q, func(l *o2iblnd) bool { return l.requests.byCookie(true, cookie) != nil })
		if q.peer == nil {
			return nil, true
		}
		return q.peer.lnd.requests.byCookie(true, cookie), true
	}
	if x = l.requests.bySink(cookie); x != nil {
		return x, true
	}
	if c := l.writes.chain; c != nil && !c.get && !c.answered {
		return c, false
	}
	_, late = l.requests.unanswered(0)
	return nil, late
}

// finish hands out a transfer that is complete: k is its DONE, sent to q.
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

// fillMessage sets the fields of the shared Message that the headers of a transfer determine. The
// message k completes the transfer.
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
		back := p.kind == kibPutAck || p.kind == kibPutNak || p.kind == kibGetReq
		parts = append(parts, IBPart{Frame: p.frame, Back: back, Data: x.parts.buf[begin:p.end]})
		begin = p.end
	}
	q.ib.parts, r.Parts = parts, parts
	r.Writes, r.Status = x.writes, x.status
	r.Writes.Headers = x.first.headers[:x.first.n]
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
