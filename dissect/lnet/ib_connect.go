package lnet

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/fifo"
)

// maxConnects bounds the number of entries of connects.byID.
const maxConnects = 1 << 12

// connects has the connections that were requested by messages of the connection manager.
type connects struct {
	byID    *fifo.Map[connectID, *connect]
	cm      ib.CM
	headers []byte // of the message that is handed out: those of the packet, of the MAD, and the fields
}

// connectID identifies a connection for one of its ends.
type connectID struct {
	addr   [16]byte
	id     uint32
	source int32
}

// connect is a connection, under the id of one of its ends.
type connect struct {
	pair *queuePair // of this end, nil until its REQ or REP is captured
	peer *queuePair // of the other end, nil before the REP
	lnet bool
	mtu  int
	nids [2]NID // of this end and of the other one, as far as known

	req, rep, dreq cmMessage // of this end
	drep           cmMessage // to it
}

// cmMessage is a message of the connection manager that its sender repeats until it is
// answered.
type cmMessage struct {
	first, last link.Frame
	srcPort     uint16
	sends       int
	answered    bool
}

// add adds a transmission. It reports whether it is new, not a frame that was captured twice.
func (c *cmMessage) add(p *link.Packet) bool {
	if d := p.Time - c.last.Time; c.sends > 0 && d < copyAge && d > -copyAge {
		return false
	}
	if c.sends == 0 {
		c.first = p.Frame
	}
	c.sends++
	c.last, c.srcPort = p.Frame, p.SrcPort
	return true
}

// begin returns the frame of the first transmission.
func (c *cmMessage) begin() string {
	number := strconv.FormatInt(c.first.Number, 10)
	if c.first.File != "" {
		return c.first.File + ":" + number
	}
	return number
}

// unanswered says that there was no answer.
func (c *cmMessage) unanswered() string {
	text := "no answer until the end of the capture"
	if c.sends > 1 {
		text += fmt.Sprintf(", sent %d times since frame %s", c.sends, c.begin())
	}
	return text
}

func newConnects() connects {
	return connects{byID: fifo.NewMap[connectID, *connect](maxConnects)}
}

// o2iblndPort is the default port of o2iblnd, in the service id of a REQ.
const o2iblndPort = 987

// datagram handles a packet of the unreliable datagram service. Messages of the connection
// manager are sent to queue pair 1.
func (t *infiniband) datagram(src *source, p *link.Packet) {
	c := &t.connects
	m := &c.cm
	if p.BTH.DestQP != ib.QP1 || !m.DecodeMAD(p.Data) {
		return
	}
	local := connectID{p.Src, m.LocalID, p.Source}
	own, _ := fifo.Get(c.byID, local)
	other, _ := fifo.Get(c.byID, connectID{p.Dst, m.RemoteID, p.Source})
	switch m.Type {
	case ib.CMReq:
		t.connectRequest(src, p, fifo.GetOrNew(c.byID, local))
	case ib.CMRep:
		t.connectReply(src, p, fifo.GetOrNew(c.byID, local), fifo.GetOrNew(c.byID, connectID{p.Dst, m.RemoteID, p.Source}))
	case ib.CMMra:
		if other != nil {
			other.req.answered = true
		}
	case ib.CMRtu:
		if own != nil {
			own.req.answered = true
		}
	case ib.CMRej:
		t.reject(p, own, other)
	case ib.CMDreq:
		if q := t.table.find(&queuePairKey{p.Dst, m.Remote, p.Source}); own == nil && q != nil && q.lnd.lnet {
			own = fifo.GetOrNew(c.byID, local)
			own.pair, own.peer, own.lnet = q.peer, q, true
		}
		if other != nil {
			other.dreq.answered = true // each end has asked for the same
		}
		if own == nil || !own.lnet {
			break
		}
		own.req.answered = true
		if t.send(p, own, &own.dreq) {
			t.connectMessage(p, cmText{kind: Dreq, from: own.pair, to: own.peer, nids: own.nids, sent: &own.dreq})
		}
	case ib.CMDrep:
		if other == nil || !other.lnet {
			break
		}
		other.dreq.answered = true
		if other.drep.add(p) {
			t.connectMessage(p, cmText{kind: Drep, from: other.peer, to: other.pair, nids: reversed(other.nids), sent: &other.drep})
		}
	}
	if m.Type == ib.CMDreq || m.Type == ib.CMDrep {
		t.endConnect(own, p.Time)
		t.endConnect(other, p.Time)
	}
}

func reversed(nids [2]NID) [2]NID { return [2]NID{nids[1], nids[0]} }

