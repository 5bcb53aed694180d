package clocks

import (
	"math/bits"
	"math/rand/v2"
)

// segment is a segment of a numbered flow.
type segment struct {
	flow      int32
	seq, size uint32
}

// segmentTable numbers segments in the order in which they come. For the first frames of
// hundreds of files it takes less memory and time than a map.
type segmentTable struct {
	segments pages[segment]
	slots    []int32 // place in segments and 1, 0: none; at least half of them are free
	factor   uint64  // random, as segments come from the wire
}

// place returns the place of a segment in t.segments, and whether it is new there.
func (t *segmentTable) place(s segment) (i int32, isNew bool) {
	if 2*t.segments.n >= len(t.slots) {
		t.grow()
	}
	slot := t.slot(s)
	if i = *slot; i != 0 {
		return i - 1, false
	}
	t.segments.add(s)
	*slot = int32(t.segments.n)
	return *slot - 1, true
}

// slot returns where the place of a segment is, or would be.
func (t *segmentTable) slot(s segment) *int32 {
	h := (uint64(s.seq)<<32 | uint64(s.size) ^ uint64(s.flow)<<16) * t.factor
	for n := bits.ReverseBytes64(h); ; n++ {
		slot := &t.slots[n&uint64(len(t.slots)-1)]
		if *slot == 0 || *t.segments.at(*slot - 1) == s {
			return slot
		}
	}
}

func (t *segmentTable) clear() {
	t.segments.n = 0
	clear(t.slots)
}

func (t *segmentTable) grow() {
	if t.slots == nil {
		t.factor = rand.Uint64() | 1
	}
	t.slots = make([]int32, max(1024, 2*len(t.slots)))
	for i := range int32(t.segments.n) {
		*t.slot(*t.segments.at(i)) = i + 1
	}
}

// pages is a list that may become long. It is not copied when it grows.
type pages[T any] struct {
	list [][]T
	n    int
}

const pageLength = 1 << 12

func (p *pages[T]) at(i int32) *T { return &p.list[i/pageLength][i%pageLength] }

func (p *pages[T]) add(x T) {
	if p.n == len(p.list)*pageLength {
		p.list = append(p.list, make([]T, pageLength))
	}
	*p.at(int32(p.n)) = x
	p.n++
}
