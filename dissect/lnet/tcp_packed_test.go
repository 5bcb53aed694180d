package lnet

import (
	"math/rand/v2"
	"net/netip"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestQuietMemory: connections that were only opened or kept alive take few bytes.
func TestQuietMemory(t *testing.T) {
	const conns, each = 4100, 320 // just more than there are buckets
	rounds := wiretest.Rounds(20)
	for name, play := range map[string]func(tc *wiretest.Conn){
		"SYN": func(tc *wiretest.Conn) { tc.Segment(&tc.A, &tc.B, tcpSYN, tc.A.Seq, nil) },
		"SYN, sent again": func(tc *wiretest.Conn) {
			for i := range 6 {
				tc.Now += 1e9 << i
				tc.Segment(&tc.A, &tc.B, tcpSYN, tc.A.Seq, nil)
			}
		},
		"opened": func(tc *wiretest.Conn) { tc.Open() },
		"kept alive": func(tc *wiretest.Conn) {
			tc.Open()
			keepAlive(tc, rounds)
		},
		"kept alive, in mid-stream": func(tc *wiretest.Conn) { keepAlive(tc, rounds) },
	} {
		d, tc := NewDecoder(Options{Want: skipAll}), wiretest.NewConn()
		begin, before := tc.Now, wiretest.Heap()
		for i := range conns {
			tc.A = wiretest.End{Addr: netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), Port: 1023, Seq: uint32(i) * 77777}
			tc.B.Seq, tc.Now = uint32(i)*99999, begin+int64(i)*1e6
			play(tc)
			for k := range tc.Frames {
				d.Frame(&tc.Frames[k])
			}
			tc.Frames = tc.Frames[:0]
		}
		n := (wiretest.Heap() - before) / conns
		t.Logf("%s: %d bytes", name, n)
		if n > each || d.Stats().TCP.Live != conns {
			t.Errorf("%s: %d bytes for each of %d connections", name, n, d.Stats().TCP.Live)
		}
		runtime.KeepAlive(d)
	}
}

// keepAlive adds probes of both ends, and their answers.
func keepAlive(tc *wiretest.Conn, n int) {
	for range n {
		tc.Now += 750e9
		ack(tc, &tc.A, &tc.B, tc.B.Seq)
		tc.Frames = tc.Frames[:len(tc.Frames)-1]
		tc.Segment(&tc.A, &tc.B, tcpACK, tc.A.Seq-1, nil)
		ack(tc, &tc.B, &tc.A, tc.A.Seq)
	}
}

// TestPacked: packing changes nothing of what is known of a connection without payload.
func TestPacked(t *testing.T) {
	packed := 0
	for seed := range uint64(1000) {
		rnd, tc := rand.New(rand.NewPCG(seed, 1)), wiretest.NewConn()
		tc.A.Seq, tc.B.Seq = rnd.Uint32(), rnd.Uint32()
		if rnd.IntN(2) == 0 {
			tc.Open()
		}
		for range 1 + rnd.IntN(8) {
			tc.Now += rnd.Int64N(1 << (1 + rnd.IntN(45)))
			from, to := &tc.A, &tc.B
			if rnd.IntN(2) == 0 {
				from, to = to, from
			}
			flags := []byte{tcpSYN, tcpSYN | tcpACK, tcpACK, tcpACK, tcpACK, tcpACK, tcpACK, tcpFIN | tcpACK}[rnd.IntN(8)]
			from.Seq += []uint32{0, 0, 0, 0, 1, 1500, 1<<32 - 1}[rnd.IntN(7)]
			tc.Segment(from, to, flags, from.Seq, nil)
		}
		d := NewDecoder(Options{Want: skipAll, Active: func(*Activity) {}})
		key, _ := bothWays(&link.Flow{Src: tc.A.Addr.As16(), Dst: tc.B.Addr.As16(), SrcPort: tc.A.Port, DstPort: tc.B.Port})
		c := d.tcp.connect(d.tcp.source(0), key)
		for i := range tc.Frames {
			c.quiet = false
			d.Frame(&tc.Frames[i])
			if c.removed || c.older() != nil || d.tcp.conns.live() != 1 {
				break // a SYN began another one
			}
			want := *c.streams
			for k := range want.half { // pack uses the histories again
				if a := &want.half[k].analysis; a.past != nil {
					past := *a.past
					past.times = slices.Clone(past.times)
					a.past = &past
				}
			}
			c.quiet = true
			if d.tcp.pack(c); c.streams != nil {
				break
			}
			packed++
			if d.tcp.unpack(c); !reflect.DeepEqual(&want, c.streams) {
				t.Fatalf("from %d bytes\n%+v\nwant\n%+v", len(c.packed), c.streams, &want)
			}
		}
	}
	if packed < 1000 {
		t.Errorf("only %d were packed", packed)
	}
}
