package metrics

import (
	"fmt"
	"slices"
	"strings"
)

const maxLabels = 6

type family struct {
	registry *Registry
	desc     Desc
	kind     Type
	layout   *layout // of histograms

	byKey      map[string]*series
	key        []byte    // of the series that was looked up last
	order      []*series // sorted by label values
	regular    int       // series that are not overflow series
	maxRegular int
}

type series struct {
	values   []string
	labels   string // as in the text formats
	key      string // in the map of the family
	created  int64  // in ns since the epoch
	overflow bool   // every label without Values is Other

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
	if len(values) != len(f.desc.Labels) {
		panic(fmt.Sprintf("metrics: %s: %d label values for %d labels", f.desc.Name, len(values), len(f.desc.Labels)))
	}
	if s := f.lookup(values); s != nil {
		return s
	}
	return f.findBounded(values)
}

// lookup returns the series for label values, nil if it does not exist.
func (f *family) lookup(values []string) *series {
	const end = 0xff // is in no value of a series, which is UTF-8
	f.key = f.key[:0]
	for _, v := range values {
		f.key = append(append(f.key, v...), end)
	}
	return f.byKey[string(f.key)]
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
	if s := f.lookup(bounded); s != nil {
		return s
	}
	if overflow || f.regular < f.maxRegular {
		return f.add(bounded, overflow)
	}
	for i := range bounded {
		if f.desc.Labels[i].Values == nil {
			bounded[i] = Other
		}
	}
	if s := f.lookup(bounded); s != nil {
		return s
	}
	return f.add(bounded, true)
}

// add adds the series that was looked up last.
func (f *family) add(values []string, overflow bool) *series {
	s := &series{values: make([]string, len(values)), key: string(f.key), created: f.registry.now, overflow: overflow}
	for i, v := range values {
		s.values[i] = strings.Clone(v)
	}
	s.labels = string(appendLabels(nil, f.desc.Labels, s.values))
	if f.layout != nil {
		s.buckets = buckets{layout: f.layout, classic: make([]uint64, len(f.layout.bounds)+1), schema: f.layout.schema}
	}
	f.byKey[s.key] = s
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
		delete(f.byKey, s.key)
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
