package lnet

import "encoding/binary"

// Magic numbers of the connection set-up.
const (
	magicAcceptor = 0xacce7100
	magicLNet     = 0x45726963
	magicTCP      = 0xeebc0ded // socklnd 1, always little-endian
)

// maxHelloAddrs bounds the addresses in a hello. Nodes list 16 at most.
const maxHelloAddrs = 64

// parseGreeting parses a connection request or a hello.
func parseGreeting(b []byte) (head, verdict) {
	little, big := orderLittle.u32(b), orderBig.u32(b)
	o := orderLittle
	switch {
	case little == magicTCP:
		return parseHello1(b)
	case big == magicAcceptor || big == magicLNet:
		o = orderBig
	case little != magicAcceptor && little != magicLNet:
		return head{}, invalid
	}
	if len(b) < 8 {
		return head{}, incomplete
	}
	version := o.u32(b[4:])
	if o.u32(b) == magicAcceptor {
		switch version {
		case 1:
			return greeting(Connreq, o, 0, 16), valid
		case 2:
			return greeting(Connreq, o, 0, 28), valid
		}
		return head{}, invalid
	}
	switch version {
	case 2, 3:
		if len(b) < 56 {
			return head{}, incomplete
		}
		n := o.u32(b[52:])
		if n > maxHelloAddrs {
			return head{}, invalid
		}
		return greeting(Hello, o, uint8(version), 56+4*int(n)), valid
	case 4:
		return greeting(Hello, o, 4, 80), valid
	}
	return head{}, invalid
}

// parseHello1 parses the hello of socklnd 1: an LNet header with magic and version
// in place of the destination.
func parseHello1(b []byte) (head, verdict) {
	if len(b) < 32 {
		return head{}, incomplete
	}
	le := binary.LittleEndian
	n := le.Uint32(b[28:])
	if le.Uint16(b[4:]) != 1 || Type(le.Uint32(b[24:])) != TypeHello || n > 4*maxHelloAddrs {
		return head{}, invalid
	}
	return greeting(Hello, orderLittle, 1, lnet4Size+int(n)), valid
}

func greeting(k Kind, o order, version uint8, size int) head {
	return head{kind: k, order: o, version: version, lnetOff: -1, size: size}
}

// formOf returns the form of the headers that follow a hello of this version.
func formOf(version uint8) form {
	switch version {
	case 1:
		return formBare
	case 2, 3:
		return formShort
	case 4:
		return formLong
	}
	return formUnknown
}

// helloNIDs decodes the NIDs in a hello.
func helloNIDs(l *Header, h *head, b []byte) {
	if len(b) < h.size {
		return
	}
	switch h.version {
	case 1:
		l.Src = NID4(binary.LittleEndian.Uint64(b[8:]))
	case 2, 3:
		l.Src, l.Dst = NID4(h.order.u64(b[8:])), NID4(h.order.u64(b[16:]))
	case 4:
		l.Src, l.Dst = NID16(b[8:]), NID16(b[28:])
	}
}

// connreqNID decodes the NID in a connection request.
func connreqNID(l *Header, h *head, b []byte) {
	switch {
	case len(b) < h.size:
	case h.size == 16:
		l.Dst = NID4(h.order.u64(b[8:]))
	default:
		l.Dst = NID16(b[8:])
	}
}
