package lnet

import "sort"

// maxSearch is how many bytes are searched without finding a header before a
// stream counts as something else than LNet. It must be well above one message,
// in the middle of which the capture may have begun.
const maxSearch = 4 << 20

// maxChain is how many headers behind a candidate are checked.
const maxChain = 8

// Scores of candidates.
const (
	certainScore = 5 // believed without a second header
	noopScore    = 2 // of a NOOP, which has little to check: it is believed with a header behind it, or as a segment of its own
)

// resync searches for the next message header in a stream whose framing was
// lost, or that begins in mid-stream. It holds the bytes that may belong to the
// message it will find.
type resync struct {
	tcp     *tcp
	conn    *conn
	active  bool // a header is being searched
	notLNet bool // so much was searched that the stream is not LNet

	buf      []byte // bytes to search, borrowed from the pool
	off      int    // offset in buf of the first one not searched yet
	marks    []mark // where the bytes of buf come from
	searched int64  // bytes since the search began
}

// mark is where a run of bytes in resync.buf comes from.
type mark struct {
	start, end int // in buf; start is -1 when the bytes begin in the middle of a segment
	origin
}

func (r *resync) start() {
	r.active = true
	r.searched = 0
	r.tcp.stats.Resyncs++
}

// add adds bytes to search. midSegment is set when they do not begin a segment.
func (r *resync) add(data []byte, at origin, midSegment bool) {
	pool := &r.tcp.out.pool
	r.buf = append(pool.grow(r.buf, len(data)), data...)
	m := mark{len(r.buf) - len(data), len(r.buf), at}
	if midSegment {
		m.start = -1
	}
	if r.marks == nil {
		r.marks = pool.marks.take()
	}
	pool.lent += markSize
	r.marks = append(r.marks, m)
	r.searched += int64(len(data))
}

// find returns how many bytes precede the next header that is accepted, and what
// was parsed of it; without such a header, how many bytes precede the first one
// that may still begin a header. It advances r.off by this number, and ends the
// search when a header was found. last is set when no bytes will be added.
func (r *resync) find(p parser, last bool) (n int, h head, found bool) {
	b := r.buf[r.off:]
	n = len(b)
	for i := range b {
		if !mayBegin(&p, b[i:]) {
			continue
		}
		h, v := r.check(p, i, last)
		if v == valid {
			r.off += i
			r.active, r.searched = false, 0
			return i, h, true
		}
		if v == incomplete && !last {
			n = i
			break
		}
	}
	r.off += n
	return n, head{}, false
}

// pause ends a search that found nothing until bytes are added.
func (r *resync) pause() {
	if r.off == len(r.buf) {
		r.release()
	} else {
		r.tcp.out.pool.lent -= r.compact() * markSize
	}
	if r.searched > maxSearch && !r.notLNet {
		r.notLNet = true
		r.tcp.stats.NotLNet++
	}
}

// release returns the buffers to the pool.
func (r *resync) release() {
	pool := &r.tcp.out.pool
	pool.put(r.buf)
	pool.lent -= len(r.marks) * markSize
	pool.marks.put(r.marks)
	r.buf, r.off, r.marks = nil, 0, nil
}

// compact drops the bytes searched once they are the larger part. It returns
// the number of marks dropped.
func (r *resync) compact() int {
	if r.off < len(r.buf)/2 || r.off == 0 {
		return 0
	}
	n := copy(r.buf, r.buf[r.off:])
	r.buf = r.buf[:n]
	keep := r.marks[:0]
	for _, m := range r.marks {
		if m.end <= r.off {
			continue
		}
		if m.start >= 0 {
			m.start -= r.off
		}
		m.end -= r.off
		if m.start < 0 {
			m.start = -1
		}
		keep = append(keep, m)
	}
	gone := len(r.marks) - len(keep)
	r.marks = keep
	r.off = 0
	return gone
}

// mayBegin reports by a few bytes whether a header may begin at the start of b.
func mayBegin(p *parser, b []byte) bool {
	if p.form == formBare {
		return len(b) < 32 || b[24] <= byte(TypeReply) && b[25]|b[26]|b[27] == 0 && b[7]|b[15] == 0
	}
	switch b[0] {
	case ksockNoop, ksockLNet:
		return len(b) < 4 || b[1]|b[2]|b[3] == 0
	case 0:
		return len(b) < 4 || b[1]|b[2] == 0 && b[3]&^1 == ksockNoop || p.first && b[1] == 0x71
	case 0xac, 0xed, 0x45, 0x63: // first bytes of the magics of a greeting
		return p.first
	}
	return p.form == formUnknown && len(b) >= lnet4Size && b[25]|b[26]|b[27] == 0 && b[24] <= byte(TypeReply)
}

