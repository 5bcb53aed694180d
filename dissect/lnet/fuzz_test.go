package lnet

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
)

// FuzzStream plays segments whose place, length, direction and flags are in plan, with
// the bytes of stream as payload.
func FuzzStream(f *testing.F) {
	for _, w := range []wiretest.Socklnd{{Version: 1}, {Version: 2, Big: true, Sum: true}, {Version: 3}, {Version: 4}} {
		stream := wiretest.Join(w.Connreq(), w.Hello(false, 1, 2), w.Put(64, 100), w.Noop(0, 5), w.Put(128, 300), w.Put(192, 10))
		for _, plan := range [][]byte{nil, {50, 10, 0, 0, 9, 200, 40}, {1, 3, 90, 255, 0, 60}} {
			f.Add(plan, stream)
		}
	}
	f.Fuzz(func(t *testing.T, plan, stream []byte) {
		held := 0
		s := NewDecoder(Options{
			MaxStream: 1 << 18, MaxTotal: 1 << (10 + len(plan)%11), Frames: true,
			Want:   func(m *Message) int { return int(m.LNet.MatchBits % 1000) },
			Handle: func(m *Message) { checkMessage(t, m) },
		})
		for _, fr := range fuzzFrames(plan, stream) {
			s.Frame(&fr)
			held = max(held, s.Stats().Held)
		}
		s.Close()
		if st := s.Stats(); st.Held != 0 || held > 8<<20 {
			t.Fatalf("%d bytes held, %d at the end", held, st.Held)
		}
	})
}

// FuzzLNet plays the bytes that two nodes send to each other, in order and whole. They
// determine hello, version, byte order and framing.
func FuzzLNet(f *testing.F) {
	for _, w := range []wiretest.Socklnd{{Version: 1}, {Version: 2, Big: true, Sum: true}, {Version: 3}, {Version: 4}} {
		f.Add(wiretest.Join(w.Connreq(), w.Hello(false, 1, 2), w.Put(64, 100), w.LNet(false, wiretest.Get, 8, 65, nil), w.Noop(0, 5)),
			wiretest.Join(w.Hello(true, 3), w.LNet(true, wiretest.Reply, 0, 0, make([]byte, 40)), w.LNet(true, wiretest.Ack, 0, 64, nil)))
	}
	f.Fuzz(func(t *testing.T, there, back []byte) {
		d := NewDecoder(Options{Handle: func(m *Message) { checkMessage(t, m) }})
		tc := wiretest.NewConn().Open()
		for len(there)+len(back) > 0 {
			n, k := min(len(there), 700), min(len(back), 500)
			if tc.Send(false, there[:n]); k > 0 {
				tc.Send(true, back[:k])
			}
			there, back = there[n:], back[k:]
		}
		for i := range tc.Frames {
			d.Frame(&tc.Frames[i])
		}
		d.Close()
	})
}

// FuzzTwoWays plays the bytes that two nodes send, in pieces with losses, cuts and swaps:
// a byte of plan is the direction, the length, and what happens to the piece.
func FuzzTwoWays(f *testing.F) {
	for seed := range uint64(40) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		plan, there, back := make([]byte, 30), []byte(nil), []byte(nil)
		for i := range plan {
			plan[i] = byte(rnd.Uint32())
		}
		for range 8 {
			there, back = append(there, randomPiece(rnd)...), append(back, randomPiece(rnd)...)
		}
		f.Add(plan, there, back)
	}
	f.Fuzz(func(t *testing.T, plan, there, back []byte) {
		tc := wiretest.NewConn()
		for _, p := range plan {
			data := &there
			if p&1 != 0 {
				data = &back
			}
			n := min(int(p>>1&15)*11, len(*data))
			switch p >> 5 {
			case 0:
				tc.Lose(n + 1)
			case 1:
				tc.Open()
			default:
				tc.Send(p&1 != 0, (*data)[:n])
				*data = (*data)[n:]
			}
			last := len(tc.Frames) - 1
			switch {
			case p>>5 == 6 && last > 0:
				tc.Swap(last, last-1)
			case p>>5 == 7 && n > 0:
				fr := &tc.Frames[last]
				fr.Data = fr.Data[:len(fr.Data)-(n+1)/2]
			}
		}
		if left := playTwoWays(t, tc); left != "" {
			t.Fatal(left)
		}
	})
}

// fuzzFrames makes segments: three bytes of plan are the length, a step back
// or forth, and flags.
func fuzzFrames(plan, stream []byte) []capture.Frame {
	tc := wiretest.NewConn()
	at := 0
	for len(plan) >= 3 && at < len(stream) {
		n, step, bits := int(plan[0]), int(int8(plan[1])), plan[2]
		plan = plan[3:]
		from := max(0, min(at+step, len(stream)))
		to := min(from+n, len(stream))
		a, b := &tc.A, &tc.B
		if bits&1 != 0 {
			a, b = b, a
		}
		b.Seq = wiretest.ISNOfB + binary.BigEndian.Uint32([]byte{0, 0, bits, bits})
		tc.Segment(a, b, bits&(tcpSYN|tcpFIN|tcpRST)|tcpACK, wiretest.ISNOfA+uint32(from), stream[from:to])
		if bits&0x20 != 0 {
			fr := &tc.Frames[len(tc.Frames)-1]
			fr.Data = fr.Data[:max(54, len(fr.Data)-n/2)]
		}
		if bits&0x40 != 0 {
			tc.OtherFrames(3)
		}
		at = max(at, to)
	}
	tc.A.Seq = wiretest.ISNOfA + uint32(at)
	tc.SendSplit(stream[min(at, len(stream)):], 1000)
	return tc.Frames
}

// checkMessage fails if a message is inconsistent.
func checkMessage(t *testing.T, m *Message) {
	t.Helper()
	bad := len(m.Data) > m.Size || m.PayloadOff > m.Size || m.LNetOff > m.PayloadOff || (m.Tail == Present) != (len(m.Data) == m.Size)
	end := 0
	for _, h := range m.Holes {
		bad = bad || h.Len <= 0 || h.Off < end || h.Off+h.Len > len(m.Data)
		end = h.Off + h.Len
	}
	if bad {
		t.Fatalf("%+v", m)
	}
}
