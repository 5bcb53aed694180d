package lnet

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet/link"
)

// A stream should be read from its first byte. If its SYN was not seen yet, it may
// still arrive: a capture on several queues has frames out of order. So
// the segments of such a connection, and all that come after them at the same
// capture point, are queued until the SYN is there or ReorderFrames frames have
// passed; then the stream begins at the lowest sequence number seen.

// maxQueued bounds the bytes in a queue.
const maxQueued = 8 << 20

// source is a capture point.
type source struct {
	frames    int64 // seen so far, of any kind
	clock     int64 // of them, those that are not queued
	now       int64 // time of the last one
	undecided int   // connections of which it is not known where their streams begin
	queue     []queued
	head      int // of the queue
	bytes     int // in buffers of the queue
	replaced  []replaced
	gaps      []*gapEntry // streams and queue pairs with a gap
	nextGap   int         // the one of them to check next
}

// queued is a segment in the queue of a capture point.
type queued struct {
	link.Segment
	conn *conn
	dir  uint8
	at   int64  // count of frames when it came
	buf  []byte // its data, borrowed from the pool
}

// replaced is a connection that another one with the same addresses and ports
// has replaced.
type replaced struct {
	conn *conn
	at   int64 // count of frames until which segments of it may still come
}

// beginning is where a stream begins, as far as it is known.
type beginning struct {
	first  uint32 // sequence number of the first byte, when known
	lowest uint32 // lowest sequence number with data, when data
	before uint32 // first ACK, when hasBefore: bytes in front of it may have been sent before the capture began
	near   uint32 // a sequence number of the stream, when hasNear: no data may have come yet
	lacks  uint32 // bytes in front of first that were not captured, and not acknowledged so far

	known     bool
	data      bool // data came before the beginning was known
	midStream bool // the capture lacks the beginning
	hasBefore bool
	hasNear   bool
}

// decided reports whether the beginning is known, or no data need it yet.
func (b *beginning) decided() bool { return b.known || !b.data }

// note records the sequence number of data that came before the beginning was
// known.
func (b *beginning) note(seq uint32) {
	if !b.data || int32(seq-b.lowest) < 0 {
		b.lowest, b.data = seq, true
	}
}

// busy reports whether anything is due after a number of frames.
func (src *source) busy() bool {
	return len(src.queue)+len(src.gaps)+len(src.replaced) > 0
}

// route finds or adds the connection of a segment, and delivers or queues the
// segment.
func (t *tcp) route(src *source, c *conn, key link.Flow, dir uint8, g *link.Segment) {
	for old := c; old != nil; old = old.older() {
		t.unpack(old)
	}
	if c = c.owner(dir, g, src.frames); c == nil {
		if g.Flags&tcpRST != 0 {
			return // of an unknown connection
		}
		c = t.connect(src, key)
	}
	c.noteSYN(dir, g)
	c.noteNumbers(dir, g)
	r := &c.half[dir]
	if g.Size > 0 && !r.begin.known && !r.started && g.Flags&tcpRST == 0 {
		if !r.begin.data {
			c.until = src.frames + ReorderFrames
		}
		r.begin.note(g.Seq)
		if !c.undecided {
			c.undecided = true
			src.undecided++
		}
	}
	if c.undecided && c.decided() {
		c.undecided = false
		src.undecided--
	}
	if src.undecided == 0 && len(src.queue) == 0 {
		t.deliver(src, c, dir, g)
		return
	}
	q := queued{Segment: *g, conn: c, dir: dir, at: src.frames}
	if len(g.Data) > 0 {
		q.buf = append(t.out.pool.get(len(g.Data)), g.Data...)
		q.Data = q.buf
	}
	src.bytes += cap(q.buf)
	if len(src.queue) == 0 {
		t.queued = append(t.queued, src)
	}
	src.queue = append(src.queue, q)
	t.deliverQueued(src, false)
}

