package lnet

import "slices"

// A stream should be read from its first byte. When its SYN was not seen yet,
// it may still come: frames are captured out of order on several queues. So
// the segments of such a connection, and everything behind them from the same
// capture point, wait in a queue until the SYN is there or ReorderFrames frames have
// passed; then the stream begins at the lowest number seen.

// maxQueued bounds the bytes that wait.
const maxQueued = 8 << 20

// source is a capture point.
type source struct {
	frames  int64 // seen so far, of any kind
	clock   int64 // of them, those that no longer wait
	now     int64 // time of the last one
	waiting int   // connections that wait
	queue   []queued
	head    int // of the queue
	bytes   int
	ending  []ending
	gapped  []*stream // streams with a gap
	turn    int       // the next of them to look at
}

// queued is a segment that waits.
type queued struct {
	segment
	conn *conn
	dir  uint8
	at   int64  // count of frames when it came
	buf  []byte // borrowed from the pool
}

// ending is a connection that another one with the same ports has replaced.
type ending struct {
	conn *conn
	at   int64 // count of frames until which segments of it are awaited
}

// route finds or makes the connection of a segment, and delivers the segment
// or lets it wait.
func (s *Decoder) route(src *source, c *conn, key flowKey, dir uint8, g *segment) {
	if c = c.owner(dir, g, src.frames); c == nil {
		if g.flags&tcpRST != 0 {
			return // of a connection nobody knows
		}
		c = s.begin(src, key)
	}
	c.meet(dir, g)
	st := &c.half[dir]
	if g.size > 0 && !st.known && !st.started {
		if !st.waits {
			c.until = src.frames + ReorderFrames
		}
		st.lowest(g.seq)
		if !c.waiting {
			c.waiting = true
			src.waiting++
		}
	}
	if c.waiting && c.half[0].clear() && c.half[1].clear() {
		c.waiting = false
		src.waiting--
	}
	if src.waiting == 0 && len(src.queue) == 0 {
		s.deliver(src, c, dir, g)
		return
	}
	q := queued{segment: *g, conn: c, dir: dir, at: src.frames}
	if len(g.data) > 0 {
		q.buf = append(s.pool.get(len(g.data)), g.data...)
		q.data = q.buf
	}
	src.bytes += cap(q.buf)
	if len(src.queue) == 0 {
		s.queued = append(s.queued, src)
	}
	src.queue = append(src.queue, q)
	s.drain(src, false)
}

// clear reports whether it is known where the stream begins, as far as it
// matters yet.
func (st *stream) clear() bool { return st.known || st.started || !st.waits }

// lowest notes the first sequence number of data that wait.
func (st *stream) lowest(seq uint32) {
	if !st.waits || int32(seq-st.low) < 0 {
		st.low, st.waits = seq, true
	}
}

// meet takes from SYNs where the streams begin, the moment they are seen.
func (c *conn) meet(dir uint8, g *segment) {
	if g.flags&tcpSYN == 0 {
		return
	}
	c.syn = true
	if st := &c.half[dir]; !st.known && !st.started {
		st.known, st.first = true, g.seq+1
	}
	if peer := &c.half[1-dir]; g.flags&tcpACK != 0 && !peer.known && !peer.started {
		peer.known, peer.first = true, g.ack
	}
}

// begin makes a new connection. One it replaces stays for its late segments.
func (s *Decoder) begin(src *source, key flowKey) *conn {
	c := s.flows.add(s, key)
	c.born, c.last = src.frames, src.now
	if c.older != nil {
		src.ending = append(src.ending, ending{c.older, src.frames + ReorderFrames})
	}
	for old := s.flows.stale(src.now); old != nil && old != c; old = s.flows.stale(src.now) {
		s.retire(old)
		s.stats.Evicted++
	}
	return c
}

// drain delivers what no longer has to wait: all of it when all is true.
func (s *Decoder) drain(src *source, all bool) {
	for src.head < len(src.queue) {
		q := &src.queue[src.head]
		if c := q.conn; c.waiting {
			if !all && src.frames < c.until && src.bytes < maxQueued {
				break
			}
			s.settle(src, c)
		}
		src.head++
		src.bytes -= cap(q.buf)
		src.clock = q.at
		s.deliver(src, q.conn, q.dir, &q.segment)
		s.pool.put(q.buf)
		*q = queued{}
	}
	if src.head == len(src.queue) {
		src.clock = src.frames
		if i := slices.Index(s.queued, src); i >= 0 {
			s.queued = slices.Delete(s.queued, i, i+1)
		}
	}
	src.compact()
}

// compact drops the done part of the queue once it is the larger one: the queue
// may never be empty.
func (src *source) compact() {
	if src.head == 0 || 2*src.head < len(src.queue) {
		return
	}
	n := copy(src.queue, src.queue[src.head:])
	clear(src.queue[n:])
	src.queue, src.head = src.queue[:n], 0
}

// settle begins the streams of a connection whose SYN does not come.
func (s *Decoder) settle(src *source, c *conn) {
	c.waiting = false
	src.waiting--
	for i := range c.half {
		if st := &c.half[i]; !st.clear() {
			st.known, st.first, st.amid = true, st.low, true
		}
	}
	if old := c.older; old != nil && !c.syn {
		// The capture lacks too much of one connection, rather than the
		// beginning of another.
		s.finish(old)
		c.number, c.nids = old.number, old.nids
		for i := range c.half {
			c.half[i].inherit(&old.half[i])
		}
		s.flows.remove(old)
	}
}

// expire ends the connections that were replaced some time ago.
func (s *Decoder) expire(src *source) {
	for len(src.ending) > 0 && src.ending[0].at <= src.clock {
		s.retire(src.ending[0].conn)
		src.ending = src.ending[1:]
	}
}

// retire hands out what a connection still holds and forgets it.
func (s *Decoder) retire(c *conn) {
	if c.waiting {
		src := s.source(int(c.key.source))
		s.drain(src, true)
	}
	s.finish(c)
	s.flows.remove(c)
}
