package lnet

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/wiretest"
)

// opened is a connection after the hellos, version 3.
func opened() (*wiretest.Conn, wiretest.Socklnd) {
	w := wiretest.Socklnd{Version: 3}
	return wiretest.NewConn().Open().Send(false, w.Connreq()).Send(false, w.Hello(false)), w
}

// TestFrameOfMessage: a message belongs to the frame that completed it, behind
// a gap to the frame that filled the gap.
func TestFrameOfMessage(t *testing.T) {
	tp, w := opened() // 5 frames
	tp.Send(false, w.Put(64, 10)).Send(false, w.Put(128, 10)).Send(false, w.Put(192, 10))
	tp.Swap(5, 7)
	got := run(t, tp, 5)
	if got[2].m.LNet.MatchBits != 64 || got[2].frame != 8 || got[3].frame != 8 || got[4].frame != 8 {
		t.Errorf("frames %d %d %d", got[2].frame, got[3].frame, got[4].frame)
	}
}

// TestLostPayload: a gap in a payload is a hole of known length.
func TestLostPayload(t *testing.T) {
	tp, w := opened()
	m := w.Put(64, 1000)
	tp.Send(false, m[:300]).Lose(200).Send(false, m[500:]).Send(true, nil)
	tp.OtherFrames(ReorderFrames + 1)
	tp.Send(false, w.Put(128, 10))
	got := run(t, tp, 4)
	lost := got[2].m
	if want := []Hole{{300, 200, Lost}}; !slices.Equal(lost.Holes, want) || got[2].frame != 7 || lost.Tail != Present {
		t.Errorf("frame %d holes %v tail %v", got[2].frame, lost.Holes, lost.Tail)
	}
	want := wiretest.Join(m[:300], make([]byte, 200), m[500:])
	if !bytes.Equal(lost.Data, want) || lost.Missing(310, 8) != Lost || lost.Missing(0, 300) != Present {
		t.Error("the data around the hole are wrong")
	}
	if len(lost.Notes) != 1 || lost.Notes[0].Code != "gap" {
		t.Errorf("%v", lost.Notes)
	}
	if len(got[3].notes) > 0 {
		t.Errorf("%v", got[3].notes)
	}
}

// TestCutManyTimes: however many frames the snaplen cut, one note says so.
func TestCutManyTimes(t *testing.T) {
	tp, w := opened()
	tp.SendSplit(w.Put(64, 1000), 250)
	for i := range tp.Frames {
		tp.Frames[i].Data = tp.Frames[i].Data[:min(256, len(tp.Frames[i].Data))]
	}
	got := run(t, tp, 3)
	m := got[2].m
	if len(m.Notes) != 1 || m.Notes[0].Text != "192 bytes of this message are cut by the snaplen" || len(m.Holes) != 4 || m.Frame != 6 {
		t.Errorf("frame %d, holes %v, %v", m.Frame, m.Holes, m.Notes)
	}
}

// TestLostInSkipped: a gap in bulk nobody wants costs nothing.
func TestLostInSkipped(t *testing.T) {
	tp, w := opened()
	m := w.Put(64, 100000)
	tp.SendSplit(m[:50000], 1448).Lose(1448).SendSplit(m[51448:], 1448).Send(false, w.Put(128, 10)).Send(true, nil).OtherFrames(ReorderFrames)
	got, st := collect(tp.Frames, Options{Want: func(m *Message) int { return 100 }})
	if len(got) != 4 || got[2].m.Tail != Skipped || len(got[2].m.Holes) > 0 || len(got[2].notes) > 0 || len(got[2].m.Payload()) != 100 {
		t.Fatalf("%+v", got)
	}
	if st.TCP.Gaps != 1 || st.TCP.LostBytes != 1448 || st.TCP.SkippedLost != 1448 || st.TCP.NotCopied == 0 {
		t.Errorf("%+v", st)
	}
}

