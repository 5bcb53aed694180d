package filter

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// key is a key of messages. A probe is a field of the wire that every message has at a fixed
// place: as a key, it is read without a tree.
type key = records.Key[*records.Message]

func body(f *schema.Field, get func(r *dissect.RPC) uint64) *key {
	k := &key{Name: f.Name, Names: f.Names, JSON: records.Hidden, Doc: f.Doc, Get: func(m *records.Message, _ int, v *records.Value) bool {
		v.U = get(&m.RPC)
		return hasField(m, f)
	}}
	switch {
	case f.Names != nil && f.Names.Flags:
		k.Type = records.Flags
	case f.Names != nil:
		k.Type = records.Enum
	case f.Kind == schema.Int:
		k.Type = records.Int
	case f.Size == 8:
		k.Type = records.Decimal
	}
	return k
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

func header(name string, t records.Type, doc string, read func(n *lnet.Header, v *records.Value)) *key {
	return &key{Name: name, Type: t, JSON: records.Hidden, Doc: doc, Get: func(m *records.Message, _ int, v *records.Value) bool {
		read(&m.LNet, v)
		return m.HasLNet()
	}}
}

// probes are the fields that have probes, by their names and paths. JSON has them in its sections.
var probes = []*key{
	header("lnet.dest_nid", records.NID, "node that the LNet message is for", func(n *lnet.Header, v *records.Value) { v.NID = n.Dst }),
	{Name: "lnet.match_bits", JSON: records.Hidden, Type: records.Decimal, Doc: "match bits of the LNet message", Get: matchBits},
	header("lnet.payload_length", records.Uint, "bytes behind the LNet header",
		func(n *lnet.Header, v *records.Value) { v.U = uint64(n.Length) }),
	header("lnet.src_nid", records.NID, "node that sent the LNet message", func(n *lnet.Header, v *records.Value) { v.NID = n.Src }),
	{Name: "match_bits", JSON: records.Hidden, Type: records.Decimal, Doc: "match bits of the LNet message", Get: matchBits},
	body(opcodes.PbFlags, func(r *dissect.RPC) uint64 { return uint64(r.Flags) }),
	body(opcodes.PbLastCommitted, func(r *dissect.RPC) uint64 { return r.LastCommitted }),
	body(opcodes.PbOpFlags, func(r *dissect.RPC) uint64 { return uint64(r.OpFlags) }),
	body(opcodes.PbOpc, func(r *dissect.RPC) uint64 { return uint64(r.Opcode) }),
	{Name: "pb_status", JSON: records.Hidden, Type: records.Status, Names: opcodes.LdlmError, Doc: opcodes.PbStatus.Doc, Get: pbStatus},
	body(opcodes.PbTransno, func(r *dissect.RPC) uint64 { return r.Transno }),
	body(opcodes.PbType, func(r *dissect.RPC) uint64 { return uint64(r.Type) }),
}

// ProbeKeys returns the fields of the wire that a filter reads without a tree as keys,
// each by its longest name.
func ProbeKeys() (keys []*key) {
	for _, p := range probes {
		k := *p
		k.JSON = records.Null
		if k.Name == opcodes.PbOpc.Name {
			k.Get = wireOpcode
		}
		if k.Name != "match_bits" {
			keys = append(keys, &k)
		}
	}
	return keys
}

// Probes lists the fields of the wire that a filter reads without a tree.
func Probes() []records.Entry { return records.Messages.Only(probes).Entries() }

func matchBits(m *records.Message, _ int, v *records.Value) bool {
	v.U = m.LNet.MatchBits
	return m.HasLNet() && m.LNet.Type <= lnet.TypeGet
}

// wireOpcode reads pb_opc as the message has it. In filters, a reply with 0 there has the
// operation of its request.
func wireOpcode(m *records.Message, _ int, v *records.Value) bool {
	if v.U = uint64(m.RPC.Opcode); m.RPC.Inherited {
		v.U, v.Type = 0, records.Uint // 0 is also OST_REPLY
	}
	return hasField(m, opcodes.PbOpc)
}

// pbStatus reads the status of a reply, and the sender's process id of a
// request.
func pbStatus(m *records.Message, _ int, v *records.Value) bool {
	if v.SetStatus(m.RPC.Opcode, m.RPC.Status); m.Kind == lnet.Request {
		v.Names = nil
	}
	return hasField(m, opcodes.PbStatus)
}
