// Package fifo has a map and a queue that are bounded by removing their oldest
// entries, for state that must not grow with the capture, and an index of what is in
// such queues.
package fifo

// Map is a map with a maximum number of keys: a new key replaces the oldest one.
type Map[K comparable, V any] struct {
	max   int
	slots map[K]int32
	ring  []entry[K, V]
	next  int // slot of the next new key, once the ring has all its slots
}

type entry[K comparable, V any] struct {
	key   K
	value V
	used  bool
}

// NewMap makes a map of at most max keys.
func NewMap[K comparable, V any](max int) *Map[K, V] {
	return &Map[K, V]{max: max, slots: make(map[K]int32)}
}

// Len is the number of keys. Like others that not every map needs it is no method: Go
// compiles all methods of each map in every package that knows it.
func Len[K comparable, V any](m *Map[K, V]) int { return len(m.slots) }

// Get returns the value of a key and whether there is one.
func (m *Map[K, V]) Get(k K) (v V, ok bool) {
	i, ok := m.slots[k]
	if !ok {
		return v, false
	}
	return m.ring[i].value, true
}

// GetOrNew returns the value of a key. A new key gets a pointer to a zero value.
func GetOrNew[K comparable, V any](m *Map[K, *V], k K) *V {
	return GetOrMake(m, k, func() *V { return new(V) })
}

// GetOrMake returns the value of a key. It makes that of a new key.
func GetOrMake[K comparable, V any](m *Map[K, V], k K, make func() V) V {
	v, ok := m.Get(k)
	if !ok {
		v = make()
		m.Put(k, v)
	}
	return v
}

// Put sets the value of a key. A key that is in the map keeps its age. If the map
// is full, a new key replaces the oldest one, which Put returns with its value;
// evicted reports whether there was one.
func (m *Map[K, V]) Put(k K, v V) (oldest K, value V, evicted bool) {
	if i, ok := m.slots[k]; ok {
		m.ring[i].value = v
		return oldest, value, false
	}
	i := m.next
	if len(m.ring) < m.max {
		i = len(m.ring)
		m.ring = append(m.ring, entry[K, V]{})
	} else {
		m.next = (m.next + 1) % m.max
	}
	e := &m.ring[i]
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
func (m *Map[K, V]) Delete(k K) (v V, ok bool) {
	i, ok := m.slots[k]
	if !ok {
		return v, false
	}
	v = m.ring[i].value
	delete(m.slots, k)
	m.ring[i] = entry[K, V]{}
	return v, true
}

// Values returns the values, oldest first.
func Values[K comparable, V any](m *Map[K, V]) (list []V) {
	for _, v := range m.All {
		list = append(list, v)
	}
	return list
}

// All calls f for each key, oldest first, until f returns false.
func (m *Map[K, V]) All(f func(K, V) bool) {
	for n := range len(m.ring) {
		e := &m.ring[(m.next+n)%len(m.ring)]
		if e.used && !f(e.key, e.value) {
			return
		}
	}
}
