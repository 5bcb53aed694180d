package anonymize

import (
	"encoding/binary"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/anonymize/values"
)

// Sizes of o2iblnd messages and offsets in them, in bytes.
const (
	kibBytes      = 8 // offset of the size of the message
	kibSrcNID     = 16
	kibDstNID     = 32
	kibLNetSize   = 72
	kibParamsSize = 8 // of CONNREQ and CONNACK
	kibDoneSize   = 12
	kibRejectSize = 24
)

// kibOrder returns the byte order of an o2iblnd message, nil if b does not begin with one.
func kibOrder(b []byte, size int) binary.ByteOrder {
	switch {
	case len(b) < size:
	case binary.LittleEndian.Uint32(b) == lnet.KibMagic:
		return binary.LittleEndian
	case binary.BigEndian.Uint32(b) == lnet.KibMagic:
		return binary.BigEndian
	}
	return nil
}

// kib rewrites an o2iblnd message, or the part of it in the first packet. It returns how many
// bytes of the message, behind the part, are to be kept.
func (c *copier) kib(p part, whole bool) (left int) {
	in, out := c.in[p.off:p.end], c.out[p.off:p.end]
	order := kibOrder(in, lnet.KibSize)
	if order == nil {
		c.removed.RDMA += int64(len(in))
		return 0
	}
	known := mapKib(c.values, order, in, out)
	c.keep(p.off + min(known, len(in)))
	if !whole {
		return max(0, known-p.wire)
	}
	if size := int(order.Uint32(in[kibBytes:])); size >= lnet.KibSize && size <= len(in) {
		setKibSum(order, in[:size], out[:size])
	}
	return 0
}

// mapKib writes the bytes of an o2iblnd message that may stay to out: fields that describe
// memory, and mapped NIDs. The payload of an IMMEDIATE is left out. It returns how long the
// known part of the message is, which may be more than was captured.
func mapKib(mapper *values.Mapper, order binary.ByteOrder, in, out []byte) (known int) {
	size := max(lnet.KibSize, min(int(order.Uint32(in[kibBytes:])), lnet.MaxKib))
	known = lnet.KibSize
	hasLNet := false
	switch in[6] {
	case lnet.KibConnreq, lnet.KibConnack:
		known += kibParamsSize
	case lnet.KibImmediate:
		known += kibLNetSize
		hasLNet = true
	case lnet.KibPutReq, lnet.KibGetReq:
		known = size // with a cookie, and of GET_REQ the memory for the data
		hasLNet = true
	case lnet.KibPutAck:
		known = size // cookies and memory
	case lnet.KibPutNak, lnet.KibPutDone, lnet.KibGetDone:
		known += kibDoneSize
	}
	known = min(known, size)
	b := out[:copy(out, in[:min(known, len(in))])]
	mapNID(mapper, order, b, kibSrcNID)
	mapNID(mapper, order, b, kibDstNID)
	if hasLNet {
		mapNID(mapper, binary.LittleEndian, b, lnet.KibSize) // LNet has its own byte order
		mapNID(mapper, binary.LittleEndian, b, lnet.KibSize+8)
	}
	return known
}

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
	stored := order.Uint32(in[lnet.KibSum:])
	if stored == 0 {
		return
	}
	v := lnet.O2IBChecksum(out)
	if stored != lnet.O2IBChecksum(in) {
		v ^= 0x5555
	}
	order.PutUint32(out[lnet.KibSum:], v)
}

// kibReject rewrites the private data of a REJ: a reason and parameters.
func (c *copier) kibReject(p part) {
	if kibOrder(c.in[p.off:p.end], kibRejectSize) != nil {
		c.copy(p, kibRejectSize)
	}
}