// connectRequest handles a REQ of the node with the connection n.
func (t *infiniband) connectRequest(src *source, p *link.Packet, n *connect) {
	m := &t.connects.cm
	h, ok := parseKib(m.Payload)
	isLNet := n.lnet || ok || m.Req.ServiceID.IsIP() && m.Req.ServiceID.Port() == o2iblndPort
	q := t.announce(src, p, m.Req.QP, m.Req.StartPSN, isLNet, m.Req.PathMTU)
	if n.pair != q {
		*n = connect{pair: q}
	}
	n.lnet, n.mtu = isLNet, m.Req.PathMTU
	if ok {
		n.nids = [2]NID{h.src, h.dst}
	}
	t.connected(n)
	if t.send(p, n, &n.req) && n.lnet {
		t.connectMessage(p, cmText{kind: Connreq, kib: h, from: q, nids: n.nids, sent: &n.req})
	}
}

// connectReply handles a REP of the node with the connection n, to that with the connection
// to.
func (t *infiniband) connectReply(src *source, p *link.Packet, n, to *connect) {
	m := &t.connects.cm
	h, ok := parseKib(m.Payload)
	to.lnet = to.lnet || ok
	q := t.announce(src, p, m.Rep.QP, m.Rep.StartPSN, to.lnet, to.mtu)
	if n.pair != q {
		*n = connect{pair: q}
	}
	to.peer, to.req.answered = q, true
	n.peer, n.lnet, n.nids = to.pair, to.lnet, reversed(to.nids)
	if ok {
		n.nids = [2]NID{h.src, h.dst}
	}
	t.connected(to)
	if !n.rep.add(p) || !n.lnet {
		return
	}
	if ok && h.kind == KibConnack {
		q.lnd.credits.accept(m.Payload, &h)
		if q.peer != nil {
			q.peer.lnd.credits.accept(m.Payload, &h)
		}
	}
	t.connectMessage(p, cmText{kind: Connack, kib: h, from: q, to: q.peer, nids: n.nids, sent: &n.rep})
}

// send records that a request of the connection manager is sent, and passes on that it is
// sent again: its receiver has not answered it. It reports whether it is new.
func (t *infiniband) send(p *link.Packet, n *connect, r *cmMessage) bool {
	isNew := r.add(p)
	if isNew && r.sends > 1 && n.lnet {
		e := IBEvent{Frame: p.Frame, Source: int(p.Source), Conn: -1, PSN: t.connects.cm.LocalID, Again: true, FirstSent: r.first.Time}
		e.Src, e.Dst = packetEnds(p.Src, p.Dst, p.SrcPort)
		t.pass(e)
	}
	return isNew
}

// connected pairs the ends of a connection when both are known.
func (t *infiniband) connected(n *connect) {
	if n.pair == nil || n.peer == nil || n.pair.peer != nil || n.peer.peer != nil || !t.table.has(n.pair) || !t.table.has(n.peer) {
		return
	}
	t.pair(n.pair, n.peer)
}

// endConnect ends the queue pairs of a connection, if it is known.
func (t *infiniband) endConnect(n *connect, now int64) {
	if n == nil {
		return
	}
	for _, q := range [...]*queuePair{n.pair, n.peer} {
		if q != nil && t.table.has(q) {
			q.order.finished = true
			t.table.end(q, now)
		}
	}
}

// announce returns the queue pair with a number, which its node announces in p, a REQ or REP.
// The first packet to it will have the number psn.
func (t *infiniband) announce(src *source, p *link.Packet, number, psn uint32, isLNet bool, mtu int) *queuePair {
	k := queuePairKey{p.Src, number, p.Source}
	q := t.find(src, &k)
	o := &q.order
	if o.known {
		if d := int32(o.unwrap(psn) - o.next); d > maxBehind || d < -maxBehind || q.hasSender && q.from != p.Dst || q.closed {
			q = t.replace(src, q)
		}
	}
	t.table.touch(q, p.Time)
	if !q.hasSender && q.from != p.Dst {
		q.from, q.local = p.Dst, p.Local
	}
	q.lnd.lnet = q.lnd.lnet || isLNet
	if q.lnd.mtu == 0 {
		q.lnd.mtu = mtu
	}
	q.begin(psn)
	return q
}

// cmText is what a message of the connection manager says.
type cmText struct {
	kind     Kind
	kib      kibHead    // of the private data, zero without one
	from, to *queuePair // of sender and receiver, nil if it has none or it is unknown; one is known
	nids     [2]NID     // of them
	sent     *cmMessage // nil of one that is not repeated
}

