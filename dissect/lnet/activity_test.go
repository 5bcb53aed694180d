package lnet_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	. "github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
)

// activities describes each Activity in frames by its direction, A or B, and its time in milliseconds
// after the first frame.
func activities(frames []capture.Frame) (list []string) {
	begin := frames[0].Time
	ms := func(t int64) int64 { return (t - begin) / 1e6 }
	d := NewDecoder(Options{Want: func(*Message) int { return 0 }, Active: func(m *Activity) {
		s := "A "
		if m.Src.Addr().As4()[3] == 2 {
			s = "B "
		}
		s += fmt.Sprint(ms(m.Time))
		for _, f := range []struct {
			set  bool
			name string
		}{{m.SYN, "SYN"}, {m.ACK && (m.SYN || m.RST), "ACK"}, {m.FIN, "FIN"}, {m.RST, "RST"}} {
			if f.set {
				s += " " + f.name
			}
		}
		list = append(list, s)
	}})
	wiretest.Play(d, frames)
	return list
}

const (
	ms     = int64(1e6)
	second = 1000 * ms
)

// empty adds a segment without payload of one end, which acknowledges all bytes of the other.
func empty(tc *wiretest.Conn, from, to *wiretest.End, flags byte) {
	tc.Segment(from, to, flags|wiretest.ACK, from.Seq, nil)
}

