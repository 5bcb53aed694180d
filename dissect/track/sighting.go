package track

import (
	"net/netip"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
)

// Point is when and where a message was seen, or a line of a node's log was written. The
// zero Point: it was not.
type Point struct {
	Frame int64  // number of the frame; negative: of the line of the log File; 0 with a Time: of a log, the line is unknown
	File  string // that Frame is a number in, empty when only one capture is read
	Time  int64  // nanoseconds since the epoch
}

// IsZero reports whether p is the zero Point.
func (p Point) IsZero() bool { return p.Frame == 0 && p.Time == 0 }

// IsLog reports whether the time is from the log of a node.
func (p Point) IsLog() bool { return p.Frame <= 0 && p.Time != 0 }

// Line returns the number of the line of the log, 0 for a message.
func (p Point) Line() int64 { return max(0, -p.Frame) }

// IsLog reports whether an RPC is known from logs only: there are no messages of it.
func (r *RPC) IsLog() bool { return r.Requested().IsLog() }

// PointOf returns when and where a message was seen.
func PointOf(m *dissect.Message) Point { return Point{m.Frame, m.File, m.Time} }

// Span is a stretch of time, in nanoseconds since the epoch.
type Span struct{ From, To int64 }

// Sighting is what one capture point has captured of an RPC.
type Sighting struct {
	Source  int   // number of the capture point
	Request Point // first time it was sent
	Reply   Point
	Bulk    Span
	Bytes   int64 // of bulk data

	sends, early int
	sender       netip.Addr // of the last request, on this leg of its way
	receiver     netip.Addr // of the last request
	flags        uint32     // pb_flags of the last request
	mbits        uint64     // pb_mbits of the last request
	parts        [2]uint64  // bulk parts seen, by the low bits of their match bits
	pendingGets  int
	reopened     bool // the request was sent again after Reply

	transfers *transfers // nil: nothing was sent again
	rtt       int64      // of the connection of the last request, 0 when unknown
	writes    rdmaWrites
}

// markPart marks a part of the bulk as seen and reports whether it is new.
func (s *Sighting) markPart(matchBits uint64) bool {
	word, bit := &s.parts[matchBits>>6&1], uint64(1)<<(matchBits&63)
	if *word&bit != 0 {
		return false
	}
	*word |= bit
	return true
}

// sighting finds or makes the sighting of a capture point.
func (r *RPC) sighting(source int) *Sighting {
	for i := range r.Seen {
		if r.Seen[i].Source == source {
			return &r.Seen[i]
		}
	}
	n := len(r.Seen)
	r.Seen = slices.Grow(r.Seen, 1)[:n+1]
	s := &r.Seen[n]
	again := s.transfers // of an RPC before
	if again != nil {
		*again = transfers{}
	}
	*s = Sighting{Source: source, transfers: again}
	return s
}

// clientSide returns the sighting nearest to the client: the one that has the
// request first. It is nil when no request was seen.
func (r *RPC) clientSide() *Sighting {
	var first *Sighting
	for i := range r.Seen {
		s := &r.Seen[i]
		if !s.Request.IsZero() && (first == nil || s.Request.Time < first.Request.Time) {
			first = s
		}
	}
	return first
}

// Requested is when the capture point nearest to the client first saw the
// request.
func (r *RPC) Requested() Point {
	if s := r.clientSide(); s != nil {
		return s.Request
	}
	return Point{}
}

// Replied is when the reply was seen, by the capture point nearest to the
// client that saw it.
func (r *RPC) Replied() Point {
	if s := r.clientSide(); s != nil && !s.Reply.IsZero() {
		return s.Reply
	}
	var last Point
	for i := range r.Seen {
		if p := r.Seen[i].Reply; !p.IsZero() && p.Time >= last.Time {
			last = p
		}
	}
	return last
}

