package lnet

import "encoding/binary"

// LNet header sizes, and what precedes the header in socklnd 2 and later.
const (
	ksockSize   = 24
	lnet4Size   = 72 // with 8-byte NIDs
	lnet16Size  = 96 // with 20-byte NIDs, socklnd 4
	maxPayload  = 1<<20 + 4096
	maxHeader   = ksockSize + lnet16Size
	maxMessage  = maxHeader + maxPayload
	lnetLndPid  = 12345 // process id of kernel Lustre
	lnetUserPid = 1 << 31
)

// form is the shape of the headers of a stream.
type form uint8

const (
	formUnknown form = iota
	formBare         // LNet headers alone: socklnd 1
	formShort        // ksock header and 72-byte LNet header: socklnd 2 and 3
	formLong         // ksock header and 96-byte LNet header: socklnd 4
)

// lnetOff is where the LNet header begins.
func (f form) lnetOff() int {
	if f == formBare {
		return 0
	}
	return ksockSize
}

// nids is the size of the two NIDs at the start of the LNet header.
func (f form) nids() int {
	if f == formLong {
		return 40
	}
	return 16
}

// header is the size of everything before the payload.
func (f form) header() int { return f.lnetOff() + f.nids() + 56 }

// NID4 is the NID of the 8-byte form.
func NID4(v uint64) NID {
	n := NID{Len: 4, Type: uint8(v >> 48), Num: uint16(v >> 32)}
	binary.BigEndian.PutUint32(n.Addr[:], uint32(v))
	if v == 0 {
		n.Len = 0
	}
	return n
}

// NID16 is the NID of the 20-byte form, struct lnet_nid. Its first byte counts
// what the address has beyond four bytes.
func NID16(b []byte) NID {
	if len(b) < 4 {
		return NID{}
	}
	n := NID{Len: 4, Type: b[1], Num: binary.BigEndian.Uint16(b[2:])}
	switch {
	case n.Type == nidAny:
		n.Num = 0xffff
	case b[0] == 12:
		n.Len = 16
	}
	copy(n.Addr[:n.Len], b[4:])
	if n == (NID{Len: 4}) {
		n.Len = 0
	}
	return n
}

const nidAny = 0xff

// plausible tells a NID from chance bytes, as far as one can.
func (n NID) plausible() bool {
	switch n.Type {
	case 2, 5, 9, 13, 14, 15, 16, 17, 18, 19:
		return n.Len > 0
	}
	return false
}

// decodeLNet reads an LNet header of the given form from b, which must hold
// all of it.
func decodeLNet(h *Header, f form, b []byte) {
	le := binary.LittleEndian
	if f == formLong {
		h.Dst, h.Src = NID16(b), NID16(b[20:])
		b = b[40:]
	} else {
		h.Dst, h.Src = NID4(le.Uint64(b)), NID4(le.Uint64(b[8:]))
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

// lnetLength reads type and payload length, which stand behind NIDs and
// process ids; ok is false when they cannot be those of a message.
func lnetLength(f form, b []byte) (typ Type, length int, ok bool) {
	b = b[f.nids()+8:]
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
