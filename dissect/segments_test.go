package dissect

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"
)

// opened is a connection after the hellos, version 3.
func opened() (*tape, wire) {
	w := wire{version: 3}
	return newTape().syn().send(false, w.connreq()).send(false, w.hello(false)), w
}

// swap exchanges two frames.
func (tp *tape) swap(i, j int) {
	tp.frames[i], tp.frames[j] = tp.frames[j], tp.frames[i]
	renumber(tp.frames)
}

// TestFrameOfMessage: a message belongs to the frame that completed it, behind
// a gap to the frame that filled the gap.
func TestFrameOfMessage(t *testing.T) {
	tp, w := opened() // 5 frames
	tp.send(false, w.put(64, 10)).send(false, w.put(128, 10)).send(false, w.put(192, 10))
	tp.swap(5, 7)
	got := tp.run(t, 5)
	if got[2].m.LNet.MatchBits != 64 || got[2].frame != 8 || got[3].frame != 8 || got[4].frame != 8 {
		t.Errorf("frames %d %d %d", got[2].frame, got[3].frame, got[4].frame)
	}
}

// TestLostPayload: a gap in a payload is a hole of known length.
func TestLostPayload(t *testing.T) {
	tp, w := opened()
	m := w.put(64, 1000)
	tp.send(false, m[:300]).lose(200).send(false, m[500:]).send(true, nil)
	tp.other(reorder + 1)
	tp.send(false, w.put(128, 10))
	got := tp.run(t, 4)
	lost := got[2].m
	if want := []Hole{{300, 200, Lost}}; !slices.Equal(lost.Holes, want) || got[2].frame != 7 || lost.Tail != Present {
		t.Errorf("frame %d holes %v tail %v", got[2].frame, lost.Holes, lost.Tail)
	}
	want := joined(m[:300], make([]byte, 200), m[500:])
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
	tp.cut(w.put(64, 1000), 250)
	for i := range tp.frames {
		tp.frames[i].Data = tp.frames[i].Data[:min(256, len(tp.frames[i].Data))]
	}
	got := tp.run(t, 3)
	m := got[2].m
	if len(m.Notes) != 1 || m.Notes[0].Text != "192 bytes of this message are cut by the snaplen" || len(m.Holes) != 4 || m.Frame != 6 {
		t.Errorf("frame %d, holes %v, %v", m.Frame, m.Holes, m.Notes)
	}
}

// TestLostInSkipped: a gap in bulk nobody wants costs nothing.
func TestLostInSkipped(t *testing.T) {
	tp, w := opened()
	m := w.put(64, 100000)
	tp.cut(m[:50000], 1448).lose(1448).cut(m[51448:], 1448).send(false, w.put(128, 10)).send(true, nil).other(reorder)
	got, st := collect(tp.frames, StreamOptions{Want: func(m *Message) int { return 100 }})
	if len(got) != 4 || got[2].m.Tail != Skipped || len(got[2].m.Holes) > 0 || len(got[2].notes) > 0 || len(got[2].m.Payload()) != 100 {
		t.Fatalf("%+v", got)
	}
	if st.Gaps != 1 || st.LostBytes != 1448 || st.SkippedLost != 1448 || st.NotCopied == 0 {
		t.Errorf("%+v", st)
	}
}

