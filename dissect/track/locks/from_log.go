package locks

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// logged is what lines of logs say about threads, and about RPCs that concern locks.
type logged struct {
	threads     *fifo.Map[debuglog.Thread, *thread]
	callbacks   *fifo.Map[uint64, *loggedCallback] // by the xid of the server
	connections *fifo.Map[connectionKey, *track.Connection]
	packed      []packed // by logs, oldest first
	recovering  string   // target whose clients give locks back
}

type connectionKey struct {
	client lnet.NID
	target string
}

// thread is what a thread of a node works for.
type thread struct {
	// The RPC that it serves, by the lines of rpctrace.
	opcode   uint32 // 0: unknown
	xid      uint64
	client   lnet.NID
	job      string
	begin    int64
	lock     *Lock // that the RPC asks for
	unlock   bool  // it releases a flock
	replied  bool
	granted  bool // by the reply
	blockers []Blocker
	taken    []*Lock // that the RPC gives back
	taking   bool    // between the lines about that

	asked    *Lock           // by this thread, of a server
	answered int64           // when the last request for a lock was completed
	callback *loggedCallback // that is made, or was received
}

// reset forgets what the thread worked for. Its slices are used again.
func (h *thread) reset() { *h = thread{blockers: h.blockers[:0], taken: h.taken[:0]} }

// loggedCallback is a callback by its place in the list of its lock.
type loggedCallback struct {
	lock   *Lock
	number int
	server bool // by a line of the server
}

// packed is a lock that a client has put into a request that gives it back.
type packed struct {
	lock *Lock
	log  int
	pid  uint32
	time int64
}

// The bounds of what is held, and how long a packed lock waits for its request.
const (
	maxThreads   = 1 << 12
	maxLogged    = 1 << 14
	maxPacked    = 1 << 12
	maxPackedFor = int64(1e9)
)

// Logged takes a line of a log about a lock or an RPC, beside a capture after ReadLogs.
// Clients and servers know a lock by the handles of both, which are unique.
func (t *Locks) Logged(l *track.LogLine) {
	if t.beside != nil {
		t = t.beside.Locks
	}
	t.Advance(l.Time)
	if t.logged == nil {
		t.logged = &logged{threads: fifo.NewMap[debuglog.Thread, *thread](maxThreads),
			callbacks: fifo.NewMap[uint64, *loggedCallback](maxLogged), connections: fifo.NewMap[connectionKey, *track.Connection](maxLogged)}
	}
	switch l.Kind {
	case debuglog.RecoveryBegin:
		t.logged.recovering = l.Target
	case debuglog.RecoveryEnd:
		t.logged.recovering = ""
	}
	if l.Kind >= debuglog.Note && l.Kind < debuglog.LockAsked {
		return
	}
	for len(t.logged.packed) > 0 && t.logged.packed[0].time < t.now-maxPackedFor {
		t.givenBack(t.logged.packed[0].lock, Given, t.logged.packed[0].time)
		t.logged.packed = t.logged.packed[1:]
	}
	key := debuglog.Thread{Log: l.Log, PID: l.PID}
	h, ok := fifo.Get(t.logged.threads, key)
	if !ok || l.Kind == debuglog.Handling {
		if !ok {
			h = &thread{}
			fifo.Put(t.logged.threads, key, h)
		}
		h.reset()
	}
	switch {
	case l.Kind < debuglog.Note:
		t.loggedRPC(l, h)
	case l.Kind == debuglog.LockCancel:
		h.taking = true
	case l.Kind == debuglog.LockCanceled:
		h.taking = false
	case l.Lock.OnClient:
		t.onClient(l, h)
	default:
		t.onServer(l, h)
	}
}

// loggedRPC takes a line about an RPC: those about its lock are of the same thread.
func (t *Locks) loggedRPC(l *track.LogLine, h *thread) {
	isCallback := opcodes.IsCallback(l.Opcode) && l.Opcode != opcodes.LDLM_SET_INFO
	switch l.Kind {
	case debuglog.Handling:
		h.opcode, h.xid, h.client, h.job, h.begin = l.Opcode, l.XID, l.Peer, l.Job, l.Time
	case debuglog.Handled:
		t.handled(l, h)
		h.reset()
	case debuglog.Sent:
		switch c := h.callback; {
		case l.Opcode == opcodes.LDLM_ENQUEUE && h.asked != nil:
			h.asked.Asked.Time, h.asked.Job, h.asked.HasJob = l.Time, l.Job, true
			t.nodes(h.asked, l.Node, l.Peer)
		case isCallback && c != nil && c.server && c.lock.Client == l.Peer:
			t.sentCallback(l, c)
			h.callback = nil
		default:
			t.sent(l)
		}
	case debuglog.Completed:
		switch c, ok := fifo.Get(t.logged.callbacks, l.XID); {
		case isCallback && ok:
			c.answer(l.Time)
		case l.Opcode == opcodes.LDLM_ENQUEUE:
			h.answered = l.Time
		}
	}
}

