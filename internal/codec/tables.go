package codec

import (
	"sync"
	"unsafe"
)

// maxInterned values are kept in a table. A capture without an end may have any number.
const maxInterned = 1 << 16

// Tables have values that many records have: texts, which are kept in records when there are
// too many, and pointers, of which there must be few. One goroutine may write records while
// others read them.
type Tables struct {
	texts    interned[string]
	pointers interned[unsafe.Pointer]
	writer   writer // used again for each record
}

// interned is a table of values. Places are counted from 1.
type interned[T comparable] struct {
	mu     sync.Mutex
	places map[T]uint64
	values []T
}

// place returns the place of a value, which it gets if there is room; else 0.
func (t *interned[T]) place(v T) uint64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	i, ok := t.places[v]
	if !ok && len(t.values) < maxInterned {
		if t.places == nil {
			t.places = make(map[T]uint64)
		}
		t.values = append(t.values, v)
		i = uint64(len(t.values))
		t.places[v] = i
	}
	return i
}

// value returns the value at a place that was read.
func (t *interned[T]) value(r *reader, i uint64) (v T) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i-1 >= uint64(len(t.values)) {
		r.fail()
		return v
	}
	return t.values[i-1]
}
