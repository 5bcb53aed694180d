package anonymize

import (
	"encoding/binary"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
)

// Lengths of headers, in bytes.
const (
	lrhSize = ib.LRHSize
	grhSize = ib.GRHSize
	bthSize = ib.BTHSize
)

// queuePairs has the state of each queue pair that is needed to rewrite the payload of the
// next packet to it. All of it is dropped when there are more than maxQueuePairs.
type queuePairs struct {
	pairs map[queuePair]*pairState
}

const maxQueuePairs = 1 << 16

type queuePair struct {
	addr   [16]byte
	number uint32
}

type pairState struct {
	mtu  int    // payload of packets that are not the last of their message, 0 while unknown
	next uint32 // packet sequence number of the packet that continues the SEND
	left int    // bytes of that SEND that are kept, 0 for none
}

func (q *queuePairs) state(addr [16]byte, number uint32) *pairState {
	key := queuePair{addr, number}
	s := q.pairs[key]
	if s == nil {
		if q.pairs == nil || len(q.pairs) >= maxQueuePairs {
			q.pairs = make(map[queuePair]*pairState)
		}
		s = new(pairState)
		q.pairs[key] = s
	}
	return s
}

// lrh rewrites a packet of a link of InfiniBand. The checksum of the link (VCRC) behind it is
// removed.
func (h *headers) lrh(p part, depth int) {
	const lengthMask = 0x7ff
	if depth > maxTunnels || p.len() < lrhSize {
		h.removed.Other += int64(p.len())
		return
	}
	b := h.in[p.off:]
	size := 4 * int(binary.BigEndian.Uint16(b[4:])&lengthMask)
	if b[0]&0xf != 0 || size < lrhSize {
		h.removed.Other += int64(p.len())
		return
	}
	h.copy(p, lrhSize)
	dst, src := binary.BigEndian.Uint16(b[2:]), binary.BigEndian.Uint16(b[6:])
	binary.BigEndian.PutUint16(h.out[p.off+2:], h.values.LID(dst))
	binary.BigEndian.PutUint16(h.out[p.off+6:], h.values.LID(src))
	begin := p.off
	p = p.limit(size).from(lrhSize)
	switch ib.LNH(b[1] & 3) {
	case ib.LNHLocal:
		var to [16]byte
		binary.BigEndian.PutUint16(to[14:], dst)
		h.infiniband(to, p, begin, headerLRH)
	case ib.LNHGlobal:
		h.grh(p, begin, headerLRHGlobal)
	case ib.LNHIPv6:
		h.ipv6(p, depth)
	case ib.LNHRaw:
		h.rawHeader(p, depth)
	}
}

// rawHeader rewrites a packet with a raw header, which a mirrored packet has, too.
func (h *headers) rawHeader(p part, depth int) {
	const size, mirrorSize, etherMirror = 4, 4, 0x1123
	if p.len() < size {
		h.removed.Other += int64(p.len())
		return
	}
	h.copy(p, size)
	etherType := binary.BigEndian.Uint16(h.in[p.off+2:])
	if p = p.from(size); etherType == etherMirror {
		h.lrh(p.from(mirrorSize), depth+1)
		return
	}
	h.network(etherType, p, depth)
}

// grh rewrites a GRH, with which RoCEv1 begins, and what follows it. The network header, at
// which the ICRC begins, is the GRH or a LRH before it.
func (h *headers) grh(p part, network int, header networkHeader) {
	if p.len() < grhSize || h.in[p.off]>>4 != 6 || h.in[p.off+6] != ib.NextHeaderTransport {
		h.removed.Other += int64(p.len())
		return
	}
	h.copy(p, 8)
	h.gid(p, 8)
	h.gid(p, 24)
	length := int(binary.BigEndian.Uint16(h.in[p.off+4:]))
	h.infiniband([16]byte(h.in[p.off+24:]), p.from(grhSize).limit(length), network, header)
}

// infiniband rewrites a packet from its BTH to its ICRC, which covers the bytes from the
// network header on.
func (h *headers) infiniband(to [16]byte, p part, network int, header networkHeader) {
	if p.len() < bthSize {
		h.copy(p, bthSize)
		return
	}
	b := h.in[p.off:p.end]
	if b[1]&0xf != 0 { // version
		h.removed.RDMA += int64(len(b))
		return
	}
	opcode := ib.Opcode(b[0])
	pad := int(b[1] >> 4 & 3)
	number, psn := binary.BigEndian.Uint32(b[4:])&0xffffff, binary.BigEndian.Uint32(b[8:])&0xffffff
	h.copy(p, bthSize)
	h.ibExtensions(p.from(bthSize), opcode)
	size := bthSize + opcode.Extensions().Size()
	if s := (sum{kind: sumICRC, at: p.off + p.wire - ib.ICRCSize, from: p.off, network: network, header: header}); !p.cut() &&
		p.wire >= size+ib.ICRCSize {
		s.state = s.icrcState(h.in)
		h.keep(p.end)
		h.sums = append(h.sums, s)
	}
	n := p.wire - size - pad - ib.ICRCSize
	if n < 0 {
		return
	}
	body := p.from(size).limit(n)
	switch operation := opcode.Operation(); {
	case opcode.Service() == ib.UD && number <= ib.QP1:
		h.mad(body)
	case operation == ib.Send:
		h.send(to, body, opcode, number, psn)
	case operation == ib.Write:
		h.pairs.packet(to, body, opcode, number)
	default:
		h.removed.RDMA += int64(body.len())
		return
	}
	if opcode.Service() != ib.UD && body.len() > 0 {
		h.payload = payload{off: body.off, size: body.len(), key: blockKey{flow: link.Flow{Dst: to}, number: infiniBandBlock(number, psn)}}
	}
}

