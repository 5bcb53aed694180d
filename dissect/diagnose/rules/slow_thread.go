package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

var _ = add(diagnose.Rule{
	Code:     "slow.thread",
	Logs:     true,
	Severity: diagnose.Warning,
	Noun:     "inactive service thread",
	Summary:  "A service thread worked for one request for so long that the kernel reported it.",
	Meaning: "A server watches its service threads. Of one that works for a request for too long it logs \"service thread pid … was inactive\", with " +
		"the stack of the thread, and \"completed after\" when it goes on. The rule counts these lines in the log of a server.",
	Limits: "Only the logs of servers have it (--log beside a capture). What the thread waits for is in the stack, which is in the console log.",
	Next: "The stack traces in the console log of the server show where the threads wait: for the disk, a lock, the network, or another server. " +
		"lshark rpcs --slowest with this log shows the requests.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := &stuckThreads{r, fifo.NewMap[int, *stuckThread](maxTargets)}
		return diagnose.Hooks{Line: s.line}
	},
})

// stuckThreads are the lines about threads, by the number of the log.
type stuckThreads struct {
	report *diagnose.Reporter
	logs   *fifo.Map[int, *stuckThread]
}

type stuckThread struct {
	series
	longest int64
	open    map[uint32]bool // threads that go on, by their process ids
}

func (s *stuckThreads) line(l *track.LogLine) {
	if l.Kind != debuglog.ThreadStuck && l.Kind != debuglog.ThreadOver {
		return
	}
	t := fifo.GetOrMake(s.logs, l.Log, func() *stuckThread { return &stuckThread{open: make(map[uint32]bool)} })
	if l.Kind == debuglog.ThreadOver {
		if delete(t.open, l.Number); t.count == 0 {
			t.series.add(l.Time - l.Service)
		}
		t.last = max(t.last, l.Time)
	} else if t.series.add(l.Time); len(t.open) < maxTargets {
		t.open[l.Number] = true
	}
	t.longest = max(t.longest, l.Service)
	f := t.finding(diagnose.Subject{Server: l.Node, Detail: l.File})
	suspect(&f, atThread(l.Node), atStorage("", l.Node), diagnose.Place{Kind: diagnose.AtOtherServer, Node: l.Node}, atHolder(lnet.NID{}))
	f.ProveLine(l)
	t.proofs = f.Evidence[:min(len(f.Evidence), maxProofs)]
	f.First = min(f.First, l.Time-l.Service)
	f.Text = fmt.Sprintf("The kernel of %s reported %s that worked for one request for long, the longest %s.", nodeOf(l), plural(t.count,
		"service thread"), duration(t.longest))
	if n := len(t.open); n > 0 {
		f.Text += " " + plural(n, "thread") + " " + was(n) + " still inactive when the log ended."
	}
	s.report.Report(f)
}

// nodeOf returns the node of a log, its name, or the name of the log.
func nodeOf(l *track.LogLine) string {
	if l.Node.Len == 0 && l.Host != "" {
		return l.Host
	}
	return nameOf(l.Node, l.Point())
}

// nameOf returns a node, or if it is unknown that of a line of its log.
func nameOf(n lnet.NID, line track.Point) string {
	if n.Len > 0 {
		return n.String()
	}
	return "the node of " + line.File
}
