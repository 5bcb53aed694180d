package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var closedTime = &diagnose.Threshold{Name: "time", Value: 1, Unit: "s",
	Reason: "a window that is closed for milliseconds is normal while a receiver is slower than the network"}

var _ = add(diagnose.Rule{
	Code:     "tcp.zero_window",
	Severity: diagnose.Warning,
	Summary:  "A host did not read what had arrived, so the other had to stop sending.",
	Meaning: "A host announces a receive window of 0 when its buffers are full because LNet does not read from the connection. The sender must stop. " +
		"The rule sums up how long the windows of connections between two hosts were closed.",
	Limits: "That LNet does not read is known, and not why: it may have no buffers for messages, or its threads get no CPU.",
	Next:   "On the host that does not read: lctl get_param stats buffers peers (a negative min of rtr or tx), memory and CPU load, and its console log for messages of socklnd.",

	Thresholds: []*diagnose.Threshold{closedTime},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		z := &closedWindows{report: r, pairs: fifo.NewMap[hostPair, *closedPair](maxPairs), streams: fifo.NewMap[stream, track.Point](maxStreams)}
		return diagnose.Hooks{TCPEvent: z.marked, Tick: func(int64) { z.end() }, End: z.end}
	},
})

// closedWindows sums up how long receive windows were closed.
type closedWindows struct {
	report  *diagnose.Reporter
	pairs   *fifo.Map[hostPair, *closedPair]
	streams *fifo.Map[stream, track.Point] // those that are closed, since when
}

// closedPair is what a host did with the windows of its connections to another.
type closedPair struct {
	times       int64
	sum         int64 // nanoseconds
	first, last int64
	longest     int64
	evidence    []closedWindow
}

// closedWindow is a time in which a window was closed.
type closedWindow struct {
	from, to track.Point
	time     int64
}

func (z *closedWindows) marked(m *lnet.TCPEvent) {
	key := stream{m.Conn, m.Src}
	if m.ZeroWindows > 0 {
		if _, closed := z.streams.Get(key); !closed {
			z.streams.Put(key, pointOf(m))
		}
		return
	}
	if m.Opened == 0 {
		return
	}
	from, _ := z.streams.Delete(key)
	z.add(pairOf(m), closedWindow{from, pointOf(m), m.Opened})
}

// add counts a time in which a window was closed.
func (z *closedWindows) add(h hostPair, w closedWindow) {
	p, ok := z.pairs.Get(h)
	if !ok {
		p = &closedPair{first: w.from.Time}
		z.pairs.Put(h, p)
	}
	p.times++
	p.sum += w.time
	p.last = w.to.Time
	p.longest = max(p.longest, w.time)
	if len(p.evidence) < maxClosedProofs {
		p.evidence = append(p.evidence, w)
	}
}

const maxClosedProofs = 4

func (z *closedWindows) end() {
	z.pairs.All(func(h hostPair, p *closedPair) bool {
		if p.sum >= closedTime.Nanoseconds() {
			z.report.Report(z.finding(h, p))
		}
		return true
	})
}

func (z *closedWindows) finding(h hostPair, p *closedPair) diagnose.Finding {
	closed := fmt.Sprintf("%d times, for %s in all and %s at most", p.times, duration(p.sum), duration(p.longest))
	if p.times == 1 {
		closed = "once, for " + duration(p.sum)
	}
	f := h.finding(z.report.Paths())
	f.First, f.Last, f.Count = p.first, p.last, p.times
	f.Text = fmt.Sprintf("%s did not read what %s had sent: its receive window was closed %s. %s had to wait.", h.from, h.to, closed, h.to)
	for _, w := range p.evidence {
		f.Prove(w.from, "%s closes its receive window", h.from)
		f.Prove(w.to, "it opens it after %s", duration(w.time))
	}
	return f
}
