package lnet

import (
	"maps"
	"slices"

	"github.com/lshark/lshark/capture"
)

// DefaultPort is the TCP port of LNet.
const DefaultPort = 988

// Options says what Decoder does with what it finds.
type Options struct {
	// Ports are the TCP ports that carry LNet; without any, DefaultPort.
	Ports []uint16

	// Want returns how many bytes of the LNet payload of m anyone needs. It
	// is called when the headers of m are there: addresses, NIDs, LNet, Kind
	// and Size are set, Data holds the header. What lies beyond is skipped
	// without a copy. Without Want everything is kept.
	Want func(m *Message) int

	// Frames asks for Message.Frames.
	Frames bool

	// Handle gets each message. What it gets is valid until it returns.
	Handle func(m *Message)

	// MaxStream and MaxTotal bound the bytes held of one stream and of all
	// together; by default 8 MiB and 256 MiB. The total has what is noted
	// about the bytes, too.
	MaxStream, MaxTotal int
}

// Stats counts what Decoder saw. Bytes are those of TCP payload.
type Stats struct {
	Frames        int64 // given to Frame
	TCP           int64 // of them with a TCP segment
	Segments      int64 // of them on an LNet port
	Bytes         int64 // carried by them on the wire
	Messages      int64
	Conns         int64 // connections so far
	Live          int   // connections in the table now
	Evicted       int64 // connections forgotten: idle, closed, or too many
	Retransmitted int64 // segments with nothing new
	OutOfOrder    int64 // segments that came behind a gap
	Gaps          int64 // gaps that nothing filled
	LostBytes     int64 // in those gaps
	SkippedLost   int64 // of those, in bulk that was skipped anyway
	CutBytes      int64 // cut off by the snaplen
	Resyncs       int64 // times a header had to be searched for
	SkippedBytes  int64 // passed over in these searches and the gaps before
	RDMA          int64 // frames of RDMA over Ethernet, which is not dissected
	NotLNet       int64 // streams in which no header was found
	Unaffordable  int64 // messages cut because too much was held
	NotCopied     int64 // held segments that needed no copy
	Held          int   // bytes held now, with what is noted about them
}

// Decoder turns frames into LNet messages: it finds the TCP segments on the
// LNet ports, puts each direction of each connection in order, and cuts it
// into messages.
//
// Messages of one direction come in their order. A gap in a stream is waited
// for as long as a retransmission or a late frame may fill it; then it is a
// hole, and the messages go on behind it. What has to be held for all that is
// bounded.
type Decoder struct {
	opt     Options
	link    linkDecoder
	flows   flows
	sources map[int]*source
	last    *source // used last
	lastID  int
	pool    pool
	asked   asked
	msg     Message
	stats   Stats
	ending  Why // why the messages that are cut off now end
	gaps    gaps
	queued  []*source // whose queue is not empty
}

// NewDecoder makes a Decoder that calls the functions of o.
func NewDecoder(o Options) *Decoder {
	if len(o.Ports) == 0 {
		o.Ports = []uint16{DefaultPort}
	}
	if o.MaxStream == 0 {
		o.MaxStream = 8 << 20
	}
	if o.MaxTotal == 0 {
		o.MaxTotal = 256 << 20
	}
	s := &Decoder{opt: o, sources: make(map[int]*source), ending: Lost}
	s.flows.init()
	return s
}

// Frame takes the next frame of the capture. It calls Handle for the messages
// that the frame completes.
func (s *Decoder) Frame(f *capture.Frame) {
	src := s.source(f.Source)
	src.frames++
	src.now = f.Time
	s.stats.Frames++
	if len(src.queue) == 0 {
		src.clock = src.frames
	}
	if src.busy() {
		s.tick(src)
	}
	if !s.link.decode(f) {
		return
	}
	s.stats.TCP++
	g := &s.link.seg
	if !s.carries(g.key.sport) && !s.carries(g.key.dport) {
		return
	}
	s.stats.Segments++
	s.stats.Bytes += int64(g.size)
	key, dir := g.key.normal()
	c := s.flows.find(&key)
	if c != nil && c.older == nil && src.waiting == 0 && len(src.queue) == 0 &&
		g.flags&(tcpSYN|tcpRST) == 0 && c.half[dir].started && isNear(g.seq, c.half[dir].next) {
		s.deliver(src, c, dir, g)
		return
	}
	s.route(src, c, key, dir, g)
}

