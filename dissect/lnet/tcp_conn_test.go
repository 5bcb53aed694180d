package lnet

import (
	"flag"
	"net/netip"
	"runtime"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestPortReuse opens the same ports again, with an old segment arriving
// late and the first of the new data early.
func TestPortReuse(t *testing.T) {
	tc, w := opened()
	tc.Send(false, w.Put(64, 10))
	tc.Send(false, w.Put(128, 10)) // frame 7, late
	tc.A.Seq, tc.B.Seq = 1<<30, 1<<31
	tc.Open() // frames 8 to 10
	tc.Send(false, wiretest.Join(w.Connreq(), w.Hello(false), w.Put(192, 10)))
	tc.Send(true, w.Hello(true))
	late := tc.Frames[6]
	copy(tc.Frames[6:], tc.Frames[7:11]) // the new connection's first data before the old one's last
	tc.Frames[10] = late
	tc.Swap(6, 9) // and before its SYN
	got := run(t, tc, 8)
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

// TestLargeGap: a connection is recognized behind a very large gap.
func TestLargeGap(t *testing.T) {
	tc, w := opened()
	tc.Send(false, w.Put(64, 10)).Lose(100 << 20).OtherFrames(3)
	for i := range uint64(4) {
		tc.Send(false, w.Put(128+i, 10))
	}
	got := run(t, tc, 7)
	if last := got[6]; last.conn != 0 || last.m.Version != 3 || got[3].m.LNet.MatchBits != 128 {
		t.Errorf("%+v", last.m)
	}
}

// TestSources: two capture points of one connection are two streams.
func TestSources(t *testing.T) {
	tc, w := opened()
	tc.Send(false, w.Put(64, 10))
	var both []capture.Frame
	for _, f := range tc.Frames {
		g := f
		g.Source = 1
		both = append(both, f, g)
	}
	got, st := collect(wiretest.Renumber(both), Options{})
	if len(got) != 6 || st.TCP.Conns != 2 || st.TCP.Marks != (TCPAnomalies{}) {
		t.Errorf("%d messages, %+v", len(got), st)
	}
}

// TestPorts: only segments on the given ports are read.
func TestPorts(t *testing.T) {
	tc, w := opened()
	tc.Send(false, w.Put(64, 10))
	if got, st := collect(tc.Frames, Options{Ports: []uint16{989, 1000}}); len(got) != 0 || st.TCP.Frames != 6 || st.TCP.Segments != 0 {
		t.Errorf("%d messages, %+v", len(got), st)
	}
	if got, _ := collect(tc.Frames, Options{Ports: []uint16{989, 988}}); len(got) != 3 {
		t.Errorf("%d messages", len(got))
	}
}

// TestQuiet: in mid-stream no message waits for frames that do not come.
func TestQuiet(t *testing.T) {
	tc, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
	tc.Send(false, w.Put(64, 10))
	n := 0
	s := NewDecoder(Options{Handle: func(*Message) { n++ }})
	s.Frame(&tc.Frames[0])
	if n != 0 {
		t.Error("the SYN was not waited for")
	}
	s.Flush()
	if n != 1 {
		t.Error("the message still waits")
	}
}

// TestQueueIsFlat: connections without a SYN, one after the other, keep the queue from
// being empty, but it does not grow.
func TestQueueIsFlat(t *testing.T) {
	tc, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
	s := NewDecoder(Options{})
	for i := range 2000 {
		tc.A.Port = uint16(1000 + i)
		tc.Frames = tc.Frames[:0]
		tc.Send(false, w.Put(64, 10)).OtherFrames(ReorderFrames / 2)
		for k := range tc.Frames {
			s.Frame(&tc.Frames[k])
		}
		if n := len(s.tcp.source(0).queue); n > 4*ReorderFrames {
			t.Fatalf("after %d connections %d places in the queue, of which %d are delivered", i+1, n, s.tcp.source(0).head)
		}
	}
}

// shortFlows makes n connections of a few frames each, the last one with these
// flags, and calls each with the number so far.
func shortFlows(s *Decoder, n int, flags byte, each func(i int)) {
	tc := wiretest.NewConn()
	w := wiretest.Socklnd{Version: 3}
	connreq, hello, answer, put := w.Connreq(), w.Hello(false), w.Hello(true), w.Put(64, 10)[:100]
	for i := range n {
		tc.Frames = tc.Frames[:0]
		tc.A = wiretest.End{Addr: netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), Port: uint16(512 + i%511), Seq: uint32(i) * 77777}
		tc.B.Seq = uint32(i) * 99999
		tc.Open().Send(false, connreq).Send(false, hello).Send(true, answer).Send(false, put)
		tc.Segment(&tc.A, &tc.B, flags, tc.A.Seq, nil)
		for k := range tc.Frames {
			tc.Frames[k].Number += int64(i) * 10
			s.Frame(&tc.Frames[k])
		}
		each(i)
	}
}

var manyFlows = flag.Int("flows", maxConns+maxConns/4, "connections of TestManyFlows")

func TestManyFlows(t *testing.T) {
	s := NewDecoder(Options{})
	var atFull, held int64
	shortFlows(s, *manyFlows, tcpACK, func(i int) {
		if s.tcp.conns.live() > maxConns {
			t.Fatalf("%d connections", s.tcp.conns.live())
		}
		if i == maxConns+maxConns/8 || i == *manyFlows-1 {
			if held = wiretest.Heap(); atFull == 0 {
				atFull = held
			}
		}
	})
	if held > atFull+atFull/64 {
		t.Errorf("%d bytes, with more connections %d", atFull, held)
	}
	t.Logf("%d MB", held>>20)
	if st := s.Stats(); st.TCP.Evicted != int64(*manyFlows-maxConns) || s.tcp.conns.live() != maxConns {
		t.Errorf("%+v", st)
	}
}

// TestClosedFlows: closed connections do not pile up.
func TestClosedFlows(t *testing.T) {
	s := NewDecoder(Options{})
	shortFlows(s, 2*maxClosed, tcpRST, func(i int) {
		if s.tcp.conns.live() > maxClosed+2 {
			t.Fatalf("%d connections", s.tcp.conns.live())
		}
	})
}

// TestIdle: connections without segments for long are removed, closed ones sooner.
func TestIdle(t *testing.T) {
	for _, c := range []struct {
		flags byte
		after int64
		live  int
	}{{tcpACK, maxIdle - 1e9, 2}, {tcpACK, maxIdle + 1e9, 1}, {tcpRST, closedIdle + 1e9, 1}, {tcpRST, closedIdle - 1e9, 2}} {
		tc, _ := opened()
		tc.Segment(&tc.A, &tc.B, c.flags, tc.A.Seq, nil)
		tc.Now += c.after
		tc.A.Port++
		tc.Open()
		if _, st := collect(tc.Frames, Options{}); st.TCP.Live != c.live {
			t.Errorf("%+v: %d live", c, st.TCP.Live)
		}
	}
}

// TestPortReuseInMidStream opens ports again of which the capture has only the end of the
// connection before: its segments say nothing about the new one.
func TestPortReuseInMidStream(t *testing.T) {
	w := wiretest.Socklnd{Version: 3}
	for name, end := range map[string]func(tc *wiretest.Conn){
		"ACK of A":      func(tc *wiretest.Conn) { ack(tc, &tc.A, &tc.B, tc.B.Seq) },
		"ACK of B":      func(tc *wiretest.Conn) { ack(tc, &tc.B, &tc.A, tc.A.Seq) },
		"data of A":     func(tc *wiretest.Conn) { tc.Send(false, w.Put(64, 10)) },
		"data of B":     func(tc *wiretest.Conn) { tc.Send(true, w.Put(64, 10)) },
		"RST of A":      func(tc *wiretest.Conn) { tc.Segment(&tc.A, &tc.B, tcpRST, tc.A.Seq, nil) },
		"RST with data": func(tc *wiretest.Conn) { tc.Segment(&tc.A, &tc.B, tcpRST, tc.A.Seq, []byte("no memory")) },
		"ACK, RST of B": func(tc *wiretest.Conn) {
			ack(tc, &tc.A, &tc.B, tc.B.Seq)
			tc.Segment(&tc.B, &tc.A, tcpRST|tcpACK, tc.B.Seq, nil)
		},
		"ACK of A, RST of both": func(tc *wiretest.Conn) {
			ack(tc, &tc.A, &tc.B, tc.B.Seq)
			tc.Segment(&tc.B, &tc.A, tcpRST, tc.B.Seq, nil)
			tc.Segment(&tc.A, &tc.B, tcpRST, tc.A.Seq, nil)
		},
	} {
		for _, first := range []uint32{2 << 28, 3 << 28, 14 << 28, 1 << 24, 0xffff0000} { // sequence number, that of the next connection is 0
			tc := wiretest.NewConn()
			tc.A.Seq, tc.B.Seq = first, first+1<<28
			end(tc)
			tc.A.Seq, tc.B.Seq = 0, 1<<28
			tc.Open()
			tc.Send(false, wiretest.Join(w.Connreq(), w.Hello(false))).Send(true, w.Hello(true))
			for i := range uint64(4) {
				tc.Now += 1e9
				tc.Send(false, w.Put(128+i*64, 10)).Send(true, w.Put(128+i*64, 10))
			}
			got, st := collect(tc.Frames, Options{})
			if lost := losses(tc.Frames); len(lost) > 0 || st.TCP.Marks.Retransmissions > 0 || st.TCP.Marks.OutOfOrder > 0 {
				t.Errorf("%s, from %d: lost %v, %+v", name, first, lost, st.TCP.Marks)
			}
			if n := len(got); n < 11 || got[n-1].m.Version != 3 {
				t.Errorf("%s, from %d: %d messages", name, first, n)
			}
		}
	}
}

// TestIdleMemory: connections that had traffic and are idle keep little memory.
func TestIdleMemory(t *testing.T) {
	const conns, each = 4096, 1536
	d := NewDecoder(Options{Want: skipAll})
	tc, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
	play := func() {
		for k := range tc.Frames {
			d.Frame(&tc.Frames[k])
		}
		tc.Frames = tc.Frames[:0]
	}
	var puts [50][]byte
	for m := range puts {
		puts[m] = w.Put(64*uint64(m), 200)
	}
	before := wiretest.Heap()
	for i := range conns {
		tc.A = wiretest.End{Addr: netip.AddrFrom4([4]byte{10, 0, byte(i >> 8), byte(i)}), Port: 1023, Seq: uint32(i) * 77777}
		tc.B.Seq = uint32(i) * 99999
		tc.Open().Send(false, w.Connreq()).Send(false, w.Hello(false)).Send(true, w.Hello(true))
		for _, put := range puts {
			tc.Now += 1e6
			tc.Send(false, put).Send(true, put)
		}
		ack(tc, &tc.A, &tc.B, tc.B.Seq)
		play()
	}
	t.Logf("%d bytes for a connection in use", (wiretest.Heap()-before)/conns)
	for range conns/2 + 10 {
		tc.Now += 1.1e9
		ack(tc, &tc.A, &tc.B, tc.B.Seq)
		play()
	}
	n := (wiretest.Heap() - before) / conns
	t.Logf("%d bytes for an idle one", n)
	if n > each {
		t.Errorf("%d bytes for a connection", n)
	}
	runtime.KeepAlive(d)
}
