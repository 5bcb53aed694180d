package track

import (
	"net/netip"

	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// RPC is one remote procedure call: the request, however often it was sent,
// and all that belongs to it. An RPCs reuses its records; one is valid until
// the Done hook returns.
type RPC struct {
	Identity
	Request
	Reply

	HasRequest bool
	HasReply   bool
	OneWay     bool // has no reply
	Expired    bool // waited longer than the timeout
	Sends      int  // how often the request was sent
	Early      int  // early replies

	// Seen has when each capture point saw what.
	Seen []Sighting

	record
}

// Identity is what all messages of an RPC have in common.
type Identity struct {
	XID       uint64
	Opcode    uint32
	HasOpcode bool
	Encrypted bool // GSS privacy: neither opcode nor body can be read
	Variant   *schema.Variant
	Client    lnet.NID // the node that sent the request, also when it is a server
	Server    lnet.NID
	Link      *Link  // the connection it belongs to, nil when its connect was not seen
	Handle    uint64 // pb_handle of the request: what the server calls the connection
}

// Request is what the request of an RPC says.
type Request struct {
	Portal      uint32
	UID, GID    uint32
	HasUser     bool // UID and GID are there; clients before 2.16 do not send them
	FID         FID
	HasFID      bool
	Flags       uint32 // pb_flags of all sends
	ConnCnt     uint32
	RequestSize int // bytes of the lustre_msg

	job    [32]byte
	jobLen uint8
	hasJob bool
	name   []byte
}

// Reply is what the reply of an RPC says.
type Reply struct {
	Status      int32
	OtherErrors []int32 // errors that are not in Status
	Type        uint32  // pb_type
	Transno     uint64
	Service     uint32 // seconds, as the server says
	Estimate    uint32 // seconds, as the server says
	ReplySize   int    // bytes of the lustre_msg

	body int // bytes of the ptlrpc_body that were captured
}

// record is what an RPCs needs to find an RPC and to end it.
type record struct {
	state    state
	place    fifo.Element[RPC] // in the queue of its state
	next     *RPC              // with the same xid
	slot     int32             // of attached values
	created  int64             // time of its first message
	reopened bool              // the request was sent again after the reply
}

// state is where a record is on its way.
type state uint8

const (
	open      state = iota // waits for its reply
	lingering              // is complete; stragglers may still come
	spent                  // was handed out; absorbs what comes late
)

// Point is when and where a message was seen.
type Point struct {
	Frame int64
	Time  int64
}

// Sighting is what one capture point saw of an RPC.
type Sighting struct {
	Source  int
	Request Point // first time it was sent
	Reply   Point
	Bulk    Span
	Bytes   int64 // of bulk data

	sends, early int
	from         netip.Addr // sender of the last request on the wire
	flags        uint32     // of the last request
	mbits        uint64
	parts        [2]uint64 // bulk parts seen, by the low bits of their match bits
	asked        int       // GETs that were not answered yet
	reopened     bool      // the request was sent again after Reply
}

// Span is a stretch of time.
type Span struct{ From, To int64 }

// FID is a Lustre file identifier.
type FID struct {
	Seq      uint64
	OID, Ver uint32
}

// Job is the job id, empty when the request had none.
func (r *Request) Job() []byte { return r.job[:r.jobLen] }

// HasJob says whether the request has a place for a job id, and it was
// captured.
func (r *Request) HasJob() bool { return r.hasJob }

// Has says whether a field of the reply's ptlrpc_body was captured. It was not
// when the reply was cut short, or is encrypted.
func (r *RPC) Has(f *schema.Field) bool { return r.HasReply && r.body >= f.Off+f.Size }

// Name is the file name the request is about, empty when it has none.
func (r *Request) Name() []byte { return r.name }

// Target is the name of the target without "_UUID", empty when it is not
// known.
func (r *RPC) Target() string {
	if r.Link == nil {
		return ""
	}
	return r.Link.Target
}

// Unanswered says whether a reply is due and was not seen.
func (r *RPC) Unanswered() bool { return r.HasRequest && !r.HasReply && !r.OneWay }

// Failed says whether the reply's status is an error. There may be OtherErrors: of
// replies after which the request was sent again, and inside of the reply.
func (r *RPC) Failed() bool { return r.HasReply && r.Status < 0 }

// maxOthers errors are kept of an RPC.
const maxOthers = 8

func (r *Reply) other(errno int32) {
	if errno < 0 && len(r.OtherErrors) < maxOthers {
		r.OtherErrors = append(r.OtherErrors, errno)
	}
}

// Requested is when the request was first seen, by the capture point nearest
// to the client; the zero Point when it was not seen.
func (r *RPC) Requested() Point {
	if s := r.client(); s != nil {
		return s.Request
	}
	return Point{}
}

// Replied is when the reply was seen by the capture point nearest to the
// client that saw it.
func (r *RPC) Replied() Point {
	if s := r.client(); s != nil && s.Reply.Frame != 0 {
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

// Latency is the time from the request to the reply in nanoseconds, at the
// capture point nearest to the client.
func (r *RPC) Latency() (ns int64, ok bool) {
	if !r.HasRequest || !r.HasReply {
		return 0, false
	}
	return max(0, r.Replied().Time-r.Requested().Time), true
}

// NodeTime is the time from the request's coming to the reply's going at the
// capture point nearest to the server. What is left of the latency was spent
// on the way between the points. It needs two capture points.
func (r *RPC) NodeTime() (ns int64, ok bool) {
	c := r.client()
	var at *Sighting
	for i := range r.Seen {
		s := &r.Seen[i]
		if s != c && s.Request.Frame != 0 && s.Reply.Frame != 0 && (at == nil || s.Request.Time > at.Request.Time) {
			at = s
		}
	}
	if at == nil {
		return 0, false
	}
	return max(0, at.Reply.Time-at.Request.Time), true
}

// BulkBytes is the size of the bulk data; what several points saw counts once.
func (r *RPC) BulkBytes() int64 {
	var n int64
	for i := range r.Seen {
		n = max(n, r.Seen[i].Bytes)
	}
	return n
}

// BulkTime is the time from the first to the last message of the bulk.
func (r *RPC) BulkTime() (ns int64, ok bool) {
	if s := r.client(); s != nil && s.Bulk.From != 0 {
		return s.Bulk.To - s.Bulk.From, true
	}
	for i := range r.Seen {
		if b := r.Seen[i].Bulk; b.From != 0 {
			return b.To - b.From, true
		}
	}
	return 0, false
}

// client is what the capture point nearest to the client saw: the one that saw
// the request first.
func (r *RPC) client() *Sighting {
	var at *Sighting
	for i := range r.Seen {
		s := &r.Seen[i]
		if s.Request.Frame != 0 && (at == nil || s.Request.Time < at.Request.Time) {
			at = s
		}
	}
	return at
}

// at finds or makes the sighting of a capture point.
func (r *RPC) at(source int) *Sighting {
	for i := range r.Seen {
		if r.Seen[i].Source == source {
			return &r.Seen[i]
		}
	}
	r.Seen = append(r.Seen, Sighting{Source: source})
	return &r.Seen[len(r.Seen)-1]
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
