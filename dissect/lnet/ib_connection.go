package lnet

import (
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/fifo"
)

// portRoCE is the UDP port to which RoCEv2 sends.
const portRoCE = 4791

// ends returns the sender and the receiver of the packets to a queue pair.
func (q *queuePair) ends() (src, dst netip.AddrPort) {
	return packetEnds(q.from, q.key.addr, q.srcPort)
}

// packetEnds returns the sender and the receiver of a packet. Only RoCEv2 has ports.
func packetEnds(from, to [16]byte, srcPort uint16) (src, dst netip.AddrPort) {
	var port uint16
	if srcPort != 0 {
		port = portRoCE
	}
	return addrPort(from, srcPort), addrPort(to, port)
}

// hosts returns sender and receiver of the packets to a queue pair.
func (q *queuePair) hosts() hosts { return hosts{q.from, q.key.addr, q.key.source} }

// reverse returns the hosts in the other direction.
func (h hosts) reverse() hosts { return hosts{h.to, h.from, h.source} }

// unpaired holds the queue pairs whose peer is unknown, by the hosts of the packets sent to
// them.
type unpaired map[hosts][]*queuePair

// add adds a queue pair. It drops the oldest one when there are too many between two hosts.
func (u unpaired) add(q *queuePair) {
	h := q.hosts()
	list := u[h]
	if len(list) >= maxUnpaired {
		list = slices.Delete(list, 0, 1)
	}
	u[h] = append(list, q)
}

// remove removes a queue pair, if it is there.
func (u unpaired) remove(q *queuePair) {
	h := q.hosts()
	list := u[h]
	i := slices.Index(list, q)
	switch {
	case i < 0:
	case len(list) == 1:
		delete(u, h)
	default:
		u[h] = slices.Delete(list, i, i+1)
	}
}

// only returns the queue pair between two hosts for which fits returns true. It returns nil
// if there are several, since a match may be chance.
func (u unpaired) only(h hosts, fits func(*queuePair) bool) (found *queuePair) {
	for _, q := range u[h] {
		if !fits(q) {
			continue
		}
		if found != nil {
			return nil
		}
		found = q
	}
	return found
}

// any reports whether there is a queue pair between two hosts.
func (u unpaired) any(h hosts) bool { return len(u[h]) > 0 }

// pair makes two queue pairs the ends of one connection.
func (t *infiniband) pair(a, b *queuePair) {
	t.unpaired.remove(a)
	t.unpaired.remove(b)
	a.peer, b.peer = b, a
	a.unseen, b.unseen = unseenRequests{}, unseenRequests{}
	if a.conn < 0 || b.conn >= 0 && b.conn < a.conn {
		a.conn = b.conn
	}
	b.conn = a.conn
	a.lnd.lnet = a.lnd.lnet || b.lnd.lnet
	b.lnd.lnet = a.lnd.lnet
	if a.lnd.mtu == 0 {
		a.lnd.mtu = b.lnd.mtu
	}
	if b.lnd.mtu == 0 {
		b.lnd.mtu = a.lnd.mtu
	}
	a.release()
	b.release()
}

// pairByAck looks for the peer of a queue pair to which p, an acknowledgement, was sent: the
// only one of the other direction whose last packet has the number in p.
func (t *infiniband) pairByAck(q *queuePair, p *link.Packet) {
	found := t.unpaired.only(hosts{p.Dst, p.Src, p.Source}, func(other *queuePair) bool {
		const mask = 1<<psnBits - 1
		return other != q && other.sent.analysis.started && (other.sent.analysis.next-1-p.BTH.PSN)&mask == 0
	})
	if found == nil {
		return
	}
	if !q.hasSender {
		q.from, q.local, q.srcPort = p.Src, p.Local, p.SrcPort
	}
	t.pair(q, found)
}

// pairByRequest looks for the peer of a queue pair by a transfer that was requested in the
// other direction: fits reports whether it was requested there.
func (t *infiniband) pairByRequest(q *queuePair, fits func(l *o2iblnd) bool) {
	if q.peer != nil {
		return
	}
	found := t.unpaired.only(q.hosts().reverse(), func(other *queuePair) bool { return other != q && fits(&other.lnd) })
	if found != nil {
		t.pair(q, found)
	}
}

