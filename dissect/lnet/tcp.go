package lnet

import (
	"maps"
	"slices"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/fifo"
)

// DefaultPort is the TCP port of LNet.
const DefaultPort = 988

// TCPStats are the counts of the TCP transport. Bytes are those of TCP payload.
type TCPStats struct {
	Frames       int64 // with a TCP segment
	Segments     int64 // of them, on an LNet port
	Bytes        int64 // in these segments, as sent
	Conns        int64 // connections so far
	Live         int   // connections in the table now
	Evicted      int64 // connections removed from it: idle, closed, or too many
	Marks        TCPAnomalies
	Gaps         int64 // gaps that were given up
	LostBytes    int64 // in these gaps
	SkippedLost  int64 // of them, in bulk data that was skipped anyway
	CutBytes     int64 // not captured because of the snaplen
	Resyncs      int64 // searches for a header
	SkippedBytes int64 // without a message, in these searches and the gaps before
	NotLNet      int64 // streams in which no header was found
	NotCopied    int64 // held segments that needed no copy
}

// tcp is the transport of socklnd: it assigns segments to connections and puts
// each direction of a connection in order (reassembly), from which the
// messages are taken (framer).
//
// A gap in a stream is held open for as long as a retransmission or a late
// frame may fill it. After that it becomes a hole, and the stream goes on
// behind it.
type tcp struct {
	out     *output
	ports   []uint16
	conns   connTable
	sources map[int]*source
	last    *source // the one used last
	lastID  int
	queued  []*source // with segments in their queue
	stats   TCPStats
	spare   []*streams // of connections that were packed or have ended, at most maxSpareStreams
	scratch []byte
}

func (t *tcp) init(out *output) {
	t.out, t.ports = out, out.opt.Ports
	t.sources = make(map[int]*source)
	out.begins = make(map[int]int64)
	t.conns.init()
}

// frame counts a frame of any kind at its capture point, and runs what is scheduled
// after that many frames.
func (t *tcp) frame(f *capture.Frame) *source {
	src := t.source(f.Source)
	if src.frames == 0 {
		t.out.begins[f.Source] = f.Time
	}
	src.frames++
	src.now = f.Time
	if len(src.queue) == 0 {
		src.clock = src.frames
	}
	if src.busy() {
		t.tick(src)
	}
	return src
}

// segment takes the next segment of a capture point.
func (t *tcp) segment(src *source, g *link.Segment) {
	t.stats.Frames++
	if !slices.Contains(t.ports, g.Flow.SrcPort) && !slices.Contains(t.ports, g.Flow.DstPort) {
		return
	}
	t.stats.Segments++
	t.stats.Bytes += int64(g.Size)
	key, dir := bothWays(&g.Flow)
	c := t.conns.find(&key)
	if c != nil && c.older() == nil && c.streams != nil && src.undecided == 0 && len(src.queue) == 0 &&
		g.Flags&(tcpSYN|tcpRST) == 0 && c.half[dir].started && isNear(g.Seq, c.half[dir].next) {
		t.deliver(src, c, dir, g)
		return
	}
	t.route(src, c, key, dir, g)
}

// source returns the capture point with the given number.
func (t *tcp) source(id int) *source {
	if t.last != nil && t.lastID == id {
		return t.last
	}
	src := t.sources[id]
	if src == nil {
		src = new(source)
		t.sources[id] = src
	}
	t.last, t.lastID = src, id
	return src
}

// tick runs what is scheduled by the count of frames. Of the streams and queue pairs with a gap it
// checks one at each call, so that the cost does not grow with their number.
func (t *tcp) tick(src *source) {
	t.deliverQueued(src, false)
	t.endReplaced(src)
	if len(src.gaps) == 0 {
		return
	}
	if src.nextGap >= len(src.gaps) {
		src.nextGap = 0
	}
	e := src.gaps[src.nextGap]
	e.giveUpGaps(src)
	if e.holds() {
		src.nextGap++
		return
	}
	e.listed = false
	last := len(src.gaps) - 1
	src.gaps[src.nextGap] = src.gaps[last]
	src.gaps[last] = nil
	src.gaps = src.gaps[:last]
}

