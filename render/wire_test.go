package render_test

import (
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// eachSample calls handle for each message of the samples.
func eachSample(t testing.TB, handle func(*dissect.Message)) {
	t.Helper()
	for _, path := range wiretest.Samples(t) {
		wiretest.Play(dissect.New(dissect.Options{Handle: handle}), wiretest.ReadSample(t, path))
	}
}

// dialog is a request and what answers it.
type dialog struct {
	name            string
	request, answer []byte // lustre_msg, or the bulk data
	way             wiretest.Way
}

// sampleDialogs are one dialog a message format from the samples.
func sampleDialogs(t testing.TB) []dialog {
	var list []dialog
	seen := map[string]bool{}
	requests := map[uint64][]byte{}
	eachSample(t, func(m *dissect.Message) {
		way := wiretest.ByReply
		switch m.Kind {
		case lnet.Request:
			requests[m.RPC.XID] = append([]byte(nil), m.Payload()...)
			return
		case lnet.Reply:
		case lnet.Bulk:
			way = wiretest.ByBulkPut
		case lnet.GetReply:
			way = wiretest.ByBulkGet
		default:
			return
		}
		name := m.Kind.String() + " " + opcodes.Opcodes.Name(uint64(m.RPC.Opcode))
		if v := m.RPC.Variant; v != nil {
			name += " " + v.Name
		}
		if q := requests[m.RPC.XID]; !seen[name] && q != nil {
			seen[name] = true
			// The bulk goes by the match bits of the xid alone.
			list = append(list, dialog{name, q, append([]byte(nil), m.Payload()...), way})
		}
	})
	return list
}

// tableDialogs are dialogs built from the declarations: every buffer of every
// variant is there, with bytes that are neither zero nor the same.
func tableDialogs() []dialog {
	var list []dialog
	for _, r := range opcodes.Protocol.RPCs() {
		for _, v := range r.Variants {
			d := dialog{r.Name + " " + v.Name, builtMsg(r.Opcode, wiretest.TypeRequest, v.Request), builtMsg(r.Opcode, wiretest.TypeReply, v.Reply), wiretest.ByReply}
			list = append(list, d)
			if b := v.Bulk; b != nil {
				d.way, d.answer = wiretest.ByBulkPut, pattern(4096)
				if b.Get {
					d.way = wiretest.ByBulkGet
				}
				list = append(list, d)
			}
		}
	}
	return list
}

// builtMsg builds a message with all its buffers, of which the first is the
// ptlrpc_body.
func builtMsg(opc, typ uint32, fields []*schema.Field) []byte {
	bufs := [][]byte{wiretest.Body(typ, opc)}
	for _, f := range fields[min(1, len(fields)):] {
		bufs = append(bufs, pattern(builtSize(f)))
	}
	return wiretest.Msg(bufs...)
}

func builtSize(f *schema.Field) int {
	switch {
	case f.Size > 0:
		return f.Size
	case f.Type != nil:
		return f.Type.Size + 32
	case f.Elem != nil && f.Elem.Type != nil:
		return 3 * f.Elem.Type.Size
	}
	return 96
}

// pattern is bytes that stand for small numbers.
func pattern(n int) []byte {
	b := make([]byte, n)
	for i := 0; i < n; i += 4 {
		b[i] = byte(i/4 + 1)
	}
	return b
}

// bulk is what a request asks to be transferred: bytes with a meaning.
type bulk struct {
	dialog
	opcode  uint32
	variant *schema.Variant
}

// message is that of the part that completes the bulk.
func (b *bulk) message(data []byte) *dissect.Message {
	req := &dissect.RequestInfo{Opcode: b.opcode, Variant: b.variant, Data: b.request}
	m := &dissect.Message{Message: lnet.Message{Kind: lnet.Bulk, LNetOff: -1}, Req: req, Content: data}
	m.RPC = dissect.RPC{Opcode: b.opcode, HasOpcode: true, Variant: b.variant}
	return m
}

// contents are bulk data of all kinds: from the samples, and zeros and small
// numbers.
func contents(t testing.TB) []bulk {
	var list []bulk
	for _, r := range opcodes.Protocol.RPCs() {
		for _, v := range r.Variants {
			if v.Bulk != nil && v.Bulk.Type != nil {
				b := bulk{dialog{name: r.Name + " " + v.Name, request: builtMsg(r.Opcode, wiretest.TypeRequest, v.Request)}, r.Opcode, v}
				for _, b.answer = range [][]byte{pattern(4096), make([]byte, 512), {}} {
					list = append(list, b)
				}
			}
		}
	}
	seen := map[*schema.Variant]int{}
	eachSample(t, func(m *dissect.Message) {
		if v := m.RPC.Variant; len(m.Content) > 0 && m.Req != nil && seen[v] < 3 {
			seen[v]++
			list = append(list, bulk{dialog{name: m.Kind.String() + " " + v.Name, request: append([]byte(nil), m.Req.Data...),
				answer: append([]byte(nil), m.Content...)}, m.RPC.Opcode, v})
		}
	})
	return list
}
