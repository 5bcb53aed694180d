package dissect

import (
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestVariantsOfCutRequests cuts requests of the samples at each byte: their variant is
// the same, or unknown.
func TestVariantsOfCutRequests(t *testing.T) {
	const enough = 2 // requests of each variant
	seen := map[*schema.Variant]int{}
	cut := func(whole *Message) {
		op := opcodes.ByOpcode(whole.RPC.Opcode)
		if whole.Kind != lnet.Request || whole.RPC.Variant == nil || op.Pick == nil || seen[whole.RPC.Variant] == enough {
			return
		}
		seen[whole.RPC.Variant]++
		for n := whole.PayloadOff; n < len(whole.Data); n++ {
			m, p := *whole, rpcMsg{}
			m.Data, m.Tail, m.RPC = whole.Data[:n], lnet.Snaplen, RPC{}
			if probe(&m, &p); !m.RPC.HasOpcode {
				continue
			}
			p.identify(m.RPC.Opcode, false, nil)
			if p.Variant != whole.RPC.Variant && p.Variant != op.Common {
				t.Errorf("%s %q, %d of %d bytes: %+v", op.Name, whole.RPC.Variant.Name, n, whole.Size, p.Variant)
				return
			}
		}
	}
	for _, path := range wiretest.Samples(t) {
		wiretest.Play(New(Options{Handle: cut}), wiretest.ReadSample(t, path))
	}
	if len(seen) < 20 {
		t.Errorf("%d variants", len(seen))
	}
}
