package track

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// LockWaitEnd is how the wait for a lock ended.
type LockWaitEnd uint8

// The ends of a wait.
const (
	LockWaitNone         LockWaitEnd = iota // there was no wait, or it goes on
	LockWaitGranted                         // by a completion callback
	LockWaitFailed                          // by a completion callback that does not grant the lock
	LockWaitCanceled                        // the client gave the lock up
	LockWaitCaptureEnded                    // not over at the end of the capture
	LockWaitPending                         // not over when the RPC was given to Done
)

var lockWaitEndNames = [...]string{"", "granted", "failed", "cancelled", "end", "pending"}

// String returns a word for scripts, empty for LockWaitNone.
func (e LockWaitEnd) String() string { return lockWaitEndNames[e] }

// lockWait is the wait of an LDLM_ENQUEUE for its lock.
type lockWait struct {
	clientCookie uint64 // of the lock, 0: unknown
	serverCookie uint64 // of the lock, 0: the reply has none, or it was granted
	blocked      bool   // the reply says that the lock has to wait
	end          LockWaitEnd
	at           Point // of the end, which may come before the reply
	source       int   // capture point of at
	older        *RPC  // with the same cookie of the client: before a replay of the lock
}

// LockWait returns the time in nanoseconds from the request to the end of the
// wait for a lock. ok reports whether the reply said that the lock had to wait.
func (r *RPC) LockWait() (ns int64, ok bool) {
	if !r.lock.blocked || r.lock.end == LockWaitNone || !r.HasRequest {
		return 0, false
	}
	return max(0, r.lock.at.Time-r.Requested().Time), true
}

// LockWaitEnd returns how the wait for a lock ended. The Point is the message
// that ended it, if one did.
func (r *RPC) LockWaitEnd() (LockWaitEnd, Point) {
	if !r.lock.blocked {
		return LockWaitNone, Point{}
	}
	if r.lock.at.IsZero() {
		return r.lock.end, Point{}
	}
	return r.lock.end, r.lock.at
}

// Granted is when the lock was granted that the RPC had to wait for.
func (r *RPC) Granted() Point {
	if end, p := r.LockWaitEnd(); end == LockWaitGranted {
		return p
	}
	return Point{}
}

// Waited is how long the application had to wait in nanoseconds, as far as it
// is known: for the reply or, where that comes later, for the lock.
func (r *RPC) Waited() (ns int64, ok bool) {
	latency, replied := r.Latency()
	lock, blocked := r.LockWait()
	return max(latency, lock), replied || blocked
}

// lockWaits finds the RPCs that asked for a lock. It holds those that have not
// ended, so its bounds are those of the states of an RPC.
type lockWaits struct {
	byClient map[lockKey]*RPC // the newest, which leads to older ones
	byServer map[lockKey]*RPC // of locks that have to wait
}

// lockKey is a lock as one side refers to it.
type lockKey struct {
	node   lnet.NID
	cookie uint64
}

// maxSameLock enqueues of one lock are found, since a lookup walks over all of
// them.
const maxSameLock = 8

func newLockWaits() lockWaits {
	return lockWaits{byClient: make(map[lockKey]*RPC), byServer: make(map[lockKey]*RPC)}
}

// enqueued takes a request of LDLM_ENQUEUE.
func (w *lockWaits) enqueued(r *RPC, m *dissect.Message) {
	cookie, ok := opcodes.EnqueuedLock(m.Msg)
	if !ok {
		return
	}
	k := lockKey{r.Client, cookie}
	r.lock.clientCookie, r.lock.older = cookie, w.byClient[k]
	w.byClient[k] = r
	oldest := r
	for range maxSameLock {
		if oldest = oldest.lock.older; oldest == nil {
			return
		}
	}
	w.removeClient(oldest)
}

// replied takes the reply to an LDLM_ENQUEUE and reports whether the wait for
// the lock goes on.
func (w *lockWaits) replied(r *RPC, m *dissect.Message) bool {
	w.removeServer(r)
	if m.Msg == nil {
		return false
	}
	cookie, blocked := opcodes.BlockedLock(m.Msg)
	r.lock.blocked = blocked && r.Status == 0 && r.lock.clientCookie != 0
	if !r.lock.blocked || r.lock.end != LockWaitNone {
		return false
	}
	r.lock.serverCookie = cookie
	w.byServer[lockKey{r.Server, cookie}] = r
	return true
}

// remove forgets an RPC.
func (w *lockWaits) remove(r *RPC) {
	w.removeClient(r)
	w.removeServer(r)
}

func (w *lockWaits) removeClient(r *RPC) {
	if r.lock.clientCookie == 0 {
		return
	}
	k := lockKey{r.Client, r.lock.clientCookie}
	first := w.byClient[k]
	switch {
	case first == nil:
	case first == r && r.lock.older == nil:
		delete(w.byClient, k)
	case first == r:
		w.byClient[k] = r.lock.older
	default:
		for first.lock.older != nil && first.lock.older != r {
			first = first.lock.older
		}
		if first.lock.older == r {
			first.lock.older = r.lock.older
		}
	}
	r.lock.older = nil
}

func (w *lockWaits) removeServer(r *RPC) {
	if k := (lockKey{r.Server, r.lock.serverCookie}); r.lock.serverCookie != 0 && w.byServer[k] == r {
		delete(w.byServer, k)
	}
	r.lock.serverCookie = 0
}

// lockRequest takes a request that may end the wait for a lock.
func (t *Pairing) lockRequest(m *dissect.Message) {
	switch {
	case !m.RPC.HasOpcode || m.Msg == nil:
	case m.RPC.Opcode == opcodes.LDLM_CP_CALLBACK:
		t.completeLock(m)
	case m.RPC.Opcode == opcodes.LDLM_CANCEL && len(t.locks.byServer) > 0:
		opcodes.CanceledLocks(m.Msg, func(cookie uint64) {
			if r := t.locks.byServer[lockKey{m.LNet.Dst, cookie}]; r != nil {
				t.endLockWait(r, LockWaitCanceled, m)
			}
		})
	}
}

// completeLock takes a completion callback, which may come before the reply to
// the enqueue.
func (t *Pairing) completeLock(m *dissect.Message) {
	cookie, granted, ok := opcodes.CompletedLock(m.Msg)
	if !ok {
		return
	}
	r := t.locks.byClient[lockKey{m.LNet.Dst, cookie}]
	if r == nil { // the callback may go to another rail of the client
		if c := t.connections.byHandle(m.RPC.Handle); c != nil {
			r = t.locks.byClient[lockKey{c.Client, cookie}]
		}
	}
	end := LockWaitGranted
	if !granted {
		end = LockWaitFailed
	}
	for r != nil {
		older := r.lock.older // the end of the wait may end the RPC
		t.endLockWait(r, end, m)
		r = older
	}
}

// endLockWait notes what ends the wait for a lock: of several capture points,
// as the one nearest to the client saw it.
func (t *Pairing) endLockWait(r *RPC, end LockWaitEnd, m *dissect.Message) {
	l := &r.lock
	if l.end != LockWaitNone {
		if c := r.clientSide(); l.end == end && l.source != m.Source && c != nil && c.Source == m.Source {
			l.at, l.source = PointOf(m), m.Source
		}
		return
	}
	l.end, l.at, l.source = end, PointOf(m), m.Source
	if r.state == blocked {
		t.complete(r)
	}
}

// giveUpLock ends the wait for a lock without a message that ends it.
func (t *Pairing) giveUpLock(r *RPC, end LockWaitEnd) {
	r.lock.end, r.lock.at = end, Point{Time: t.now}
}
