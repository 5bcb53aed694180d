package simulator

import (
	"bytes"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
)

func TestMain(m *testing.M) { wiretest.Main(m) }

// TestSameSeed checks that a seed gives the same frames each time.
func TestSameSeed(t *testing.T) {
	v := View{Points: []string{Switch}}
	for seed := range uint64(4) {
		a, b := Play(seed).Capture(v), Play(seed).Capture(v)
		same := len(a) == len(b)
		for i := 0; same && i < len(a); i++ {
			same = a[i].Time == b[i].Time && bytes.Equal(a[i].Data, b[i].Data)
		}
		assert.That(t, same, "seed %d gives other frames the second time", seed)
	}
}

// TestOrdinaryWork checks that without a fault each request is answered, soon and after one send.
func TestOrdinaryWork(t *testing.T) {
	for seed := uint64(0); seed < 48; seed += 4 {
		s := Play(seed)
		for _, r := range s.requests {
			soon := r.op == opFlock || r.finished && r.ended-r.first < 2*second || r.first > s.end-second
			assert.That(t, soon && r.sends == 1, "seed %d: at %.3f s %s asks %s for opcode %d: %d sends, answered after %.3f s",
				seed, s.Seconds(r.first), r.from.name, r.to.name, r.op.opcode, r.sends, float64(r.ended-r.first)/1e9)
		}
	}
}

// TestMessages checks that the dissector knows each message, and finds no mistake in it.
func TestMessages(t *testing.T) {
	kinds := make(map[lnet.Kind]int)
	for seed := range wiretest.Rounds(uint64(80)) {
		var d *dissect.Dissector
		var tree dissect.Tree
		d = dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
			kinds[m.Kind]++
			if m.Kind == lnet.Unknown || m.Kind == lnet.Request && (!m.RPC.HasOpcode || !m.RPC.HasXID) {
				t.Errorf("seed %d, frame %d: %v, opcode %d, xid %d", seed, m.Frame, m.Kind, m.RPC.Opcode, m.RPC.XID)
			}
			tree.Build(m)
			for _, n := range tree.Nodes {
				if n.State == dissect.Missing {
					t.Errorf("seed %d, frame %d, %v of opcode %d: %s is missing", seed, m.Frame, m.Kind, m.RPC.Opcode, n.Field.Name)
				}
			}
		}})
		wiretest.Play(d, Play(seed).Capture(View{Points: []string{Switch}}))
	}
	for _, k := range []lnet.Kind{lnet.Connreq, lnet.Hello, lnet.Request, lnet.Reply, lnet.EarlyReply, lnet.Bulk, lnet.Get, lnet.GetReply, lnet.Ack} {
		assert.That(t, kinds[k] > 0, "no %v in any scene", k)
	}
}

// TestFaultsHurt checks that each fault is noticed by somebody in some scene.
func TestFaultsHurt(t *testing.T) {
	for _, name := range Faults() {
		hurt := 0
		for seed := range uint64(12) {
			s := Play(seed, name)
			if name == "path jitter" || name == "client dead" || name == "client restarted" { // requests may go on
				hurt += s.sentAgain
			}
			hurt += s.Hurt(s.Faults[0], View{Points: []string{Switch}}, 200*millisecond)
			for _, r := range s.requests {
				if r.sends > 1 {
					hurt++
				}
			}
			if hurt > 0 {
				break
			}
		}
		assert.That(t, hurt > 0, "nobody notices %q", name)
	}
}

// TestRefusals checks that each of two faults of a target has its own refusal, until it ends itself.
func TestRefusals(t *testing.T) {
	target := build(1).targets[1]
	write, create := &rpc{op: opWrite}, &rpc{op: opCreate}
	endWrites := target.refuse(eio, func(r *rpc) bool { return r.op == opWrite })
	endCreates := target.refuse(enospc, func(r *rpc) bool { return r.op == opCreate })
	assert.That(t, target.errorFor(write) == eio && target.errorFor(create) == enospc, "with both faults")
	endWrites()
	assert.That(t, target.errorFor(write) == ok && target.errorFor(create) == enospc, "with the second")
	endCreates()
	assert.That(t, target.errorFor(create) == ok, "without")
}
