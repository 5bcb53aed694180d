package lnet

import (
	"encoding/binary"
	"math/bits"
)

// Types of socklnd messages.
const (
	ksockNoop = 0xc0
	ksockLNet = 0xc1
)

// order is the byte order of a sender's socklnd headers.
type order uint8

const (
	orderUnknown order = iota
	orderLittle
	orderBig
)

// u32 reads in the given order; unknown counts as little.
func (o order) u32(b []byte) uint32 {
	if o == orderBig {
		return binary.BigEndian.Uint32(b)
	}
	return binary.LittleEndian.Uint32(b)
}

func (o order) u64(b []byte) uint64 {
	if o == orderBig {
		return binary.BigEndian.Uint64(b)
	}
	return binary.LittleEndian.Uint64(b)
}

// head is what the first bytes of a message tell about its framing.
type head struct {
	kind    Kind // Connreq, Hello, Noop, or Unknown for LNet
	form    form
	order   order
	version uint8 // of a hello
	cut     bool  // the LNet header is not all there
	lnet    int   // offset of the LNet header, -1 without one
	payload int   // offset of the payload
	size    int   // of the whole message
	csum    uint32
}

// verdict is the result of parsing the start of a message.
type verdict uint8

const (
	valid      verdict = iota
	incomplete         // more bytes are needed
	invalid            // no message begins here
)

// format is what is known about the headers of a stream.
type format struct {
	form  form
	order order
	first bool // no message was framed yet: a connection request or hello may come
}

// parser parses the head of a message.
type parser struct {
	format
	whole bool // all of the LNet header must be there
}

// parse reads the head of the message at the start of b.
func (p parser) parse(b []byte) (head, verdict) {
	if len(b) < 4 {
		return head{}, incomplete
	}
	if p.first {
		if h, v := parseGreeting(b); v != invalid {
			return h, v
		}
	}
	if p.form == formBare {
		return p.lnet(b, formBare, p.order)
	}
	typ := binary.LittleEndian.Uint32(b)
	o := orderLittle
	if typ != ksockNoop && typ != ksockLNet {
		o, typ = orderBig, bits.ReverseBytes32(typ)
	}
	if p.order != orderUnknown && o != p.order {
		return head{}, invalid
	}
	switch {
	case typ == ksockNoop:
		if len(b) < ksockSize {
			return head{}, incomplete
		}
		return head{kind: Noop, form: p.form, order: o, lnet: -1, payload: ksockSize, size: ksockSize, csum: o.u32(b[4:])}, valid
	case typ != ksockLNet:
		return head{}, invalid
	case p.form != formUnknown:
		return p.lnet(b, p.form, o)
	}
	return p.infer(b, o)
}

// infer finds out whether the NIDs are of the short or the long form. In a
// long header the place of the short one's message type holds the first
// address bytes of the source, which are not 0 to 3 read as a number.
func (p parser) infer(b []byte, o order) (head, verdict) {
	for _, f := range [...]form{formShort, formLong} {
		if len(b) < f.header() {
			return head{}, incomplete
		}
		if h, v := p.lnet(b, f, o); v == valid && plausibleLNet(f, b[f.lnetOff():]) {
			return h, v
		}
	}
	return head{}, invalid
}

// lnet reads the head of an LNet message of known form.
func (p parser) lnet(b []byte, f form, o order) (head, verdict) {
	need := f.lnetOff() + f.nids() + 16
	if p.whole {
		need = f.header()
	}
	if len(b) < need {
		return head{}, incomplete
	}
	_, n, ok := lnetLength(f, b[f.lnetOff():])
	if !ok {
		return head{}, invalid
	}
	h := head{form: f, order: o, lnet: f.lnetOff(), payload: f.header(), size: f.header() + n, cut: len(b) < f.header()}
	if f != formBare {
		h.csum = o.u32(b[4:])
	}
	return h, valid
}
