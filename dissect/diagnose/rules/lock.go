package rules

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/diagnose/facts"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

var (
	handovers = diagnose.Threshold{Name: "locks that were given back after a callback", Value: 5, Unit: "locks",
		Reason: "two clients may need the same file once or twice in turn; more than that is a pattern"}
	handoverGap = diagnose.Threshold{Name: "time between two of them", Value: 10, Unit: "s",
		Reason: "longer pauses are another use of the file"}
	handoverShare = diagnose.Threshold{Name: "share of the time that requests waited, for a warning", Value: 20, Unit: "%",
		Reason: "below it, the application loses little"}
	handoverWarning = diagnose.Threshold{Name: "locks that were given back, for a warning", Value: 20, Unit: "locks",
		Reason: "a few handovers at the start of a job are over before anyone looks"}
)

var _ = add(diagnose.Rule{
	Code:     "lock.ping_pong",
	Severity: diagnose.Warning,
	Noun:     "conflict of locks",
	Summary:  "A lock on a file or directory changes hands again and again, because several clients use it at the same time.",
	Meaning: "Each time a client needs a lock that another one holds, the holder gets a blocking callback, writes back what it has cached, " +
		"and cancels. When clients write to overlapping or neighbouring parts of a file, or change and list the same directory, the lock goes " +
		"to and fro, and little is cached. " +
		"The rule counts, for each resource that several clients use, the locks that were given back after a callback. " +
		"For the extent locks of OST objects, which only clients take, it also counts a client that asks again after each callback, when the " +
		"other clients are not in the capture.",
	Limits: "In the capture of a single client, the others are not known, and for inodes nothing is reported, as a server takes locks on " +
		"them itself. It is a warning when the requests waited for a considerable share of the time, else a note.",
	Next: "Let one process write, or align what each process writes to the stripes of the file so that each stripe has one writer (lfs " +
		"setstripe -S, -c). Applications may use lockahead (lfs ladvise -a lockahead) or group locks. " +
		"For directories: one directory for each node, or a directory striped over MDTs.",
	Thresholds: []*diagnose.Threshold{&handovers, &handoverGap, &handoverShare, &handoverWarning},
	Samples:    []string{"lock_contention.pcap.zst", "lock_ping_pong.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		p := &pingPong{report: r, resources: fifo.NewMap[lockSubject, *contended](maxResources)}
		return diagnose.Hooks{Lock: p.lock}
	},
})

// pingPong finds resources whose locks change hands again and again.
type pingPong struct {
	report    *diagnose.Reporter
	resources *fifo.Map[lockSubject, *contended]
}

// contended is a resource with locks that were given back after callbacks.
type contended struct {
	target   targetKey
	given    int64 // locks that were given back after a callback
	returns  int64 // of them, those that the client had asked for after it gave back the one before
	waited   int64 // nanoseconds that requests waited for each other
	first    int64
	last     int64
	holder   lnet.NID // of the last one
	obeyed   int64    // when that was given back
	clients  []contender
	evidence diagnose.Proofs
	reported bool
}

// contender is a client that uses the resource.
type contender struct {
	client lnet.NID
	jobs   jobList
}

func (p *pingPong) lock(l *locks.Lock) {
	if isApplicationLock(&l.Desc) || !l.HasResource() || l.Desc.Kind != opcodes.ExtentLock && l.Desc.Kind != opcodes.InodeLock {
		return
	}
	c := blockingCallback(l)
	given := c != nil && c.Obeyed.Frame != 0
	waited := l.Blocked || len(l.BlockedBy) > 0
	if !given && !waited {
		return
	}
	key := subjectOfLock(l)
	key.client = lnet.NID{}
	x := fifo.GetOrNew(p.resources, key)
	if x.target.Name == "" {
		x.target = lockTarget(l)
	}
	if waited {
		if ns, ok := l.Waited(); ok && ns < facts.MinWait { // a longer one is a trouble of its own
			x.waited += ns
		}
	}
	if given {
		p.given(x, l, c)
	}
	x.add(l)
	if x.isPingPong(l.Desc.Kind) {
		p.report.Report(x.finding(l))
	}
}