// Begin is when the request was sent, as far as it was seen; else when the
// first other message of the RPC was seen.
func (r *RPC) Begin() int64 {
	if p := r.Requested(); !p.IsZero() {
		return p.Time
	}
	if p := r.Replied(); !p.IsZero() {
		return p.Time
	}
	return r.created // by an early reply
}

// Latency is the time from the request to the reply in nanoseconds, at the
// capture point nearest to the client.
func (r *RPC) Latency() (ns int64, ok bool) {
	if !r.HasRequest || !r.HasReply {
		return 0, false
	}
	return max(0, r.Replied().Time-r.Requested().Time), true
}

// NodeTime is the time in nanoseconds from the request's arrival to the
// reply's departure at the capture point nearest to the server. The rest of the
// latency was spent between the points. It needs two capture points, and is
// unknown when the reply was lost before it was captured.
func (r *RPC) NodeTime() (ns int64, ok bool) {
	c := r.clientSide()
	var last *Sighting
	for i := range r.Seen {
		s := &r.Seen[i]
		if s != c && !s.Request.IsZero() && !s.Reply.IsZero() && (last == nil || s.Request.Time > last.Request.Time) {
			last = s
		}
	}
	if last == nil || last.transfer(fromServer).NotCaptured || last.transfer(fromClient).AckedLate {
		return 0, false
	}
	return max(0, last.Reply.Time-last.Request.Time), true
}

// BulkBytes is the size of the bulk data; what several points saw counts once.
func (r *RPC) BulkBytes() int64 {
	var n int64
	for i := range r.Seen {
		n = max(n, r.Seen[i].Bytes)
	}
	return n
}

// BulkTime is the time in nanoseconds from the first to the last message of
// the bulk.
func (r *RPC) BulkTime() (ns int64, ok bool) {
	if s := r.clientSide(); s != nil && s.Bulk.From != 0 {
		return s.Bulk.To - s.Bulk.From, true
	}
	for i := range r.Seen {
		if b := r.Seen[i].Bulk; b.From != 0 {
			return b.To - b.From, true
		}
	}
	return 0, false
}

// Kinds of messages by what depends on their arrival.
const (
	fromClient = iota // requests, and ACKs
	fromServer        // replies, early ones too, and GETs
	bulkData
	transferKinds
)

// transfers is what the transport did to carry each kind of messages.
type transfers [transferKinds]lnet.Transfer

// transfer returns what the transport did to carry the messages of a kind.
func (s *Sighting) transfer(kind int) lnet.Transfer {
	if s.transfers == nil {
		return lnet.Transfer{}
	}
	return s.transfers[kind]
}

// transferKind returns which of them a kind of message is.
func transferKind(k lnet.Kind) int {
	switch k {
	case lnet.Request, lnet.Ack:
		return fromClient
	case lnet.Bulk, lnet.GetReply:
		return bulkData
	}
	return fromServer
}

// addTransfer adds what the transport did to carry a message of a kind. Of the latency
// that it lost, only the part between request and reply counts.
func (s *Sighting) addTransfer(k lnet.Kind, t *lnet.Transfer) {
	kind := transferKind(k)
	if t.RTT != 0 && (k == lnet.Request || s.rtt == 0 && (kind == fromClient || k == lnet.GetReply)) {
		s.rtt = t.RTT
	}
	if !t.WasDisturbed() {
		return
	}
	if s.transfers == nil {
		s.transfers = new(transfers)
	}
	part := *t
	part.LostFrom = max(part.LostFrom, s.Request.Time)
	if !s.Reply.IsZero() && !s.reopened {
		part.LostTo = min(part.LostTo, s.Reply.Time)
	}
	s.transfers[kind].Add(&part)
}

// Retransmits is the number of TCP segments or InfiniBand packets with bytes of the
// RPC's messages that were sent again; what several points saw counts once.
func (r *RPC) Retransmits() int {
	var most [transferKinds]int
	for i := range r.Seen {
		if r.Seen[i].transfers == nil {
			continue
		}
		for kind := range most {
			most[kind] = max(most[kind], r.Seen[i].transfer(kind).Resent)
		}
	}
	return most[fromClient] + most[fromServer] + most[bulkData]
}

