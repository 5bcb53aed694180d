package track

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
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
	blocked bool // the reply says that the lock has to wait
	end     LockWaitEnd
	at      Point // of the end, which may come before the reply
	source  int   // capture point of at
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
	byClient fifo.Index[RPC] // by the client's cookie
	byServer fifo.Index[RPC] // by the server's cookie, of locks that have to wait
}

// replied takes the reply to an LDLM_ENQUEUE and reports whether the wait for
// the lock goes on.
func (w *lockWaits) replied(r *RPC, m *dissect.Message) bool {
	w.byServer.Remove(&r.byServerLock)
	if m.Msg == nil {
		return false
	}
	cookie, blocked := opcodes.BlockedLock(m.Msg)
	r.lock.blocked = blocked && r.Status == 0 && r.byClientLock.Owner != nil
	if !r.lock.blocked || r.lock.end != LockWaitNone {
		return false
	}
	w.byServer.Add(&r.byServerLock, cookie, r)
	return true
}

// lockRequest takes a request that may end the wait for a lock.
func (t *Pairing) lockRequest(m *dissect.Message) {
	switch {
	case !m.RPC.HasOpcode || m.Msg == nil:
	case m.RPC.Opcode == opcodes.LDLM_CP_CALLBACK:
		t.completeLock(m)
	case m.RPC.Opcode == opcodes.LDLM_CANCEL && t.locks.byServer.Len() > 0:
		opcodes.CanceledLocks(m.Msg, func(cookie uint64) {
			for e := t.locks.byServer.First(cookie); e != nil; e = e.Next() {
				if r := e.Owner; r.Server == m.LNet.Dst {
					t.endLockWait(r, LockWaitCanceled, m)
					return
				}
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
	end := LockWaitGranted
	if !granted {
		end = LockWaitFailed
	}
	if t.endLockWaits(m.LNet.Dst, cookie, end, m) {
		return
	}
	if c := t.connections.byHandle(m.RPC.Handle); c != nil { // the callback may go to another rail of the client
		t.endLockWaits(c.Client, cookie, end, m)
	}
}

// endLockWaits ends the waits of a client for a lock, of which there are several where the client
// sent its request again, and reports whether there were any.
func (t *Pairing) endLockWaits(client lnet.NID, cookie uint64, end LockWaitEnd, m *dissect.Message) (found bool) {
	for e := t.locks.byClient.First(cookie); e != nil; {
		r := e.Owner
		e = e.Next()
		if r.Client == client {
			t.endLockWait(r, end, m)
			found = true
		}
	}
	return found
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