func (s *Decoder) carries(port uint16) bool {
	for _, p := range s.opt.Ports {
		if p == port {
			return true
		}
	}
	return false
}

func (s *Decoder) source(id int) *source {
	if s.last != nil && s.lastID == id {
		return s.last
	}
	src := s.sources[id]
	if src == nil {
		src = new(source)
		s.sources[id] = src
	}
	s.last, s.lastID = src, id
	return src
}

// busy reports whether anything waits for frames to pass.
func (src *source) busy() bool {
	return len(src.queue)+len(src.gapped)+len(src.ending) > 0
}

// tick does what falls due as frames pass. Of the streams with a gap it looks
// at one, in turn, so that its cost is the same for any number of them.
func (s *Decoder) tick(src *source) {
	s.drain(src, false)
	s.expire(src)
	if len(src.gapped) == 0 {
		return
	}
	if src.turn >= len(src.gapped) {
		src.turn = 0
	}
	st := src.gapped[src.turn]
	st.patience(src)
	if len(st.held) > 0 {
		src.turn++
		return
	}
	st.inGapped = false
	last := len(src.gapped) - 1
	src.gapped[src.turn] = src.gapped[last]
	src.gapped[last] = nil
	src.gapped = src.gapped[:last]
}

// deliver gives a segment to its stream.
func (s *Decoder) deliver(src *source, c *conn, dir uint8, g *segment) {
	if c.number < 0 {
		c.number = s.flows.number
		s.flows.number++
		s.stats.Conns++
	}
	s.flows.touch(c, g.time)
	st, peer := &c.half[dir], &c.half[1-dir]
	if g.flags&tcpACK != 0 {
		peer.acknowledge(g.ack)
		if len(peer.held) > 0 {
			peer.patience(src)
		}
	}
	seq := g.seq
	if g.flags&tcpSYN != 0 {
		seq++
	}
	if !st.started && st.known {
		st.start(st.first)
	}
	if g.size > 0 && g.flags&tcpRST == 0 {
		st.segment(src, g, seq)
	}
	if g.flags&(tcpFIN|tcpRST) != 0 {
		st.over = true
		peer.over = peer.over || g.flags&tcpRST != 0
		if peer.over {
			s.flows.close(c)
		}
	}
}

// finish hands out what a connection still holds.
func (s *Decoder) finish(c *conn) {
	for i := range c.half {
		c.half[i].close()
	}
}

// full reports whether more is held than should be.
func (s *Decoder) full() bool { return s.pool.lent > s.opt.MaxTotal }

// Quiet says that no frame came for a while. In a live capture what waits for
// frames that may have been overtaken should not wait longer.
func (s *Decoder) Quiet() {
	for _, id := range s.sourceIDs() {
		src := s.sources[id]
		src.frames += ReorderFrames
		for range len(src.gapped) + 1 {
			s.tick(src)
		}
	}
}

// Close ends the input: it hands out what is held.
func (s *Decoder) Close() {
	s.ending = EndOfFile
	for _, id := range s.sourceIDs() {
		s.drain(s.sources[id], true)
	}
	for _, ring := range [...]*conn{&s.flows.closed, &s.flows.order} {
		for c := ring.prev; c != ring; c = c.prev {
			s.finish(c)
		}
	}
}

// Held is the frame of the first segment that waits, behind a gap or for a SYN
// before it, 0 when none does. Messages of earlier frames are handed out, but
// for those that a look for a header has not found yet.
func (s *Decoder) Held() int64 {
	first := s.gaps.first()
	for _, src := range s.queued {
		if src.head == len(src.queue) {
			continue // the last segment is being delivered
		}
		if frame := src.queue[src.head].frame; first == 0 || frame < first {
			first = frame
		}
	}
	return first
}

// Stats returns the counts so far.
func (s *Decoder) Stats() Stats {
	st := s.stats
	st.Live = s.flows.live
	st.Held = s.pool.lent
	st.RDMA = s.link.rdma
	return st
}

// sourceIDs lists the capture points in a fixed order.
func (s *Decoder) sourceIDs() []int {
	return slices.Sorted(maps.Keys(s.sources))
}
