package track

import (
	"math"
	"math/bits"
	"slices"
)

// Dist is a distribution of times or sizes. Up to keepRaw values it is exact;
// beyond that, percentiles are within one percent. What it takes depends on
// how far the values lie apart, not on how many there are.
type Dist struct {
	N        int64
	Sum      int64 // at most math.MaxInt64
	Min, Max int64
	raw      []int64
	pages    []*page // once raw is full
}

// page counts the values of one power of two in steps of 1/128; the first two
// pages have the values below 256, one by one.
type page [pageSize]int64

const (
	keepRaw  = 128
	pageSize = 128
	pageBits = 7
)

// Add counts a value.
func (d *Dist) Add(v int64) {
	v = max(v, 0)
	if d.N == 0 || v < d.Min {
		d.Min = v
	}
	d.Max = max(d.Max, v)
	d.N++
	d.Sum += min(v, math.MaxInt64-d.Sum)
	if d.pages == nil && len(d.raw) < keepRaw {
		d.raw = append(d.raw, v)
		return
	}
	for _, old := range d.raw {
		d.count(old)
	}
	d.raw = nil
	d.count(v)
}

func (d *Dist) count(v int64) {
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

// top is the greatest value that is counted in a place of a page.
func top(n, place int) int64 {
	if n == 0 {
		return int64(place)
	}
	return int64(place+pageSize+1)<<(n-1) - 1
}

// Quantile is the smallest value that at least the part q of all values do not
// exceed (nearest rank).
func (d *Dist) Quantile(q float64) int64 {
	if d.N == 0 {
		return 0
	}
	rank := max(1, int64(math.Ceil(q*float64(d.N)-1e-9)))
	if d.pages == nil {
		slices.Sort(d.raw)
		return d.raw[rank-1]
	}
	for n, p := range d.pages {
		for place := 0; p != nil && place < pageSize; place++ {
			if rank -= p[place]; rank <= 0 {
				return min(max(top(n, place), d.Min), d.Max)
			}
		}
	}
	return d.Max
}

// Mean is the average.
func (d *Dist) Mean() float64 {
	if d.N == 0 {
		return 0
	}
	return float64(d.Sum) / float64(d.N)
}

// Each calls f with values and how many there are of each, about: smallest
// first.
func (d *Dist) Each(f func(v, n int64)) {
	slices.Sort(d.raw)
	for _, v := range d.raw {
		f(v, 1)
	}
	for n, p := range d.pages {
		for place := 0; p != nil && place < pageSize; place++ {
			if p[place] > 0 {
				f(min(max(top(n, place), d.Min), d.Max), p[place])
			}
		}
	}
}
