package lnet

import "sort"

// Bytes searched without finding a header before a stream counts as something
// else than LNet. It must be well above one message, in the middle of which
// the capture may have begun.
const maxSearch = 4 << 20

// maxChain is how many headers are looked at behind a candidate.
const maxChain = 8

// strong is the score that makes a header believable without a second one.
const strong = 5

// noopScore is that of a NOOP, which has little to go by: without a header
// behind it, it must be a segment of its own.
const noopScore = 2

// window holds the bytes in which a stream that lost its framing looks for a
// header.
type window struct {
	buf   []byte // borrowed from the pool
	off   int    // bytes before it are done with
	marks []mark
	total int64 // bytes searched since the framing was lost
}

// mark says where the bytes of a window come from.
type mark struct {
	start, end  int // in buf; start is -1 when the bytes begin amid a segment
	frame, time int64
	late        bool
	carrier     int64
}

// lose gives up the framing.
func (st *stream) lose() {
	if st.lost {
		return
	}
	st.lost = true
	st.win.total = 0
	st.s.stats.Resyncs++
	if st.version() == 0 {
		st.form, st.order = formUnknown, orderUnknown
	}
}

// loseIn gives up the framing at a header that is none: its first bytes are in
// the message in hand, the others in data.
func (st *stream) loseIn(data []byte, amid bool) {
	st.lose()
	if begun := st.msg.buf; st.msg.have > 0 {
		st.pos -= uint32(len(begun))
		st.look(begun, true)
	}
	st.drop()
	if len(data) > 0 {
		st.look(data, amid)
	}
}

// look adds data to the window.
func (st *stream) look(data []byte, amid bool) {
	w := &st.win
	w.buf = append(st.s.pool.grow(w.buf, len(data)), data...)
	m := mark{len(w.buf) - len(data), len(w.buf), st.frame, st.time, st.late, st.carrier}
	if amid {
		m.start = -1
	}
	if w.marks == nil {
		w.marks = st.s.pool.marks.take()
	}
	st.s.pool.lent += markSize
	w.marks = append(w.marks, m)
	w.total += int64(len(data))
}

// search looks for a message in the window and frames what it finds. When
// nothing more can come behind the window's bytes, or no more can be held, last
// is true.
func (st *stream) search(last bool) {
	w := &st.win
	for w.off < len(w.buf) {
		n, found := st.candidate(last)
		st.skipped += int64(n)
		st.advance(n)
		w.off += n
		if !found {
			break
		}
		w.total = 0
		st.lost = false
		if st.replay() {
			st.closeWindow()
			return
		}
	}
	if w.off == len(w.buf) {
		st.closeWindow()
	} else {
		st.s.pool.lent -= w.compact() * markSize
	}
	if w.total > maxSearch && !st.dead {
		st.dead = true
		st.s.stats.NotLNet++
	}
}

func (st *stream) closeWindow() {
	p := &st.s.pool
	p.put(st.win.buf)
	p.lent -= len(st.win.marks) * markSize
	p.marks.put(st.win.marks)
	st.win = window{total: st.win.total}
}

// compact drops the done part of the window once it is the larger one. It
// returns the number of marks that went.
func (w *window) compact() int {
	if w.off < len(w.buf)/2 || w.off == 0 {
		return 0
	}
	n := copy(w.buf, w.buf[w.off:])
	w.buf = w.buf[:n]
	keep := w.marks[:0]
	for _, m := range w.marks {
		if m.end <= w.off {
			continue
		}
		if m.start >= 0 {
			m.start -= w.off
		}
		m.end -= w.off
		if m.start < 0 {
			m.start = -1
		}
		keep = append(keep, m)
	}
	gone := len(w.marks) - len(keep)
	w.marks = keep
	w.off = 0
	return gone
}

// replay frames the window from its offset on, each piece under the frame it
// came with. It returns false, the framing lost again, where a header is bad.
func (st *stream) replay() bool {
	w := &st.win
	frame, time, late := st.frame, st.time, st.late
	defer func() { st.frame, st.time, st.late = frame, time, late }()
	for _, m := range w.marks {
		if m.end <= w.off {
			continue
		}
		st.frame, st.time, st.late = m.frame, m.time, m.late
		st.carry(m.carrier)
		n, ok := st.run(w.buf[w.off:m.end])
		w.off += n
		if ok {
			st.msg.late = st.msg.late || m.late && st.msg.have > 0
			continue
		}
		// The header may have begun in an earlier piece.
		back := st.msg.have
		w.off -= back
		st.pos -= uint32(back)
		st.drop()
		st.lose()
		return false
	}
	return true
}

// candidate returns the offset, from that of the window, of the first header
// that is to be believed, or, not found, of the first byte that cannot be
// judged yet.
func (st *stream) candidate(last bool) (int, bool) {
	b := st.win.buf[st.win.off:]
	r := st.reading(true)
	for i := range b {
		if !couldBegin(&r, b[i:]) {
			continue
		}
		switch v := st.judge(r, i, last); v {
		case good:
			return i, true
		case short:
			if !last {
				return i, false
			}
		}
	}
	return len(b), false
}

