package rules

import (
	"fmt"
	"strings"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var longLockWait = diagnose.Threshold{Name: "wait for a lock", Value: 1, Unit: "s",
	Reason: "a client gives a lock back in milliseconds, also when it has to write back some megabytes first; a second is what users notice"}

var _ = add(diagnose.Rule{
	Code:     "lock.wait",
	Severity: diagnose.Warning,
	Noun:     "wait for a lock",
	Summary:  "A client waited long for a lock that another one held.",
	Meaning: "A request for a lock that is in conflict with locks of others waits until they are given back: the server sends the holders " +
		"a blocking callback, they write back what they have cached and cancel. " +
		"The rule compares the time from the request to the grant with the threshold, and names the holders and how long each took after its callback. " +
		"Where who waited is not in the capture, the time from the callback to the cancel counts. Flocks and group locks belong to applications: their holders are not asked, and keep them as long as the application wants, so such " +
		"waits are notes.",
	Limits: "Holders are known where their callbacks or locks are in the capture: in that of the server, of the holder, or in several " +
		"files that are read together. Locks that were never granted are reported as lock.stuck. " +
		"Where an eviction ended the wait, the finding is about the eviction.",
	Next: "On the holder: what the job does with the file, how much it has to write back (osc.*.max_dirty_mb, slow OSTs), and whether the " +
		"callback was answered late (a busy or unreachable node). " +
		"lshark locks --slowest 10 and lshark locks --blockers show all waits. For flocks and group locks, look at the application.",
	Thresholds: []*diagnose.Threshold{&longLockWait},
	Samples:    []string{"lock_contention.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		w := &longWaits{report: r, unseen: newUnseenMessages(), holders: newHolders(r), waits: fifo.NewMap[lockSubject, *longWait](maxResources),
			late: fifo.NewMap[holderKey, *locks.Lock](maxResources), blamed: fifo.NewMap[holderKey, bool](maxResources)}
		return diagnose.Hooks{Lock: w.ended, LockGranted: w.granted, Lost: w.unseen.lost, Sent: w.unseen.sent, Answered: w.unseen.answered,
			End: w.reportLate}
	},
})

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

// longWaits finds locks that waited long.
type longWaits struct {
	report  *diagnose.Reporter
	unseen  *unseenMessages
	holders holders
	waits   *fifo.Map[lockSubject, *longWait]
	late    *fifo.Map[holderKey, *locks.Lock] // that were given back long after they were asked for
	blamed  *fifo.Map[holderKey, bool]        // locks that kept others waiting
}

// longWait has the long waits of a client for locks on a resource.
type longWait struct {
	count       int64
	sum         int64 // nanoseconds
	first, last int64
	jobs        jobList
	longest     int64
	text        string // about the longest
	evidence    []diagnose.Evidence
	application bool // all were for a lock that an application holds
	grouped     bool // one was for a group lock
	known       bool // of one, it is known who held the lock
}

// holders remembers locks that were asked for, or that nobody asks for, by the
// server and its handle.
type holders struct {
	report   *diagnose.Reporter
	byHandle *fifo.Map[holderKey, *locks.Lock] // that have ended
}

type holderKey struct {
	server lnet.NID
	handle uint64
}

func newHolders(r *diagnose.Reporter) holders {
	return holders{r, fifo.NewMap[holderKey, *locks.Lock](maxResources)}
}

// add keeps a lock if others may have waited for it.
func (h *holders) add(l *locks.Lock) {
	if l.Handle == 0 || !isApplicationLock(&l.Desc) && blockingCallback(l) == nil {
		return
	}
	fifo.Put(h.byHandle, holderKey{l.Server, l.Handle}, l)
}

