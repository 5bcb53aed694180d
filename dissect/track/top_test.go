package track_test

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
)

// TestTop compares with all items sorted, and checks that each item is either in the list or
// dropped once.
func TestTop(t *testing.T) {
	type item struct{ value, number int64 }
	random := rand.New(rand.NewPCG(1, 2))
	for _, limit := range []int{0, 1, 2, 7, 100} {
		top := track.Top[item]{Limit: limit}
		var all []item
		dropped := 0
		for n := range int64(1000) {
			x := item{random.Int64N(50), n}
			all = append(all, x)
			if !top.Takes(x.value) {
				dropped++
			}
			top.Add(x.value, x, func(item) { dropped++ })
		}
		slices.SortStableFunc(all, func(a, b item) int { return cmp.Compare(b.value, a.value) })
		assert.Equal(t, fmt.Sprint(top.List()), fmt.Sprint(all[:limit]), "list")
		assert.Equal(t, dropped, len(all)-limit, "items that were dropped")
	}
}
