package lnet

import "github.com/lshark/lshark/dissect/lnet/link"

// framer cuts the bytes of one direction of a connection into LNet messages.
// It takes them from a reassembly in order, together with the gaps in them, and
// hands out the messages that they complete. Where no header is at the start of
// a message, its resync searches for the next one.
type framer struct {
	tcp  *tcp
	conn *conn
	back bool // the direction from conn.key.Dst to conn.key.Src

	at     origin // of the bytes being framed
	pos    uint32 // sequence number of the next byte
	frames frameList

	hello   uint8    // version of the hello, 0 when not seen
	format  format   // of the headers
	nids    [16]byte // in the last header, unless it is a long one
	msg     partial
	resync  *resync // nil until a header has to be searched
	skipped int64   // bytes since the last message in which none was found

	// The frame whose snaplen cut msg, of Order 0 when none did; nil while no message was
	// cut. tshark, which cannot continue behind a cut, shows the message there.
	cutAt *link.Frame
}

// analysis returns that of the direction.
func (f *framer) analysis() *analysis {
	if f.back {
		return &f.conn.half[1].analysis
	}
	return &f.conn.half[0].analysis
}

// searching reports whether a header is being searched.
func (f *framer) searching() bool { return f.resync != nil && f.resync.active }

// cut reports whether the snaplen cut msg.
func (f *framer) cut() bool { return f.cutAt != nil && f.cutAt.Order != 0 }

// origin is where the bytes being framed come from. The frame that completes a
// message is the one with the highest number so far: a message behind a gap is
// complete when the gap is filled.
type origin struct {
	link.Frame
	carrier       int64 // order of the frame that brought the bytes
	retransmitted bool
}

// partial is the message that a framer is in the middle of.
type partial struct {
	head
	buf   []byte // the kept bytes so far, borrowed from the pool; shorter than have when a hole ends it
	have  int    // bytes seen so far, with skipped ones and holes
	keep  int    // bytes to keep
	holes []Hole
	seq   uint32 // sequence number of the first byte

	retransmitted bool // bytes of it were
}

// skipping reports whether the rest of the message is not needed.
func (p *partial) skipping() bool { return p.size > 0 && p.have >= p.keep }

// fillHole writes zeros for the hole that ends the kept bytes.
func (p *partial) fillHole() {
	if k := len(p.buf); k < p.have {
		p.buf = p.buf[:p.have]
		clear(p.buf[k:])
	}
}

// addHole records bytes that are missing from the part to keep. Of a message
// with too many holes the rest is not kept.
func (p *partial) addHole(h Hole, out *output) {
	if out.full() && p.have >= maxHeader {
		p.keep = p.have
		out.stats.Unaffordable++
		return
	}
	if p.holes == nil {
		p.holes = out.pool.holes.take()
	}
	n := len(p.holes)
	p.holes = appendHole(p.holes, h)
	out.pool.lent += (len(p.holes) - n) * holeSize
}

// appendHole appends a hole, or extends the last one if it continues it.
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

func (f *framer) init(t *tcp, c *conn, back bool) {
	f.tcp, f.conn, f.back = t, c, back
	f.format.first = true
}

// start sets where the stream begins; in mid-stream a header must be found
// first.
func (f *framer) start(seq uint32, midStream bool) {
	f.pos = seq
	if midStream {
		f.startResync()
	}
}

// consume takes the next size bytes of the stream. Those behind the end of data
// were cut off by the snaplen: they are a hole.
func (f *framer) consume(data []byte, size int, in *link.Frame, retransmitted bool) {
	f.arrive(in)
	f.at.retransmitted = retransmitted
	f.feed(data)
	if retransmitted && f.msg.have > 0 {
		f.msg.retransmitted = true
	}
	f.at.retransmitted = false
	if size > len(data) {
		f.tcp.stats.CutBytes += int64(size - len(data))
		f.gap(size-len(data), Snaplen, in.Time)
	}
}

// skips reports whether the size bytes from offset off, counted from the next
// byte, will be skipped: they are in a payload that is not needed.
func (f *framer) skips(off, size int) bool {
	m := &f.msg
	return !f.searching() && m.size > 0 && off >= m.keep-m.have && off+size <= m.size-m.have
}

// skip passes over the next size bytes, for which skips was true.
func (f *framer) skip(size int, in *link.Frame, retransmitted bool) {
	f.arrive(in)
	m := &f.msg
	f.pos += uint32(size)
	m.have += size
	m.retransmitted = m.retransmitted || retransmitted
	if m.have == m.size {
		f.finish()
	}
}

// arrive records the frame that brought the bytes that come next.
func (f *framer) arrive(in *link.Frame) {
	if in.Order > f.at.Order {
		f.at.Frame = *in
	}
	f.at.carrier = in.Order
	if out := f.tcp.out; out.opt.Frames && !f.searching() {
		f.frames.add(in.Order, f.msg.have > 0, out)
	}
}