// connectMessage hands out p, a message of the connection manager. Its data are the private
// data.
func (t *infiniband) connectMessage(p *link.Packet, c cmText) {
	data := t.connects.cm.Payload
	var body partial
	body.order, body.kind, body.lnetOff = c.kib.order, Noop, -1
	body.size = min(c.kib.size, len(data))
	body.payloadOff, body.have, body.keep = body.size, body.size, body.size
	var id packetID
	id.psn = p.BTH.PSN
	id.n = copy(id.headers[:], p.Headers)
	k := kibMessage{kibHead: c.kib, body: &body, data: data[:body.size], at: p.Frame, id: &id, sent: body.size}
	if t.out.opt.Frames {
		k.frames = frameList{p.Order}
	}
	named := c.from
	if named == nil {
		named = c.to
	}
	m, r := &t.out.msg, &t.message
	named.describe(&k, &body, k.data)
	if before := len(p.Data) - len(data); before > 0 {
		t.connects.headers = append(append(t.connects.headers[:0], p.Headers...), p.Data[:before]...)
		r.Headers = t.connects.headers
	}
	m.Src, m.Dst = packetEnds(p.Src, p.Dst, p.SrcPort)
	m.Kind, m.LNet.Src, m.LNet.Dst = c.kind, c.nids[0], c.nids[1]
	r.Local, r.SrcQP, r.DestQP, r.Credits = p.Local, 0, 0, unknownCredits
	if c.from != nil {
		r.SrcQP = c.from.key.number
	}
	if c.to != nil {
		r.DestQP = c.to.key.number
	}
	if c.kind == Connrej {
		r.Reject = t.connects.cm.Reason
	}
	switch {
	case c.sent == nil:
	case len(p.Headers) == 0: // at the end of the capture
		m.Note("unanswered", c.sent.unanswered())
	case c.sent.sends > 1:
		m.Note("resent", "repeats frame "+c.sent.begin())
	}
	named.emit(&k, &body, k.data, 0)
}

// Sizes of a kib_rej, in bytes: of the shortest version, and of the longest.
const (
	minKibReject = 8
	kibReject    = 24
)

// reject hands out p, the refusal of a connection. own is that of its sender, if it has asked for it or
// accepted it; other is that of its receiver.
func (t *infiniband) reject(p *link.Packet, own, other *connect) {
	text := cmText{kind: Connrej}
	if b := t.connects.cm.Payload; len(b) >= minKibReject {
		for _, o := range [...]order{orderLittle, orderBig} {
			if o.u32(b) == KibMagic {
				text.kib = kibHead{order: o, version: o.u16(b[4:]), size: min(len(b), kibReject)}
			}
		}
	}
	switch {
	case other != nil:
		other.req.answered = true
		text.to, text.nids = other.pair, reversed(other.nids)
	case own != nil:
		text.from, text.to, text.nids = own.pair, own.peer, own.nids
	}
	isLNet := other != nil && other.lnet || own != nil && own.lnet
	if text.kib.size == 0 && !isLNet {
		return
	}
	if text.from == nil && text.to == nil {
		text.to = &queuePair{ib: t, key: queuePairKey{addr: p.Dst, source: p.Source}, conn: -1}
	}
	t.connectMessage(p, text)
	t.endConnect(own, p.Time)
	t.endConnect(other, p.Time)
}

// unanswered hands out, at the end of the capture, the requests of the connection manager
// that were not answered.
func (t *infiniband) unanswered() {
	type request struct {
		connectID
		*connect
		kind Kind
		sent *cmMessage
	}
	var list []*request
	anywhere := func(r *request) request { return request{connectID: connectID{addr: r.addr, id: r.id}, kind: r.kind} }
	answered := make(map[request]bool) // at one of the capture points
	for id, n := range fifo.All(t.connects.byID) {
		n.req.answered = n.req.answered || n.peer != nil || n.pair != nil && (n.pair.hasSender || n.pair.peer != nil)
		for _, r := range [...]*request{{id, n, Connreq, &n.req}, {id, n, Dreq, &n.dreq}} {
			if r.sent.answered {
				answered[anywhere(r)] = true
			} else if r.sent.sends > 0 && n.lnet {
				list = append(list, r)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b *request) int { return cmp.Compare(a.sent.last.Order, b.sent.last.Order) })
	t.connects.cm = ib.CM{}
	for _, r := range list {
		if answered[anywhere(r)] {
			continue
		}
		named := r.pair
		if named == nil {
			named = r.peer
		}
		p := link.Packet{Source: r.source, Src: r.addr, Dst: named.from, SrcPort: r.sent.srcPort, Local: named.local, Frame: r.sent.last}
		if named != r.pair {
			p.Dst = named.key.addr
		}
		t.connectMessage(&p, cmText{kind: r.kind, from: r.pair, to: r.peer, nids: r.nids, sent: r.sent})
	}
}
