package lnet

import (
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/fifo"
)

// Bounds of the table of queue pairs.
const (
	maxQueuePairs = 1 << 16
	maxUnpaired   = 64 // queue pairs between two hosts whose peer is looked for
)

// maxBehind bounds the distance between the number of a packet and the expected one, in
// packets: more than any sender has in flight. A packet further away belongs to a new queue
// pair with the same number.
const maxBehind = 1 << 16

// IBStats are the counts of the InfiniBand transport.
type IBStats struct {
	Packets     int64 // of any kind
	Bytes       int64 // of payload in them, as sent
	QueuePairs  int64 // to which packets were sent, in total
	Live        int   // of them, in the table now
	Evicted     int64 // removed from it: idle, closed, or too many
	Conns       int64 // connections with messages
	Writes      int64 // packets of RDMA writes
	Reads       int64 // packets of RDMA reads
	Acks        int64
	Retransmits int64 // packets sent again
	OutOfOrder  int64 // packets that a later one has overtaken
	Naks        int64 // negative acknowledgements
	RNR         int64 // of them, because no receive buffer was posted
	Gaps        int64 // runs of missing packets that were given up
	LostPackets int64 // in these gaps
	CutBytes    int64 // not captured because of the snaplen
	Joined      int64 // transfers by PUT_REQ or GET_REQ whose DONE was found
	Unjoined    int64 // bytes of RDMA writes that belong to no known transfer
	Exhausted   int64 // messages with which the sender used its last credit
	Foreign     int64 // messages that are not o2iblnd's
}

// infiniband is the transport of o2iblnd: it assigns packets to the queue pair that they
// are sent to and puts them in order of their packet sequence numbers. A gap is held open
// for as long as a retransmission or a late frame may fill it.
type infiniband struct {
	out      *output
	table    queuePairTable
	unpaired unpaired
	connects connects
	spare    []*transfer // for reuse
	message  IB          // of the message being handed out
	parts    []IBPart    // of that message
	stats    IBStats
}

// queuePairKey identifies a queue pair at one capture point.
type queuePairKey struct {
	addr   [16]byte
	number uint32
	source int32
}

// hosts are the sender and the receiver of packets at one capture point.
type hosts struct {
	from, to [16]byte
	source   int32
}

// queuePair is a queue pair with the packets that are sent to it. Those of the other
// direction are sent to its peer.
type queuePair struct {
	ib   *infiniband
	key  queuePairKey
	peer *queuePair // nil while unknown
	conn int        // number of the connection, -1 before its first message

	from      [16]byte // address of the sender, once a packet was seen
	srcPort   uint16   // UDP port of the last packet
	local     bool     // addresses are LIDs
	hasSender bool     // from was set by a request
	nids      recentNIDs
	unseen    unseenRequests
	active    activeSecond

	order packetOrder
	sent  sentPackets
	lnd   o2iblnd

	place  fifo.Element[queuePair] // in the order of use
	closed bool                    // the connection was ended
}

// requestPacket is a packet of a SEND, an RDMA WRITE or another request.
type requestPacket struct {
	link.Frame
	opcode  ib.Opcode
	again   bool   // it was sent again, and the first transmission was not captured
	psn     uint32 // packet sequence number, extended to 32 bits
	rkey    uint32 // of an RDMA WRITE with RETH
	length  uint32
	va      uint64
	headers []byte // BTH and extension headers
	data    []byte // captured bytes of the payload
	size    int    // bytes of the payload
}

func (t *infiniband) init(out *output) {
	t.out = out
	t.table.pairs = make(map[queuePairKey]*queuePair)
	t.unpaired = make(unpaired)
	t.connects = newConnects()
}

