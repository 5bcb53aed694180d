package lnet

import (
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
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
