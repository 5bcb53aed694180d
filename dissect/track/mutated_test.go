package track

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestMutatedSamples changes bytes behind the headers of link and IP in the samples. What
// a message claims must not lead to a panic.
func TestMutatedSamples(t *testing.T) {
	const headers, most = 34, 250 // bytes that stay, and up to where others change
	for _, path := range wiretest.Samples(t) {
		seeds := uint64(10)
		if strings.Contains(path, "rdma") {
			seeds = 80
		}
		frames := wiretest.ReadSample(t, path)
		for seed := range seeds {
			rnd := rand.New(rand.NewPCG(seed, 1))
			mutated := frames[:0:0]
			for _, f := range frames {
				f.Data = append([]byte(nil), f.Data...)
				if n := min(len(f.Data), most); n > headers && rnd.IntN(4) == 0 {
					for range 1 + rnd.IntN(5) {
						f.Data[headers+rnd.IntN(n-headers)] = byte(rnd.Uint32())
					}
				}
				mutated = append(mutated, f)
			}
			done := 0
			imports := NewImports()
			pairing := NewPairing(Options{Sent: imports.Sent, Answered: imports.Answered, Done: func(r *RPC) { done++; imports.Done(r) }})
			wiretest.Play(dissect.New(dissect.Options{Handle: func(m *dissect.Message) { pairing.Message(m) }, TransferUpdate: pairing.TransferUpdate, Lost: pairing.Lost}), mutated)
			pairing.Close()
			imports.Close()
			if done == 0 {
				t.Errorf("%s: no RPC left", path)
			}
		}
	}
}