// check parses a candidate at offset i of the bytes not searched yet and
// reports whether it is a header: valid, invalid, or incomplete when that
// depends on bytes to come.
func (r *resync) check(p parser, i int, last bool) (h head, v verdict) {
	b := r.buf[r.off+i:]
	starts := r.beginsSegment(r.off + i)
	v = p.parse(b, &h)
	bare := false
	if v == invalid && p.form == formUnknown && starts && len(b) >= lnet4Size {
		// Socklnd 1 in mid-stream: believed only at the start of a segment
		// and when another header follows.
		p.form, bare = formBare, true
		v = p.lnet(b, formBare, orderLittle, &h)
	}
	if v != valid || h.kind == Connreq || h.kind == Hello {
		return h, v
	}
	score := 0
	if starts {
		score += 2
	}
	ends := r.endsSegment(r.off + i + h.size)
	if ends {
		score++
	}
	if !plausible(&h, b) {
		return h, invalid
	}
	if h.lnetOff < 0 {
		score += noopScore
	} else {
		score += r.score(&h, b[h.lnetOff:])
	}
	p.format = format{form: h.form, order: h.order}
	followers, v := chain(p, b, h.size)
	switch {
	case v == invalid:
		return h, invalid
	case followers > 0 || !bare && score >= certainScore && (last || starts && ends):
		return h, valid
	case last:
		return h, invalid
	}
	return h, incomplete
}

// chain counts the headers behind the message of the given size, as far as b
// reaches and up to maxChain of them.
func chain(p parser, b []byte, size int) (int, verdict) {
	n := 0
	for ; n < maxChain && size < len(b); n++ {
		var h head
		if v := p.parse(b[size:], &h); v != valid {
			return n, v
		}
		if !plausible(&h, b[size:]) {
			return n, invalid
		}
		size += h.size
	}
	return n, incomplete
}

// beginsSegment reports whether a segment begins at an offset in r.buf.
func (r *resync) beginsSegment(at int) bool {
	i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].end > at })
	return i < len(r.marks) && r.marks[i].start == at
}

// endsSegment reports whether a segment ends there.
func (r *resync) endsSegment(at int) bool {
	i := sort.Search(len(r.marks), func(i int) bool { return r.marks[i].end >= at })
	return i < len(r.marks) && r.marks[i].end == at
}

// plausible reports whether the fields of a header have values that random bytes
// are unlikely to have. b begins with the header.
func plausible(h *head, b []byte) bool {
	if h.lnetOff >= 0 {
		return plausibleLNet(h.form, b[h.lnetOff:])
	}
	// A NOOP returns cookies, which are counted from 1, and its checksum
	// covers nothing but itself.
	if first, second := h.order.u64(b[8:]), h.order.u64(b[16:]); second == 0 || first|second >= 1<<40 {
		return false
	}
	return h.csum == 0 || h.csum == noopSum(b)
}

// plausibleLNet reports the same for an LNet header.
func plausibleLNet(f form, b []byte) bool {
	if _, _, ok := lnetLength(f, b); !ok {
		return false
	}
	if f == formLong {
		if b[0] != 0 && b[0] != 12 || b[20] != 0 && b[20] != 12 {
			return false
		}
	} else if b[7] != 0 || b[15] != 0 {
		return false
	}
	var h Header
	decodeLNet(&h, f, b)
	if !h.Src.plausible() || !h.Dst.plausible() {
		return false
	}
	return h.Type != TypePut && h.Type != TypeGet || PortalRole(h.Portal) != RoleUnknown
}

// score rates how well an LNet header fits its connection.
func (r *resync) score(hd *head, b []byte) int {
	var h Header
	decodeLNet(&h, hd.form, b)
	score := 0
	if r.conn.hasNID(h.Src) {
		score += 2
	}
	if r.conn.hasNID(h.Dst) {
		score += 2
	}
	pids := b[hd.form.nidBytes():]
	if plausiblePid(orderLittle.u32(pids)) && plausiblePid(orderLittle.u32(pids[4:])) {
		score += 2
	}
	if h.Type == TypePut || h.Type == TypeGet {
		score++
	}
	return score
}

func plausiblePid(pid uint32) bool { return pid == kernelPid || pid&userPidFlag != 0 }

// recovers reports whether a stream that was taken for another protocol is LNet
// after all: a segment begins with a message that fits.
func (r *resync) recovers(p parser, data []byte) bool {
	var h head
	if p.parse(data, &h) != valid || h.lnetOff < 0 || !plausibleLNet(h.form, data[h.lnetOff:]) || r.score(&h, data[h.lnetOff:]) < certainScore {
		return false
	}
	r.notLNet = false
	r.searched = 0
	return true
}
