package track

import (
	"net/netip"

	"github.com/lshark/lshark/dissect"
)

// Point is when and where a message was seen. The zero Point: it was not.
type Point struct {
	Frame int64
	Time  int64 // nanoseconds since the epoch
}

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
	sender       netip.Addr // of the last request on the wire
	flags        uint32     // of the last request
	mbits        uint64
	parts        [2]uint64 // bulk parts seen, by the low bits of their match bits
	pendingGets  int
	reopened     bool // the request was sent again after Reply
}

// forwarded reports whether a request that the point has seen is on its next
// leg: beside a router it is seen twice.
func (s *Sighting) forwarded(m *dissect.Message) bool {
	return s.sender != m.Src.Addr() && s.flags == m.RPC.Flags && s.mbits == m.RPC.Mbits
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
	r.Seen = append(r.Seen, Sighting{Source: source})
	return &r.Seen[len(r.Seen)-1]
}

// clientSide returns the sighting nearest to the client: the one that has the
// request first. It is nil when no request was seen.
func (r *RPC) clientSide() *Sighting {
	var first *Sighting
	for i := range r.Seen {
		s := &r.Seen[i]
		if s.Request.Frame != 0 && (first == nil || s.Request.Time < first.Request.Time) {
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
	if s := r.clientSide(); s != nil && s.Reply.Frame != 0 {
		return s.Reply
	}
	var last Point
	for i := range r.Seen {
		if p := r.Seen[i].Reply; p.Frame != 0 && p.Time >= last.Time {
			last = p
		}
	}
	return last
}

// Begin is when the request was sent, as far as it was seen; else when the
// first other message of the RPC was seen.
func (r *RPC) Begin() int64 {
	if p := r.Requested(); p.Frame != 0 {
		return p.Time
	}
	if p := r.Replied(); p.Frame != 0 {
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
// latency was spent between the points. It needs two capture points.
func (r *RPC) NodeTime() (ns int64, ok bool) {
	c := r.clientSide()
	var last *Sighting
	for i := range r.Seen {
		s := &r.Seen[i]
		if s != c && s.Request.Frame != 0 && s.Reply.Frame != 0 && (last == nil || s.Request.Time > last.Request.Time) {
			last = s
		}
	}
	if last == nil {
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