// deliver gives a segment to the reassembly of its direction.
func (t *tcp) deliver(src *source, c *conn, dir uint8, g *link.Segment) {
	if c.number < 0 {
		c.number = t.out.conns
		t.out.conns++
		t.stats.Conns++
	}
	t.conns.touch(c, g.Time)
	if c.streams == nil { // packed while the segment was queued
		t.unpack(c)
	}
	r, peer := &c.half[dir], &c.half[1-dir]
	first := !peer.acked
	if g.Flags&tcpACK != 0 {
		peer.acknowledge(g.Ack)
		if len(peer.held) > 0 {
			peer.giveUpGaps(src)
		}
	}
	mark, waited := r.analysis.segment(&peer.analysis, g)
	r.follow(peer, g, first)
	seq := g.Seq
	if g.Flags&tcpSYN != 0 {
		seq++
	}
	if !r.started && r.begin.known {
		r.start()
	}
	if g.Size > 0 && g.Flags&tcpRST == 0 {
		r.segment(src, g, seq)
	}
	if t.out.opt.Active != nil && (r.active.begins(g.Time) || g.Flags&unusualFlags != 0) {
		t.reportActivity(c, dir, g)
	}
	probed := r.analysis.acks.hasProbed() || peer.analysis.acks.hasProbed()
	if mark != noMark || g.Window == 0 || r.analysis.acks.closed != 0 || waited != 0 || probed || g.Flags&tcpRST != 0 {
		t.mark(c, dir, mark, waited, g)
	}
	if g.Flags&(tcpFIN|tcpRST) != 0 {
		r.finished = true
		peer.finished = peer.finished || g.Flags&tcpRST != 0
		if peer.finished {
			t.conns.close(c, g.Time)
		}
	}
	switch {
	case c.removed: // while the segment was queued: nothing more comes
		t.flush(c)
	case c.quiet:
		t.pack(c)
	}
}

// mark counts a segment by its class, and passes it on; waited is TCPEvent.Waited.
func (t *tcp) mark(c *conn, dir uint8, mark tcpMark, waited int64, g *link.Segment) {
	marks := marksOf(mark, g)
	a := &c.half[dir].analysis
	opened := a.window(g, marks.ZeroWindows > 0)
	t.stats.Marks.Add(&marks)
	hook := t.out.opt.TCPEvent
	probes, answer := a.acks.unanswered(g), c.half[1-dir].analysis.acks.hasProbed()
	if hook == nil || marks == (TCPAnomalies{}) && opened == 0 && waited == 0 && probes == 0 && !answer && g.Flags&tcpRST == 0 {
		return
	}
	m := &t.out.tcpEvent
	*m = TCPEvent{Frame: g.Frame, Source: int(c.key.Source), Conn: c.number, Seq: g.Seq, Bytes: g.Size, Opened: opened, Waited: waited,
		Probes: probes, Answer: answer,
		SYN: g.Flags&tcpSYN != 0, RST: g.Flags&tcpRST != 0, TCPAnomalies: marks}
	m.Src, m.Dst = c.ends(dir == 1)
	if first, known := a.timeOf(g.Seq); known && marks.Retransmissions > 0 && first.missing == captured {
		m.FirstSent = first.time
	} else if probes > 0 {
		m.FirstSent, m.Alone = a.acks.probed, a.isAlone(&c.half[1-dir].analysis)
	}
	hook(m)
}

// heldFrame returns the order of the frame of the first segment or packet that is held, 0
// for none.
func (t *tcp) heldFrame() int64 {
	first := t.out.gaps.first()
	for _, src := range t.queued {
		if src.head == len(src.queue) {
			continue // the last segment is being delivered
		}
		if order := src.queue[src.head].Order; first == 0 || order < first {
			first = order
		}
	}
	return first
}

// quiet counts as many frames as may precede a late frame, so that nothing waits for
// one any longer.
func (t *tcp) quiet() {
	for _, id := range t.sourceIDs() {
		src := t.sources[id]
		src.frames += ReorderFrames
		for range len(src.gaps) + 1 {
			t.tick(src)
		}
	}
}

// close hands out what all connections hold.
func (t *tcp) close() {
	for _, id := range t.sourceIDs() {
		t.deliverQueued(t.sources[id], true)
	}
	for _, q := range [...]*fifo.Queue[conn]{&t.conns.closed, &t.conns.idle, &t.conns.active} {
		q.All(t.flush)
	}
}

// sourceIDs lists the capture points in a fixed order.
func (t *tcp) sourceIDs() []int {
	return slices.Sorted(maps.Keys(t.sources))
}
