package wiretest

import (
	"encoding/binary"
	"hash/crc32"
	"net/netip"
	"slices"
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

func (w Socklnd) order() binary.ByteOrder { return order(w.Big) }

func order(big bool) binary.ByteOrder {
	if big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

var (
	le = binary.LittleEndian
	be = binary.BigEndian
)

// pack returns numbers of a fixed size and bytes, one behind the other.
func pack(order binary.ByteOrder, parts ...any) (b []byte) {
	for _, part := range parts {
		var err error
		if b, err = binary.Append(b, order, part); err != nil {
			panic(err)
		}
	}
	return b
}

// nid4 returns the NID of the sender in the 8-byte form.
func nid4(back bool) uint64 {
	if back {
		return 2<<48 | 0x0a000002
	}
	return 2<<48 | 0x0a000001
}

// nid16 returns the NID of the sender in the 20-byte form.
func nid16(back bool) []byte {
	addr := netip.MustParseAddr("fd00::1")
	if back {
		addr = addr.Next()
	}
	return append([]byte{12, 2, 0, 0}, addr.AsSlice()...)
}

// Hello builds a hello.
func (w Socklnd) Hello(back bool, ips ...uint32) []byte {
	version, n := uint32(w.Version), uint32(len(ips))
	switch w.Version {
	case 1:
		return pack(le, uint32(magicTCP), uint32(1), nid4(back), uint64(0), uint32(hello), 4*n, make([]byte, 40), pack(w.order(), ips))
	case 4:
		return pack(w.order(), uint32(magicLNet), version, nid16(back), nid16(!back), make([]byte, 32), ips)
	}
	return pack(w.order(), uint32(magicLNet), version, nid4(back), nid4(!back), make([]byte, 28), n, ips)
}

// Greet sends the hellos of both ends, the first messages of a connection.
func (c *Conn) Greet(w Socklnd) *Conn {
	return c.Send(false, w.Hello(false)).Send(true, w.Hello(true))
}

// Connreq builds the request to the acceptor.
func (w Socklnd) Connreq() []byte {
	if w.Version == 4 {
		return pack(w.order(), uint32(magicAcceptor), uint32(2), nid16(true))
	}
	return pack(w.order(), uint32(magicAcceptor), uint32(1), nid4(true))
}

// Noop builds a NOOP with two zero-copy cookies.
func (w Socklnd) Noop(first, second uint64) []byte {
	return pack(w.order(), uint32(ksockNoop), uint32(0), first, second)
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
	var b []byte
	if w.Version != 1 {
		b = pack(w.order(), uint32(ksockLNet), make([]byte, 20))
	}
	nids := pack(le, nid4(!back), nid4(back))
	if w.Version == 4 {
		nids = Join(nid16(!back), nid16(back))
	}
	b = Join(b, nids, pack(le, uint32(pid), uint32(pid), typ, uint32(len(payload)), command(typ, portal, match, extent), payload))
	if w.Sum {
		w.order().PutUint32(b[4:], ^crc32.ChecksumIEEE(b))
	}
	return b
}

// command builds the part of an LNet header that depends on the type.
func command(typ uint32, portal uint32, match uint64, extent uint32) []byte {
	begin := pack(le, match^0x1234, uint64(0), match)
	switch typ {
	case Put:
		return pack(le, begin, uint64(0), portal, extent)
	case Get:
		return pack(le, begin, portal, uint32(0), extent, uint32(0))
	}
	return pack(le, begin, make([]byte, 16))
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
func Join(parts ...[]byte) []byte { return slices.Concat(parts...) }
