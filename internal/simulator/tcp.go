package simulator

import (
	"encoding/binary"
	"slices"

	"github.com/lshark/lshark/internal/wiretest"
)

// Times and sizes of TCP as on Linux, and of socklnd, which gives up a connection that makes
// no progress.
const (
	minRTO            = 200 * millisecond
	maxRTO            = 120 * second
	maxWindow         = 64 // segments in flight
	firstWindow       = 10
	delayedACK        = 40 * millisecond
	keepaliveIdle     = 30 * second
	keepaliveInterval = 5 * second
	keepaliveProbes   = 6
	stalled           = 50 * second
)

// segment is a part of the stream of one end.
type segment struct {
	seq      uint32
	data     []byte
	messages []*message // that end in it
	sent     int64      // when it was sent first
	times    int        // how often it was sent
	lost     bool       // it will be sent again
	sacked   bool
}

func (s *segment) end() uint32 { return s.seq + uint32(len(s.data)) }

// end is one end of a TCP connection.
type end struct {
	host  *host
	other *end
	port  uint16
	open  bool

	next     uint32 // sequence number of the next byte to send
	flight   []*segment
	pending  []*message // of which nothing was sent
	window   int        // of congestion
	srtt     int64
	rto      int64
	backoff  int
	timer    int // number of the latest retransmission timer
	progress int64

	expected uint32
	early    []*segment // behind a gap
	sackFrom uint32     // the latest block behind a gap
	sackTo   uint32
	ackDue   int // number of the latest timer of a delayed acknowledgement
	ackOwed  bool
	heard    int64 // when something came last
	probes   int
	echo     uint32

	pair *pair // that has it
}

// connection returns the two ends of a new connection, which are not open.
func connection(from, to *host, port uint16) (a, b *end) {
	a = &end{host: from, port: port}
	b = &end{host: to, port: 988, other: a}
	a.other = b
	for _, e := range [2]*end{a, b} {
		e.next = e.host.random.Uint32()
		e.window, e.rto = firstWindow, second
		e.heard, e.progress = e.host.now, e.host.now
	}
	a.expected, b.expected = b.next, a.next
	return a, b
}

// ticks is the clock of the TCP timestamps of a host.
func (h *host) ticks() uint32 { return uint32(h.now/millisecond) + uint32(h.index)*77777777 }

// packet is what a TCP segment says.
type packet struct {
	flags            byte
	seq, ack         uint32
	seg              *segment // nil: no data
	sackFrom, sackTo uint32
	value            uint32 // timestamp
	keepalive        bool
}

// transmit sends a TCP segment.
func (e *end) transmit(p packet) {
	p.ack, p.value = e.expected, e.host.ticks()
	p.sackFrom, p.sackTo = e.sackFrom, e.sackTo
	other := e.other
	e.host.path(other.host).carry(e.frame(&p), func() { other.receive(&p) })
}

// frame builds the Ethernet frame of a segment.
func (e *end) frame(p *packet) []byte {
	const ethernet, ip, tcp = 14, 20, 32
	sack := 0
	if p.sackFrom != p.sackTo {
		sack = 12
	}
	var data []byte
	if p.seg != nil {
		data = p.seg.data
	}
	be := binary.BigEndian
	b := e.host.bytes(ethernet + ip + tcp + sack + len(data))
	copy(b, e.other.host.hardware[:])
	copy(b[6:], e.host.hardware[:])
	be.PutUint16(b[12:], 0x0800)
	b[14], b[22], b[23] = 0x45, 64, 6
	be.PutUint16(b[16:], uint16(ip+tcp+sack+len(data)))
	copy(b[26:], e.host.nid.Addr[:4])
	copy(b[30:], e.other.host.nid.Addr[:4])
	t := b[ethernet+ip:]
	be.PutUint16(t, e.port)
	be.PutUint16(t[2:], e.other.port)
	be.PutUint32(t[4:], p.seq)
	if p.flags&wiretest.ACK != 0 {
		be.PutUint32(t[8:], p.ack)
	}
	t[12], t[13] = byte((tcp+sack)/4)<<4, p.flags
	be.PutUint16(t[14:], 502)
	copy(t[20:], []byte{1, 1, 8, 10})
	be.PutUint32(t[24:], p.value)
	be.PutUint32(t[28:], e.echo)
	if sack > 0 {
		copy(t[32:], []byte{1, 1, 5, 10})
		be.PutUint32(t[36:], p.sackFrom)
		be.PutUint32(t[40:], p.sackTo)
	}
	copy(t[tcp+sack:], data)
	return b
}