// given counts a lock that was given back after a callback.
func (p *pingPong) given(x *contended, l *locks.Lock, c *locks.Callback) {
	if x.given > 0 && c.Obeyed.Time-x.obeyed > handoverGap.Nanoseconds() && !x.reported {
		*x = contended{target: x.target}
	}
	if x.given == 0 {
		x.first = c.Sent.Time
	} else if l.Client == x.holder && l.Asked.Frame != 0 && l.Asked.Time >= x.obeyed {
		x.returns++
	}
	x.given++
	x.holder, x.obeyed = l.Client, c.Obeyed.Time
	x.first, x.last = min(x.first, c.Sent.Time), max(x.last, c.Obeyed.Time)
	if len(x.evidence) < maxContendedProofs {
		x.evidence.Add(c.Sent, "callback to %s", l.Client)
		x.evidence.Add(c.Obeyed, "%s gives its lock back", l.Client)
		x.evidence = x.evidence[:min(len(x.evidence), maxContendedProofs)]
	}
}

// maxContendedProofs pieces of evidence are kept of a resource.
const maxContendedProofs = 6

// add notes who uses the resource.
func (x *contended) add(l *locks.Lock) {
	i := slices.IndexFunc(x.clients, func(c contender) bool { return c.client == l.Client })
	if i < 0 {
		if len(x.clients) >= maxTallied {
			return
		}
		i = len(x.clients)
		x.clients = append(x.clients, contender{client: l.Client})
	}
	x.clients[i].jobs.add(l.Job)
}

// isPingPong reports whether the lock has changed hands often enough.
func (x *contended) isPingPong(kind uint64) bool {
	if len(x.clients) > 1 {
		return float64(x.given) >= handovers.Value
	}
	return kind == opcodes.ExtentLock && float64(x.returns) >= handovers.Value
}

func (x *contended) finding(l *locks.Lock) diagnose.Finding {
	x.reported = true
	f := diagnose.Finding{Subject: x.target.subject(), First: x.first, Last: x.last, Count: x.given, Evidence: slices.Clone(x.evidence)}
	f.Detail = string(l.Desc.AppendResource(nil))
	suspect(&f, byApplication)
	var who []string
	for _, c := range x.clients {
		who = append(who, c.client.String()+jobsText(c.jobs))
	}
	span := x.last - x.first
	if len(who) == 1 {
		f.Compare(&handovers, float64(x.returns))
		f.Text = fmt.Sprintf("%s had to give back its locks on %s %d times in %s, and asked for them again each time.", who[0], f.Detail,
			x.given, duration(span))
	} else {
		f.Compare(&handovers, float64(x.given))
		f.Text = fmt.Sprintf("%s needed locks on %s in turn: %d times in %s one of them had to give its lock back.", list(who), f.Detail,
			x.given, duration(span))
	}
	share := 0.0
	if x.waited > 0 && span > 0 {
		share = float64(x.waited) / float64(span) / float64(len(who))
		whose := "Their requests waited %s for each other."
		if len(who) == 1 {
			whose = "Its requests waited %s for that."
		}
		f.Text += " " + fmt.Sprintf(whose, duration(x.waited))
	}
	f.Compare(&handoverShare, 100*share)
	f.Compare(&handoverWarning, float64(x.given))
	if 100*share < handoverShare.Value || float64(x.given) < handoverWarning.Value {
		f.Severity = diagnose.Note
	}
	return f
}

var (
	glimpsesOfObject = diagnose.Threshold{Name: "glimpses of an object", Value: 5, Unit: "times",
		Reason: "a single ls -l asks once for each object"}
	glimpsesForWarning = diagnose.Threshold{Name: "glimpses a second, for a warning", Value: 100, Unit: "times",
		Reason: "each interrupts the client that writes; below it, the writer does not notice"}
	glimpsePause = diagnose.Threshold{Name: "time between two of them", Value: 30, Unit: "s",
		Reason: "longer pauses are another use of the file"}
)

