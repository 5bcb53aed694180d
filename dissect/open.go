package dissect

import "github.com/lshark/lshark/opcodes"

// Open takes the RPC message in m apart without a walk over its fields: what
// summaries need. It returns nil when there is none that can be read. The
// result is valid until the tree is used again.
func (t *Tree) Open(m *Message) *opcodes.Msg {
	p := &t.rpc
	ok, encrypted := p.open(m.Data, m.PayloadOff, m.Size)
	if !ok || encrypted || !m.RPC.HasOpcode {
		return nil
	}
	t.walker.t = t
	p.identify(m.RPC.Opcode, m.Kind != Request, t.walker.request(m))
	p.Status = m.RPC.Status
	return &p.Msg
}
