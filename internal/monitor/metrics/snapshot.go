package metrics

import (
	"slices"
	"strings"
	"time"
)

// A Snapshot is a copy of all values of a registry.
type Snapshot struct {
	Time     time.Time // when the copy was made
	Families []FamilySnapshot
}

// FamilySnapshot is a copy of a family.
type FamilySnapshot struct {
	Name   string // without _total
	Help   string
	Unit   string // "seconds", "bytes" or empty
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

	Value float64 // the sum of a HistogramType

	// Of a HistogramType: the number of observations, and the counts of classic
	// buckets, not cumulative, one for each of Bounds and one for what is above.
	Count   uint64
	Classic []uint64
	Native  Native

	labels string // as in the text formats
}

// Native has the native buckets of a histogram.
type Native struct {
	Schema        int
	ZeroThreshold float64
	ZeroCount     uint64
	// Offset is the number of the bucket that Counts begins with, as Prometheus
	// numbers them: bucket i has the values above base^(i-1) up to base^i, where
	// base is 2^(2^-Schema).
	Offset int
	Counts []uint64
}

// Snapshot copies all values. Those of a family belong to the same time; between
// families observations may continue.
func (r *Registry) Snapshot() *Snapshot {
	s := &Snapshot{Time: time.Now(), Families: make([]FamilySnapshot, len(r.families))}
	if r.collect != nil {
		r.mu.Lock()
		r.collect()
		r.mu.Unlock()
	}
	for i, f := range r.families {
		r.mu.Lock()
		s.Families[i] = f.snapshot()
		r.mu.Unlock()
	}
	return s
}

func (f *Family) snapshot() FamilySnapshot {
	s := FamilySnapshot{Name: f.Name, Help: f.Help, Type: f.Type, Bounds: f.Bounds,
		Points: make([]Point, len(f.order)), exposeCreated: f.hasTop() && f.Type != GaugeType}
	for _, unit := range []string{"seconds", "bytes"} {
		if strings.HasSuffix(f.Name, "_"+unit) {
			s.Unit = unit
		}
	}
	for _, l := range f.Labels {
		s.Labels = append(s.Labels, l.Name)
	}
	for i, x := range f.order {
		p := &s.Points[i]
		*p = Point{Values: x.values, Created: time.Unix(0, x.created), Value: x.value, labels: x.labels}
		if h := x.histogram; h != nil {
			p.Count, p.Classic = h.count, slices.Clone(h.classic)
			p.Native = Native{Schema: f.Schema, ZeroThreshold: zeroThreshold, ZeroCount: h.zero, Offset: h.first, Counts: slices.Clone(h.native)}
		}
	}
	return s
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
