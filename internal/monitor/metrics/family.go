package metrics

import (
	"slices"
	"strings"
	"time"
)

const maxLabels = 6

// Family has the series of a metric.
type Family struct {
	Desc
	registry  *Registry
	fractions []float64 // of the native buckets of histograms

	byKey map[string]*Series
	key   []byte    // of the series that was looked up last
	order []*Series // sorted by label values
}

// Series has the value of one combination of label values.
type Series struct {
	Values  []string  // of the labels, in their order; not to be changed
	Created time.Time // when it began to count from 0

	Value float64 // the sum of a HistogramType

	// Of a HistogramType: the number of observations, and the counts of classic
	// buckets, not cumulative, one for each of Bounds and one for what is above.
	Count   uint64
	Classic []uint64
	Native  Native

	family *Family
	labels string // as in the text formats
	key    string // in the map of the family
}

// Inc counts one event.
func (s *Series) Inc() { s.Value++ }

// Add adds x to a counter or gauge. A counter only grows.
func (s *Series) Add(x float64) { s.Value += x }

// Set sets a gauge, or a counter of what is counted elsewhere.
func (s *Series) Set(x float64) { s.Value = x }

// maxSeries returns the maximum number of series.
func (f *Family) maxSeries() int {
	all, overflow := 1, 1
	for _, l := range f.Labels {
		switch {
		case l.Values != nil:
			all *= len(l.Values) + 1
			overflow *= len(l.Values) + 1
		case l.Top != nil:
			all *= l.Top.size + 1
		}
	}
	if f.isOpen() {
		return f.MaxSeries + overflow
	}
	return all
}

// isOpen reports whether a label takes any value.
func (f *Family) isOpen() bool {
	return slices.ContainsFunc(f.Labels, func(l Label) bool { return l.Values == nil && l.Top == nil })
}

// hasTop reports whether series of the family come and go with their values.
func (d *Desc) hasTop() bool {
	return slices.ContainsFunc(d.Labels, func(l Label) bool { return l.Top != nil })
}

// Len returns the number of series. It is to be called between Begin and End.
func (f *Family) Len() int { return len(f.order) }

// Reset removes all series.
func (f *Family) Reset() {
	clear(f.order)
	f.order = f.order[:0]
	clear(f.byKey)
}

// With returns the series of label values, which are given in the order of the
// labels, and adds it if it does not exist. It is valid until the next call of
// Top.Count or Registry.End.
func (f *Family) With(values ...string) *Series {
	if s := f.lookup(values); s != nil {
		return s
	}
	var array [maxLabels]string
	known := array[:len(f.Labels)]
	for i, v := range values {
		l := &f.Labels[i]
		v = cleanValue(v)
		if l.Values != nil && !slices.Contains(l.Values, v) || l.Top != nil && !l.Top.has(v) {
			v = Other
		}
		known[i] = v
	}
	s := f.lookup(known)
	if s == nil && len(f.order) >= f.MaxSeries && f.isOpen() {
		for i, l := range f.Labels {
			if l.Values == nil {
				known[i] = Other
			}
		}
		s = f.lookup(known)
	}
	if s == nil {
		s = f.add(known)
	}
	return s
}

// lookup returns the series for label values, nil if it does not exist.
func (f *Family) lookup(values []string) *Series {
	const end = 0xff // is in no value of a series, which is UTF-8
	f.key = f.key[:0]
	for _, v := range values {
		f.key = append(append(f.key, v...), end)
	}
	return f.byKey[string(f.key)]
}

// add adds the series that was looked up last.
func (f *Family) add(values []string) *Series {
	s := &Series{family: f, Values: make([]string, len(values)), key: string(f.key), Created: time.Unix(0, f.registry.now)}
	for i, v := range values {
		s.Values[i] = strings.Clone(v)
	}
	s.labels = string(appendLabels(nil, f.Labels, s.Values))
	if f.Type == HistogramType {
		s.Classic = make([]uint64, len(f.Bounds)+1)
		s.Native = Native{Schema: f.Schema, ZeroThreshold: zeroThreshold}
	}
	f.byKey[s.key] = s
	at, _ := slices.BinarySearchFunc(f.order, s.Values, func(s *Series, values []string) int { return slices.Compare(s.Values, values) })
	f.order = slices.Insert(f.order, at, s)
	return s
}

func (f *Family) removeValue(label int, value string) {
	f.order = slices.DeleteFunc(f.order, func(s *Series) bool {
		if s.Values[label] != value {
			return false
		}
		delete(f.byKey, s.key)
		return true
	})
}
