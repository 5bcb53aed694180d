package track

import (
	"cmp"
	"slices"
)

// Top keeps the items with the greatest values: of equal ones, those that were added first.
type Top[T any] struct {
	Limit int // how many

	list  []ranked[T] // in no order, and up to twice as many
	least int64       // smaller values are not among the greatest
	full  bool        // least is known
}

type ranked[T any] struct {
	value int64
	item  T
}

// Takes reports whether an item of a value would be kept, for now.
func (t *Top[T]) Takes(value int64) bool { return t.Limit > 0 && (!t.full || value > t.least) }

// Add adds an item. It calls drop with each that is not kept any more; drop may be nil.
func (t *Top[T]) Add(value int64, item T, drop func(T)) {
	if !t.Takes(value) {
		return
	}
	if t.list = append(t.list, ranked[T]{value, item}); len(t.list) < 2*t.Limit {
		return
	}
	t.sort()
	for _, x := range t.list[t.Limit:] {
		if drop != nil {
			drop(x.item)
		}
	}
	t.list = slices.Delete(t.list, t.Limit, len(t.list))
	t.full, t.least = true, t.list[t.Limit-1].value
}

func (t *Top[T]) sort() {
	slices.SortStableFunc(t.list, func(a, b ranked[T]) int { return cmp.Compare(b.value, a.value) })
}

// List returns the items, the greatest first.
func (t *Top[T]) List() (list []T) {
	t.sort()
	for _, x := range t.list[:min(t.Limit, len(t.list))] {
		list = append(list, x.item)
	}
	return list
}
