package lnet

import "github.com/lshark/lshark/dissect/lnet/link"

// When a gap is given up, beside the bounds of Options and the end of the
// connection.
const (
	maxUnacked = 256  // segments behind a gap while the receiver sends nothing
	maxGapAge  = 30e9 // ns of capture time
	maxHeld    = 8192 // segments held of one stream
	resentAge  = 10e6 // ns: what fills a gap later than this was retransmitted
)

// reassembly puts the TCP segments of one direction of a connection in order
// and passes their bytes to its framer, each byte once: duplicates are dropped,
// and gaps that are given up are passed on as such. Segments behind a gap are
// held.
//
// It has all TCP state of a direction, with what the analysis keeps.
type reassembly struct {
	// What every segment needs comes first, in few cache lines.
	tcp      *tcp
	next     uint32 // sequence number of the next byte for the framer, when started
	ack      uint32 // highest that the receiver acknowledged, when acked
	started  bool
	acked    bool
	finished bool    // FIN or RST was seen
	silent   bool    // the receiver has sent nothing since the gap opened
	held     []piece // segments behind a gap, in order, not overlapping
	unseen   unseen
	analysis analysis
	active   activeSecond
	framer   framer

	begin    beginning
	behind   int32 // segments that came since the gap opened
	bytes    int   // of buffers in held
	gapEntry       // in output.gaps
}

// piece is a segment, or a part of one, that is held behind a gap.
type piece struct {
	link.Frame
	seq           uint32
	size          int
	data          []byte // borrowed from the pool; shorter than size when cut or unneeded
	at            int64  // count of the source's frames when it came
	unread        bool   // the framer needs none of its bytes, they were not copied
	retransmitted bool
}

func (p *piece) end() uint32 { return p.seq + uint32(p.size) }

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

func (r *reassembly) init(t *tcp, c *conn, back bool) {
	r.tcp, r.stream = t, r
	r.framer.init(t, c, back)
	r.analysis.out = t.out
}

// start begins the stream where r.begin says.
func (r *reassembly) start() {
	r.started = true
	r.next = r.begin.first
	r.framer.start(r.next, r.begin.midStream)
}

// segment takes the payload of one segment; seq is the sequence number of its
// first byte.
func (r *reassembly) segment(src *source, g *link.Segment, seq uint32) {
	data, size := g.Data, g.Size
	if d := int32(seq - r.next); d < 0 {
		if -int(d) >= size {
			return
		}
		data, size = data[min(-int(d), len(data)):], size+int(d)
		seq = r.next
	}
	if seq == r.next && len(r.held) == 0 {
		r.next += uint32(size)
		r.framer.consume(data, size, &g.Frame, false)
		return
	}
	r.hold(src, piece{Frame: g.Frame, seq: seq, size: size, data: data, at: src.clock})
	r.updateGap()
	r.release()
	r.giveUpGaps(src)
}

