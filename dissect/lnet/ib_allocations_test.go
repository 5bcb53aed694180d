package lnet

import (
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/wiretest"
)

// ibLoop repeats frames of a connection, with packet sequence numbers that go on.
type ibLoop struct {
	frames []capture.Frame
	head   int // frames that open the connection
	at     int
	span   map[uint32]uint32 // packets of one round, by the queue pair that they are sent to
	peer   map[uint32]uint32
	f      capture.Frame
	number int64
	now    int64
}

// Offsets in a frame of RoCEv2.
const (
	bthOff    = 14 + 20 + 8
	destQPOff = bthOff + 5
	psnOff    = bthOff + 9
)

func uint24(b []byte) uint32 { return uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2]) }

func newIBLoop(c *wiretest.QueuePairs, head int) *ibLoop {
	l := &ibLoop{frames: c.Frames, head: head, span: make(map[uint32]uint32)}
	l.peer = map[uint32]uint32{c.A.Number: c.B.Number, c.B.Number: c.A.Number}
	for _, f := range l.frames[head:] {
		if f.Data[bthOff] != wiretest.RCAcknowledge {
			l.span[uint24(f.Data[destQPOff:])]++
		}
	}
	return l
}

func (l *ibLoop) next() *capture.Frame {
	if l.at == len(l.frames) {
		l.at = l.head
		for _, f := range l.frames[l.head:] {
			b := f.Data
			number := uint24(b[destQPOff:])
			if b[bthOff] == wiretest.RCAcknowledge {
				number = l.peer[number]
			}
			psn := uint24(b[psnOff:]) + l.span[number]
			b[psnOff], b[psnOff+1], b[psnOff+2] = byte(psn>>16), byte(psn>>8), byte(psn)
		}
	}
	l.f = l.frames[l.at]
	l.number++
	l.now += 1000
	l.f.Number, l.f.Time = l.number, l.now
	l.at++
	return &l.f
}

// Frames before the messages of a loop: those of the connection manager.
const connectFrames = 3

// ibBulk returns a connection with bulk data, read and written.
func ibBulk() *ibLoop {
	w := wiretest.O2iblnd{Credits: 1}
	c := connected(w)
	data := make([]byte, 1<<20)
	put(c, w, false, 1, data, 1<<20)
	get(c, w, true, 2, data, 1<<20)
	return newIBLoop(c, connectFrames)
}

// ibSmall returns a connection with small messages.
func ibSmall() *ibLoop {
	w := wiretest.O2iblnd{Credits: 1}
	c := connected(w)
	for i := range uint64(64) {
		c.Send(false, w.Immediate(false, wiretest.Put, requestPortal, 64*i, 0, make([]byte, 400))).Ack(true)
		c.Send(true, w.Immediate(true, wiretest.Put, 10, 64*i, 0, make([]byte, 3500))).Ack(false)
	}
	return newIBLoop(c, connectFrames)
}

// TestIBNoAllocation: in steady state no frame costs an allocation.
func TestIBNoAllocation(t *testing.T) {
	for name, l := range map[string]*ibLoop{"bulk": ibBulk(), "small": ibSmall()} {
		for want, f := range map[string]func(*Message) int{"nothing": skipAll, "all": func(m *Message) int { return m.Size }} {
			messages := 0
			s := NewDecoder(Options{Want: f, Frames: true, Handle: func(*Message) { messages++ }})
			for range 3 * len(l.frames) {
				s.Frame(l.next())
			}
			if n := testing.AllocsPerRun(20000, func() { s.Frame(l.next()) }); n != 0 {
				t.Errorf("%s, want %s: %v allocations per frame", name, want, n)
			}
			if st := s.Stats(); messages < 10 || st.IB.Gaps > 0 || st.IB.Unjoined > 0 || st.IB.Retransmits > 0 {
				t.Errorf("%s: %d messages, %+v", name, messages, st.IB)
			}
		}
	}
}
