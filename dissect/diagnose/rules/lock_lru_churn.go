package rules

import (
	"fmt"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var (
	churnTimes = diagnose.Threshold{Name: "times that a lock was needed again", Value: 3, Unit: "times",
		Reason: "a client may need a lock again that it has just dropped, by chance or because an administrator cleared its cache"}
	churnLocks = diagnose.Threshold{Name: "files and objects to which that happened", Value: 32, Unit: "files",
		Reason: "a few are applications that open a file now and then"}
	churnSpread = diagnose.Threshold{Name: "seconds in which locks were dropped that were needed again once, of three times as many files",
		Value: 5, Unit: "seconds",
		Reason: "an administrator who clears the cache drops all at once"}
	churnWithin = diagnose.Threshold{Name: "time until a lock was needed again", Value: 60, Unit: "s",
		Reason: "a lock that is not used for a minute may well be dropped"}
)

var _ = add(diagnose.Rule{
	Code:     "lock.lru_churn",
	Severity: diagnose.Warning,
	Noun:     "early drop of a lock",
	Summary:  "A client drops locks that nobody asked for, and needs them again soon after.",
	Meaning: "A client keeps unused locks, and with them what it has cached, in a list, and drops the oldest when the list is full " +
		"(ldlm.namespaces.*.lru_size), when the server takes memory back, or after lru_max_age. When the list is smaller than what the " +
		"applications use, each access needs a new lock, and the data once more. " +
		"The rule counts the locks that a client cancelled without a callback, and asked for again within the time of the threshold.",
	Limits: "Locks that go back along with a change of a file, such as those of one that is removed, are not counted.",
	Next: "On the client: lctl get_param ldlm.namespaces.*.{lru_size,lock_count,lru_max_age}; lru_size=0 lets the server decide. " +
		"Look for scripts that write lru_size=clear or drop_caches.",
	Thresholds: []*diagnose.Threshold{&churnTimes, &churnLocks, &churnSpread, &churnWithin},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		c := &lruChurn{report: r, dropped: fifo.NewMap[lockSubject, droppedLock](maxDropped),
			changes: fifo.NewMap[track.Point, bool](maxDropped), clients: fifo.NewMap[targetClient, *churn](maxTargets)}
		return diagnose.Hooks{Opcodes: []uint32{opcodes.MDS_REINT}, Sent: c.changed, Lock: c.lock}
	},
})

// maxDropped locks that were dropped are remembered.
const maxDropped = 1 << 14

// lruChurn finds clients that drop locks that they need again.
type lruChurn struct {
	report  *diagnose.Reporter
	dropped *fifo.Map[lockSubject, droppedLock]
	changes *fifo.Map[track.Point, bool] // requests that change files
	clients *fifo.Map[targetClient, *churn]
}

// droppedLock is a lock that a client dropped.
type droppedLock struct {
	at    track.Point // the last time
	again int         // how often it was needed again
}

// churn counts the locks that a client needed again.
type churn struct {
	series          // locks that were needed again
	once      int   // files and objects that were needed again
	resources int   // that were needed again often enough
	second    int64 // of the last drop
	seconds   int   // in which locks were dropped
	jobs      jobList
}

func (c *lruChurn) changed(_ *track.RPC, m *dissect.Message) {
	c.changes.Put(track.PointOf(m), true)
}

func (c *lruChurn) lock(l *locks.Lock) {
	if l.Desc.Kind != opcodes.ExtentLock && l.Desc.Kind != opcodes.InodeLock || l.Desc.IsGroup() {
		return
	}
	key := subjectOfLock(l)
	before, known := c.dropped.Get(key)
	_, byChange := c.changes.Get(l.End.Point)
	isDropped := (l.End.How == locks.Canceled || l.End.How == locks.Early && !byChange) && blockingCallback(l) == nil && l.IsGranted()
	if !known && !isDropped {
		return
	}
	after := droppedLock{again: before.again}
	if known && before.at.Frame != 0 && l.Asked.Frame != 0 && l.Asked.Time >= before.at.Time &&
		l.Asked.Time-before.at.Time <= churnWithin.Nanoseconds() {
		after.again++
		c.again(l, before.at, after.again)
	}
	if isDropped {
		after.at = l.End.Point
	}
	c.dropped.Put(key, after)
}

// again counts a lock that was needed again.
func (c *lruChurn) again(l *locks.Lock, dropped track.Point, times int) {
	key := targetClient{l.Client, lockTarget(l)}
	x := fifo.GetOrNew(c.clients, key)
	if x.add(l.Asked.Time); x.count == 1 {
		x.first = dropped.Time
	}
	x.jobs.add(l.Job)
	if times == 1 {
		x.once++
	}
	if second := dropped.Time / 1e9; second != x.second {
		x.second = second
		x.seconds++
	}
	spread := float64(x.once) >= 3*churnLocks.Value && float64(x.seconds) >= churnSpread.Value
	if spread && len(x.proofs) == 0 {
		x.proveDrop(l, dropped, "it asks for it again")
	}
	if times == int(churnTimes.Value) {
		x.resources++
		x.proveDrop(l, dropped, "it asks for it again, for the third time")
	}
	if float64(x.resources) < churnLocks.Value && !spread {
		return
	}
	f := x.finding(key.target.subject())
	f.Client = l.Client
	f.Text = fmt.Sprintf("%s%s dropped locks that nobody had asked for, and needed them again within %.0f s: %d times, on %d files or objects.",
		l.Client, jobsText(x.jobs), churnWithin.Value, x.count, x.once)
	c.report.Report(f)
}

// proveDrop keeps the messages that drop a lock and ask for it again.
func (x *churn) proveDrop(l *locks.Lock, dropped track.Point, again string) {
	if len(x.proofs) < maxProofs {
		x.proofs.Add(dropped, "%s drops the %s", l.Client, lockText(l))
		x.proofs.Add(l.Asked, "%s", again)
	}
}
