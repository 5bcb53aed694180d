// Package locks follows locks: from the request that asks for one, over its grant
// and the callbacks about it, to the message that ends it.
//
// A Locks receives RPCs from a track.Pairing: pass its methods Sent, Answered and
// Done as hooks in track.Options. It passes each lock to the hook that New gets,
// when the lock has ended and all RPCs about it have, or at the end of the capture.
//
// locks.go takes the messages, from_log.go lines of logs, beside.go joins both, lock.go has what is known of a lock, and blocked_by.go
// finds which locks on a resource keep others waiting. Blockers sums that up.
//
// Nothing is guessed: a lock keeps another one waiting when the server said so with
// a blocking callback, or, for flocks, which have none, when both are on the same
// range of a file. The state is bounded: each bound is a constant beside the type
// that it limits.
package locks

import (
	"cmp"
	"slices"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// Locks follows locks.
type Locks struct {
	// Granted gets each lock that had to wait for others, when it is granted. nil: none.
	Granted func(*Lock)

	// KeepLines lets locks have the lines of logs about them.
	KeepLines bool

	done   func(*Lock)
	linger int64
	now    int64
	count  uint64 // of all locks

	byClient    fifo.Index[Lock] // by the client's cookie
	byServer    fifo.Index[Lock] // by the server's cookie
	connections map[*track.Connection]*fifo.Queue[Lock]
	live        fifo.Queue[Lock] // in the order in which they appeared
	ended       fifo.Queue[Lock]
	resources   map[resourceKey]*resource
	requested   *fifo.Map[resourceKey, *requests]
	rpcs        track.Attached[rpcLocks]
	logged      *logged // nil: there were no lines of logs
	beside      *beside // nil: there are no logs beside the capture

	besideCapture bool // these are the Locks of a beside
}

// rpcLocks is what an RPC is about.
type rpcLocks struct {
	lock     *Lock
	replayed bool    // an LDLM_ENQUEUE that gives the lock back to a restarted server
	callback int     // index of a callback
	canceled []*Lock // that a request gives back
}

// The bounds of what is followed. Over one of them, the oldest lock is passed on as
// it is.
const (
	maxLive  = 1 << 17
	maxEnded = 1 << 14
)

// defaultLinger is longer than an RPC is held after its reply.
const defaultLinger = int64(21 * time.Second)

// New makes a Locks. imports shows who is evicted; it must get all RPCs before the
// Locks does. done gets each lock once. linger is for how long an ended lock
// is held until its RPCs have ended, in nanoseconds of capture time; 0: 21 seconds.
func New(imports *track.Imports, linger int64, done func(*Lock)) *Locks {
	t := newLocks(linger, done)
	imports.OnChange(t.importChanged)
	return t
}

func newLocks(linger int64, done func(*Lock)) *Locks {
	linger = cmp.Or(linger, defaultLinger)
	return &Locks{done: done, linger: linger, connections: make(map[*track.Connection]*fifo.Queue[Lock]),
		resources: make(map[resourceKey]*resource), requested: fifo.NewMap[resourceKey, *requests](maxRequested)}
}

// Sent takes a request.
func (t *Locks) Sent(r *track.RPC, m *dissect.Message) {
	t.Advance(m.Time)
	if !r.HasOpcode || m.Msg == nil {
		return
	}
	switch first := r.Sends == 1; {
	case r.Opcode == opcodes.LDLM_ENQUEUE && first:
		t.enqueue(r, m)
	case r.Opcode == opcodes.LDLM_CONVERT && first:
		t.convert(r, m)
	case r.Opcode == opcodes.LDLM_CANCEL:
		opcodes.CanceledLocks(m.Msg, func(handle uint64) { t.cancel(r, handle, Canceled, track.PointOf(m)) })
	case opcodes.IsCallback(r.Opcode) && r.Opcode != opcodes.LDLM_SET_INFO && first:
		t.callback(r, m)
	}
	if !r.Replay() { // which gave them back when it was first sent
		opcodes.EarlyCanceledLocks(m.Msg, m.RPC.Variant, func(handle uint64) { t.cancel(r, handle, Early, track.PointOf(m)) })
	}
}

// Answered takes a reply.
func (t *Locks) Answered(r *track.RPC, m *dissect.Message) {
	t.Advance(m.Time)
	if opcodes.IsDisconnect(r.Opcode) && r.HasOpcode && r.Connection != nil && !r.Failed() {
		t.endAll(r.Connection, Disconnected, r.Replied())
	}
	s := t.rpcs.Of(r)
	if r.Status == opcodes.ENOTCONN {
		for _, l := range s.canceled {
			t.revive(l)
		}
		s.canceled = nil
	}
	switch {
	case s.lock == nil:
	case r.Opcode == opcodes.LDLM_ENQUEUE:
		t.enqueued(s.lock, r, m)
	case r.Opcode == opcodes.LDLM_CONVERT:
		if d, ok := opcodes.LockDescOf(m.Msg); ok && r.Status == 0 && s.lock.HasDesc() && s.lock.Desc.Kind == opcodes.InodeLock {
			s.lock.Desc.Bits = d.Bits
		}
	case s.callback >= 0:
		t.answered(s.lock, &s.lock.Callbacks[s.callback], r)
	}
}

// Subjects returns the locks that an RPC is about: the one that it asks for or
// converts, or that a callback is about, nil for none, and those that it gives back.
// It is to be called before Done, and canceled is valid until then.
func (t *Locks) Subjects(r *track.RPC) (lock *Lock, canceled []*Lock) {
	s := t.rpcs.Of(r)
	return s.lock, s.canceled
}

// Done takes an RPC that has ended: where several nodes captured it, the times at
// which its sender saw it are known.
func (t *Locks) Done(r *track.RPC) {
	s := t.rpcs.Of(r)
	l, callback, replayed := s.lock, s.callback, s.replayed
	*s = rpcLocks{}
	switch {
	case l == nil:
	case r.Opcode == opcodes.LDLM_ENQUEUE:
		if !replayed {
			t.enqueueDone(l, r)
		}
	case opcodes.IsCallback(r.Opcode) && callback >= 0:
		c := &l.Callbacks[callback]
		c.Missing = r.Missing
		c.Sent = r.Requested()
		if r.HasReply {
			c.Answered = r.Replied()
		}
	}
}

func (t *Locks) enqueueDone(l *Lock, r *track.RPC) {
	l.Missing = r.Missing
	l.unread = l.unread || r.Missing == track.NotCaptured || r.Missing == track.EncryptedReply
	l.Asked = r.Requested()
	switch end, at := r.LockWaitEnd(); {
	case l.Granted.IsZero():
	case end == track.LockWaitGranted:
		l.Granted = at
	case !l.Blocked && r.HasReply:
		l.Granted = r.Replied()
	}
}

// newLock starts to follow a lock.
func (t *Locks) newLock(client, server lnet.NID, c *track.Connection) *Lock {
	t.count++
	l := &Lock{Client: client, Server: server, Connection: c}
	l.number, l.live.Owner, l.connected.Owner = t.count, l, l
	t.live.Push(&l.live, t.now)
	t.connect(l)
	if t.live.Len() > maxLive {
		t.end(t.live.First(), Unfollowed, track.Point{})
	}
	return l
}

// connect adds a lock to those of its connection.
func (t *Locks) connect(l *Lock) {
	if l.Connection == nil {
		return
	}
	q := t.connections[l.Connection]
	if q == nil {
		q = &fifo.Queue[Lock]{}
		t.connections[l.Connection] = q
	}
	q.Push(&l.connected, t.now)
}

// byClientHandle returns the lock with a client's cookie, nil when it is unknown.
// A callback may go to another address of the client than the enqueue came from.
func (t *Locks) byClientHandle(client lnet.NID, c *track.Connection, cookie uint64) *Lock {
	return newest(t.byClient.First(cookie), func(l *Lock) bool { return l.Client == client || c != nil && l.Client == c.Client })
}

// byServerHandle returns the lock with a server's cookie, nil when it is unknown.
func (t *Locks) byServerHandle(server lnet.NID, c *track.Connection, cookie uint64) *Lock {
	return newest(t.byServer.First(cookie), func(l *Lock) bool { return l.Server == server || c != nil && l.Server == c.Server })
}

// newest returns the newest lock of a node with a cookie. Logs do not always name the node.
func newest(e *fifo.Entry[Lock], isOfNode func(*Lock) bool) *Lock {
	for ; e != nil; e = e.Next() {
		if e.Owner.fromLog || isOfNode(e.Owner) {
			return e.Owner
		}
	}
	return nil
}

// setHandles makes a lock known by its cookies, of which 0 is unknown.
func (t *Locks) setHandles(l *Lock, client, server uint64) {
	if client != 0 && l.ClientHandle != client {
		t.byClient.Remove(&l.byClient)
		l.ClientHandle = client
		t.byClient.Add(&l.byClient, client, l)
	}
	if server != 0 && l.Handle != server {
		t.byServer.Remove(&l.byServer)
		l.Handle = server
		t.byServer.Add(&l.byServer, server, l)
	}
}

// describe sets what is known of a lock.
func (t *Locks) describe(l *Lock, d *opcodes.LockDesc, k known) {
	if k < l.known || d.Kind == 0 {
		return
	}
	l.known = k
	if l.Desc = *d; k == knownResource {
		l.Desc = opcodes.LockDesc{Kind: d.Kind, Name: d.Name}
	}
	t.enter(l)
}

func (t *Locks) enqueue(r *track.RPC, m *dissect.Message) {
	d, ok := opcodes.LockDescOf(m.Msg)
	cookie := opcodes.LockHandle(m.Msg, 0)
	switch {
	case !ok || cookie == 0 || opcodes.IsLockTest(m.Msg):
		return
	case d.IsUnlock():
		t.release(&Lock{Client: r.Client, Server: r.Server, Desc: d}, Canceled, r.Requested())
		return
	}
	replayed := opcodes.IsLockReplay(m.Msg) || r.Replay()
	l := t.byClientHandle(r.Client, nil, cookie)
	if l == nil || !l.isLive() {
		l = t.newLock(r.Client, r.Server, r.Connection)
		t.setHandles(l, cookie, 0)
		l.Job, l.HasJob = string(r.Job()), r.HasJob()
		if !replayed {
			l.Asked = r.Requested()
		}
	}
	s := t.rpcs.Of(r)
	s.lock, s.replayed = l, replayed
	switch {
	case replayed:
		l.Replays++
		if d.Granted != 0 {
			t.describe(l, &d, knownGranted)
		} else {
			t.describe(l, &d, knownRequested)
		}
	case opcodes.IsIntent(m.Msg) && d.Kind == opcodes.InodeLock:
		l.intent = true
	default:
		t.describe(l, &d, knownRequested)
	}
}

func (t *Locks) enqueued(l *Lock, r *track.RPC, m *dissect.Message) {
	reply, ok := opcodes.LockReplyOf(m.Msg)
	switch {
	case !l.isLive() || r.Status == opcodes.EINPROGRESS || r.Status == opcodes.ENOTCONN: // the client repeats it
	case r.Status != 0 && (l.intent || r.Status > 0), ok && r.Status == 0 && reply.Handle == 0:
		t.drop(l) // the client got a result, and no lock
	case r.Status != 0 && !l.IsGranted():
		l.Error = r.Status
		t.end(l, Refused, r.Replied())
	case r.Status != 0:
	case !ok:
		l.unread = true
	case reply.Desc.Granted != 0:
		t.setHandles(l, 0, reply.Handle)
		t.describe(l, &reply.Desc, knownGranted)
		t.addEarlierHolders(l)
		t.grant(l, r.Replied())
	default:
		t.setHandles(l, 0, reply.Handle)
		if l.Blocked = reply.Blocked; l.Blocked {
			l.Told = r.Replied()
		}
		if !l.IsGranted() {
			t.describe(l, &reply.Desc, knownRequested)
			t.addHolders(l)
		}
	}
}

// grant notes that a lock was granted. When one was that is replayed is unknown.
func (t *Locks) grant(l *Lock, p track.Point) {
	if l.Granted.IsZero() && !l.Asked.IsZero() {
		l.Granted = p
	}
	if l.Desc.Kind == opcodes.FlockLock && !l.fromLog { // logs do not name the owner
		t.release(l, Replaced, p)
	}
	if l.isSilent() {
		t.addToWaiting(l)
	}
	if t.Granted != nil && (l.Blocked || len(l.BlockedBy) > 0) {
		t.Granted(l)
	}
}

// Len returns the number of locks that wait or are held.
func (t *Locks) Len() int { return t.live.Len() }

// Find returns the lock that a server has under a handle, nil when it is unknown. One
// that has ended is found until it was passed on.
func (t *Locks) Find(server lnet.NID, handle uint64) *Lock {
	return t.byServerHandle(server, nil, handle)
}

func (t *Locks) callback(r *track.RPC, m *dissect.Message) {
	d, described := opcodes.LockDescOf(m.Msg)
	client, server := opcodes.LockHandle(m.Msg, 0), uint64(0)
	if r.Opcode != opcodes.LDLM_GL_CALLBACK {
		server = opcodes.LockHandle(m.Msg, 1)
	}
	l := t.byClientHandle(r.Server, r.Connection, client)
	if l == nil {
		l = t.byServerHandle(r.Client, r.Connection, server)
	}
	if l == nil {
		if client == 0 {
			return
		}
		l = t.newLock(r.Server, r.Client, r.Connection)
	}
	t.setHandles(l, client, server)
	if !l.isLive() {
		return
	}
	c := Callback{Kind: Glimpse, Sent: r.Requested()}
	switch r.Opcode {
	case opcodes.LDLM_BL_CALLBACK:
		c.Kind = Blocking
	case opcodes.LDLM_CP_CALLBACK:
		if c.Kind = Completion; opcodes.IsCompletionWithBlocking(m.Msg) {
			c.Kind = BlockingCompletion
		}
	}
	s := t.rpcs.Of(r)
	s.lock, s.callback = l, l.addCallback(c)
	if !described {
		return
	}
	switch c.Kind {
	case Blocking:
		t.describe(l, &d, knownResource)
		l.blocking = &d
		t.addCallbackTo(l, &d)
	case Glimpse:
		t.describe(l, &d, knownResource)
	default:
		t.completion(l, m, &d, c)
	}
}

// answered takes the reply to a callback. With EINVAL the client answers that it
// has no such lock: it gave up waiting, or its cancel is on the way.
func (t *Locks) answered(l *Lock, c *Callback, r *track.RPC) {
	c.Answered, c.Status = r.Replied(), r.Status
	if r.Status != opcodes.EINVAL || c.Kind == Glimpse || !l.isLive() {
		return
	}
	if l.Granted == c.Sent {
		l.Granted, l.Desc.Granted = track.Point{}, 0
		l.known = knownRequested
	}
	t.end(l, Gone, c.Answered)
}

func (t *Locks) completion(l *Lock, m *dissect.Message, d *opcodes.LockDesc, c Callback) {
	if _, granted, _ := opcodes.CompletedLock(m.Msg); !granted {
		t.end(l, Failed, c.Sent)
		return
	}
	if l.Granted.IsZero() {
		t.describe(l, d, knownGranted)
		l.Granted = c.Sent
		t.grant(l, c.Sent)
	}
	if c.Kind == BlockingCompletion {
		t.addToWaiting(l)
	}
}

// convert takes the request of a client that keeps some bits of a lock.
func (t *Locks) convert(r *track.RPC, m *dissect.Message) {
	handle := opcodes.LockHandle(m.Msg, 0)
	d, ok := opcodes.LockDescOf(m.Msg)
	if handle == 0 || !ok {
		return
	}
	l := t.ofServer(r, handle)
	t.rpcs.Of(r).lock = l
	l.obey(r.Requested())
	if len(l.Converts) < maxPerLock {
		l.Converts = append(l.Converts, Convert{r.Requested(), d.Bits})
	} else {
		l.Dropped++
	}
	t.stopBlocking(l, r.Requested().Time)
}

// ofServer returns the lock with a server's cookie in a request of the client; one
// from before the capture is new.
func (t *Locks) ofServer(r *track.RPC, handle uint64) *Lock {
	l := t.byServerHandle(r.Server, r.Connection, handle)
	if l == nil {
		l = t.newLock(r.Client, r.Server, r.Connection)
		t.setHandles(l, 0, handle)
	}
	return l
}

// cancel takes the request of a client that gives a lock back.
func (t *Locks) cancel(r *track.RPC, handle uint64, how How, p track.Point) {
	switch l := t.ofServer(r, handle); {
	case l.isLive():
		l.obey(p)
		t.end(l, how, p)
		l.End.By = r.Opcode
		if s := t.rpcs.Of(r); len(s.canceled) < maxRevived {
			s.canceled = append(s.canceled, l)
		}
	case l.End.How == Gone:
		l.End, l.Last = End{how, p, r.Opcode}, p.Time
	}
}

// maxRevived locks of a request that cancels more can be revived.
const maxRevived = 1 << 10

// revive follows a lock on whose cancel did not reach the server, because the client
// is not connected.
func (t *Locks) revive(l *Lock) {
	if l.End.How != Canceled && l.End.How != Early {
		return
	}
	for i := range l.Callbacks {
		if c := &l.Callbacks[i]; c.Obeyed == l.End.Point {
			c.Obeyed = track.Point{}
		}
	}
	l.End = End{}
	t.live.Push(&l.live, t.now)
	t.connect(l)
	if l.HasResource() {
		t.enter(l)
	}
}

// end notes the end of a lock, which is passed on when its RPCs have ended. p is
// zero when no message shows it.
func (t *Locks) end(l *Lock, how How, p track.Point) {
	l.End, l.Last = End{How: how, Point: p}, t.now
	if !p.IsZero() {
		l.Last = p.Time
	}
	t.stopBlocking(l, l.Last)
	t.leave(l)
	t.disconnect(l)
	if how == Unfollowed {
		l.live.Remove()
		t.finish(l)
		return
	}
	t.ended.Push(&l.live, t.now)
}

// disconnect removes a lock from those of its connection.
func (t *Locks) disconnect(l *Lock) {
	if l.Connection == nil {
		return
	}
	l.connected.Remove()
	if q := t.connections[l.Connection]; q != nil && q.Len() == 0 {
		delete(t.connections, l.Connection)
	}
}

func (t *Locks) endAll(c *track.Connection, how How, p track.Point) {
	q := t.connections[c]
	for q != nil && q.First() != nil {
		t.end(q.First(), how, p)
	}
}

// drop forgets a lock that did not come to be.
func (t *Locks) drop(l *Lock) {
	t.leave(l)
	t.disconnect(l)
	l.live.Remove()
	l.End.How = Refused
	t.forgetHandles(l)
}

func (t *Locks) forgetHandles(l *Lock) {
	t.byClient.Remove(&l.byClient)
	t.byServer.Remove(&l.byServer)
}

// finish passes a lock to the hook.
func (t *Locks) finish(l *Lock) {
	t.forgetHandles(l)
	if l.fromLog {
		l.Callbacks = slices.DeleteFunc(l.Callbacks, func(c Callback) bool { return c.twice })
	}
	if t.beside != nil {
		t.beside.complete(l)
	}
	t.done(l)
}

// importChanged ends the locks of a client that was evicted.
func (t *Locks) importChanged(i *track.Import, p track.Point) {
	if i.EventAt(p, track.EventEvicted) == nil {
		return
	}
	c := i.Connection
	if i.FromLog && t.logged != nil {
		c, _ = fifo.Get(t.logged.connections, connectionKey{i.Client, i.Target})
	}
	t.endAll(c, Evicted, p)
}

// Advance sets the time and passes on the locks that ended long enough ago.
func (t *Locks) Advance(now int64) {
	t.now = max(t.now, now)
	for l := t.ended.Overdue(t.now, t.linger, maxEnded); l != nil; l = t.ended.Overdue(t.now, t.linger, maxEnded) {
		l.live.Remove()
		t.finish(l)
	}
}

// Close passes on all locks: the capture has ended. The RPCs must have ended
// before.
func (t *Locks) Close() {
	for l := t.ended.First(); l != nil; l = t.ended.First() {
		l.live.Remove()
		t.finish(l)
	}
	for l := t.live.First(); l != nil; l = t.live.First() {
		l.Last = t.now
		l.live.Remove()
		t.finish(l)
	}
}
