package lnet

import (
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
)

// losses runs frames through a Decoder and returns what was lost, by sender.
func losses(frames []capture.Frame) map[uint16]int64 {
	lost := make(map[uint16]int64)
	d := NewDecoder(Options{Want: skipAll, Lost: func(l *Loss) {
		if l.From <= l.To {
			lost[l.Src.Port()] += l.Bytes
		}
	}})
	wiretest.Play(d, frames)
	return lost
}

func TestLosses(t *testing.T) {
	const a, b = 1023, 988 // ports
	for name, c := range map[string]struct {
		send func(tc *wiretest.Conn, w wiretest.Socklnd)
		want map[uint16]int64
	}{
		"none":    {func(tc *wiretest.Conn, w wiretest.Socklnd) {}, nil},
		"between": {func(tc *wiretest.Conn, w wiretest.Socklnd) { tc.Lose(300).Send(false, w.Put(64, 10)) }, map[uint16]int64{a: 300}},
		"inside": {func(tc *wiretest.Conn, w wiretest.Socklnd) {
			data := w.Put(64, 500)
			tc.Send(false, data[:200]).Lose(100).Send(false, data[300:])
		}, nil},
		"at the end": {func(tc *wiretest.Conn, w wiretest.Socklnd) { tc.Lose(300).Send(true, w.Noop(0, 1)) }, map[uint16]int64{a: 300}},
		"end of the body": {func(tc *wiretest.Conn, w wiretest.Socklnd) {
			data := w.Put(64, 500)
			tc.Send(false, data[:200]).Lose(len(data)-200).Send(true, w.Noop(0, 1))
		}, nil},
		"own number": {func(tc *wiretest.Conn, w wiretest.Socklnd) { tc.Lose(300); ack(tc, &tc.A, &tc.B, tc.B.Seq) }, map[uint16]int64{a: 300}},
		"one way": {func(tc *wiretest.Conn, w wiretest.Socklnd) {
			for range 10 {
				tc.Now += 5e8
				tc.B.Seq += 100
				tc.Send(false, w.Noop(0, 1))
			}
		}, map[uint16]int64{b: 1000}},
		"ACK first": {func(tc *wiretest.Conn, w wiretest.Socklnd) {
			tc.Send(false, w.Put(64, 10)).Send(true, w.Noop(0, 1))
			n := len(tc.Frames)
			tc.Swap(n-2, n-1)
		}, nil},
	} {
		tc, w := opened()
		tc.Send(true, w.Hello(true))
		c.send(tc, w)
		got := losses(tc.Frames)
		if len(got) != len(c.want) || got[a] != c.want[a] || got[b] != c.want[b] {
			t.Errorf("%s: lost %v, want %v", name, got, c.want)
		}
	}
}

// TestLossBefore: where a capture begins in mid-stream, the ACK in a request shows where the reply began that
// was not captured. Nobody has received it until it is acknowledged. At the beginning of the capture the reply may have been on the way before, in any order of ACKs
// and segments.
func TestLossBefore(t *testing.T) {
	for _, c := range []struct {
		at   int64 // after the capture began
		want Why
	}{{0, BeforeFile}, {lossDelay / 2, BeforeFile}, {2 * lossDelay, Lost}} {
		for i, acks := range []int{0, 3, 0} {
			isAcked := i < 2
			tc, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
			tc.OtherFrames(1)
			tc.Now += c.at
			tc.Send(false, w.Put(64, 100))
			for range acks {
				tc.B.Seq += 100
				ack(tc, &tc.A, &tc.B, tc.B.Seq)
			}
			tc.B.Seq += 500
			if tc.Send(true, w.Put(64, 10)); isAcked {
				ack(tc, &tc.A, &tc.B, tc.B.Seq)
			}
			tc.OtherFrames(ReorderFrames)
			lost := make(map[Why]int64)
			d := NewDecoder(Options{Want: skipAll, Lost: func(l *Loss) { lost[l.Why] += l.Bytes }})
			wiretest.Play(d, tc.Frames)
			if want := int64(500 + 100*acks); !isAcked && lost[Lost] > 0 || isAcked && (len(lost) != 1 || lost[c.want] != want) {
				t.Errorf("after %d ns, %d ACKs: lost %+v, want %d bytes, %s", c.at, acks, lost, want, c.want)
			}
		}
	}
}

