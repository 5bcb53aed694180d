package metrics

import (
	"math"
	"sort"
)

// zeroThreshold is the upper bound of the zero bucket.
const zeroThreshold = 1e-9

// Native has the native buckets of a histogram.
type Native struct {
	Schema        int
	ZeroThreshold float64
	ZeroCount     uint64
	// Offset is the number of the bucket that Counts begins with, as Prometheus
	// numbers them: bucket i has the values above base^(i-1) up to base^i, where
	// base is 2^(2^-Schema). The first bucket and the last are not empty.
	Offset int
	Counts []uint64
}

// Observe counts a value in a histogram. A value that is negative or not finite
// counts as 0.
func (s *Series) Observe(x float64) {
	if !(x > 0 && x <= math.MaxFloat64) {
		x = 0
	}
	s.Value += x
	s.Count++
	s.Classic[sort.SearchFloat64s(s.family.Bounds, x)]++
	n := &s.Native
	if x <= zeroThreshold {
		n.ZeroCount++
		return
	}
	i := s.family.nativeBucket(x)
	switch {
	case len(n.Counts) == 0:
		n.Counts, n.Offset = make([]uint64, 1), i
	case i < n.Offset:
		n.Counts, n.Offset = append(make([]uint64, n.Offset-i), n.Counts...), i
	case i-n.Offset >= len(n.Counts):
		n.Counts = append(n.Counts, make([]uint64, i-n.Offset+1-len(n.Counts))...)
	}
	n.Counts[i-n.Offset]++
}

// Spans calls do for each run of buckets that are not empty, with the number of
// its first bucket.
func (n *Native) Spans(do func(first int, counts []uint64)) {
	for i := 0; i < len(n.Counts); i++ {
		begin := i
		for i < len(n.Counts) && n.Counts[i] > 0 {
			i++
		}
		if i > begin {
			do(n.Offset+begin, n.Counts[begin:i])
		}
	}
}

// nativeFractions returns the bounds of the native buckets from 0.5 up to 1.
func nativeFractions(schema int) []float64 {
	fractions := make([]float64, 1<<schema)
	for i := range fractions {
		fractions[i] = math.Exp2(float64(i)/float64(len(fractions))) / 2
	}
	return fractions
}

// nativeBucket returns the number of the native bucket of x, which is positive.
func (f *Family) nativeBucket(x float64) int {
	fraction, exponent := math.Frexp(x)
	return sort.SearchFloat64s(f.fractions, fraction) + (exponent-1)*len(f.fractions)
}
