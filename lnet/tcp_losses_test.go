package lnet

import (
	"testing"

	"github.com/lshark/lshark/capture"
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
