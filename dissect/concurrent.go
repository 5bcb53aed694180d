package dissect

import (
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
			b.deliver(&o)
			b.reset()
			s.free <- b
		}
	}()
	concurrent = o
	if o.Handle != nil {
		concurrent.Handle = s.message
	}
	if o.TransferUpdate != nil {
		concurrent.TransferUpdate = s.transfer
	}
	if o.Lost != nil {
		concurrent.Lost = s.loss
	}
	if o.TCPEvent != nil {
		concurrent.TCPEvent = s.segment
	}
	if o.Active != nil {
		concurrent.Active = s.activity
	}
	if o.IBEvent != nil {
		concurrent.IBEvent = s.ibEvent
	}
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
		b := &batch{order: make([]handout, 0, maxBatchHandouts)}
		b.messages.grow(maxBatchHandouts, maxBatchBytes+maxBatchBytes/8)
		return b
	}
	return <-s.free
}

// add notes the kind of the handout that was added to the batch last.
func (s *sender) add(k handout) {
	b := s.next
	b.order = append(b.order, k)
	if len(b.order) >= maxBatchHandouts || b.messages.Size() >= maxBatchBytes {
		s.send()
	}
}

func (s *sender) message(m *Message) {
	s.next.messages.Add(m)
	s.next.frames = append(s.next.frames, m.Frames...)
	s.next.frameEnds = append(s.next.frameEnds, len(s.next.frames))
	s.add(aMessage)
}

func (s *sender) transfer(number int64, t *lnet.Transfer) {
	s.next.transfers = append(s.next.transfers, numberedTransfer{number, *t})
	s.add(aTransfer)
}

func (s *sender) loss(l *lnet.Loss) {
	b := s.next
	n := len(b.nids)
	b.nids = append(b.nids, l.NIDs...)
	b.losses = append(b.losses, *l)
	b.losses[len(b.losses)-1].NIDs = b.nids[n:len(b.nids):len(b.nids)]
	s.add(aLoss)
}

func (s *sender) segment(m *lnet.TCPEvent) {
	s.next.segments = append(s.next.segments, *m)
	s.add(aSegment)
}

func (s *sender) activity(m *lnet.Activity) {
	s.next.activities = append(s.next.activities, *m)
	s.add(anActivity)
}

func (s *sender) ibEvent(r *lnet.IBEvent) {
	s.next.ibEvents = append(s.next.ibEvents, *r)
	s.add(anIBEvent)
}

// handout is a kind of what a Dissector hands out.
type handout uint8

const (
	aMessage handout = iota
	aTransfer
	aLoss
	aSegment
	anActivity
	anIBEvent
	handoutKinds
)

type numberedTransfer struct {
	number   int64
	transfer lnet.Transfer
}

// batch holds copies of handouts, by kind, and their order.
type batch struct {
	order      []handout
	messages   Arena
	frames     []int64 // Message.Frames of all messages
	frameEnds  []int   // where those of each message end
	transfers  []numberedTransfer
	losses     []lnet.Loss
	nids       []lnet.NID
	segments   []lnet.TCPEvent
	activities []lnet.Activity
	ibEvents   []lnet.IBEvent
}

func (b *batch) reset() {
	b.messages.Reset()
	b.order, b.frames, b.frameEnds = b.order[:0], b.frames[:0], b.frameEnds[:0]
	b.transfers, b.losses, b.nids = b.transfers[:0], b.losses[:0], b.nids[:0]
	b.segments, b.activities, b.ibEvents = b.segments[:0], b.activities[:0], b.ibEvents[:0]
}

// deliver passes the handouts to the funcs of o.
func (b *batch) deliver(o *Options) {
	var next [handoutKinds]int // index of the next one of each kind
	for _, kind := range b.order {
		i := next[kind]
		next[kind]++
		switch kind {
		case aMessage:
			o.Handle(b.message(i))
		case aTransfer:
			o.TransferUpdate(b.transfers[i].number, &b.transfers[i].transfer)
		case aLoss:
			o.Lost(&b.losses[i])
		case aSegment:
			o.TCPEvent(&b.segments[i])
		case anActivity:
			o.Active(&b.activities[i])
		case anIBEvent:
			o.IBEvent(&b.ibEvents[i])
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