// handled takes the end of an RPC that a thread served, which says when it arrived.
func (t *Locks) handled(l *track.LogLine, h *thread) {
	arrived := l.Time - l.Total
	if k := h.lock; k != nil && !k.clientLog {
		if k.Asked.Time == h.begin {
			k.Asked.Time = arrived
		}
		if h.granted {
			k.Granted.Time = l.Time
		}
	}
	for _, k := range h.taken {
		if k.End.Point.Time == h.begin {
			for i := range k.Callbacks {
				if c := &k.Callbacks[i]; !c.Obeyed.IsZero() && c.Obeyed == k.End.Point {
					c.Obeyed.Time = arrived
				}
			}
			k.End.Point.Time, k.Last = arrived, arrived
		}
	}
	if c := h.callback; c != nil && !c.server {
		b := c.of()
		b.Status = l.ReplyStatus
		if b.Sent.Time == h.begin {
			b.Sent.Time = arrived
		}
		if b.Answered.IsZero() {
			c.answer(l.Time)
		}
	}
}

func (c *loggedCallback) of() *Callback { return &c.lock.Callbacks[c.number] }

func (c *loggedCallback) answer(now int64) {
	b := c.of()
	b.Answered, b.Missing = track.Point{Time: now}, track.NotMissing
}

// sentCallback takes the request of a callback that a server has made. By its xid, lines of
// the client are about the same.
func (t *Locks) sentCallback(l *track.LogLine, c *loggedCallback) {
	if known, ok := fifo.Get(t.logged.callbacks, l.XID); ok && known.lock == c.lock { // the line of the client was first
		of := known.of()
		c.of().Answered, c.of().Status, c.of().Missing = of.Answered, of.Status, of.Missing
		of.twice = true
		known.number = c.number
	}
	c.of().Sent.Time = l.Time
	fifo.Put(t.logged.callbacks, l.XID, c)
}

// sent takes a request that gives back the locks which its thread has packed. What only
// gives back locks is sent by another thread.
func (t *Locks) sent(l *track.LogLine) {
	several := false
	var pid uint32
	goes := func(p packed) bool {
		return p.log == l.Log && (p.lock.Server == l.Peer || p.lock.Server == lnet.NID{}) && (l.Opcode == opcodes.LDLM_CANCEL || p.pid == l.PID)
	}
	for _, p := range t.logged.packed {
		if goes(p) {
			several = several || pid != 0 && pid != p.pid
			pid = p.pid
		}
	}
	how := Early
	if l.Opcode == opcodes.LDLM_CANCEL {
		how = Canceled
	}
	if several {
		how = Given
	}
	t.logged.packed = slices.DeleteFunc(t.logged.packed, func(p packed) bool {
		if goes(p) {
			t.givenBack(p.lock, how, l.Time)
		}
		return goes(p)
	})
}

// givenBack ends a lock that a client gives back. How may be found out later.
func (t *Locks) givenBack(k *Lock, how How, now int64) {
	switch {
	case k.isLive():
		k.obey(track.Point{Time: now})
		t.end(k, how, track.Point{Time: now})
	case k.End.How == Given:
		k.End.How = how
	}
}

// nodes sets the client and the server of a lock where the lock has none yet. The zero NID is an unknown node.
func (t *Locks) nodes(k *Lock, client, server lnet.NID) {
	k.Client = cmp.Or(k.Client, client)
	k.Server = cmp.Or(k.Server, server)
	if k.Connection.Client == (lnet.NID{}) && k.Client != (lnet.NID{}) && k.isLive() { // evictions end the locks of a connection
		t.disconnect(k)
		k.Connection = t.loggedConnection(k.Client, k.Connection.Target)
		t.connect(k)
	}
}

func (t *Locks) loggedConnection(client lnet.NID, target string) *track.Connection {
	return fifo.GetOrMake(t.logged.connections, connectionKey{client, target}, func() *track.Connection {
		return &track.Connection{Client: client, Target: target, TargetFrom: track.TargetFromLog}
	})
}

// ofLine returns the lock of a line. One that is unknown is new unless the line is about its
// end, then it is nil.
func (t *Locks) ofLine(l *track.LogLine, isEnd bool) *Lock {
	client, server := l.Lock.Remote, l.Lock.Handle
	if l.Lock.OnClient {
		client, server = server, client
	}
	k := t.byServerHandle(lnet.NID{}, nil, server)
	if k == nil {
		k = t.byClientHandle(lnet.NID{}, nil, client)
	}
	switch {
	case k != nil:
	case isEnd:
		return nil
	default:
		k = t.newLock(lnet.NID{}, lnet.NID{}, t.loggedConnection(lnet.NID{}, l.Target))
		k.fromLog = true
	}
	t.setHandles(k, client, server)
	if l.Lock.OnClient {
		k.clientLog = true
		t.nodes(k, l.Node, lnet.NID{})
	} else {
		t.nodes(k, l.Peer, l.Node)
	}
	if t.KeepLines {
		k.addLine(l)
	}
	return k
}

