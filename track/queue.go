package track

import "github.com/lshark/lshark/internal/fifo"

// move puts a record at the end of another queue, as of now.
func (t *RPCs) move(r *RPC, to *fifo.Queue[RPC], s state) {
	r.state = s
	to.Push(&r.place, t.now)
}

// fresh makes a record for an xid.
func (t *RPCs) fresh(xid uint64) *RPC {
	var r *RPC
	if n := len(t.free); n == 0 {
		r = &RPC{}
		r.slot = t.slots
		t.slots++
	} else {
		r, t.free = t.free[n-1], t.free[:n-1]
		*r = RPC{Request: Request{name: r.name[:0]}, Reply: Reply{OtherErrors: r.OtherErrors[:0]},
			Seen: r.Seen[:0], record: record{slot: r.slot}}
	}
	r.place.Owner = r
	r.XID, r.created = xid, t.now
	r.next = t.byXID[xid]
	t.byXID[xid] = r
	t.move(r, &t.open, open)
	t.thin(r)
	return r
}

// thin drops the oldest of too many records with the same xid: looking one up
// must not mean to look at all.
func (t *RPCs) thin(newest *RPC) {
	r := newest
	for range maxSame {
		if r = r.next; r == nil {
			return
		}
	}
	if r.state != spent {
		t.emit(r)
	}
	t.release(r)
}

// release takes a record out of everything.
func (t *RPCs) release(r *RPC) {
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
	r.next, r.Link = nil, nil
	t.free = append(t.free, r)
}

// Advance tells the time: what has waited long enough is handed out. Message
// does it too; a live capture calls Advance when nothing comes.
func (t *RPCs) Advance(now int64) {
	if now > t.now {
		t.now = now
	}
	for r := t.open.Overdue(t.now, t.opt.Timeout, maxOpen); r != nil; r = t.open.Overdue(t.now, t.opt.Timeout, maxOpen) {
		r.Expired = true
		t.finish(r)
	}
	for r := t.done.Overdue(t.now, t.opt.Linger, maxLinger); r != nil; r = t.done.Overdue(t.now, t.opt.Linger, maxLinger) {
		t.emit(r)
	}
	for r := t.spent.Overdue(t.now, absorb, maxSpent); r != nil; r = t.spent.Overdue(t.now, absorb, maxSpent) {
		t.release(r)
	}
}

// finish ends an RPC: it is handed out as soon as nothing more is expected.
func (t *RPCs) finish(r *RPC) { t.move(r, &t.done, lingering) }

func (t *RPCs) emit(r *RPC) {
	if r.Link == nil && r.Handle != 0 {
		r.Link = t.links.handle(r.Handle)
	}
	t.move(r, &t.spent, spent)
	if t.opt.Done != nil {
		t.opt.Done(r)
	}
}

// Close hands out all that is left: the capture has ended.
func (t *RPCs) Close() {
	for r := t.done.First(); r != nil; r = t.done.First() {
		t.emit(r)
	}
	for r := t.open.First(); r != nil; r = t.open.First() {
		t.emit(r)
	}
	for r := t.spent.First(); r != nil; r = t.spent.First() {
		t.release(r)
	}
}
