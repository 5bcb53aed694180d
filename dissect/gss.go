package dissect

import (
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// GSS holds the fields of the security wrapping of a message under GSS. It is zero
// for other messages.
type GSS struct {
	opcodes.GSSHead
	Setup opcodes.GSSSetup // of a request that sets a context up
}

// Errno returns the error of a reply as a number among errnos: see
// opcodes.GSSErrno.
func (g *GSS) Errno() int32 { return opcodes.GSSErrno(g.Major) }

// probeGSS reads the wrapping of a message under GSS.
func (p *rpcMsg) probeGSS(m *Message, encrypted bool) {
	out := p.outer
	if encrypted {
		out = p
	}
	if out == nil || flavorPolicy(out.flavor) != policyGSS {
		return
	}
	g := &m.RPC.GSS
	head, ok := opcodes.ReadGSSHead(out.Buf(0), out.Big, m.Kind != lnet.Request)
	if !ok {
		return
	}
	g.GSSHead = head
	if n := len(out.Bufs); m.Kind == lnet.Request && head.CreatesContext() && n > 2 && n == len(out.lens) {
		g.Setup, _ = opcodes.ReadGSSSetup(out.Bufs[n-1])
	}
}
