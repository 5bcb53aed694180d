package track

import "github.com/lshark/lshark/internal/fifo"

// setState moves a record to the end of the queue of its new state.
func (t *Pairing) setState(r *RPC, s state) {
	r.state = s
	t.queue(s).Push(&r.place, t.now)
}

func (t *Pairing) queue(s state) *fifo.Queue[RPC] { return &t.queues[s] }

// newRecord makes a record for an xid, or reuses one.
func (t *Pairing) newRecord(xid uint64) *RPC {
	var r *RPC
	if n := len(t.free); n > 0 {
		r, t.free = t.free[n-1], t.free[:n-1]
		name, errors, seen, slot, use := r.name[:0], r.OtherErrors[:0], r.Seen[:0], r.slot, r.use+1
		*r = RPC{}
		r.name, r.OtherErrors, r.Seen, r.slot, r.use = name, errors, seen, slot, use
	} else {
		r = &RPC{}
		r.slot = t.slots
		t.slots++
	}
	r.place.Owner = r
	r.XID, r.created = xid, t.now
	oldest := t.byXID.Add(&r.byXID, xid, r)
	t.setState(r, waiting)
	if oldest != nil {
		if oldest.state != ended {
			t.end(oldest)
		}
		t.release(oldest)
	}
	return r
}

// release removes a record and keeps it for reuse.
func (t *Pairing) release(r *RPC) {
	r.place.Remove()
	t.byXID.Remove(&r.byXID)
	r.Connection = nil
	t.free = append(t.free, r)
}

// Advance sets the time and ends the RPCs that have waited long enough. Message
// does the same; a live capture calls Advance while no message comes.
func (t *Pairing) Advance(now int64) {
	t.now = max(t.now, now)
	for r := t.overdue(waiting, t.opt.Timeout, maxWaiting); r != nil; r = t.overdue(waiting, t.opt.Timeout, maxWaiting) {
		r.Expired = true
		t.complete(r)
	}
	for r := t.overdue(blocked, t.opt.LockWait, maxBlocked); r != nil; r = t.overdue(blocked, t.opt.LockWait, maxBlocked) {
		t.giveUpLock(r, LockWaitPending)
		t.complete(r)
	}
	for r := t.overdue(lingering, t.opt.Linger, t.opt.Held); r != nil; r = t.overdue(lingering, t.opt.Linger, t.opt.Held) {
		t.endOrHold(r)
	}
	for r := t.overdue(refused, t.opt.Linger, maxRefused); r != nil; r = t.overdue(refused, t.opt.Linger, maxRefused) {
		t.endOrHold(r)
	}
	for r := t.overdue(ended, maxEndedAge, t.opt.Held); r != nil; r = t.overdue(ended, maxEndedAge, t.opt.Held) {
		t.release(r)
	}
}

func (t *Pairing) overdue(s state, age int64, most int) *RPC {
	return t.queue(s).Overdue(t.now, age, most)
}

// complete marks an RPC that needs no more messages. It ends after Linger.
func (t *Pairing) complete(r *RPC) { t.setState(r, lingering) }

// end passes an RPC to Done.
func (t *Pairing) end(r *RPC) {
	if r.Connection == nil && r.Handle != 0 {
		r.Connection = t.connections.byHandle(r.Handle)
	}
	t.locks.byClient.Remove(&r.byClientLock)
	t.locks.byServer.Remove(&r.byServerLock)
	r.Missing = t.missing(r)
	t.setState(r, ended)
	if t.opt.Done != nil {
		t.opt.Done(r)
	}
}

// endOrHold ends a complete RPC, unless the client may still send the request again.
func (t *Pairing) endOrHold(r *RPC) {
	c := r.Connection
	switch {
	case !r.isRetried(), c == nil, c.upCnt > r.ConnCnt && t.now-c.up >= resendDelay, // given up
		t.now-r.Replied().Time >= t.opt.Resend, t.queue(refused).Len() > maxRefused:
		t.end(r)
	default:
		t.setState(r, refused)
	}
}

// Len returns the number of RPCs that have not ended.
func (t *Pairing) Len() int {
	return t.queue(waiting).Len() + t.queue(blocked).Len() + t.queue(lingering).Len() + t.queue(refused).Len()
}

// Close ends all RPCs: the capture has ended.
func (t *Pairing) Close() {
	for _, s := range [...]state{refused, lingering, blocked, waiting} {
		for r := t.queue(s).First(); r != nil; r = t.queue(s).First() {
			if s == blocked {
				t.giveUpLock(r, LockWaitCaptureEnded)
			}
			t.end(r)
		}
	}
	for r := t.queue(ended).First(); r != nil; r = t.queue(ended).First() {
		t.release(r)
	}
}