func (l *Lock) addLine(of *track.LogLine) {
	if len(l.Lines) >= maxPerLock {
		l.Dropped++
		return
	}
	line := Line{of.Kind, of.Lock.OnClient, of.Status, of.Time, of.File, of.Line, 0}
	if of.Kind == debuglog.LockConverts {
		line.Bits = of.Lock.Desc.Bits &^ of.Lock.Dropped
	}
	l.Lines = append(l.Lines, line)
}

// describeLogged sets what a line says about a lock.
func (t *Locks) describeLogged(k *Lock, l *track.LogLine) {
	d, as := l.Lock.Desc, knownGranted
	if d.Owner = uint64(d.PID); k.Client == (lnet.NID{}) {
		d.Owner = k.number << 32
	}
	switch {
	case d.Granted != 0:
	case k.known == knownGranted:
		return
	default:
		as = knownRequested
	}
	t.describe(k, &d, as)
}

// onClient takes a line about a lock that the node has asked a server for.
func (t *Locks) onClient(l *track.LogLine, h *thread) {
	isNew := true
	switch l.Kind {
	case debuglog.LockAborted, debuglog.LockASTHandled, debuglog.LockConverts, debuglog.LockFreed:
		isNew = false
	case debuglog.LockTaken: // also of locks that no server knows
		isNew = t.besideCapture
	}
	k := t.ofLine(l, !isNew)
	if k == nil || !k.isLive() {
		return
	}
	switch l.Kind {
	case debuglog.LockAsked:
		h.asked, h.answered = k, 0
		k.Asked.Time, k.intent = l.Time, l.Lock.Intent && l.Lock.Desc.Kind == opcodes.InodeLock
		if !k.intent {
			t.describeLogged(k, l)
		}
	case debuglog.LockEnqueued:
		if l.Lock.Desc.Granted == nullMode { // a flock was released
			t.drop(k)
			return
		}
		t.describeLogged(k, l)
		t.grantLogged(k, max(h.answered, k.Asked.Time), l.Time)
	case debuglog.LockBlocked:
		t.describeLogged(k, l)
		k.Blocked, k.Told = true, l.Point()
		t.addHolders(k)
	case debuglog.LockASTHandled, debuglog.LockConverts, debuglog.LockTaken:
	case debuglog.LockAborted:
		if k.Error == 0 {
			t.drop(k)
		}
	case debuglog.LockReplayed:
		k.Replays++
		t.describeLogged(k, l)
	case debuglog.LockPacked:
		if len(t.logged.packed) < maxPacked {
			t.logged.packed = append(t.logged.packed, packed{k, l.Log, l.PID, l.Time})
		}
	case debuglog.LockFreed:
		switch {
		case slices.ContainsFunc(t.logged.packed, func(p packed) bool { return p.lock == k }):
		case k.Desc.Kind == opcodes.FlockLock && h.asked != nil && h.asked.Desc.IsUnlock():
			t.givenBack(k, Canceled, h.asked.Asked.Time)
		default:
			t.end(k, Given, l.Point())
		}
	default:
		t.receive(k, l, h)
	}
}

var nullMode = opcodes.LdlmMode.Number("NL")

// grantLogged notes that a lock was granted, at a time or, where that is not known, at
// another one.
func (t *Locks) grantLogged(k *Lock, at, or int64) {
	if at == k.Asked.Time {
		at = or
	}
	if !k.Granted.IsZero() {
		return
	}
	if t.grant(k, track.Point{Time: at}); k.Asked.IsZero() {
		k.Granted = track.Point{}
	}
}

// receive takes a callback that has come to a client.
func (t *Locks) receive(k *Lock, l *track.LogLine, h *thread) {
	t.describeLogged(k, l)
	kind := Blocking
	switch l.Kind {
	case debuglog.LockCompletionAST:
		kind = Completion
	case debuglog.LockGlimpseAST:
		kind = Glimpse
	}
	begin := l.Time
	if h.xid != 0 {
		begin = h.begin
	}
	c, ok := fifo.Get(t.logged.callbacks, h.xid)
	switch {
	case ok && c.lock == k:
		h.callback = &loggedCallback{k, c.number, false}
	case h.xid == 0 && k.serverLog: // the server's line is about it
	default:
		if n := k.addCallback(Callback{Kind: kind, Sent: track.Point{Time: begin}, Missing: track.NotCaptured}); n >= 0 {
			h.callback = &loggedCallback{k, n, false}
			if h.xid != 0 {
				fifo.Put(t.logged.callbacks, h.xid, h.callback)
			}
		}
	}
	if kind == Completion {
		t.grantLogged(k, begin, begin)
		k.Desc.Granted, k.known = k.Desc.Requested, knownGranted
		t.enter(k)
	}
}

