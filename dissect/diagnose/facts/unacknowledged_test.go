package facts

import (
	"net/netip"
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/assert"
)

// TestUnacknowledged checks how long bytes must be sent again in vain, what is a copy of the same segment, how long a host
// must stand still before it acknowledges, and how long a pause of a path that works may be.
func TestUnacknowledged(t *testing.T) {
	a, b := netip.MustParseAddrPort("192.0.2.1:1021"), netip.MustParseAddrPort("192.0.2.2:988")
	segments := func(waited int64, ms ...float64) (*Facts, *Contact) {
		f := New()
		for i, at := range ms {
			f.segment(&lnet.TCPEvent{Frame: link.Frame{Number: int64(i + 1), Time: int64(at*1e6) + 1}, Src: a, Dst: b, FirstSent: 1, Waited: waited,
				TCPAnomalies: lnet.TCPAnomalies{Retransmissions: 1}})
		}
		return f, f.Contacts(a.Addr(), b.Addr())[0]
	}
	_, c := segments(0, 200, 2499)
	assert.Equal(t, len(c.Unacked), 0, "unacknowledged for 2.499 s")
	_, c = segments(0, 200, 2500)
	assert.Equal(t, len(c.Unacked), 1, "unacknowledged for 2.5 s")
	_, c = segments(0, 3000, 3000.999)
	assert.Equal(t, c.Unacked[0].Again, 1, "sent again, with a copy")
	_, c = segments(0, 3000, 3001)
	assert.Equal(t, c.Unacked[0].Again, 2, "sent again twice")
	_, c = segments(MinUnacknowledged, 200)
	assert.Equal(t, len(c.Thawed), 0, "waited for 2.5 s")
	_, c = segments(2501e6, 200)
	assert.Equal(t, len(c.Thawed), 1, "waited for longer")

	for probes := 1; probes <= minProbes; probes++ {
		f := New()
		for n := 1; n <= probes; n++ {
			f.segment(&lnet.TCPEvent{Frame: link.Frame{Number: int64(n), Time: int64(n) * 5 * second}, Src: a, Dst: b, FirstSent: 1, Probes: n})
		}
		assert.Equal(t, len(f.Contacts(a.Addr(), b.Addr())[0].Unacked), probes/minProbes, "keep-alive probes after one without an answer:", probes)
	}

	for _, x := range []struct {
		pause int64
		works int
	}{{8, 1}, {9, 0}} {
		f := New()
		for _, at := range []int64{0, x.pause} {
			f.contact(0, a.Addr(), b.Addr()).seen(Point{Frame: at + 1, Time: at * second})
			f.contact(0, b.Addr(), a.Addr()).seen(Point{Frame: at + 1, Time: at * second})
		}
		assert.Equal(t, len(f.BothWays(a.Addr(), b.Addr(), Span{0, x.pause * second})), x.works, "pause of", x.pause, "s")
	}
}

// TestSilenceEnds checks that a host is silent until its first frame, not until bytes of a connection are sent again that it has lost, and
// that it is not silent when it sends frames meanwhile.
func TestSilenceEnds(t *testing.T) {
	a, b := netip.MustParseAddrPort("192.0.2.1:1021"), netip.MustParseAddrPort("192.0.2.2:988")
	for _, tt := range []struct {
		frames []int64 // of the silent host, in seconds
		until  int64
	}{{[]int64{0, 20}, 20}, {[]int64{0}, 31}, {[]int64{0, 7, 14, 20}, 31}, {[]int64{0, 3, 40}, 31}} {
		f, frames := New(), tt.frames
		for i, at := range []int64{1, 2, 4, 8, 15, 31} {
			for len(frames) > 0 && frames[0] < at {
				f.contact(0, b.Addr(), a.Addr()).seen(Point{Time: frames[0]*second + 1})
				frames = frames[1:]
			}
			f.segment(&lnet.TCPEvent{Frame: link.Frame{Number: int64(i + 1), Time: at*second + 1}, Src: a, Dst: b, FirstSent: 1,
				TCPAnomalies: lnet.TCPAnomalies{Retransmissions: 1}})
		}
		unacked := f.Contacts(a.Addr(), b.Addr())[0].Unacked
		assert.That(t, len(unacked) == 1 && unacked[0].To == tt.until*second+1, "%v: %+v", tt.frames, unacked[0])
	}
}

// TestUnacknowledgedPackets checks that packets of InfiniBand count that were sent again three times since the receiver was heard last.
func TestUnacknowledgedPackets(t *testing.T) {
	a, b := netip.MustParseAddrPort("192.0.2.1:4791"), netip.MustParseAddrPort("192.0.2.2:4791")
	for _, tt := range []struct {
		refused int64 // second
		again   []int64
		want    int
	}{{0, []int64{2, 4, 6}, 1}, {0, []int64{9}, 0}, {0, []int64{2, 4}, 0}, {5, []int64{6, 6, 7}, 0}} {
		f := New()
		event := func(at int64, again bool) {
			f.packet(&lnet.IBEvent{Frame: link.Frame{Number: at + 1, Time: at*second + 1}, Src: a, Dst: b, Again: again, FirstSent: 1})
		}
		event(tt.refused, false)
		for i, at := range tt.again {
			event(at+int64(i)/10, true)
		}
		assert.Equal(t, len(f.Contacts(a.Addr(), b.Addr())[0].Unacked), tt.want, "refused at", tt.refused, "sent again at", tt.again)
		assert.Equal(t, f.Contacts(b.Addr(), a.Addr())[0].Span.From, tt.refused*second+1, "it is the receiver that refuses")
	}
}