// noteSYN records where the streams begin, as soon as a SYN is seen.
func (c *conn) noteSYN(dir uint8, g *link.Segment) {
	if g.Flags&tcpSYN == 0 {
		return
	}
	c.syn = true
	if r := &c.half[dir]; !r.begin.known && !r.started {
		r.begin.known, r.begin.first = true, g.Seq+1
	}
	if peer := &c.half[1-dir]; g.Flags&tcpACK != 0 && !peer.begin.known && !peer.started {
		peer.begin.known, peer.begin.first = true, g.Ack
	}
}

// noteNumbers records where the streams are, before any data.
func (c *conn) noteNumbers(dir uint8, g *link.Segment) {
	if g.Flags&tcpRST != 0 {
		return
	}
	b, peer := &c.half[dir].begin, &c.half[1-dir].begin
	b.near, b.hasNear = g.Seq, true
	if g.Flags&tcpACK != 0 {
		peer.near, peer.hasNear = g.Ack, true
	}
}

// decided reports whether it is known where both streams begin, as far as it
// matters yet.
func (c *conn) decided() bool {
	return (c.half[0].started || c.half[0].begin.decided()) && (c.half[1].started || c.half[1].begin.decided())
}

// connect adds a connection. One that it replaces stays for its late segments.
func (t *tcp) connect(src *source, key link.Flow) *conn {
	c := t.conns.add(key, src.now)
	c.born = src.frames
	if old := c.older(); old != nil {
		src.replaced = append(src.replaced, replaced{old, src.frames + ReorderFrames})
	}
	for old := t.conns.stale(src.now); old != nil && old != c; old = t.conns.stale(src.now) {
		t.end(old)
		t.stats.Evicted++
	}
	t.unpack(c)
	return c
}

// deliverQueued delivers the segments that need not be queued any longer; all
// of them when all is set.
func (t *tcp) deliverQueued(src *source, all bool) {
	for src.head < len(src.queue) {
		q := &src.queue[src.head]
		if c := q.conn; c.undecided {
			if !all && src.frames < c.until && src.bytes < maxQueued {
				break
			}
			t.beginWithoutSYN(src, c)
		}
		src.head++
		src.bytes -= cap(q.buf)
		src.clock = q.at
		t.deliver(src, q.conn, q.dir, &q.Segment)
		t.out.pool.put(q.buf)
		*q = queued{}
	}
	if src.head == len(src.queue) {
		src.clock = src.frames
		if i := slices.Index(t.queued, src); i >= 0 {
			t.queued = slices.Delete(t.queued, i, i+1)
		}
	}
	src.compact()
}

// compact drops the delivered part of the queue once it is the larger one: the
// queue may never be empty.
func (src *source) compact() {
	if src.head == 0 || 2*src.head < len(src.queue) {
		return
	}
	n := copy(src.queue, src.queue[src.head:])
	clear(src.queue[n:])
	src.queue, src.head = src.queue[:n], 0
}

// beginWithoutSYN sets where the streams of a connection begin whose SYN does
// not come.
func (t *tcp) beginWithoutSYN(src *source, c *conn) {
	c.undecided = false
	src.undecided--
	for i := range c.half {
		if r := &c.half[i]; !r.started && !r.begin.decided() {
			r.begin = beginning{known: true, first: r.begin.lowest, midStream: true}
		}
	}
	if old := c.older(); old != nil && !c.syn {
		// More likely the capture lacks much of one connection than the
		// beginning of another.
		t.flush(old)
		t.unpack(old)
		c.continues(old)
		t.conns.remove(old)
	}
}

// endReplaced ends the connections that were replaced some time ago.
func (t *tcp) endReplaced(src *source) {
	for len(src.replaced) > 0 && src.replaced[0].at <= src.clock {
		t.end(src.replaced[0].conn)
		src.replaced = src.replaced[1:]
	}
}

// end hands out what a connection still holds and removes it.
func (t *tcp) end(c *conn) {
	if c.undecided {
		t.deliverQueued(t.source(int(c.key.Source)), true)
	}
	t.flush(c)
	t.conns.remove(c)
	src := t.source(int(c.key.Source))
	if isUsed := len(src.queue) > 0 || c.streams != nil && (c.half[0].listed || c.half[1].listed); !isUsed {
		t.reuse(c)
	}
}
