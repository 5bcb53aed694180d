package dissect

import (
	"github.com/lshark/lshark/lnet"
)

// Messages are handed out in the order of the frames that completed them. Three
// things stand in the way. A gap holds back what is behind it until it is given
// up, while messages on other connections are complete: they wait for it. So do
// those of other capture points while the segments of one wait for a SYN. And a
// reply, a bulk transfer or an ACK can be complete before its request, when the
// capture has the frames of several connections in another order: it waits a
// while, and all behind it. When too much waits, the first go out of order.
//
// Two kinds of messages are not waited for, as that could take as long as their
// connection is silent: those in mid-stream that are believed only with a
// header behind them, and those that the snaplen cut, which bear
// the number of the frame that was cut. They come late, with the numbers they
// have.

const (
	latePatience = 2 * lnet.ReorderFrames // frames; a gap is given up after half as many
	lateMessages = 1 << 12
	lateBytes    = 16 << 20
)

// waiting is a message kept until its turn.
type waiting struct {
	arena  Arena
	frames []int64
	since  int64 // in frames of the capture
	known  bool  // its request is known, or it needs none
}

func (w *waiting) size() int { return w.arena.Size() + len(w.frames)*frameSize }

// late is a queue of messages in the order of their frames. The first waits for
// its request or for messages behind a gap.
type late struct {
	queue []*waiting // from head on
	head  int
	spare []*waiting
	bytes int
}

func (l *late) put(m *Message, known bool, now int64) {
	var w *waiting
	if n := len(l.spare); n > 0 {
		w, l.spare = l.spare[n-1], l.spare[:n-1]
	} else {
		w = &waiting{}
	}
	w.arena.Reset()
	w.arena.Add(m)
	w.frames = append(w.frames[:0], m.Frames...)
	w.since, w.known = now, known
	l.queue = append(l.queue, w)
	for i := len(l.queue) - 1; i > l.head && l.queue[i-1].arena.At(0).Frame > m.Frame; i-- {
		l.queue[i], l.queue[i-1] = l.queue[i-1], l.queue[i]
	}
	l.bytes += w.size()
}

// full says whether the first message must go, whatever it waits for.
func (l *late) full() bool { return l.len() > lateMessages || l.bytes > lateBytes }

func (l *late) len() int { return len(l.queue) - l.head }

func (l *late) pop() {
	w := l.queue[l.head]
	l.bytes -= w.size()
	if l.head++; 2*l.head >= len(l.queue) {
		l.queue = append(l.queue[:0], l.queue[l.head:]...)
		l.head = 0
	}
	const small = 4 << 10 // many large ones would be kept for good
	if w.size() <= small {
		l.spare = append(l.spare, w)
	}
}

// release hands out the messages whose turn it is; all of them when nothing
// more comes.
func (d *Dissector) release(all bool) {
	for d.late.len() > 0 {
		w := d.late.queue[d.late.head]
		m := w.arena.At(0)
		forced := all || d.late.full()
		if held := d.lnet.Held(); held != 0 && m.Frame >= held && !forced {
			return
		}
		if !w.known {
			w.known = d.resolve(m)
		} else if m.Kind == lnet.Request || m.Kind == lnet.Reply || m.Kind == lnet.EarlyReply {
			d.reopen(m)
		}
		if !w.known && !forced && d.frames-w.since < latePatience {
			return
		}
		m.Frames = w.frames
		d.handle(m)
		d.late.pop()
	}
}

// reopen takes the RPC message apart once more: what was taken apart when it
// came belongs to another message by now.
func (d *Dissector) reopen(m *Message) {
	p := &d.msg
	if ok, encrypted := p.openIn(m); !ok || encrypted {
		m.Msg = nil
		return
	}
	p.identify(m.RPC.Opcode, m.Kind != lnet.Request, nil)
	p.Variant = m.RPC.Variant
	m.Msg = &p.Msg
}
