package facts

import (
	"cmp"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/dissect/track/locks"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Wait is an RPC, or a request for a lock, that waited for seconds.
type Wait struct {
	Span // from the request to its end: the reply, or when the capture ended or the client gave up
	XID  uint64
	Operation
	Client, Server lnet.NID
	Connection     *track.Connection
	Target         Target
	Portal         uint32 // of the service whose threads do it
	Job            string
	HasJob         bool // its request has a field for a job, which was captured

	OfServer bool // only the log of the server has it
	Request  Point
	Reply    Point   // that ended it; the zero Point: there was none
	Sends    []Send  // of the same request, the first one is Request
	Early    []Point // the first and the last early reply
	Before   Point   // a reply that was seen before the request was sent again
	Status   int32

	Refused    bool  // a reply was an error, after which the client sent it again
	Open       bool  // it had no reply when the capture ended
	Lacks      bool  // the capture lacks bytes in which the reply may be
	AtLeast    bool  // it was sent again at its end, and what came of that is not known
	SentBefore bool  // before the capture: its first request there is one that was sent again
	Service    int64 // that the server says it took, in seconds; -1: unknown
	Retransmit int64 // nanoseconds that retransmission cost
	Bulk       int64 // nanoseconds from the first to the last message of bulk data; negative: there was none
	Queued     int64 // nanoseconds that it waited for a thread, by the log of the server
	Worked     int64 // nanoseconds that a thread worked for it, by the log of the server
	Nested     int64 // nanoseconds in which requests of the server to others had no reply
	AllNested  bool  // all of these were captured

	GaveUp debuglog.Reason // why the client gave up waiting, by its log: Request is the line that says so
	Again  Point           // the line about the connection that was made again, after which the request is sent again
	AtOnce bool            // that was as soon as it was lost
	of     *loggedImport   // of the connection, while that was not made again
	over   bool            // the log of its client has its end, which may be without a reply
	log    int             // number of the log that says so

	Locking bool  // the server takes a lock for this read or write
	Lock    bool  // the reply said that it has to wait for a lock
	Told    Point // this reply
	Blocked []locks.Blocker
}

// WasSentAgain reports whether the request was sent again before a time, or its client connected again to do so.
func (w *Wait) WasSentAgain(before int64) bool {
	return !w.Again.IsZero() && w.Again.Time < before || len(w.Sends) > 1 && w.Sends[1].Time < before
}

// Until returns what is known of a wait up to a time when there was no reply.
func (w *Wait) Until(end int64) *Wait {
	cut := *w
	cut.To, cut.Reply, cut.Status, cut.Service, cut.Queued, cut.Worked = end, Point{}, 0, -1, 0, 0
	cut.Sends = slices.DeleteFunc(slices.Clone(w.Sends), func(s Send) bool { return s.Time > end && s != w.Sends[0] })
	return &cut
}

// MinWait is the shortest wait that is kept: ordinary servers answer within a second or two.
const MinWait = int64(3e9)

const (
	maxWaits    = 1 << 10
	maxSends    = 8
	maxBlockers = 1 << 10
)

// attempts are what is known of an RPC while it waits.
type attempts struct {
	conn    int  // of the first request
	locking bool // the server takes a lock for it
	before  bool // it was sent before the capture, too
	again   *resent
}

// resent is what is known of an RPC that was not answered at once.
type resent struct {
	sends   []Send
	early   []Point
	before  Point
	refused bool
	cut     bool // what a reply repeats of the request that was sent again was not captured
}

// Send is a request on a connection.
type Send struct {
	Point
	Conn int
}

// resent returns what is known of an RPC that was not answered at once, and makes it.
func (f *Facts) resentOf(r *track.RPC) *resent {
	a := f.attached.Of(r)
	if a.again == nil {
		a.again = &resent{}
	}
	return a.again
}

func (f *Facts) sent(r *track.RPC, m *dissect.Message) {
	if r.Sends < 2 {
		a := f.attached.Of(r)
		a.conn, a.before = m.Conn, m.RPC.Flags&dissect.FlagResent != 0
		if r.Opcode == opcodes.LDLM_BL_CALLBACK {
			d, _ := opcodes.LockDescOf(m.Msg)
			f.callbacksOf(r.Client, d.Kind == opcodes.ExtentLock).add(track.PointOf(m))
		}
		if r.Opcode == opcodes.OST_READ || r.Opcode == opcodes.OST_WRITE {
			t, ok := opcodes.TransferOf(m.Msg)
			a.locking = ok && t.AnyFlags&opcodes.BrwLocked != 0
		}
		return
	}
	a := f.resentOf(r)
	if len(a.sends) == maxSends {
		a.sends = a.sends[:maxSends-1]
	}
	a.sends = append(a.sends, Send{track.PointOf(m), m.Conn})
	a.cut = m.RPC.Cut && m.RPC.Mbits == 0
	if r.IsSentAgain() {
		if ns, _ := r.Latency(); r.Status < 0 {
			a.refused = true
		} else if a.before.IsZero() && 2*ns < m.Time-r.Requested().Time { // else it came when the client had given up
			a.before = r.Replied()
		}
	}
}

func (f *Facts) early(r *track.RPC, m *dissect.Message) {
	a := f.resentOf(r)
	if len(a.early) == 2 {
		a.early = a.early[:1]
	}
	a.early = append(a.early, track.PointOf(m))
}

func (f *Facts) done(r *track.RPC) {
	p := f.attached.Of(r)
	a := *p
	*p = attempts{}
	f.noteCallback(r)
	f.ended(r, a)
}

// endWithout ends a wait when its client was done with it, by its log, which does not say whether there was a reply. A ping that was given up
// had none: it is not sent again.
func (w *Wait) endWithout(at int64) {
	w.To, w.over, w.AtLeast, w.Open = at, true, false, w.IsPing()
}

// noteCallback takes a callback of which a log says when it was sent first.
func (f *Facts) noteCallback(r *track.RPC) {
	if l := r.Log; r.Opcode == opcodes.LDLM_BL_CALLBACK && l != nil && l.HasClient && l.Client.Sent != 0 {
		f.callbacksOf(r.Client, strings.Contains(l.Client.UUID, "-OST")).add(Point{Frame: -l.Client.FirstLine, File: l.Client.File, Time: l.Client.Sent})
	}
}

// logged takes an RPC of a log that the capture has not.
func (f *Facts) logged(r *track.RPC) {
	f.now = max(f.now, r.Replied().Time)
	f.begin(r.Requested().Time)
	if l := r.Log; !r.HasReply && l.HasClient && l.Client.Completed != 0 {
		if w := f.loggedWait(r); w != nil && (w.Open || w.AtLeast) {
			w.endWithout(l.Client.Completed)
		}
	}
	f.noteCall(r)
	f.noteCallback(r)
	if r.Log.NotOnWire != debuglog.Nothing || !r.HasReply {
		return
	}
	f.answered(r, nil)
	f.ended(r, attempts{conn: -1})
}

// ended keeps an RPC if it waited for long, and takes what the log of its server says of its time.
func (f *Facts) ended(r *track.RPC, a attempts) {
	line := f.loggedWait(r)
	f.noteCall(r)
	isLogged := r.Log != nil && r.Log.HasServer && r.Log.Server.Handled != 0
	if isLogged {
		f.noteLog(r.Server, r.Log.Server.Handled)
		if s, _ := f.served(r); s != nil {
			s.logged(r)
		}
	}
	if !r.HasRequest || !r.HasOpcode || r.OneWay || r.Replay() || opcodes.IsConnect(r.Opcode) || opcodes.IsDisconnect(r.Opcode) {
		return
	}
	begin := r.Requested()
	ns, ok := r.Latency()
	if reply := r.Replied(); line != nil && ok && !reply.IsLog() && reply.Time < line.Request.Time {
		line.Before = reply
	}
	w := Wait{Span: Span{begin.Time, begin.Time + ns}}
	if !ok || r.IsSentAgain() {
		switch w.Open = true; {
		case r.Missing == track.CaptureEnded || r.IsSentAgain():
			w.To = f.now
		case r.Missing == track.Unanswered:
			w.To, w.Open = f.now, true
		default:
			w.Lacks, w.Open, w.To = true, false, begin.Time
		}
	}
	if x := a.again; x != nil && x.cut && w.Open {
		w.AtLeast, w.Open, w.To = true, false, x.sends[len(x.sends)-1].Time
	}
	w.Operation = Operation{r.Opcode, r.Variant}
	if l := r.Log; (w.Open || w.AtLeast) && l != nil && l.HasClient && l.Client.Completed > w.From {
		w.endWithout(l.Client.Completed)
	}
	if l := r.Log; line == nil && l != nil && l.HasClient && l.Client.Sent != 0 && begin.Time-l.Client.Sent > MinWait { // it came onto the wire late
		p := Point{Frame: -l.Client.FirstLine, File: l.Client.File, Time: l.Client.Sent}
		line = &Wait{Span: Span{From: p.Time}, Request: p, Sends: []Send{{p, -1}}}
	}
	sentBefore := line != nil && begin.Time-line.From > MinWait // what the capture has is sent again
	if sentBefore && line.IsPing() {                            // or came late: nobody waits for it any more
		return
	}
	if sentBefore {
		w.From = line.From
	}
	if w.Length() < MinWait {
		return
	}
	if x := a.again; x != nil {
		w.Sends, w.Early, w.Before, w.Refused = x.sends, x.early, x.before, x.refused
	}
	w.Sends, w.Locking, w.SentBefore = append([]Send{{begin, a.conn}}, w.Sends...), a.locking, a.before && !sentBefore
	if sentBefore {
		w.Sends, begin = append(slices.Clone(line.Sends), w.Sends...), line.Request
	}
	if l := r.Log; l != nil && l.Client.Resent > 0 && len(w.Sends) == 1 { // which only its log shows
		w.Sends = append(w.Sends, Send{Point{Frame: -l.Client.LastLine, File: l.Client.File, Time: l.Client.Failed}, a.conn})
	}
	w.XID, w.Client, w.Server, w.Connection = r.XID, r.Client, r.Server, r.Connection
	w.Job, w.HasJob, w.Request, w.Service, w.Portal = f.job(r), r.HasJob(), begin, -1, r.Portal
	w.OfServer = begin.IsLog() && r.Log != nil && !r.Log.HasClient
	if !w.Open && !w.AtLeast && !w.over {
		w.Reply, w.Status = r.Replied(), r.Status
		if r.Has(opcodes.PbServiceTime) && r.Service > 0 {
			w.Service = int64(r.Service)
		}
	}
	w.Retransmit, _ = r.RetransmitTime()
	w.Bulk = -1
	if bulk, ok := r.BulkTime(); ok {
		w.Bulk = bulk
	}
	if isLogged {
		w.Queued, w.Worked = r.Log.Server.Queue(), r.Log.Server.Service
	}
	w.Nested, w.AllNested = r.Nested.Time, r.Nested.All
	if line != nil {
		w.GaveUp, w.Again, w.AtOnce = line.GaveUp, line.Again, line.AtOnce
		f.waits = slices.DeleteFunc(f.waits, func(o *Wait) bool { return o == line })
	}
	kept := w // most are not, and need no memory
	f.addWait(&kept)
}

// Kept is a lock that its holder gave back late, though it had answered the callback that asked for it.
type Kept struct {
	Client                     lnet.NID
	Asked, Answered, GivenBack Point
}

// minKept is from when on a lock was given back late: most are in milliseconds.
const minKept = int64(2e9)

// Kept returns what is known of a lock that was given back late, by the server's cookie; nil: it was not.
func (f *Facts) Kept(handle uint64) *Kept {
	k, _ := fifo.Get(f.kept, handle)
	return k
}

// keep takes a lock that a callback asked for.
func (f *Facts) keep(l *locks.Lock) {
	for i := range l.Callbacks {
		if c := &l.Callbacks[i]; c.Asks() && c.Status == 0 && !c.Answered.IsZero() && !c.Obeyed.IsZero() && c.Obeyed.Time-c.Sent.Time >= minKept {
			fifo.Put(f.kept, l.Handle, &Kept{l.Client, c.Sent, c.Answered, c.Obeyed})
		}
	}
}

// lock takes a lock that had to wait, when it is granted, and when it ended.
func (f *Facts) lock(l *locks.Lock, ended bool) {
	if ended {
		f.keep(l)
	}
	if len(l.BlockedBy) > 0 {
		fifo.Put(f.blocked, lockRequest{l.Client, l.Asked}, slices.Clone(l.BlockedBy))
	}
	if !l.Blocked || !l.HasResource() || l.Desc.Kind == opcodes.FlockLock || l.Desc.IsGroup() {
		return // applications keep flocks and group locks as long as they want
	}
	ns, ok := l.Waited()
	if !ok || ns < MinWait || l.Asked.IsZero() || ended && l.IsGranted() {
		return
	}
	w := Wait{Span: Span{l.Asked.Time, l.Asked.Time + ns}, Operation: Operation{Opcode: opcodes.LDLM_ENQUEUE}, Client: l.Client, Server: l.Server,
		Connection: l.Connection, Job: l.Job, Request: l.Asked, Reply: l.Granted, Sends: []Send{{l.Asked, -1}}, Service: -1, Lock: true, Told: l.Told,
		Blocked: slices.Clone(l.BlockedBy), Open: l.Granted.IsZero()}
	f.addWait(&w)
}

type lockRequest struct {
	client lnet.NID
	asked  Point
}

// HasLockOf reports whether a wait is that for the last reply to a request, which lasted as long as that for its lock: it has all
// that is known of the request.
func (w *Wait) HasLockOf(lock *Wait) bool {
	return !w.Lock && w.Opcode == lock.Opcode && w.Client == lock.Client && w.Server == lock.Server && w.From == lock.From && lock.To-w.To < MinWait
}

// addWait keeps a wait, the longest ones if there are too many.
func (f *Facts) addWait(w *Wait) {
	if len(f.waits) < maxWaits {
		f.waits = append(f.waits, w)
		return
	}
	least := slices.MinFunc(f.waits, func(a, b *Wait) int { return cmp.Compare(a.Length(), b.Length()) })
	if least.Length() < w.Length() {
		f.waits[slices.Index(f.waits, least)] = w
	}
}

// keptBy returns for how long a lock kept another one waiting.
func (w *Wait) keptBy(b *locks.Blocker) int64 {
	until := w.To
	if b.Until > 0 {
		until = min(until, b.Until)
	}
	return until - max(w.From, b.From)
}

// answeredAfter returns when a target answered its client for the first time after a request was sent, 0 if it did not: of an older ping that has
// no reply nobody hears any more.
func (f *Facts) answeredAfter(w *Wait) (first int64) {
	for _, s := range fifo.All(f.streams) {
		if s.Connection != w.Connection || s.Client != w.Client {
			continue
		}
		for i := range s.Bins {
			if at := s.Bins[i].From; at > w.From+MinWait && (first == 0 || at < first) {
				first = at
			}
		}
	}
	return first
}

// Waits returns the waits in the order of their beginning, with what is known by now of their targets and
// locks.
func (f *Facts) Waits() []*Wait {
	list, takenAt := slices.Clone(f.waits), f.mayBeTakenAt()
	for _, w := range list {
		w.Target = TargetOf(w.Connection, w.Server)
		if w.GaveUp != debuglog.NoReason && w.Open && !w.over && !w.IsPing() {
			if end := f.callsUntil[w.log]; end > w.To {
				w.To = end
			} else { // only a log with all calls of its node shows by its silence that one had no reply
				w.AtLeast = true
			}
		}
		if w.IsPing() && w.Open {
			if again := f.answeredAfter(w); again > 0 {
				w.endWithout(min(w.To, again))
			}
		}
		client, server := HostOf(w.Client), HostOf(w.Server)
		w.Lacks = w.Lacks || (w.Open || w.over) && (f.LacksIn(server, client, w.Span) || w.GaveUp == debuglog.NoReason && f.overhears(client, server, takenAt))
		if len(w.Blocked) == 0 {
			w.Blocked, _ = fifo.Get(f.blocked, lockRequest{w.Client, w.Request})
		}
		longest := int64(0)
		for i := range w.Blocked {
			longest = max(longest, w.keptBy(&w.Blocked[i]))
		}
		w.Blocked = slices.DeleteFunc(w.Blocked, func(b locks.Blocker) bool { return 2*w.keptBy(&b) < longest })
	}
	slices.SortStableFunc(list, func(a, b *Wait) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.XID, b.XID))
	})
	return list
}
