package filter

import (
	"net/netip"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/track"
)

// Message is what a filter looks at: a message, and its tree when the filter
// has to ask for one.
type Message struct {
	*dissect.Message
	Conn0 int64 // time of the first frame, for rel

	rpc   *track.RPC // of filters over RPCs
	held  uint64     // comparisons that held for a message of rpc
	tree  *dissect.Tree
	built bool
	value value // the one that a comparison looks at
}

// Set makes m the message to look at.
func (e *Message) Set(m *dissect.Message) { e.Message, e.built = m, false }

// Tree is the message's tree, built at the first call.
func (e *Message) Tree() *dissect.Tree {
	if e.tree == nil {
		e.tree = &dissect.Tree{}
	}
	if !e.built {
		e.tree.Build(e.Message)
		e.built = true
	}
	return e.tree
}

// Key is a field that every message has at a fixed place, or that is the
// message's own: it needs no tree, but for the notes.
type key struct {
	class class
	names *schema.Names
	errno bool // errnos are values too
	doc   string
	get   func(m *Message, v *value) bool
	each  func(m *Message, f func(*value) bool) bool // instead of get, of keys with several values
}

// values calls f with the key's values until it is content.
func (k *key) values(m *Message, f func(*value) bool) bool {
	if k.each != nil {
		return k.each(m, f)
	}
	m.value = value{}
	return k.get(m, &m.value) && f(&m.value)
}

// eachNote passes the codes of what is odd, in the message or its tree.
func eachNote(m *Message, f func(*value) bool) bool {
	for _, n := range m.Tree().Notes {
		if m.value = (value{class: text, b: []byte(n.Code)}); f(&m.value) {
			return true
		}
	}
	return false
}

func uintKey(doc string, get func(m *Message) (uint64, bool)) key {
	return key{doc: doc, get: func(m *Message, v *value) bool {
		u, ok := get(m)
		*v = value{class: number, u: u}
		return ok
	}}
}

func textKey(doc string, get func(m *Message, dst []byte) []byte) key {
	return key{class: text, doc: doc, get: func(m *Message, v *value) bool {
		*v = value{class: text, b: get(m, v.b[:0])}
		return len(v.b) > 0
	}}
}

func addrKey(doc string, get func(m *Message) netip.AddrPort) key {
	return key{class: address, doc: doc, get: func(m *Message, v *value) bool {
		*v = value{class: address, addr: get(m)}
		return v.addr.IsValid()
	}}
}

func nidKey(doc string, get func(m *Message) (lnet.NID, bool)) key {
	return key{class: nidClass, doc: doc, get: func(m *Message, v *value) bool {
		n, ok := get(m)
		*v = value{class: nidClass, nid: n}
		return ok
	}}
}

// hasBody says whether a message has a readable ptlrpc_body.
func hasBody(m *Message) bool {
	switch m.Kind {
	case lnet.Request, lnet.Reply, lnet.EarlyReply:
		return m.RPC.Type != 0
	}
	return false
}

// body makes the key of a number in ptlrpc_body.
func body(f *schema.Field, get func(r *dissect.RPC) uint64) key {
	return key{names: f.Names, doc: f.Doc, get: func(m *Message, v *value) bool {
		*v = value{class: number, u: get(&m.RPC), names: f.Names, signed: f.Kind == schema.Int}
		return hasBody(m)
	}}
}

// kindGroup are the names of message kinds.
var kindGroup = func() *schema.Names {
	var values []schema.Value
	for i, name := range lnet.KindNames() {
		values = append(values, schema.Value{Name: name, Value: uint64(i)})
	}
	return schema.NewEnum("kind", "", "what a message is", values)
}()

func opcodeOf(m *Message, v *value) bool {
	*v = value{class: number, u: uint64(m.RPC.Opcode), names: opcodes.PbOpc.Names}
	return m.RPC.HasOpcode
}

func statusOf(m *Message, v *value) bool {
	*v = status(m.RPC.Opcode, m.RPC.Status)
	return hasBody(m) && m.Kind != lnet.Request
}

func errorOf(m *Message, v *value) bool {
	*v = value{class: text}
	if !hasBody(m) || m.Kind == lnet.Request || m.RPC.Status >= 0 {
		return false
	}
	v.b = append(v.b, schema.Errnos.Name(uint64(-int64(m.RPC.Status)))...)
	return len(v.b) > 0
}

// latencyOf is the time from the request to this reply.
func latencyOf(m *Message, v *value) bool {
	*v = value{class: seconds}
	if m.Kind != lnet.Reply || m.Req == nil {
		return false
	}
	v.f = float64(m.Time-m.Req.Time) / 1e9
	return true
}

