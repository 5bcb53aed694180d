package lnet

import (
	"encoding/binary"
	"slices"
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