// of returns a lock that kept another one waiting, nil when it is not known.
func (h *holders) of(l *locks.Lock, b *locks.Blocker) *locks.Lock {
	if b.Handle == 0 {
		return nil
	}
	if ended, ok := fifo.Get(h.byHandle, holderKey{l.Server, b.Handle}); ok {
		return ended
	}
	return h.report.Lock(l.Server, b.Handle)
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

// granted takes a lock that was granted. It is counted when it has ended, as its
// times may still change.
func (w *longWaits) granted(l *locks.Lock) { w.lock(l, false) }

func (w *longWaits) ended(l *locks.Lock) {
	w.holders.add(l)
	c := blockingCallback(l)
	switch {
	case c == nil || !isSet(c.Obeyed) || c.Obeyed.Time-c.Sent.Time < longLockWait.Nanoseconds() || l.Target() == "MGS":
	case l.Desc.Kind == opcodes.InodeLock && w.unseen.since(l.Client, c.Sent.Time): // it may have given back the bits, and kept others
	default:
		fifo.Put(w.late, holderKey{l.Server, l.Handle}, l)
	}
	w.lock(l, true)
}

// reportLate reports the locks that were given back late where the capture does not have who waited for them.
func (w *longWaits) reportLate() {
	for key, l := range fifo.All(w.late) {
		if _, known := fifo.Get(w.blamed, key); known {
			continue
		}
		c := blockingCallback(l)
		f := diagnose.Finding{Subject: clientOfLock(l), Key: fmt.Sprint(key), First: c.Sent.Time, Last: c.Obeyed.Time, Wait: c.Obeyed.Time - c.Sent.Time}
		f.Node, f.Locks = l.Client, []uint64{l.Handle}
		f.Text = fmt.Sprintf("%s%s gave its %s back %s after the server had asked for it. Who waited for it is not in the capture.", l.Client,
			jobText(l.Job), lockText(l), duration(f.Wait))
		f.Prove(c.Sent, "callback to %s", l.Client)
		f.Prove(c.Answered, "%s answers it", l.Client)
		f.Prove(c.Obeyed, "%s gives its lock back", l.Client)
		w.report.Report(f)
	}
}

func (w *longWaits) lock(l *locks.Lock, ended bool) {
	if !l.Blocked && len(l.BlockedBy) == 0 || !l.HasResource() {
		return
	}
	waited, ok := l.Waited()
	if !l.Blocked { // it waited while the server handled the request: as long as holders kept it
		waited = 0
		for i := range l.BlockedBy {
			waited = max(waited, l.BlockedBy[i].Time(l))
		}
	}
	if !ok || waited < longLockWait.Nanoseconds() {
		return
	}
	application := isApplicationLock(&l.Desc)
	evicted := len(l.BlockedBy) > 0
	for i := range l.BlockedBy {
		h := w.holders.of(l, &l.BlockedBy[i])
		application = application || h != nil && h.Desc.IsGroup()
		evicted = evicted && h != nil && h.End.How == locks.Evicted
	}
	if evicted || !l.IsGranted() && (!application || w.unseen.since(l.Client, l.Asked.Time)) || l.End.How == locks.Failed {
		return
	}
	key := subjectOfLock(l)
	var x longWait
	if before, ok := fifo.Get(w.waits, key); ok {
		x = *before
	} else {
		x = longWait{first: l.Asked.Time, application: true}
	}
	w.add(&x, l, waited, application)
	if ended {
		fifo.Put(w.waits, key, &x)
	}
}

func (w *longWaits) add(x *longWait, l *locks.Lock, waited int64, application bool) {
	x.count++
	x.sum += waited
	x.first, x.last = min(x.first, l.Asked.Time), max(x.last, l.Asked.Time+waited)
	x.application, x.grouped, x.known = x.application && application, x.grouped || l.Desc.IsGroup(), x.known || len(l.BlockedBy) > 0
	x.jobs.add(l.Job)
	f := diagnose.Finding{Subject: clientOfLock(l), First: x.first, Last: x.last, Count: x.count}
	f.Node, f.Locks = holdersOf(l)
	for _, handle := range f.Locks {
		fifo.Put(w.blamed, holderKey{l.Server, handle}, true)
	}
	if waited > x.longest {
		x.longest = waited
		x.text, x.evidence = w.describe(l)
	}
	f.Text = l.Client.String() + jobsText(x.jobs) + " waited " + duration(x.longest) + " for a " + lockText(l) + "."
	if x.count > 1 {
		f.Text = fmt.Sprintf("%s%s waited %d times for a lock on %s, %s in all and %s at most.", l.Client, jobsText(x.jobs), x.count, f.Detail,
			duration(x.sum), duration(x.longest))
	}
	f.Text += x.text
	f.Evidence, f.Wait = x.evidence, x.longest
	switch {
	case x.application || x.grouped && !x.known:
		f.Severity = diagnose.Note
		f.Next = "The application: flocks and group locks are released by those who asked for them, and the server asks nobody to give them back."
	case !x.known:
		f.Next = "A capture of the server shows who held it (lshark locks --blockers). The holder may have had much to write back, or have been " +
			"busy or unreachable; or an application held a group lock."
	}
	w.report.Report(f)
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

// describe returns who kept a lock waiting, and the messages that show it.
func (w *longWaits) describe(l *locks.Lock) (string, []diagnose.Evidence) {
	var b strings.Builder
	var f diagnose.Finding
	f.Prove(l.Asked, "%s asks for the lock", l.Client)
	for i := range l.BlockedBy {
		holder := &l.BlockedBy[i]
		h := w.holders.of(l, holder)
		b.WriteString(" " + holderText(l, holder, h))
		if h == nil {
			continue
		}
		c := blockingCallback(h)
		if c != nil {
			f.Prove(c.Sent, "callback to %s", h.Client)
			f.Prove(c.Answered, "%s answers it", h.Client)
			f.Prove(c.Obeyed, "%s gives its lock back", h.Client)
		}
		if c == nil || c.Obeyed != h.End.Point {
			f.Prove(h.End.Point, "%s gives its lock back", h.Client)
		}
		if i == 2 {
			break
		}
	}
	switch {
	case len(l.BlockedBy) == 0:
		b.WriteString(" Who held it is not in the capture.")
	case len(l.BlockedBy) > 3:
		fmt.Fprintf(&b, " %d other locks kept it waiting, too.", len(l.BlockedBy)-3)
	}
	f.Prove(l.Granted, "it gets the lock")
	if l.Granted.Frame == 0 {
		if l.End.How == locks.Open {
			b.WriteString(" It still waited when the capture ended.")
		} else {
			b.WriteString(" It gave up waiting.")
			f.Prove(l.End.Point, "it gives up waiting")
		}
	}
	return b.String(), f.Evidence
}

// holderText describes what kept a lock waiting: the lock of a holder, which is nil
// when only its client is known.
func holderText(l *locks.Lock, b *locks.Blocker, h *locks.Lock) string {
	who := b.Client.String() + jobText(b.Job)
	if h == nil {
		return who + " held a lock in conflict for " + duration(b.Time(l)) + " of that time."
	}
	what := modeText(h)
	c := blockingCallback(h)
	switch {
	case c == nil && isApplicationLock(&h.Desc):
		return who + " held a " + what + " for " + duration(b.Time(l)) + " of that time; servers do not ask for such locks, the application " +
			"gives them back."
	case c == nil:
		return who + " held a " + what + " for " + duration(b.Time(l)) + " of that time."
	case c.Obeyed.Frame == 0 && h.End.How == locks.Evicted:
		return who + " held a " + what + ", for which it got a callback, and did not give it back: it was evicted."
	case c.Obeyed.Frame == 0 && c.Answered.Frame == 0 && c.Missing == track.Unanswered:
		return who + " held a " + what + ", and did not answer the callback for it."
	case c.Obeyed.Frame == 0:
		return who + " held a " + what + ", for which it got a callback; when it gave it back is not in the capture."
	}
	text := who + " held a " + what + " and gave it back " + duration(c.Obeyed.Time-c.Sent.Time) + " after the callback"
	if c.Answered.Frame != 0 {
		text += ", which it answered after " + duration(max(0, c.Answered.Time-c.Sent.Time))
	}
	return text + "."
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
	Severity: diagnose.Warning,
	Noun:     "lock that was not given back",
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
		if c.Answered.Frame == 0 && c.Missing == track.Unanswered || c.Answered.Frame != 0 &&
			l.Last-c.Sent.Time >= ignoredCallback.Nanoseconds() {
			s.ignored(l, c)
			return
		}
	}
	waited, ok := l.Waited()
	if !ok || l.IsGranted() || !l.Blocked || l.End.How != locks.Open || waited < longLockWait.Nanoseconds() ||
		s.unseen.since(l.Client, l.Asked.Time) {
		return
	}
	f := s.finding(l, l.Asked.Time)
	f.Text = l.Client.String() + jobText(l.Job) + " asked for a " + lockText(l) + " and still waited for it " + duration(waited) +
		" later, when the capture ended."
	f.Prove(l.Asked, "%s asks for the lock", l.Client)
	if len(l.BlockedBy) == 0 {
		f.Next = "Find out who holds the lock, in a capture of the server, or there: lctl get_param ldlm.namespaces.*.lock_count, and its " +
			"console log."
	}
	for i := range l.BlockedBy {
		b := &l.BlockedBy[i]
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
	} else {
		f.Text += " answered the callback for its " + lockText(l) + ", but had not given it back " + duration(l.Last-c.Sent.Time) +
			" later, when the capture ended."
		f.Prove(c.Answered, "%s answers it", l.Client)
	}
	s.report.Report(f)
}
