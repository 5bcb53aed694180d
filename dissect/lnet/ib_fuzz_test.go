package lnet

import (
	"math/rand/v2"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"
)

// ibPlan returns the packets of the actions in plan: a byte has the action in its upper half
// and the parameters in its lower half. noise is the contents of invalid messages.
func ibPlan(plan, noise []byte) *wiretest.QueuePairs {
	w := wiretest.O2iblnd{Credits: 1, Sum: len(plan)%2 == 0, Big: len(plan)%3 == 0}
	c := wiretest.NewQueuePairs()
	if len(noise)%2 == 0 {
		c.Connect(w.Connreq(), w.Connack())
	}
	for i, p := range plan {
		back, cookie := p&1 != 0, uint64(p>>1&7)
		size := 100 + 700*int(cookie)
		memory := wiretest.Fragment{Address: 0x1000 * cookie, Size: uint32(size)}
		switch p >> 4 {
		case 0, 1:
			c.Send(back, w.Immediate(back, wiretest.Put, requestPortal, cookie, 0, make([]byte, size%3900)))
		case 2:
			c.Send(back, w.PutReq(back, wiretest.Put, bulkPortal, cookie, 0, size, cookie))
		case 3:
			c.Send(back, w.PutAck(back, cookie, 100+cookie, 0x99, memory))
		case 4, 5, 6:
			c.Write(back, memory.Address, 0x99, make([]byte, size))
		case 7:
			c.Send(back, w.Done(back, wiretest.O2PutDone, 100+cookie, int32(size)))
		case 8:
			c.Send(back, w.GetReq(back, bulkPortal, cookie, cookie, 0x99, memory))
		case 9:
			c.Send(back, w.Done(back, wiretest.O2GetDone, cookie, int32(size)-int32(i)))
		case 10:
			c.Send(back, w.Done(back, wiretest.O2PutNak, cookie, -5))
		case 11:
			c.Lose(back, 1+int(cookie))
		case 12:
			if n := len(c.Frames); n > 1 {
				k := max(0, n-2-int(cookie))
				c.Frames[n-1].Data, c.Frames[k].Data = c.Frames[k].Data, c.Frames[n-1].Data
				c.Frames[n-1].Len, c.Frames[k].Len = c.Frames[k].Len, c.Frames[n-1].Len
			}
		case 13:
			if n := len(c.Frames); n > 0 {
				f := &c.Frames[n-1]
				f.Data = f.Data[:len(f.Data)*int(cookie+1)/9]
			}
		case 14:
			n := min(len(noise), 60*int(cookie))
			c.Send(back, noise[:n])
			noise = noise[n:]
		case 15:
			switch cookie {
			case 0:
				c.Disconnect(back)
			case 1:
				c.Connect(w.Connreq(), w.Connack())
			case 2:
				c.Reject(28, w.Refusal(byte(i)))
			case 3:
				c.CM(back, wiretest.CMReq, noise[:min(len(noise), 232)])
			case 4:
				c.Acknowledge(back, uint32(i)*1000, p, 0)
			default:
				c.Ack(back)
			}
		}
	}
	return c
}

// playIB checks every message of a plan, and that nothing is held at its end.
func playIB(t *testing.T, plan, noise []byte, total int) {
	t.Helper()
	held := 0
	s := NewDecoder(Options{
		MaxStream: 1 << 16, MaxTotal: total, Frames: len(plan)%2 == 0,
		Want: func(m *Message) int { return int(m.LNet.MatchBits % 5 * 1000) },
		Handle: func(m *Message) {
			checkMessage(t, m)
			if m.IB == nil || len(m.IB.Parts) == 0 || m.Order == 0 {
				t.Fatalf("%+v", m)
			}
		},
	})
	c := ibPlan(plan, noise)
	for i := range c.Frames {
		c.Frames[i].Number = int64(i + 1)
		s.Frame(&c.Frames[i])
		held = max(held, s.Stats().Held)
	}
	s.Close()
	if st := s.Stats(); st.Held != 0 || len(s.out.gaps) != 0 || held > total+4<<20 {
		t.Fatalf("%d bytes held, %d at the end, %d gaps", held, st.Held, len(s.out.gaps))
	}
}

// TestRandomIB plays random plans under different limits of memory.
func TestRandomIB(t *testing.T) {
	for seed := range wiretest.Rounds[uint64](4000) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		plan, noise := make([]byte, 1+rnd.IntN(120)), make([]byte, rnd.IntN(400))
		for i := range plan {
			plan[i] = byte(rnd.Uint32())
		}
		for i := range noise {
			noise[i] = byte(rnd.Uint32())
		}
		playIB(t, plan, noise, 1<<(12+seed%12))
	}
}

func FuzzIB(f *testing.F) {
	w := wiretest.O2iblnd{}
	f.Add([]byte{0x22, 0x33, 0x42, 0x72}, w.Noop(false))
	f.Add([]byte{0x82, 0x43, 0x93, 0xb0, 0x43, 0xe4, 0xff}, w.PutAck(false, 1, 2, 3, wiretest.Fragment{Address: 1, Size: 1}))
	f.Fuzz(func(t *testing.T, plan, noise []byte) {
		playIB(t, plan[:min(len(plan), 300)], noise, 1<<(12+len(noise)%12))
	})
}

// FuzzKib plays the bytes of SENDs and of the private data of a connect.
func FuzzKib(f *testing.F) {
	for _, w := range o2Forms {
		big := wiretest.Fragment{Address: 0xffff_ffff_ffff_f000, Size: 0xffff_ffff}
		for _, b := range [][]byte{
			w.Immediate(false, wiretest.Put, requestPortal, 1, 0, make([]byte, 100)), w.Noop(false), w.Connreq(), w.Refusal(3),
			w.PutReq(false, wiretest.Put, bulkPortal, 1, 0, 1<<30, 7), w.PutAck(true, 7, 8, 9, big, big), w.GetReq(true, bulkPortal, 1, 7, 9, big),
			w.Done(false, wiretest.O2PutDone, 8, -1<<31), w.Done(false, wiretest.O2GetDone, 7, 1<<31-1), w.Done(true, wiretest.O2PutNak, 7, -5),
		} {
			f.Add(b, w.GetReq(true, bulkPortal, 1, 7, 9, big), w.Done(false, wiretest.O2GetDone, 7, 1<<20))
		}
	}
	f.Fuzz(func(t *testing.T, first, second, third []byte) {
		c := wiretest.NewQueuePairs().Connect(first[:min(len(first), 56)], second[:min(len(second), 140)])
		c.Send(false, first).Ack(true).Send(true, second).Ack(false)
		c.Write(false, 0xffff_ffff_ffff_f000, 9, make([]byte, 3000))
		c.Send(false, third).Send(true, first).Send(false, second)
		c.Reject(28, third[:min(len(third), 100)])
		s := NewDecoder(Options{Frames: true, Handle: func(m *Message) { checkMessage(t, m) }})
		for i := range c.Frames {
			s.Frame(&c.Frames[i])
		}
		s.Close()
		if held := s.Stats().Held; held != 0 {
			t.Fatalf("%d bytes are held", held)
		}
	})
}