// hold adds a piece to the held ones. Of bytes that are held already, the new copy
// is dropped.
func (r *reassembly) hold(src *source, p piece) {
	if len(r.held) == 0 {
		r.behind, r.silent = 0, true
	}
	r.behind++
	i := len(r.held)
	for i > 0 && int32(r.held[i-1].end()-p.seq) > 0 {
		i--
	}
	for ; p.size > 0 && i < len(r.held); i++ {
		q := &r.held[i]
		if d := int32(q.seq - p.seq); d > 0 {
			front := p
			front.size = min(p.size, int(d))
			front.data = p.data[:min(len(p.data), front.size)]
			front.retransmitted = p.Time-q.Time >= resentAge
			over := q.end()
			r.insert(i, front)
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
		r.insert(i, p)
	}
	src.list(&r.gapEntry)
}

func (r *reassembly) holds() bool { return len(r.held) > 0 }

// insert puts a copy of p at index i of the held pieces.
func (r *reassembly) insert(i int, p piece) {
	pool := &r.tcp.out.pool
	data := p.data
	p.data = nil
	p.unread = r.framer.skips(int(int32(p.seq-r.next)), p.size)
	switch {
	case p.unread:
		r.tcp.stats.NotCopied++
	case len(data) > 0:
		p.data = append(pool.get(len(data)), data...)
		r.bytes += cap(p.data)
	}
	if r.held == nil {
		r.held = pool.pieces.take()
	}
	pool.lent += pieceSize
	r.held = append(r.held, piece{})
	copy(r.held[i+1:], r.held[i:])
	r.held[i] = p
}

// updateGap moves the stream in output.gaps after the first held piece may have changed.
func (r *reassembly) updateGap() {
	var first int64
	if len(r.held) > 0 {
		first = r.held[0].Order
	}
	r.tcp.out.gaps.update(&r.gapEntry, first)
}

// release passes on the held pieces that have no gap before them.
func (r *reassembly) release() {
	pool := &r.tcp.out.pool
	n := 0
	for n < len(r.held) && r.held[n].seq == r.next {
		p := &r.held[n]
		n++
		r.bytes -= cap(p.data)
		r.next += uint32(p.size)
		if p.unread {
			r.framer.skip(p.size, &p.Frame, p.retransmitted)
		} else {
			r.framer.consume(p.data, p.size, &p.Frame, p.retransmitted)
		}
		pool.put(p.data)
	}
	if n == 0 {
		return
	}
	pool.lent -= n * pieceSize
	k := copy(r.held, r.held[n:])
	clear(r.held[k:])
	r.held = r.held[:k]
	r.updateGap()
	if k > 0 {
		r.behind, r.silent = 0, true
	} else {
		pool.pieces.put(r.held)
		r.held = nil
	}
}

// acknowledge records how far the receiver has all bytes.
func (r *reassembly) acknowledge(ack uint32) {
	if !r.acked || int32(ack-r.ack) > 0 {
		r.ack, r.acked = ack, true
	}
	r.silent = false
}

// giveUpGaps gives up gaps that will not be filled any more.
func (r *reassembly) giveUpGaps(src *source) {
	for len(r.held) > 0 && r.gapExpired(src) {
		r.giveUpGap()
	}
}

// gapExpired reports whether to give up the first gap: there is too much behind
// it, or its segment should have come.
func (r *reassembly) gapExpired(src *source) bool {
	p, out := &r.held[0], r.tcp.out
	switch {
	case r.bytes > out.opt.MaxStream || len(r.held) > maxHeld || out.full():
		return true
	case src.clock-p.at < ReorderFrames:
		return false
	case r.finished, r.acked && int32(r.ack-p.seq) >= 0, r.silent && r.behind >= maxUnacked:
		return true
	}
	return src.now-p.Time > maxGapAge
}

// giveUpGap makes a hole of the first gap.
func (r *reassembly) giveUpGap() {
	p := &r.held[0]
	n := int(int32(p.seq - r.next))
	why := Lost
	switch {
	case (r.acked || r.tcp.out.ending == EndOfFile) && !(r.acked && int32(r.ack-p.seq) >= 0):
		why = EndOfFile // they never arrived, or may have come later
	case r.begin.hasBefore && int32(r.begin.before-p.seq) >= 0:
		why = BeforeFile
	default:
		r.tcp.stats.Gaps++
		r.tcp.stats.LostBytes += int64(n)
	}
	r.next = p.seq
	r.framer.gap(n, why, p.Time)
	r.release()
}

// forget drops what an idle connection does not need.
func (r *reassembly) forget(peer *reassembly) {
	r.analysis.forget(&peer.analysis)
	r.framer.forget()
}

// close passes on all that is held.
func (r *reassembly) close() {
	for len(r.held) > 0 {
		r.giveUpGap()
	}
	if n := r.unseen.missing(); n > 0 {
		r.loseUnseen(n)
	}
	r.framer.close()
}