var _ = add(diagnose.Rule{
	Code:     "lock.glimpse_storm",
	Severity: diagnose.Warning,
	Noun:     "glimpse callback",
	Summary:  "Clients ask again and again for the size of files that another client is writing, as ls -l does.",
	Meaning: "The size of a file that is being written is known to the client that writes it. When another one asks for it (stat, ls -l, " +
		"tail -f), the OST sends the writer a glimpse callback for each object, and waits for the answer. " +
		"The rule counts the glimpse callbacks about an object to the client that has it locked. It is a note unless they are many in a second.",
	Limits: "Who asked is named where the requests are in the capture: glimpses of the same object by other clients.",
	Next:   "Find what polls the files: monitoring scripts, ls -l or du in a loop, tail -f. They can use lfs find with lazy sizes, or poll less often.",
	Thresholds: []*diagnose.Threshold{
		&glimpsesOfObject, &glimpsesForWarning, &glimpsePause,
	},
	Samples: []string{"lock_contention.pcap.zst"},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		g := &glimpses{report: r, objects: fifo.NewMap[lockSubject, *glimpsed](maxResources),
			askers: fifo.NewMap[lockSubject, *tally](maxResources)}
		return diagnose.Hooks{Opcodes: []uint32{opcodes.LDLM_GL_CALLBACK, opcodes.LDLM_ENQUEUE}, Sent: g.sent}
	},
})

// glimpses counts the glimpse callbacks about objects.
type glimpses struct {
	report  *diagnose.Reporter
	objects *fifo.Map[lockSubject, *glimpsed] // with the client that has the lock
	askers  *fifo.Map[lockSubject, *tally]    // without a client: who asked for the size
}

// glimpsed is an object that is glimpsed at.
type glimpsed struct {
	series
	target   targetKey
	second   int64 // the second that inSecond counts
	inSecond int64
	most     int64 // in a second
}

func (g *glimpses) sent(r *track.RPC, m *dissect.Message) {
	if r.Sends != 1 || m.Msg == nil {
		return
	}
	if r.Opcode == opcodes.LDLM_ENQUEUE {
		if opcodes.IsGlimpse(m.Msg) {
			g.asked(r, m)
		}
		return
	}
	d, ok := opcodes.LockDescOf(m.Msg)
	if !ok || d.Kind != opcodes.ExtentLock && d.Kind != opcodes.InodeLock {
		return
	}
	key := lockSubject{r.Server, r.Client, d.Kind, d.Name}
	x, known := fifo.Get(g.objects, key)
	if !known || m.Time-x.last > glimpsePause.Nanoseconds() && float64(x.count) < glimpsesOfObject.Value {
		x = &glimpsed{}
		fifo.Put(g.objects, key, x)
	}
	if x.target.Name == "" {
		x.target = namedTarget(r.Target(), r.TargetIndex(), r.Client)
	}
	x.add(m.Time)
	if s := m.Time / 1e9; s != x.second {
		x.second, x.inSecond = s, 0
	}
	x.inSecond++
	x.most = max(x.most, x.inSecond)
	x.prove(r.Requested(), "glimpse callback to %s", r.Server)
	if float64(x.count) >= glimpsesOfObject.Value {
		g.report.Report(g.finding(key, x, &d))
	}
}

// asked notes who asks for the size of an object.
func (g *glimpses) asked(r *track.RPC, m *dissect.Message) {
	d, ok := opcodes.LockDescOf(m.Msg)
	if !ok {
		return
	}
	key := lockSubject{server: r.Server, kind: d.Kind, name: d.Name}
	t := fifo.GetOrNew(g.askers, key)
	t.add(r, r.Requested())
}