// send puts a message into the stream.
func (e *end) send(m *message) {
	e.pending = append(e.pending, m)
	e.push()
}

// push sends what the window allows: first what was lost.
func (e *end) push() {
	inFlight := 0
	for _, s := range e.flight {
		if !s.lost && !s.sacked {
			inFlight++
		}
	}
	for _, s := range e.flight {
		if s.lost && inFlight < e.window {
			e.sendSegment(s)
			inFlight++
		}
	}
	for inFlight < e.window && len(e.pending) > 0 {
		if len(e.flight) == 0 {
			e.progress = e.host.now
		}
		s := e.segment()
		e.flight = append(e.flight, s)
		e.sendSegment(s)
		inFlight++
	}
}

// segment takes the next segment from the messages that wait.
func (e *end) segment() *segment {
	s := &segment{seq: e.next, sent: e.host.now}
	size := e.host.mss
	for len(e.pending) > 0 {
		m := e.pending[0]
		rest := m.data[m.cut:]
		if len(s.data) > 0 && len(s.data)+len(rest) > size {
			break
		}
		n := min(len(rest), size)
		if s.data == nil {
			s.data = rest[:n:n]
		} else {
			s.data = append(s.data, rest...)
		}
		m.cut += n
		if m.cut < len(m.data) {
			break
		}
		s.messages = append(s.messages, m)
		e.pending = e.pending[1:]
	}
	e.next = s.end()
	return s
}

func (e *end) sendSegment(s *segment) {
	s.lost = false
	if s.times++; s.times > 1 {
		e.host.sentAgain++
	}
	e.ackOwed = false
	flags := byte(wiretest.ACK)
	if len(s.messages) > 0 {
		flags |= wiretest.PSH
	}
	e.transmit(packet{flags: flags, seq: s.seq, seg: s})
	e.startTimer()
}

// startTimer starts the retransmission timer.
func (e *end) startTimer() {
	e.timer++
	timer := e.timer
	e.host.after(min(e.rto<<e.backoff, maxRTO), func() {
		if e.open && timer == e.timer {
			e.timeout()
		}
	})
}

func (e *end) timeout() {
	if len(e.flight) == 0 {
		return
	}
	if e.host.now-e.progress > stalled {
		e.abort()
		return
	}
	for _, s := range e.flight {
		s.lost = !s.sacked
	}
	e.window = 1
	e.backoff = min(e.backoff+1, 12)
	e.push()
}

// receive takes a segment from the other end.
func (e *end) receive(p *packet) {
	switch {
	case p.flags&wiretest.RST != 0:
		if e.open {
			e.close()
		}
		return
	case !e.open:
		e.transmit(packet{flags: wiretest.RST, seq: p.ack})
		return
	}
	e.heard, e.probes = e.host.now, 0
	e.echo = p.value
	e.acknowledged(p)
	if e.open && p.seg != nil {
		e.take(p.seg)
	} else if p.keepalive {
		e.transmit(packet{flags: wiretest.ACK, seq: e.next})
	}
}

// acknowledged reads the acknowledgement in a segment.
func (e *end) acknowledged(p *packet) {
	progress := false
	for len(e.flight) > 0 && int32(e.flight[0].end()-p.ack) <= 0 {
		s := e.flight[0]
		e.flight = e.flight[1:]
		progress = true
		if s.times == 1 {
			e.measure(e.host.now - s.sent)
		}
	}
	behind := 0 // segments that arrived behind the first that did not
	if p.sackFrom != p.sackTo {
		for _, s := range e.flight {
			if int32(s.seq-p.sackFrom) >= 0 && int32(s.end()-p.sackTo) <= 0 {
				s.sacked = true
			}
			if s.sacked {
				behind++
			}
		}
	}
	if progress {
		e.progress = e.host.now
		e.backoff = 0
		e.window = min(e.window+1, maxWindow)
		if len(e.flight) > 0 {
			e.startTimer()
		} else {
			e.timer++
		}
	}
	if behind >= 3 && len(e.flight) > 0 && e.flight[0].times == 1 {
		e.flight[0].lost = true
		e.window = max(e.window/2, 2)
	}
	e.push()
}

