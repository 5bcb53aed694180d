package metrics

// index is a hash table of pointers with linear probing. The entries keep their
// keys themselves, which lets them reuse the memory of a key.
type index[T any] struct {
	slots []slot[T] // a power of two, at most half of them in use
	n     int
}

type slot[T any] struct {
	hash  uint64
	entry *T // nil: free
}

// find returns the entry with this hash for which equal is true, or nil.
func (x *index[T]) find(hash uint64, equal func(*T) bool) *T {
	if len(x.slots) == 0 {
		return nil
	}
	mask := uint64(len(x.slots) - 1)
	for i := hash & mask; ; i = (i + 1) & mask {
		s := &x.slots[i]
		if s.entry == nil {
			return nil
		}
		if s.hash == hash && equal(s.entry) {
			return s.entry
		}
	}
}

// add adds an entry that is not in the table yet.
func (x *index[T]) add(hash uint64, entry *T) {
	if 2*(x.n+1) > len(x.slots) {
		old := x.slots
		x.slots = make([]slot[T], max(16, 2*len(old)))
		for _, s := range old {
			if s.entry != nil {
				x.put(s)
			}
		}
	}
	x.put(slot[T]{hash, entry})
	x.n++
}

func (x *index[T]) put(s slot[T]) {
	mask := uint64(len(x.slots) - 1)
	i := s.hash & mask
	for x.slots[i].entry != nil {
		i = (i + 1) & mask
	}
	x.slots[i] = s
}

func (x *index[T]) remove(hash uint64, entry *T) {
	mask := uint64(len(x.slots) - 1)
	free := hash & mask
	for x.slots[free].entry != entry {
		free = (free + 1) & mask
	}
	// Entries behind it move up unless that would take them before their
	// first slot.
	for i := (free + 1) & mask; x.slots[i].entry != nil; i = (i + 1) & mask {
		if (i-x.slots[i].hash)&mask >= (i-free)&mask {
			x.slots[free] = x.slots[i]
			free = i
		}
	}
	x.slots[free] = slot[T]{}
	x.n--
}

// clear removes all entries.
func (x *index[T]) clear() {
	clear(x.slots)
	x.n = 0
}
