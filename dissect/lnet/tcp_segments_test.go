package lnet

import (
	"slices"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"
)

// windowOf returns where a frame of wiretest has the receive window.
func windowOf(data []byte) []byte { return data[14+20+14:][:2] }

// TestMarkedSegment checks what is known about marked segments.
func TestMarkedSegment(t *testing.T) {
	const ms = int64(1e6)
	tc, w := opened()
	data := w.Put(64, 10)
	seq := tc.A.Seq
	tc.Send(false, data)
	sent := tc.Now
	tc.Now += 300 * ms
	again(tc, seq, data)
	ack(tc, &tc.B, &tc.A, tc.A.Seq)
	copy(windowOf(tc.Frames[len(tc.Frames)-1].Data), []byte{0, 0})
	closed := tc.Now
	tc.Now += 500 * ms
	ack(tc, &tc.B, &tc.A, tc.A.Seq)
	opened := tc.Now
	tc.Segment(&tc.B, &tc.A, wiretest.RST, tc.B.Seq, nil)
	var got []TCPEvent
	wiretest.Play(NewDecoder(Options{Want: skipAll, TCPEvent: func(m *TCPEvent) { got = append(got, *m) }}), tc.Frames)
	if len(got) != 4 {
		t.Fatalf("%d segments: %+v", len(got), got)
	}
	for i, want := range []TCPEvent{
		{Seq: seq, Bytes: len(data), FirstSent: sent, TCPAnomalies: TCPAnomalies{Retransmissions: 1}},
		{Seq: tc.B.Seq, TCPAnomalies: TCPAnomalies{ZeroWindows: 1}},
		{Seq: tc.B.Seq, Opened: opened - closed},
		{Seq: tc.B.Seq, RST: true},
	} {
		m := got[i]
		if want.Frame = m.Frame; m.Number != int64(len(tc.Frames)-3+i) {
			t.Errorf("frame %d", m.Number)
		}
		want.Src, want.Dst = m.Src, m.Dst
		if port := m.Src.Port(); m != want || (port == DefaultPort) != (i > 0) {
			t.Errorf("got %+v, want %+v", m, want)
		}
	}
}

// TestRoundTripsOfMessages checks the measurements that a message has: those since the
// message before.
func TestRoundTripsOfMessages(t *testing.T) {
	const ms = int64(1e6)
	tc, w := opened()
	ack(tc, &tc.B, &tc.A, tc.A.Seq)
	tc.Send(false, w.Noop(0, 1)) // has what was measured so far
	ack(tc, &tc.B, &tc.A, tc.A.Seq)
	tc.Send(false, w.Noop(0, 1))
	ack(tc, &tc.B, &tc.A, tc.A.Seq)
	before, _ := collect(tc.Frames, Options{})
	for _, wait := range []int64{50 * ms, 40 * ms, 60 * ms} {
		tc.Send(false, w.Noop(0, 1))
		tc.Now += wait - 1e5
		ack(tc, &tc.B, &tc.A, tc.A.Seq)
	}
	tc.Send(false, w.Put(64, 10)).Send(false, w.Put(128, 10))
	got, _ := collect(tc.Frames, Options{})
	var trips []RoundTrips
	for _, m := range got[len(before):] {
		if m.m.RoundTrips.N > 0 {
			trips = append(trips, m.m.RoundTrips)
		}
	}
	want := []RoundTrips{{1, 1e5}, {1, 50 * ms}, {1, 40 * ms}, {1, 60 * ms}}
	if !slices.Equal(trips, want) {
		t.Errorf("got %v, want %v", trips, want)
	}
}
