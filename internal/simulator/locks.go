package simulator

import "slices"

// resource is what locks are for: an object of an OST, or a directory of an MDT.
type resource struct {
	target  *target
	fid     fid
	typ     uint32
	granted []*lock
	waiting []*waiter
}

// waiter waits until no other client has a lock that conflicts.
type waiter struct {
	client *host
	lock   *lock // nil: an operation of the server on behalf of a client
	mode   uint32
	then   func()
}

// lock is a lock of a client.
type lock struct {
	resource       *resource
	client         *host
	imp            *imp
	mode           uint32
	bits           uint64
	handle, server uint64
	granted        bool   // as the server sees it
	asked          bool   // the server wants it back
	blocks         uint32 // the mode of the lock that waits for it
	held           bool   // as the client sees it
	dirty          bool   // the client has data to write before it gives it back
	onGranted      func(ok bool)
}

func conflict(a, b uint32) bool { return a == modePW || b == modePW }

// conflicts reports whether others have locks that conflict with what a client asks for, and asks for
// these. Its own locks on a directory do not: it gives them back with its request.
func (x *resource) conflicts(w *waiter) (found bool) {
	for _, l := range x.granted {
		if (l.client != w.client || x.typ != typeIbits) && conflict(l.mode, w.mode) {
			found = true
			l.ask(w.mode)
		}
	}
	return found
}

// request calls then when nothing conflicts any more, and reports whether it did at once.
func (x *resource) request(w *waiter) bool {
	x.waiting = append(x.waiting, w)
	if len(x.waiting) > 1 {
		x.conflicts(w)
		return false
	}
	x.proceed()
	return !slices.Contains(x.waiting, w)
}

// proceed serves those that wait, in their order.
func (x *resource) proceed() {
	for len(x.waiting) > 0 && !x.conflicts(x.waiting[0]) {
		w := x.waiting[0]
		x.waiting = x.waiting[1:]
		w.then()
	}
}

func (x *resource) remove(l *lock) {
	if slices.Contains(x.granted, l) {
		x.granted = without(x.granted, l)
		l.granted = false
		x.proceed()
	}
}

// lockTimeout is how long a holder may keep a lock that it was asked for: after it has
// answered, and when it does not answer.
const (
	lockTimeout     = 31 * second
	callbackTimeout = 100 * second
)

// ask sends the holder of a lock a callback for one of another mode, and evicts it when it does not
// give it back.
func (l *lock) ask(mode uint32) {
	if l.asked || l.resource.typ == typeFlock { // the application decides
		return
	}
	l.asked, l.blocks = true, mode
	t := l.resource.target
	x := t.exports[l.client.index]
	evict := func() {
		if l.granted && t.up && t.exports[l.client.index] == x {
			t.evict(l.client)
		}
	}
	t.host.callback(l, opBlocking, callbackTimeout, func(a *answer) {
		switch {
		case a == nil:
			evict()
		case a.status == einval: // the client does not have it
			l.resource.remove(l)
		default:
			t.host.after(lockTimeout, evict)
		}
	})
}

// glimpse asks the holder of a lock for the size of the object, and evicts it when it does not answer.
func (l *lock) glimpse(then func()) {
	t := l.resource.target
	t.host.callback(l, opSize, 2*lockTimeout, func(a *answer) {
		if a == nil {
			t.evict(l.client)
		}
		then()
	})
}

// evict forgets a client and its locks.
func (t *target) evict(client *host) {
	t.exports[client.index] = nil
	for _, x := range t.resources {
		for _, l := range slices.Clone(x.granted) {
			if l.client == client {
				x.remove(l)
			}
		}
		x.waiting = slices.DeleteFunc(slices.Clone(x.waiting), func(w *waiter) bool { return w.lock != nil && w.client == client })
	}
}

