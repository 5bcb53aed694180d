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
	tc, w := opened() // 5 frames
	tc.Send(false, w.Put(64, 10)).Send(false, w.Put(128, 10)).Send(false, w.Put(192, 10))
	tc.Swap(5, 7)
	got := run(t, tc, 5)
	if got[2].m.LNet.MatchBits != 64 || got[2].frame != 8 || got[3].frame != 8 || got[4].frame != 8 {
		t.Errorf("frames %d %d %d", got[2].frame, got[3].frame, got[4].frame)
	}
}

// TestLostPayload: a gap in a payload is a hole of known length.
func TestLostPayload(t *testing.T) {
	tc, w := opened()
	m := w.Put(64, 1000)
	tc.Send(false, m[:300]).Lose(200).Send(false, m[500:]).Send(true, nil)
	tc.OtherFrames(ReorderFrames + 1)
	tc.Send(false, w.Put(128, 10))
	got := run(t, tc, 4)
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

// TestCutManyTimes: however many frames the snaplen cut, there is one note.
func TestCutManyTimes(t *testing.T) {
	tc, w := opened()
	tc.SendSplit(w.Put(64, 1000), 250)
	for i := range tc.Frames {
		tc.Frames[i].Data = tc.Frames[i].Data[:min(256, len(tc.Frames[i].Data))]
	}
	got := run(t, tc, 3)
	m := got[2].m
	if len(m.Notes) != 1 || m.Notes[0].Text != "192 bytes of this message are cut by the snaplen" || len(m.Holes) != 4 || m.Frame != 6 {
		t.Errorf("frame %d, holes %v, %v", m.Frame, m.Holes, m.Notes)
	}
}

// TestLostInSkipped: a gap in bulk data that is skipped costs nothing.
func TestLostInSkipped(t *testing.T) {
	tc, w := opened()
	m := w.Put(64, 100000)
	tc.SendSplit(m[:50000], 1448).Lose(1448).SendSplit(m[51448:], 1448).Send(false, w.Put(128, 10)).Send(true, nil).OtherFrames(ReorderFrames)
	got, st := collect(tc.Frames, Options{Want: func(m *Message) int { return 100 }})
	if len(got) != 4 || got[2].m.Tail != Skipped || len(got[2].m.Holes) > 0 || len(got[2].notes) > 0 || len(got[2].m.Payload()) != 100 {
		t.Fatalf("%+v", got)
	}
	if st.TCP.Gaps != 1 || st.TCP.LostBytes != 1448 || st.TCP.SkippedLost != 1448 || st.TCP.NotCopied == 0 {
		t.Errorf("%+v", st)
	}
}

// TestLostHeader: a gap over a header costs this message; the note has the number
// of bytes skipped.
func TestLostHeader(t *testing.T) {
	tc, w := opened()
	first, second := w.Put(64, 1000), w.Put(128, 1000)
	stream := wiretest.Join(first, second, w.Put(192, 400), w.Put(256, 10))
	cut := len(first) - 10
	tc.Send(false, stream[:cut]).Lose(200).Send(false, stream[cut+200:]).Send(true, nil).OtherFrames(ReorderFrames)
	got := run(t, tc, 5)
	if got[2].m.Tail != Lost || got[2].m.Size != len(first) || len(got[2].m.Data) != cut {
		t.Errorf("%+v", got[2].m)
	}
	skipped := len(second)
	if n := got[3].notes; got[3].m.LNet.MatchBits != 192 || len(n) != 1 || n[0].Text != fmt.Sprintf("%d bytes before this message could not be read", skipped) {
		t.Errorf("%+v %v", got[3].m.LNet, n)
	}
}

// TestPayloadLikeHeader: bytes of a payload that look like a message are not taken
// for one, neither in order nor during a resync.
func TestPayloadLikeHeader(t *testing.T) {
	_, w := opened()
	fake := wiretest.Join(make([]byte, 50), w.Put(999, 20), make([]byte, 33), w.Put(999, 0), bytes.Repeat([]byte{0xc0, 0, 0, 0}, 20), make([]byte, 40))
	real := w.LNet(false, wiretest.Put, 12, 64, fake)
	for size := 30; size < len(real); size += 11 {
		for dropped := -1; dropped*size < len(real); dropped++ {
			tc, _ := opened()
			stream := wiretest.Join(w.Put(1, 5), real, w.Put(2, 5), real, w.Put(3, 5))
			tc.SendSplit(stream, size)
			if dropped >= 0 {
				tc.Frames = slices.Delete(tc.Frames, 5+dropped, 6+dropped)
			}
			got, _ := collect(wiretest.Renumber(tc.Frames), Options{})
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
		tc, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
		tc.A.Seq = -(before + 16 + 56 + 1)
		tc.Open().Send(false, w.Connreq()).Send(false, w.Hello(false))
		tc.SendSplit(wiretest.Join(w.Put(64, 100), w.Put(128, 100), w.Put(192, 100)), 77)
		tc.Swap(6, 8)
		run(t, tc, 5)
	}
}

// TestOverlap: of bytes sent twice the first copy counts.
func TestOverlap(t *testing.T) {
	tc, w := opened()
	m := w.Put(64, 400)
	seq := tc.A.Seq
	liar := bytes.Repeat([]byte{0xee}, len(m))
	put := func(b []byte, from, to int) { tc.Segment(&tc.A, &tc.B, tcpACK, seq+uint32(from), b[from:to]) }
	put(m, 200, 300)    // held
	put(m, 0, 100)      // in order
	put(liar, 50, 100)  // nothing new
	put(liar, 250, 280) // nothing new
	put(m, 350, len(m)) // held
	put(m, 100, 150)    // in order
	mix := wiretest.Join(liar[:150], m[150:200], liar[200:300], m[300:350], liar[350:])
	put(mix, 120, len(m)) // fills both gaps, differs where bytes are there
	tc.A.Seq += uint32(len(m))
	got := run(t, tc, 3)
	if d := got[2].m.Data; !bytes.Equal(d[:120], m[:120]) || !bytes.Equal(d[150:], m[150:]) || !bytes.Equal(d, m) {
		t.Errorf("%x", d)
	}
}

// TestRetransmitted: the message that a gap was in has a note when it is filled late.
func TestRetransmitted(t *testing.T) {
	for _, c := range []struct {
		after time.Duration
		want  int
	}{{time.Millisecond, 0}, {20 * time.Millisecond, 1}} {
		tc, w := opened()
		m := w.Put(64, 300)
		tc.Send(false, w.Put(1, 1))
		seq := tc.A.Seq
		tc.Segment(&tc.A, &tc.B, tcpACK, seq+100, m[100:])
		tc.Now += int64(c.after)
		tc.Segment(&tc.A, &tc.B, tcpACK, seq, m[:100])
		tc.A.Seq = seq + uint32(len(m))
		got := run(t, tc.Send(false, w.Put(128, 1)), 5)
		if len(got[2].notes) != 0 || len(got[3].notes) != c.want || len(got[4].notes) != 0 {
			t.Errorf("after %v: %v %v %v", c.after, got[2].notes, got[3].notes, got[4].notes)
		}
	}
}

// TestGiveUpGap: when a gap is given up.
func TestGiveUpGap(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(tc *wiretest.Conn, w wiretest.Socklnd)
		want bool
	}{
		{"nothing more", func(tc *wiretest.Conn, w wiretest.Socklnd) {}, false},
		{"acknowledged, soon", func(tc *wiretest.Conn, w wiretest.Socklnd) { tc.Send(true, nil).OtherFrames(ReorderFrames - 10) }, false},
		{"acknowledged, later", func(tc *wiretest.Conn, w wiretest.Socklnd) { tc.Send(true, nil).OtherFrames(ReorderFrames) }, true},
		{"not acknowledged", func(tc *wiretest.Conn, w wiretest.Socklnd) {
			tc.Segment(&tc.B, &wiretest.End{Addr: tc.A.Addr, Port: tc.A.Port, Seq: tc.A.Seq - 500}, tcpACK, tc.B.Seq, nil)
			tc.OtherFrames(5 * ReorderFrames)
		}, false},
		{"one side only", func(tc *wiretest.Conn, w wiretest.Socklnd) {
			for i := range uint64(maxUnacked) {
				tc.Send(false, w.Put(1000+i, 0))
			}
		}, true},
		{"a long time", func(tc *wiretest.Conn, w wiretest.Socklnd) {
			tc.OtherFrames(ReorderFrames)
			tc.Now += maxGapAge
			tc.OtherFrames(1)
		}, true},
		{"the end of the connection", func(tc *wiretest.Conn, w wiretest.Socklnd) {
			tc.Segment(&tc.A, &tc.B, tcpFIN|tcpACK, tc.A.Seq, nil)
			tc.OtherFrames(ReorderFrames)
		}, true},
		{"a new connection", func(tc *wiretest.Conn, w wiretest.Socklnd) {
			tc.A.Seq, tc.B.Seq = 1<<31, 1<<31
			tc.Open().OtherFrames(ReorderFrames)
		}, true},
		{"too much", func(tc *wiretest.Conn, w wiretest.Socklnd) {
			for range 9 {
				tc.SendSplit(w.Put(1000, 1<<20-1000), 60000)
			}
		}, true},
	} {
		tc, w := opened()
		tc.Send(false, w.Put(64, 10)).Lose(200).Send(false, w.Put(192, 10)).Send(false, w.Put(256, 10))
		c.then(tc, w)
		found := false
		s := NewDecoder(Options{Handle: func(m *Message) { found = found || m.LNet.MatchBits == 192 }})
		for i := range tc.Frames {
			s.Frame(&tc.Frames[i])
		}
		if found != c.want {
			t.Errorf("%s: given up: %v", c.name, found)
		}
		s.Close()
		if !found {
			t.Errorf("%s: not given up at the end either", c.name)
		}
	}
}

// TestBound: no more is held than the options allow.
func TestBound(t *testing.T) {
	const total = 8 << 20
	most := 0
	s := NewDecoder(Options{MaxStream: 1 << 20, MaxTotal: total})
	for c := range 64 {
		tc, w := opened()
		for i := range tc.Frames {
			s.Frame(&tc.Frames[i])
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

// recordBytes returns the size of the records kept about held bytes.
func (s *Decoder) recordBytes() (n int) {
	s.tcp.conns.active.All(func(c *conn) {
		for i := range c.half {
			r := &c.half[i]
			f := &r.framer
			var marks []mark
			if f.resync != nil {
				marks = f.resync.marks
			}
			n += len(r.held)*pieceSize + len(marks)*markSize + len(f.msg.holes)*holeSize + len(f.frames)*frameSize
		}
	})
	return n
}

// TestBoundOfRecords: the records kept about tiny segments are bounded, too.
func TestBoundOfRecords(t *testing.T) {
	const count, segments, total = 8, 4000, 200 << 10
	tiny := func(tc *wiretest.Conn, b []byte, captured int) {
		tc.Send(false, b)
		f := &tc.Frames[len(tc.Frames)-1]
		f.Data = f.Data[:len(f.Data)-len(b)+captured]
	}
	for _, c := range []struct {
		name  string
		begin func(tc *wiretest.Conn, w wiretest.Socklnd)
		each  func(tc *wiretest.Conn)
	}{
		{"pieces", func(tc *wiretest.Conn, w wiretest.Socklnd) { tc.Open().Lose(1 << 20) },
			func(tc *wiretest.Conn) { tiny(tc.Lose(1), make([]byte, 1), 0) }},
		{"marks", func(tc *wiretest.Conn, w wiretest.Socklnd) { tc.Send(false, w.Put(64, 1<<20)[:100]) },
			func(tc *wiretest.Conn) { tiny(tc, make([]byte, 1), 1) }},
		{"holes", func(tc *wiretest.Conn, w wiretest.Socklnd) { tc.Open().Send(false, w.Put(64, 3*segments)[:200]) },
			func(tc *wiretest.Conn) { tiny(tc, make([]byte, 2), 1) }},
		{"frames", func(tc *wiretest.Conn, w wiretest.Socklnd) { tc.Open().Send(false, w.Put(64, 1<<20)[:200]) },
			func(tc *wiretest.Conn) { tiny(tc, make([]byte, 1), 1) }},
	} {
		var last *Message
		s := NewDecoder(Options{MaxTotal: total, Frames: c.name == "frames", Want: func(m *Message) int {
			if c.name == "holes" {
				return m.Size
			}
			return 0
		}, Handle: func(m *Message) { last = m.Clone() }})
		var conns [count]*wiretest.Conn
		most, number := 0, int64(0)
		play := func(tc *wiretest.Conn) {
			for i := range tc.Frames {
				number++
				tc.Frames[i].Number = number
				s.Frame(&tc.Frames[i])
			}
			tc.Frames = tc.Frames[:0]
		}
		for i := range conns {
			conns[i] = wiretest.NewConn()
			conns[i].A.Port = uint16(600 + i)
			c.begin(conns[i], wiretest.Socklnd{Version: 3})
			play(conns[i])
		}
		for k := range segments {
			for _, tc := range conns {
				if c.each(tc); k%100 == 0 {
					tc.Segment(&tc.B, &wiretest.End{Addr: tc.A.Addr, Port: tc.A.Port, Seq: wiretest.ISNOfA}, tcpACK, tc.B.Seq, nil) // the receiver is not silent
				}
				play(tc)
			}
			most = max(most, s.recordBytes())
		}
		if most > total+count*100 || most < total/4 {
			t.Errorf("%s: records of %d bytes", c.name, most)
		}
		if s.Close(); s.Stats().Held != 0 {
			t.Errorf("%s: %d bytes held at the end", c.name, s.Stats().Held)
		}
		if c.name == "holes" && (last == nil || last.Tail == Present || len(last.Holes) > total/holeSize) {
			t.Errorf("%+v", last)
		}
	}
}

// TestNotLNet: a stream without headers is skipped cheaply; LNet that comes later is
// found.
func TestNotLNet(t *testing.T) {
	tc, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
	tc.Open()
	junk := bytes.Repeat([]byte("GET / HTTP/1.1\r\n\x00\x00\x00\x00"), 3000)
	for range 2 * maxSearch / len(junk) {
		tc.Send(false, junk)
	}
	for i := range uint64(3) {
		tc.Send(false, w.Put(i, 300))
	}
	got, st := collect(tc.Frames, Options{})
	if st.TCP.NotLNet != 1 || len(got) != 3 {
		t.Errorf("%d messages, %+v", len(got), st)
	}
}