// packet handles the next packet of a capture point.
func (t *infiniband) packet(src *source, p *link.Packet) {
	t.stats.Packets++
	t.stats.Bytes += int64(p.Size)
	t.stats.CutBytes += int64(p.Size - len(p.Data))
	op := p.BTH.Opcode
	var q *queuePair // to which the packet was sent
	switch operation := op.Operation(); operation {
	case ib.Send, ib.Write:
		if op.Service() == ib.UD {
			t.datagram(src, p)
			return
		}
		q = t.request(src, p, operation)
	case ib.ReadRequest, ib.CompareSwap, ib.FetchAdd:
		q = t.request(src, p, operation)
	case ib.Acknowledge, ib.AtomicAcknowledge, ib.ReadResponse:
		q = t.response(src, p, operation)
	}
	if q != nil && t.out.opt.Active != nil {
		q.reportActivity(p)
	}
}

// find returns the queue pair with a key, and adds it if it is not in the table. Before it
// adds one, it removes those that are stale.
func (t *infiniband) find(src *source, k *queuePairKey) *queuePair {
	if q := t.table.find(k); q != nil {
		return q
	}
	for old := t.table.stale(src.now); old != nil; old = t.table.stale(src.now) {
		t.stats.Evicted++
		t.remove(old)
	}
	q := &queuePair{ib: t, key: *k, conn: -1}
	q.sent.analysis.out = t.out
	q.order.stream = q
	t.table.add(q, src.now)
	t.stats.QueuePairs++
	return q
}

// remove hands out what a queue pair and its peer hold and removes both.
func (t *infiniband) remove(q *queuePair) {
	both := [...]*queuePair{q, q.peer}
	for _, q := range both {
		if q != nil {
			q.closeOrder()
			q.lnd.close(q)
		}
	}
	for _, q := range both {
		if q != nil {
			t.unpaired.remove(q)
			t.table.remove(q)
			if p := q.peer; p != nil { // also one that was found while q was closed
				p.peer = nil
				if p.hasSender {
					t.unpaired.add(p)
				}
			}
			q.peer = nil
		}
	}
}

// replace removes a queue pair whose number is used again and adds a new one.
func (t *infiniband) replace(src *source, q *queuePair) *queuePair {
	k := q.key
	t.remove(q)
	return t.find(src, &k)
}

// queuePairTable holds the queue pairs.
type queuePairTable struct {
	pairs  map[queuePairKey]*queuePair
	last   *queuePair            // found last
	recent fifo.Queue[queuePair] // the most recently used last
	closed fifo.Queue[queuePair] // those whose connection was ended
}

// find returns the queue pair with a key, or nil.
func (t *queuePairTable) find(k *queuePairKey) *queuePair {
	if q := t.last; q != nil {
		if q.key == *k {
			return q
		}
		if q.peer != nil && q.peer.key == *k {
			t.last = q.peer
			return q.peer
		}
	}
	q := t.pairs[*k]
	if q != nil {
		t.last = q
	}
	return q
}

// add adds a queue pair.
func (t *queuePairTable) add(q *queuePair, now int64) {
	t.pairs[q.key] = q
	t.last = q
	q.place.Owner = q
	t.recent.Push(&q.place, now)
}

// remove takes a queue pair out of the table.
func (t *queuePairTable) remove(q *queuePair) {
	q.place.Remove()
	delete(t.pairs, q.key)
	if t.last == q {
		t.last = nil
	}
}

// has reports whether a queue pair is in the table.
func (t *queuePairTable) has(q *queuePair) bool { return t.pairs[q.key] == q }

// stale returns a queue pair to remove: one that is idle or closed, or the least recently
// used one when there are too many; nil if there is no such queue pair.
func (t *queuePairTable) stale(now int64) *queuePair {
	most := maxQueuePairs - 1
	if q := t.closed.Overdue(now, closedIdle, most-t.recent.Len()); q != nil {
		return q
	}
	return t.recent.Overdue(now, maxIdle, most-t.closed.Len())
}

// touch moves a queue pair to the end of the order of use, at most once in a second.
func (t *queuePairTable) touch(q *queuePair, now int64) {
	if d := now - q.place.Since; (d > 1e9 || d < -1e9) && !q.closed {
		t.recent.Push(&q.place, now)
	}
}

