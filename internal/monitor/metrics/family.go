package metrics

import (
	"fmt"
	"hash/maphash"
	"math/bits"
	"slices"
	"strings"
)

const maxLabels = 6

type family struct {
	registry *Registry
	desc     Desc
	kind     Type
	layout   *layout // of histograms

	index      index[series]
	order      []*series // sorted by label values
	regular    int       // series that are not overflow series
	maxRegular int
}

type series struct {
	values   []string
	labels   string // as in the text formats
	hash     uint64
	created  int64 // in ns since the epoch
	overflow bool  // every label without Values is Other

	count uint64  // of counters and histograms
	value float64 // of float counters and gauges; the sum of a histogram
	buckets
}

// bound returns the maximum number of series.
func (f *family) bound() int {
	overflow, regular, ranked := 1, 1, true
	for _, l := range f.desc.Labels {
		switch {
		case l.Values != nil:
			overflow *= len(l.Values) + 1
			regular *= len(l.Values) + 1
		case l.Top != nil:
			regular *= l.Top.size + 1
		default:
			ranked = false
		}
	}
	if regular -= overflow; ranked && regular < f.maxRegular {
		return regular + overflow
	}
	return f.maxRegular + overflow
}

// Len returns the number of series. It is to be called between Begin and End.
func (f *family) Len() int { return len(f.order) }

// find returns the series for label values, and adds it if it does not exist.
func (f *family) find(values []string) *series {
	hash := f.hash(values)
	if s := f.lookup(hash, values); s != nil {
		return s
	}
	return f.findBounded(values)
}

func (f *family) hash(values []string) uint64 {
	if len(values) != len(f.desc.Labels) {
		panic(fmt.Sprintf("metrics: %s: %d label values for %d labels", f.desc.Name, len(values), len(f.desc.Labels)))
	}
	var h uint64
	for _, v := range values {
		h = bits.RotateLeft64(h, 23)*0x9E3779B97F4A7C15 ^ maphash.String(f.registry.seed, v)
	}
	return h
}

func (f *family) lookup(hash uint64, values []string) *series {
	return f.index.find(hash, func(s *series) bool { return slices.Equal(s.values, values) })
}

// findBounded returns the series for values after cleaning, restricting to Values
// and Top, and falling back to the overflow series when the family is full.
func (f *family) findBounded(values []string) *series {
	var array [maxLabels]string
	bounded := array[:len(values)]
	overflow := true
	for i, v := range values {
		l := &f.desc.Labels[i]
		v = cleanValue(v)
		switch {
		case l.Values != nil:
			if !slices.Contains(l.Values, v) {
				v = Other
			}
		case l.Top != nil && !l.Top.has(v):
			v = Other
		}
		bounded[i] = v
		overflow = overflow && (l.Values != nil || v == Other)
	}
	hash := f.hash(bounded)
	if s := f.lookup(hash, bounded); s != nil {
		return s
	}
	if overflow || f.regular < f.maxRegular {
		return f.add(hash, bounded, overflow)
	}
	for i := range bounded {
		if f.desc.Labels[i].Values == nil {
			bounded[i] = Other
		}
	}
	hash = f.hash(bounded)
	if s := f.lookup(hash, bounded); s != nil {
		return s
	}
	return f.add(hash, bounded, true)
}

func (f *family) add(hash uint64, values []string, overflow bool) *series {
	s := &series{values: make([]string, len(values)), hash: hash, created: f.registry.now, overflow: overflow}
	for i, v := range values {
		s.values[i] = strings.Clone(v)
	}
	s.labels = string(appendLabels(nil, f.desc.Labels, s.values))
	if f.layout != nil {
		s.buckets = buckets{layout: f.layout, classic: make([]uint64, len(f.layout.bounds)+1), schema: f.layout.schema}
	}
	f.index.add(hash, s)
	at, _ := slices.BinarySearchFunc(f.order, s.values, func(s *series, values []string) int { return slices.Compare(s.values, values) })
	f.order = slices.Insert(f.order, at, s)
	if !overflow {
		f.regular++
	}
	return s
}

func (f *family) removeValue(label int, value string) {
	f.order = slices.DeleteFunc(f.order, func(s *series) bool {
		if s.values[label] != value {
			return false
		}
		f.index.remove(s.hash, s)
		if !s.overflow {
			f.regular--
		}
		return true
	})
}

// hasTop reports whether series of the family come and go with their values.
func (f *family) hasTop() bool {
	return slices.ContainsFunc(f.desc.Labels, func(l Label) bool { return l.Top != nil })
}