// TestLostHeader: a gap over a header costs this message; the note tells how
// much was passed over.
func TestLostHeader(t *testing.T) {
	tp, w := opened()
	first, second := w.Put(64, 1000), w.Put(128, 1000)
	stream := wiretest.Join(first, second, w.Put(192, 400), w.Put(256, 10))
	cut := len(first) - 10
	tp.Send(false, stream[:cut]).Lose(200).Send(false, stream[cut+200:]).Send(true, nil).OtherFrames(ReorderFrames)
	got := run(t, tp, 5)
	if got[2].m.Tail != Lost || got[2].m.Size != len(first) || len(got[2].m.Data) != cut {
		t.Errorf("%+v", got[2].m)
	}
	skipped := len(second)
	if n := got[3].notes; got[3].m.LNet.MatchBits != 192 || len(n) != 1 || n[0].Text != fmt.Sprintf("%d bytes before this message could not be read", skipped) {
		t.Errorf("%+v %v", got[3].m.LNet, n)
	}
}

// TestPayloadLikeHeader: bytes of a payload that look like a message are none,
// in step and while a header is searched.
func TestPayloadLikeHeader(t *testing.T) {
	_, w := opened()
	fake := wiretest.Join(make([]byte, 50), w.Put(999, 20), make([]byte, 33), w.Put(999, 0), bytes.Repeat([]byte{0xc0, 0, 0, 0}, 20), make([]byte, 40))
	real := w.LNet(false, wiretest.Put, 12, 64, fake)
	for size := 30; size < len(real); size += 11 {
		for dropped := -1; dropped*size < len(real); dropped++ {
			tp, _ := opened()
			stream := wiretest.Join(w.Put(1, 5), real, w.Put(2, 5), real, w.Put(3, 5))
			tp.SendSplit(stream, size)
			if dropped >= 0 {
				tp.Frames = slices.Delete(tp.Frames, 5+dropped, 6+dropped)
			}
			got, _ := collect(wiretest.Renumber(tp.Frames), Options{})
			for _, m := range got {
				if m.m.LNet.MatchBits == 999 {
					t.Fatalf("segments of %d, without the one numbered %d: taken for a message", size, dropped)
				}
			}
			if dropped < 0 && len(got) != 7 {
				t.Fatalf("segments of %d: %d messages", size, len(got))
			}
		}
	}
}

// TestWrapAround lets the sequence numbers wrap inside a message, in order and
// not.
func TestWrapAround(t *testing.T) {
	for before := uint32(0); before < 400; before += 13 {
		tp, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
		tp.A.Seq = -(before + 16 + 56 + 1)
		tp.Open().Send(false, w.Connreq()).Send(false, w.Hello(false))
		tp.SendSplit(wiretest.Join(w.Put(64, 100), w.Put(128, 100), w.Put(192, 100)), 77)
		tp.Swap(6, 8)
		run(t, tp, 5)
	}
}

// TestOverlap: of bytes sent twice the first copy counts.
func TestOverlap(t *testing.T) {
	tp, w := opened()
	m := w.Put(64, 400)
	seq := tp.A.Seq
	liar := bytes.Repeat([]byte{0xee}, len(m))
	put := func(b []byte, from, to int) { tp.Segment(&tp.A, &tp.B, tcpACK, seq+uint32(from), b[from:to]) }
	put(m, 200, 300)    // held
	put(m, 0, 100)      // in order
	put(liar, 50, 100)  // nothing new
	put(liar, 250, 280) // nothing new
	put(m, 350, len(m)) // held
	put(m, 100, 150)    // in order
	mix := wiretest.Join(liar[:150], m[150:200], liar[200:300], m[300:350], liar[350:])
	put(mix, 120, len(m)) // fills both gaps, differs where bytes are there
	tp.A.Seq += uint32(len(m))
	got := run(t, tp, 3)
	if d := got[2].m.Data; !bytes.Equal(d[:120], m[:120]) || !bytes.Equal(d[150:], m[150:]) || !bytes.Equal(d, m) {
		t.Errorf("%x", d)
	}
}

// TestRetransmitted: a gap filled late is noted on the message that was hit.
func TestRetransmitted(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{time.Millisecond, 0}, {20 * time.Millisecond, 1}} {
		tp, w := opened()
		m := w.Put(64, 300)
		tp.Send(false, w.Put(1, 1))
		seq := tp.A.Seq
		tp.Segment(&tp.A, &tp.B, tcpACK, seq+100, m[100:])
		tp.Now += int64(c.after)
		tp.Segment(&tp.A, &tp.B, tcpACK, seq, m[:100])
		tp.A.Seq = seq + uint32(len(m))
		got := run(t, tp.Send(false, w.Put(128, 1)), 5)
		if len(got[2].notes) != 0 || len(got[3].notes) != c.want || len(got[4].notes) != 0 {
			t.Errorf("after %v: %v %v %v", c.after, got[2].notes, got[3].notes, got[4].notes)
		}
	}
}

