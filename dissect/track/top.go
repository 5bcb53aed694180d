package track

import (
	"cmp"
	"slices"
)

// Top keeps the items with the greatest values: of equal ones, those that were added first.
type Top[T any] struct {
	Limit int // how many

	list  []ranked[T] // with Limit items a heap: the next one to be replaced is the first
	added int64
}

type ranked[T any] struct {
	value, order int64
	item         T
}

// Takes reports whether an item of a value would be kept.
func (t *Top[T]) Takes(value int64) bool {
	return len(t.list) < t.Limit || t.Limit > 0 && value > t.list[0].value
}

// Add adds an item, if it is taken. It calls drop with the one that it replaces; drop may be nil.
func (t *Top[T]) Add(value int64, item T, drop func(T)) {
	if !t.Takes(value) {
		return
	}
	t.added++
	x := ranked[T]{value, t.added, item}
	if len(t.list) < t.Limit {
		if t.list = append(t.list, x); len(t.list) == t.Limit {
			slices.SortStableFunc(t.list, func(a, b ranked[T]) int { return compareRanks(b, a) })
		}
		return
	}
	if drop != nil {
		drop(t.list[0].item)
	}
	at := 0
	for next := 1; next < len(t.list); next = 2*at + 1 {
		if next+1 < len(t.list) && compareRanks(t.list[next+1], t.list[next]) > 0 {
			next++
		}
		if compareRanks(x, t.list[next]) > 0 {
			break
		}
		t.list[at], at = t.list[next], next
	}
	t.list[at] = x
}

// compareRanks is the order of items: the greatest value first.
func compareRanks[T any](a, b ranked[T]) int {
	return cmp.Or(cmp.Compare(b.value, a.value), cmp.Compare(a.order, b.order))
}

// List returns the items, the greatest first.
func (t *Top[T]) List() (list []T) {
	sorted := slices.Clone(t.list)
	slices.SortStableFunc(sorted, compareRanks)
	for _, x := range sorted {
		list = append(list, x.item)
	}
	return list
}
