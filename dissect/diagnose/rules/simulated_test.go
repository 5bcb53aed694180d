package rules

import (
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/follow"
	"github.com/lshark/lshark/dissect/track/targets"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/simulator"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestSimulatedFaults checks the findings about simulated faults that no sample has, and that their suspects have the place of the fault.
func TestSimulatedFaults(t *testing.T) {
	for _, x := range []struct {
		fault string
		seed  uint64
		code  string
	}{
		{"path slow", 1, "slow.network"},
		{"path cut", 1, "path.cut"},
		{"LNet discards", 13, "lnet.lost"},
		{"replies lost in the server", 1, "rpc.reply_lost"},
		{"thread stuck", 9, "slow.stuck"},
		{"last thread stuck", 25, "slow.queue"},
		{"device hung", 57, "target.hung"},
		{"device hung", 16, "evicted.lock_callback"}, // the client could not write what the lock covers
		{"job limited", 7, "slow.changed"},
		{"node starved", 2, "lock.wait"},
		{"address used twice", 3, "node.duplicate_address"},
	} {
		s := simulator.Play(x.seed, x.fault)
		e := diagnose.New(diagnose.Options{Rules: All(), Follow: follow.Options{Targets: targets.New(nil)}})
		d := dissect.New(dissect.Options{Handle: e.Message, TransferUpdate: e.TransferUpdate, Lost: e.Lost, TCPEvent: e.TCPEvent, Active: e.Active()})
		wiretest.Play(d, s.Capture(simulator.View{Points: []string{simulator.Switch}}))
		e.Close()
		list := e.Findings()
		at := slices.IndexFunc(list, func(f *diagnose.Finding) bool { return f.Rule.Code == x.code })
		if at < 0 {
			t.Errorf("%s, seed %d: no %s", x.fault, x.seed, x.code)
			continue
		}
		assert.That(t, slices.ContainsFunc(list[at].Suspects, func(p diagnose.Place) bool {
			return slices.ContainsFunc(s.Faults[0].Places, func(truth simulator.Place) bool { return truth.Kind == p.Kind.String() })
		}), "%s, seed %d: %v is not among the suspects %v of %s", x.fault, x.seed, s.Faults[0].Places, list[at].Suspects, x.code)
	}
}
