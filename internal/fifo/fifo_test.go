package fifo

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

func keys(m *Map[int, string]) (list []int) {
	All(m)(func(k int, v string) bool {
		list = append(list, k)
		return true
	})
	return list
}

func TestMap(t *testing.T) {
	m := NewMap[int, string](3)
	for k := range 3 {
		Put(m, k, fmt.Sprint(k))
	}
	Put(m, 0, "again") // keeps its age
	v, ok := Get(m, 0)
	assert.That(t, ok && v == "again", "0 is %q, %v", v, ok)
	if k, v, evicted := Put(m, 3, "3"); !evicted || k != 0 || v != "again" {
		t.Errorf("evicted %d %q, %v", k, v, evicted)
	}
	if v, ok := Delete(m, 2); !ok || v != "2" {
		t.Errorf("deleted %q, %v", v, ok)
	}
	if _, ok := Delete(m, 2); ok {
		t.Error("deleted twice")
	}
	if _, ok := Get(m, 2); ok || Len(m) != 2 {
		t.Errorf("%d keys, 2 is there: %v", Len(m), ok)
	}
	if k, _, evicted := Put(m, 4, "4"); !evicted || k != 1 {
		t.Errorf("evicted %d, %v", k, evicted)
	}
	_, _, evicted := Put(m, 5, "5")
	assert.That(t, !evicted, "evicted a key for a free slot")
	assert.Equal(t, fmt.Sprint(keys(m)), "[3 4 5]", "keys")
}

// TestDeletedKeyComesBack: its old slot does not take the new one along.
func TestDeletedKeyComesBack(t *testing.T) {
	m := NewMap[int, string](2)
	Put(m, 1, "old")
	Delete(m, 1)
	Put(m, 1, "new")
	Put(m, 2, "2") // into the slot that 1 had first
	v, ok := Get(m, 1)
	assert.That(t, ok && v == "new", "1 is %q, %v", v, ok)
}

func TestMapIsBounded(t *testing.T) {
	m := NewMap[int, string](100)
	for k := range 1000 {
		Put(m, k, "")
		if k%3 == 0 {
			Delete(m, k-1)
		}
	}
	assert.That(t, Len(m) <= 100 && len(m.slots) == 100, "%d keys in %d slots", Len(m), len(m.slots))
	assert.Equal(t, testing.AllocsPerRun(1000, func() { Put(m, m.next+5000, "") }), 0, "allocations")
}

type item struct {
	name string
	Element[item]
}

func newItem(name string) *item {
	i := &item{name: name}
	i.Owner = i
	return i
}

// TestGetOrNew checks that a new key gets a zero value, once, and that the map stays
// bounded.
func TestGetOrNew(t *testing.T) {
	m := NewMap[int, *int](2)
	*GetOrNew(m, 1)++
	*GetOrNew(m, 1)++
	*GetOrNew(m, 2) = 5
	n := *GetOrNew(m, 1)
	assert.That(t, n == 2 && Len(m) == 2, "value %d, %d keys", n, Len(m))
	if n := *GetOrNew(m, 3); n != 0 || Len(m) != 2 {
		t.Errorf("value %d of a new key, %d keys", n, Len(m))
	}
	_, ok := Get(m, 1)
	assert.That(t, !ok, "the oldest key is still in the full map")
}

func TestQueue(t *testing.T) {
	var q, other Queue[item]
	a, b, c := newItem("a"), newItem("b"), newItem("c")
	for n, i := range []*item{a, b, c} {
		q.Push(&i.Element, int64(n))
	}
	if i := q.Overdue(2, 3, 3); i != nil {
		t.Errorf("%s is overdue", i.name)
	}
	assert.Equal(t, q.Overdue(3, 3, 3), a, "a is not overdue by age")
	assert.Equal(t, q.Overdue(0, 3, 2), a, "a is not overdue by number")
	b.Remove()
	b.Remove() // is in none
	other.Push(&a.Element, 9)
	assert.That(t, q.First() == c && q.Len() == 1 && other.First() == a && other.Len() == 1, "%d and %d elements", q.Len(), other.Len())
	c.Remove()
	assert.That(t, q.First() == nil && q.Len() == 0 && q.Overdue(9, 0, 0) == nil, "the queue is not empty")
	q.Push(&b.Element, 10)
	q.Push(&b.Element, 11) // to the end of the same queue
	assert.That(t, q.First() == b && q.Len() == 1 && b.Since == 11, "%d elements, since %d", q.Len(), b.Since)
}

// TestIndex compares with lists, newest first, while entries come and go.
func TestIndex(t *testing.T) {
	type owner struct{ entry Entry[owner] }
	var x Index[owner]
	lists := map[uint64][]*owner{}
	check := func(key uint64) {
		t.Helper()
		e := x.First(key)
		for i := len(lists[key]) - 1; i >= 0; i-- {
			if e == nil || e.Owner != lists[key][i] {
				t.Fatalf("key %d: entry %d of %d is wrong", key, i, len(lists[key]))
			}
			e = e.Next()
		}
		if e != nil {
			t.Fatalf("key %d has more than %d entries", key, len(lists[key]))
		}
	}
	check(1)
	random := rand.New(rand.NewPCG(1, 2))
	n := 0
	for range 10_000 {
		key := random.Uint64N(300) << 6
		if l := lists[key]; len(l) > 3 || len(l) > 0 && random.IntN(3) == 0 {
			i := random.IntN(len(l))
			x.Remove(&l[i].entry)
			lists[key] = slices.Delete(l, i, i+1)
			n--
		} else {
			o := new(owner)
			x.Add(&o.entry, key, o)
			lists[key] = append(l, o)
			n++
		}
		check(key)
		must.Equal(t, x.Len(), n, "entries")
	}
	for key := range lists {
		check(key)
	}
}
