// Package fifo has a map and a queue that are bounded by removing their oldest
// entries, for state that must not grow with the capture, and an index of what is in
// such queues.
package fifo

import "iter"

// Map is a map with a maximum number of keys: a new key replaces the oldest one. It has
// functions in place of methods, as Go compiles every method of a generic type for each type
// that it is used with, in every package that knows the type.
type Map[K comparable, V any] struct {
	max   int
	slots map[K]int32
	ring  [][]entry[K, V] // in blocks, so that growth copies none but the first
	made  int             // number of slots
	next  int             // slot of the next new key, once the ring has all its slots
}

// blockSlots is the number of slots of each block but the last, which may have fewer.
const blockSlots = 256

type entry[K comparable, V any] struct {
	_     [0]func() // not comparable: Go would compile a func for it, for each type
	key   K
	value V
	used  bool
}

// NewMap makes a map of at most max keys.
func NewMap[K comparable, V any](max int) *Map[K, V] {
	return &Map[K, V]{max: max, slots: make(map[K]int32)}
}

// at returns a slot.
func at[K comparable, V any](m *Map[K, V], i int) *entry[K, V] {
	return &m.ring[uint(i)/blockSlots][uint(i)%blockSlots]
}

// newSlot returns a slot behind all others.
func newSlot[K comparable, V any](m *Map[K, V]) (i int) {
	i = m.made
	if i%blockSlots == 0 {
		m.ring = append(m.ring, make([]entry[K, V], 0, min(i, blockSlots)))
	}
	last := &m.ring[i/blockSlots]
	*last = append(*last, entry[K, V]{})
	m.made++
	return i
}

// Len is the number of keys.
func Len[K comparable, V any](m *Map[K, V]) int { return len(m.slots) }

// Get returns the value of a key and whether there is one.
func Get[K comparable, V any](m *Map[K, V], k K) (v V, ok bool) {
	i, ok := m.slots[k]
	if !ok {
		return v, false
	}
	return at(m, int(i)).value, true
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
	if i, ok := m.slots[k]; ok {
		at(m, int(i)).value = v
		return oldest, value, false
	}
	i := m.next
	if m.made < m.max {
		i = newSlot(m)
	} else {
		m.next = (m.next + 1) % m.max
	}
	e := at(m, i)
	if e.used {
		oldest, value, evicted = e.key, e.value, true
		delete(m.slots, e.key)
	}
	*e = entry[K, V]{key: k, value: v, used: true}
	m.slots[k] = int32(i)
	return oldest, value, evicted
}

// Delete removes a key and returns its value; ok reports whether it was in the
// map. Its slot stays empty until it would have been the oldest.
func Delete[K comparable, V any](m *Map[K, V], k K) (v V, ok bool) {
	i, ok := m.slots[k]
	if !ok {
		return v, false
	}
	v = at(m, int(i)).value
	delete(m.slots, k)
	*at(m, int(i)) = entry[K, V]{}
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
		for i := range m.made {
			if i += m.next; i >= m.made {
				i -= m.made
			}
			if e := at(m, i); e.used && !yield(e.key, e.value) {
				return
			}
		}
	}
}
