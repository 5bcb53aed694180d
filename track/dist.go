package track

import (
	"math"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Dist is a distribution of times or sizes. Up to keepRaw values it is exact;
// beyond that, percentiles are within one percent.
type Dist struct {
	N        int64
	Sum      int64
	Min, Max int64
	raw      []int64
	hist     *hdrhistogram.Histogram
}

const (
	keepRaw   = 128
	lowest    = 100 // values are told apart from here on, in nanoseconds
	highest   = int64(48 * time.Hour)
	precision = 2 // significant digits
)

// Add counts a value.
func (d *Dist) Add(v int64) {
	v = max(v, 0)
	if d.N == 0 || v < d.Min {
		d.Min = v
	}
	d.Max = max(d.Max, v)
	d.N++
	d.Sum += v
	if d.hist == nil && len(d.raw) < keepRaw {
		d.raw = append(d.raw, v)
		return
	}
	if d.hist == nil {
		d.hist = hdrhistogram.New(lowest, highest, precision)
		for _, old := range d.raw {
			d.record(old)
		}
		d.raw = nil
	}
	d.record(v)
}

// record cannot fail: the value is in the histogram's range.
func (d *Dist) record(v int64) {
	if err := d.hist.RecordValue(min(v, highest)); err != nil {
		panic(err)
	}
}

// Quantile is the smallest value that at least the part q of all values do not
// exceed (nearest rank).
func (d *Dist) Quantile(q float64) int64 {
	if d.N == 0 {
		return 0
	}
	rank := max(1, int64(math.Ceil(q*float64(d.N)-1e-9)))
	if d.hist == nil {
		slices.Sort(d.raw)
		return d.raw[rank-1]
	}
	v := d.hist.ValueAtPercentile(100 * float64(rank) / float64(d.N))
	return min(max(v, d.Min), d.Max)
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
	if d.hist == nil {
		slices.Sort(d.raw)
		for _, v := range d.raw {
			f(v, 1)
		}
		return
	}
	for _, b := range d.hist.Distribution() {
		if b.Count > 0 {
			f(min(max(b.To, d.Min), d.Max), b.Count)
		}
	}
}
