package dissect

import (
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// TestReplyWithoutOpcode checks that pb_opc 0 has no name in a reply for which
// the server did not unpack the request, and that the operation is that of the
// request.
func TestReplyWithoutOpcode(t *testing.T) {
	var tree Tree
	replies := 0
	eachMessage(t, "../pcaps/gss_failed.pcap.zst", func(m *Message) {
		if m.Kind != lnet.Reply || m.RPC.GSS.Errno() == 0 {
			return
		}
		replies++
		tree.Build(m)
		n := paths(&tree)["ptlrpc_body.pb_opc"]
		if n == nil || n.Val != 0 || !n.Is(NotValid) || !m.RPC.HasOpcode || m.RPC.Opcode != opcodes.SEC_CTX_INIT {
			t.Errorf("frame %d: pb_opc is %+v, opcode %d", m.Frame, n, m.RPC.Opcode)
		}

		alone := New(Options{})
		c := *m
		alone.pair(&c)
		if c.RPC.HasOpcode || c.Req != nil {
			t.Errorf("frame %d without its request: opcode %d", m.Frame, c.RPC.Opcode)
		}
	})
	if replies != 6 {
		t.Errorf("%d refused contexts", replies)
	}
}
