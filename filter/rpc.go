package filter

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/track"
)

// RPCFilter is a compiled filter over the RPCs of one track.RPCs. A comparison
// of messages is made with each message of an RPC and holds when it does for
// one of them; the results are kept as bits until the RPC has ended.
type RPCFilter struct {
	Text  string
	marks []func(*Message) bool
	held  track.Attached[uint64] // a bit for each of marks
	match func(*Message) bool
	msg   Message
}

// maxMarks is the number of bits that are kept of an RPC.
const maxMarks = 64

// Mark compares a message that belongs to an RPC.
func (f *RPCFilter) Mark(m *Message, r *track.RPC) {
	held := f.held.Of(r)
	for i, holds := range f.marks {
		if *held>>i&1 == 0 && holds(m) {
			*held |= 1 << i
		}
	}
}

// Match reports whether the filter holds for an RPC that has ended. It is to be
// called once for each, in the Done hook of the RPCs.
func (f *RPCFilter) Match(r *track.RPC) bool {
	held := f.held.Of(r)
	f.msg.rpc, f.msg.held = r, *held
	*held = 0
	return f.match(&f.msg)
}

// CompileRPC reads a filter over RPCs. An error is an *Error.
func CompileRPC(text string) (*RPCFilter, error) {
	e, err := parse(text)
	if err != nil {
		return nil, err
	}
	f := &RPCFilter{Text: text}
	c := &compiler{text: text, index: opcodes.NewIndex(), rpc: f}
	if f.match, err = c.expr(e); err != nil {
		return nil, err
	}
	return f, nil
}

// marked makes a question to messages one to the bits of their RPC.
func (c *compiler) marked(e *expr, ask func(*Message) bool) (func(*Message) bool, error) {
	i := len(c.rpc.marks)
	if i == maxMarks {
		return nil, c.fail(e.field, "more than "+strconv.Itoa(maxMarks)+" comparisons of messages", "")
	}
	c.rpc.marks = append(c.rpc.marks, ask)
	return func(m *Message) bool { return m.held>>i&1 != 0 }, nil
}

// aboutRPC says whether a name is that of a whole RPC.
func aboutRPC(name string) bool { return strings.HasPrefix(name, "rpc.") }

// rpcField finds a field of RPCs.
func (c *compiler) rpcField(t token) (*field, error) {
	k, ok := rpcKeys[t.text]
	if !ok {
		return nil, c.fail(t, "there is no field "+t.text,
			DidYouMean(schema.Nearest(t.text, slices.Sorted(maps.Keys(rpcKeys)), 3)))
	}
	if c.rpc == nil && t.text != "rpc.latency" {
		return nil, c.fail(t, t.text+" is known of whole RPCs, and messages are looked at here", "lshark rpcs and lshark stats know it")
	}
	f := &field{each: func(m *Message, f func(*value) bool) bool {
		return k.values(m, f)
	}, key: &k}
	if k.names != nil {
		f.names = append(f.names, k.names)
	}
	return f, nil
}

func rpcUint(doc string, get func(r *track.RPC) (uint64, bool)) key {
	return key{doc: doc, get: func(m *Message, v *value) bool {
		u, ok := get(m.rpc)
		*v = value{class: number, u: u}
		return ok
	}}
}

func rpcText(doc string, append func(r *track.RPC, dst []byte) []byte) key {
	return key{class: text, doc: doc, get: func(m *Message, v *value) bool {
		*v = value{class: text, b: append(m.rpc, nil)}
		return len(v.b) > 0
	}}
}

func rpcNID(doc string, get func(r *track.RPC) lnet.NID) key {
	return key{class: nidClass, doc: doc, get: func(m *Message, v *value) bool {
		*v = value{class: nidClass, nid: get(m.rpc)}
		return true
	}}
}

// rpcSeconds is a time that is known in nanoseconds.
func rpcSeconds(doc string, get func(r *track.RPC) (int64, bool)) key {
	return key{class: seconds, doc: doc, get: func(m *Message, v *value) bool {
		ns, ok := get(m.rpc)
		*v = value{class: seconds, f: float64(ns) / 1e9}
		return ok
	}}
}