// measure takes a round trip time.
func (e *end) measure(rtt int64) {
	if e.srtt == 0 {
		e.srtt = rtt
	}
	e.srtt += (rtt - e.srtt) / 8
	e.rto = max(minRTO, 3*e.srtt)
}

// take takes the data of a segment.
func (e *end) take(s *segment) {
	switch {
	case int32(s.end()-e.expected) <= 0: // a copy
		e.acknowledge()
		return
	case s.seq != e.expected:
		if !slices.Contains(e.early, s) {
			e.keepEarly(s)
		}
		e.acknowledge()
		return
	}
	gap := len(e.early) > 0
	e.deliver(s)
	isNext := func(x *segment) bool { return x.seq == e.expected }
	for i := slices.IndexFunc(e.early, isNext); i >= 0; i = slices.IndexFunc(e.early, isNext) {
		x := e.early[i]
		e.early = slices.Delete(e.early, i, i+1)
		e.deliver(x)
	}
	if len(e.early) == 0 {
		e.sackFrom, e.sackTo = 0, 0
	}
	if gap || e.ackOwed {
		e.acknowledge()
		return
	}
	delay := delayedACK
	if e.host.random.IntN(3) > 0 { // quick acknowledgements
		delay = e.host.random.Int64N(millisecond)
	}
	e.ackOwed = true
	e.ackAfter(delay)
}

// keepEarly keeps a segment behind a gap, and notes the block that it is in.
func (e *end) keepEarly(s *segment) {
	e.early = append(e.early, s)
	e.sackFrom, e.sackTo = s.seq, s.end()
	for again := true; again; {
		again = false
		for _, x := range e.early {
			switch {
			case x.end() == e.sackFrom:
				e.sackFrom, again = x.seq, true
			case x.seq == e.sackTo:
				e.sackTo, again = x.end(), true
			}
		}
	}
}

func (e *end) ackAfter(d int64) {
	e.ackDue++
	due := e.ackDue
	e.host.after(d, func() {
		if e.open && e.ackOwed && due == e.ackDue {
			e.acknowledge()
		}
	})
}

func (e *end) acknowledge() {
	e.ackOwed = false
	e.transmit(packet{flags: wiretest.ACK, seq: e.next})
}

// deliver passes on what is complete.
func (e *end) deliver(s *segment) {
	e.expected = s.end()
	for _, m := range s.messages {
		if m.arrived != nil {
			h := e.host
			h.at(h.now, func() { h.run(func() { h.receive(m) }) })
		}
	}
}

// keepAlive probes the other end when nothing was heard of it for long.
func (e *end) keepAlive() {
	e.host.after(keepaliveInterval, func() {
		if !e.open {
			return
		}
		if len(e.flight) == 0 && e.host.now-e.heard > keepaliveIdle {
			if e.probes++; e.probes > keepaliveProbes {
				e.abort()
				return
			}
			e.host.sentAgain++
			e.transmit(packet{flags: wiretest.ACK, seq: e.next - 1, keepalive: true})
		}
		e.keepAlive()
	})
}

// forge resets the connection at the other end, as a node with the address of this one would.
func (e *end) forge(hardware [6]byte) {
	rst := packet{flags: wiretest.RST, seq: e.next}
	frame := e.frame(&rst)
	copy(frame[6:], hardware[:])
	e.host.path(e.other.host).carry(frame, func() { e.other.receive(&rst) })
	e.host.transmissions[len(e.host.transmissions)-1].sent = 0 // not by this node
}

// abort resets the connection.
func (e *end) abort() {
	e.transmit(packet{flags: wiretest.RST | wiretest.ACK, seq: e.next})
	e.close()
}

// establish opens an end.
func (e *end) establish(p *pair) {
	e.open = true
	e.pair = p
	e.keepAlive()
}

// close ends the connection at this end.
func (e *end) close() {
	e.open = false
	e.flight, e.pending, e.early = nil, nil, nil
	e.pair.lost(e)
}
