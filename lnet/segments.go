package lnet

import "net/netip"

// When a gap is given up, beside the bounds and the end of the connection.
const (
	maxUnacked = 256  // segments behind a gap while the other side is silent
	maxGapAge  = 30e9 // ns of capture time
	maxHeld    = 8192 // segments held of one stream
	resentAge  = 10e6 // ns: what fills a gap later than this was sent again
)

// stream is one direction of a connection.
type stream struct {
	s    *Decoder
	conn *conn
	back bool // from key.dst to key.src

	// Sequence numbers.
	first   uint32 // of the first byte, when known
	next    uint32 // expected
	low     uint32 // lowest seen while waiting, when waits
	ack     uint32 // highest the other side acknowledged, when acked
	known   bool
	started bool
	waits   bool
	acked   bool
	amid    bool // it begins in mid-stream
	over    bool // FIN or RST was seen

	held     []piece // segments behind a gap, in order, not overlapping
	bytes    int     // of buffers in held
	behind   int     // segments that came since the gap opened
	silent   bool    // no acknowledgement came since then
	inGapped bool    // listed in source.gapped
	since    int64   // frame of the first of held, as filed in Decoder.gaps
	place    int     // in Decoder.gaps, from 1; 0: not there

	// Framing.
	frame   int64 // the highest number of the frames consumed
	time    int64 // of that frame
	pos     uint32
	hello   uint8 // version of the hello, 0 when not seen
	form    form
	order   order
	fresh   bool // nothing was framed yet
	lost    bool // the framing
	late    bool // what is being framed was sent again
	dead    bool // this is not LNet
	msg     partial
	win     window
	skipped int64 // bytes since the last message that could not be framed

	carrier  int64   // frame whose bytes are being framed
	carriers []int64 // frames of the message in hand
}

// piece is a segment, or a part of one, that waits behind a gap.
type piece struct {
	seq   uint32
	size  int
	data  []byte // borrowed from the pool; shorter than size when cut or not wanted
	frame int64
	time  int64
	at    int64 // count of the source's frames when it came
	late  bool
	idle  bool // its bytes will be skipped and were not copied
}

func (p *piece) end() uint32 { return p.seq + uint32(p.size) }

func (st *stream) open(s *Decoder, c *conn, back bool) {
	st.s, st.conn, st.back, st.fresh = s, c, back, true
}

// ends returns the sender and the receiver.
func (st *stream) ends() (src, dst netip.AddrPort) {
	k := &st.conn.key
	src, dst = addrPort(k.src, k.sport), addrPort(k.dst, k.dport)
	if st.back {
		return dst, src
	}
	return src, dst
}

// inherit takes over what an earlier part of the same stream told.
func (st *stream) inherit(old *stream) {
	st.hello, st.form, st.order, st.fresh = old.hello, old.form, old.order, old.fresh
	st.skipped = old.skipped
}

// version is that of the connection's hello: this side's, else the other's.
func (st *stream) version() uint8 {
	if st.hello != 0 {
		return st.hello
	}
	if st.back {
		return st.conn.half[0].hello
	}
	return st.conn.half[1].hello
}

// start sets where the stream begins.
func (st *stream) start(seq uint32) {
	st.started = true
	st.next, st.pos = seq, seq
	if st.amid {
		st.lose()
	}
}

// segment takes the payload of one segment.
func (st *stream) segment(src *source, g *segment, seq uint32) {
	data, size := g.data, g.size
	if d := int32(seq - st.next); d < 0 {
		if -int(d) >= size {
			st.s.stats.Retransmitted++
			return
		}
		data, size = data[min(-int(d), len(data)):], size+int(d)
		seq = st.next
	}
	if seq == st.next && len(st.held) == 0 {
		st.consume(data, size, g.frame, g.time, false)
		return
	}
	if seq != st.next {
		st.s.stats.OutOfOrder++
	}
	st.hold(src, piece{seq: seq, size: size, data: data, frame: g.frame, time: g.time, at: src.clock})
	st.s.gaps.note(st)
	st.drain()
	st.patience(src)
}

// hold files a piece among the held ones. Bytes that are there already win.
func (st *stream) hold(src *source, p piece) {
	if len(st.held) == 0 {
		st.behind, st.silent = 0, true
	}
	st.behind++
	i := len(st.held)
	for i > 0 && int32(st.held[i-1].end()-p.seq) > 0 {
		i--
	}
	for ; p.size > 0 && i < len(st.held); i++ {
		q := &st.held[i]
		if d := int32(q.seq - p.seq); d > 0 {
			front := p
			front.size = min(p.size, int(d))
			front.data = p.data[:min(len(p.data), front.size)]
			front.late = p.time-q.time >= resentAge
			over := q.end()
			st.insert(i, front)
			i++
			if p.size <= int(d) {
				return
			}
			p.cut(over)
			continue
		}
		p.cut(q.end())
	}
	if p.size > 0 {
		st.insert(i, p)
	}
	if len(st.held) > 0 && !st.inGapped {
		st.inGapped = true
		src.gapped = append(src.gapped, st)
	}
}

