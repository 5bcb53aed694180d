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

// verdict is what parsing the bytes at a message's start came to.
type verdict uint8

const (
	good  verdict = iota
	short         // more bytes are needed
	bad           // no message begins here
)

// reading is what is known of a stream's headers before one is parsed.
type reading struct {
	form  form
	order order
	fresh bool // a connection request or hello may come
	whole bool // all of the LNet header must be there
}

// parse reads the head of the message at the start of b.
func (r reading) parse(b []byte) (head, verdict) {
	if len(b) < 4 {
		return head{}, short
	}
	if r.fresh {
		if h, v := parseGreeting(b); v != bad {
			return h, v
		}
	}
	if r.form == formBare {
		return r.lnet(b, formBare, r.order)
	}
	typ := binary.LittleEndian.Uint32(b)
	o := orderLittle
	if typ != ksockNoop && typ != ksockLNet {
		o, typ = orderBig, bits.ReverseBytes32(typ)
	}
	if r.order != orderUnknown && o != r.order {
		return head{}, bad
	}
	switch {
	case typ == ksockNoop:
		if len(b) < ksockSize {
			return head{}, short
		}
		return head{kind: Noop, form: r.form, order: o, lnet: -1, payload: ksockSize, size: ksockSize, csum: o.u32(b[4:])}, good
	case typ != ksockLNet:
		return head{}, bad
	case r.form != formUnknown:
		return r.lnet(b, r.form, o)
	}
	return r.infer(b, o)
}

// infer finds out whether the NIDs are of the short or the long form. In a
// long header the place of the short one's message type holds the first
// address bytes of the source, which are not 0 to 3 read as a number.
func (r reading) infer(b []byte, o order) (head, verdict) {
	for _, f := range [...]form{formShort, formLong} {
		if len(b) < f.header() {
			return head{}, short
		}
		if h, v := r.lnet(b, f, o); v == good && plausibleLNet(f, b[f.lnetOff():]) {
			return h, v
		}
	}
	return head{}, bad
}

// lnet reads the head of an LNet message of known form.
func (r reading) lnet(b []byte, f form, o order) (head, verdict) {
	need := f.lnetOff() + f.nids() + 16
	if r.whole {
		need = f.header()
	}
	if len(b) < need {
		return head{}, short
	}
	_, n, ok := lnetLength(f, b[f.lnetOff():])
	if !ok {
		return head{}, bad
	}
	h := head{form: f, order: o, lnet: f.lnetOff(), payload: f.header(), size: f.header() + n, cut: len(b) < f.header()}
	if f != formBare {
		h.csum = o.u32(b[4:])
	}
	return h, good
}

// partial is the message a stream is in the middle of.
type partial struct {
	head
	buf   []byte // the kept bytes so far, borrowed from the pool; shorter than have when a hole ends it
	have  int    // bytes seen so far, skipped ones and holes included
	keep  int    // bytes to keep
	holes []Hole
	seq   uint32 // of the first byte
	late  bool   // bytes of it were sent again

	// The frame whose snaplen cut the message, if any: tshark, which cannot
	// go on behind a cut, puts the message there.
	cutFrame, cutTime int64
}

// skipping reports whether the rest of the message is of no interest.
func (p *partial) skipping() bool { return p.size > 0 && p.have >= p.keep }

// run frames data, which follows what came before without a gap. When no
// message can begin where one should, it returns false and how many bytes it
// took; the bytes of the bad header before those are in st.msg.
func (st *stream) run(data []byte) (int, bool) {
	p := &st.msg
	at := 0
	for at < len(data) {
		rest := data[at:]
		if p.have == 0 {
			n, v := st.straight(rest)
			if v == bad {
				return at, false
			}
			at += n
			continue
		}
		if p.size == 0 {
			n, ok := st.header(rest)
			at += n
			if !ok {
				return at, false
			}
			continue
		}
		at += st.body(rest)
	}
	return at, true
}

// straight takes one message at the start of data. A message that is all there
// is handed out as it lies; of another one the beginning is kept.
func (st *stream) straight(data []byte) (int, verdict) {
	p := &st.msg
	p.seq = st.pos
	h, v := st.reading(true).parse(data)
	switch v {
	case bad:
		return 0, bad
	case short:
		p.buf = append(st.s.pool.grow(p.buf, max(len(data), maxHeader)), data...)
		p.have = len(data)
		st.advance(len(data))
		return len(data), short
	}
	p.head = h
	p.keep = st.wanted(data)
	if h.size <= len(data) {
		st.advance(h.size)
		p.have = h.size
		st.emit(data[:p.keep])
		return h.size, good
	}
	n := min(p.keep, len(data))
	p.buf = append(st.s.pool.grow(p.buf, p.keep), data[:n]...)
	p.have = len(data)
	st.advance(len(data))
	return len(data), short
}

