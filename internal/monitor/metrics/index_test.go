package metrics

import (
	"math/rand/v2"
	"testing"
)

// TestIndex compares the table with a map over random additions and removals,
// with hashes that collide.
func TestIndex(t *testing.T) {
	type key struct{ n int }
	rnd := rand.New(rand.NewPCG(1, 2))
	hash := func(n int) uint64 { return uint64(n % 7 * 5) }
	var x index[key]
	want := make(map[int]*key)
	get := func(n int) *key { return x.find(hash(n), func(k *key) bool { return k.n == n }) }
	for range 20000 {
		n := rnd.IntN(60)
		if k := get(n); k != want[n] {
			t.Fatalf("entry of %d is %p, want %p", n, k, want[n])
		}
		if k := want[n]; k != nil {
			x.remove(hash(n), k)
			delete(want, n)
		} else {
			want[n] = &key{n}
			x.add(hash(n), want[n])
		}
		if x.n != len(want) {
			t.Fatalf("%d entries, want %d", x.n, len(want))
		}
	}
	x.clear()
	for n := range 60 {
		if get(n) != nil {
			t.Fatalf("entry %d after clear", n)
		}
	}
}
