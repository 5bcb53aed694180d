package track

import (
	"math"
	"math/bits"
	"slices"
)

// Distribution is a distribution of times or sizes. Up to maxExact values it is exact;
// beyond that, percentiles are within one percent. Its memory grows with the
// range of the values, not with their number.
type Distribution struct {
	N        int64
	Sum      int64 // at most math.MaxInt64
	Min, Max int64
	exact    []int64
	pages    []*page // nil: all values are in exact
}

// page counts the values of one power of two in steps of 1/128; the first two
// pages count the values below 256 one by one.
type page [pageSize]int64

const (
	maxExact = 128
	pageSize = 128
	pageBits = 7
)

// Add counts a value.
func (d *Distribution) Add(v int64) {
	v = max(v, 0)
	if d.N == 0 || v < d.Min {
		d.Min = v
	}
	d.Max = max(d.Max, v)
	d.N++
	d.Sum += min(v, math.MaxInt64-d.Sum)
	if d.pages == nil && len(d.exact) < maxExact {
		d.exact = append(d.exact, v)
		return
	}
	for _, old := range d.exact {
		d.count(old)
	}
	d.exact = nil
	d.count(v)
}

func (d *Distribution) count(v int64) {
	shift := max(0, bits.Len64(uint64(v))-pageBits-1)
	i := shift<<pageBits + int(v>>shift)
	n := i >> pageBits
	for len(d.pages) <= n {
		d.pages = append(d.pages, nil)
	}
	if d.pages[n] == nil {
		d.pages[n] = &page{}
	}
	d.pages[n][i%pageSize]++
}

// highest returns the highest value that is counted in an entry of page n.
func highest(n, entry int) int64 {
	if n == 0 {
		return int64(entry)
	}
	return int64(entry+pageSize+1)<<(n-1) - 1
}

// Quantile returns the smallest value v such that at least the fraction q of all
// values are not greater than v (nearest rank).
func (d *Distribution) Quantile(q float64) int64 {
	if d.N == 0 {
		return 0
	}
	rank := max(1, int64(math.Ceil(q*float64(d.N)-1e-9)))
	if d.pages == nil {
		slices.Sort(d.exact)
		return d.exact[rank-1]
	}
	for n, p := range d.pages {
		for entry := 0; p != nil && entry < pageSize; entry++ {
			if rank -= p[entry]; rank <= 0 {
				return min(max(highest(n, entry), d.Min), d.Max)
			}
		}
	}
	return d.Max
}

// Each calls f for each value, smallest first, with the number of its
// occurrences. Values are as precise as those of Quantile.
func (d *Distribution) Each(f func(v, n int64)) {
	slices.Sort(d.exact)
	for _, v := range d.exact {
		f(v, 1)
	}
	for n, p := range d.pages {
		for entry := 0; p != nil && entry < pageSize; entry++ {
			if p[entry] > 0 {
				f(min(max(highest(n, entry), d.Min), d.Max), p[entry])
			}
		}
	}
}