// end notes that the connection of a queue pair was ended.
func (t *queuePairTable) end(q *queuePair, now int64) {
	if !q.closed {
		q.closed = true
		t.closed.Push(&q.place, now)
	}
}

// all calls f for each queue pair, the closed ones first.
func (t *queuePairTable) all(f func(*queuePair)) {
	t.closed.All(f)
	t.recent.All(f)
}

// request handles a packet of a request. It returns the queue pair that it was sent to.
func (t *infiniband) request(src *source, p *link.Packet, operation ib.Operation) *queuePair {
	q := t.find(src, &queuePairKey{p.Dst, p.BTH.DestQP, p.Source})
	if q.hasSender && q.from != p.Src {
		q = t.replace(src, q)
	}
	if !q.hasSender {
		q.setSender(p)
	}
	o := &q.order
	if !o.known {
		o.known, o.next = true, p.BTH.PSN
	}
	psn := o.unwrap(p.BTH.PSN)
	d := int32(psn - o.next)
	if d < -maxBehind {
		q = t.replace(src, q)
		q.setSender(p)
		o = &q.order
		o.known, o.next, psn, d = true, p.BTH.PSN, p.BTH.PSN, 0
	}
	t.table.touch(q, p.Time)
	q.srcPort = p.SrcPort
	again := q.sentPacket(p, psn)
	if operation == ib.Write {
		t.stats.Writes++
		if d == 0 && o.started && len(o.held) == 0 && q.lnd.writes.skip(q, p) {
			o.next++
			return q
		}
	}
	if d < 0 && o.started {
		return q // captured before, or given up
	}
	g := requestPacket{Frame: p.Frame, opcode: p.BTH.Opcode, again: again, psn: psn, headers: p.Headers, data: p.Data, size: p.Size}
	if p.Extensions.Has(ib.HasRETH) {
		g.va, g.rkey, g.length = p.RETH.VA, p.RETH.RKey, p.RETH.Length
	}
	q.arrive(src, &g, d)
	return q
}

// setSender records the sender of the packets to a queue pair.
func (q *queuePair) setSender(p *link.Packet) {
	q.from, q.local, q.hasSender = p.Src, p.Local, true
	if q.peer == nil {
		q.ib.unpaired.add(q)
	}
}

// response handles an acknowledgement or the data of an RDMA READ, which answer requests to
// the peer. It returns the queue pair that it was sent to, nil for packets in the midst of data.
func (t *infiniband) response(src *source, p *link.Packet, operation ib.Operation) *queuePair {
	if operation == ib.ReadResponse {
		t.stats.Reads++
	} else {
		t.stats.Acks++
	}
	if !p.Extensions.Has(ib.HasAETH) {
		return nil
	}
	q := t.find(src, &queuePairKey{p.Dst, p.BTH.DestQP, p.Source})
	t.table.touch(q, p.Time)
	if q.peer == nil && p.Syndrome.ACK() {
		t.pairByAck(q, p)
	}
	switch {
	case q.peer != nil:
		q.peer.acknowledge(src, p)
	case p.Syndrome.ACK():
		q.unseen.acknowledge(p)
		q.unseen.report(q)
	}
	return q
}

// close hands out what all queue pairs hold.
func (t *infiniband) close() {
	for len(t.out.gaps) > 0 { // of queue pairs, as those of TCP were closed
		t.out.gaps[0].giveUpGap() // in the order of frames, as packets may wait for others
	}
	t.table.all((*queuePair).closeOrder)
	t.table.all(func(q *queuePair) { q.lnd.close(q) })
	t.unanswered()
}

// number returns the number of the connection, which it gets with the first message in
// either direction.
func (q *queuePair) number() int {
	if q.conn < 0 && q.peer != nil {
		q.conn = q.peer.conn
	}
	if q.conn < 0 {
		q.conn = q.ib.out.conns
		q.ib.out.conns++
		q.ib.stats.Conns++
		if q.peer != nil {
			q.peer.conn = q.conn
		}
	}
	return q.conn
}
