// Package fifo has a map and a queue that are bounded by removing their oldest
// entries, for state that must not grow with the capture, and an index of what is in
// such queues.
package fifo

import (
	"hash/maphash"
	"iter"
)

// Map is a map with a maximum number of keys: a new key replaces the oldest one. It has
// functions in place of methods, as Go compiles every method of a generic type for each type
// that it is used with, in every package that knows the type.
type Map[K comparable, V any] struct {
	max   int
	seed  maphash.Seed
	index Index[place] // by the hash of the key
	slots []*slot[K, V]
	next  int          // slot of the next new key, once there are all
	block []slot[K, V] // those that are new
}

// slot has a key with its value, or is empty: then its place has no Owner.
type slot[K comparable, V any] struct {
	_ [0]func() // not comparable: Go would compile a func for it, for each type
	place
	key   K
	value V
}

// place is the place of a slot in the Index, which is of one type for all maps.
type place struct {
	Entry[place]
	slot int
}

// maxBlock slots are allocated at once.
const maxBlock = 256

// NewMap makes a map of at most max keys.
func NewMap[K comparable, V any](max int) *Map[K, V] {
	return &Map[K, V]{max: max, seed: maphash.MakeSeed()}
}

// find returns the slot of a key, which is nil if the map does not have the key, and the hash of the key.
func find[K comparable, V any](m *Map[K, V], k K) (s *slot[K, V], hash uint64) {
	hash = maphash.Comparable(m.seed, k)
	for e := m.index.First(hash); e != nil; e = e.Next() {
		if s := m.slots[e.Owner.slot]; s.key == k {
			return s, hash
		}
	}
	return nil, hash
}

// newSlot returns a slot behind all others.
func newSlot[K comparable, V any](m *Map[K, V]) *slot[K, V] {
	if len(m.block) == 0 {
		m.block = make([]slot[K, V], min(max(len(m.slots), 1), maxBlock))
	}
	s := &m.block[0]
	m.block = m.block[1:]
	s.slot = len(m.slots)
	m.slots = append(m.slots, s)
	return s
}

// Len is the number of keys.
func Len[K comparable, V any](m *Map[K, V]) int { return m.index.Len() }

// Get returns the value of a key and whether there is one.
func Get[K comparable, V any](m *Map[K, V], k K) (v V, ok bool) {
	if s, _ := find(m, k); s != nil {
		return s.value, true
	}
	return v, false
}

// GetOrNew returns the value of a key. A new key gets a pointer to a zero value.
func GetOrNew[K comparable, V any](m *Map[K, *V], k K) *V {
	return GetOrMake(m, k, func() *V { return new(V) })
}

// GetOrMake returns the value of a key. It makes that of a new key.
func GetOrMake[K comparable, V any](m *Map[K, V], k K, make func() V) V {
	v, ok := Get(m, k)
	if !ok {
		v = make()
		Put(m, k, v)
	}
	return v
}

// Put sets the value of a key. A key that is in the map keeps its age. If the map
// is full, a new key replaces the oldest one, which Put returns with its value;
// evicted reports whether there was one.
func Put[K comparable, V any](m *Map[K, V], k K, v V) (oldest K, value V, evicted bool) {
	s, hash := find(m, k)
	if s != nil {
		s.value = v
		return oldest, value, false
	}
	if len(m.slots) < m.max {
		s = newSlot(m)
	} else {
		s = m.slots[m.next]
		m.next = (m.next + 1) % m.max
	}
	if evicted = s.Owner != nil; evicted {
		oldest, value = s.key, s.value
		m.index.Remove(&s.Entry)
	}
	s.key, s.value = k, v
	m.index.Add(&s.Entry, hash, &s.place)
	return oldest, value, evicted
}

// Delete removes a key and returns its value; ok reports whether it was in the
// map. Its slot stays empty until it would have been the oldest.
func Delete[K comparable, V any](m *Map[K, V], k K) (v V, ok bool) {
	s, _ := find(m, k)
	if s == nil {
		return v, false
	}
	v = s.value
	m.index.Remove(&s.Entry)
	*s = slot[K, V]{place: s.place}
	return v, true
}

// Values returns the values, oldest first.
func Values[K comparable, V any](m *Map[K, V]) (list []V) {
	for _, v := range All(m) {
		list = append(list, v)
	}
	return list
}

// All returns the keys with their values, oldest first.
func All[K comparable, V any](m *Map[K, V]) iter.Seq2[K, V] {
	return func(yield func(K, V) bool) {
		for i := range m.slots {
			if i += m.next; i >= len(m.slots) {
				i -= len(m.slots)
			}
			if s := m.slots[i]; s.Owner != nil && !yield(s.key, s.value) {
				return
			}
		}
	}
}
