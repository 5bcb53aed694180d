package lnet

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// TestRandomDialogs plays pieces of messages of several versions, garbage, losses, cuts,
// swaps and frames that come again in both directions, each of which changes how the other
// is framed. Nothing must be held at the end.
func TestRandomDialogs(t *testing.T) {
	for seed := range uint64(4000) {
		rnd := rand.New(rand.NewPCG(seed, 7))
		tc := resent(rnd, randomDialog(rnd))
		if left := playTwoWays(t, tc); left != "" {
			t.Errorf("seed %d: %s", seed, left)
		}
	}
}

// playTwoWays checks every message of a connection, and returns a description of what
// is held at its end, empty if nothing is.
func playTwoWays(t *testing.T, tc *wiretest.Conn) (left string) {
	t.Helper()
	s := NewDecoder(Options{Frames: true, Handle: func(m *Message) { checkMessage(t, m) }})
	for i := range tc.Frames {
		tc.Frames[i].Number = int64(i + 1)
		s.Frame(&tc.Frames[i])
	}
	s.Close()
	if st := s.Stats(); st.Held != 0 || len(s.out.gaps) != 0 || len(s.tcp.queued) != 0 {
		return fmt.Sprintf("%d bytes, %d gaps, %d queues are left", st.Held, len(s.out.gaps), len(s.tcp.queued))
	}
	return ""
}

func randomDialog(rnd *rand.Rand) *wiretest.Conn {
	tc := wiretest.NewConn()
	if rnd.IntN(4) > 0 {
		tc.Open()
	}
	for range 4 + rnd.IntN(12) {
		var seg []byte
		for range 1 + rnd.IntN(3) {
			seg = append(seg, randomPiece(rnd)...)
		}
		if k := rnd.IntN(len(seg) + 1); rnd.IntN(3) == 0 {
			tc.Send(rnd.IntN(3) == 0, seg[:k])
			seg = seg[k:]
		}
		tc.Send(rnd.IntN(3) == 0, seg)
		if rnd.IntN(8) == 0 {
			const headers = 54
			f := &tc.Frames[len(tc.Frames)-1]
			f.Data = f.Data[:headers+rnd.IntN(len(f.Data)-headers+1)]
		}
		if rnd.IntN(10) == 0 {
			tc.Lose(1 + rnd.IntN(200))
		}
		if n := len(tc.Frames); rnd.IntN(6) == 0 && n > 4 {
			tc.Swap(n-1, n-2)
		}
	}
	return tc
}

// randomPiece is a message, the beginning of one, or garbage.
func randomPiece(rnd *rand.Rand) []byte {
	w := []wiretest.Socklnd{{Version: 1}, {Version: 2}, {Version: 2, Big: true, Sum: true}, {Version: 3}, {Version: 4}}[rnd.IntN(5)]
	var b []byte
	switch rnd.IntN(9) {
	case 0:
		b = w.Hello(rnd.IntN(2) == 0)
	case 1:
		b = w.Noop(0, 5)
	case 2, 3:
		b = w.Put(64*uint64(1+rnd.IntN(5)), rnd.IntN(3)*rnd.IntN(40))
	case 4:
		const portal = 88
		if b = w.Put(64, 0); len(b) > portal {
			b[portal] = 99
		}
	case 5:
		b = []byte{0xff, 0xff, 0xff, 0xff, 0xff}[:rnd.IntN(6)]
	case 6:
		b = []byte{0xc1, 0, 0, 0}[:1+rnd.IntN(4)]
	case 7:
		b = w.Put(64, 3000)
	case 8:
		b = w.Connreq()
	}
	if rnd.IntN(5) == 0 {
		b = b[:rnd.IntN(len(b)+1)]
	}
	return b
}

// TestStreamsUsedAgain plays a dialog on a connection that gets the memory of others, which have
// ended or are idle: nothing of them remains.
func TestStreamsUsedAgain(t *testing.T) {
	for seed := range wiretest.Rounds[uint64](500) {
		rnd := rand.New(rand.NewPCG(seed, 8))
		var before []capture.Frame
		now := int64(1e18)
		for i := range 4 {
			before = append(before, moved(resent(rnd, randomDialog(rnd)), uint16(2000+i), now)...)
			now += []int64{closedIdle, forgetAge, maxIdle}[rnd.IntN(3)] + 1e9
		}
		now += maxIdle
		others := wiretest.NewConn().OtherFrames(2 * ReorderFrames) // whatever waits for late frames goes on
		others.Open()
		last := append(moved(others, 3000, now), moved(resent(rnd, randomDialog(rnd)), 4000, now+1e9)...)
		all := append(before, last...)
		wiretest.Renumber(all)
		alone, _ := everything(last)
		after, st := everything(all)
		if st.TCP.Evicted == 0 {
			t.Fatal("no connection ended")
		}
		after = after[max(0, len(after)-len(alone)):]
		must.Equal(t, strings.Join(after, "\n"), strings.Join(alone, "\n"), fmt.Sprintf("seed %d", seed))
	}
}

// everything describes what a Decoder hands out, without numbers that count from its first frame.
func everything(frames []capture.Frame) (list []string, st Stats) {
	add := func(format string, args ...any) { list = append(list, fmt.Sprintf(format, args...)) }
	times := make(map[int64]int64) // of messages
	d := NewDecoder(Options{
		Handle: func(m *Message) {
			times[m.Number] = m.Time
			c := *m
			c.Number, c.Conn, c.Order, c.Frame = 0, 0, 0, 0
			add("%+v", c)
		},
		TransferUpdate: func(number int64, t *Transfer) { add("%d %+v", times[number], *t) },
		Lost:           func(l *Loss) { add("%+v", *l) },
		Active: func(m *Activity) {
			c := *m
			c.Order, c.Number = 0, 0
			add("%+v", c)
		},
		TCPEvent: func(m *TCPEvent) {
			c := *m
			c.Conn, c.Order, c.Number = 0, 0, 0
			add("%+v", c)
		},
	})
	for i := range frames {
		d.Frame(&frames[i])
	}
	d.Close()
	return list, d.Stats()
}

// resent adds frames of a dialog again, some time later.
func resent(rnd *rand.Rand, tc *wiretest.Conn) *wiretest.Conn {
	for range rnd.IntN(4) {
		tc.Now += 1e9
		tc.Frame(capture.LinkEthernet, tc.Frames[rnd.IntN(len(tc.Frames))].Data)
	}
	return tc
}

// moved returns the frames of a dialog with another port of the client, from another time on.
func moved(tc *wiretest.Conn, port uint16, from int64) []capture.Frame {
	const sourcePort, destPort = 34, 36
	first := tc.Frames[0].Time
	for i := range tc.Frames {
		f := &tc.Frames[i]
		f.Time, f.Data = f.Time+from-first, bytes.Clone(f.Data)
		at := sourcePort
		if binary.BigEndian.Uint16(f.Data[sourcePort:]) == DefaultPort {
			at = destPort
		}
		binary.BigEndian.PutUint16(f.Data[at:], port)
	}
	return tc.Frames
}
