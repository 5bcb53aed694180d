package rules

import (
	"fmt"
	"slices"
	"strconv"

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
}

// addLines registers a rule about lines of the kernel that name a cause by themselves.
func addLines(rule diagnose.Rule, of lines) bool {
	rule.Logs = true
	rule.Meaning += " The rule counts these lines of logs."
	rule.Limits = "Only logs have it. Lines that the kernel left out, as they repeat each other, are counted where it says how many."
	rule.Start = func(r *diagnose.Reporter) diagnose.Hooks {
		x := &consoleLines{of: of, report: r, subjects: fifo.NewMap[consoleSubject, *consoleSeries](maxTargets)}
		return diagnose.Hooks{Line: x.line}
	}
	return add(rule)
}

// between returns a place between two nodes, of which one may be unknown.
func between(kind diagnose.PlaceKind, a, b lnet.NID) diagnose.Place {
	if a.Len == 0 || b.Len == 0 {
		if a.Len == 0 {
			a = b
		}
		return diagnose.Place{Kind: kind, Node: a}
	}
	return diagnose.Between(kind, a, b)
}

// consoleLines counts the lines of a rule.
type consoleLines struct {
	of       lines
	report   *diagnose.Reporter
	subjects *fifo.Map[consoleSubject, *consoleSeries]
	last     *consoleSeries // which lines that were left out repeat
}

// consoleSubject is what lines are about.
type consoleSubject struct {
	log            int
	target, device string
	peer           lnet.NID
}

type consoleSeries struct {
	series
	line track.LogLine // the first one
}

func (x *consoleLines) line(l *track.LogLine) {
	if l.Kind == debuglog.Skipped && x.last != nil && x.last.line.Log == l.Log {
		x.last.count += int64(l.Number)
		x.tell(x.last)
		return
	}
	x.last = nil
	if !slices.Contains(x.of.kinds, l.Kind) || x.of.reasons != nil && !slices.Contains(x.of.reasons, l.Reason) || x.of.where(l) == nil {
		return
	}
	k := consoleSubject{l.Log, l.Target, l.Device, l.Peer}
	s := fifo.GetOrMake(x.subjects, k, func() *consoleSeries { return &consoleSeries{line: *l} })
	s.add(l.Time)
	var f diagnose.Finding
	if f.ProveLine(l); len(s.proofs) < maxProofs {
		s.proofs = append(s.proofs, f.Evidence...)
	}
	x.last = s
	x.tell(s)
}

// tell reports what was counted. The text quotes the first line.
func (x *consoleLines) tell(s *consoleSeries) {
	l := &s.line
	f := s.finding(diagnose.Subject{Target: l.Target, Server: l.Node, Detail: l.Device})
	f.Key = fmt.Sprint(l.Log, l.Target, l.Device, l.Peer)
	of := ""
	if l.Node.Len > 0 || l.Host != "" {
		of = " of " + nodeOf(l)
	}
	f.Text = fmt.Sprintf("The log%s has %s (%s:%d)", of, strconv.Quote(l.Text), l.File, l.Line)
	if s.count > 1 {
		f.Text += fmt.Sprintf(", and %d more", s.count-1)
	}
	f.Text += "."
	if f.Suspects = x.of.where(l); s.count < x.of.many {
		f.Severity = diagnose.Note
	}
	x.report.Report(f)
}
