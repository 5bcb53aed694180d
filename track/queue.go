package track

// list is a queue of records, oldest first. A record is in one at a time.
type list struct {
	head, tail *RPC
	n          int
}

func (l *list) push(r *RPC) {
	r.list, r.prev, r.next = l, l.tail, nil
	if l.tail == nil {
		l.head = r
	} else {
		l.tail.next = r
	}
	l.tail = r
	l.n++
}

func (l *list) remove(r *RPC) {
	if r.prev == nil {
		l.head = r.next
	} else {
		r.prev.next = r.next
	}
	if r.next == nil {
		l.tail = r.prev
	} else {
		r.next.prev = r.prev
	}
	r.list, r.prev, r.next = nil, nil, nil
	l.n--
}

// move puts a record at the end of another queue, as of now.
func (t *RPCs) move(r *RPC, to *list, s state) {
	if r.list != nil {
		r.list.remove(r)
	}
	r.state, r.since = s, t.now
	to.push(r)
}

// fresh makes a record for an xid.
func (t *RPCs) fresh(xid uint64) *RPC {
	r := t.free
	if r == nil {
		r = &RPC{}
	} else {
		t.free = r.next
		*r = RPC{Seen: r.Seen[:0], name: r.name[:0], Carriers: r.Carriers[:0], OtherErrors: r.OtherErrors[:0]}
	}
	r.XID, r.made = xid, t.now
	r.same = t.byXID[xid]
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
		if r = r.same; r == nil {
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
	r.list.remove(r)
	first := t.byXID[r.XID]
	switch {
	case first == r && r.same == nil:
		delete(t.byXID, r.XID)
	case first == r:
		t.byXID[r.XID] = r.same
	default:
		for first.same != r {
			first = first.same
		}
		first.same = r.same
	}
	r.same, r.Link = nil, nil
	r.next, t.free = t.free, r
}

// Advance tells the time: what has waited long enough is handed out. Message
// does it too; a live capture calls Advance when nothing comes.
func (t *RPCs) Advance(now int64) {
	if now > t.now {
		t.now = now
	}
	for r := t.open.head; r != nil && (t.now-r.since >= t.opt.Timeout || t.open.n > maxOpen); r = t.open.head {
		r.Expired = true
		t.finish(r)
	}
	for r := t.done.head; r != nil && (t.now-r.since >= t.opt.Linger || t.done.n > maxLinger); r = t.done.head {
		t.emit(r)
	}
	for r := t.spent.head; r != nil && (t.now-r.since >= absorb || t.spent.n > maxSpent); r = t.spent.head {
		t.release(r)
	}
}

// finish ends an RPC: it is handed out as soon as nothing more is expected.
func (t *RPCs) finish(r *RPC) { t.move(r, &t.done, lingering) }

func (t *RPCs) emit(r *RPC) {
	if r.Link == nil && r.Handle != 0 {
		r.Link = t.links.byHandle[r.Handle]
	}
	t.move(r, &t.spent, spent)
	if t.opt.Done != nil {
		t.opt.Done(r)
	}
}

// Close hands out all that is left: the capture has ended.
func (t *RPCs) Close() {
	for t.done.head != nil {
		t.emit(t.done.head)
	}
	for t.open.head != nil {
		t.emit(t.open.head)
	}
	for t.spent.head != nil {
		t.release(t.spent.head)
	}
}