// feed frames data, or searches for a header in them.
func (f *framer) feed(data []byte) {
	m := &f.msg
	if len(data) == 0 {
		return
	}
	if m.skipping() && len(data) < m.size-m.have { // before all else, as most bytes are bulk data
		m.have += len(data)
		f.pos += uint32(len(data))
		return
	}
	if r := f.resync; r != nil && r.notLNet && !r.recovers(f.parser(true), data) {
		f.pos += uint32(len(data))
		return
	}
	f.reparse() // may begin a resync
	if f.searching() {
		f.resync.add(data, f.at, false)
		f.search(f.tcp.out.full())
		return
	}
	if n, ok := f.run(data); !ok {
		f.resyncAt(data[n:], n > 0)
	}
}

// run frames data, which follow the last bytes without a gap. At an invalid
// header it returns false and how many bytes it took; the bytes of the header
// before those are in f.msg.
func (f *framer) run(data []byte) (int, bool) {
	p := &f.msg
	at := 0
	for at < len(data) {
		rest := data[at:]
		switch {
		case p.have == 0:
			n, ok := f.beginMessage(rest)
			if !ok {
				return at, false
			}
			at += n
		case p.size == 0:
			n, ok := f.addHeader(rest)
			at += n
			if !ok {
				return at, false
			}
		default:
			at += f.addBody(rest)
		}
	}
	return at, true
}

// beginMessage takes the start of a message. A message that is complete in data
// is handed out from there, without a copy; of another one the beginning is
// kept. It returns false at an invalid header.
func (f *framer) beginMessage(data []byte) (int, bool) {
	p, pool := &f.msg, &f.tcp.out.pool
	p.seq = f.pos
	switch f.parser(true).parse(data, &p.head) {
	case invalid:
		return 0, false
	case incomplete:
		p.buf = append(pool.grow(p.buf, max(len(data), maxHeader)), data...)
		p.have = len(data)
		f.pos += uint32(len(data))
		return len(data), true
	}
	f.describe(data)
	p.keep = p.bytesToKeep(data, f.tcp.out)
	if n := p.size; n <= len(data) {
		f.pos += uint32(n)
		p.have = n
		f.emit(data[:p.keep])
		return n, true
	}
	n := min(p.keep, len(data))
	p.buf = append(pool.grow(p.buf, p.keep), data[:n]...)
	p.have = len(data)
	f.pos += uint32(len(data))
	return len(data), true
}

// addHeader adds bytes to an incomplete header, at most as many as it needs. It
// returns false when the header is invalid.
func (f *framer) addHeader(data []byte) (int, bool) {
	p := &f.msg
	for n := 1; ; n++ {
		// One byte at a time: headers are seldom split, and how much they
		// need depends on what they hold.
		p.buf = append(p.buf, data[n-1])
		p.have++
		f.pos++
		switch v := f.parser(true).parse(p.buf, &p.head); {
		case v == invalid:
			return n, false
		case v == valid:
			f.describe(p.buf)
			p.keep = p.bytesToKeep(p.buf, f.tcp.out)
			p.buf = f.tcp.out.pool.grow(p.buf, p.keep-len(p.buf))
			if p.have == p.size {
				f.finish()
			}
			return n, true
		case n == len(data):
			return n, true
		}
	}
}

// addBody adds bytes to a message whose header is complete, and returns how
// many it took.
func (f *framer) addBody(data []byte) int {
	p := &f.msg
	n := min(p.size-p.have, len(data))
	if p.have < p.keep {
		p.fillHole()
		p.buf = append(p.buf, data[:min(n, p.keep-p.have)]...)
	}
	p.have += n
	f.pos += uint32(n)
	if p.have == p.size {
		f.finish()
	}
	return n
}

// reparse parses an incomplete header again. When it began, its form and so its
// length may have been unknown; the other direction may have shown it since,
// and what was kept can be more than a message.
func (f *framer) reparse() {
	p := &f.msg
	if p.have == 0 || p.size > 0 {
		return
	}
	var h head
	if f.parser(true).parse(p.buf, &h) != valid || h.size > p.have {
		return
	}
	kept := p.buf
	f.pos -= uint32(p.have)
	*p = partial{}
	f.feed(kept)
	f.tcp.out.pool.put(kept)
}

