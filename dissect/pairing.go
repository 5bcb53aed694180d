package dissect

import (
	"bytes"
	"time"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes/schema"
)

// RequestInfo is what is needed of a request to read its replies and bulk data. It
// changes when the request is sent again; Clone copies it.
type RequestInfo struct {
	XID            uint64
	Opcode         uint32
	Inferred       uint32 // as in RPC
	Client, Server lnet.NID
	Frame          int64  // of the copy that is first in the order of the captures, as in Message
	File           string // as in Message
	Order          int64  // as in Message
	Time           int64
	ReplyFrame     int64  // of its first final reply, 0 before; with several captures, of the copy that is first
	ReplyFile      string // as in Message
	ReplyOrder     int64  // as in Message
	Handle         uint64 // pb_handle
	Big            bool
	Variant        *schema.Variant `codec:"shared"`
	JobID          [32]byte        // with NULs behind it
	Data           []byte          // the lustre_msg, of operations whose replies are read with it
}

// Job returns the job id, empty when the request had none.
func (q *RequestInfo) Job() []byte { return schema.TrimNUL(q.JobID[:]) }

// request is a request whose replies and bulk data may still arrive.
type request struct {
	info        RequestInfo
	data        []byte // buffer of info.Data, used again
	source      int    // the capture point that saw it first
	position    Position
	mbits       uint64 // last match bits of the bulk, and of the reply by newer rules
	first, last uint64 // match bits of the bulk's parts
	parts       [][]byte
	have        int // parts that have arrived
	keys        [3]fifo.Entry[request]

	place      fifo.Element[request] // in the open or the answered requests
	generation uint32                // counts the requests that this struct was used for
	nkeys      uint8
	nextFree   *request
}

// requestTable finds the request of a message by match bits and NIDs, whatever
// connection it came on. It is bounded by number, bytes and age; a request that
// was answered is kept for a while, for late messages and duplicates.
type requestTable struct {
	byBits   fifo.Index[request] // by match bits without the low six
	open     fifo.Queue[request] // without a reply yet
	answered fifo.Queue[request]
	free     *request
	held     int // bytes of requests and bulk data
	bounds   requestBounds
	handles  *fifo.Map[[16]byte, pendingHandle]
}

// requestBounds is how much is kept, and how long in nanoseconds.
type requestBounds struct {
	open, answered       int // requests
	held                 int // bytes
	openAge, answeredAge int64
}

// pendingHandle is an LNet operation that awaits the message with its handle: a
// GET its REPLY, a PUT its ACK.
type pendingHandle struct {
	req        *request // nil for an operation that belongs to no RPC
	generation uint32   // of req when the operation came
	bits       uint64   // its match bits
}

const (
	keyShift   = 6   // xids of all releases are multiples of 64
	maxParts   = 128 // of a bulk
	maxHandles = 1 << 15
)

func newRequestTable(answered int) *requestTable {
	if answered == 0 {
		answered = 1 << 14
	}
	return &requestTable{handles: fifo.NewMap[[16]byte, pendingHandle](maxHandles),
		bounds: requestBounds{open: 1 << 17, answered: answered, held: 32 << 20,
			openAge: int64(time.Hour), answeredAge: int64(time.Minute)}}
}

// add adds the request in m, or updates one that is sent again.
func (t *requestTable) add(m *Message, p *rpcMsg) *request {
	r := &m.RPC
	q := t.find(r.XID, m.LNet.Src, m.LNet.Dst, r.Opcode, r.HasOpcode)
	position := m.Position()
	var before RequestInfo // as other capture points saw it
	switch {
	case q == nil || q.info.Client != m.LNet.Src && r.Flags&FlagResent == 0:
		q = t.unused()
		q.source = m.Source
	case q.source != m.Source && (q.position == position || r.Flags&FlagResent == 0):
		before = q.info
	}
	t.held -= len(q.info.Data)
	q.info = RequestInfo{XID: r.XID, Opcode: r.Opcode, Client: m.LNet.Src, Server: m.LNet.Dst,
		Frame: m.Frame, File: m.File, Order: m.Order, Time: m.Time, Handle: r.Handle, Big: r.Big, Variant: r.Variant}
	if !q.info.setFirst(&before) {
		q.source, q.position = m.Source, position
	}
	copy(q.info.JobID[:], r.JobID)
	if rpc := p.RPC; rpc != nil && rpc.Context {
		q.data = append(q.data[:0], cut(m.Data, p.off, m.Size)...)
		q.info.Data = q.data
		t.held += len(q.info.Data)
	}
	t.setBulkRange(q, r)
	t.addKey(q, r.XID>>keyShift)
	t.addKey(q, q.first>>keyShift)
	t.addKey(q, q.last>>keyShift)
	t.open.Push(&q.place, m.Time)
	t.expire(m.Time)
	return q
}

