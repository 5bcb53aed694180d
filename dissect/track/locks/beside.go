package locks

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/fifo"
)

// beside is what logs beside a capture say about locks. Its Locks take lines and no messages, so that
// the locks of the capture are followed as without logs until they have ended.
type beside struct {
	*Locks
	byClient, byServer *fifo.Map[uint64, *Lock] // locks that have ended by the logs, by their handles
}

// maxBeside locks that have ended by the logs wait for the same to happen in the capture.
const maxBeside = 1 << 13

// ReadLogs lets the locks of a capture have what logs beside it say, which Logged takes.
func (t *Locks) ReadLogs() {
	b := &beside{byClient: fifo.NewMap[uint64, *Lock](maxBeside), byServer: fifo.NewMap[uint64, *Lock](maxBeside)}
	b.Locks = newLocks(t.linger, func(l *Lock) {
		fifo.Put(b.byClient, l.ClientHandle, l)
		fifo.Put(b.byServer, l.Handle, l)
	})
	b.KeepLines, b.besideCapture = true, true
	t.beside = b
}

// find returns what the logs have about a lock of the capture, nil when that is nothing.
func (b *beside) find(l *Lock) *Lock {
	client, _ := fifo.Get(b.byClient, l.ClientHandle)
	server, _ := fifo.Get(b.byServer, l.Handle)
	for _, k := range []*Lock{b.Find(lnet.NID{}, l.Handle), b.byClientHandle(lnet.NID{}, nil, l.ClientHandle), server, client} {
		if k != nil && k.isSame(l) {
			return k
		}
	}
	return nil
}

// isSame reports whether two locks may be one and have a handle in common.
func (l *Lock) isSame(k *Lock) bool {
	client, server := l.ClientHandle == k.ClientHandle, l.Handle == k.Handle
	resource := l.Desc.Kind == k.Desc.Kind && l.Desc.Name == k.Desc.Name
	return (client && l.ClientHandle != 0 || server && l.Handle != 0) &&
		(client || l.ClientHandle == 0 || k.ClientHandle == 0) && (server || l.Handle == 0 || k.Handle == 0) &&
		(resource || !l.HasResource() || !k.HasResource())
}

// complete adds to a lock what the capture does not have, and the logs do.
func (b *beside) complete(l *Lock) {
	k := b.find(l)
	if k == nil {
		return
	}
	l.Lines, l.Dropped = slices.Clip(k.Lines), l.Dropped+k.Dropped
	l.ClientHandle, l.Handle = cmp.Or(l.ClientHandle, k.ClientHandle), cmp.Or(l.Handle, k.Handle)
	if k.known > l.known {
		l.known, l.Desc = k.known, k.Desc
	}
	if !l.HasJob {
		l.Job, l.HasJob = k.Job, k.HasJob
	}
	if l.Granted.IsZero() && !l.Asked.IsZero() {
		l.Granted = k.Granted
	}
	for _, by := range k.BlockedBy {
		if !slices.ContainsFunc(l.BlockedBy, func(o Blocker) bool { return o.Handle == by.Handle }) {
			l.BlockedBy = append(l.BlockedBy, by)
		}
	}
	if l.isLive() && !k.isLive() {
		l.End, l.Last = k.End, k.Last
	}
}
