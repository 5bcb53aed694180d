package rules

import (
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/diagnose/suspects"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/opcodes"
)

var longLockWait = diagnose.Threshold{Name: "wait for a lock", Value: 1, Unit: "s",
	Reason: "a client gives a lock back in milliseconds, also when it has to write back some megabytes first; a second is what users notice"}

// maxResources are followed by a rule.
const maxResources = 1 << 12

// lockSubject is a resource, with a client that has or wants a lock on it.
type lockSubject struct {
	client, server lnet.NID
	kind           uint64
	name           [4]uint64
}

func subjectOfLock(l *locks.Lock) lockSubject {
	return lockSubject{l.Client, l.Server, l.Desc.Kind, l.Desc.Name}
}

// isApplicationLock reports whether an application asked for a lock and holds it as
// long as it wants: a flock or a group lock.
func isApplicationLock(d *opcodes.LockDesc) bool {
	return d.Kind == opcodes.FlockLock || d.IsGroup()
}

// blockingCallback returns the first callback that asks for the lock, nil without
// one.
func blockingCallback(l *locks.Lock) *locks.Callback {
	for i := range l.Callbacks {
		if l.Callbacks[i].Asks() {
			return &l.Callbacks[i]
		}
	}
	return nil
}

// holdersOf returns the handles of the locks that kept a lock waiting, and the node that held
// them, if it was one.
func holdersOf(l *locks.Lock) (node lnet.NID, handles []uint64) {
	for i := range l.BlockedBy {
		b := &l.BlockedBy[i]
		if handles = append(handles, b.Handle); i == 0 {
			node = b.Client
		} else if node != b.Client {
			node = lnet.NID{}
		}
	}
	return node, handles
}

var _ = add(diagnose.Rule{
	Code:     "lock.deadlock",
	Severity: diagnose.Warning,
	Noun:     "deadlock",
	Summary:  "Applications wait for each other's flocks; one of them got EDEADLK.",
	Meaning: "When processes on several nodes hold flocks (fcntl or flock) that others of them wait for in a circle, the server ends the " +
		"circle: one of the requests fails with EDEADLK. " +
		"The rule looks for completion callbacks that say so, and for requests that were refused with it.",
	Limits: "Who holds the other locks is only known when their requests are in the capture.",
	Next:   "The application: processes must take their locks in the same order. lshark locks --fid FID lists who asked for which range when.",
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		return diagnose.Hooks{Lock: func(l *locks.Lock) {
			if l.Desc.Kind != opcodes.FlockLock || l.End.How != locks.Failed && !(l.End.How == locks.Refused && l.Error == opcodes.EDEADLK) {
				return
			}
			f := diagnose.Finding{Subject: clientOfLock(l), First: l.End.Point.Time}
			f.Text = l.Client.String() + jobText(l.Job) + " asked for a " + modeText(l) + " on " + f.Detail +
				", which would have been a deadlock: the application got EDEADLK."
			f.Prove(l.Asked, "%s asks for the flock", l.Client)
			f.Prove(l.End.Point, "the server refuses it")
			suspect(&f, byApplication)
			for i := range l.BlockedBy {
				f.Text += " " + l.BlockedBy[i].Client.String() + " held a flock in conflict."
			}
			r.Report(f)
		}}
	},
})

var ignoredCallback = diagnose.Threshold{Name: "time after an answered callback without the lock given back", Value: 20, Unit: "s",
	Reason: "the default of ldlm_timeout: servers wait that long before they evict a client, at least; a client may have to write back much first"}

var _ = add(diagnose.Rule{
	Code:     "lock.stuck",
	Severity: diagnose.Note,
	Noun:     "lock that its holder kept",
	Summary:  "A client did not answer a lock callback or did not give the lock back, or a lock was never granted.",
	Meaning: "A server asks for a lock with a blocking callback. The client must answer it at once, and cancel the lock when it has " +
		"written back what it cached. As long as it does not, everybody else who needs the lock waits, and in the end the server evicts the client. " +
		"The rule looks for callbacks without an answer that is due, for those that were answered but not followed by a cancel, and for locks " +
		"that still waited at the end of the capture.",
	Limits: "Nothing is reported where messages of the client may be missing in the capture. When the client was evicted for it, the " +
		"finding is evicted.lock_callback. A client may keep a lock for a while because it has much to write back. Flocks and group locks are " +
		"not reported here, as applications hold them as long as they want.",
	Next: "Find out why the client is silent: its console log, whether it can be reached (lshark diagnose --only tcp), whether " +
		"writes to the OSTs that it has to flush to go on.",
	Thresholds: []*diagnose.Threshold{&ignoredCallback, &longLockWait},
	Samples:    []string{"late_recovery_client.pcap.zst", "missed_recovery.pcap.zst", "vanished_client.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		s := &stuckLocks{r, factsOf(r)}
		return diagnose.Hooks{Lock: s.lock}
	},
})

