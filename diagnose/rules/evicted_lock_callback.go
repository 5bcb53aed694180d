package rules

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/diagnose"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/track"
	"github.com/lshark/lshark/track/locks"
)

var _ = add(diagnose.Rule{
	Code:     "evicted.lock_callback",
	Severity: diagnose.Error,
	Summary:  "A server evicted a client that did not give back a lock.",
	Meaning: "A server asks for a lock with a blocking callback when another client needs it. The client must answer, write back what it has cached under the lock, and cancel it. " +
		"If it does not in time, the server evicts it: all its locks are dropped, what it has not written is lost, and its applications get EIO. " +
		"The rule looks for evicted clients with a blocking callback that was not answered, or was answered but not followed by a cancel.",
	Limits: "An eviction shows when the client connects again, so the time of the finding is that of the reply to this connect; the server evicted the client before. " +
		"Who waited for the lock is only known where its request is in the capture.",
	Next: "Find out why the client was silent: its console log at the time of the callback, whether it was reachable (lshark diagnose --only tcp), whether the application's node was out of memory or suspended. " +
		"If many clients are evicted under load, compare ldlm_enqueue_min and at_max with how long writing back takes.",
	Samples: []string{"evicted.pcap.zst"},
	Start:   startEvictedLockCallback,
})

// evictedLocks are the locks for which a client was evicted.
type evictedLocks struct {
	report  *diagnose.Reporter
	waiters *fifo.Map[uint64, []waiter]         // by the server's handle of the lock that they waited for
	clients *fifo.Map[evictionKey, *evictedFor] // evictions
	byLock  *fifo.Map[uint64, *evictedFor]      // by the server's handle of an ignored lock
}

// evictionKey is an eviction: by the message that shows it.
type evictionKey struct {
	client, server lnet.NID
	file           string
	frame          int64
}

// evictedFor has the locks for which a client was evicted.
type evictedFor struct {
	at      track.Point
	target  string
	client  lnet.NID
	server  lnet.NID
	locks   []*ignoredLock
	dropped int
}

// ignoredLock is a lock that a client did not give back.
type ignoredLock struct {
	handle   uint64
	text     string
	job      string
	callback locks.Callback
}

// waiter is a lock that had to wait.
type waiter struct {
	client lnet.NID
	job    string
	asked  track.Point
}

// The bounds of what is remembered.
const (
	maxEvictions     = 1 << 10
	maxIgnoredLocks  = 16 // of an eviction
	maxHolders       = 1 << 12
	maxLockedWaiters = 8 // of a lock
)

func startEvictedLockCallback(r *diagnose.Reporter) diagnose.Hooks {
	e := &evictedLocks{report: r, waiters: fifo.NewMap[uint64, []waiter](maxHolders),
		clients: fifo.NewMap[evictionKey, *evictedFor](maxEvictions), byLock: fifo.NewMap[uint64, *evictedFor](maxHolders)}
	return diagnose.Hooks{Lock: e.lock}
}

func (e *evictedLocks) lock(l *locks.Lock) {
	for i := range l.BlockedBy {
		e.waited(l, l.BlockedBy[i].Handle)
	}
	if l.End.How != locks.Evicted {
		return
	}
	for i := range l.Callbacks {
		if c := &l.Callbacks[i]; c.Asks() && l.IsIgnored(c) {
			e.ignored(l, c)
			return
		}
	}
}

// waited remembers who waited for a lock.
func (e *evictedLocks) waited(l *locks.Lock, holder uint64) {
	list, _ := e.waiters.Get(holder)
	if holder == 0 || len(list) >= maxLockedWaiters {
		return
	}
	e.waiters.Put(holder, append(list, waiter{l.Client, l.Job, l.Asked}))
	if x, ok := e.byLock.Get(holder); ok {
		e.report.Report(e.finding(x))
	}
}

// ignored takes a lock of an evicted client that was not given back.
func (e *evictedLocks) ignored(l *locks.Lock, c *locks.Callback) {
	key := evictionKey{l.Client, l.Server, l.End.Point.File, l.End.Point.Frame}
	x, ok := e.clients.Get(key)
	if !ok {
		x = &evictedFor{at: l.End.Point, target: l.Target(), client: l.Client, server: l.Server}
		e.clients.Put(key, x)
	}
	if len(x.locks) >= maxIgnoredLocks {
		x.dropped++
		return
	}
	x.locks = append(x.locks, &ignoredLock{l.Handle, lockText(l), l.Job, *c})
	e.byLock.Put(l.Handle, x)
	e.report.Report(e.finding(x))
}

// finding describes an eviction.
func (e *evictedLocks) finding(x *evictedFor) diagnose.Finding {
	slices.SortStableFunc(x.locks, func(a, b *ignoredLock) int { return int(a.callback.Sent.Time - b.callback.Sent.Time) })
	first := x.locks[0]
	f := diagnose.Finding{
		Subject: diagnose.Subject{Target: x.target, Client: x.client, Server: x.server, Detail: strconv.FormatInt(x.at.Frame, 10)},
		First:   first.callback.Sent.Time, Last: x.at.Time,
	}
	var b strings.Builder
	b.WriteString(targetText(x.target, x.server) + " evicted " + x.client.String() + ", which ")
	if first.callback.Answered.Frame == 0 {
		b.WriteString("did not answer the callback for its " + first.text)
	} else {
		b.WriteString("answered the callback for its " + first.text + ", but did not give it back")
	}
	b.WriteString(" in " + duration(x.at.Time-first.callback.Sent.Time))
	if more := len(x.locks) - 1 + x.dropped; more > 0 {
		b.WriteString("; it kept " + plural(more, "other lock") + ", too")
	}
	b.WriteString(".")
	var who []lnet.NID
	for _, l := range x.locks {
		list, _ := e.waiters.Get(l.handle)
		for i := range list {
			if w := list[i].client; !slices.Contains(who, w) {
				who = append(who, w)
			}
		}
	}
	if len(who) > 0 {
		b.WriteString(" " + nodes(who) + " waited for it.")
	}
	f.Text = b.String()
	for _, l := range x.locks {
		list, _ := e.waiters.Get(l.handle)
		for _, w := range list {
			f.Prove(w.asked, "%s asks for a lock that is in conflict", w.client)
		}
		f.Prove(l.callback.Sent, "callback for the %s", l.text)
		if l.callback.Answered.Frame != 0 {
			f.Prove(l.callback.Answered, "the client answers it")
		}
	}
	f.Prove(x.at, "the reply to the client's connect shows that it was evicted")
	return f
}
