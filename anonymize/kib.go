package anonymize

import (
	"encoding/binary"

	"github.com/lshark/lshark/anonymize/values"
	"github.com/lshark/lshark/lnet"
)

// Magic number at the start of a message of o2iblnd.
const magicKib = 0x0be91b91

// Types of o2iblnd messages.
const (
	kibConnreq   = 0xc0
	kibConnack   = 0xc1
	kibImmediate = 0xd1
	kibPutReq    = 0xd2
	kibPutNak    = 0xd3
	kibPutAck    = 0xd4
	kibPutDone   = 0xd5
	kibGetReq    = 0xd6
	kibGetDone   = 0xd7
)

// Sizes of o2iblnd messages and offsets in them, in bytes.
const (
	kibSize       = 48 // of the header
	kibBytes      = 8  // offset of the size of the message
	kibSum        = 12 // offset of the checksum
	kibSrcNID     = 16
	kibDstNID     = 32
	kibLNetSize   = 72
	kibParamsSize = 8 // of CONNREQ and CONNACK
	kibDoneSize   = 12
	kibRejectSize = 32
	maxKib        = 1 << 16
)

// kibOrder returns the byte order of an o2iblnd message, nil if b does not begin with one.
func kibOrder(b []byte, size int) binary.ByteOrder {
	switch {
	case len(b) < size:
	case binary.LittleEndian.Uint32(b) == magicKib:
		return binary.LittleEndian
	case binary.BigEndian.Uint32(b) == magicKib:
		return binary.BigEndian
	}
	return nil
}

// kib rewrites an o2iblnd message, or the part of it in the first packet. It returns how many
// bytes of the message, behind the part, are to be kept.
func (c *copier) kib(p part, whole bool) (left int) {
	in, out := c.in[p.off:p.end], c.out[p.off:p.end]
	order := kibOrder(in, kibSize)
	if order == nil {
		c.removed.RDMA += int64(len(in))
		return 0
	}
	known := mapKib(c.values, order, in, out)
	c.keep(p.off + min(known, len(in)))
	if !whole {
		return max(0, known-p.wire)
	}
	if size := int(order.Uint32(in[kibBytes:])); size >= kibSize && size <= len(in) {
		setKibSum(order, in[:size], out[:size])
	}
	return 0
}

// mapKib writes the bytes of an o2iblnd message that may stay to out: fields that describe
// memory, and mapped NIDs. The payload of an IMMEDIATE is left out. It returns how long the
// known part of the message is, which may be more than was captured.
func mapKib(mapper *values.Mapper, order binary.ByteOrder, in, out []byte) (known int) {
	size := max(kibSize, min(int(order.Uint32(in[kibBytes:])), maxKib))
	known = kibSize
	hasLNet := false
	switch in[6] {
	case kibConnreq, kibConnack:
		known += kibParamsSize
	case kibImmediate:
		known += kibLNetSize
		hasLNet = true
	case kibPutReq, kibGetReq:
		known = size // with a cookie, and of GET_REQ the memory for the data
		hasLNet = true
	case kibPutAck:
		known = size // cookies and memory
	case kibPutNak, kibPutDone, kibGetDone:
		known += kibDoneSize
	}
	known = min(known, size)
	b := out[:copy(out, in[:min(known, len(in))])]
	mapNID(mapper, order, b, kibSrcNID)
	mapNID(mapper, order, b, kibDstNID)
	if hasLNet {
		mapNID(mapper, binary.LittleEndian, b, kibSize) // LNet has its own byte order
		mapNID(mapper, binary.LittleEndian, b, kibSize+8)
	}
	return known
}

// mapNID maps a NID of 8 bytes at an offset of b.
func mapNID(mapper *values.Mapper, order binary.ByteOrder, b []byte, off int) {
	if len(b) < off+8 {
		return
	}
	nid := order.Uint64(b[off:])
	mapped := mapper.NID(lnet.NID4(nid))
	order.PutUint64(b[off:], nid>>32<<32|uint64(binary.BigEndian.Uint32(mapped.Addr[:])))
}

// setKibSum sets the checksum of a message out made from in. One that was wrong stays wrong.
func setKibSum(order binary.ByteOrder, in, out []byte) {
	stored := order.Uint32(in[kibSum:])
	if stored == 0 {
		return
	}
	v := lnet.O2IBChecksum(out)
	if stored != lnet.O2IBChecksum(in) {
		v ^= 0x5555
	}
	order.PutUint32(out[kibSum:], v)
}

// kibReject rewrites the private data of a REJ: a reason and parameters.
func (c *copier) kibReject(p part) {
	if kibOrder(c.in[p.off:p.end], kibRejectSize) != nil {
		c.copy(p, kibRejectSize)
	}
}
