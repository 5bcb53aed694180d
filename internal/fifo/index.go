package fifo

import "math/rand/v2"

// Index finds owners by a key; several may have the same one. It allocates nothing for
// an owner, which contains its Entry. The zero Index is ready for use.
type Index[T any] struct {
	buckets []*Entry[T] // newest first
	factor  uint64      // random, as keys come from the wire
	shift   uint8       // of the product, to the number of a bucket
	n       int
}

// Entry is the place of its owner in an Index. An owner with several keys has as many.
type Entry[T any] struct {
	Owner *T // nil: the entry is in no Index
	Key   uint64
	next  *Entry[T] // in the bucket
}

const minBuckets = 64

// MaxSameKey entries have the same key at most, since a lookup walks over all of them.
const MaxSameKey = 64

// First returns the newest entry with a key, or nil.
func (x *Index[T]) First(key uint64) *Entry[T] {
	if x.n == 0 {
		return nil
	}
	return x.buckets[x.bucket(key)].from(key)
}

// Next returns the next older entry with the same key, or nil.
func (e *Entry[T]) Next() *Entry[T] { return e.next.from(e.Key) }

// from returns the first entry from e on with a key.
func (e *Entry[T]) from(key uint64) *Entry[T] {
	for e != nil && e.Key != key {
		e = e.next
	}
	return e
}

// Len is the number of entries.
func (x *Index[T]) Len() int { return x.n }

// Add adds an entry, which must not be in the Index, with a key and its owner. Of too many
// with the same key it removes the oldest, and returns its owner.
func (x *Index[T]) Add(e *Entry[T], key uint64, owner *T) (removed *T) {
	if x.n >= len(x.buckets) {
		x.grow()
	}
	first := &x.buckets[x.bucket(key)]
	e.Owner, e.Key, e.next = owner, key, *first
	*first = e
	x.n++
	for range MaxSameKey {
		if e = e.Next(); e == nil {
			return nil
		}
	}
	removed = e.Owner
	x.Remove(e)
	return removed
}

// Remove removes an entry if it is in the Index.
func (x *Index[T]) Remove(e *Entry[T]) {
	if e.Owner == nil {
		return
	}
	at := &x.buckets[x.bucket(e.Key)]
	for *at != e {
		at = &(*at).next
	}
	*at, e.next, e.Owner = e.next, nil, nil
	x.n--
}

func (x *Index[T]) bucket(key uint64) uint64 { return key * x.factor >> x.shift }

// grow doubles the number of buckets.
func (x *Index[T]) grow() {
	if x.buckets == nil {
		x.buckets, x.factor, x.shift = make([]*Entry[T], minBuckets), rand.Uint64()|1, 64-6
		return
	}
	old := x.buckets
	x.buckets = make([]*Entry[T], 2*len(old))
	x.shift--
	for i, e := range old {
		even, odd := &x.buckets[2*i], &x.buckets[2*i+1]
		for ; e != nil; e = e.next {
			if x.bucket(e.Key)&1 == 0 {
				*even, even = e, &e.next
			} else {
				*odd, odd = e, &e.next
			}
		}
		*even, *odd = nil, nil
	}
}
