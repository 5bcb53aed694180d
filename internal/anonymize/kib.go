package anonymize

import (
	"encoding/binary"

	"github.com/lshark/lshark/dissect/lnet"
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

// kibKnown is how many bytes behind the header of an o2iblnd message are kept, by its type: fields
// that describe memory, and LNet headers.
var kibKnown = map[byte]int{
	lnet.KibConnreq:   kibParamsSize,
	lnet.KibConnack:   kibParamsSize,
	lnet.KibImmediate: kibLNetSize, // the payload is rewritten later
	lnet.KibPutReq:    whole,       // with a cookie, and of GET_REQ the memory for the data
	lnet.KibGetReq:    whole,
	lnet.KibPutAck:    whole, // cookies and memory
	lnet.KibPutNak:    kibDoneSize,
	lnet.KibPutDone:   kibDoneSize,
	lnet.KibGetDone:   kibDoneSize,
}

// kib rewrites an o2iblnd message, or the part of it in the first packet. It returns how many
// bytes of the message, behind the part, are to be kept.
func (h *headers) kib(p part, complete bool) (left int) {
	in := h.in[p.off:p.end]
	order := kibOrder(in, lnet.KibSize)
	if order == nil {
		h.removed.RDMA += int64(len(in))
		return 0
	}
	size := int(order.Uint32(in[kibBytes:]))
	known := min(lnet.KibSize+kibKnown[in[6]], max(lnet.KibSize, min(size, lnet.MaxKib)))
	head := p.limit(known)
	h.copy(head, known)
	h.nid(head, kibSrcNID, order)
	h.nid(head, kibDstNID, order)
	switch in[6] {
	case lnet.KibImmediate, lnet.KibPutReq, lnet.KibGetReq: // LNet has its own byte order
		h.nid(head, lnet.KibSize, binary.LittleEndian)
		h.nid(head, lnet.KibSize+8, binary.LittleEndian)
	}
	if !complete {
		return max(0, known-p.wire)
	}
	if size >= lnet.KibSize && size <= len(in) {
		setKibSum(order, in[:size], h.out[p.off:p.off+size])
	}
	return 0
}

// nid maps the NID at an offset of a part that was copied.
func (h *headers) nid(p part, off int, order binary.ByteOrder) {
	if p.len() >= off+8 {
		b := h.out[p.off+off:]
		order.PutUint64(b, h.values.NID4(order.Uint64(b)))
	}
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
