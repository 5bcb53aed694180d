package anonymize

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/ib"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/anonymize/values"
	"github.com/lshark/lshark/internal/fifo"
)

// maxQueuePairs is of how many queue pairs the state is kept that is needed to rewrite the payload of the
// next packet to them.
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

func (h *headers) pair(addr [16]byte, number uint32) *pairState {
	return fifo.GetOrNew(h.pairs, queuePair{addr, number})
}

// infiniband rewrites the payload of a packet, or notes where it is: that of SENDs and WRITEs
// is read later.
func (h *headers) infiniband(p part) {
	g := &h.link.Packet
	to, opcode, number, psn := g.Dst, g.BTH.Opcode, g.BTH.DestQP, g.BTH.PSN
	switch operation := opcode.Operation(); {
	case opcode.Service() == ib.UD && number <= ib.QP1:
		h.mad(p)
	case operation == ib.Send:
		h.send(to, p, opcode, number, psn)
	case operation == ib.Write:
		h.pairOf(to, p, opcode, number)
	default:
		h.removed.RDMA += int64(p.len())
		return
	}
	if opcode.Service() != ib.UD && p.len() > 0 {
		h.payload = payload{off: p.off, size: p.len(), key: blockKey{flow: link.Flow{Dst: to}, number: infiniBandBlock(number, psn)}}
	}
}

// extensions keeps extension headers, except for the data of atomic operations.
func (h *headers) extensions(p part, opcode ib.Opcode) {
	set := opcode.Extensions()
	switch {
	case set.Has(ib.HasAtomicETH):
		const addressAndKey = 12
		h.copy(p, (set&(ib.HasAtomicETH-1)).Size()+addressAndKey)
	case set.Has(ib.HasAtomicAckETH):
		h.copy(p, (set & (ib.HasAtomicAckETH - 1)).Size())
	default:
		h.copy(p, set.Size())
	}
}

// pairOf returns the state of a queue pair, and records the size of a packet to it.
func (h *headers) pairOf(to [16]byte, p part, opcode ib.Opcode, number uint32) *pairState {
	s := h.pair(to, number)
	if !opcode.Last() && p.wire > 0 {
		s.mtu = p.wire
	}
	return s
}

// send rewrites a packet of a SEND. The payload of an IMMEDIATE is read later.
func (h *headers) send(to [16]byte, p part, opcode ib.Opcode, number, psn uint32) {
	q := h.pairOf(to, p, opcode, number)
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

// cmFields has for the messages of the connection manager what is kept of them; of others the
// ids.
var cmFields = map[ib.CMType][]field{
	ib.CMReq: {{0, whole, nil}, {16, 8, (*values.Mapper).GUID},
		{52, 2, (*values.Mapper).LID}, {54, 2, (*values.Mapper).LID}, {56, 16, (*values.Mapper).GID}, {72, 16, (*values.Mapper).GID}, // the path
		{96, 2, (*values.Mapper).LID}, {98, 2, (*values.Mapper).LID}, {100, 16, (*values.Mapper).GID}, {116, 16, (*values.Mapper).GID}}, // the alternate one
	ib.CMMra:     {{0, whole, nil}},
	ib.CMRej:     {{0, 12, nil}}, // behind it is what was wrong: an address, for example
	ib.CMRep:     {{0, 28, nil}, {28, 8, (*values.Mapper).GUID}},
	ib.CMRtu:     {{0, whole, nil}},
	ib.CMDreq:    {{0, whole, nil}},
	ib.CMDrep:    {{0, whole, nil}},
	ib.CMSidrReq: {{0, whole, nil}},
	ib.CMSidrRep: {{0, 8, nil}},
	ib.CMLap:     {{0, 8, nil}},
	ib.CMApr:     {{0, 8, nil}},
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
	h.fields(p, len(cm.Contents), cmFields[cm.Type])
	addresses, private := p.from(len(cm.Contents)), p.from(p.len()-len(cm.Payload))
	switch cm.IPVersion { // of the RDMA connection manager, in the private data of a REQ
	case 4:
		h.fields(addresses, whole, []field{{0, 4, nil}, {16, 4, (*values.Mapper).IPv4}, {32, 4, (*values.Mapper).IPv4}})
	case 6:
		h.fields(addresses, whole, []field{{0, 4, nil}, {4, 16, (*values.Mapper).IPv6}, {20, 16, (*values.Mapper).IPv6}})
	}
	switch cm.Type {
	case ib.CMReq, ib.CMRep:
		h.kib(private, true)
	case ib.CMRej:
		if kibOrder(h.in[private.off:private.end], kibRejectSize) != nil {
			h.copy(private, kibRejectSize) // a reason and parameters
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
	if len(m.IB.Parts) != 1 || kibOrder(m.Data, lnet.KibSize) == nil || m.Data[6] != lnet.KibImmediate {
		return
	}
	mtu := a.headers.pair(to, number).mtu
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
