package timeline

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
)

// rpcAt makes an RPC that was sent at a time and took so long; negative: it has no
// reply.
func rpcAt(ns int64, opc uint32, latency int64) *track.RPC {
	r := &track.RPC{Identity: track.Identity{Opcode: opc, HasOpcode: true}, HasRequest: true, HasReply: latency >= 0}
	s := track.Sighting{Request: track.Point{Frame: 1, Time: ns}}
	if latency >= 0 {
		s.Reply = track.Point{Frame: 2, Time: ns + latency}
	}
	r.Seen = []track.Sighting{s}
	return r
}

// TestBins compares the bins with counts of all RPCs one by one, in any order of their
// times.
func TestBins(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, length := range []int64{1e3, 1e6, 1e9, 100e9, 86400e9} {
		for _, begin := range []int64{0, -5e17, 1e18} {
			tl := New()
			type sent struct {
				at, latency int64
				opc         uint32
			}
			var all []sent
			for range 500 {
				s := sent{begin + random.Int64N(length), random.Int64N(20e9) - 1e9, uint32(random.IntN(80))}
				s.latency = max(s.latency, -1)
				all = append(all, s)
				tl.Done(rpcAt(s.at, s.opc, s.latency))
			}
			bins, width := tl.Bins(), tl.Width()
			if len(bins) > MaxBins || int64(len(bins))*width < length*9/10-2*width || length > int64(MaxBins*time.Millisecond) && len(bins) < MaxBins/2-1 {
				t.Errorf("%d ns from %d: %d bins of %d ns", length, begin, len(bins), width)
			}
			want := make([]Bin, len(bins))
			index := make(map[uint32]int)
			for k, o := range tl.Operations() {
				index[o.Opcode] = k
			}
			for _, s := range all {
				if s.at < tl.Begin() {
					t.Fatalf("%d is before %d", s.at, tl.Begin())
				}
				b := &want[(s.at-tl.Begin())/width]
				k, ok := index[s.opc]
				if !ok {
					k = MaxOperations
				}
				b.Counts[k]++
				for k, bound := range LatencyBounds() {
					if s.latency >= 0 && s.latency <= bound {
						b.Latencies[k]++
						break
					}
				}
			}
			for k := range bins {
				must.Equal(t, bins[k], want[k], length, "ns", begin, "bin", k)
			}
		}
	}
}

func TestLatencyBounds(t *testing.T) {
	tl := New()
	for _, ns := range []int64{0, 1000, 1001, 2000, 5e12, 1e15} {
		tl.Done(rpcAt(0, 1, ns))
	}
	bounds, counts := LatencyBounds(), tl.Bins()[0].Latencies
	if len(bounds) != len(counts) || counts[0] != 2 || counts[1] != 2 || counts[len(counts)-1] != 2 {
		t.Errorf("%v in %v", counts, bounds)
	}
}

// TestNoAllocations: an RPC costs no allocation, also when the bins are widened.
func TestNoAllocations(t *testing.T) {
	tl := New()
	r := rpcAt(1e18, 1, 5e6)
	tl.Done(r)
	wiretest.NoAllocations(t, 2000, func() {
		r.Seen[0].Request.Time += 50e6
		tl.Done(r)
	})
	assert.That(t, tl.Width() != minWidth, "the bins were not widened")
}

// TestUnknownOperation: RPCs without an opcode are an operation of their own.
func TestUnknownOperation(t *testing.T) {
	tl := New()
	r := rpcAt(5, 0, -1)
	r.HasOpcode, r.Client = false, lnet.NID{Len: 4}
	tl.Done(r)
	tl.Done(rpcAt(6, 0, -1))
	o := tl.Operations()
	assert.That(t, len(o) == 2 && !o[0].HasOpcode && o[1].HasOpcode, "operations %v", o)
}