// setFirst sets the frames of the request and of its reply to those of another copy that are
// before them in the order of the captures, which is the order in which messages are handed out.
// It reports whether the frame of the request was.
func (q *RequestInfo) setFirst(other *RequestInfo) bool {
	if other.ReplyOrder != 0 && (q.ReplyOrder == 0 || other.ReplyOrder < q.ReplyOrder) {
		q.ReplyFrame, q.ReplyFile, q.ReplyOrder = other.ReplyFrame, other.ReplyFile, other.ReplyOrder
	}
	first := other.Order != 0 && other.Order < q.Order
	if first {
		q.Frame, q.File, q.Order, q.Time = other.Frame, other.File, other.Order, other.Time
	}
	return first
}

// refresh brings the copy of a request that a message has up to date with what other capture points
// have seen since. A reply behind the message is not known to it.
func (t *requestTable) refresh(m *Message) {
	r := m.Req
	q := t.find(r.XID, r.Client, r.Server, r.Opcode, true)
	if q != nil {
		now := q.info
		if r.ReplyOrder == 0 {
			now.ReplyOrder = 0
		}
		r.setFirst(&now)
	}
	if r.ReplyOrder > m.Order {
		r.ReplyFrame, r.ReplyFile, r.ReplyOrder = 0, "", 0
	}
}

// replied records that m answers a request.
func (t *requestTable) replied(q *request, m *Message) {
	q.info.setFirst(&RequestInfo{ReplyFrame: m.Frame, ReplyFile: m.File, ReplyOrder: m.Order})
	t.answered.Push(&q.place, m.Time)
}

// unused returns an empty request.
func (t *requestTable) unused() *request {
	q := t.free
	if q == nil {
		q = &request{}
	} else {
		t.free = q.nextFree
		q.nextFree = nil
	}
	q.place.Owner = q
	return q
}

// setBulkRange computes the match bits of the bulk's parts. Peers without mbits
// raise the xid to the last of them; a request that is sent again has new
// ones, whose first has its low bits clear.
func (t *requestTable) setBulkRange(q *request, r *RPC) {
	first, last := r.XID, r.Mbits
	switch {
	case last == 0:
		last = r.XID
		first = last &^ (1<<keyShift - 1)
	case last < r.XID || last-r.XID >= maxParts:
		first = last &^ (1<<keyShift - 1)
	}
	if last != q.last {
		t.dropParts(q)
	}
	q.mbits, q.first, q.last = r.Mbits, first, last
}

// addKey adds a key to find a request by. If it has all its keys, the last one
// is replaced; if too many requests have the key, the oldest is removed.
func (t *requestTable) addKey(q *request, key uint64) {
	for i := range q.keys[:q.nkeys] {
		if q.keys[i].Key == key {
			return
		}
	}
	k := &q.keys[len(q.keys)-1]
	if int(q.nkeys) < len(q.keys) {
		k = &q.keys[q.nkeys]
		q.nkeys++
	} else {
		t.byBits.Remove(k)
	}
	if oldest := t.byBits.Add(k, key, q); oldest != nil {
		t.remove(oldest)
	}
}