func (g *glimpses) finding(key lockSubject, x *glimpsed, d *opcodes.LockDesc) diagnose.Finding {
	f := x.finding(x.target.subject())
	f.Client, f.Detail = key.client, string(d.AppendResource(nil))
	suspect(&f, byApplication)
	f.Text = fmt.Sprintf("%s was asked %d times in %s for the size of %s, which it has locked for writing", key.client, x.count,
		duration(x.last-x.first), f.Detail)
	key = lockSubject{server: key.server, kind: key.kind, name: key.name}
	if t, ok := fifo.Get(g.askers, key); ok && len(t.clients) > 0 {
		f.Text += ", on behalf of " + t.senders()
	}
	f.Text += "."
	f.Compare(&glimpsesOfObject, float64(x.count))
	f.Compare(&glimpsesForWarning, float64(x.most))
	if float64(x.most) < glimpsesForWarning.Value {
		f.Severity = diagnose.Note
	} else {
		f.Text += fmt.Sprintf(" There were up to %d in a second.", x.most)
	}
	return f
}

var (
	churnTimes = diagnose.Threshold{Name: "times that a lock was needed again", Value: 3, Unit: "times",
		Reason: "a client may need a lock again that it has just dropped, by chance or because an administrator cleared its cache"}
	churnLocks = diagnose.Threshold{Name: "files and objects to which that happened", Value: 32, Unit: "files",
		Reason: "a few are applications that open a file now and then"}
	churnSpread = diagnose.Threshold{Name: "seconds in which locks were dropped that were needed again once, of three times as many files",
		Value: 5, Unit: "seconds",
		Reason: "an administrator who clears the cache drops all at once"}
	churnWarning = diagnose.Threshold{Name: "times that a lock was needed again, for a warning", Value: 500, Unit: "times",
		Reason: "fewer cost a job less than a second: ordinary programs that open files twice do that, as tar, dd and ls"}
	churnRate = diagnose.Threshold{Name: "of them in a second, for a warning", Value: 10, Unit: "times",
		Reason: "each costs a request of a millisecond: less than that is not noticed"}
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
		"The rule counts the locks that a client cancelled without a callback, and asked for again within the time of the threshold. It is a note " +
		"unless they are so many that the client waits for them most of the time.",
	Limits: "Locks that go back along with a change of a file, such as those of one that is removed, are not counted.",
	Next: "On the client: lctl get_param ldlm.namespaces.*.{lru_size,lock_count,lru_max_age}; lru_size=0 lets the server decide. " +
		"Look for scripts that write lru_size=clear or drop_caches.",
	Thresholds: []*diagnose.Threshold{&churnTimes, &churnLocks, &churnSpread, &churnWithin, &churnWarning, &churnRate},
	Start: func(r *diagnose.Reporter) diagnose.Hooks {
		c := &lruChurn{report: r, dropped: fifo.NewMap[lockSubject, droppedLock](maxDropped),
			clients: fifo.NewMap[targetClient, *churn](maxTargets)}
		return diagnose.Hooks{Lock: c.lock}
	},
})

// maxDropped locks that were dropped are remembered.
const maxDropped = 1 << 14

// lruChurn finds clients that drop locks that they need again.
type lruChurn struct {
	report  *diagnose.Reporter
	dropped *fifo.Map[lockSubject, droppedLock]
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

func (c *lruChurn) lock(l *locks.Lock) {
	if l.Desc.Kind != opcodes.ExtentLock && l.Desc.Kind != opcodes.InodeLock || l.Desc.IsGroup() {
		return
	}
	key := subjectOfLock(l)
	before, known := fifo.Get(c.dropped, key)
	isDropped := (l.End.How == locks.Canceled || l.End.How == locks.Early && l.End.By != opcodes.MDS_REINT) && blockingCallback(l) == nil && l.IsGranted()
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
	fifo.Put(c.dropped, key, after)
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
	suspect(&f, atConfig(l.Client), byApplication)
	if spread {
		f.Compare(&churnSpread, float64(x.seconds))
	} else {
		f.Compare(&churnLocks, float64(x.resources))
	}
	f.Compare(&churnWarning, float64(x.count))
	f.Compare(&churnRate, float64(x.count)*1e9/float64(max(x.last-x.first, 1)))
	if float64(x.count) < churnWarning.Value || float64(x.count)*1e9 < churnRate.Value*float64(x.last-x.first) {
		f.Severity = diagnose.Note
	}
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
