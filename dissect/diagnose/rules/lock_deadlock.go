package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/opcodes"
)

var _ = add(diagnose.Rule{
	Code:     "lock.deadlock",
	Severity: diagnose.Warning,
	Summary:  "Applications wait for each other's flocks; one of them got EDEADLK.",
	Meaning: "When processes on several nodes hold flocks (fcntl or flock) that others of them wait for in a circle, the server ends the circle: one of the requests fails with EDEADLK. " +
		"The rule looks for completion callbacks that say so, and for requests that were refused with it.",
	Limits: "Who holds the other locks is only known when their requests are in the capture.",
	Next:   "The application: processes must take their locks in the same order. lshark locks --fid FID lists who asked for which range when.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{Lock: func(l *locks.Lock) { deadlock(r, l) }}
	},
})

// deadlock reports a flock that was refused because of a deadlock.
func deadlock(r *diagnose.Reporter, l *locks.Lock) {
	if l.Desc.Kind != opcodes.FlockLock || l.End.How != locks.Failed && !(l.End.How == locks.Refused && l.Error == eDeadlock) {
		return
	}
	f := diagnose.Finding{Subject: clientOfLock(l), First: l.End.Point.Time}
	f.Text = l.Client.String() + jobOf(l) + " asked for a " + modeText(l) + " on " + f.Detail + ", which would have been a deadlock: the application got EDEADLK."
	f.Prove(l.Asked, "%s asks for the flock", l.Client)
	f.Prove(l.End.Point, "the server refuses it")
	for i := range l.BlockedBy {
		f.Text += " " + l.BlockedBy[i].Client.String() + " held a flock in conflict."
	}
	r.Report(f)
}
