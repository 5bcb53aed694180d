package dissect

import (
	"flag"
	"net/netip"
	"runtime"
	"testing"

	"github.com/lshark/lshark/capture"
)

// TestPortReuse opens the same ports again, with an old segment arriving
// late and the first of the new data early.
func TestPortReuse(t *testing.T) {
	tp, w := opened()
	tp.send(false, w.put(64, 10))
	tp.send(false, w.put(128, 10)) // frame 7, late
	tp.a.seq, tp.b.seq = 1<<30, 1<<31
	tp.syn() // frames 8 to 10
	tp.send(false, joined(w.connreq(), w.hello(false), w.put(192, 10)))
	tp.send(true, w.hello(true))
	late := tp.frames[6]
	copy(tp.frames[6:], tp.frames[7:11]) // the new connection's first data before the old one's last
	tp.frames[10] = late
	tp.swap(6, 9) // and before its SYN
	got := tp.run(t, 8)
	conns := make(map[uint64]int)
	for _, m := range got {
		if m.m.LNetOff >= 0 {
			conns[m.m.LNet.MatchBits] = m.conn
		}
		if len(m.notes) > 0 {
			t.Errorf("%s: %v", m.what, m.notes)
		}
	}
	if conns[64] != 0 || conns[128] != 0 || conns[192] != 1 {
		t.Errorf("connections %v", conns)
	}
}

// TestJump: a capture that lacks very much of a connection still knows it.
func TestJump(t *testing.T) {
	tp, w := opened()
	tp.send(false, w.put(64, 10)).lose(100 << 20).other(3)
	for i := range uint64(4) {
		tp.send(false, w.put(128+i, 10))
	}
	got := tp.run(t, 7)
	if last := got[6]; last.conn != 0 || last.m.Version != 3 || got[3].m.LNet.MatchBits != 128 {
		t.Errorf("%+v", last.m)
	}
}

// TestSources: two capture points of one connection are two streams.
func TestSources(t *testing.T) {
	tp, w := opened()
	tp.send(false, w.put(64, 10))
	var both []capture.Frame
	for _, f := range tp.frames {
		g := f
		g.Source = 1
		both = append(both, f, g)
	}
	got, st := collect(renumber(both), StreamOptions{})
	if len(got) != 6 || st.Conns != 2 || st.Retransmitted != 0 {
		t.Errorf("%d messages, %+v", len(got), st)
	}
}

// TestPorts: only the ports asked for carry LNet.
func TestPorts(t *testing.T) {
	tp, w := opened()
	tp.send(false, w.put(64, 10))
	if got, st := collect(tp.frames, StreamOptions{Ports: []uint16{989, 1000}}); len(got) != 0 || st.TCP != 6 || st.Segments != 0 {
		t.Errorf("%d messages, %+v", len(got), st)
	}
	if got, _ := collect(tp.frames, StreamOptions{Ports: []uint16{989, 988}}); len(got) != 3 {
		t.Errorf("%d messages", len(got))
	}
}

// TestQuiet: in mid-stream nothing waits for frames that do not come.
func TestQuiet(t *testing.T) {
	tp, w := newTape(), wire{version: 3}
	tp.send(false, w.put(64, 10))
	n := 0
	s := NewStreams(StreamOptions{Handle: func(*Message) { n++ }})
	s.Frame(&tp.frames[0])
	if n != 0 {
		t.Error("the SYN was not waited for")
	}
	s.Quiet()
	if n != 1 {
		t.Error("the message still waits")
	}
}

// TestQueueIsFlat: connections whose SYN is waited for, one after the other,
// keep the queue from being empty, but do not let it grow.
func TestQueueIsFlat(t *testing.T) {
	tp, w := newTape(), wire{version: 3}
	s := NewStreams(StreamOptions{})
	for i := range 2000 {
		tp.a.port = uint16(1000 + i)
		tp.frames = tp.frames[:0]
		tp.send(false, w.put(64, 10)).other(reorder / 2)
		for k := range tp.frames {
			s.Frame(&tp.frames[k])
		}
		if n := len(s.source(0).queue); n > 4*reorder {
			t.Fatalf("after %d connections %d places in the queue, of which %d are done with", i+1, n, s.source(0).head)
		}
	}
}

// shortFlows makes n connections of a few frames each, the last one with these
// flags, and calls each with the number so far.
func shortFlows(s *Streams, n int, flags byte, each func(i int)) {
	tp := newTape()
	w := wire{version: 3}
	for i := range n {
		tp.frames = tp.frames[:0]
		tp.a = end{netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), uint16(512 + i%511), uint32(i) * 77777}
		tp.b.seq = uint32(i) * 99999
		tp.syn().send(false, w.connreq()).send(false, w.hello(false)).send(true, w.hello(true)).send(false, w.put(64, 10)[:100])
		tp.put(&tp.a, &tp.b, flags, tp.a.seq, nil)
		for k := range tp.frames {
			tp.frames[k].Number += int64(i) * 10
			s.Frame(&tp.frames[k])
		}
		each(i)
	}
}

var manyFlows = flag.Int("flows", 3*maxConns, "connections of TestManyFlows")

func TestManyFlows(t *testing.T) {
	s := NewStreams(StreamOptions{})
	var atFull uint64
	var m runtime.MemStats
	shortFlows(s, *manyFlows, tcpACK, func(i int) {
		if s.flows.live > maxConns {
			t.Fatalf("%d connections", s.flows.live)
		}
		if i == maxConns+maxConns/2 || i == *manyFlows-1 {
			runtime.GC()
			runtime.ReadMemStats(&m)
			if atFull == 0 {
				atFull = m.HeapAlloc
			}
		}
	})
	if m.HeapAlloc > atFull+atFull/8 {
		t.Errorf("%d bytes, with more connections %d", atFull, m.HeapAlloc)
	}
	t.Logf("%d MB", m.HeapAlloc>>20)
	if st := s.Stats(); st.Evicted != int64(*manyFlows-maxConns) || len(s.flows.conns) != maxConns {
		t.Errorf("%+v", st)
	}
}

// TestClosedFlows: closed connections do not pile up.
func TestClosedFlows(t *testing.T) {
	s := NewStreams(StreamOptions{})
	shortFlows(s, 10*maxClosed, tcpRST, func(i int) {
		if s.flows.live > maxClosed+2 {
			t.Fatalf("%d connections", s.flows.live)
		}
	})
}

// TestIdle: connections that nothing was heard of for long are forgotten,
// closed ones sooner.
func TestIdle(t *testing.T) {
	for _, c := range []struct {
		flags byte
		after int64
		live  int
	}{{tcpACK, maxIdle - 1e9, 2}, {tcpACK, maxIdle + 1e9, 1}, {tcpRST, closedIdle + 1e9, 1}, {tcpRST, closedIdle - 1e9, 2}} {
		tp, _ := opened()
		tp.put(&tp.a, &tp.b, c.flags, tp.a.seq, nil)
		tp.now += c.after
		tp.a.port++
		tp.syn()
		if _, st := collect(tp.frames, StreamOptions{}); st.Live != c.live {
			t.Errorf("%+v: %d live", c, st.Live)
		}
	}
}
