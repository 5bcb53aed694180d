package dissect

import "github.com/lshark/lshark/dissect/lnet"

// Messages are handed out in the order of the frames that completed them. The
// queue lateMessages holds those that have to wait for earlier ones; "Delays" in
// the comment of package lnet describes it, with the queues there.

const (
	maxRequestWait  = 2 * lnet.ReorderFrames // frames; a gap is given up after half as many
	maxLateMessages = 1 << 12
	maxLateBytes    = 16 << 20
)

// lateMessage is a message that is held until those before it were handed out.
type lateMessage struct {
	arena  Arena // holds it alone
	frames []int64
	since  int64 // count of frames when it was completed
	paired bool  // its request is known, or it has none
}

func (w *lateMessage) size() int { return w.arena.Size() + len(w.frames)*frameSize }

// lateMessages is a queue of messages in the order of their frames. The first
// one waits for its request, or for messages behind a gap.
type lateMessages struct {
	queue []*lateMessage // from head on
	head  int
	spare []*lateMessage
	bytes int
}

// put adds a copy of a message; now is the count of frames.
func (l *lateMessages) put(m *Message, paired bool, now int64) {
	var w *lateMessage
	if n := len(l.spare); n > 0 {
		w, l.spare = l.spare[n-1], l.spare[:n-1]
	} else {
		w = &lateMessage{}
	}
	w.arena.Reset()
	w.arena.Add(m)
	w.frames = append(w.frames[:0], m.Frames...)
	w.since, w.paired = now, paired
	l.queue = append(l.queue, w)
	for i := len(l.queue) - 1; i > l.head && l.queue[i-1].arena.At(0).Order > m.Order; i-- {
		l.queue[i], l.queue[i-1] = l.queue[i-1], l.queue[i]
	}
	l.bytes += w.size()
}

// full reports whether a bound is reached, so that the first message must be handed
// out although it still waits.
func (l *lateMessages) full() bool { return l.len() > maxLateMessages || l.bytes > maxLateBytes }

func (l *lateMessages) len() int { return len(l.queue) - l.head }

// pop removes the first message.
func (l *lateMessages) pop() {
	w := l.queue[l.head]
	l.bytes -= w.size()
	if l.head++; 2*l.head >= len(l.queue) {
		l.queue = append(l.queue[:0], l.queue[l.head:]...)
		l.head = 0
	}
	const small = 4 << 10 // large ones are not kept for reuse
	if w.size() <= small {
		l.spare = append(l.spare, w)
	}
}

// release hands out the messages that need not wait any longer; all of them if all
// is set.
func (d *Dissector) release(all bool) {
	for d.late.len() > 0 {
		w := d.late.queue[d.late.head]
		m := w.arena.At(0)
		forced := all || d.late.full()
		if held := d.lnet.Held(); held != 0 && m.Order >= held && !forced {
			return
		}
		if !w.paired {
			w.paired = d.pair(m)
		}
		if !w.paired && !forced && d.frames-w.since < maxRequestWait {
			return
		}
		m.Frames = w.frames
		if m.Req != nil {
			d.requests.refresh(m)
		}
		d.handle(m)
		d.late.pop()
	}
}

// updateTransfer takes what TCP did with a message that the decoder has handed
// out: it may be among the late messages.
func (d *Dissector) updateTransfer(number int64, t *lnet.Transfer) {
	for _, w := range d.late.queue[d.late.head:] {
		if m := w.arena.At(0); m.Number == number {
			m.Transfer.Add(t)
			return
		}
	}
	d.later(number, t)
}
