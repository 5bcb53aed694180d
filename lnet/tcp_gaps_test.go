package lnet

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/lnet/link"
)

// TestGaps compares the heap with a search in all streams.
func TestGaps(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 1))
	streams := make([]reassembly, 50)
	var g gapHeap
	for range 20000 {
		st := &streams[rnd.IntN(len(streams))]
		if st.held = st.held[:0]; rnd.IntN(4) > 0 {
			st.held = append(st.held, piece{Frame: link.Frame{Order: 1 + rnd.Int64N(100)}})
		}
		g.update(st)
		first := int64(0)
		for i := range streams {
			if held := streams[i].held; len(held) > 0 && (first == 0 || held[0].Order < first) {
				first = held[0].Order
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
	for range 100000 {
		tc.Frames = tc.Frames[:0]
		tc.Send(false, w.Noop(0, 1))
		d.Frame(&tc.Frames[0])
	}
	if n := len(d.tcp.gaps); n != 20000 {
		t.Errorf("%d streams with a gap: this proves nothing", n)
	}
}