// onServer takes a line about a lock that the node has given to a client, or to itself.
func (t *Locks) onServer(l *track.LogLine, h *thread) {
	if l.Lock.Remote == 0 {
		return // its own
	}
	k := t.ofLine(l, l.Kind == debuglog.LockFreed && !h.taking || l.Kind == debuglog.LockReplied && l.Status != 0)
	if k == nil {
		return
	}
	k.serverLog = true
	switch {
	case l.Kind == debuglog.LockFreed:
		t.freed(k, l, h)
	case l.Kind == debuglog.LockAsksBack:
		t.makeCallback(k, l, h, Blocking)
	case !k.isLive():
	case l.Kind == debuglog.LockReplied:
		t.replied(k, l, h)
	case l.Kind == debuglog.LockCreated:
		h.lock, h.unlock, h.replied, h.blockers = k, l.Lock.Desc.IsUnlock(), false, h.blockers[:0]
		switch {
		case k.clientLog:
		case k.IsGranted() || t.logged.recovering == l.Target:
			k.Replays++
		default:
			k.Asked.Time, k.intent = l.Time, l.Lock.Desc.Kind == opcodes.InodeLock
			if h.opcode != 0 {
				k.Asked.Time, k.Job, k.HasJob = h.begin, h.job, true
			}
		}
		t.nodes(k, h.client, l.Node)
	case l.Kind == debuglog.LockConflict:
		t.describeLogged(k, l)
		if h.lock != nil && !h.replied {
			h.blockers = append(h.blockers, k.asBlocker())
		} else {
			t.addToWaiting(k)
		}
	case l.Kind == debuglog.LockCompletes:
		t.makeCallback(k, l, h, Completion)
		t.grantLogged(k, l.Time, l.Time)
	}
}

// makeCallback takes a callback that a server makes, maybe about a lock that the client has
// given up already.
func (t *Locks) makeCallback(k *Lock, l *track.LogLine, h *thread, kind CallbackKind) {
	if k.isLive() {
		t.describeLogged(k, l)
	}
	if n := k.addCallback(Callback{Kind: kind, Sent: l.Point(), Missing: track.NotCaptured}); n >= 0 {
		h.callback = &loggedCallback{k, n, true}
	}
}

// replied takes the reply to a request for a lock. That of an intent may have another lock
// than the one that was made for the request.
func (t *Locks) replied(k *Lock, l *track.LogLine, h *thread) {
	h.replied = true
	switch d := &l.Lock.Desc; {
	case l.Status < 0 && d.Kind != opcodes.InodeLock && !k.IsGranted():
		k.Error = l.Status
		t.end(k, Refused, l.Point())
	case l.Status != 0, d.Granted == nullMode:
		t.drop(k)
	default:
		h.lock = k
		t.describeLogged(k, l)
		for _, b := range h.blockers {
			if by := t.byServerHandle(lnet.NID{}, nil, b.Handle); by == nil || by.number == k.number ||
				by.Desc.Kind != k.Desc.Kind || by.Desc.Name != k.Desc.Name {
				continue
			} else if !by.isLive() {
				b.Until = by.Last
			}
			k.addBlocker(b)
		}
		if d.Granted == 0 {
			k.Blocked = true
			t.addHolders(k)
		} else if k.Granted.IsZero() {
			h.granted = !k.clientLog
			t.grantLogged(k, l.Time, l.Time)
		}
	}
}

// freed takes the last line about a lock of a server: it is gone.
func (t *Locks) freed(k *Lock, l *track.LogLine, h *thread) {
	switch {
	case k == h.lock && !h.replied: // made for an intent whose reply has another one
	case h.taking && h.opcode != 0:
		how := Early
		if h.opcode == opcodes.LDLM_CANCEL {
			how = Canceled
		}
		if k.isLive() {
			t.describeLogged(k, l)
			h.taken = append(h.taken, k)
		}
		t.givenBack(k, how, h.begin)
	case !k.isLive():
	case k.Desc.Kind == opcodes.FlockLock && h.opcode != 0 && h.lock != nil && !h.replied:
		how := Replaced
		if h.unlock {
			how = Canceled
		}
		h.taken = append(h.taken, k)
		t.givenBack(k, how, h.begin)
	case !k.clientLog: // which may give the lock to a target that was restarted
		t.describeLogged(k, l)
		t.end(k, Given, l.Point())
	}
}
