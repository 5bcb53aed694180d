package lnet

import (
	"encoding/binary"
	"math/bits"

	"github.com/lshark/lshark/dissect/lnet/link"
)

// Types of socklnd messages.
const (
	ksockNoop = 0xc0
	ksockLNet = 0xc1
)

// Sizes of the headers of socklnd 2 and later, in bytes.
const (
	ksockSize = 24
	maxHeader = ksockSize + lnet16Size
)

// form is which headers precede a payload.
type form uint8

const (
	formUnknown form = iota
	formBare         // LNet headers alone: socklnd 1
	formShort        // ksock header and 72-byte LNet header: socklnd 2 and 3
	formLong         // ksock header and 96-byte LNet header: socklnd 4
)

// lnetOff returns the offset of the LNet header.
func (f form) lnetOff() int {
	if f == formBare {
		return 0
	}
	return ksockSize
}

// nidBytes returns the size of the two NIDs at the start of the LNet header.
func (f form) nidBytes() int {
	if f == formLong {
		return 40
	}
	return 16
}

// headerSize returns the size of all headers.
func (f form) headerSize() int { return f.lnetOff() + f.nidBytes() + 56 }

// order is the byte order of a sender's socklnd headers.
type order uint8

const (
	orderUnknown order = iota
	orderLittle
	orderBig
)

// u32 decodes an integer; an unknown order counts as little-endian.
func (o order) u32(b []byte) uint32 {
	if o == orderBig {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (o order) u16(b []byte) uint16 {
	if o == orderBig {
		return binary.BigEndian.Uint16(b)
	}
	return binary.LittleEndian.Uint16(b)
}

func (o order) u64(b []byte) uint64 {
	if o == orderBig {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// head is what the headers of a message say about its framing.
type head struct {
	kind       Kind // Connreq, Hello, Noop, or Unknown for LNet
	form       form
	order      order
	version    uint8 // of a hello
	cut        bool  // the LNet header is not all there
	lnetOff    int   // offset of the LNet header, -1 without one
	payloadOff int   // offset of the payload
	size       int   // of the whole message
	csum       uint32
}

// verdict is the result of parsing the start of a message.
type verdict uint8

const (
	valid      verdict = iota
	incomplete         // more bytes are needed
	invalid            // no message begins here
)

// format holds the known properties of the headers of a stream.
type format struct {
	form  form
	order order
	first bool // no message was framed yet: a connection request or hello may come
}

// parser parses the headers of the next message.
type parser struct {
	format
	whole bool // all of the LNet header must be there
}

// parse parses the headers of the message at the start of b, and sets h if they are valid.
func (p parser) parse(b []byte, h *head) verdict {
	if len(b) < 4 {
		return incomplete
	}
	if p.first {
		if v := parseGreeting(b, h); v != invalid {
			return v
		}
	}
	if p.form == formBare {
		return p.lnet(b, formBare, p.order, h)
	}
	typ := binary.LittleEndian.Uint32(b)
	o := orderLittle
	if typ != ksockNoop && typ != ksockLNet {
		o, typ = orderBig, bits.ReverseBytes32(typ)
	}
	if p.order != orderUnknown && o != p.order {
		return invalid
	}
	switch {
	case typ == ksockNoop:
		return p.parseNoop(b, o, h)
	case typ != ksockLNet:
		return invalid
	case p.form != formUnknown:
		return p.lnet(b, p.form, o, h)
	}
	return p.infer(b, o, h)
}

// parseNoop parses a NOOP, a ksock header without an LNet message: it is a message of its own kind, which
// carries nothing, and the next one begins behind it.
func (p parser) parseNoop(b []byte, o order, h *head) verdict {
	if len(b) < ksockSize {
		return incomplete
	}
	*h = head{kind: Noop, form: p.form, order: o, lnetOff: -1, payloadOff: ksockSize, size: ksockSize, csum: o.u32(b[4:])}
	return valid
}

// infer parses an LNet message of unknown form, short or long. A long header has
// the first address bytes of its source where a short one has the message type;
// as a number they are not 0 to 3.
func (p parser) infer(b []byte, o order, h *head) verdict {
	for _, f := range [...]form{formShort, formLong} {
		if len(b) < f.headerSize() {
			return incomplete
		}
		var as head
		if p.lnet(b, f, o, &as) == valid && plausibleLNet(f, b[f.lnetOff():]) {
			*h = as
			return valid
		}
	}
	return invalid
}

// lnet parses an LNet message of known form.
func (p parser) lnet(b []byte, f form, o order, h *head) verdict {
	need := f.lnetOff() + f.nidBytes() + 16
	if p.whole {
		need = f.headerSize()
	}
	if len(b) < need {
		return incomplete
	}
	_, n, ok := lnetLength(f, b[f.lnetOff():])
	if !ok {
		return invalid
	}
	// Field by field: a copy of a struct whose small fields were written just before stalls the processor.
	h.kind, h.form, h.order, h.version, h.cut = Unknown, f, o, 0, len(b) < f.headerSize()
	h.lnetOff, h.payloadOff, h.size, h.csum = f.lnetOff(), f.headerSize(), f.headerSize()+n, 0
	if f != formBare {
		h.csum = o.u32(b[4:])
	}
	return valid
}

// MinSnaplen is the number of bytes that a capture has to keep of a frame for
// the headers of one message, in the usual case: Ethernet, IPv4, TCP with a
// time stamp, socklnd and LNet.
const MinSnaplen = link.TCPHeaders + ksockSize + lnet4Size