// TestLostHeader: a gap over a header costs this message; the note tells how
// much was passed over.
func TestLostHeader(t *testing.T) {
	tp, w := opened()
	first, second := w.put(64, 1000), w.put(128, 1000)
	stream := joined(first, second, w.put(192, 400), w.put(256, 10))
	cut := len(first) - 10
	tp.send(false, stream[:cut]).lose(200).send(false, stream[cut+200:]).send(true, nil).other(reorder)
	got := tp.run(t, 5)
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
	fake := joined(make([]byte, 50), w.put(999, 20), make([]byte, 33), w.put(999, 0), bytes.Repeat([]byte{0xc0, 0, 0, 0}, 20), make([]byte, 40))
	real := w.lnet(false, LNetPut, 12, 64, fake)
	for size := 30; size < len(real); size += 11 {
		for dropped := -1; dropped*size < len(real); dropped++ {
			tp, _ := opened()
			stream := joined(w.put(1, 5), real, w.put(2, 5), real, w.put(3, 5))
			tp.cut(stream, size)
			if dropped >= 0 {
				tp.frames = slices.Delete(tp.frames, 5+dropped, 6+dropped)
			}
			got, _ := collect(renumber(tp.frames), StreamOptions{})
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
		tp, w := newTape(), wire{version: 3}
		tp.a.seq = -(before + 16 + 56 + 1)
		tp.syn().send(false, w.connreq()).send(false, w.hello(false))
		tp.cut(joined(w.put(64, 100), w.put(128, 100), w.put(192, 100)), 77)
		tp.swap(6, 8)
		tp.run(t, 5)
	}
}

// TestOverlap: of bytes sent twice the first copy counts.
func TestOverlap(t *testing.T) {
	tp, w := opened()
	m := w.put(64, 400)
	seq := tp.a.seq
	liar := bytes.Repeat([]byte{0xee}, len(m))
	put := func(b []byte, from, to int) { tp.put(&tp.a, &tp.b, tcpACK, seq+uint32(from), b[from:to]) }
	put(m, 200, 300)    // held
	put(m, 0, 100)      // in order
	put(liar, 50, 100)  // nothing new
	put(liar, 250, 280) // nothing new
	put(m, 350, len(m)) // held
	put(m, 100, 150)    // in order
	mix := joined(liar[:150], m[150:200], liar[200:300], m[300:350], liar[350:])
	put(mix, 120, len(m)) // fills both gaps, differs where bytes are there
	tp.a.seq += uint32(len(m))
	got := tp.run(t, 3)
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
		m := w.put(64, 300)
		tp.send(false, w.put(1, 1))
		seq := tp.a.seq
		tp.put(&tp.a, &tp.b, tcpACK, seq+100, m[100:])
		tp.now += int64(c.after)
		tp.put(&tp.a, &tp.b, tcpACK, seq, m[:100])
		tp.a.seq = seq + uint32(len(m))
		got := tp.send(false, w.put(128, 1)).run(t, 5)
		if len(got[2].notes) != 0 || len(got[3].notes) != c.want || len(got[4].notes) != 0 {
			t.Errorf("after %v: %v %v %v", c.after, got[2].notes, got[3].notes, got[4].notes)
		}
	}
}