// find returns the request that match bits belong to, the newest one of the
// client itself rather than of another of its NIDs; nil if it is unknown. The
// opcode must match if hasOpc is set and opc is not 0.
func (t *requestTable) find(bits uint64, client, server lnet.NID, opc uint32, hasOpc bool) *request {
	var otherNID *request
	for k := t.byBits.First(bits >> keyShift); k != nil; k = k.Next() {
		q := k.Owner
		if bits != q.info.XID && bits != q.mbits && (bits < q.first || bits > q.last) {
			continue
		}
		if hasOpc && opc != 0 && q.info.Opcode != opc {
			continue
		}
		if q.info.Client == client {
			return q
		}
		if otherNID == nil && q.info.Server == server {
			otherNID = q
		}
	}
	return otherNID
}

// expectHandle records an operation of a request by its handle, until the REPLY or
// ACK with this handle arrives.
func (t *requestTable) expectHandle(handle [16]byte, q *request, bits uint64) {
	if q != nil && handle != noHandle {
		fifo.Put(t.handles, handle, pendingHandle{q, q.generation, bits})
	}
}

// markNonRPC records the handle of an operation that belongs to no RPC: its ACK
// has no request.
func (t *requestTable) markNonRPC(handle [16]byte) {
	if handle != noHandle {
		fifo.Put(t.handles, handle, pendingHandle{})
	}
}

// isNonRPC reports whether the operation with this handle belongs to no RPC.
func (t *requestTable) isNonRPC(handle [16]byte) bool {
	h, ok := fifo.Get(t.handles, handle)
	return ok && h.req == nil
}

// byHandle returns the request and the match bits of the operation with this
// handle; the request is nil if it is unknown or was removed.
func (t *requestTable) byHandle(handle [16]byte) (q *request, bits uint64) {
	h, _ := fifo.Get(t.handles, handle)
	if h.req != nil && h.req.generation != h.generation {
		return nil, h.bits
	}
	return h.req, h.bits
}

// noHandle is the handle of an operation without one.
var noHandle = [16]byte(bytes.Repeat([]byte{0xff}, 16))

// expire removes requests that are too old or too many: answered ones first. The
// newest open one stays.
func (t *requestTable) expire(now int64) {
	b := &t.bounds
	for {
		q := t.answered.Overdue(now, b.answeredAge, b.answered)
		if q == nil && t.held > b.held {
			q = t.answered.First()
		}
		if q == nil {
			break
		}
		t.remove(q)
	}
	for t.open.Len() > 1 {
		q := t.open.Overdue(now, b.openAge, b.open)
		if q == nil && t.held > b.held {
			q = t.open.First()
		}
		if q == nil {
			break
		}
		t.remove(q)
	}
}

// remove removes a request.
func (t *requestTable) remove(q *request) {
	for i := range q.keys[:q.nkeys] {
		t.byBits.Remove(&q.keys[i])
	}
	t.dropParts(q)
	t.held -= len(q.info.Data)
	q.place.Remove()
	const small = 1 << 10 // larger buffers are not kept for reuse
	var data []byte
	if cap(q.data) <= small {
		data = q.data
	}
	*q = request{data: data, generation: q.generation + 1, nextFree: t.free}
	t.free = q
}

// addPart keeps the data of one part of a bulk. When all parts have arrived, it
// returns them in order.
func (t *requestTable) addPart(q *request, bits uint64, data []byte) []byte {
	if bits < q.first || bits > q.last {
		return nil
	}
	n := int(q.last - q.first + 1)
	if n == 1 {
		return data
	}
	if q.parts == nil {
		q.parts = make([][]byte, n)
	}
	i := bits - q.first
	if q.parts[i] == nil {
		if t.held > 2*t.bounds.held {
			t.dropParts(q)
			return nil
		}
		q.parts[i] = append([]byte{}, data...)
		q.have++
		t.held += len(data)
	}
	if q.have < n {
		return nil
	}
	var all []byte
	for _, p := range q.parts {
		all = append(all, p...)
	}
	t.dropParts(q)
	return all
}

func (t *requestTable) dropParts(q *request) {
	for _, p := range q.parts {
		t.held -= len(p)
	}
	q.parts, q.have = nil, 0
}