// header adds bytes to a header that has begun, no more than it needs.
func (st *stream) header(data []byte) (int, bool) {
	p := &st.msg
	for n := 1; ; n++ {
		// One byte at a time: a header is split seldom, and what it needs
		// next depends on what it holds.
		p.buf = append(p.buf, data[n-1])
		p.have++
		st.advance(1)
		h, v := st.reading(true).parse(p.buf)
		if v == bad {
			return n, false
		}
		if v == good {
			p.head = h
			p.keep = st.wanted(p.buf)
			p.buf = st.s.pool.grow(p.buf, p.keep-len(p.buf))
			if p.have == p.size {
				st.finish()
			}
			return n, true
		}
		if n == len(data) {
			return n, true
		}
	}
}

// reread is for a header that began when nobody could tell how long it would
// be. The other direction may have told since, and then what was kept of it can
// be more than a message. The framing may be lost by it.
func (st *stream) reread() {
	p := &st.msg
	if p.have == 0 || p.size > 0 {
		return
	}
	h, v := st.reading(true).parse(p.buf)
	if v != good || h.size > p.have {
		return
	}
	kept := p.buf
	st.advance(-p.have)
	*p = partial{}
	st.feed(kept)
	st.s.pool.put(kept)
}

// body takes bytes of a message whose header is known.
func (st *stream) body(data []byte) int {
	p := &st.msg
	n := min(p.size-p.have, len(data))
	if p.have < p.keep {
		st.fill(p.have)
		p.buf = append(p.buf, data[:min(n, p.keep-p.have)]...)
	}
	p.have += n
	st.advance(n)
	if p.have == p.size {
		st.finish()
	}
	return n
}

// fill writes zeros for the hole that ends the kept bytes, up to offset to.
func (st *stream) fill(to int) {
	p := &st.msg
	if k := len(p.buf); k < to {
		p.buf = p.buf[:to]
		clear(p.buf[k:])
	}
}

// gap is told that n bytes are missing from the stream.
func (st *stream) gap(n int, why Why) {
	p := &st.msg
	st.reread()
	if st.lost {
		st.search(true)
	}
	if p.have > 0 && p.size == 0 {
		st.cutHeader()
	}
	if p.size > 0 {
		k := min(n, p.size-p.have)
		if why == Snaplen && p.cutFrame == 0 {
			p.cutFrame, p.cutTime = st.frame, st.time
		}
		if p.have < p.keep {
			st.hole(Hole{p.have, min(k, p.keep-p.have), why})
		} else if why == Lost {
			st.s.stats.SkippedLost += int64(k)
		}
		p.have += k
		n -= k
		st.advance(k)
		if p.have == p.size {
			st.finish()
		}
	}
	if n > 0 {
		st.lose()
		st.skipped += int64(n)
		st.advance(n)
	}
}

// hole notes bytes that are missing from the message in hand. Of a message with
// too many holes the rest is not kept.
func (st *stream) hole(h Hole) {
	p, pool := &st.msg, &st.s.pool
	if st.s.full() && p.have >= maxHeader {
		p.keep = p.have
		st.s.stats.Unaffordable++
		return
	}
	if p.holes == nil {
		p.holes = pool.holes.take()
	}
	n := len(p.holes)
	p.holes = appendHole(p.holes, h)
	pool.lent += (len(p.holes) - n) * holeSize
}

func appendHole(holes []Hole, h Hole) []Hole {
	if k := len(holes); k > 0 {
		last := &holes[k-1]
		if last.Why == h.Why && last.Off+last.Len == h.Off {
			last.Len += h.Len
			return holes
		}
	}
	return append(holes, h)
}

// cutHeader makes do with the header bytes there are before a hole, when they
// reach to the length of the message. Otherwise they are lost.
func (st *stream) cutHeader() {
	p := &st.msg
	h, v := st.reading(false).parse(p.buf)
	if v == good {
		p.head = h
		p.keep = st.wanted(p.buf)
		p.buf = st.s.pool.grow(p.buf, p.keep-len(p.buf))
		return
	}
	st.skipped += int64(p.have)
	st.drop()
}

// reading is what this stream knows of its headers.
func (st *stream) reading(whole bool) reading {
	r := reading{form: st.form, order: st.order, fresh: st.fresh, whole: whole}
	if r.form == formUnknown {
		r.form = formOf(st.version())
	}
	if r.form == formUnknown {
		r.whole = true
	}
	return r
}

// drop forgets the message in hand.
func (st *stream) drop() {
	p := &st.s.pool
	p.put(st.msg.buf)
	if holes := st.msg.holes; holes != nil {
		p.lent -= len(holes) * holeSize
		p.holes.put(holes)
	}
	st.msg = partial{}
	st.carryOn()
}

// finish hands out the message in hand, of which all bytes were seen.
func (st *stream) finish() { st.emit(st.msg.buf) }

// advance moves on by n bytes of the stream.
func (st *stream) advance(n int) { st.pos += uint32(n) }