// enqueue answers a request for a lock.
func (l *lock) enqueue(r *rpc, finish func(*answer)) {
	x := l.resource
	grant := func() {
		l.granted = true
		l.asked = false
		x.granted = append(x.granted, l)
		if l.server == 0 {
			l.server = x.target.host.handle()
		}
	}
	if r.flags&replayFlag != 0 && l.held {
		grant()
		finish(l.answer(ok))
		return
	}
	replied := false
	at := x.request(&waiter{client: l.client, lock: l, mode: l.mode, then: func() {
		grant()
		if replied {
			x.target.host.callback(l, opGranted, callbackTimeout, func(*answer) {})
		}
	}})
	replied = true
	if l.server == 0 {
		l.server = x.target.host.handle()
	}
	a := l.answer(ok)
	a.blocked = !at
	finish(a)
}

// answer builds the reply to a request for a lock of an object.
func (l *lock) answer(status int32) *answer {
	flags, granted := uint32(lockChanged), l.mode
	if !l.granted {
		flags, granted = blockGranted, 0
	}
	return &answer{status: status, buffers: [][]byte{lockReply(flags, l.resource.typ, l.resource.fid, l.mode, granted, l.bits, l.server, 0), l.value()}}
}

// value is the buffer for what a lock says of an object.
func (l *lock) value() []byte {
	if l.resource.typ == typeExtent {
		return make([]byte, 56)
	}
	return nil
}

// callbackBuffers are those of a callback for the lock.
func (l *lock) callbackBuffers(op *operation) [][]byte {
	x := l.resource
	mode := l.mode
	if op == opBlocking {
		mode = l.blocks
	}
	b := lockRequest(0, 0, x.typ, x.fid, mode, l.bits, l.handle, l.server)
	if op == opGranted {
		b.u32(8+44, l.mode)
		return [][]byte{b, nil}
	}
	return [][]byte{b}
}

// taken tells the client that it has the lock.
func (l *lock) taken() {
	if l.held {
		return
	}
	l.held = true
	if then := l.onGranted; then != nil {
		l.onGranted = nil
		then(true)
	}
}

// giveBack lets the client write back what is dirty, and cancels the lock.
func (l *lock) giveBack(h *host) {
	delay := h.lateCancel
	cancel := func() {
		if !l.has() {
			return
		}
		l.drop()
		r := l.imp.request(opCancel, [][]byte{lockRequest(0, 1, 0, fid{}, 0, 0, l.server, 0)}, nil)
		r.lock = l
		r.answerer = func() *answer {
			l.resource.remove(l)
			return &answer{}
		}
		l.imp.send(r)
	}
	h.after(delay, func() {
		if l.dirty && l.has() {
			l.dirty = false
			l.imp.write(l.resource, "", 0, 4096, func(bool) { cancel() })
			return
		}
		cancel()
	})
}

// has reports whether the client thinks that it has the lock.
func (l *lock) has() bool { return slices.Contains(l.imp.locks, l) }

// drop forgets the lock at the client.
func (l *lock) drop() {
	l.held = false
	l.imp.locks = without(l.imp.locks, l)
}

// without returns a copy of a list, which may be read, without an element.
func without[T comparable](list []T, x T) []T {
	return slices.DeleteFunc(slices.Clone(list), func(y T) bool { return y == x })
}

// replay asks for the lock again in the recovery of the target.
func (l *lock) replay(i *imp, then func(*answer)) {
	x := l.resource
	r := i.request(opExtent, [][]byte{lockRequest(lockReplay, 1, x.typ, x.fid, l.mode, l.bits, l.handle, 0)}, then)
	if x.target.kind == mdt {
		r.op = opIbits
	}
	r.flags, r.lock = replayFlag, l
	i.send(r)
}

// cached returns the lock that the client has on a resource, nil: none.
func (i *imp) cached(x *resource, mode uint32) *lock {
	for _, l := range i.locks {
		if l.resource == x && l.held && (l.mode == mode || l.mode == modePW) {
			return l
		}
	}
	return nil
}
