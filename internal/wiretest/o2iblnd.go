package wiretest

import (
	"cmp"
	"encoding/binary"
)

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

func (w O2iblnd) order() binary.ByteOrder { return order(w.Big) }

// o2NID returns the NID of the sender.
func o2NID(back bool) uint64 { return nid4(back)&(1<<48-1) | 5<<48 }

// Message builds a message of any type.
func (w O2iblnd) Message(back bool, typ byte, body []byte) []byte {
	const stampOfA, stampOfB = 0x0001_7000_0000_000a, 0x0001_7000_0000_000b
	stamp, peer := uint64(stampOfA), uint64(stampOfB)
	if back {
		stamp, peer = peer, stamp
	}
	version := cmp.Or(w.Version, 0x12)
	b := pack(w.order(), uint32(magicO2iblnd), version, typ, w.Credits, uint32(48+len(body)), uint32(0), o2NID(back), stamp, o2NID(!back), peer, body)
	if w.Sum {
		w.order().PutUint32(b[12:], o2Checksum(b))
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
	return pack(le, o2NID(!back), o2NID(back), uint32(pid), uint32(pid), typ, uint32(size), command(typ, portal, match, extent))
}

// Connreq builds the private data of a REQ.
func (w O2iblnd) Connreq() []byte { return w.Message(false, O2Connreq, w.parameters()) }

// Connack builds the private data of a REP.
func (w O2iblnd) Connack() []byte { return w.Message(true, O2Connack, w.parameters()) }

// parameters builds the connection parameters.
func (w O2iblnd) parameters() []byte {
	const queueDepth, fragments, messageSize = 8, 257, 4096
	return pack(w.order(), uint16(queueDepth), uint16(fragments), uint32(messageSize))
}

// Refusal builds the private data of a REJ.
func (w O2iblnd) Refusal(why byte) []byte {
	return pack(w.order(), uint32(magicO2iblnd), uint16(0x12), why, byte(0), uint64(0x0001_7000_0000_000b), w.parameters())
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
	return w.Message(back, O2PutReq, pack(w.order(), w.header(back, typ, portal, match, offset, n), cookie))
}

// PutAck builds the answer to an offer: where the payload goes.
func (w O2iblnd) PutAck(back bool, offer, cookie uint64, key uint32, fragments ...Fragment) []byte {
	return w.Message(back, O2PutAck, pack(w.order(), offer, cookie, w.descriptor(key, fragments)))
}

// GetReq builds a GET of all that fits into the fragments.
func (w O2iblnd) GetReq(back bool, portal uint32, match, cookie uint64, key uint32, fragments ...Fragment) []byte {
	size := uint32(0)
	for _, f := range fragments {
		size += f.Size
	}
	return w.Message(back, O2GetReq, pack(w.order(), w.header(back, Get, portal, match, size, 0), cookie, w.descriptor(key, fragments)))
}

// Done builds a message with a cookie and a status: PUT_DONE, GET_DONE or
// PUT_NAK.
func (w O2iblnd) Done(back bool, typ byte, cookie uint64, status int32) []byte {
	return w.Message(back, typ, pack(w.order(), cookie, status))
}

// descriptor builds the description of memory open to the peer.
func (w O2iblnd) descriptor(key uint32, fragments []Fragment) []byte {
	b := pack(w.order(), key, uint32(len(fragments)))
	for _, f := range fragments {
		b = pack(w.order(), b, f.Size, f.Address)
	}
	return b
}
