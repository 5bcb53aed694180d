package rules

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/evictions"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
)

var _ = add(diagnose.Rule{
	Code:     "evicted.lock_callback",
	Severity: diagnose.Error,
	Noun:     "eviction",
	Summary:  "A server evicted a client that did not give back a lock.",
	Meaning: "A server asks for a lock with a blocking callback when another client needs it. The client must answer, write back what it has cached under the lock, and cancel it. " +
		"If it does not in time, the server evicts it. " + evictionMeaning +
		"The rule looks for evicted clients with a blocking callback that was not answered, or was answered but not followed by a cancel, while the target ran on.",
	Limits: evictionLimits + "Who waited for the lock is only known where its request is in the capture.",
	Next: "Find out why the client did not give the lock back: its console log at the time of the callback, whether it was reachable (lshark diagnose --only tcp), whether its node was out of memory or suspended. " +
		"If many clients are evicted under load, compare ldlm_enqueue_min and at_max with how long writing back takes.",
	Thresholds: []*diagnose.Threshold{
		{Name: "callback pending", Value: float64(evictions.MinIgnored) / 1e9, Unit: "s", Reason: "Servers wait longer than that before they evict, even with the shortest timeouts."},
	},
	Samples: []string{"evicted.pcap.zst"},
	Start:   startEvictedLockCallback,
})

// ignoredLocks are the locks for which clients were evicted, and who waited for them.
type ignoredLocks struct {
	report  *diagnose.Reporter
	waiters *fifo.Map[uint64, []waiter]            // by the server's handle of the lock that they waited for
	byLock  *fifo.Map[uint64, *evictions.Eviction] // by the server's handle of an ignored lock
}

// waiter is a lock that had to wait.
type waiter struct {
	client lnet.NID
	job    string
	asked  track.Point
	waited int64 // nanoseconds, 0: unknown
}

// The bounds of what is remembered.
const (
	maxHolders       = 1 << 12
	maxLockedWaiters = 8 // of a lock
)

func startEvictedLockCallback(r *diagnose.Reporter) diagnose.Hooks {
	e := &ignoredLocks{report: r, waiters: fifo.NewMap[uint64, []waiter](maxHolders), byLock: fifo.NewMap[uint64, *evictions.Eviction](maxHolders)}
	return diagnose.Hooks{Lock: e.lock, Eviction: e.eviction}
}

// lock remembers who waited for the holders that a lock has had to wait for.
func (e *ignoredLocks) lock(l *locks.Lock) {
	for i := range l.BlockedBy {
		holder := l.BlockedBy[i].Handle
		list, _ := e.waiters.Get(holder)
		if holder == 0 || len(list) >= maxLockedWaiters {
			continue
		}
		waited, _ := l.Waited()
		e.waiters.Put(holder, append(list, waiter{l.Client, l.Job, l.Asked, waited}))
		if x, ok := e.byLock.Get(holder); ok {
			e.report.Report(e.finding(x))
		}
	}
}

func (e *ignoredLocks) eviction(x *evictions.Eviction) {
	if x.Cause != evictions.LockCallback {
		return
	}
	for i := range x.Locks {
		e.byLock.Put(x.Locks[i].Handle, x)
	}
	e.report.Report(e.finding(x))
}

// finding describes an eviction.
func (e *ignoredLocks) finding(x *evictions.Eviction) diagnose.Finding {
	first := &x.Locks[0]
	f := evictionFinding(x)
	f.First = first.Callback.Sent.Time
	var b strings.Builder
	b.WriteString(whoEvicted(x) + ", which ")
	if isSet(first.Callback.Answered) {
		b.WriteString("answered the callback for its " + lockText(first.Lock) + ", but did not give the lock back")
	} else {
		b.WriteString("did not answer the callback for its " + lockText(first.Lock))
	}
	b.WriteString(" within " + duration(x.Lost.Time-first.Callback.Sent.Time))
	if first.Job != "" {
		b.WriteString(" (job " + first.Job + ")")
	}
	if more := len(x.Locks) - 1 + x.Dropped; more > 0 {
		b.WriteString("; it did not give back " + plural(more, "other lock") + " either")
	}
	b.WriteString(".")
	b.WriteString(e.waitText(x))
	f.Text = b.String() + lossText(x)
	for i := range x.Locks {
		f.Locks = append(f.Locks, x.Locks[i].Handle)
	}
	for i := range x.Locks {
		l := &x.Locks[i]
		list, _ := e.waiters.Get(l.Handle)
		for _, w := range list {
			f.Prove(w.asked, "%s asks for a lock that is in conflict", w.client)
		}
		f.Prove(l.Callback.Sent, "callback for the %s", lockText(l.Lock))
		f.Prove(l.Callback.Answered, "the client answers it")
		if i == maxProvenLocks {
			break
		}
	}
	proveEviction(x, &f)
	return f
}

// maxProvenLocks leaves room for the evidence of the eviction itself.
const maxProvenLocks = 1

// waitText returns a sentence about who waited for the locks, with a space before it;
// empty when that is unknown.
func (e *ignoredLocks) waitText(x *evictions.Eviction) string {
	var who []lnet.NID
	var jobs []string
	var longest int64
	for i := range x.Locks {
		list, _ := e.waiters.Get(x.Locks[i].Handle)
		for _, w := range list {
			longest = max(longest, w.waited)
			if !slices.Contains(who, w.client) {
				who = append(who, w.client)
			}
			if w.job != "" && !slices.Contains(jobs, w.job) {
				jobs = append(jobs, w.job)
			}
		}
	}
	if len(who) == 0 {
		return ""
	}
	text := " " + nodes(who)
	if len(jobs) == 1 {
		text += " (job " + jobs[0] + ")"
	}
	text += " waited for it"
	if longest > 0 {
		text += " for " + duration(longest)
	}
	return text + "."
}
