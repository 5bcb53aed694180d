package dissect

import (
	"time"

	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// RequestInfo is what replies and bulk data need to know of their request. What
// a message refers to changes when the request is sent again: Clone copies it.
type RequestInfo struct {
	XID            uint64
	Opcode         uint32
	Client, Server lnet.NID
	Frame          int64
	Time           int64
	Big            bool
	Variant        *schema.Variant
	Data           []byte // the lustre_msg, of operations whose answers are read with it
}

// exchange is a request that may still get answers.
type exchange struct {
	req         RequestInfo
	known       bool   // the request was seen; else only its place is kept
	source      int    // the capture point that saw it first
	mbits       uint64 // last match bits of the bulk, and of the reply by newer rules
	first, last uint64 // match bits of the bulk's parts
	parts       [][]byte
	have        int
	places      [3]place
	nplaces     int

	since      int64 // when it came into its queue
	queue      *exchangeQueue
	prev, next *exchange
	life       uint32 // exchanges are used again
}

// place is an exchange's entry under one of its keys.
type place struct {
	ex   *exchange
	key  uint64
	next *place // older one of the same key
}

// exchanges finds the request of a message by match bits and NIDs, whatever
// connection it came on. It is bounded by number, bytes and age; a request
// that was answered is kept for a while, for what comes late or again.
type exchanges struct {
	byBits   map[uint64]*place // by match bits without the low six, newest first
	open     exchangeQueue     // wait for their replies
	answered exchangeQueue
	free     *exchange
	held     int // bytes of requests and bulk data
	bounds   exchangeBounds

	handles map[[16]byte]handled
	ring    [][16]byte // handles in the order of their coming
	at      int
}

// exchangeBounds is how much is kept, and how long in nanoseconds.
type exchangeBounds struct {
	open, answered int
	held           int
	wait, linger   int64
}

// handled is an operation that waits for the answer with its handle.
type handled struct {
	ex   *exchange
	life uint32
	bits uint64
}

const (
	keyShift   = 6   // xids of all releases are multiples of 64
	bulkOps    = 128 // parts of a bulk, at most
	maxHandles = 1 << 15
	maxSame    = 64 // requests with the same xid, of many clients
)

func newExchanges() *exchanges {
	return &exchanges{byBits: make(map[uint64]*place), handles: make(map[[16]byte]handled),
		bounds: exchangeBounds{open: 1 << 17, answered: 1 << 14, held: 32 << 20, wait: int64(time.Hour), linger: int64(time.Minute)}}
}

// add keeps a request, or takes up one that is sent again.
func (e *exchanges) add(m *Message, p *rpcMsg) *exchange {
	r := &m.RPC
	ex := e.find(r.XID, m.LNet.Src, m.LNet.Dst, r.Opcode, r.HasOpcode)
	if ex == nil || ex.req.Client != m.LNet.Src && r.Flags&FlagResent == 0 {
		ex = e.fresh()
	}
	e.held -= len(ex.req.Data)
	frame, sent := m.Frame, m.Time
	if ex.known && ex.source != m.Source {
		frame, sent = ex.req.Frame, ex.req.Time // another capture point saw it before
	} else {
		ex.source = m.Source
	}
	ex.known = true
	ex.req = RequestInfo{XID: r.XID, Opcode: r.Opcode, Client: m.LNet.Src, Server: m.LNet.Dst,
		Frame: frame, Time: sent, Big: r.Big, Variant: r.Variant}
	if rpc := p.RPC; rpc != nil && rpc.Context {
		ex.req.Data = append([]byte(nil), cut(m.Data, p.off, m.Size)...)
		e.held += len(ex.req.Data)
	}
	e.number(ex, r)
	e.index(ex, r.XID>>keyShift)
	e.index(ex, ex.first>>keyShift)
	e.index(ex, ex.last>>keyShift)
	e.open.push(ex, m.Time)
	e.expire(m.Time)
	return ex
}

// reply notes that a request has its answer.
func (e *exchanges) reply(ex *exchange, now int64) {
	e.answered.push(ex, now)
}

func (e *exchanges) fresh() *exchange {
	ex := e.free
	if ex == nil {
		return &exchange{}
	}
	e.free = ex.next
	*ex = exchange{life: ex.life}
	return ex
}

// number works out the match bits of the bulk's parts. Peers without mbits
// raise the xid to the last of them; a request that is sent again has new
// ones, whose first has its low bits clear.
func (e *exchanges) number(ex *exchange, r *RPC) {
	first, last := r.XID, r.Mbits
	switch {
	case last == 0:
		last = r.XID
		first = last &^ (1<<keyShift - 1)
	case last < r.XID || last-r.XID >= bulkOps:
		first = last &^ (1<<keyShift - 1)
	}
	if last != ex.last {
		e.dropParts(ex)
	}
	ex.mbits, ex.first, ex.last = r.Mbits, first, last
}

// index lets an exchange be found by a key; of too many keys the last one but
// the xid's gives way. Of too many exchanges with one key the oldest does.
func (e *exchanges) index(ex *exchange, key uint64) {
	for i := range ex.places[:ex.nplaces] {
		if ex.places[i].key == key {
			return
		}
	}
	p := &ex.places[len(ex.places)-1]
	if ex.nplaces < len(ex.places) {
		p = &ex.places[ex.nplaces]
		ex.nplaces++
	} else {
		e.unindex(p)
	}
	*p = place{ex, key, e.byBits[key]}
	e.byBits[key] = p
	n := 1
	for q := p; q.next != nil; q = q.next {
		if n++; n > maxSame {
			e.forget(q.next.ex)
			return
		}
	}
}

// find looks for the request that match bits belong to: of the client itself
// rather than of another node of the same name, newest first.
func (e *exchanges) find(bits uint64, client, server lnet.NID, opc uint32, hasOpc bool) *exchange {
	var second *exchange
	for p := e.byBits[bits>>keyShift]; p != nil; p = p.next {
		ex := p.ex
		if bits != ex.req.XID && bits != ex.mbits && (bits < ex.first || bits > ex.last) {
			continue
		}
		if hasOpc && opc != 0 && ex.req.Opcode != opc {
			continue
		}
		if ex.req.Client == client {
			return ex
		}
		if second == nil && ex.req.Server == server {
			second = ex // another rail of the same client
		}
	}
	return second
}

// expect remembers an operation by its handle until the answer comes.
func (e *exchanges) expect(handle [16]byte, ex *exchange, bits uint64) {
	if ex == nil || noHandle(handle) {
		return
	}
	if _, known := e.handles[handle]; !known {
		if len(e.ring) < maxHandles {
			e.ring = append(e.ring, handle)
		} else {
			delete(e.handles, e.ring[e.at])
			e.ring[e.at] = handle
			e.at = (e.at + 1) % maxHandles
		}
	}
	e.handles[handle] = handled{ex, ex.life, bits}
}

// foreign remembers the handle of an operation that is not part of an RPC: its
// ACK waits for nothing.
func (e *exchanges) foreign(handle [16]byte) { e.expect(handle, &noRPC, 0) }

// noRPC stands for what belongs to no request.
var noRPC exchange

// isForeign says whether an answer belongs to no RPC.
func (e *exchanges) isForeign(handle [16]byte) bool { return e.handles[handle].ex == &noRPC }

// expected finds the operation that an answer names by its handle.
func (e *exchanges) expected(handle [16]byte) (ex *exchange, bits uint64) {
	h := e.handles[handle]
	if h.ex != nil && h.ex.life != h.life {
		return nil, h.bits
	}
	return h.ex, h.bits
}

func noHandle(h [16]byte) bool {
	for _, c := range h {
		if c != 0xff {
			return false
		}
	}
	return true
}

// expire drops what is too old or too much: answered requests first.
func (e *exchanges) expire(now int64) {
	b := &e.bounds
	for ex := e.answered.head; ex != nil && (now-ex.since >= b.linger || e.answered.n > b.answered || e.held > b.held); ex = e.answered.head {
		e.forget(ex)
	}
	for ex := e.open.head; ex != nil && ex != e.open.tail && (now-ex.since >= b.wait || e.open.n > b.open || e.held > b.held); ex = e.open.head {
		e.forget(ex)
	}
}

// forget takes an exchange out of everything.
func (e *exchanges) forget(ex *exchange) {
	for i := range ex.places[:ex.nplaces] {
		e.unindex(&ex.places[i])
	}
	e.dropParts(ex)
	e.held -= len(ex.req.Data)
	ex.queue.remove(ex)
	*ex = exchange{life: ex.life + 1, next: e.free}
	e.free = ex
}

func (e *exchanges) unindex(p *place) {
	first := e.byBits[p.key]
	switch {
	case first != p:
		for first.next != p {
			first = first.next
		}
		first.next = p.next
	case p.next == nil:
		delete(e.byBits, p.key)
	default:
		e.byBits[p.key] = p.next
	}
}

// part keeps the data of one part of a bulk. When they are complete, it
// returns them in order.
func (e *exchanges) part(ex *exchange, bits uint64, data []byte) []byte {
	if bits < ex.first || bits > ex.last {
		return nil
	}
	n := int(ex.last - ex.first + 1)
	if n == 1 {
		return data
	}
	if ex.parts == nil {
		ex.parts = make([][]byte, n)
	}
	i := bits - ex.first
	if ex.parts[i] == nil {
		if e.held > 2*e.bounds.held {
			e.dropParts(ex)
			return nil
		}
		ex.parts[i] = append([]byte{}, data...)
		ex.have++
		e.held += len(data)
	}
	if ex.have < n {
		return nil
	}
	var all []byte
	for _, p := range ex.parts {
		all = append(all, p...)
	}
	e.dropParts(ex)
	return all
}

func (e *exchanges) dropParts(ex *exchange) {
	for _, p := range ex.parts {
		e.held -= len(p)
	}
	ex.parts, ex.have = nil, 0
}