// TestPatience: when a gap is given up.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(tp *wiretest.Conn, w wiretest.Socklnd)
		want bool
	}{
		{"nothing more", func(tp *wiretest.Conn, w wiretest.Socklnd) {}, false},
		{"acknowledged, soon", func(tp *wiretest.Conn, w wiretest.Socklnd) { tp.Send(true, nil).OtherFrames(ReorderFrames - 10) }, false},
		{"acknowledged, later", func(tp *wiretest.Conn, w wiretest.Socklnd) { tp.Send(true, nil).OtherFrames(ReorderFrames) }, true},
		{"not acknowledged", func(tp *wiretest.Conn, w wiretest.Socklnd) {
			tp.Segment(&tp.B, &wiretest.End{Addr: tp.A.Addr, Port: tp.A.Port, Seq: tp.A.Seq - 500}, tcpACK, tp.B.Seq, nil)
			tp.OtherFrames(5 * ReorderFrames)
		}, false},
		{"one side only", func(tp *wiretest.Conn, w wiretest.Socklnd) {
			for i := range uint64(maxUnacked) {
				tp.Send(false, w.Put(1000+i, 0))
			}
		}, true},
		{"a long time", func(tp *wiretest.Conn, w wiretest.Socklnd) {
			tp.OtherFrames(ReorderFrames)
			tp.Now += maxGapAge
			tp.OtherFrames(1)
		}, true},
		{"the end of the connection", func(tp *wiretest.Conn, w wiretest.Socklnd) {
			tp.Segment(&tp.A, &tp.B, tcpFIN|tcpACK, tp.A.Seq, nil)
			tp.OtherFrames(ReorderFrames)
		}, true},
		{"a new connection", func(tp *wiretest.Conn, w wiretest.Socklnd) {
			tp.A.Seq, tp.B.Seq = 1<<31, 1<<31
			tp.Open().OtherFrames(ReorderFrames)
		}, true},
		{"too much", func(tp *wiretest.Conn, w wiretest.Socklnd) {
			for range 9 {
				tp.SendSplit(w.Put(1000, 1<<20-1000), 60000)
			}
		}, true},
	} {
		tp, w := opened()
		tp.Send(false, w.Put(64, 10)).Lose(200).Send(false, w.Put(192, 10)).Send(false, w.Put(256, 10))
		c.then(tp, w)
		found := false
		s := NewDecoder(Options{Handle: func(m *Message) { found = found || m.LNet.MatchBits == 192 }})
		for i := range tp.Frames {
			s.Frame(&tp.Frames[i])
		}
		if found != c.want {
			t.Errorf("%s: given up is %v", c.name, found)
		}
		s.Close()
		if !found {
			t.Errorf("%s: not even at the end", c.name)
		}
	}
}

// TestBound: whatever comes, no more than the bounds is held.
func TestBound(t *testing.T) {
	const total = 8 << 20
	most := 0
	s := NewDecoder(Options{MaxStream: 1 << 20, MaxTotal: total})
	for c := range 64 {
		tp, w := opened()
		for i := range tp.Frames {
			s.Frame(&tp.Frames[i])
		}
		big := w.Put(64, 1<<20)
		next := wiretest.NewConn()
		next.A.Port = uint16(600 + c)
		next.Open().Send(false, w.Connreq()).Send(false, w.Hello(false)).SendSplit(big[:300000], 60000).Lose(1).SendSplit(big[300001:900000], 60000)
		for i := range next.Frames {
			s.Frame(&next.Frames[i])
			most = max(most, s.Stats().Held)
		}
	}
	if most > total+2<<20 || most < total/2 {
		t.Errorf("%d bytes held", most)
	}
	s.Close()
	if h := s.Stats().Held; h != 0 {
		t.Errorf("%d bytes held at the end", h)
	}
}

