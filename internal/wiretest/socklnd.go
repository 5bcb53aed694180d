package wiretest

import (
	"encoding/binary"
	"hash/crc32"
	"net/netip"
)

// LNet message types.
const (
	Ack = iota
	Put
	Get
	Reply
	hello
)

// Magic numbers and message types of socklnd.
const (
	magicAcceptor = 0xacce7100
	magicLNet     = 0x45726963
	magicTCP      = 0xeebc0ded
	ksockNoop     = 0xc0
	ksockLNet     = 0xc1

	pid = 12345 // process id of kernel Lustre
)

// Socklnd builds the messages of a version of socklnd between
// 10.0.0.1@tcp and 10.0.0.2@tcp, in version 4 between fd00::1@tcp and
// fd00::2@tcp. The first node sends, or the second if back is set.
type Socklnd struct {
	Version int
	Big     bool // the sender is big-endian
	Sum     bool // with a checksum
}

func (w Socklnd) uint32(b []byte, v uint32) []byte {
	if w.Big {
		return binary.BigEndian.AppendUint32(b, v)
	}
	return binary.LittleEndian.AppendUint32(b, v)
}

func (w Socklnd) uint64(b []byte, v uint64) []byte {
	if w.Big {
		return binary.BigEndian.AppendUint64(b, v)
	}
	return binary.LittleEndian.AppendUint64(b, v)
}

// nid4 returns the NID of the sender in the 8-byte form.
func nid4(back bool) uint64 {
	if back {
		return 2<<48 | 0x0a000002
	}
	return 2<<48 | 0x0a000001
}

// nid16 appends the NID of the sender in the 20-byte form.
func nid16(b []byte, back bool) []byte {
	addr := netip.MustParseAddr("fd00::1")
	if back {
		addr = netip.MustParseAddr("fd00::2")
	}
	b = append(b, 12, 2, 0, 0)
	return append(b, addr.AsSlice()...)
}

// Hello builds a hello.
func (w Socklnd) Hello(back bool, ips ...uint32) []byte {
	var b []byte
	switch w.Version {
	case 1:
		le := binary.LittleEndian
		b = le.AppendUint32(b, magicTCP)
		b = append(b, 1, 0, 0, 0)
		b = le.AppendUint64(b, nid4(back))
		b = le.AppendUint64(b, 0)
		b = le.AppendUint32(b, hello)
		b = le.AppendUint32(b, uint32(4*len(ips)))
		b = append(b, make([]byte, 40)...)
	case 4:
		b = w.uint32(w.uint32(b, magicLNet), 4)
		b = nid16(nid16(b, back), !back)
		b = append(b, make([]byte, 32)...)
	default:
		b = w.uint32(w.uint32(b, magicLNet), uint32(w.Version))
		b = w.uint64(w.uint64(b, nid4(back)), nid4(!back))
		b = append(b, make([]byte, 28)...)
		b = w.uint32(b, uint32(len(ips)))
	}
	for _, ip := range ips {
		b = w.uint32(b, ip)
	}
	return b
}

// Greet sends the hellos of both ends, the first messages of a connection.
func (c *Conn) Greet(w Socklnd) *Conn {
	return c.Send(false, w.Hello(false)).Send(true, w.Hello(true))
}

// Connreq builds the request to the acceptor.
func (w Socklnd) Connreq() []byte {
	if w.Version == 4 {
		return nid16(w.uint32(w.uint32(nil, magicAcceptor), 2), true)
	}
	return w.uint64(w.uint32(w.uint32(nil, magicAcceptor), 1), nid4(true))
}

// Noop builds a NOOP with two zero-copy cookies.
func (w Socklnd) Noop(first, second uint64) []byte {
	return w.uint64(w.uint64(w.uint32(w.uint32(nil, ksockNoop), 0), first), second)
}

// LNet builds an LNet message with the given payload.
func (w Socklnd) LNet(back bool, typ uint32, portal uint32, match uint64, payload []byte) []byte {
	return w.lnet(back, typ, portal, match, 0, payload)
}

// PutAt builds a PUT whose payload goes to an offset of the receiver's buffer.
// The receiver has to acknowledge it.
func (w Socklnd) PutAt(back bool, portal uint32, match uint64, offset uint32, payload []byte) []byte {
	return w.lnet(back, Put, portal, match, offset, payload)
}

// Transfer builds the GET by which the second node fetches a payload from the
// first, and the REPLY that brings it.
func (w Socklnd) Transfer(portal uint32, match uint64, payload []byte) (get, reply []byte) {
	return w.lnet(true, Get, portal, match, uint32(len(payload)), nil), w.lnet(false, Reply, 0, match, 0, payload)
}

// lnet builds an LNet message. The extent is the offset of a PUT or the sink
// length of a GET. The handle in the command is derived from the match bits, so
// that a REPLY or ACK with the bits of a GET or PUT has the handle of that one.
func (w Socklnd) lnet(back bool, typ uint32, portal uint32, match uint64, extent uint32, payload []byte) []byte {
	le := binary.LittleEndian
	var b []byte
	if w.Version != 1 {
		b = append(w.uint32(w.uint32(b, ksockLNet), 0), make([]byte, 16)...)
	}
	if w.Version == 4 {
		b = nid16(nid16(b, !back), back)
	} else {
		b = le.AppendUint64(le.AppendUint64(b, nid4(!back)), nid4(back))
	}
	b = le.AppendUint32(le.AppendUint32(b, pid), pid)
	b = le.AppendUint32(le.AppendUint32(b, typ), uint32(len(payload)))
	b = append(append(b, command(typ, portal, match, extent)...), payload...)
	if w.Sum {
		copy(b[4:], w.uint32(nil, ^crc32.ChecksumIEEE(b)))
	}
	return b
}

// command builds the part of an LNet header that depends on the type.
func command(typ uint32, portal uint32, match uint64, extent uint32) []byte {
	le := binary.LittleEndian
	b := make([]byte, 40)
	le.PutUint64(b, match^0x1234)
	le.PutUint64(b[16:], match)
	switch typ {
	case Put:
		le.PutUint32(b[32:], portal)
		le.PutUint32(b[36:], extent)
	case Get:
		le.PutUint32(b[24:], portal)
		le.PutUint32(b[32:], extent)
	}
	return b
}

// Put builds a PUT to portal 12 with n bytes of payload.
func (w Socklnd) Put(match uint64, n int) []byte {
	payload := make([]byte, n)
	for i := range payload {
		payload[i] = byte(i*7 + int(match))
	}
	return w.LNet(false, Put, 12, match, payload)
}

// Join returns the parts as one slice.
func Join(parts ...[]byte) []byte {
	var b []byte
	for _, p := range parts {
		b = append(b, p...)
	}
	return b
}
