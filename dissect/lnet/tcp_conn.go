package lnet

import (
	"hash/maphash"
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/fifo"
)

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
	forgetAge  = 10e9    // ns without a segment, after which a connection keeps little memory
	maxIdle    = 3600e9  // ns of capture time
	closedIdle = 60e9    // after FIN or RST
)

// near is how far the sequence number of a segment may be from that of its stream:
// more than the largest TCP window in use, far less than random numbers differ.
const near = 1 << 25

// maxBeforeSYN is how many bytes of a connection may be in front of its SYN in the capture.
// Linux counts the first sequence number of a connection up with time, so the one before with
// the same ports may be near.
const maxBeforeSYN = 1 << 23

// ReorderFrames is how many frames of its capture point may be in front of a frame
// that belongs before them: twice 64, as each of two frames may have moved by 64.
const ReorderFrames = 128

// bothWays returns the key that both directions of a connection share, and which of
// them k is.
func bothWays(k *link.Flow) (link.Flow, uint8) {
	if k.SrcPort > k.DstPort || k.SrcPort == k.DstPort && string(k.Src[:]) > string(k.Dst[:]) {
		return k.Reverse(), 1
	}
	return *k, 0
}

// conn is a TCP connection at one capture point.
type conn struct {
	key      link.Flow // normal
	*streams           // nil while they are packed
	packed   []byte
	number   int // from 0 in order of appearance, -1 before the first delivery

	born      int64 // count of the source's frames at the first segment
	until     int64 // count at which it is no longer undecided
	undecided bool  // its segments are queued until it is known where its streams begin
	syn       bool  // a SYN was seen
	closed    bool
	removed   bool // from the table
	quiet     bool // it may be packed: no payload was framed

	place fifo.Element[conn] // in the order of use
	entry fifo.Entry[conn]
}

// streams are the two directions of a connection.
type streams struct {
	half [2]reassembly // from conn.key.Src to conn.key.Dst, and back
	nids recentNIDs    // seen on the connection
}

// ends returns the sender and the receiver of a direction; back is the one from
// key.Dst to key.Src.
func (c *conn) ends(back bool) (src, dst netip.AddrPort) {
	k := &c.key
	src, dst = addrPort(k.Src, k.SrcPort), addrPort(k.Dst, k.DstPort)
	if back {
		return dst, src
	}
	return src, dst
}

// version returns the version of the connection's hello: that of the given
// direction, else that of the other; 0 when neither was seen.
func (c *conn) version(back bool) uint8 {
	there, other := &c.half[0].framer, &c.half[1].framer
	if back {
		there, other = other, there
	}
	if there.hello != 0 {
		return there.hello
	}
	return other.hello
}

// flush hands out what a connection still holds.
func (t *tcp) flush(c *conn) {
	t.unpack(c)
	for i := range c.half {
		c.half[i].close()
	}
	if c.quiet {
		t.pack(c)
	}
}

// continues copies the known properties of an earlier connection, of which this one
// is a part.
func (c *conn) continues(old *conn) {
	c.number, c.nids = old.number, old.nids
	for i := range c.half {
		f, was := &c.half[i].framer, &old.half[i].framer
		f.hello, f.format, f.skipped = was.hello, was.format, was.skipped
		c.half[i].active = old.half[i].active
	}
}

// recentNIDs are the NIDs seen on a connection, the last few of them.
type recentNIDs struct {
	list []NID
	next uint8 // place of the next one in a full list
}

const maxRecentNIDs = 8

func (s *recentNIDs) add(n NID) {
	switch {
	case n == (NID{}) || slices.Contains(s.list, n):
	case s.list == nil:
		s.list = append(make([]NID, 0, 2), n) // most connections have two
	case len(s.list) < maxRecentNIDs:
		s.list = append(s.list, n)
	default:
		s.list[s.next] = n
		s.next = (s.next + 1) % maxRecentNIDs
	}
}

// hasNID reports whether a NID was seen on the connection or is one of its ends.
func (c *conn) hasNID(n NID) bool {
	if n.Len == 0 {
		return false
	}
	if n.Len == 16 && (n.Addr == c.key.Src || n.Addr == c.key.Dst) {
		return true
	}
	four := string(n.Addr[:4])
	if n.Len == 4 && (four == string(c.key.Src[12:]) || four == string(c.key.Dst[12:])) {
		return true
	}
	return slices.Contains(c.nids.list, n)
}

// connTable holds the connections, by their addresses and ports.
type connTable struct {
	seed   maphash.Seed
	index  fifo.Index[conn] // by the hashes of their keys, the newest of a key first
	last   *conn            // looked up last
	active fifo.Queue[conn] // the most recently used last
	idle   fifo.Queue[conn] // likewise, those that have forgotten what they do not need
	closed fifo.Queue[conn] // the last closed last
}

func (t *connTable) init() { t.seed = maphash.MakeSeed() }

// live returns the number of connections.
func (t *connTable) live() int { return t.index.Len() }