// couldBegin quickly rules most bytes out.
func couldBegin(r *reading, b []byte) bool {
	if r.form == formBare {
		return len(b) < 32 || b[24] <= byte(TypeReply) && b[25]|b[26]|b[27] == 0 && b[7]|b[15] == 0
	}
	switch b[0] {
	case ksockNoop, ksockLNet:
		return len(b) < 4 || b[1]|b[2]|b[3] == 0
	case 0:
		return len(b) < 4 || b[1]|b[2] == 0 && b[3]&^1 == ksockNoop || r.fresh && b[1] == 0x71
	case 0xac, 0xed, 0x45, 0x63: // first bytes of the magics of a greeting
		return r.fresh
	}
	return r.form == formUnknown && len(b) >= lnet4Size && b[25]|b[26]|b[27] == 0 && b[24] <= byte(TypeReply)
}

// judge says whether a message begins at offset i of the window: bad, good, or
// short when that depends on bytes to come.
func (st *stream) judge(r reading, i int, last bool) verdict {
	w := &st.win
	b := w.buf[w.off+i:]
	starts := w.begins(w.off + i)
	h, v := r.parse(b)
	bare := false
	if v == bad && r.form == formUnknown && starts && len(b) >= lnet4Size {
		// Socklnd 1 in mid-stream: believed only at the start of a segment
		// and when another header follows.
		r.form, bare = formBare, true
		h, v = r.lnet(b, formBare, orderLittle)
	}
	if v != good {
		return v
	}
	if h.kind == Connreq || h.kind == Hello {
		return good
	}
	score := 0
	if starts {
		score += 2
	}
	ends := w.ends(w.off + i + h.size)
	if ends {
		score++
	}
	if !plausible(&h, b) {
		return bad
	}
	if h.lnet < 0 {
		score += noopScore
	} else {
		score += st.lnetScore(&h, b[h.lnet:])
	}
	r.form, r.order, r.fresh = h.form, h.order, false
	followers, v := chain(r, b, h.size)
	switch {
	case v == bad:
		return bad
	case followers > 0 || !bare && score >= strong && (last || starts && ends):
		st.form, st.order = h.form, h.order
		return good
	case last:
		return bad
	}
	return short
}

// chain counts the headers behind the message of the given size, as far as b
// reaches and up to maxChain of them.
func chain(r reading, b []byte, size int) (int, verdict) {
	n := 0
	for ; n < maxChain && size < len(b); n++ {
		h, v := r.parse(b[size:])
		if v != good {
			return n, v
		}
		if !plausible(&h, b[size:]) {
			return n, bad
		}
		size += h.size
	}
	return n, short
}

// begins reports whether a segment begins at offset at of the window's buffer.
func (w *window) begins(at int) bool {
	i := sort.Search(len(w.marks), func(i int) bool { return w.marks[i].end > at })
	return i < len(w.marks) && w.marks[i].start == at
}

// ends reports whether a segment ends there.
func (w *window) ends(at int) bool {
	i := sort.Search(len(w.marks), func(i int) bool { return w.marks[i].end >= at })
	return i < len(w.marks) && w.marks[i].end == at
}

// plausible tells a header from chance bytes. b begins with it.
func plausible(h *head, b []byte) bool {
	if h.lnet >= 0 {
		return plausibleLNet(h.form, b[h.lnet:])
	}
	// A NOOP returns cookies, which are counted from 1, and its checksum
	// covers nothing but itself.
	if first, second := h.order.u64(b[8:]), h.order.u64(b[16:]); second == 0 || first|second >= 1<<40 {
		return false
	}
	return h.csum == 0 || h.csum == noopSum(b)
}

// plausibleLNet tells an LNet header from chance bytes, as far as one can.
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

// lnetScore weighs how well an LNet header fits its connection.
func (st *stream) lnetScore(hd *head, b []byte) int {
	var h Header
	decodeLNet(&h, hd.form, b)
	score := 0
	if st.conn.knows(h.Src) {
		score += 2
	}
	if st.conn.knows(h.Dst) {
		score += 2
	}
	pids := b[hd.form.nids():]
	if plausiblePid(orderLittle.u32(pids)) && plausiblePid(orderLittle.u32(pids[4:])) {
		score += 2
	}
	if h.Type == TypePut || h.Type == TypeGet {
		score++
	}
	return score
}

func plausiblePid(pid uint32) bool { return pid == lnetLndPid || pid&lnetUserPid != 0 }

// revived reports whether a stream that is not LNet is so after all: when a
// segment begins with a message that fits.
func (st *stream) revived(data []byte) bool {
	r := st.reading(true)
	h, v := r.parse(data)
	if v != good || h.lnet < 0 || !plausibleLNet(h.form, data[h.lnet:]) || st.lnetScore(&h, data[h.lnet:]) < strong {
		return false
	}
	st.dead = false
	st.win.total = 0
	return true
}