// cut drops the bytes before seq.
func (p *piece) cut(seq uint32) {
	n := int(int32(seq - p.seq))
	if n <= 0 {
		return
	}
	n = min(n, p.size)
	p.seq += uint32(n)
	p.size -= n
	p.data = p.data[min(n, len(p.data)):]
}

// insert puts a copy of p at index i of the held pieces.
func (st *stream) insert(i int, p piece) {
	data := p.data
	p.data = nil
	p.idle = st.idle(&p)
	switch {
	case p.idle:
		st.s.stats.NotCopied++
	case len(data) > 0:
		p.data = append(st.s.pool.get(len(data)), data...)
		st.bytes += cap(p.data)
	}
	if st.held == nil {
		st.held = st.s.pool.pieces.take()
	}
	st.s.pool.lent += pieceSize
	st.held = append(st.held, piece{})
	copy(st.held[i+1:], st.held[i:])
	st.held[i] = p
}

// idle reports whether the bytes of p will be skipped, because they lie in a
// bulk nobody wants.
func (st *stream) idle(p *piece) bool {
	off := int(int32(p.seq - st.next))
	m := &st.msg
	return !st.lost && m.size > 0 && off >= m.keep-m.have && off+p.size <= m.size-m.have
}

// drain consumes the held pieces that have no gap before them.
func (st *stream) drain() {
	n := 0
	for n < len(st.held) && st.held[n].seq == st.next {
		p := &st.held[n]
		n++
		st.bytes -= cap(p.data)
		if p.idle {
			st.skip(p)
		} else {
			st.consume(p.data, p.size, p.frame, p.time, p.late)
		}
		st.s.pool.put(p.data)
	}
	if n == 0 {
		return
	}
	st.s.pool.lent -= n * pieceSize
	k := copy(st.held, st.held[n:])
	clear(st.held[k:])
	st.held = st.held[:k]
	st.s.gaps.note(st)
	if k > 0 {
		st.behind, st.silent = 0, true
	} else {
		st.s.pool.pieces.put(st.held)
		st.held = nil
	}
}

// skip passes over a piece whose bytes nobody wanted and nobody kept.
func (st *stream) skip(p *piece) {
	st.see(p.frame, p.time)
	st.carry(p.frame)
	m := &st.msg
	st.next += uint32(p.size)
	st.advance(p.size)
	m.have += p.size
	m.late = m.late || p.late
	if m.have == m.size {
		st.finish()
	}
}

// see notes the frame that completes what comes now: the one with the highest
// number so far, as a message behind a gap is complete when the gap is filled.
func (st *stream) see(frame, time int64) {
	if frame > st.frame {
		st.frame, st.time = frame, time
	}
}

// consume frames bytes that follow the last ones; those that the capture cut
// off are a hole.
func (st *stream) consume(data []byte, size int, frame, time int64, late bool) {
	st.see(frame, time)
	st.carry(frame)
	st.next += uint32(size)
	st.late = late
	st.feed(data)
	if late && st.msg.have > 0 {
		st.msg.late = true
	}
	st.late = false
	if size > len(data) {
		st.s.stats.CutBytes += int64(size - len(data))
		st.gap(size-len(data), Snaplen)
	}
}

// feed frames data, looking for a header first if need be.
func (st *stream) feed(data []byte) {
	if len(data) == 0 {
		return
	}
	if st.dead && !st.revived(data) {
		st.advance(len(data))
		return
	}
	st.reread()
	if st.lost {
		st.look(data, false)
		st.search(st.s.full())
		return
	}
	if st.msg.skipping() && len(data) < st.msg.size-st.msg.have {
		st.msg.have += len(data)
		st.advance(len(data))
		return
	}
	if n, ok := st.run(data); !ok {
		st.loseIn(data[n:], n > 0)
		st.search(st.s.full())
	}
}

// acknowledge notes how far the other side has received.
func (st *stream) acknowledge(ack uint32) {
	if !st.acked || int32(ack-st.ack) > 0 {
		st.ack, st.acked = ack, true
	}
	st.silent = false
}

// patience gives up gaps that will not be filled any more.
func (st *stream) patience(src *source) {
	for len(st.held) > 0 && st.hopeless(src) {
		st.giveUp()
	}
}

func (st *stream) hopeless(src *source) bool {
	p := &st.held[0]
	o := &st.s.opt
	switch {
	case st.bytes > o.MaxStream || len(st.held) > maxHeld || st.s.full():
		return true
	case src.clock-p.at < ReorderFrames:
		return false
	case st.over, st.acked && int32(st.ack-p.seq) >= 0, st.silent && st.behind >= maxUnacked:
		return true
	}
	return src.now-p.time > maxGapAge
}

// giveUp takes the first gap as a hole.
func (st *stream) giveUp() {
	p := &st.held[0]
	n := int(int32(p.seq - st.next))
	st.s.stats.Gaps++
	st.s.stats.LostBytes += int64(n)
	st.next = p.seq
	st.gap(n, Lost)
	st.drain()
}

// close gives out all that is held.
func (st *stream) close() {
	for len(st.held) > 0 {
		st.giveUp()
	}
	st.reread()
	if st.lost {
		st.search(true)
	}
	if m := &st.msg; m.have > 0 && m.size == 0 {
		st.cutHeader()
	}
	if st.msg.size > 0 {
		st.finish()
	}
}