// find returns the newest connection for a normal key, or nil.
func (t *connTable) find(key *link.Flow) *conn {
	if t.last != nil && t.last.key == *key {
		return t.last
	}
	for e := t.index.First(maphash.Comparable(t.seed, *key)); e != nil; e = e.Next() {
		if e.Owner.key == *key {
			t.last = e.Owner
			return e.Owner
		}
	}
	return nil
}

// older returns the connection before this one with the same addresses and ports, while frames of it may come, or nil.
func (c *conn) older() *conn {
	if e := c.entry.Next(); e != nil && e.Owner.key == c.key {
		return e.Owner
	}
	return nil
}

// add makes a connection the newest for its key.
func (t *connTable) add(key link.Flow, now int64) *conn {
	c := &conn{key: key, number: -1, quiet: true}
	c.place.Owner = c
	t.index.Add(&c.entry, maphash.Comparable(t.seed, key), c)
	t.last = c
	t.active.Push(&c.place, now)
	return c
}

func addrPort(addr [16]byte, port uint16) netip.AddrPort {
	return netip.AddrPortFrom(netip.AddrFrom16(addr).Unmap(), port)
}

// touch moves a connection to the end of the order of use. Once in a second is exact enough.
func (t *connTable) touch(c *conn, now int64) {
	if d := now - c.place.Since; !c.removed && !c.closed && (d > 1e9 || d < -1e9) {
		t.active.Push(&c.place, now)
		t.forgetIdle(now)
	}
}

// forgetIdle drops what the connections do not need that have been idle. It looks at two
// of them, as each call has made at most one other idle.
func (t *connTable) forgetIdle(now int64) {
	for range 2 {
		c := t.active.Overdue(now, forgetAge, maxConns)
		if c == nil {
			return
		}
		if c.streams != nil {
			c.half[0].forget(&c.half[1])
			c.half[1].forget(&c.half[0])
		}
		t.idle.Push(&c.place, c.place.Since)
	}
}

// close moves a connection to the closed ones.
func (t *connTable) close(c *conn, now int64) {
	if !c.removed && !c.closed {
		c.closed = true
		t.closed.Push(&c.place, now)
	}
}

// stale returns a connection to remove: one without segments for long, or when
// there are too many the one used least recently; nil if none has to go.
func (t *connTable) stale(now int64) *conn {
	full := t.live() > maxConns
	for _, q := range [...]struct {
		*fifo.Queue[conn]
		age int64
		max int
	}{{&t.closed, closedIdle, maxClosed}, {&t.idle, maxIdle, maxConns}, {&t.active, maxIdle, maxConns}} {
		if c := q.Overdue(now, q.age, q.max); c != nil {
			return c
		} else if c = q.First(); full && c != nil {
			return c
		}
	}
	return nil
}

// remove takes a connection out of the table.
func (t *connTable) remove(c *conn) {
	if c.removed {
		return
	}
	c.removed = true
	c.place.Remove()
	t.index.Remove(&c.entry)
	if t.last == c {
		t.last = nil
	}
}

// match is how well a segment fits a connection.
type match uint8

const (
	noMatch       match = iota
	possibleMatch       // its number proves nothing
	exactMatch
)

// owner returns the connection of the chain that a segment belongs to, or nil.
func (c *conn) owner(dir uint8, g *link.Segment, frames int64) *conn {
	var best *conn
	for ; c != nil; c = c.older() {
		switch c.fits(dir, g, frames) {
		case exactMatch:
			return c
		case possibleMatch:
			if best == nil {
				best = c
			}
		}
	}
	return best
}

// fits reports by the sequence numbers how well a segment fits this connection.
func (c *conn) fits(dir uint8, g *link.Segment, frames int64) match {
	r, peer := &c.half[dir], &c.half[1-dir]
	if g.Flags&tcpSYN != 0 {
		switch {
		case r.begin.known:
			return matchIf(g.Seq+1 == r.begin.first)
		case g.Flags&tcpACK != 0 && peer.begin.known:
			return matchIf(g.Ack == peer.begin.first)
		case frames-c.born >= ReorderFrames:
			return noMatch // its own SYN would have come
		}
	}
	seq, known := r.position()
	switch {
	case g.Flags&tcpRST != 0 || !known:
		return possibleMatch // a RST may have any number
	case g.Flags&tcpSYN != 0:
		return matchIf(seq-g.Seq <= maxBeforeSYN)
	}
	return matchIf(isNear(g.Seq, seq))
}

// position returns a sequence number near that of the next segment.
func (r *reassembly) position() (seq uint32, known bool) {
	b := &r.begin
	switch {
	case r.started:
		return r.next, true
	case b.known:
		return b.first, true
	case b.data:
		return b.lowest, true
	case r.acked:
		return r.ack, true
	}
	return b.near, b.hasNear
}

func matchIf(exact bool) match {
	if exact {
		return exactMatch
	}
	return noMatch
}

func isNear(a, b uint32) bool { return a-b+near < 2*near }