// gap takes n bytes that are missing from the stream; until is the time of what
// follows them.
func (f *framer) gap(n int, why Why, until int64) {
	p := &f.msg
	f.reparse()
	if f.searching() {
		f.search(true)
	}
	if p.have > 0 && p.size == 0 {
		f.cutHeader()
	}
	if p.size > 0 {
		k := min(n, p.size-p.have)
		if why == Snaplen && !f.cut() {
			if f.cutAt == nil {
				f.cutAt = new(link.Frame)
			}
			*f.cutAt = f.at.Frame
		}
		if hole := why; p.have < p.keep {
			if hole == BeforeFile { // a message whose header was captured is of the capture
				hole = Lost
			}
			p.addHole(Hole{p.have, min(k, p.keep-p.have), hole}, f.tcp.out)
		} else if why == Lost {
			f.tcp.stats.SkippedLost += int64(k)
		}
		p.have += k
		n -= k
		f.pos += uint32(k)
		if p.have == p.size {
			f.finish()
		}
	}
	if n > 0 {
		f.startResync()
		f.skipped += int64(n)
		f.pos += uint32(n)
		f.tcp.out.lose(f.conn, f.back, Loss{Bytes: int64(n), From: f.at.Time, To: until, Why: why})
	}
}

// cutHeader uses an incomplete header before a hole as if it were complete, if it
// has the length of the message; otherwise its bytes are skipped.
func (f *framer) cutHeader() {
	p := &f.msg
	if f.parser(false).parse(p.buf, &p.head) == valid {
		f.describe(p.buf)
		p.keep = p.bytesToKeep(p.buf, f.tcp.out)
		p.buf = f.tcp.out.pool.grow(p.buf, p.keep-len(p.buf))
		return
	}
	f.skipped += int64(p.have)
	f.drop()
}

// forget drops what is not needed between messages.
func (f *framer) forget() {
	if r := f.resync; r != nil && !r.active && !r.notLNet {
		f.resync = nil
	}
	if !f.cut() {
		f.cutAt = nil
	}
	if len(f.frames) == 1 && cap(f.frames) > 1 {
		f.frames = frameList{f.frames[0]}
	}
}

// close hands out what is left: the stream has ended.
func (f *framer) close() {
	f.reparse()
	if f.searching() {
		f.search(true)
	}
	if m := &f.msg; m.have > 0 && m.size == 0 {
		f.cutHeader()
	}
	if f.msg.size > 0 {
		f.finish()
	}
}

// parser returns a parser for the next header, by what is known of the
// connection. A whole header must be complete.
func (f *framer) parser(whole bool) parser {
	p := parser{format: f.format, whole: whole}
	if p.form == formUnknown {
		p.form = formOf(f.conn.version(f.back))
	}
	if p.form == formUnknown {
		p.whole = true
	}
	return p
}

// drop ends the message that the framer is in the middle of.
func (f *framer) drop() {
	pool := &f.tcp.out.pool
	f.msg.release(pool)
	if f.cutAt != nil {
		f.cutAt.Order = 0
	}
	f.frames.keepLast(pool)
}

// startResync starts to search for a header.
func (f *framer) startResync() {
	if f.searching() {
		return
	}
	if f.resync == nil {
		f.resync = &resync{tcp: f.tcp, conn: f.conn}
	}
	f.resync.start()
	if f.conn.version(f.back) == 0 {
		f.format.form, f.format.order = formUnknown, orderUnknown
	}
}

// resyncAt starts a resync at an invalid header: its first bytes are in f.msg,
// the others in data. midSegment is set when data does not begin a segment.
func (f *framer) resyncAt(data []byte, midSegment bool) {
	f.startResync()
	if begun := f.msg.buf; f.msg.have > 0 {
		f.pos -= uint32(len(begun))
		f.resync.add(begun, f.at, true)
	}
	f.drop()
	if len(data) > 0 {
		f.resync.add(data, f.at, midSegment)
	}
	f.search(f.tcp.out.full())
}

// search frames the messages that the resync finds. last is set when nothing
// more can come behind the bytes searched, or no more can be held.
func (f *framer) search(last bool) {
	r := f.resync
	for r.off < len(r.buf) {
		n, h, found := r.find(f.parser(true), last)
		f.skipped += int64(n)
		f.pos += uint32(n)
		f.tcp.out.lose(f.conn, f.back, Loss{Bytes: int64(n), From: r.marks[0].Time, To: f.at.Time})
		if !found {
			break
		}
		if h.kind != Connreq && h.kind != Hello {
			f.format.form, f.format.order = h.form, h.order
		}
		if f.replay() {
			r.release()
			return
		}
	}
	r.pause()
}

// replay frames the bytes of the resync from the header that was found, each
// piece under the frame it came with. At an invalid header it starts a resync
// again and returns false.
func (f *framer) replay() bool {
	r := f.resync
	at := f.at
	defer func() { f.at = at }()
	for _, m := range r.marks {
		if m.end <= r.off {
			continue
		}
		f.at = m.origin
		f.arrive(&link.Frame{Order: m.carrier}) // no later than m.frame
		n, ok := f.run(r.buf[r.off:m.end])
		r.off += n
		if ok {
			f.msg.retransmitted = f.msg.retransmitted || m.retransmitted && f.msg.have > 0
			continue
		}
		// The header may have begun in an earlier piece.
		back := f.msg.have
		r.off -= back
		f.pos -= uint32(back)
		f.drop()
		f.startResync()
		return false
	}
	return true
}
