package wiretest

import "encoding/binary"

// Types of the messages of o2iblnd.
const (
	O2Connreq   = 0xc0
	O2Connack   = 0xc1
	O2Noop      = 0xd0
	O2Immediate = 0xd1
	O2PutReq    = 0xd2
	O2PutNak    = 0xd3
	O2PutAck    = 0xd4
	O2PutDone   = 0xd5
	O2GetReq    = 0xd6
	O2GetDone   = 0xd7
)

const magicO2iblnd = 0x0be91b91

// O2iblnd builds the messages of o2iblnd between 10.0.0.1@o2ib and 10.0.0.2@o2ib.
// The first node sends, or the second if back is set.
type O2iblnd struct {
	Version uint16 // 0 stands for 0x12
	Big     bool   // the sender is big-endian
	Sum     bool   // with a checksum
	Credits uint8  // given back by each message
}

// Fragment is memory of a node that its peer may write to.
type Fragment struct {
	Address uint64
	Size    uint32
}

func (w O2iblnd) order() binary.AppendByteOrder {
	if w.Big {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// o2NID returns the NID of the sender.
func o2NID(back bool) uint64 { return nid4(back)&(1<<48-1) | 5<<48 }

// Message builds a message of any type.
func (w O2iblnd) Message(back bool, typ byte, body []byte) []byte {
	const stampOfA, stampOfB = 0x0001_7000_0000_000a, 0x0001_7000_0000_000b
	order, version := w.order(), w.Version
	if version == 0 {
		version = 0x12
	}
	stamp, peer := uint64(stampOfA), uint64(stampOfB)
	if back {
		stamp, peer = peer, stamp
	}
	b := order.AppendUint32(nil, magicO2iblnd)
	b = append(order.AppendUint16(b, version), typ, w.Credits)
	b = order.AppendUint32(b, uint32(48+len(body)))
	b = order.AppendUint32(b, 0)
	b = order.AppendUint64(order.AppendUint64(b, o2NID(back)), stamp)
	b = order.AppendUint64(order.AppendUint64(b, o2NID(!back)), peer)
	b = append(b, body...)
	if w.Sum {
		copy(b[12:], order.AppendUint32(nil, o2Checksum(b)))
	}
	return b
}

// o2Checksum returns the checksum of a message in which it is zero.
func o2Checksum(b []byte) uint32 {
	var sum uint32
	for _, c := range b {
		sum = (sum<<1 | sum>>31) + uint32(int8(c))
	}
	return max(sum, 1)
}

// header builds an LNet header, which is little-endian.
func (w O2iblnd) header(back bool, typ, portal uint32, match uint64, extent uint32, size int) []byte {
	le := binary.LittleEndian
	b := le.AppendUint64(le.AppendUint64(nil, o2NID(!back)), o2NID(back))
	b = le.AppendUint32(le.AppendUint32(b, pid), pid)
	b = le.AppendUint32(le.AppendUint32(b, typ), uint32(size))
	return append(b, command(typ, portal, match, extent)...)
}

// Connreq builds the private data of a REQ.
func (w O2iblnd) Connreq() []byte { return w.Message(false, O2Connreq, w.parameters()) }

// Connack builds the private data of a REP.
func (w O2iblnd) Connack() []byte { return w.Message(true, O2Connack, w.parameters()) }

// parameters builds the connection parameters.
func (w O2iblnd) parameters() []byte {
	const queueDepth, fragments, messageSize = 8, 257, 4096
	order := w.order()
	return order.AppendUint32(order.AppendUint16(order.AppendUint16(nil, queueDepth), fragments), messageSize)
}

// Refusal builds the private data of a REJ.
func (w O2iblnd) Refusal(why byte) []byte {
	order := w.order()
	b := append(order.AppendUint16(order.AppendUint32(nil, magicO2iblnd), 0x12), why, 0)
	return append(order.AppendUint64(b, 0x0001_7000_0000_000b), w.parameters()...)
}

// Noop builds a message that only gives back credits.
func (w O2iblnd) Noop(back bool) []byte { return w.Message(back, O2Noop, nil) }

// Immediate builds a whole LNet message. The extent is the offset of a PUT or the
// length of a GET.
func (w O2iblnd) Immediate(back bool, typ, portal uint32, match uint64, extent uint32, payload []byte) []byte {
	return w.Message(back, O2Immediate, Join(w.header(back, typ, portal, match, extent, len(payload)), payload))
}

// PutReq builds the offer of an LNet message with a payload of n bytes.
func (w O2iblnd) PutReq(back bool, typ, portal uint32, match uint64, offset uint32, n int, cookie uint64) []byte {
	return w.Message(back, O2PutReq, w.order().AppendUint64(w.header(back, typ, portal, match, offset, n), cookie))
}

// PutAck builds the answer to an offer: where the payload goes.
func (w O2iblnd) PutAck(back bool, offer, cookie uint64, key uint32, fragments ...Fragment) []byte {
	order := w.order()
	b := order.AppendUint64(order.AppendUint64(nil, offer), cookie)
	return w.Message(back, O2PutAck, append(b, w.descriptor(key, fragments)...))
}

// GetReq builds a GET of all that fits into the fragments.
func (w O2iblnd) GetReq(back bool, portal uint32, match, cookie uint64, key uint32, fragments ...Fragment) []byte {
	size := uint32(0)
	for _, f := range fragments {
		size += f.Size
	}
	b := w.order().AppendUint64(w.header(back, Get, portal, match, size, 0), cookie)
	return w.Message(back, O2GetReq, append(b, w.descriptor(key, fragments)...))
}

// Done builds a message with a cookie and a status: PUT_DONE, GET_DONE or
// PUT_NAK.
func (w O2iblnd) Done(back bool, typ byte, cookie uint64, status int32) []byte {
	order := w.order()
	return w.Message(back, typ, order.AppendUint32(order.AppendUint64(nil, cookie), uint32(status)))
}

// descriptor builds the description of memory open to the peer.
func (w O2iblnd) descriptor(key uint32, fragments []Fragment) []byte {
	order := w.order()
	b := order.AppendUint32(order.AppendUint32(nil, key), uint32(len(fragments)))
	for _, f := range fragments {
		b = order.AppendUint64(order.AppendUint32(b, f.Size), f.Address)
	}
	return b
}