// pairByWrite looks for the peer of a queue pair by the address of an RDMA write to it: the
// receiver has sent that address in a GET_REQ. It reports whether the queue pair is known to
// carry LNet.
func (t *infiniband) pairByWrite(q *queuePair, g *requestPacket) bool {
	if g.opcode.Extensions().Has(ib.HasRETH) {
		t.pairByRequest(q, func(l *o2iblnd) bool { return l.requests.byAddress(true, g.rkey, g.va) != nil })
	}
	return q.lnd.lnet
}

// maxConnects bounds the number of entries of connects.byID.
const maxConnects = 1 << 12

// connects has the connections that were requested by messages of the connection manager.
type connects struct {
	byID    *fifo.Map[connectID, connect]
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
	peer *queuePair // of the end that accepts, nil before the REP
	lnet bool
	mtu  int

	requested, ended int64 // when the first REQ and DREQ of this end were captured
}

func newConnects() connects {
	return connects{byID: fifo.NewMap[connectID, connect](maxConnects)}
}

// o2iblndPort is the default port of o2iblnd, in the service id of a REQ.
const o2iblndPort = 987

// datagram handles a packet of the unreliable datagram service. Messages of the connection
// manager are sent to queue pair 1.
func (t *infiniband) datagram(src *source, p *link.Packet) {
	c := &t.connects
	if p.BTH.DestQP != ib.QP1 || !c.cm.DecodeMAD(p.Data) {
		return
	}
	m := &c.cm
	local, remote := connectID{p.Src, m.LocalID, p.Source}, connectID{p.Dst, m.RemoteID, p.Source}
	switch m.Type {
	case ib.CMReq:
		h, ok := parseKib(m.Payload)
		n, _ := c.byID.Get(local)
		n.lnet = n.lnet || ok || m.Req.ServiceID.IsIP() && m.Req.ServiceID.Port() == o2iblndPort
		n.mtu = m.Req.PathMTU
		t.unanswered(p, &n, &n.requested)
		q := t.announce(src, p, m.Req.QP, m.Req.StartPSN, n)
		repeated := n.pair == q
		n.pair = q
		c.byID.Put(local, n)
		t.connected(n)
		if ok && h.kind == KibConnreq && !repeated {
			t.connectMessage(p, q, nil, h, Connreq)
		}
	case ib.CMRep:
		h, ok := parseKib(m.Payload)
		n, _ := c.byID.Get(remote)
		n.lnet = n.lnet || ok
		q := t.announce(src, p, m.Rep.QP, m.Rep.StartPSN, n)
		repeated := n.peer == q
		n.peer = q
		c.byID.Put(remote, n)
		c.byID.Put(local, connect{pair: q, peer: n.pair, lnet: n.lnet})
		t.connected(n)
		if ok && h.kind == KibConnack && !repeated {
			q.lnd.credits.accept(m.Payload, &h)
			if q.peer != nil {
				q.peer.lnd.credits.accept(m.Payload, &h)
			}
			t.connectMessage(p, q, q.peer, h, Connack)
		}
	case ib.CMRej:
		n, _ := c.byID.Get(remote)
		t.reject(p, n.pair)
	case ib.CMDreq, ib.CMDrep:
		if n, known := c.byID.Get(local); known && m.Type == ib.CMDreq {
			t.unanswered(p, &n, &n.ended)
			c.byID.Put(local, n)
		}
		for _, id := range [...]connectID{local, remote} {
			if n, known := c.byID.Get(id); known && n.pair != nil && t.table.has(n.pair) {
				n.pair.order.finished = true
				t.table.end(n.pair)
			}
		}
	}
}

// unanswered records when a request of the connection manager was sent first, and passes on
// that it is sent again: its receiver has not answered it.
func (t *infiniband) unanswered(p *link.Packet, n *connect, first *int64) {
	if *first == 0 {
		*first = p.Time
		return
	}
	if n.lnet {
		e := IBEvent{Frame: p.Frame, Source: int(p.Source), Conn: -1, PSN: t.connects.cm.LocalID, Again: true, FirstSent: *first}
		e.Src, e.Dst = packetEnds(p.Src, p.Dst, p.SrcPort)
		t.pass(e)
	}
}

// connected pairs the ends of a connection when both are known.
func (t *infiniband) connected(n connect) {
	if n.pair == nil || n.peer == nil || n.pair.peer != nil || n.peer.peer != nil || !t.table.has(n.pair) || !t.table.has(n.peer) {
		return
	}
	t.pair(n.pair, n.peer)
}