// TestPatience: when a gap is given up.
func TestPatience(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(tp *tape, w wire)
		want bool
	}{
		{"nothing more", func(tp *tape, w wire) {}, false},
		{"acknowledged, soon", func(tp *tape, w wire) { tp.send(true, nil).other(reorder - 10) }, false},
		{"acknowledged, later", func(tp *tape, w wire) { tp.send(true, nil).other(reorder) }, true},
		{"not acknowledged", func(tp *tape, w wire) {
			tp.put(&tp.b, &end{tp.a.addr, tp.a.port, tp.a.seq - 500}, tcpACK, tp.b.seq, nil)
			tp.other(5 * reorder)
		}, false},
		{"one side only", func(tp *tape, w wire) {
			for i := range uint64(maxUnacked) {
				tp.send(false, w.put(1000+i, 0))
			}
		}, true},
		{"a long time", func(tp *tape, w wire) { tp.other(reorder); tp.now += maxGapAge; tp.other(1) }, true},
		{"the end of the connection", func(tp *tape, w wire) {
			tp.put(&tp.a, &tp.b, tcpFIN|tcpACK, tp.a.seq, nil)
			tp.other(reorder)
		}, true},
		{"a new connection", func(tp *tape, w wire) {
			tp.a.seq, tp.b.seq = 1<<31, 1<<31
			tp.syn().other(reorder)
		}, true},
		{"too much", func(tp *tape, w wire) {
			for range 9 {
				tp.cut(w.put(1000, 1<<20-1000), 60000)
			}
		}, true},
	} {
		tp, w := opened()
		tp.send(false, w.put(64, 10)).lose(200).send(false, w.put(192, 10)).send(false, w.put(256, 10))
		c.then(tp, w)
		found := false
		s := NewStreams(StreamOptions{Handle: func(m *Message) { found = found || m.LNet.MatchBits == 192 }})
		for i := range tp.frames {
			s.Frame(&tp.frames[i])
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
	s := NewStreams(StreamOptions{MaxStream: 1 << 20, MaxTotal: total})
	for c := range 64 {
		tp, w := opened()
		for i := range tp.frames {
			s.Frame(&tp.frames[i])
		}
		big := w.put(64, 1<<20)
		next := newTape()
		next.a.port = uint16(600 + c)
		next.syn().send(false, w.connreq()).send(false, w.hello(false)).cut(big[:300000], 60000).lose(1).cut(big[300001:900000], 60000)
		for i := range next.frames {
			s.Frame(&next.frames[i])
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
func (s *Streams) noted() (n int) {
	for c := s.flows.order.next; c != &s.flows.order; c = c.next {
		for i := range c.half {
			st := &c.half[i]
			n += len(st.held)*pieceSize + len(st.win.marks)*markSize + len(st.msg.holes)*holeSize + len(st.carriers)*carrierSize
		}
	}
	return n
}

// TestBoundOfTiny: where segments are tiny, what is noted about them is bounded
// too.
func TestBoundOfTiny(t *testing.T) {
	const conns, segments, total = 8, 4000, 200 << 10
	tiny := func(tp *tape, b []byte, captured int) {
		tp.send(false, b)
		f := &tp.frames[len(tp.frames)-1]
		f.Data = f.Data[:len(f.Data)-len(b)+captured]
	}
	for _, c := range []struct {
		name  string
		begin func(tp *tape, w wire)
		each  func(tp *tape)
	}{
		{"pieces", func(tp *tape, w wire) { tp.syn().lose(1 << 20) },
			func(tp *tape) { tiny(tp.lose(1), make([]byte, 1), 0) }},
		{"marks", func(tp *tape, w wire) { tp.send(false, w.put(64, 1<<20)[:100]) },
			func(tp *tape) { tiny(tp, make([]byte, 1), 1) }},
		{"holes", func(tp *tape, w wire) { tp.syn().send(false, w.put(64, 3*segments)[:200]) },
			func(tp *tape) { tiny(tp, make([]byte, 2), 1) }},
		{"carriers", func(tp *tape, w wire) { tp.syn().send(false, w.put(64, 1<<20)[:200]) },
			func(tp *tape) { tiny(tp, make([]byte, 1), 1) }},
	} {
		var last *Message
		s := NewStreams(StreamOptions{MaxTotal: total, Frames: c.name == "carriers", Want: func(m *Message) int {
			if c.name == "holes" {
				return m.Size
			}
			return 0
		}, Handle: func(m *Message) { last = m.Clone() }})
		var tapes [conns]*tape
		most, number := 0, int64(0)
		play := func(tp *tape) {
			for i := range tp.frames {
				number++
				tp.frames[i].Number = number
				s.Frame(&tp.frames[i])
			}
			tp.frames = tp.frames[:0]
		}
		for i := range tapes {
			tapes[i] = newTape()
			tapes[i].a.port = uint16(600 + i)
			c.begin(tapes[i], wire{version: 3})
			play(tapes[i])
		}
		for k := range segments {
			for _, tp := range tapes {
				if c.each(tp); k%100 == 0 {
					tp.put(&tp.b, &end{tp.a.addr, tp.a.port, testISN}, tcpACK, tp.b.seq, nil) // it is not silent
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
	tp, w := newTape(), wire{version: 3}
	tp.syn()
	junk := bytes.Repeat([]byte("GET / HTTP/1.1\r\n\x00\x00\x00\x00"), 3000)
	for range 2 * maxSearch / len(junk) {
		tp.send(false, junk)
	}
	for i := range uint64(3) {
		tp.send(false, w.put(i, 300))
	}
	got, st := collect(tp.frames, StreamOptions{})
	if st.NotLNet != 1 || len(got) != 3 {
		t.Errorf("%d messages, %+v", len(got), st)
	}
}