// noted counts the bytes that are noted about held ones.
func (s *Decoder) noted() (n int) {
	for c := s.tcp.conns.open.next; c != &s.tcp.conns.open; c = c.next {
		for i := range c.half {
			r := &c.half[i]
			f := &r.framer
			n += len(r.held)*pieceSize + len(f.resync.marks)*markSize + len(f.msg.holes)*holeSize + len(f.frames)*frameSize
		}
	}
	return n
}

// TestBoundOfTiny: where segments are tiny, what is noted about them is bounded
// too.
func TestBoundOfTiny(t *testing.T) {
	const conns, segments, total = 8, 4000, 200 << 10
	tiny := func(tp *wiretest.Conn, b []byte, captured int) {
		tp.Send(false, b)
		f := &tp.Frames[len(tp.Frames)-1]
		f.Data = f.Data[:len(f.Data)-len(b)+captured]
	}
	for _, c := range []struct {
		name  string
		begin func(tp *wiretest.Conn, w wiretest.Socklnd)
		each  func(tp *wiretest.Conn)
	}{
		{"pieces", func(tp *wiretest.Conn, w wiretest.Socklnd) { tp.Open().Lose(1 << 20) },
			func(tp *wiretest.Conn) { tiny(tp.Lose(1), make([]byte, 1), 0) }},
		{"marks", func(tp *wiretest.Conn, w wiretest.Socklnd) { tp.Send(false, w.Put(64, 1<<20)[:100]) },
			func(tp *wiretest.Conn) { tiny(tp, make([]byte, 1), 1) }},
		{"holes", func(tp *wiretest.Conn, w wiretest.Socklnd) { tp.Open().Send(false, w.Put(64, 3*segments)[:200]) },
			func(tp *wiretest.Conn) { tiny(tp, make([]byte, 2), 1) }},
		{"carriers", func(tp *wiretest.Conn, w wiretest.Socklnd) { tp.Open().Send(false, w.Put(64, 1<<20)[:200]) },
			func(tp *wiretest.Conn) { tiny(tp, make([]byte, 1), 1) }},
	} {
		var last *Message
		s := NewDecoder(Options{MaxTotal: total, Frames: c.name == "carriers", Want: func(m *Message) int {
			if c.name == "holes" {
				return m.Size
			}
			return 0
		}, Handle: func(m *Message) { last = m.Clone() }})
		var tapes [conns]*wiretest.Conn
		most, number := 0, int64(0)
		play := func(tp *wiretest.Conn) {
			for i := range tp.Frames {
				number++
				tp.Frames[i].Number = number
				s.Frame(&tp.Frames[i])
			}
			tp.Frames = tp.Frames[:0]
		}
		for i := range tapes {
			tapes[i] = wiretest.NewConn()
			tapes[i].A.Port = uint16(600 + i)
			c.begin(tapes[i], wiretest.Socklnd{Version: 3})
			play(tapes[i])
		}
		for k := range segments {
			for _, tp := range tapes {
				if c.each(tp); k%100 == 0 {
					tp.Segment(&tp.B, &wiretest.End{Addr: tp.A.Addr, Port: tp.A.Port, Seq: wiretest.ISNOfA}, tcpACK, tp.B.Seq, nil) // it is not silent
				}
				play(tp)
			}
			most = max(most, s.noted())
		}
		if most > total+conns*100 || most < total/4 {
			t.Errorf("%s: %d bytes are noted", c.name, most)
		}
		if s.Close(); s.Stats().Held != 0 {
			t.Errorf("%s: %d bytes held at the end", c.name, s.Stats().Held)
		}
		if c.name == "holes" && (last == nil || last.Tail == Present || len(last.Holes) > total/holeSize) {
			t.Errorf("%+v", last)
		}
	}
}

// TestNotLNet: bytes without any header are passed over cheaply; LNet that
// comes later is found.
func TestNotLNet(t *testing.T) {
	tp, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
	tp.Open()
	junk := bytes.Repeat([]byte("GET / HTTP/1.1\r\n\x00\x00\x00\x00"), 3000)
	for range 2 * maxSearch / len(junk) {
		tp.Send(false, junk)
	}
	for i := range uint64(3) {
		tp.Send(false, w.Put(i, 300))
	}
	got, st := collect(tp.Frames, Options{})
	if st.TCP.NotLNet != 1 || len(got) != 3 {
		t.Errorf("%d messages, %+v", len(got), st)
	}
}
