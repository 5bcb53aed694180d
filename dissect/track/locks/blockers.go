package locks

import (
	"cmp"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// Holder is who kept others waiting for a resource: a job on a node.
type Holder struct {
	HolderKey
	Resource opcodes.LockDesc // its kind and name
	Target   string
	Waits    int64      // locks that had to wait for it
	Time     int64      // nanoseconds that they waited for it, in total
	Longest  int64      // of one of them, in nanoseconds
	Waiters  []lnet.NID // their clients, at most maxWaiters
}

// HolderKey distinguishes holders.
type HolderKey struct {
	Client lnet.NID
	Server lnet.NID
	Job    string // empty when it is unknown, too

	kind uint64
	name [4]uint64
}

const (
	maxHolders = 1 << 14
	maxWaiters = 64 // of a holder
)

// Blockers sums up who kept others waiting.
type Blockers struct {
	holders map[HolderKey]*Holder

	// Dropped is the number of waits for holders that were too many to keep.
	Dropped int64
}

// Add adds the waits of a lock.
func (t *Blockers) Add(l *Lock) {
	for i := range l.BlockedBy {
		b := &l.BlockedBy[i]
		k := HolderKey{Client: b.Client, Server: l.Server, Job: b.Job, kind: l.Desc.Kind, name: l.Desc.Name}
		h := t.holders[k]
		if h == nil {
			if len(t.holders) >= maxHolders {
				t.Dropped++
				continue
			}
			if t.holders == nil {
				t.holders = make(map[HolderKey]*Holder)
			}
			h = &Holder{HolderKey: k, Resource: opcodes.LockDesc{Kind: k.kind, Name: k.name}}
			t.holders[k] = h
		}
		h.Target = cmp.Or(h.Target, l.Target())
		ns := b.Time(l)
		h.Waits++
		h.Time += ns
		h.Longest = max(h.Longest, ns)
		if len(h.Waiters) < maxWaiters && !slices.Contains(h.Waiters, l.Client) {
			h.Waiters = append(h.Waiters, l.Client)
		}
	}
}

// List returns the holders, those that kept others waiting for the longest time in
// total first.
func (t *Blockers) List() []*Holder {
	list := make([]*Holder, 0, len(t.holders))
	for _, h := range t.holders {
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b *Holder) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Waits, a.Waits), slices.Compare(a.Client.Addr[:], b.Client.Addr[:]),
			slices.Compare(a.Server.Addr[:], b.Server.Addr[:]), cmp.Compare(a.Job, b.Job), cmp.Compare(a.kind, b.kind), slices.Compare(a.name[:],
				b.name[:]))
	})
	return list
}