// ibExtensions keeps extension headers, except for the data of atomic operations.
func (c *copier) ibExtensions(p part, opcode ib.Opcode) {
	set := opcode.Extensions()
	switch {
	case set.Has(ib.HasAtomicETH):
		const addressAndKey = 12
		c.copy(p, (set&(ib.HasAtomicETH-1)).Size()+addressAndKey)
	case set.Has(ib.HasAtomicAckETH):
		c.copy(p, (set & (ib.HasAtomicAckETH - 1)).Size())
	default:
		c.copy(p, set.Size())
	}
}

// packet returns the state of a queue pair, and records the size of a packet to it.
func (q *queuePairs) packet(to [16]byte, p part, opcode ib.Opcode, number uint32) *pairState {
	s := q.state(to, number)
	if !opcode.Last() && p.wire > 0 {
		s.mtu = p.wire
	}
	return s
}

// send rewrites a packet of a SEND. The payload of an IMMEDIATE is read later.
func (h *headers) send(to [16]byte, p part, opcode ib.Opcode, number, psn uint32) {
	q := h.pairs.packet(to, p, opcode, number)
	switch {
	case opcode.First():
		q.next, q.left = psn+1, h.kib(p, opcode.Last())
	case q.left > 0 && q.next == psn:
		n := min(q.left, p.wire)
		h.copy(p, n)
		q.next, q.left = psn+1, q.left-n
	default:
		q.left = 0
	}
}

// mad rewrites a management datagram: its header, and messages of the connection manager.
func (h *headers) mad(p part) {
	h.copy(p, ib.MADHeaderSize)
	var cm ib.CM
	if p.len() < ib.MADHeaderSize || !cm.DecodeMAD(h.in[p.off:p.end]) {
		h.removed.RDMA += int64(max(0, p.len()-ib.MADHeaderSize))
		return
	}
	p = p.from(ib.MADHeaderSize)
	fields := len(cm.Contents)
	private := p.from(p.len() - len(cm.Payload))
	switch cm.Type {
	case ib.CMReq:
		h.cmRequest(p)
		if cm.IP.Version != 0 {
			h.cmAddresses(p.from(fields), cm.IP.Version)
		}
		h.kib(private, true)
	case ib.CMRep:
		const guid = 28
		h.copy(p, guid)
		h.guid(p, guid)
		h.kib(private, true)
	case ib.CMRej:
		const info = 12
		h.copy(p, info)
		h.kibReject(private)
	case ib.CMMra, ib.CMRtu, ib.CMDreq, ib.CMDrep, ib.CMSidrReq:
		h.copy(p, fields)
	default:
		const ids = 8
		h.copy(p, ids)
	}
}

func (c *copier) cmRequest(p part) {
	const guid, primary, alternate, end = 16, 52, 96, 140
	c.copy(p, end)
	c.guid(p, guid)
	for _, path := range [...]int{primary, alternate} {
		const localLID, remoteLID, localGID, remoteGID = 0, 2, 4, 20
		for _, off := range [...]int{path + localLID, path + remoteLID} {
			at := p.off + off
			binary.BigEndian.PutUint16(c.out[at:], c.values.LID(binary.BigEndian.Uint16(c.in[at:])))
		}
		c.gid(p, path+localGID)
		c.gid(p, path+remoteGID)
	}
}

// cmAddresses rewrites the header of the RDMA connection manager in the private data of a
// REQ.
func (c *copier) cmAddresses(p part, version uint8) {
	const src, dst, unusedOf4 = 4, 20, 12
	c.copy(p, src)
	for _, off := range [...]int{src, dst} {
		if version == 4 {
			c.ipv4Address(p, off+unusedOf4)
		} else {
			c.ipv6Address(p, off)
		}
	}
}

// addInfiniBand adds the rewritten bytes of a message over InfiniBand: of an IMMEDIATE, or
// the payload that RDMA writes carried.
func (a *Anonymizer) addInfiniBand(m *dissect.Message) {
	to, number := as16(m.Dst), m.IB.DestQP
	add := func(psn uint32, b []byte) {
		a.content.add(blockKey{flow: link.Flow{Dst: to}, number: infiniBandBlock(number, psn)}, 0, b[:min(len(b), blockSize)], m.Order)
	}
	for _, p := range m.IB.Writes.Places {
		if off := min(p.Off, len(a.message)); off >= 0 {
			add(p.PSN, a.message[off:min(off+p.Len, len(a.message))])
		}
	}
	order := kibOrder(m.Data, lnet.KibSize)
	if len(m.IB.Parts) != 1 || order == nil || m.Data[6] != lnet.KibImmediate {
		return
	}
	mapKib(a.values, order, m.Data, a.message)
	if len(m.Data) == m.Size && len(m.Holes) == 0 {
		setKibSum(order, m.Data, a.message)
	}
	mtu := a.headers.pairs.state(to, number).mtu
	if mtu == 0 || len(a.message) <= mtu {
		mtu = max(1, len(a.message))
	}
	b := a.message
	for psn := m.IB.PSN; len(b) > 0; psn++ {
		n := min(len(b), mtu)
		add(psn, b[:n])
		b = b[n:]
	}
}