// keys are the record's own names and those read without a tree.
var keys = map[string]key{
	"frame": uintKey("number of the frame that completed the message", func(m *Message) (uint64, bool) { return uint64(m.Frame), true }),
	"conn":  uintKey("number of the connection", func(m *Message) (uint64, bool) { return uint64(m.Conn), true }),
	"bytes": uintKey("bytes of bulk data", func(m *Message) (uint64, bool) {
		switch m.Kind {
		case lnet.Bulk, lnet.Get, lnet.GetReply, lnet.Ack:
			return uint64(m.RPC.Bytes), true
		}
		return 0, false
	}),
	"time": {class: seconds, doc: "time of the frame, seconds since the epoch", get: func(m *Message, v *value) bool {
		*v = value{class: seconds, f: float64(m.Time) / 1e9}
		return true
	}},
	"rel": {class: seconds, doc: "time since the first frame, seconds", get: func(m *Message, v *value) bool {
		*v = value{class: seconds, f: float64(m.Time-m.Conn0) / 1e9}
		return true
	}},
	"src":     addrKey("address and port of the sender", func(m *Message) netip.AddrPort { return m.Src }),
	"dst":     addrKey("address and port of the receiver", func(m *Message) netip.AddrPort { return m.Dst }),
	"xid":     uintKey("number of the RPC", func(m *Message) (uint64, bool) { return m.RPC.XID, m.RPC.HasXID }),
	"opcode":  {names: opcodes.PbOpc.Names, doc: "operation, also of bulk messages", get: opcodeOf},
	"status":  {names: opcodes.LdlmError, errno: true, doc: "result of a reply", get: statusOf},
	"error":   {class: text, doc: "name of a reply's error", get: errorOf},
	"latency": {class: seconds, doc: "from the request to the reply", get: latencyOf},
	"variant": textKey("form of the operation", func(m *Message, dst []byte) []byte {
		if m.RPC.Variant == nil {
			return dst
		}
		return append(dst, m.RPC.Variant.Name...)
	}),
	"kind": {names: kindGroup, doc: "what the message is", get: func(m *Message, v *value) bool {
		*v = value{class: number, u: uint64(m.Kind), names: kindGroup}
		return true
	}},

	"notes": {class: text, doc: "what is odd about the message, in words for scripts", each: eachNote},

	"lnet.src_nid":        nidKey("sender", func(m *Message) (lnet.NID, bool) { return m.LNet.Src, m.LNetOff >= 0 }),
	"lnet.dest_nid":       nidKey("receiver", func(m *Message) (lnet.NID, bool) { return m.LNet.Dst, m.LNetOff >= 0 }),
	"lnet.payload_length": uintKey("bytes behind the LNet header", func(m *Message) (uint64, bool) { return uint64(m.LNet.Length), m.LNetOff >= 0 }),
	"match_bits":          uintKey("match bits", matchBits),
	"lnet.match_bits":     uintKey("match bits", matchBits),

	"pb_opc":            body(opcodes.PbOpc, func(r *dissect.RPC) uint64 { return uint64(r.Opcode) }),
	"pb_type":           body(opcodes.PbType, func(r *dissect.RPC) uint64 { return uint64(r.Type) }),
	"pb_status":         {names: opcodes.LdlmError, errno: true, doc: opcodes.PbStatus.Doc, get: pbStatus},
	"pb_flags":          body(opcodes.PbFlags, func(r *dissect.RPC) uint64 { return uint64(r.Flags) }),
	"pb_op_flags":       body(opcodes.PbOpFlags, func(r *dissect.RPC) uint64 { return uint64(r.OpFlags) }),
	"pb_transno":        body(opcodes.PbTransno, func(r *dissect.RPC) uint64 { return r.Transno }),
	"pb_last_committed": body(opcodes.PbLastCommitted, func(r *dissect.RPC) uint64 { return r.LastCommitted }),
}

func matchBits(m *Message) (uint64, bool) {
	return m.LNet.MatchBits, m.LNetOff >= 0 && m.LNet.Type <= lnet.TypeGet
}

// status is the result in a reply: an errno, a number, or about locks a name.
func status(opcode uint32, n int32) value {
	v := value{class: number, u: uint64(int64(n)), signed: true}
	if n >= 0 && opcodes.AboutLocks(opcode) {
		v.names = opcodes.LdlmError
	}
	return v
}

// pbStatus is the status of a reply; requests have the sender's process there.
func pbStatus(m *Message, v *value) bool {
	if m.Kind != lnet.Request {
		return statusOf(m, v)
	}
	*v = value{class: number, u: uint64(int64(m.RPC.Status)), signed: true}
	return hasBody(m)
}
