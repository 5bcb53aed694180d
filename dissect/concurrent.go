package dissect

import (
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
)

// The bounds of what one batch between the goroutines of Concurrent holds, and how
// many batches there are.
const (
	maxBatchHandouts = 256
	maxBatchBytes    = 256 << 10
	batches          = 4
)

// Concurrent returns options for a Dissector whose funcs Handle, TransferUpdate, Lost,
// TCPEvent, Active and IBEvent pass copies on to those of o, which run in a goroutine of their own, in the same
// order. After Close of the Dissector, wait returns when they have got everything.
func Concurrent(o Options) (concurrent Options, wait func()) {
	s := &sender{free: make(chan *batch, batches), full: make(chan *batch, batches)}
	s.next = s.unused()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for b := range s.full {
			b.deliver(o.Handle)
			b.reset()
			s.free <- b
		}
	}()
	concurrent = o
	if o.Handle != nil {
		concurrent.Handle = s.message
	}
	if hook := o.TransferUpdate; hook != nil {
		concurrent.TransferUpdate = func(number int64, t *lnet.Transfer) {
			update := *t
			s.call(func() { hook(number, &update) })
		}
	}
	if hook := o.Lost; hook != nil {
		concurrent.Lost = func(l *lnet.Loss) {
			loss := *l
			loss.NIDs = slices.Clone(l.NIDs)
			s.call(func() { hook(&loss) })
		}
	}
	concurrent.TCPEvent, concurrent.Active, concurrent.IBEvent = passOn(s, o.TCPEvent), passOn(s, o.Active), passOn(s, o.IBEvent)
	return concurrent, func() {
		s.send()
		close(s.full)
		<-done
	}
}

// sender fills batches with copies of what a Dissector hands out.
type sender struct {
	free, full chan *batch
	made       int
	next       *batch
}

func (s *sender) send() {
	s.full <- s.next
	s.next = s.unused()
}

// unused returns an empty batch. Batches are made when they are first needed: many captures
// have few messages.
func (s *sender) unused() *batch {
	if len(s.free) == 0 && s.made < batches {
		s.made++
		b := &batch{}
		b.messages.grow(maxBatchHandouts, maxBatchBytes+maxBatchBytes/8)
		return b
	}
	return <-s.free
}

// sendFull sends the batch on when it is full.
func (s *sender) sendFull() {
	if b := s.next; b.messages.Len()+len(b.calls) >= maxBatchHandouts || b.messages.Size() >= maxBatchBytes {
		s.send()
	}
}

func (s *sender) message(m *Message) {
	s.next.messages.Add(m)
	s.next.frames = append(s.next.frames, m.Frames...)
	s.next.frameEnds = append(s.next.frameEnds, len(s.next.frames))
	s.sendFull()
}

// call has do called behind the messages so far. These are few: what goes wrong, and once in a second that
// a connection is used.
func (s *sender) call(do func()) {
	s.next.calls = append(s.next.calls, call{s.next.messages.Len(), do})
	s.sendFull()
}

// passOn returns a hook that has another one called with a copy of the event, in the order of the messages; nil for nil.
func passOn[T any](s *sender, hook func(*T)) func(*T) {
	if hook == nil {
		return nil
	}
	return func(event *T) {
		e := *event
		s.call(func() { hook(&e) })
	}
}

// batch holds copies of what a Dissector hands out.
type batch struct {
	messages  Arena
	frames    []int64 // Message.Frames of all messages
	frameEnds []int   // where those of each message end
	calls     []call  // of the other funcs
}

// call is a call behind a number of messages.
type call struct {
	messages int
	do       func()
}

func (b *batch) reset() {
	b.messages.Reset()
	clear(b.calls)
	b.frames, b.frameEnds, b.calls = b.frames[:0], b.frameEnds[:0], b.calls[:0]
}

// deliver passes all on in the order in which it came.
func (b *batch) deliver(handle func(*Message)) {
	next := 0
	for i := range b.messages.Len() + 1 {
		for ; next < len(b.calls) && b.calls[next].messages == i; next++ {
			b.calls[next].do()
		}
		if i < b.messages.Len() {
			handle(b.message(i))
		}
	}
}

func (b *batch) message(i int) *Message {
	m, from := b.messages.At(i), 0
	if i > 0 {
		from = b.frameEnds[i-1]
	}
	if to := b.frameEnds[i]; to > from {
		m.Frames = b.frames[from:to:to]
	}
	return m
}
