package metrics

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

// Buckets declares the buckets of a family of histograms: classic ones, which
// have fixed bounds, and native ones, which grow exponentially.
type Buckets struct {
	// Bounds are the upper bounds of the classic buckets, ascending and without
	// +Inf.
	Bounds []float64
	// Schema is the resolution of the native buckets, -4 to 8: each bucket is
	// 2^(2^-Schema) times as wide as the one before.
	Schema int
	// MaxBuckets is the maximum number of native buckets of a series that are
	// not empty, 160 if 0. Beyond it the resolution of the series is halved, as
	// often as necessary.
	MaxBuckets int
	// ZeroThreshold is the upper bound of the zero bucket, 1e-9 if 0.
	ZeroThreshold float64
}

const (
	minSchema = -4
	maxSchema = 8
	maxFloat  = math.MaxFloat64

	// maxWindow limits the memory of a series: a window may span
	// maxWindow*MaxBuckets buckets, empty ones included.
	maxWindow = 4
)

// layout is what the histograms of a family have in common.
type layout struct {
	bounds        []float64
	schema        int
	maxBuckets    int
	zeroThreshold float64
	fractions     []float64 // bounds of the native buckets between 0.5 and 1, for schemas above 0
}

func newLayout(b Buckets) *layout {
	if b.MaxBuckets == 0 {
		b.MaxBuckets = 160
	}
	if b.ZeroThreshold == 0 {
		b.ZeroThreshold = 1e-9
	}
	for i, bound := range b.Bounds {
		if !(bound >= 0 && bound <= maxFloat) || i > 0 && bound <= b.Bounds[i-1] {
			panic(fmt.Sprintf("metrics: bounds of buckets are negative or not ascending: %v", b.Bounds))
		}
	}
	if b.Schema < minSchema || b.Schema > maxSchema || b.MaxBuckets < 1 || !(b.ZeroThreshold >= 0x1p-1022) {
		panic(fmt.Sprintf("metrics: invalid native buckets: %+v", b))
	}
	l := &layout{bounds: slices.Clone(b.Bounds), schema: b.Schema, maxBuckets: b.MaxBuckets, zeroThreshold: b.ZeroThreshold}
	if b.Schema > 0 {
		l.fractions = make([]float64, 1<<b.Schema)
		for i := range l.fractions {
			l.fractions[i] = math.Exp2(float64(i)/float64(len(l.fractions))) / 2
		}
	}
	return l
}

type buckets struct {
	layout    *layout
	classic   []uint64 // one more than bounds, not cumulative
	native    []uint64 // a window of consecutive native buckets
	first     int      // number of native[0]: bucket i has values above base^(i-1) up to base^i
	schema    int      // of native
	populated int      // how many of native are not 0
	zero      uint64
}

// observe counts x, which is finite and not negative.
func (b *buckets) observe(x float64) {
	l := b.layout
	b.classic[sort.SearchFloat64s(l.bounds, x)]++

	if x <= l.zeroThreshold {
		b.zero++
		return
	}
	i := l.bucket(x)
	if drop := l.schema - b.schema; drop > 0 {
		i = (i-1)>>drop + 1
	}
	i -= b.first
	if uint(i) >= uint(len(b.native)) {
		i = b.widen(i + b.first)
	}
	if b.native[i]++; b.native[i] == 1 {
		b.populated++
		for b.populated > l.maxBuckets && b.schema > minSchema {
			b.halve()
		}
	}
}

// bucket returns the number of the native bucket of x, which is a positive and
// normal number, in the declared schema.
func (l *layout) bucket(x float64) int {
	bits := math.Float64bits(x)
	exponent := int(bits>>52) - 1022 // x is fraction * 2^exponent
	fraction := math.Float64frombits(bits&(1<<52-1) | 1022<<52)
	if l.schema > 0 {
		return sort.SearchFloat64s(l.fractions, fraction) + (exponent-1)*len(l.fractions)
	}
	if fraction == 0.5 { // a power of two is the upper bound of a bucket
		exponent--
	}
	return (exponent-1)>>-l.schema + 1
}

// widen extends the window to bucket i, and returns its index in the window. If
// the window would become too large, it halves the resolution first.
func (b *buckets) widen(i int) int {
	if len(b.native) == 0 {
		b.native = make([]uint64, 8)
		b.first = i - 4
		return 4
	}
	for {
		low, high := b.used()
		if max(high, i)-min(low, i) < maxWindow*b.layout.maxBuckets || b.schema == minSchema {
			break
		}
		b.halve()
		i = (i + 1) >> 1
	}
	if at := i - b.first; at >= 0 && at < len(b.native) {
		return at
	}
	low, high := b.used()
	low, high = min(low, i), max(high, i)
	const margin = 4
	wide := make([]uint64, high-low+1+2*margin)
	for k, n := range b.native {
		if n > 0 {
			wide[b.first+k-low+margin] = n
		}
	}
	b.native, b.first = wide, low-margin
	return i - b.first
}

// used returns the numbers of the first and the last bucket that are not empty.
// There is always one, as the window is made for a value.
func (b *buckets) used() (low, high int) {
	low, high = 0, len(b.native)-1
	for low < high && b.native[low] == 0 {
		low++
	}
	for high > low && b.native[high] == 0 {
		high--
	}
	return b.first + low, b.first + high
}

// halve halves the resolution: two neighboring buckets become one.
func (b *buckets) halve() {
	first := (b.first + 1) >> 1
	b.populated = 0
	for k, n := range b.native {
		b.native[k] = 0
		to := (b.first+k+1)>>1 - first // k, or before it and read already
		if n > 0 && b.native[to] == 0 {
			b.populated++
		}
		b.native[to] += n
	}
	b.first = first
	b.schema--
}
