package metrics

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"
)

// DefaultMaxSeries is the maximum number of series of a family that declares
// none.
const DefaultMaxSeries = 1000

// A Registry holds families of metrics. Families and rankings are to be declared before other
// goroutines use it, or between Begin and End, also by the func of OnCollect.
type Registry struct {
	start   time.Time
	collect func() // nil: nothing

	mu       sync.Mutex // guards what follows, and all values of all families
	families []*Family
	now      int64         // time of the current batch of observations, in ns since the epoch
	elapsed  time.Duration // from start to the current batch; by the monotonic clock where both have a reading of it
}

// New returns a registry without families. Its series began to count at start,
// except those that are added later.
func New(start time.Time) *Registry {
	return &Registry{start: start, now: start.UnixNano()}
}

// Begin begins a batch of observations at a time. It holds back snapshots until
// End, so a batch should not take longer than a millisecond. A time before that
// of an earlier batch counts as the latter.
func (r *Registry) Begin(now time.Time) {
	r.mu.Lock()
	r.elapsed, r.now = now.Sub(r.start), max(r.now, now.UnixNano())
}

// End ends a batch of observations.
func (r *Registry) End() { r.mu.Unlock() }

// OnCollect sets the function that runs before each snapshot, on the goroutine of
// the snapshot. It may observe values as between Begin and End, and is the place
// to set what is counted elsewhere.
func (r *Registry) OnCollect(f func()) { r.collect = f }

// Series returns the number of series of all families. It is to be called
// between Begin and End.
func (r *Registry) Series() int {
	n := 0
	for _, f := range r.families {
		n += len(f.order)
	}
	return n
}

// MaxSeries returns how many series there can be in all families together.
func (r *Registry) MaxSeries() int {
	n := 0
	for _, f := range r.families {
		n += f.maxSeries()
	}
	return n
}

// Type is the type of a family.
type Type int

// The types of families. Both counters are counters for Prometheus.
const (
	CounterType      Type = iota // counts in whole numbers
	FloatCounterType             // with a fraction, such as of seconds
	GaugeType
	HistogramType
)

func (t Type) String() string {
	return [...]string{"counter", "counter", "gauge", "histogram"}[t]
}

// Desc describes a family.
type Desc struct {
	Type   Type
	Name   string // without _total; ends in the unit, if there is one, _seconds or _bytes
	Help   string
	Labels []Label

	// MaxSeries limits the series where a label takes any value, DefaultMaxSeries
	// if 0. Beyond it, every label without Values is Other in new series.
	MaxSeries int

	// Histograms have classic buckets with these upper bounds, ascending and
	// without +Inf, and native ones, which grow exponentially: each is 2^(2^-Schema)
	// times as wide as the one before.
	Bounds []float64
	Schema int // 0 to 8
}

// Family returns the family with the name in d. The first call with a name adds the family; later
// calls must give the same type and labels.
func (r *Registry) Family(d Desc) *Family {
	if i := slices.IndexFunc(r.families, func(f *Family) bool { return f.Name == d.Name }); i >= 0 {
		f := r.families[i]
		if f.Type != d.Type || !reflect.DeepEqual(f.Labels, d.Labels) {
			panic(fmt.Sprintf("metrics: %s is declared with another type or other labels", d.Name))
		}
		return f
	}
	d.MaxSeries = cmp.Or(d.MaxSeries, DefaultMaxSeries)
	f := &Family{Desc: d, registry: r, byKey: make(map[string]*Series)}
	if d.Type == HistogramType {
		f.fractions = nativeFractions(d.Schema)
	}
	for i, l := range d.Labels {
		if l.Top != nil {
			l.Top.labels = append(l.Top.labels, topLabel{f, i})
		}
	}
	r.families = append(r.families, f)
	return f
}
