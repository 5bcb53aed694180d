package lnet

import (
	"fmt"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/link"
	"github.com/lshark/lshark/internal/wiretest"
)

// bulk returns the frames of a connection with large PUTs in segments of the given size,
// from the first message on.
func bulk(segment int) []capture.Frame {
	tc, w := opened()
	body := w.LNet(false, wiretest.Put, 8, 64, make([]byte, 1<<20))
	stream := wiretest.Join(body, body, body, body)
	tc.SendSplit(stream, segment)
	return tc.Frames
}

// loop repeats frames, with sequence numbers that go on.
type loop struct {
	frames []capture.Frame
	head   int // frames that open the connection
	at     int
	round  uint32
	span   uint32 // bytes of one round
	f      capture.Frame
	number int64
}

func newLoop(frames []capture.Frame, head int) *loop {
	var d link.Decoder
	l := &loop{frames: frames, head: head}
	for i := head; i < len(frames); i++ {
		d.Decode(&frames[i])
		l.span += uint32(d.Segment.Size)
	}
	return l
}

func (l *loop) next() *capture.Frame {
	if l.at == len(l.frames) {
		l.at = l.head
		l.round++
		for i := l.head; i < len(l.frames); i++ {
			b := l.frames[i].Data[38:42]
			seq := orderBig.u32(b) + l.span
			b[0], b[1], b[2], b[3] = byte(seq>>24), byte(seq>>16), byte(seq>>8), byte(seq)
		}
	}
	l.f = l.frames[l.at]
	l.number++
	l.f.Number = l.number
	l.at++
	return &l.f
}

func skipAll(*Message) int { return 0 }

// BenchmarkLink finds the segment in each frame and no more.
func BenchmarkLink(b *testing.B) {
	l := newLoop(bulk(1448), 5)
	var d link.Decoder
	b.ReportAllocs()
	for b.Loop() {
		if d.Decode(l.next()) != link.TCP {
			b.Fatal("no segment")
		}
	}
}

// BenchmarkStream skips bulk data that come in order; a frame is one operation.
func BenchmarkStream(b *testing.B) {
	for _, segment := range []int{1448, 64000} {
		b.Run(fmt.Sprint(segment), func(b *testing.B) {
			l := newLoop(bulk(segment), 5)
			s := NewDecoder(Options{Want: skipAll, Handle: func(*Message) {}})
			b.SetBytes(int64(segment))
			b.ReportAllocs()
			for b.Loop() {
				s.Frame(l.next())
			}
		})
	}
}

func small() []capture.Frame {
	tc, w := opened()
	for i := range uint64(64) {
		tc.Send(false, wiretest.Join(w.Noop(0, 5), w.Put(64*i, 400)))
	}
	return tc.Frames
}

// BenchmarkFraming cuts frames of a NOOP and a small message each.
func BenchmarkFraming(b *testing.B) {
	l := newLoop(small(), 5)
	s := NewDecoder(Options{Want: func(m *Message) int { return m.Size }, Handle: func(*Message) {}})
	b.ReportAllocs()
	for b.Loop() {
		s.Frame(l.next())
	}
}

// TestNoAllocation: in steady state no frame costs an allocation.
func TestNoAllocation(t *testing.T) {
	split, w := opened()
	split.SendSplit(wiretest.Join(w.Put(64, 3000), w.Put(128, 100), w.Noop(0, 1)), 100)
	for name, l := range map[string]*loop{"bulk": newLoop(bulk(1448), 5), "small": newLoop(small(), 5), "split": newLoop(split.Frames, 5)} {
		s := NewDecoder(Options{Want: func(m *Message) int { return 4000 }, Handle: func(*Message) {}})
		if n := testing.AllocsPerRun(20000, func() { s.Frame(l.next()) }); n != 0 {
			t.Errorf("%s: %v allocations per frame", name, n)
		}
	}
}
