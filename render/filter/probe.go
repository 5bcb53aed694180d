package filter

import (
	"maps"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// probe is a field of the wire that every message has at a fixed place: it is
// read without a tree.
type probe struct {
	kind  records.Type
	names *schema.Names
	doc   string
	read  func(m *records.Message, v *records.Value) bool
}

func (p probe) field(name string) *field {
	f := &field{name: name, typed: true, valueType: p.kind, each: func(s *subject, f func(*records.Value) bool) bool {
		s.value.Type, s.value.Names = p.kind, p.names
		return p.read(s.msg, &s.value) && f(&s.value)
	}}
	if p.names != nil {
		f.names = append(f.names, p.names)
	}
	return f
}

func body(f *schema.Field, get func(r *dissect.RPC) uint64) probe {
	p := probe{kind: records.Uint, names: f.Names, doc: f.Doc, read: func(m *records.Message, v *records.Value) bool {
		v.U = get(&m.RPC)
		return hasField(m, f)
	}}
	switch {
	case f.Names != nil && f.Names.Flags:
		p.kind = records.Flags
	case f.Names != nil:
		p.kind = records.Enum
	case f.Kind == schema.Int:
		p.kind = records.Int
	case f.Size == 8:
		p.kind = records.Decimal
	}
	return p
}

func hasBody(m *records.Message) bool {
	switch m.Kind {
	case lnet.Request, lnet.Reply, lnet.EarlyReply:
		return m.RPC.Type != 0
	}
	return false
}

// hasField reports whether a message has a field of ptlrpc_body, and it was captured.
func hasField(m *records.Message, f *schema.Field) bool {
	return hasBody(m) && f.Off+f.Size <= m.RPC.Body
}

func header(kind records.Type, doc string, read func(n *lnet.Header, v *records.Value)) probe {
	return probe{kind: kind, doc: doc, read: func(m *records.Message, v *records.Value) bool {
		read(&m.LNet, v)
		return m.HasLNet()
	}}
}

var matchBits = probe{kind: records.Decimal, doc: "match bits of the LNet message", read: func(m *records.Message, v *records.Value) bool {
	v.U = m.LNet.MatchBits
	return m.HasLNet() && m.LNet.Type <= lnet.TypeGet
}}

// probes are the fields that have probes, by their names and paths.
var probes = map[string]probe{
	"lnet.src_nid":  header(records.NID, "node that sent the LNet message", func(n *lnet.Header, v *records.Value) { v.NID = n.Src }),
	"lnet.dest_nid": header(records.NID, "node that the LNet message is for", func(n *lnet.Header, v *records.Value) { v.NID = n.Dst }),
	"lnet.payload_length": header(records.Uint, "bytes behind the LNet header",
		func(n *lnet.Header, v *records.Value) { v.U = uint64(n.Length) }),
	"match_bits":      matchBits,
	"lnet.match_bits": matchBits,

	"pb_opc":            body(opcodes.PbOpc, func(r *dissect.RPC) uint64 { return uint64(r.Opcode) }),
	"pb_type":           body(opcodes.PbType, func(r *dissect.RPC) uint64 { return uint64(r.Type) }),
	"pb_flags":          body(opcodes.PbFlags, func(r *dissect.RPC) uint64 { return uint64(r.Flags) }),
	"pb_op_flags":       body(opcodes.PbOpFlags, func(r *dissect.RPC) uint64 { return uint64(r.OpFlags) }),
	"pb_transno":        body(opcodes.PbTransno, func(r *dissect.RPC) uint64 { return r.Transno }),
	"pb_last_committed": body(opcodes.PbLastCommitted, func(r *dissect.RPC) uint64 { return r.LastCommitted }),
	"pb_status":         {kind: records.Status, names: opcodes.LdlmError, doc: opcodes.PbStatus.Doc, read: pbStatus},
}

// ProbeKeys returns the fields of the wire that a filter reads without a tree as keys,
// each by its longest name.
func ProbeKeys() (keys []*records.Key[*records.Message]) {
	for _, name := range slices.Sorted(maps.Keys(probes)) {
		if _, longer := probes["lnet."+name]; longer {
			continue
		}
		p := probes[name]
		k := &records.Key[*records.Message]{Name: name, Type: p.kind, Names: p.names, Doc: p.doc, Get: p.read}
		if name == opcodes.PbOpc.Name {
			k.Get = wireOpcode
		}
		keys = append(keys, k)
	}
	return keys
}

// wireOpcode reads pb_opc as the message has it. In filters, a reply with 0 there has the
// operation of its request.
func wireOpcode(m *records.Message, v *records.Value) bool {
	if v.U = uint64(m.RPC.Opcode); m.RPC.Inherited {
		v.U, v.Type = 0, records.Uint // 0 is also OST_REPLY
	}
	return hasField(m, opcodes.PbOpc)
}

// Probes lists the fields of the wire that a filter reads without a tree.
func Probes() (list []records.Entry) {
	for _, name := range slices.Sorted(maps.Keys(probes)) {
		p := probes[name]
		list = append(list, records.Entry{Kind: records.KeyEntry, Of: records.Messages.Record, Path: name, Name: name, Type: p.kind,
			Names: p.names, Doc: p.doc, JSON: records.Hidden, InFilters: true})
	}
	return list
}

// pbStatus reads the status of a reply, and the sender's process id of a
// request.
func pbStatus(m *records.Message, v *records.Value) bool {
	if v.SetStatus(m.RPC.Opcode, m.RPC.Status); m.Kind == lnet.Request {
		v.Names = nil
	}
	return hasField(m, opcodes.PbStatus)
}