// stuckLocks finds locks that are not given back.
type stuckLocks struct {
	report *diagnose.Reporter
	known  *facts.Facts
}

func (s *stuckLocks) lock(l *locks.Lock) {
	if l.End.How == locks.Evicted || isApplicationLock(&l.Desc) || !l.HasResource() || !l.IsStuck() {
		return
	}
	for i := range l.Callbacks {
		c := &l.Callbacks[i]
		if !c.Asks() || !l.IsIgnored(c) || s.known.LacksSince(l.Client, c.Sent.Time) {
			continue
		}
		if c.Answered.Frame == 0 && c.Missing == track.Unanswered || c.Answered.Frame != 0 &&
			l.Last-c.Sent.Time >= ignoredCallback.Nanoseconds() {
			s.ignored(l, c)
			return
		}
	}
	waited, ok := l.Waited()
	if !ok || l.IsGranted() || !l.Blocked || l.End.How != locks.Open || waited < longLockWait.Nanoseconds() ||
		s.known.LacksSince(l.Client, l.Asked.Time) {
		return
	}
	f := s.finding(l, l.Asked.Time)
	f.Text = l.Client.String() + jobText(l.Job) + " asked for a " + lockText(l) + " and still waited for it " + duration(waited) +
		" later, when the capture ended."
	f.Prove(l.Asked, "%s asks for the lock", l.Client)
	f.CompareTime(&longLockWait, waited)
	if len(l.BlockedBy) == 0 {
		suspect(&f, atHolder(lnet.NID{}), atThread(l.Server), diagnose.Place{Kind: diagnose.AtOtherServer, Node: l.Server})
		f.Next = "Find out who holds the lock, in a capture of the server, or there: lctl get_param ldlm.namespaces.*.lock_count, and its " +
			"console log."
	}
	for i := range l.BlockedBy {
		b := &l.BlockedBy[i]
		f.Suspects = withNew(f.Suspects, atHolder(b.Client), maxNames)
		f.Text += " " + b.Client.String() + " held a lock in conflict for " + duration(b.Time(l)) + " of that time."
	}
	s.report.Report(f)
}

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
	f.Text = l.Client.String() + jobText(l.Job)
	f.Prove(c.Sent, "callback for the %s", lockText(l))
	if c.Answered.Frame == 0 {
		f.Text += " did not answer the callback for its " + lockText(l) + "."
		suspect(&f, atHolder(l.Client), atNode(l.Client), onPath(l.Client, l.Server), inLNet(l.Client, l.Server))
	} else {
		suspect(&f, atHolder(l.Client))
		f.Text += " answered the callback for its " + lockText(l) + ", but had not given it back " + duration(l.Last-c.Sent.Time) +
			" later, when the capture ended."
		f.Prove(c.Answered, "%s answers it", l.Client)
		f.CompareTime(&ignoredCallback, l.Last-c.Sent.Time)
	}
	s.report.Report(f)
}

var _ = addTrouble(diagnose.Rule{
	Code:     "lock.wait",
	Severity: diagnose.Warning,
	Noun:     "wait for a lock",
	Summary:  "A client waited long for a lock that another one kept.",
	Meaning:  "The server asks the holder of a lock to give it back when another client needs it. The rule reports waits whose holder is known.",
	Limits:   "Why the holder kept the lock is not in the capture.",
	Next: "On the holder: what the job does with the file, how much it has to write back (osc.*.max_dirty_mb, slow OSTs), and whether the callback was " +
		"answered late (a busy or unreachable node). lshark locks --slowest 10 and lshark locks --blockers show all waits.",
}, func(g *suspects.Group) bool { return onlySuspect(diagnose.AtHolder)(g) }, func(t *troubles, g *suspects.Group, f *diagnose.Finding) {
	f.Node = g.Suspects[0].Node
	f.Text += " A lock was in conflict that " + holderText(f.Node) + " kept."
})

// holderText returns the node of a holder, or that it is not known.
func holderText(n lnet.NID) string {
	if n.Len == 0 {
		return "a client outside the capture"
	}
	return n.String()
}