// TestSilentBefore: where a receiver has been silent since before the capture, its first ACK may be about
// bytes from before.
func TestSilentBefore(t *testing.T) {
	tc, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
	data := w.Put(64, 100)
	for range 4 {
		tc.Segment(&tc.A, &tc.B, tcpACK, tc.A.Seq, data)
		tc.Now += 3 * lossDelay
	}
	tc.A.Seq += uint32(len(data)) + 300
	ack(tc, &tc.B, &tc.A, tc.A.Seq)
	tc.Send(false, w.Put(128, 10)).OtherFrames(ReorderFrames)
	d := NewDecoder(Options{Want: skipAll, Lost: func(l *Loss) {
		if l.Why != BeforeFile {
			t.Errorf("lost %+v", l)
		}
	}})
	wiretest.Play(d, tc.Frames)
}

// TestAcknowledgedBefore: what was acknowledged when the capture began does not become lost because the next
// segment comes later.
func TestAcknowledgedBefore(t *testing.T) {
	tc, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
	tc.Send(false, w.Put(64, 100))
	for range 3 {
		tc.B.Seq += 100
		ack(tc, &tc.A, &tc.B, tc.B.Seq)
	}
	tc.Now += 2 * lossDelay
	tc.Send(true, w.Put(64, 10)).OtherFrames(ReorderFrames)
	d := NewDecoder(Options{Want: skipAll, Lost: func(l *Loss) {
		if l.Why != BeforeFile || l.Bytes != 300 {
			t.Errorf("lost %+v", l)
		}
	}})
	wiretest.Play(d, tc.Frames)
}

// TestLossOneWay checks why bytes are lost, and that a direction without any captured
// segment is reported as such.
func TestLossOneWay(t *testing.T) {
	tc, w := opened()
	for range 3 {
		tc.Now += 2e9
		tc.Send(true, w.Put(64, 300)).Send(false, w.Put(64, 10))
	}
	for _, oneWay := range []bool{true, false} {
		frames := slices.DeleteFunc(slices.Clone(tc.Frames), func(f capture.Frame) bool {
			return oneWay && binary.BigEndian.Uint16(f.Data[34:]) == DefaultPort
		})
		n := 0
		d := NewDecoder(Options{Want: skipAll, Lost: func(l *Loss) {
			if n++; l.Why != Lost || !l.OneWay || l.Src.Port() != DefaultPort {
				t.Errorf("loss %+v", l)
			}
		}})
		wiretest.Play(d, wiretest.Renumber(frames))
		if oneWay != (n > 0) {
			t.Errorf("one way %v: %d losses", oneWay, n)
		}
	}
}

