package metrics

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"time"
)

// A Top ranks the values of a label by how often they occur, in memory that does
// not depend on how many values there are. Counts decay: after a half-life an
// event counts half.
//
// The values are ranked anew four times in a half-life. A top value keeps its
// place unless another one is considerably more frequent, so values of similar
// frequency do not take turns. Where there are too many values to count, the
// rarer half of them is forgotten.
type Top struct {
	registry *Registry
	size     int
	halfLife time.Duration
	labels   []topLabel

	values     map[string]*topValue
	ranked     time.Duration // when the values were ranked, as Registry.elapsed
	promotions uint64
}

type topLabel struct {
	family *Family
	label  int
}

type topValue struct {
	name  string
	count float64
	isTop bool
}

// minCounted is the least number of values that are counted at a time.
const minCounted = 1024

// Top returns a ranking of the size most frequent values. Labels of several
// families can share it, and then have the same values.
func (r *Registry) Top(size int, halfLife time.Duration) *Top {
	return &Top{registry: r, size: size, halfLife: halfLife, values: make(map[string]*topValue), ranked: r.elapsed}
}

// Promotions returns how many values have become top values so far. It is to be
// called between Begin and End.
func (t *Top) Promotions() uint64 { return t.promotions }

// Count counts an event for a value. It is to be called once for each event,
// before the event is counted in families that have the value as a label: series
// of others may be removed here.
func (t *Top) Count(value string) {
	if t.registry.elapsed-t.ranked >= t.halfLife/4 {
		t.rank()
	}
	v := t.values[value]
	if v == nil {
		v = t.add(cleanValue(value))
	}
	v.count++
}

// add returns the entry of a value without invalid characters. There may be one: several raw
// values can become the same value.
func (t *Top) add(value string) *topValue {
	if v := t.values[value]; v != nil || value == Other { // Other is the series of all other values, and has no entry
		return cmp.Or(v, &topValue{})
	}
	if most := max(minCounted, 8*t.size); len(t.values) == most {
		for _, v := range t.sorted()[most/2:] {
			if !v.isTop {
				delete(t.values, v.name)
			}
		}
	}
	v := &topValue{name: strings.Clone(value)}
	if int(t.promotions) < t.size {
		t.promote(v)
	}
	t.values[v.name] = v
	return v
}

func (t *Top) promote(v *topValue) {
	v.isTop = true
	t.promotions++
}

func (t *Top) has(value string) bool {
	v := t.values[value]
	return v != nil && v.isTop
}

// sorted returns the values in the order in which they are to be top values.
func (t *Top) sorted() []*topValue {
	list := make([]*topValue, 0, len(t.values))
	for _, v := range t.values {
		list = append(list, v)
	}
	slices.SortFunc(list, func(a, b *topValue) int {
		return cmp.Or(cmp.Compare(b.claim(), a.claim()), cmp.Compare(a.name, b.name))
	})
	return list
}

// claim returns how frequent the value is: of a top value, how frequent another
// one must be to take its place, half as much again and more than what may be chance.
func (v *topValue) claim() float64 {
	if v.isTop {
		return 1.5*v.count + 2*math.Sqrt(v.count) + 2
	}
	return v.count
}

// rank multiplies the counts by the decay since the last call, and chooses the top values. The
// series of values that are no longer top values are removed.
func (t *Top) rank() {
	decay := math.Exp2(-float64(t.registry.elapsed-t.ranked) / float64(t.halfLife))
	t.ranked = t.registry.elapsed
	for i, v := range t.sorted() {
		v.count *= decay
		switch top := i < t.size; {
		case top && !v.isTop:
			t.promote(v)
		case !top && v.isTop:
			v.isTop = false
			for _, l := range t.labels {
				l.family.removeValue(l.label, v.name)
			}
		}
	}
}
