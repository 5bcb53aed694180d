package lnet

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"
)

// TestGaps compares the heap with a search in all streams.
func TestGaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	streams, held := make([]gapEntry, 50), make([]int64, 50)
	var g gapHeap
	for range 20000 {
		k := rnd.IntN(len(streams))
		if held[k] = 0; rnd.IntN(4) > 0 {
			held[k] = 1 + rnd.Int64N(100)
		}
		g.update(&streams[k], held[k])
		first := int64(0)
		for _, h := range held {
			if h != 0 && (first == 0 || h < first) {
				first = h
			}
		}
		if g.first() != first {
			t.Fatalf("first %d, not %d", g.first(), first)
		}
	}
}

// TestManyGaps has many streams with a gap. It takes long if all of them are searched
// for each message.
func TestManyGaps(t *testing.T) {
	tc, w := opened()
	var d *Decoder
	d = NewDecoder(Options{Handle: func(*Message) { d.Held() }})
	for i := range 20000 {
		other := wiretest.NewConn()
		other.A.Addr = netip.AddrFrom4([4]byte{10, 1, byte(i >> 8), byte(i)})
		other.Open().Lose(100).Send(false, w.Noop(0, 1))
		for k := range other.Frames {
			d.Frame(&other.Frames[k])
		}
	}
	noop := w.Noop(0, 1)
	for range wiretest.Rounds(100000) {
		tc.Frames = tc.Frames[:0]
		tc.Send(false, noop)
		d.Frame(&tc.Frames[0])
	}
	if n := len(d.out.gaps); n != 20000 {
		t.Errorf("%d streams with a gap: this proves nothing", n)
	}
}
