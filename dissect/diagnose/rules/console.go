package rules

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
)

// lines are the lines of a log that a rule counts.
type lines struct {
	kinds   []debuglog.Kind
	reasons []debuglog.Reason                       // nil: all
	many    int64                                   // so many lines are no note only; 0: the first one is none
	where   func(l *track.LogLine) []diagnose.Place // the suspects, nil: the line says nothing

	ofClient bool // clients log them
	ofPeer   bool // they are about the other node, whatever the target
	apart    bool // those after a pause are about something else
	ofThread bool // those that name no node are about that of the last line of their thread
}

// addLines registers a rule about lines of the kernel that name a cause by themselves.
func addLines(rule diagnose.Rule, of lines) bool {
	rule.Logs = true
	rule.Meaning += " The rule counts these lines of logs."
	rule.Limits = "Only logs have it. Lines that the kernel left out, as they repeat each other, are counted where it says how many."
	rule.Start = func(r *diagnose.Reporter) diagnose.Hooks {
		x := &consoleLines{of: of, report: r, subjects: fifo.NewMap[consoleSubject, *consoleSeries](maxTargets),
			threads: fifo.NewMap[logThread, track.LogLine](maxTargets), noNet: fifo.NewMap[int, bool](maxTargets)}
		return diagnose.Hooks{Line: x.line, End: x.end}
	}
	return add(rule)
}

// consoleLines counts the lines of a rule.
type consoleLines struct {
	of       lines
	report   *diagnose.Reporter
	subjects *fifo.Map[consoleSubject, *consoleSeries]
	last     *consoleSeries                      // which lines that were left out repeat
	threads  *fifo.Map[logThread, track.LogLine] // the last line of each that names a node
	noNet    *fifo.Map[int, bool]                // logs of nodes on which LNet does not run
}

type logThread struct {
	log int
	pid uint32
}

// consoleSubject is what lines are about.
type consoleSubject struct {
	log            int
	target, device string
	peer           lnet.NID
}

type consoleSeries struct {
	series
	line     track.LogLine // the first one
	places   []diagnose.Place
	requests []diagnose.Request
	number   int // of the series about the same
}

// The pause that divides lines, and into how many findings at most.
const (
	seriesPause = int64(30e9)
	maxSeries   = 8
)

func (x *consoleLines) line(l *track.LogLine) {
	if l.Kind == debuglog.Skipped && x.last != nil && x.last.line.Log == l.Log {
		x.last.count += int64(l.Number)
		return
	}
	x.last = nil
	switch l.Kind {
	case debuglog.Booted, debuglog.NetStopped:
		fifo.Put(x.noNet, l.Log, true)
	case debuglog.NetStarted:
		fifo.Delete(x.noNet, l.Log)
	case debuglog.LinkDown: // as at each boot
		if noNet, _ := fifo.Get(x.noNet, l.Log); noNet {
			return
		}
	}
	peer := l.PeerNode()
	if name, ok := strings.CutPrefix(l.Name, "MGC"); ok && peer.Len == 0 { // a client of an MGS is named after it
		peer, _ = lnet.ParseNID(name)
	}
	about := *l
	if x.of.ofPeer {
		about.Target = ""
	}
	if about.Peer = peer; x.of.ofThread {
		x.byThread(&about)
	}
	if !x.counts(l) {
		return
	}
	places := x.of.where(&about)
	if places == nil {
		return
	}
	k := consoleSubject{l.Log, about.Target, l.Device, about.Peer}
	s := fifo.GetOrMake(x.subjects, k, func() *consoleSeries { return &consoleSeries{line: about, places: places} })
	if x.of.apart && s.count > 0 && l.Time-s.last > seriesPause && s.number < maxSeries {
		x.tell(s)
		*s = consoleSeries{line: about, places: places, number: s.number + 1}
	}
	s.add(l.Time)
	s.requests = withNew(s.requests, diagnose.Request{Server: l.Node, XID: l.XID}, maxRequests)
	if len(s.proofs) < maxProofs {
		var f diagnose.Finding
		f.ProveLine(l)
		s.proofs = append(s.proofs, f.Evidence...)
	}
	if x.last = s; s.count == 1 || s.count == x.of.many {
		x.tell(s)
	}
}

// byThread sets what a line that names no node is about, by the last line of its thread that does.
func (x *consoleLines) byThread(l *track.LogLine) {
	k := logThread{l.Log, l.PID}
	if l.PID == 0 {
		return
	}
	if l.Peer.Len > 0 {
		fifo.Put(x.threads, k, *l)
	} else if last, ok := fifo.Get(x.threads, k); ok && l.Target == "" && l.Time-last.Time < seriesPause {
		l.Peer, l.Target = last.Peer, last.Target
	}
}

// counts reports whether a line is of one of the kinds and reasons.
func (x *consoleLines) counts(l *track.LogLine) bool {
	hasReason := l.Kind == debuglog.Note || l.Reason != debuglog.NoReason
	return slices.Contains(x.of.kinds, l.Kind) && (x.of.reasons == nil || !hasReason || slices.Contains(x.of.reasons, l.Reason))
}

// end reports all that was counted, now that it is known how often it happened.
func (x *consoleLines) end() {
	for _, s := range fifo.All(x.subjects) {
		x.tell(s)
	}
}

// tell reports what was counted. The text quotes the first line.
func (x *consoleLines) tell(s *consoleSeries) {
	l := &s.line
	about := diagnose.Subject{Target: l.Target, Server: l.Node, Detail: l.Device}
	if x.of.ofClient || l.Kind == debuglog.Note && !l.Served {
		about.Client, about.Server = l.Node, l.Peer
	} else if isClient(x.report, l.Node) {
		about.Client, about.Server = l.Node, lnet.NID{}
	}
	f := s.finding(about)
	f.Requests = s.requests
	f.Key = fmt.Sprint(l.Log, l.Target, l.Device, l.Peer, s.number)
	of := ""
	if l.Node.Len > 0 || l.Host != "" {
		of = " of " + nodeOf(l)
	}
	f.Text = fmt.Sprintf("The log%s has %s (%s:%d)", of, strconv.Quote(l.Text), l.File, l.Line)
	if s.count > 1 {
		f.Text += fmt.Sprintf(", and %d more", s.count-1)
	}
	f.Text += "."
	if f.Suspects = s.places; s.count < x.of.many || only(s.places) == byAdmin { // what somebody did, other findings have the effect
		f.Severity = diagnose.Note
	}
	x.report.Report(f)
}
