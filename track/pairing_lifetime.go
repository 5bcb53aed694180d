package track

import (
	"net/netip"

	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/lnet"
)

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
		*r = RPC{Request: Request{name: r.name[:0]}, Reply: Reply{OtherErrors: r.OtherErrors[:0]},
			Seen: r.Seen[:0], record: record{slot: r.slot}}
	} else {
		r = &RPC{}
		r.slot = t.slots
		t.slots++
	}
	r.place.Owner = r
	r.XID, r.created = xid, t.now
	r.next = t.byXID[xid]
	t.byXID[xid] = r
	t.setState(r, waiting)
	t.limitSameXID(r)
	return r
}

// limitSameXID ends the oldest of too many records with the same xid, since a
// lookup walks over all of them.
func (t *Pairing) limitSameXID(newest *RPC) {
	r := newest
	for range maxSameXID {
		if r = r.next; r == nil {
			return
		}
	}
	if r.state != ended {
		t.end(r)
	}
	t.release(r)
}

// release removes a record and keeps it for reuse.
func (t *Pairing) release(r *RPC) {
	r.place.Remove()
	first := t.byXID[r.XID]
	switch {
	case first == r && r.next == nil:
		delete(t.byXID, r.XID)
	case first == r:
		t.byXID[r.XID] = r.next
	default:
		for first.next != r {
			first = first.next
		}
		first.next = r.next
	}
	r.next, r.Connection = nil, nil
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
	for r := t.overdue(lingering, t.opt.Linger, maxLingering); r != nil; r = t.overdue(lingering, t.opt.Linger, maxLingering) {
		t.end(r)
	}
	for r := t.overdue(ended, maxEndedAge, maxEnded); r != nil; r = t.overdue(ended, maxEndedAge, maxEnded) {
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
	t.locks.remove(r)
	r.Missing = t.missing(r)
	t.setState(r, ended)
	if t.opt.Done != nil {
		t.opt.Done(r)
	}
}

// Close ends all RPCs: the capture has ended.
func (t *Pairing) Close() {
	for r := t.queue(lingering).First(); r != nil; r = t.queue(lingering).First() {
		t.end(r)
	}
	for r := t.queue(blocked).First(); r != nil; r = t.queue(blocked).First() {
		t.giveUpLock(r, LockWaitCaptureEnded)
		t.end(r)
	}
	for r := t.queue(waiting).First(); r != nil; r = t.queue(waiting).First() {
		t.end(r)
	}
	for r := t.queue(ended).First(); r != nil; r = t.queue(ended).First() {
		t.release(r)
	}
}

// Missing is why an RPC has no reply.
type Missing uint8

// The reasons. A reply that is there, or not due, is not missing.
const (
	NotMissing     Missing = iota
	CaptureEnded           // the capture ended before it was due
	Unanswered             // it was due, and everything that the server sent was captured
	NotCaptured            // bytes of the server were not captured where it may have been
	EncryptedReply         // it may be one of the encrypted replies that fit no request
	missingReasons
)

var missingNames = [missingReasons]string{"", "end", "unanswered", "not_captured", "encrypted"}

// String returns the name in JSON, empty for NotMissing.
func (m Missing) String() string { return missingNames[m] }

// A client waits longer than the estimate that it sends in pb_timeout: a quarter
// of it, five seconds, and the latency of the network.
const (
	minWait     = 15e9 // ns
	waitPerTime = 1.25
)

// wait returns for how many nanoseconds at most a client waits by an estimate in
// seconds.
func wait(estimate uint32) int64 { return int64(waitPerTime*1e9)*int64(estimate) + minWait }

// lossKey is a direction between two nodes at a capture point.
type lossKey struct {
	source   int
	from, to netip.Addr
}

// lossTable has the times in which a direction was not captured completely, or
// had encrypted replies without a request.
type lossTable struct {
	losses    *fifo.Map[lossKey, *spans]
	encrypted *fifo.Map[lossKey, *spans]
}

const (
	maxLossKeys  = 1 << 12
	maxLossSpans = 64
)

// spans are stretches of time in order; the last ones are joined when there are
// too many.
type spans []Span

func (l *spans) add(s Span) {
	n := len(*l)
	if n > 0 {
		last := &(*l)[n-1]
		if n == maxLossSpans || s.From <= last.To && s.To >= last.From {
			last.From, last.To = min(last.From, s.From), max(last.To, s.To)
			return
		}
	}
	*l = append(*l, s)
}

// overlaps reports whether one of them overlaps a time.
func (l spans) overlaps(t Span) bool {
	for _, s := range l {
		if s.From <= t.To && s.To >= t.From {
			return true
		}
	}
	return false
}

func newLossTable() lossTable {
	return lossTable{fifo.NewMap[lossKey, *spans](maxLossKeys), fifo.NewMap[lossKey, *spans](maxLossKeys)}
}

func addSpan(m *fifo.Map[lossKey, *spans], k lossKey, s Span) {
	l, ok := m.Get(k)
	if !ok {
		l = new(spans)
		m.Put(k, l)
	}
	l.add(s)
}

// Lost takes a run of bytes that were not captured.
func (t *Pairing) Lost(l *lnet.Loss) {
	addSpan(t.lost.losses, lossKey{l.Source, l.Src.Addr(), l.Dst.Addr()}, Span{l.From, l.To})
}

// missing returns why an RPC has no reply, by all that was captured so far.
func (t *Pairing) missing(r *RPC) Missing {
	if !r.HasRequest || r.HasReply || r.OneWay {
		return NotMissing
	}
	known := r.deadline != 0
	captured, encrypted := false, false
	for i := range r.Seen {
		s := &r.Seen[i]
		if s.Request.Frame == 0 {
			continue
		}
		due := Span{s.Request.Time, t.now}
		if known {
			due.To = min(due.To, r.deadline)
		}
		k := lossKey{s.Source, s.receiver, s.sender}
		lost, _ := t.lost.losses.Get(k)
		captured = captured || lost == nil || !lost.overlaps(due)
		if replies, ok := t.lost.encrypted.Get(k); ok && r.Encrypted && replies.overlaps(due) {
			encrypted = true
		}
	}
	switch {
	case !captured:
		return NotCaptured
	case encrypted:
		return EncryptedReply
	case r.Sends > 1, r.Expired, known && t.now > r.deadline, r.reconnected():
		return Unanswered
	}
	return CaptureEnded
}

// reconnected reports whether the client connected again after the request,
// which ends its wait.
func (r *RPC) reconnected() bool {
	return r.Connection != nil && !IsCallback(r.Opcode) && r.ConnCnt != 0 && r.Connection.connCnt > r.ConnCnt
}

// expectReply sets when the wait of the client for a reply ends at the latest.
func (r *RPC) expectReply(sent int64, estimate uint32) {
	if estimate != 0 {
		r.deadline = max(r.deadline, sent+wait(estimate))
	}
}