// rpcKeys are the fields of RPCs.
var rpcKeys = map[string]key{
	"rpc.latency": {class: seconds, doc: "seconds from the request to the reply", get: func(m *Message, v *value) bool {
		if m.rpc == nil {
			return latencyOf(m, v)
		}
		ns, ok := m.rpc.Latency()
		*v = value{class: seconds, f: float64(ns) / 1e9}
		return ok
	}},
	"rpc.service_time": rpcSeconds("seconds that the server says it worked", func(r *track.RPC) (int64, bool) {
		return int64(r.Service) * 1e9, r.HasReply
	}),
	"rpc.target": rpcText("target, when its connect was seen", func(r *track.RPC, dst []byte) []byte { return append(dst, r.Target()...) }),
	"rpc.client": rpcNID("node that sent the request", func(r *track.RPC) lnet.NID { return r.Client }),
	"rpc.server": rpcNID("node that it was sent to", func(r *track.RPC) lnet.NID { return r.Server }),
	"rpc.job":    rpcText("job id", func(r *track.RPC, dst []byte) []byte { return append(dst, r.Job()...) }),
	"rpc.name":   rpcText("file name the request is about", func(r *track.RPC, dst []byte) []byte { return append(dst, r.Name()...) }),
	"rpc.uid":    rpcUint("user", func(r *track.RPC) (uint64, bool) { return uint64(r.UID), r.HasUser }),
	"rpc.gid":    rpcUint("group", func(r *track.RPC) (uint64, bool) { return uint64(r.GID), r.HasUser }),
	"rpc.status": {names: opcodes.LdlmError, errno: true, doc: "result", get: func(m *Message, v *value) bool {
		*v = status(m.rpc.Opcode, m.rpc.Status)
		return m.rpc.HasReply
	}},
	"rpc.error": {class: text, doc: "name of the error", get: func(m *Message, v *value) bool {
		*v = value{class: text}
		if m.rpc.Failed() {
			v.b = append(v.b, schema.Errnos.Name(uint64(-int64(m.rpc.Status)))...)
		}
		return len(v.b) > 0
	}},
	"rpc.other_errors": {class: text, doc: "error that the status does not tell: of a reply after which the request was sent again, or inside the reply", each: func(m *Message, f func(*value) bool) bool {
		for _, e := range m.rpc.OtherErrors {
			if m.value = (value{class: text, b: []byte(schema.Errnos.Name(uint64(-int64(e))))}); f(&m.value) {
				return true
			}
		}
		return false
	}},
	"rpc.opcode": {names: opcodes.PbOpc.Names, doc: "operation", get: func(m *Message, v *value) bool {
		*v = value{class: number, u: uint64(m.rpc.Opcode), names: opcodes.PbOpc.Names}
		return m.rpc.HasOpcode
	}},
	"rpc.variant": rpcText("form of the operation", func(r *track.RPC, dst []byte) []byte {
		if r.Variant == nil {
			return dst
		}
		return append(dst, r.Variant.Name...)
	}),
	"rpc.fid": {class: fidClass, doc: "FID the request is about", get: func(m *Message, v *value) bool {
		*v = value{class: fidClass, u: m.rpc.FID.Seq, oid: m.rpc.FID.OID, ver: m.rpc.FID.Ver}
		return m.rpc.HasFID
	}},
	"rpc.flags": {names: opcodes.MsgFlags, doc: "flags of its messages", get: func(m *Message, v *value) bool {
		*v = value{class: number, u: uint64(m.rpc.Flags), names: opcodes.MsgFlags}
		return true
	}},
	"rpc.handle":        rpcUint("what the server calls the connection", func(r *track.RPC) (uint64, bool) { return r.Handle, r.Handle != 0 }),
	"rpc.xid":           rpcUint("number of the RPC", func(r *track.RPC) (uint64, bool) { return r.XID, true }),
	"rpc.transno":       rpcUint("number of the transaction", func(r *track.RPC) (uint64, bool) { return r.Transno, r.HasReply }),
	"rpc.sends":         rpcUint("times the request was sent", func(r *track.RPC) (uint64, bool) { return uint64(r.Sends), true }),
	"rpc.early_replies": rpcUint("early replies", func(r *track.RPC) (uint64, bool) { return uint64(r.Early), true }),
	"rpc.request_bytes": rpcUint("size of the request", func(r *track.RPC) (uint64, bool) { return uint64(r.RequestSize), r.HasRequest }),
	"rpc.reply_bytes":   rpcUint("size of the reply", func(r *track.RPC) (uint64, bool) { return uint64(r.ReplySize), r.HasReply }),
	"rpc.bulk_bytes":    rpcUint("bytes of bulk data", func(r *track.RPC) (uint64, bool) { return uint64(r.BulkBytes()), true }),
	"rpc.unanswered":    rpcUint("there when no reply was seen", func(r *track.RPC) (uint64, bool) { return 1, r.Unanswered() }),
}
