package metrics

import (
	"slices"
	"time"
)

// A Snapshot is a copy of all values of a registry. The zero value is ready for
// use; Registry.Snapshot reuses the memory of an earlier one.
type Snapshot struct {
	Start    time.Time // when the registry began to count
	Time     time.Time // when the copy was made
	Families []FamilySnapshot

	counts []uint64 // memory of Classic and Counts
}

// FamilySnapshot is a copy of a family.
type FamilySnapshot struct {
	Name   string // without _total
	Help   string
	Unit   string
	Type   Type
	Labels []string  // names
	Bounds []float64 // upper bounds of classic buckets, without +Inf
	Points []Point   // sorted by label values

	exposeCreated bool // series come and go
}

// Point is a copy of a series.
type Point struct {
	Values  []string  // of the labels, in their order; not to be changed
	Created time.Time // when it began to count from 0

	Count uint64  // of a CounterType, and the number of observations of a HistogramType
	Value float64 // of a FloatCounterType and a GaugeType, and the sum of a HistogramType

	// Classic has the counts of classic buckets, not cumulative: one for each
	// of Bounds, and one for what is above.
	Classic []uint64
	Native  Native

	labels string // as in the text formats
}

// Native has the native buckets of a histogram.
type Native struct {
	Schema        int // may be lower than the declared one
	ZeroThreshold float64
	ZeroCount     uint64
	// Offset is the number of the bucket that Counts begins with, as Prometheus
	// numbers them: bucket i has the values above base^(i-1) up to base^i, where
	// base is 2^(2^-Schema).
	Offset int
	Counts []uint64
}

// maxHold limits how long Snapshot holds the lock at a time, except while it
// copies a single family.
const maxHold = time.Millisecond

// Snapshot copies all values to s. The values of a family belong to the same
// time; between families observations may continue.
func (r *Registry) Snapshot(s *Snapshot) {
	s.Start, s.Time = r.start, time.Now()
	s.counts = s.counts[:0]
	s.Families = slices.Grow(s.Families[:0], len(r.families))[:len(r.families)]

	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range r.collect {
		f()
	}
	began := time.Now()
	for i, f := range r.families {
		if time.Since(began) > maxHold {
			r.mu.Unlock()
			r.mu.Lock()
			began = time.Now()
		}
		f.snapshot(&s.Families[i], s)
	}
}

func (f *family) snapshot(to *FamilySnapshot, s *Snapshot) {
	points, labels := to.Points[:0], to.Labels[:0]
	for _, l := range f.desc.Labels {
		labels = append(labels, l.Name)
	}
	*to = FamilySnapshot{
		Name: f.desc.Name, Help: f.desc.Help, Unit: f.desc.Unit, Type: f.kind,
		Labels: labels, exposeCreated: f.hasTop() && f.kind != GaugeType,
	}
	if f.layout != nil {
		to.Bounds = f.layout.bounds
	}
	for _, x := range f.order {
		points = append(points, Point{
			Values: x.values, Created: time.Unix(0, x.created), Count: x.count, Value: x.value, labels: x.labels,
		})
		if f.layout != nil {
			p := &points[len(points)-1]
			p.Classic = s.keep(x.classic)
			p.Native = Native{Schema: x.schema, ZeroThreshold: f.layout.zeroThreshold, ZeroCount: x.zero}
			if len(x.native) > 0 {
				low, high := x.used()
				p.Native.Offset = low
				p.Native.Counts = s.keep(x.native[low-x.first : high-x.first+1])
			}
		}
	}
	to.Points = points
}

func (s *Snapshot) keep(counts []uint64) []uint64 {
	n := len(s.counts)
	s.counts = append(s.counts, counts...)
	return s.counts[n:len(s.counts):len(s.counts)]
}

// Spans calls do for each run of buckets that are not empty, with the number of
// its first bucket.
func (n *Native) Spans(do func(first int, counts []uint64)) {
	for i := 0; i < len(n.Counts); {
		if n.Counts[i] == 0 {
			i++
			continue
		}
		end := i
		for end < len(n.Counts) && n.Counts[end] > 0 {
			end++
		}
		do(n.Offset+i, n.Counts[i:end])
		i = end
	}
}