// announce returns the queue pair with a number, which its node announces in p, a REQ or REP.
// The first packet to it will have the number psn.
func (t *infiniband) announce(src *source, p *link.Packet, number, psn uint32, n connect) *queuePair {
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
	q.lnd.lnet = q.lnd.lnet || n.lnet
	if q.lnd.mtu == 0 {
		q.lnd.mtu = n.mtu
	}
	q.begin(psn)
	return q
}

// credits counts the messages that may be sent to a queue pair.
type credits struct {
	left  int
	depth int // queue depth: the credits at the start, 0 while unknown
}

// accept sets the credits to the queue depth in b, a CONNACK.
func (c *credits) accept(b []byte, h *kibHead) {
	if len(b) < KibSize+2 || c.depth > 0 {
		return
	}
	c.depth = int(h.order.u16(b[KibSize:]))
	c.left = c.depth
}

// returned adds n credits that the receiver of messages returned.
func (c *credits) returned(n uint8) {
	c.left = min(c.left+int(n), c.depth)
}

// spend takes the credit for a message of a type, and reports whether it was the last one.
// Answers to PUT_REQ and GET_REQ take no credit.
func (c *credits) spend(kind uint8) bool {
	if c.left == 0 || kind != KibImmediate && kind != KibPutReq && kind != KibGetReq {
		return false
	}
	c.left--
	return c.left == 0
}

// known returns the number of credits left, or unknownCredits.
func (c *credits) known() int {
	if c.depth == 0 {
		return unknownCredits
	}
	return c.left
}

// connectMessage hands out the private data of p, a REQ, REP or REJ, as a message of a kind.
// Its sender has the queue pair q, nil if it has none, and its receiver has peer.
func (t *infiniband) connectMessage(p *link.Packet, q, peer *queuePair, h kibHead, kind Kind) {
	data := t.connects.cm.Payload
	var body partial
	body.order, body.kind, body.lnetOff = h.order, Noop, -1
	body.size = min(h.size, len(data))
	body.payloadOff, body.have, body.keep = body.size, body.size, body.size
	var id packetID
	id.psn = p.BTH.PSN
	id.n = copy(id.headers[:], p.Headers)
	k := kibMessage{kibHead: h, body: &body, data: data[:body.size], at: p.Frame, id: &id, sent: body.size}
	if t.out.opt.Frames {
		k.frames = frameList{p.Order}
	}
	named := q
	if q == nil {
		named = peer
	}
	m, r := &t.out.msg, &t.message
	named.describe(&k, &body, k.data)
	if before := len(p.Data) - len(data); before > 0 {
		t.connects.headers = append(append(t.connects.headers[:0], p.Headers...), p.Data[:before]...)
		r.Headers = t.connects.headers
	}
	m.Src, m.Dst = packetEnds(p.Src, p.Dst, p.SrcPort)
	m.Kind, m.LNet.Src, m.LNet.Dst = kind, h.src, h.dst
	r.Local, r.SrcQP, r.DestQP, r.Credits = p.Local, 0, 0, unknownCredits
	if q != nil {
		r.SrcQP = q.key.number
	}
	if peer != nil {
		r.DestQP = peer.key.number
	}
	if kind == Connrej {
		r.Reject = uint16(t.connects.cm.Reject.Reason)
	}
	named.emit(&k, &body, k.data, 0)
}

// Sizes of a kib_rej, in bytes: of the shortest version, and of the longest.
const (
	minKibReject = 8
	kibReject    = 24
)

// reject hands out p, the refusal of a connection that the node of the queue pair peer
// requested. It is nil if it is unknown.
func (t *infiniband) reject(p *link.Packet, peer *queuePair) {
	var h kibHead
	if b := t.connects.cm.Payload; len(b) >= minKibReject {
		for _, o := range [...]order{orderLittle, orderBig} {
			if o.u32(b) == KibMagic {
				h = kibHead{order: o, version: o.u16(b[4:]), size: min(len(b), kibReject)}
			}
		}
	}
	if h.size == 0 && (peer == nil || !peer.lnd.lnet) {
		return
	}
	if peer == nil {
		peer = &queuePair{ib: t, key: queuePairKey{addr: p.Dst, source: p.Source}, conn: -1}
	}
	t.connectMessage(p, nil, peer, h, Connrej)
	if peer.next != nil {
		peer.order.finished = true
		t.table.end(peer)
	}
}
