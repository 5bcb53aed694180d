package dissect

import (
	"github.com/lshark/lshark/opcodes"
)

// RequestInfo is what replies and bulk data need to know of their request. It
// does not change once it is made.
type RequestInfo struct {
	XID            uint64
	Opcode         uint32
	Client, Server NID
	Frame          int64
	Time           int64
	Big            bool
	Variant        *opcodes.Variant
	Data           []byte // the lustre_msg, of operations whose answers are read with it
}

// exchange is a request that may still get answers.
type exchange struct {
	req         RequestInfo
	known       bool // the request was seen; else only its place is kept
	replied     bool
	mbits       uint64 // last match bits of the bulk, and of the reply by newer rules
	first, last uint64 // match bits of the bulk's parts
	parts       [][]byte
	have        int
	keys        [3]uint64
	nkeys       int
}

// exchanges finds the request of a message by match bits and NIDs, whatever
// connection it came on. It is bounded by number and age.
type exchanges struct {
	byBits  map[uint64][]*exchange // by match bits without the low six
	handles map[[16]byte]handled
	order   []*exchange // oldest first, a ring
	head    int
	ring    [][16]byte // handles in the order of their coming
	at      int
	limit   int
	timeout int64
}

// handled is an operation that waits for the answer with its handle.
type handled struct {
	ex   *exchange
	bits uint64
}

const (
	keyShift    = 6   // xids of all releases are multiples of 64
	bulkOps     = 128 // parts of a bulk, at most
	maxHandles  = 1 << 15
	maxWaiting  = 1 << 17
	waitTimeout = int64(3600e9)
)

func newExchanges() *exchanges {
	return &exchanges{byBits: make(map[uint64][]*exchange), handles: make(map[[16]byte]handled),
		ring: make([][16]byte, maxHandles), limit: maxWaiting, timeout: waitTimeout}
}

// add keeps a request, or takes up one that is sent again.
func (e *exchanges) add(m *Message, p *rpcMsg) *exchange {
	r := &m.RPC
	ex := e.find(r.XID, m.LNet.Src, m.LNet.Dst, r.Opcode, r.HasOpcode)
	if ex == nil {
		ex = &exchange{}
		e.order = append(e.order, ex)
	}
	ex.known, ex.replied = true, false
	ex.req = RequestInfo{XID: r.XID, Opcode: r.Opcode, Client: m.LNet.Src, Server: m.LNet.Dst,
		Frame: m.Frame, Time: m.Time, Big: r.Big, Variant: r.Variant}
	if rpc := p.RPC; rpc != nil && rpc.Context {
		ex.req.Data = append([]byte(nil), cut(m.Data, p.off, m.Size)...)
	}
	ex.number(r)
	e.index(ex, r.XID>>keyShift)
	e.index(ex, ex.first>>keyShift)
	e.index(ex, ex.last>>keyShift)
	e.expire(m.Time)
	return ex
}

// number works out the match bits of the bulk's parts. Peers without mbits
// raise the xid to the last of them; a request that is sent again has new
// ones, whose first has its low bits clear.
func (ex *exchange) number(r *RPC) {
	first, last := r.XID, r.Mbits
	switch {
	case last == 0:
		last = r.XID
		first = last &^ (1<<keyShift - 1)
	case last < r.XID || last-r.XID >= bulkOps:
		first = last &^ (1<<keyShift - 1)
	}
	if last != ex.last {
		ex.parts, ex.have = nil, 0
	}
	ex.mbits, ex.first, ex.last = r.Mbits, first, last
}

// index lets an exchange be found by a key; of too many keys the last one but
// the xid's gives way.
func (e *exchanges) index(ex *exchange, key uint64) {
	for _, k := range ex.keys[:ex.nkeys] {
		if k == key {
			return
		}
	}
	if ex.nkeys == len(ex.keys) {
		e.unindex(ex, ex.keys[1])
		ex.keys[1], ex.keys[2] = ex.keys[2], key
	} else {
		ex.keys[ex.nkeys] = key
		ex.nkeys++
	}
	e.byBits[key] = append(e.byBits[key], ex)
}

// find looks for the request that match bits belong to: of the client itself
// rather than of another node of the same name, newest first.
func (e *exchanges) find(bits uint64, client, server NID, opc uint32, hasOpc bool) *exchange {
	var second *exchange
	list := e.byBits[bits>>keyShift]
	for i := len(list) - 1; i >= 0; i-- {
		ex := list[i]
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
	delete(e.handles, e.ring[e.at])
	e.ring[e.at] = handle
	e.at = (e.at + 1) % len(e.ring)
	e.handles[handle] = handled{ex, bits}
}

func noHandle(h [16]byte) bool {
	for _, c := range h {
		if c != 0xff {
			return false
		}
	}
	return true
}

// expire drops what is too old or too much.
func (e *exchanges) expire(now int64) {
	for len(e.order)-e.head > 0 {
		ex := e.order[e.head]
		if len(e.order)-e.head <= e.limit && now-ex.req.Time < e.timeout {
			break
		}
		e.order[e.head] = nil
		e.head++
		e.forget(ex)
	}
	if e.head > 1024 && e.head > len(e.order)/2 {
		e.order = append(e.order[:0], e.order[e.head:]...)
		e.head = 0
	}
}

func (e *exchanges) forget(ex *exchange) {
	for _, k := range ex.keys[:ex.nkeys] {
		e.unindex(ex, k)
	}
}

func (e *exchanges) unindex(ex *exchange, key uint64) {
	list := e.byBits[key]
	for i, x := range list {
		if x == ex {
			list = append(list[:i], list[i+1:]...)
			break
		}
	}
	if len(list) == 0 {
		delete(e.byBits, key)
		return
	}
	e.byBits[key] = list
}

// part keeps the data of one part of a bulk. When they are complete, it
// returns them in order.
func (ex *exchange) part(bits uint64, data []byte) []byte {
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
		ex.parts[i] = append([]byte{}, data...)
		ex.have++
	}
	if ex.have < n {
		return nil
	}
	var all []byte
	for _, p := range ex.parts {
		all = append(all, p...)
	}
	ex.parts, ex.have = nil, 0
	return all
}
