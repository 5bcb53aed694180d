package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
)

var ignoredCallback = diagnose.Threshold{Name: "time after an answered callback without the lock given back", Value: 20, Unit: "s",
	Reason: "the default of ldlm_timeout: servers wait that long before they evict a client, at least; a client may have to write back much first"}

var _ = add(diagnose.Rule{
	Code:     "lock.stuck",
	Severity: diagnose.Warning,
	Noun:     "lock that was not given back",
	Summary:  "A client did not answer a lock callback or did not give the lock back, or a lock was never granted.",
	Meaning: "A server asks for a lock with a blocking callback. The client must answer it at once, and cancel the lock when it has written back what it cached. As long as it does not, everybody else who needs the lock waits, and in the end the server evicts the client. " +
		"The rule looks for callbacks without an answer that is due, for those that were answered but not followed by a cancel, and for locks that still waited at the end of the capture.",
	Limits:     "Nothing is reported where messages of the client may be missing in the capture. When the client was evicted for it, the finding is evicted.lock_callback. A client may keep a lock for a while because it has much to write back. Flocks and group locks are not reported here, as applications hold them as long as they want.",
	Next:       "Find out why the client is silent: its console log, whether it can be reached (lshark diagnose --only tcp), whether writes to the OSTs that it has to flush to go on.",
	Thresholds: []*diagnose.Threshold{&ignoredCallback, &longLockWait},
	Samples:    []string{"late_recovery_client.pcap.zst", "missed_recovery.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := &stuckLocks{report: r, unseen: newUnseenMessages()}
		return diagnose.Hooks{Lock: s.lock, Lost: s.unseen.lost, Sent: s.unseen.sent, Answered: s.unseen.answered}
	},
})

// stuckLocks finds locks that are not given back.
type stuckLocks struct {
	report *diagnose.Reporter
	unseen *unseenMessages
}

func (s *stuckLocks) lock(l *locks.Lock) {
	if l.End.How == locks.Evicted || isApplicationLock(&l.Desc) || !l.HasResource() || !l.IsStuck() {
		return
	}
	for i := range l.Callbacks {
		c := &l.Callbacks[i]
		if !c.Asks() || !l.IsIgnored(c) || s.unseen.since(l.Client, c.Sent.Time) {
			continue
		}
		if c.Answered.Frame == 0 && c.Missing == track.Unanswered || c.Answered.Frame != 0 && l.Last-c.Sent.Time >= ignoredCallback.Nanoseconds() {
			s.ignored(l, c)
			return
		}
	}
	waited, ok := l.Waited()
	if !ok || l.IsGranted() || !l.Blocked || l.End.How != locks.Open || waited < longLockWait.Nanoseconds() || s.unseen.since(l.Client, l.Asked.Time) {
		return
	}
	f := s.finding(l, l.Asked.Time)
	f.Text = l.Client.String() + jobOf(l) + " asked for a " + lockText(l) + " and still waited for it " + duration(waited) + " later, when the capture ended."
	f.Prove(l.Asked, "%s asks for the lock", l.Client)
	for i := range l.BlockedBy {
		b := &l.BlockedBy[i]
		f.Text += " " + b.Client.String() + " held a lock in conflict for " + duration(b.Time(l)) + " of that time."
	}
	s.report.Report(f)
}

// finding returns a finding about a lock.
func (s *stuckLocks) finding(l *locks.Lock, first int64) diagnose.Finding {
	f := diagnose.Finding{Subject: clientOfLock(l), First: first, Last: l.Last}
	f.Node, f.Locks = holdersOf(l)
	f.Locks = append(f.Locks, l.Handle)
	if l.Target() == "MGS" { // a lock on configuration: nobody but the MGS waits for it
		f.Severity = diagnose.Note
	}
	return f
}

// ignored reports a lock whose holder was asked for it in vain.
func (s *stuckLocks) ignored(l *locks.Lock, c *locks.Callback) {
	f := s.finding(l, c.Sent.Time)
	f.Text = l.Client.String() + jobOf(l)
	f.Prove(c.Sent, "callback for the %s", lockText(l))
	if c.Answered.Frame == 0 {
		f.Text += " did not answer the callback for its " + lockText(l) + "."
	} else {
		f.Text += " answered the callback for its " + lockText(l) + ", but had not given it back " + duration(l.Last-c.Sent.Time) + " later, when the capture ended."
		f.Prove(c.Answered, "%s answers it", l.Client)
	}
	s.report.Report(f)
}

// jobOf returns the job of a lock in parentheses after a space, empty without one.
func jobOf(l *locks.Lock) string {
	if l.Job == "" {
		return ""
	}
	return jobsText([]string{l.Job})
}
