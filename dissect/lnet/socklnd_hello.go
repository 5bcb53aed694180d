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

// parseGreeting parses a connection request or a hello, and sets h if it is valid.
func parseGreeting(b []byte, h *head) verdict {
	little, big := orderLittle.u32(b), orderBig.u32(b)
	o := orderLittle
	switch {
	case little == magicTCP:
		return parseHello1(b, h)
	case big == magicAcceptor || big == magicLNet:
		o = orderBig
	case little != magicAcceptor && little != magicLNet:
		return invalid
	}
	if len(b) < 8 {
		return incomplete
	}
	version := o.u32(b[4:])
	if o.u32(b) == magicAcceptor {
		switch version {
		case 1:
			return h.setGreeting(Connreq, o, 0, 16)
		case 2:
			return h.setGreeting(Connreq, o, 0, 28)
		}
		return invalid
	}
	switch version {
	case 2, 3:
		if len(b) < 56 {
			return incomplete
		}
		n := o.u32(b[52:])
		if n > maxHelloAddrs {
			return invalid
		}
		return h.setGreeting(Hello, o, uint8(version), 56+4*int(n))
	case 4:
		return h.setGreeting(Hello, o, 4, 80)
	}
	return invalid
}

// parseHello1 parses the hello of socklnd 1: an LNet header with magic and version
// in place of the destination.
func parseHello1(b []byte, h *head) verdict {
	if len(b) < 32 {
		return incomplete
	}
	le := binary.LittleEndian
	n := le.Uint32(b[28:])
	if le.Uint16(b[4:]) != 1 || Type(le.Uint32(b[24:])) != TypeHello || n > 4*maxHelloAddrs {
		return invalid
	}
	return h.setGreeting(Hello, orderLittle, 1, lnet4Size+int(n))
}

// setGreeting sets the fields of a connection request or a hello.
func (h *head) setGreeting(k Kind, o order, version uint8, size int) verdict {
	*h = head{kind: k, order: o, version: version, lnetOff: -1, size: size}
	return valid
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
