package lnet

import "encoding/binary"

// Type is the type of an LNet message.
type Type uint8

// The LNet message types, as numbered on the wire.
const (
	TypeAck Type = iota
	TypePut
	TypeGet
	TypeReply
	TypeHello
)

// Header is a decoded LNet header. The fields behind Length are valid for the types
// in their comments.
type Header struct {
	Type      Type
	Src, Dst  NID
	Length    uint32   // bytes of payload
	MatchBits uint64   // PUT, GET, ACK
	Portal    uint32   // PUT, GET
	Offset    uint32   // PUT: offset, GET: src_offset
	Sink      uint32   // GET: sink_length, ACK: mlength
	Handle    [16]byte // PUT: ack_wmd, GET: return_wmd, ACK and REPLY: dst_wmd
}

// Sizes of LNet headers and payloads, in bytes.
const (
	lnet4Size  = 72 // with 8-byte NIDs
	lnet16Size = 96 // with 20-byte NIDs: socklnd 4
	maxPayload = 1<<20 + 4096
)

// Process ids in LNet headers.
const (
	kernelPid   = 12345   // of kernel Lustre
	userPidFlag = 1 << 31 // set in those of user space
)

// decodeLNet decodes an LNet header of the given form from b, which must hold
// all of it.
func decodeLNet(h *Header, f form, b []byte) {
	le := binary.LittleEndian
	if f == formLong {
		h.Dst, h.Src = NID16(b), NID16(b[20:])
		b = b[40:]
	} else {
		h.Dst.set4(le.Uint64(b))
		h.Src.set4(le.Uint64(b[8:]))
		b = b[16:]
	}
	h.Type = Type(le.Uint32(b[8:]))
	h.Length = le.Uint32(b[12:])
	cmd := b[16:56]
	h.MatchBits, h.Portal, h.Offset, h.Sink = 0, 0, 0, 0
	copy(h.Handle[:], cmd)
	switch h.Type {
	case TypeAck:
		h.MatchBits, h.Sink = le.Uint64(cmd[16:]), le.Uint32(cmd[24:])
	case TypePut:
		h.MatchBits, h.Portal, h.Offset = le.Uint64(cmd[16:]), le.Uint32(cmd[32:]), le.Uint32(cmd[36:])
	case TypeGet:
		h.MatchBits, h.Portal, h.Offset, h.Sink = le.Uint64(cmd[16:]), le.Uint32(cmd[24:]), le.Uint32(cmd[28:]), le.Uint32(cmd[32:])
	}
}

// lnetLength decodes type and payload length, which follow the NIDs and process
// ids; ok is false when no message has such.
func lnetLength(f form, b []byte) (typ Type, length int, ok bool) {
	b = b[f.nidBytes()+8:]
	t, n := binary.LittleEndian.Uint32(b), binary.LittleEndian.Uint32(b[4:])
	if t > uint32(TypeReply) || n > maxPayload {
		return 0, 0, false
	}
	typ = Type(t)
	if n != 0 && (typ == TypeGet || typ == TypeAck) {
		return 0, 0, false
	}
	return typ, int(n), true
}
