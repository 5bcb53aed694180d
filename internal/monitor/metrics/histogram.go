package metrics

import (
	"math"
	"sort"
)

// zeroThreshold is the upper bound of the zero bucket.
const zeroThreshold = 1e-9

type histogram struct {
	family  *Family
	count   uint64
	classic []uint64 // one more than bounds, not cumulative
	native  []uint64 // consecutive native buckets, the first and the last not empty
	first   int      // number of native[0]: bucket i has values above base^(i-1) up to base^i
	zero    uint64
}

// observe counts x, which is finite and not negative.
func (h *histogram) observe(x float64) {
	h.count++
	h.classic[sort.SearchFloat64s(h.family.Bounds, x)]++
	if x <= zeroThreshold {
		h.zero++
		return
	}
	i := h.family.nativeBucket(x)
	switch {
	case len(h.native) == 0:
		h.native, h.first = make([]uint64, 1), i
	case i < h.first:
		h.native, h.first = append(make([]uint64, h.first-i), h.native...), i
	case i-h.first >= len(h.native):
		h.native = append(h.native, make([]uint64, i-h.first+1-len(h.native))...)
	}
	h.native[i-h.first]++
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
