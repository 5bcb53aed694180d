package lnet

import "net/netip"

// TCP flags.
const (
	tcpFIN = 1 << iota
	tcpSYN
	tcpRST
	tcpPSH
	tcpACK
)

// Bounds of the connection table.
const (
	maxConns   = 1 << 16
	maxClosed  = 1 << 12 // of them, after FIN or RST
	maxIdle    = 3600e9  // ns of capture time
	closedIdle = 60e9    // after FIN or RST
)

// near is how far a segment may lie from the place its stream is at: above
// the largest TCP window in use, far below the distance of chance numbers.
const near = 1 << 25

// ReorderFrames is the number of frames of one capture point within which a frame
// may have been overtaken: twice 64, as each of two frames may have moved.
const ReorderFrames = 128

// flowKey names one direction of a TCP connection at one capture point.
type flowKey struct {
	src, dst     [16]byte
	sport, dport uint16
	source       int32
}

// normal returns the key both directions share, and which of them k is.
func (k *flowKey) normal() (flowKey, uint8) {
	if k.sport > k.dport || k.sport == k.dport && string(k.src[:]) > string(k.dst[:]) {
		return flowKey{k.dst, k.src, k.dport, k.sport, k.source}, 1
	}
	return *k, 0
}

// conn is a TCP connection.
type conn struct {
	key    flowKey // normal
	half   [2]stream
	number int   // from 0 in order of appearance
	nids   nids  // seen on it
	older  *conn // the one before with the same addresses and ports, while frames of it may come
	last   int64 // time of the last segment

	born    int64 // count of the source's frames at the first segment
	until   int64 // count at which it waits no longer
	waiting bool  // held back until it is known where its streams begin
	syn     bool  // its SYN, or the answer to it, was seen
	closed  bool

	prev, next *conn // in order of use
	listed     int64 // time of the last move in that order
}

// nids are the NIDs seen on a connection, the last few of them.
type nids struct {
	known [8]NID
	next  uint8
}

func (s *nids) add(n NID) {
	if s.has(n) {
		return
	}
	s.known[s.next] = n
	s.next = (s.next + 1) % uint8(len(s.known))
}

func (s *nids) has(n NID) bool {
	for i := range s.known {
		if s.known[i] == n {
			return true
		}
	}
	return false
}

// knows reports whether a NID was seen on the connection or is one of its ends.
func (c *conn) knows(n NID) bool {
	if n.Len == 0 {
		return false
	}
	if n.Len == 16 && (n.Addr == c.key.src || n.Addr == c.key.dst) {
		return true
	}
	four := string(n.Addr[:4])
	if n.Len == 4 && (four == string(c.key.src[12:]) || four == string(c.key.dst[12:])) {
		return true
	}
	return c.nids.has(n)
}

// flows is the table of connections.
type flows struct {
	conns  map[flowKey]*conn // the newest of each key
	last   *conn             // looked up last
	order  conn              // ring of the open ones, the most recently used first
	closed conn              // ring of the closed ones, the last closed first
	live   int
	shut   int // of them closed
	number int
}

func (t *flows) init() {
	t.conns = make(map[flowKey]*conn)
	t.order.prev, t.order.next = &t.order, &t.order
	t.closed.prev, t.closed.next = &t.closed, &t.closed
}

// find returns the newest connection for a normal key, or nil.
func (t *flows) find(key *flowKey) *conn {
	if t.last != nil && t.last.key == *key {
		return t.last
	}
	c := t.conns[*key]
	if c != nil {
		t.last = c
	}
	return c
}

// add makes a connection the newest for its key.
func (t *flows) add(s *Decoder, key flowKey) *conn {
	c := &conn{key: key, number: -1, older: t.conns[key]}
	c.half[0].open(s, c, false)
	c.half[1].open(s, c, true)
	t.conns[key] = c
	t.last = c
	t.live++
	t.order.push(c)
	return c
}

func addrPort(addr [16]byte, port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(addr).Unmap(), port)
}

// push puts c at the front of the ring.
func (ring *conn) push(c *conn) {
	c.prev, c.next = ring, ring.next
	c.prev.next, c.next.prev = c, c
}

func unlink(c *conn) {
	c.prev.next, c.next.prev = c.next, c.prev
	c.prev, c.next = nil, nil
}

// touch moves a connection to the front of the order of use. Once in a second
// is exact enough.
func (t *flows) touch(c *conn, now int64) {
	c.last = now
	if d := now - c.listed; (d > 1e9 || d < -1e9) && c.next != nil && !c.closed {
		c.listed = now
		unlink(c)
		t.order.push(c)
	}
}

// close files a connection under the closed ones.
func (t *flows) close(c *conn) {
	if !c.closed && c.next != nil {
		c.closed = true
		t.shut++
		unlink(c)
		t.closed.push(c)
	}
}

// stale returns a connection to forget: one that nothing was heard of for
// long, or any when there are too many.
func (t *flows) stale(now int64) *conn {
	full := t.live > maxConns
	if c := t.closed.prev; c != &t.closed && (full || t.shut > maxClosed || now-c.last > closedIdle) {
		return c
	}
	if c := t.order.prev; c != &t.order && (full || now-c.last > maxIdle) {
		return c
	}
	return nil
}

// remove takes a connection out of the table.
func (t *flows) remove(c *conn) {
	if c.next == nil {
		return // gone already
	}
	unlink(c)
	t.live--
	if c.closed {
		t.shut--
	}
	if t.last == c {
		t.last = nil
	}
	head := t.conns[c.key]
	if head == c {
		if c.older != nil {
			t.conns[c.key] = c.older
		} else {
			delete(t.conns, c.key)
		}
		return
	}
	for ; head != nil; head = head.older {
		if head.older == c {
			head.older = c.older
			return
		}
	}
}

// match says how well a segment fits a connection.
type match uint8

const (
	alien   match = iota
	perhaps       // nothing speaks against it
	certain
)

// owner returns the connection of the chain that a segment belongs to, or nil.
func (c *conn) owner(dir uint8, g *segment, frames int64) *conn {
	var best *conn
	for ; c != nil; c = c.older {
		switch c.fits(dir, g, frames) {
		case certain:
			return c
		case perhaps:
			if best == nil {
				best = c
			}
		}
	}
	return best
}

// fits tells by the sequence numbers whether a segment can belong to this
// connection.
func (c *conn) fits(dir uint8, g *segment, frames int64) match {
	st, peer := &c.half[dir], &c.half[1-dir]
	if g.flags&tcpSYN != 0 {
		switch {
		case st.known:
			return matchIf(g.seq+1 == st.first)
		case g.flags&tcpACK != 0 && peer.known:
			return matchIf(g.ack == peer.first)
		case frames-c.born >= ReorderFrames:
			return alien // its own SYN would have come
		}
	}
	switch {
	case g.flags&tcpRST != 0:
		return perhaps // it may have any number
	case st.started:
		return matchIf(isNear(g.seq, st.next))
	case st.known:
		return matchIf(isNear(g.seq, st.first))
	case st.waits:
		return matchIf(isNear(g.seq, st.low))
	case st.acked:
		return matchIf(isNear(g.seq, st.ack))
	}
	return perhaps
}

func matchIf(fits bool) match {
	if fits {
		return certain
	}
	return alien
}

func isNear(a, b uint32) bool { return a-b+near < 2*near }
