package lnet

import "encoding/binary"

// A connection without payload, such as one that is only opened or kept alive, is kept as
// bytes: a tenth of what its two streams take. A scan of ports makes thousands of them.

// pack replaces the streams of a connection by bytes, if no payload was framed and nothing
// is held; else the connection keeps its streams from now on.
func (t *tcp) pack(c *conn) {
	if c.undecided {
		return
	}
	if !c.half[0].isUntouched() || !c.half[1].isUntouched() {
		c.quiet, c.packed = false, nil
		return
	}
	f := fields{b: t.scratch[:0]}
	f.streams(c.streams)
	if t.scratch = f.b; cap(c.packed) < len(f.b) {
		c.packed = make([]byte, len(f.b))
	}
	c.packed = c.packed[:copy(c.packed[:cap(c.packed)], f.b)]
	t.reuse(c)
}

// reuse takes the streams of a connection, for another one.
func (t *tcp) reuse(c *conn) {
	if c.streams == nil {
		return
	}
	for i := range c.half {
		t.out.freeHistory(c.half[i].analysis.past)
	}
	*c.streams = streams{}
	if len(t.spare) < maxSpareStreams {
		t.spare = append(t.spare, c.streams)
	}
	c.streams = nil
}

const maxSpareStreams = 16

// unpack makes the streams of a connection, if they are packed or new.
func (t *tcp) unpack(c *conn) {
	if c.streams != nil {
		return
	}
	if n := len(t.spare); n > 0 {
		c.streams, t.spare = t.spare[n-1], t.spare[:n-1]
	} else {
		c.streams = new(streams)
	}
	c.half[0].init(t, c, false)
	c.half[1].init(t, c, true)
	if len(c.packed) > 0 {
		f := fields{b: c.packed, reading: true}
		f.streams(c.streams)
	}
}

// isUntouched reports whether the fields that fields visits are all that differs from a
// new reassembly.
func (r *reassembly) isUntouched() bool {
	f, h := &r.framer, r.analysis.past
	return len(r.held) == 0 && !r.listed && !r.begin.data && !r.begin.midStream &&
		f.at.Order == 0 && f.resync == nil && f.hello == 0 && f.skipped == 0 && f.format == format{first: true} &&
		(h == nil || len(h.times) == 1 && !h.sent.any && len(h.again)+len(h.unsettled) == 0)
}

// fields writes the fields of streams to bytes, or reads them: one description serves both.
// Times and sequence numbers are near each other, so their distances are written.
type fields struct {
	b       []byte
	reading bool

	time, span int64    // the last ones
	numbers    [2]int64 // the last sequence number of each direction
}

func (f *fields) streams(s *streams) {
	for i := range s.half {
		f.reassembly(&s.half[i], uint8(i))
	}
	for i := range s.half { // these are of the last segments, the others of the first ones
		acks := &s.half[i].analysis.acks
		f.near(&f.time, &acks.time, &acks.closed)
		if acks.probes > 0 {
			f.near(&f.time, &acks.probed)
		}
	}
}

func (f *fields) reassembly(r *reassembly, dir uint8) {
	a, u := &r.analysis, &r.unseen
	acks, rtt := &a.acks, &a.rtt
	hasHistory, hasEcho, hasActive := a.past != nil, acks.echo != 0, r.active != 0
	f.bools(&r.started, &r.acked, &r.finished, &r.begin.known, &r.begin.hasNear, &u.known, &a.started, &acks.known, &rtt.timing, &hasHistory, &hasEcho,
		&hasActive)
	f.sequence(dir, &r.begin.near, &r.begin.first, &r.next, &r.ack, &u.captured, &u.proven, &a.next, &rtt.to)
	f.sequence(1-dir, &acks.number)
	f.near(&f.time, &a.raised, &a.synTime, &rtt.since, &rtt.beginOfLeast, &u.last, &u.from, &u.to, &u.since)
	f.near(&f.span, &a.initial, &rtt.least1, &rtt.least2, &rtt.recent.Least)
	number(f, &rtt.recent.N)
	number(f, &rtt.samples)
	number(f, &acks.duplicates)
	if hasEcho {
		number(f, &acks.echo)
		number(f, &acks.probes)
	}
	number(f, &acks.window)
	if hasActive {
		f.near(&f.time, (*int64)(&r.active))
	}
	if f.reading {
		r.framer.pos = r.next
	}
	if !hasHistory {
		return
	}
	if f.reading {
		h := a.remembered()
		h.times = append(h.times[:0], sendTime{})
	}
	first := &a.past.times[0]
	f.sequence(dir, &first.seq)
	f.near(&f.time, &first.time)
	number(f, &first.missing)
}

// number visits an integer. Those near zero take one byte.
func number[T ~int | ~int32 | ~int64 | ~uint8 | ~uint32](f *fields, p *T) {
	if !f.reading {
		f.b = binary.AppendVarint(f.b, int64(*p))
		return
	}
	v, n := binary.Varint(f.b)
	*p, f.b = T(v), f.b[n:]
}

func (f *fields) bools(list ...*bool) {
	var bits int32
	for i, p := range list {
		if *p {
			bits |= 1 << i
		}
	}
	number(f, &bits)
	for i, p := range list {
		*p = bits>>i&1 != 0
	}
}

// sequence visits sequence numbers of a direction.
func (f *fields) sequence(dir uint8, list ...*uint32) {
	for _, p := range list {
		v := int64(*p)
		f.near(&f.numbers[dir], &v)
		*p = uint32(v)
	}
}

// near visits numbers, each as its distance from the last one that was not 0.
func (f *fields) near(last *int64, list ...*int64) {
	for _, p := range list {
		var d int64 // 0 for 0; else one more than the distance when that is not negative
		if *p != 0 {
			if d = *p - *last; d >= 0 {
				d++
			}
		}
		if number(f, &d); d == 0 {
			continue
		}
		if d > 0 {
			d--
		}
		*last += d
		*p = *last
	}
}
