package locks

import (
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/opcodes"
)

// resourceKey is a resource of a server. Targets of a server have different
// resources, except for those that every target has.
type resourceKey struct {
	server lnet.NID
	kind   uint64
	name   [4]uint64
}

// resource is the queue of the locks on a resource, as far as the capture shows
// them, in no order.
type resource struct {
	key     resourceKey
	waiting []*Lock
	held    []*Lock // and those of which is only known that they are there
}

// maxCompared locks of a resource are compared with one that waits or is given
// back: there may be a hundred thousand.
const maxCompared = 1 << 12

// place is where a lock is in the queue of its resource.
type place struct {
	resource *resource // nil: unknown
	index    int32
	waiting  bool
}

func (r *resource) list(waiting bool) *[]*Lock {
	if waiting {
		return &r.waiting
	}
	return &r.held
}

func first(list []*Lock) []*Lock { return list[:min(len(list), maxCompared)] }

// request is a blocking callback: at that time, the lock was requested that it
// describes, and the holder kept it waiting.
type request struct {
	time   int64
	desc   opcodes.LockDesc
	holder Blocker
}

// requests are the last blocking callbacks about a resource, for locks whose reply
// is the first message to name it.
type requests struct {
	list []request // the oldest is replaced
	n    int       // that there were
}

const (
	maxRequests  = 32
	maxRequested = 1 << 11 // resources
)

// enter adds a lock to the queue of its resource, or moves it there.
func (t *Locks) enter(l *Lock) {
	k := resourceKey{l.Server, l.Desc.Kind, l.Desc.Name}
	waiting := l.known == knownRequested
	if p := &l.place; p.resource != nil {
		if p.resource.key == k && p.waiting == waiting {
			return
		}
		t.leave(l)
	}
	r := t.resources[k]
	if r == nil {
		r = &resource{key: k}
		t.resources[k] = r
	}
	list := r.list(waiting)
	l.place = place{r, int32(len(*list)), waiting}
	*list = append(*list, l)
}

// leave removes a lock from the queue of its resource.
func (t *Locks) leave(l *Lock) {
	r := l.place.resource
	if r == nil {
		return
	}
	list := r.list(l.place.waiting)
	last := len(*list) - 1
	moved := (*list)[last]
	(*list)[l.place.index], moved.place.index = moved, l.place.index
	(*list)[last] = nil
	*list = (*list)[:last]
	l.place = place{}
	if len(r.waiting)+len(r.held) == 0 {
		delete(t.resources, r.key)
	}
}

// addCallbackTo takes a blocking callback to the holder of a lock: the holder keeps
// the requested lock waiting, and all others that wait and are in conflict.
func (t *Locks) addCallbackTo(holder *Lock, requested *opcodes.LockDesc) {
	r := holder.place.resource
	if r == nil {
		return
	}
	for _, l := range first(r.waiting) {
		if l != holder && l.isWaiting() && (requested.Matches(&l.Desc) || holder.isInConflict(l)) {
			l.addBlocker(holder.asBlocker())
		}
	}
	asked := fifo.GetOrNew(t.requested, r.key)
	if len(asked.list) < maxRequests {
		asked.list = append(asked.list, request{})
	}
	asked.list[asked.n%maxRequests] = request{t.now, *requested, holder.asBlocker()}
	asked.n++
}

// addHolders adds the holders that keep a lock waiting whose reply says that it has
// to wait. The server sends a holder a single blocking callback, for the first lock
// that waits for it, and none to holders of flocks and group locks.
func (t *Locks) addHolders(l *Lock) {
	if l.place.resource == nil {
		return
	}
	for _, holder := range first(l.place.resource.held) {
		if holder == l || !holder.isLive() {
			continue
		}
		if holder.isInConflict(l) && (holder.isSilent() || holder.isAskedFor()) ||
			holder.blocking != nil && holder.blocking.Matches(&l.Desc) && holder.isAskedFor() {
			l.addBlocker(holder.asBlocker())
		}
	}
}

// addEarlierHolders adds the holders that kept a lock waiting while the server
// handled its request: those of the blocking callbacks since then that describe the
// lock as it was granted.
func (t *Locks) addEarlierHolders(l *Lock) {
	if l.place.resource == nil {
		return
	}
	asked, ok := fifo.Get(t.requested, l.place.resource.key)
	if !ok {
		return
	}
	granted := l.Desc
	granted.Requested = granted.Granted
	for i := range asked.list {
		q := &asked.list[i]
		if q.time >= l.Asked.Time && q.holder.number != l.number && q.desc.Matches(&granted) {
			l.addBlocker(q.holder)
		}
	}
}

// stopBlocking notes for all locks that wait for a holder that it keeps them waiting
// no longer.
func (t *Locks) stopBlocking(holder *Lock, now int64) {
	r := holder.place.resource
	if r == nil {
		return
	}
	for _, l := range first(r.waiting) {
		l.stopBlocking(holder.number, now)
	}
	if asked, ok := fifo.Get(t.requested, r.key); ok {
		for i := range asked.list {
			if b := &asked.list[i].holder; b.number == holder.number && b.Until == 0 {
				b.Until = now
			}
		}
	}
}

// addToWaiting adds the holder of a lock that was granted to the locks that it keeps
// waiting, when no blocking callback will: for flocks and group locks, and after a
// completion callback that is a blocking one as well.
func (t *Locks) addToWaiting(holder *Lock) {
	r := holder.place.resource
	if r == nil {
		return
	}
	for _, l := range first(r.waiting) {
		if l.isWaiting() && holder.isInConflict(l) {
			l.addBlocker(holder.asBlocker())
		}
	}
}

// release ends the flocks that another one of the same owner, or the release of
// its range, covers, and takes the range from those that it covers in part.
func (t *Locks) release(by *Lock, how How, at track.Point) {
	r := t.resources[resourceKey{by.Server, by.Desc.Kind, by.Desc.Name}]
	if r == nil {
		return
	}
	var covered []*Lock
	for _, l := range first(r.held) {
		d, released := &l.Desc, &by.Desc
		switch {
		case l == by || l.known != knownGranted || !l.sameOwner(by) || !d.Overlaps(released):
		case released.Covers(d):
			covered = append(covered, l)
		case released.Start <= d.Start:
			d.Start = released.End + 1
		case released.End >= d.End:
			d.End = released.Start - 1
		default:
			l.partly = true
		}
	}
	for _, l := range covered {
		t.end(l, how, at)
	}
}
