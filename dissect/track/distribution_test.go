package track

import (
	"math"
	"math/rand"
	"runtime"
	"slices"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"
)

// TestQuantilesOfAnyValues compares with the sorted values.
func TestQuantilesOfAnyValues(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for _, most := range []float64{1, 10, 100, 255, 256, 300, 1e4, 1e9, 1e15, math.MaxInt64 / 2} {
		for _, n := range []int{1, 2, 100, maxExact, maxExact + 1, 5000} {
			var d Distribution
			var all []int64
			for range n {
				v := int64(math.Pow(most, random.Float64()))
				d.Add(v)
				all = append(all, v)
			}
			slices.Sort(all)
			for _, q := range []float64{0, .001, .5, .9, .99, 1} {
				want := all[max(1, int(math.Ceil(q*float64(n)-1e-9)))-1]
				if got := d.Quantile(q); got < want || float64(got) > float64(want)*1.01 {
					t.Fatalf("%d values up to %g: quantile %g is %d, not %d", n, most, q, got, want)
				}
			}
			total, last := int64(0), int64(-1)
			d.Each(func(v, n int64) {
				if total += n; v < last {
					t.Fatalf("%d behind %d", v, last)
				}
				last = v
			})
			if total != int64(n) || d.Min != all[0] || d.Max != all[n-1] {
				t.Fatalf("%d of %d values, %d to %d", total, n, d.Min, d.Max)
			}
		}
	}
	var d Distribution
	for range 2 * maxExact {
		d.Add(math.MaxInt64)
		d.Add(-1)
	}
	if d.Quantile(.5) != 0 || d.Quantile(.6) != math.MaxInt64 {
		t.Error(d.Quantile(.5), d.Quantile(.6))
	}
}

// TestSumOfGreatValues: invalid time stamps give no negative sum.
func TestSumOfGreatValues(t *testing.T) {
	var d Distribution
	for range 3 {
		d.Add(math.MaxInt64 / 2)
	}
	if d.Sum != math.MaxInt64 || d.Mean() < 0 {
		t.Error(d.Sum, d.Mean())
	}
	d.Add(1)
	if d.Sum != math.MaxInt64 {
		t.Error(d.Sum)
	}
}

// TestDistributionIsSmall has thousands of rows of an ordinary server: milliseconds,
// some seconds.
func TestDistributionIsSmall(t *testing.T) {
	const rows = 1000
	before := wiretest.Heap()
	list := make([]Distribution, rows)
	for i := range list {
		for k := range int64(1000) {
			list[i].Add(1e6 + k*10_000)
		}
	}
	if n := (wiretest.Heap() - before) / rows; n > 8<<10 {
		t.Error(n, "bytes each")
	}
	runtime.KeepAlive(list)
}