// TestKeepAlives: probes on idle connections, which begin one byte before the next, change
// nothing: neither what was lost, nor the messages with their notes, nor the counts.
func TestKeepAlives(t *testing.T) {
	idle := func(probe bool, garbage []byte) *wiretest.Conn {
		tc, w := wiretest.NewConn(), wiretest.Socklnd{Version: 3}
		for round := range uint64(3) {
			for _, ends := range [][2]*wiretest.End{{&tc.A, &tc.B}, {&tc.B, &tc.A}} {
				from, to := ends[0], ends[1]
				tc.Now += 15e9
				if probe {
					tc.Segment(from, to, tcpACK, from.Seq-1, garbage)
					ack(tc, to, from, from.Seq)
				}
			}
			tc.Now += 15e9
			tc.Send(false, w.Put(64*(round+1), 100)).OtherFrames(ReorderFrames).Send(true, w.Put(64*(round+1), 100))
		}
		tc.Segment(&tc.A, &tc.B, tcpFIN|tcpACK, tc.A.Seq, nil)
		tc.A.Seq++
		tc.Now += 2e9
		ack(tc, &tc.B, &tc.A, tc.A.Seq)
		return tc
	}
	want, wantStats := collect(idle(false, nil).Frames, Options{})
	for name, tc := range map[string]*wiretest.Conn{"empty": idle(true, nil), "with a byte": idle(true, []byte{0})} {
		if lost := losses(tc.Frames); len(lost) > 0 {
			t.Errorf("%s: lost %v", name, lost)
		}
		got, st := collect(tc.Frames, Options{})
		if len(got) != len(want) || st.TCP.Conns != 1 || st.TCP.Marks != wantStats.TCP.Marks || st.TCP.SkippedBytes != 0 {
			t.Fatalf("%s: %d messages, want %d, %+v", name, len(got), len(want), st.TCP)
		}
		for i := range got {
			if got[i].what != want[i].what || len(got[i].notes) != 0 {
				t.Errorf("%s: %s %v, want %s", name, got[i].what, got[i].notes, want[i].what)
			}
		}
	}
}

// TestLostFIN: an ACK of a FIN that was not captured proves no bytes.
func TestLostFIN(t *testing.T) {
	tc, w := opened()
	tc.Send(false, w.Put(64, 10))
	tc.A.Seq++
	for range 2 {
		tc.Now += 2e9
		ack(tc, &tc.B, &tc.A, tc.A.Seq)
	}
	if lost := losses(tc.Frames); len(lost) > 0 {
		t.Errorf("lost %v", lost)
	}
}

// TestUnansweredProbes: a probe that echoes the same timestamp as the one before shows that this got no answer.
func TestUnansweredProbes(t *testing.T) {
	for name, c := range map[string]struct {
		echoes []uint32 // of the probes
		want   []int    // TCPEvent.Probes
	}{
		"answered":                           {[]uint32{50, 51, 52}, nil},
		"unanswered":                         {[]uint32{50, 50, 50}, []int{1, 2}},
		"answered in between":                {[]uint32{50, 50, 51, 51, 51}, []int{1, 1}},
		"answers to probes of the other end": {[]uint32{50, 50, 50}, nil},
	} {
		tc, w := opened()
		tc.A.Options = wiretest.Timestamps(1, 50)
		tc.Send(false, w.Put(64, 10))
		ack(tc, &tc.A, &tc.B, tc.B.Seq)
		for i, echo := range c.echoes {
			tc.Now += 5e9
			tc.A.Options = wiretest.Timestamps(uint32(5000*(i+1)), echo)
			seq := tc.A.Seq - 1
			if strings.HasPrefix(name, "answers") {
				seq++
			}
			tc.Segment(&tc.A, &tc.B, tcpACK, seq, nil)
		}
		var got []int
		d := NewDecoder(Options{Want: skipAll, TCPEvent: func(m *TCPEvent) { got = append(got, m.Probes) }})
		wiretest.Play(d, tc.Frames)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

// TestNeverReceived: the receiver has not acknowledged bytes that are not in the capture when the connection ends, so the network lost them.
func TestNeverReceived(t *testing.T) {
	tc, w := opened()
	tc.Send(true, w.Hello(true)).Send(true, w.Noop(0, 1))
	tc.Lose(300)
	tc.Segment(&tc.A, &tc.B, tcpFIN|tcpACK, tc.A.Seq, w.Noop(0, 1))
	tc.OtherFrames(ReorderFrames)
	lost := make(map[Why]int64)
	wiretest.Play(NewDecoder(Options{Want: skipAll, Lost: func(l *Loss) { lost[l.Why] += l.Bytes }}), tc.Frames)
	if len(lost) != 1 || lost[EndOfFile] != 300 {
		t.Errorf("lost %v", lost)
	}
}