func TestActivity(t *testing.T) {
	var w wiretest.Socklnd
	for name, c := range map[string]struct {
		play func(tc *wiretest.Conn)
		want []string
	}{
		"opened": {func(tc *wiretest.Conn) { tc.Open() }, []string{"A 0 SYN", "B 0 SYN ACK"}},
		"SYN without answer": {func(tc *wiretest.Conn) {
			for range 3 {
				tc.Segment(&tc.A, &tc.B, wiretest.SYN, tc.A.Seq, nil)
				tc.Now += second
			}
		}, []string{"A 0 SYN", "A 1000 SYN", "A 2000 SYN"}},
		"refused": {func(tc *wiretest.Conn) {
			tc.Segment(&tc.A, &tc.B, wiretest.SYN, tc.A.Seq, nil)
			tc.Segment(&tc.B, &wiretest.End{Addr: tc.A.Addr, Port: tc.A.Port, Seq: tc.A.Seq + 1}, wiretest.RST|wiretest.ACK, 0, nil)
		}, []string{"A 0 SYN", "B 0 ACK RST"}},
		"paused": {func(tc *wiretest.Conn) {
			for _, wait := range []int64{0, 300, 600, 200, 2000} { // at 0, 300, 900, 1100 and 3100 ms
				tc.Now += wait * ms
				tc.Send(false, w.Noop(0, 1))
				tc.Now -= 1e5
				empty(tc, &tc.B, &tc.A, 0)
				tc.Now -= 1e5
			}
		}, []string{"A 0", "B 0", "A 1100", "B 1100", "A 3100", "B 3100"}},
		"one way": {func(tc *wiretest.Conn) {
			for range 3 {
				tc.Send(false, w.Noop(0, 1)).Send(false, w.Noop(0, 1))
				tc.Now += second
			}
		}, []string{"A 0", "A 1000", "A 2000"}},
		"kept alive": {func(tc *wiretest.Conn) {
			for range 2 {
				tc.Segment(&tc.A, &tc.B, wiretest.ACK, tc.A.Seq-1, nil)
				empty(tc, &tc.B, &tc.A, 0)
				tc.Now += 5 * second
			}
		}, []string{"A 0", "B 0", "A 5000", "B 5000"}},
		"not acknowledged": {func(tc *wiretest.Conn) {
			tc.Send(false, w.Noop(0, 1))
			empty(tc, &tc.B, &tc.A, 0)
			tc.Now += 500 * ms
			seq, data := tc.A.Seq, w.Put(64, 10)
			tc.Send(false, data)
			for range 3 {
				tc.Now += second - 1e5
				tc.Segment(&tc.A, &tc.B, wiretest.ACK, seq, data)
			}
			tc.Now += second - 1e5
			empty(tc, &tc.B, &tc.A, 0)
			tc.Now += second
			empty(tc, &tc.A, &tc.B, 0)
		}, []string{"A 0", "B 0", "A 1500", "A 2500", "A 3500", "B 4500", "A 5500"}},
		"closed": {func(tc *wiretest.Conn) {
			tc.Send(false, w.Noop(0, 1))
			empty(tc, &tc.B, &tc.A, wiretest.FIN)
			empty(tc, &tc.A, &tc.B, wiretest.RST)
		}, []string{"A 0", "B 0 FIN", "A 0 ACK RST"}},
	} {
		tc := wiretest.NewConn()
		c.play(tc)
		if got := activities(tc.Frames); !slices.Equal(got, c.want) {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}

// TestActivityOutOfOrder: a frame of the second before does not begin that second again.
func TestActivityOutOfOrder(t *testing.T) {
	var w wiretest.Socklnd
	tc := wiretest.NewConn()
	for range 5 { // at 0, 450, 900, 1350 and 1800 ms
		tc.Send(false, w.Noop(0, 1))
		tc.Now += 450 * ms
	}
	tc.Swap(2, 3)
	assert.Slice(t, activities(tc.Frames), []string{"A 0", "A 1350"}, "out of order")
}

func TestActivityOfQueuePairs(t *testing.T) {
	var w wiretest.O2iblnd
	qp := wiretest.NewQueuePairs()
	qp.Connect(w.Connreq(), w.Connack())
	qp.Send(false, w.Noop(false)).Ack(true)
	qp.Now += 500 * ms
	qp.Send(false, w.Noop(false))
	qp.Now += second
	qp.Send(true, w.Noop(true)).Ack(false)
	qp.Now += second
	qp.Send(false, w.Noop(false)).Send(false, w.Noop(false))
	qp.Now += second
	qp.Ack(true).Send(false, w.Noop(false)).Ack(true)
	assert.Slice(t, activities(qp.Frames), []string{"A 0", "B 0", "B 1500", "A 1500", "A 2500", "B 3501", "A 3501"}, "queue pairs")
}

// TestActivityMAC checks the Ethernet address of a SYN, in frames of several kinds, and of RoCE.
func TestActivityMAC(t *testing.T) {
	outer, mac := [6]byte{2, 5: 1}, [6]byte{2, 5: 9}
	tc := wiretest.NewConn()
	tc.Segment(&tc.A, &tc.B, wiretest.SYN, tc.A.Seq, nil)
	frame := tc.Frames[0].Data
	copy(frame[6:], mac[:])
	ip := frame[14:]
	for name, c := range map[string]struct {
		link capture.LinkType
		data []byte
		want [6]byte
	}{
		"Ethernet":           {capture.LinkEthernet, frame, mac},
		"Ethernet in itself": {capture.LinkEthernet, slices.Concat(make([]byte, 6), outer[:], []byte{0x65, 0x58}, frame), mac},
		"SLL":                {capture.LinkLinuxSLL, slices.Concat([]byte{0, 0, 0, 1, 0, 6}, mac[:], []byte{0, 0, 8, 0}, ip), mac},
		"SLL2":               {capture.LinkLinuxSLL2, slices.Concat([]byte{8, 0, 0, 0, 0, 0, 0, 2, 0, 1, 0, 6}, mac[:], []byte{0, 0}, ip), mac},
		"SLL of loopback":    {capture.LinkLinuxSLL, slices.Concat([]byte{0, 0, 3, 4, 0, 6}, mac[:], []byte{0, 0, 8, 0}, ip), [6]byte{}},
		"IP":                 {capture.LinkRaw, ip, [6]byte{}},
	} {
		var got [][6]byte
		d := NewDecoder(Options{Active: func(m *Activity) { got = append(got, m.MAC) }})
		d.Frame(&tc.Frames[0]) // of another kind
		d.Frame(&capture.Frame{Number: 2, Time: 1e18 + 2*second, Len: len(c.data), Data: c.data, Link: c.link})
		if len(got) != 2 || got[1] != c.want {
			t.Errorf("%s: %x", name, got)
		}
	}

	var w wiretest.O2iblnd
	qp := wiretest.NewQueuePairs().Connect(w.Connreq(), w.Connack())
	qp.Send(false, w.Noop(false))
	for i := range qp.Frames {
		copy(qp.Frames[i].Data[6:], mac[:])
	}
	wiretest.Play(NewDecoder(Options{Active: func(m *Activity) { assert.Equal(t, m.MAC, mac, "RoCE:"); mac[5]++ }}), qp.Frames)
	assert.Equal(t, mac[5], 10, "an activity of RoCE:")
}
