package dissect

import (
	"encoding/binary"
	"strconv"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Sources of the transport.
const (
	inPacket   = InTransport     // headers of the packet that completed the message
	inWrite    = InTransport + 1 // headers of the first RDMA write
	inMessages = InTransport + 2 // messages of o2iblnd, in their order
)

// Places in a kib_msg, and its sizes.
const (
	kibTypeOff    = 6
	kibNobOff     = 8
	kibHeaderSize = 48
	kibMaxSize    = 4096
)

// infiniband walks the headers of InfiniBand and the messages of o2iblnd.
func (t *Tree) infiniband(m *Message) {
	w, s := &t.walker, ibSections{t, m.IB}
	if len(m.IB.Headers) > 0 {
		s.packet()
	}
	w.use(InMessage, m.Data)
	switch {
	case m.Kind >= lnet.Connreq && m.Kind <= lnet.Drep && len(m.Data) == 0:
	case m.Kind == lnet.Connrej:
		t.section(sectionKibRej, 0, m.Size)
	case m.Kind == lnet.Connreq || m.Kind == lnet.Connack:
		t.section(sectionKibConn, 0, m.Size)
	case len(m.IB.Parts) > 0 && !isImmediate(m.IB):
		s.messages()
	case len(m.IB.Parts) > 0:
		t.section(sectionKib, 0, kibHeaderSize)
	}
	w.use(InMessage, m.Data)
	w.big = false
}

// ibSections walks the sections of the transport of a message that came over
// InfiniBand.
type ibSections struct {
	tree *Tree
	ib   *lnet.IB
}

// use makes a packet or message of the transport the bytes that offsets count in.
func (s *ibSections) use(src Source, b []byte) {
	s.tree.src[src] = b
	s.tree.walker.use(src, b)
}

// packet walks the headers of the packet that completed the message, and of the first
// RDMA write with its payload.
func (s *ibSections) packet() {
	t, w := s.tree, &s.tree.walker
	section := len(t.Nodes)
	s.use(inPacket, s.ib.Headers)
	end := t.section(sectionIB, 0, len(s.ib.Headers))
	writes := &s.ib.Writes
	if len(writes.Headers) == 0 {
		return
	}
	s.use(inWrite, writes.Headers)
	w.depth++
	i := len(t.Nodes)
	w.record(opcodes.RDMAWrite, nil, 0, len(writes.Headers))
	if t.Remarks {
		t.remark(i, appendWrites(t.src[InText], writes))
	}
	w.depth--
	w.close(section, end)
}

// messages walks the messages of a transfer, the later ones inside the section of the
// first.
func (s *ibSections) messages() {
	t, w, parts := s.tree, &s.tree.walker, s.ib.Parts
	section := len(t.Nodes)
	s.use(inMessages, parts[0].Data)
	end := t.section(sectionKib, 0, kibLength(parts[0].Data))
	w.depth++
	for k := 1; k < len(parts) && int(inMessages)+k < len(t.src); k++ {
		f := opcodes.KibLater(kibType(parts[k].Data))
		if f == nil {
			continue
		}
		s.use(inMessages+Source(k), parts[k].Data)
		i := len(t.Nodes)
		w.record(f, nil, 0, kibLength(parts[k].Data))
		s.remarkFrame(i, k)
	}
	w.depth--
	w.close(section, end)
	s.remarkFrame(section, 0)
}

// remarkFrame adds a remark with the frame of an o2iblnd message on its node i, if the
// message is one of several.
func (s *ibSections) remarkFrame(i, k int) {
	if t := s.tree; t.Remarks && len(s.ib.Parts) > 1 {
		t.remark(i, strconv.AppendInt(append(t.src[InText], "frame "...), s.ib.Parts[k].Frame.Number, 10))
	}
}

// remark adds a remark on node i, behind its last part. text is what the texts of the
// tree are with it.
func (t *Tree) remark(i int, text []byte) {
	w, n := &t.walker, t.Nodes[i]
	start := len(t.src[InText])
	t.src[InText] = text
	k := w.open(n.Field, start, len(text)-start)
	t.Nodes[k].Src, t.Nodes[k].Depth = InText, n.Depth
	t.Nodes[k].State |= Remark
}

// isImmediate reports whether a message consists of one IMMEDIATE.
func isImmediate(x *lnet.IB) bool {
	return len(x.Parts) == 1 && kibType(x.Parts[0].Data) == opcodes.KibImmediate
}

func kibType(b []byte) byte {
	if len(b) <= kibTypeOff {
		return 0
	}
	return b[kibTypeOff]
}

// kibLength returns the length of a kib_msg as far as trees show it in the section of
// o2iblnd: without the payload of an IMMEDIATE.
func kibLength(b []byte) int {
	if kibType(b) == opcodes.KibImmediate || len(b) < kibNobOff+4 {
		return kibHeaderSize
	}
	nob := schema.ReadUint(b[kibNobOff:kibNobOff+4], opcodes.KibMsg.Big(b, false))
	return int(min(max(nob, kibHeaderSize), kibMaxSize))
}

// appendWrites appends how much RDMA writes carried, and when.
func appendWrites(dst []byte, writes *lnet.IBWrites) []byte {
	dst = strconv.AppendInt(dst, int64(writes.Packets), 10)
	dst = append(dst, " packet"...)
	if writes.Packets != 1 {
		dst = append(dst, 's')
	}
	dst = strconv.AppendInt(append(dst, ", "...), int64(writes.Bytes), 10)
	dst = strconv.AppendInt(append(dst, " bytes, frame "...), writes.First.Number, 10)
	if writes.Packets > 1 {
		dst = strconv.AppendInt(append(dst, " to "...), writes.Last.Number, 10)
		dst = appendMicroseconds(append(dst, " in "...), (writes.Last.Time-writes.First.Time)/1e3)
	}
	return dst
}

// appendMicroseconds appends a time, in milliseconds where microseconds would be more
// than four digits.
func appendMicroseconds(dst []byte, us int64) []byte {
	if us < 1e4 {
		return append(strconv.AppendInt(dst, us, 10), " us"...)
	}
	return append(strconv.AppendInt(dst, us/1e3, 10), " ms"...)
}

// impliedReply walks the LNet header of a REPLY whose data came by RDMA writes. It is
// not on the wire; all of it follows from the GET.
func (t *Tree) impliedReply(m *Message) {
	const (
		typeOff, lengthOff, commandOff = 24, 28, 32
		nidSize, pidSize, handleSize   = 8, 4, 16
	)
	size := opcodes.LNetHdr4.Size
	if m.IB == nil || len(m.IB.Parts) == 0 || len(m.IB.Parts[0].Data) < kibHeaderSize+size ||
		kibType(m.IB.Parts[0].Data) != opcodes.KibGetReq {
		return
	}
	get := m.IB.Parts[0].Data[kibHeaderSize : kibHeaderSize+size]
	b := append(t.src[Implied][:0], get[nidSize:2*nidSize]...)
	b = append(b, get[:nidSize]...)
	b = append(b, get[2*nidSize+pidSize:typeOff]...)
	b = append(b, get[2*nidSize:2*nidSize+pidSize]...)
	b = binary.LittleEndian.AppendUint32(b, uint32(lnet.TypeReply))
	b = binary.LittleEndian.AppendUint32(b, m.LNet.Length)
	b = append(b, get[commandOff:commandOff+handleSize]...)
	for len(b) < size {
		b = append(b, 0)
	}
	t.src[Implied] = b
	w := &t.walker
	w.use(Implied, b)
	i := len(t.Nodes)
	t.section(sectionLNet4, 0, size)
	if t.Remarks {
		t.remark(i, append(t.src[InText], "not sent: follows from the GET"...))
	}
	w.use(InMessage, m.Data)
}
