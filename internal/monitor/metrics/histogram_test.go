package metrics

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
)

var testStart = time.Date(2026, 11, 22, 8, 0, 0, 0, time.UTC)

// TestNativeBucket checks bucket numbers against the bounds that they stand for.
func TestNativeBucket(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	for schema := range 9 {
		l := New(testStart).Family(Desc{Type: HistogramType, Schema: schema})
		n := Native{Schema: schema}
		for range 5000 {
			x := math.Exp2(rnd.Float64()*120 - 60)
			i := l.nativeBucket(x)
			low, high := n.Bound(i-1), n.Bound(i)
			must.That(t, x > low*(1-1e-12) && x <= high*(1+1e-12), "schema %d: %g in bucket %d: (%g, %g]", schema, x, i, low, high)
		}
		for e := -16; e <= 16; e++ { // powers of two are exact
			want := int(math.Ceil(float64(e) * math.Exp2(float64(schema))))
			assert.Equal(t, l.nativeBucket(math.Ldexp(1, e)), want, "schema", schema, "2^", e, "in bucket")
			if i := l.nativeBucket(math.Nextafter(math.Ldexp(1, e), 1e300)); i != int(math.Floor(float64(e)*math.Exp2(float64(schema))))+1 {
				t.Errorf("schema %d: above 2^%d in bucket %d", schema, e, i)
			}
		}
	}
}

// TestHistogram compares both kinds of buckets with counts over the list of all
// observations.
func TestHistogram(t *testing.T) {
	for _, tt := range []struct {
		name  string
		value func(*rand.Rand) float64
	}{
		{"latencies", func(r *rand.Rand) float64 { return math.Exp(r.NormFloat64()*1.2 - 7) }},
		{"wide", func(r *rand.Rand) float64 { return math.Exp2(r.Float64()*60 - 29) }},
		{"extremes", func(r *rand.Rand) float64 {
			return []float64{0, math.MaxFloat64, 1e-8, 1, 1e-300, -5, math.NaN(), math.Inf(1)}[r.IntN(8)]
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rnd := rand.New(rand.NewPCG(5, 6))
			r := New(testStart)
			bounds := []float64{0, 0.0005, 0.001, 0.01, 0.5, 1, 60}
			h := r.Family(Desc{Type: HistogramType, Name: "x", Help: "X.", Bounds: bounds, Schema: 3})
			var all []float64
			r.Begin(testStart)
			for range 30000 {
				x := tt.value(rnd)
				h.With().Observe(x)
				if !(x > 0) || math.IsInf(x, 0) {
					x = 0
				}
				all = append(all, x)
			}
			r.End()
			s := r.Snapshot()
			p := s.Families[0].Points[0]
			assert.Equal(t, p.Count, uint64(len(all)), "count")
			for i := range p.Classic {
				low, high := math.Inf(-1), math.Inf(1)
				if i > 0 {
					low = bounds[i-1]
				}
				if i < len(bounds) {
					high = bounds[i]
				}
				assert.Equal(t, p.Classic[i], countBetween(all, low, high), "classic bucket", low, high, "]")
			}
			assert.Equal(t, p.Native.Schema, 3, "schema")
			assert.Equal(t, p.Native.ZeroCount, countBetween(all, math.Inf(-1), 1e-9), "zero bucket")
			total := p.Native.ZeroCount
			for i, n := range p.Native.Counts {
				total += n
				low, high := p.Native.Bound(p.Native.Offset+i-1), p.Native.Bound(p.Native.Offset+i)
				assert.Equal(t, n, countBetween(all, max(low, 1e-9), high), "native bucket", low, high, "]")
			}
			assert.Equal(t, total, p.Count, "native buckets have")
		})
	}
}

func countBetween(all []float64, low, high float64) (n uint64) {
	for _, x := range all {
		if x > low && x <= high {
			n++
		}
	}
	return n
}

// TestQuantile compares quantiles of native buckets with those of the values.
func TestQuantile(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 8))
	r := New(testStart)
	h := r.Family(Desc{Type: HistogramType, Name: "x", Help: "X.", Schema: 3})
	all := make([]float64, 20001)
	r.Begin(testStart)
	for i := range all {
		all[i] = math.Exp(rnd.NormFloat64() - 7)
		h.With().Observe(all[i])
	}
	r.End()
	slices.Sort(all)
	s := r.Snapshot()
	n := &s.Families[0].Points[0].Native
	for _, q := range []float64{0.01, 0.5, 0.9, 0.99, 1} {
		got, want := quantile(n, q), all[int(q*20000)]
		assert.That(t, math.Abs(got-want) <= 0.09*want, "quantile %g is %g, want %g within a bucket", q, got, want)
	}
	if q := quantile(&Native{}, 0.5); !math.IsNaN(q) {
		t.Errorf("quantile of nothing is %g", q)
	}
}

// quantile returns the value that a share q of the observations does not exceed,
// interpolated linearly within its bucket. It is NaN if there are no
// observations.
func quantile(n *Native, q float64) float64 {
	total := n.ZeroCount
	for _, c := range n.Counts {
		total += c
	}
	if total == 0 {
		return math.NaN()
	}
	rank := q * float64(total)
	low, high, count := 0.0, n.ZeroThreshold, n.ZeroCount
	for i := 0; i < len(n.Counts) && float64(count) < rank; i++ {
		rank -= float64(count)
		low, high, count = n.Bound(n.Offset+i-1), n.Bound(n.Offset+i), n.Counts[i]
	}
	if count == 0 {
		return low
	}
	return low + (high-low)*min(1, rank/float64(count))
}

// Bound returns the upper bound of a native bucket.
func (n *Native) Bound(bucket int) float64 {
	return math.Exp2(math.Ldexp(float64(bucket), -n.Schema))
}
