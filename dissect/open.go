package dissect

import (
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// Open takes the RPC message in m apart without a walk over its fields: what
// summaries need. It returns nil when there is none that can be read. The
// result is valid until the tree is used again. Whole says that nothing is cut
// off of what a line about it is made of.
func (t *Tree) Open(m *Message) (msg *schema.Msg, whole bool) {
	p := &t.rpc
	ok, encrypted := p.openIn(m)
	if !ok || encrypted || !m.RPC.HasOpcode {
		return nil, false
	}
	t.walker.t = t
	p.identify(m.RPC.Opcode, m.Kind != lnet.Request, t.walker.request(m))
	p.Status = m.RPC.Status
	return &p.Msg, p.summaryComplete(m)
}