// RetransmitTime is the part of the latency in nanoseconds that was lost by
// retransmission. It is unknown where it is not proven that the receiver lacked
// what was sent again, where other bulk data came later, and where another capture
// point, or none, saw what was sent first.
func (r *RPC) RetransmitTime() (ns int64, ok bool) {
	s, n := r.clientSide(), r.Retransmits()
	if s == nil || n == 0 || r.LossNotCaptured() {
		return 0, false
	}
	for kind := range transferKinds {
		t := s.transfer(kind)
		if t.Timed < t.Resent || kind == bulkData && t.Lost > 0 && t.LostTo < s.Bulk.To {
			return 0, false
		}
		n -= t.Resent
		ns += t.Lost
	}
	if latency, replied := r.Latency(); replied {
		ns = min(ns, latency)
	}
	return ns, n <= 0
}

// RTT is the time in nanoseconds in which the server's host acknowledged data on
// the connection of the request, at the capture point nearest to the client.
func (r *RPC) RTT() (ns int64, ok bool) {
	if s := r.clientSide(); s != nil {
		ns = s.rtt
	}
	return ns, ns != 0
}

// LossNotCaptured reports whether segments of the server were lost before the
// capture point nearest to the client saw them, though nothing shows when: part
// of the latency is retransmission of unknown length.
func (r *RPC) LossNotCaptured() bool {
	s := r.clientSide()
	if s == nil {
		return false
	}
	reply, request := s.transfer(fromServer), s.transfer(fromClient)
	return reply.NotCaptured && reply.Timed < reply.Resent || request.AckedLate && request.Lost == 0
}

// carriedMessage is one of the last messages, for what the transport does with it later.
type carriedMessage struct {
	number int64 // of the message
	rpc    *RPC
	use    uint32 // of the record, which may have been reused
	source int32
	kind   lnet.Kind
}

const maxCarried = 1 << 14

// TransferUpdate takes what the transport did with a message after it was handed out.
func (t *Pairing) TransferUpdate(number int64, update *lnet.Transfer) {
	m := &t.carried[uint64(number)%maxCarried]
	if m.number == number && m.rpc != nil && m.rpc.state != ended && m.rpc.use == m.use {
		m.rpc.sighting(int(m.source)).addTransfer(m.kind, update)
	}
}

// rdmaWrites are the RDMA writes with the payload of an RPC's messages.
type rdmaWrites struct {
	captured bool
	time     int64 // in which they were under way, nanoseconds
	until    int64 // nanoseconds since the epoch
}

// addRDMA adds what InfiniBand did for a message of the RPC: the time of the writes,
// and the error of a transfer that failed.
func (r *RPC) addRDMA(m *dissect.Message) {
	x := m.IB
	if n := len(x.Parts); n > 1 && m.Kind != lnet.Get && r.Seen[0].Source == m.Source {
		r.addOtherError(x.Status)
	}
	if x.Writes.Packets > 0 { // those of several messages may overlap
		w, from, to := &r.sighting(m.Source).writes, x.Writes.First.Time, x.Writes.Last.Time
		w.captured = true
		w.time += max(0, to-max(from, w.until))
		w.until = max(w.until, to)
	}
}

// RDMATime is how long RDMA writes with the payload of the RPC's messages were under
// way in nanoseconds, at the capture point nearest to the client that has captured
// some.
func (r *RPC) RDMATime() (ns int64, ok bool) {
	if s := r.clientSide(); s != nil && s.writes.captured {
		return s.writes.time, true
	}
	for i := range r.Seen {
		if w := &r.Seen[i].writes; w.captured {
			return w.time, true
		}
	}
	return 0, false
}
