package metrics

import (
	"fmt"
	"strings"
	"sync"
	"time"
)

// DefaultMaxSeries is the maximum number of series of a family that declares
// none.
const DefaultMaxSeries = 1000

// A Registry holds families of metrics. Families, rankings and OnCollect are to be
// declared before the first observation and the first snapshot.
type Registry struct {
	start    time.Time
	families []*family
	names    map[string]string // family by name of sample
	collect  []func()

	mu      sync.Mutex // guards what follows, and all values of all families
	now     int64      // time of the current batch of observations, in ns since the epoch
	elapsed int64      // from start to the current batch, in ns; by the monotonic clock where both have a reading of it
}

// New returns a registry without families. Its series began to count at start,
// except those that are added later.
func New(start time.Time) *Registry {
	return &Registry{
		start: start,
		names: make(map[string]string),
		now:   start.UnixNano(),
	}
}

// Begin begins a batch of observations at a time. It holds back snapshots until
// End, so a batch should not take longer than a millisecond. A time before that
// of an earlier batch counts as the latter.
func (r *Registry) Begin(now time.Time) {
	r.mu.Lock()
	r.elapsed, r.now = int64(now.Sub(r.start)), max(r.now, now.UnixNano())
}

// End ends a batch of observations.
func (r *Registry) End() { r.mu.Unlock() }

// OnCollect adds a function that runs before each snapshot, on the goroutine of
// the snapshot. It may observe values as between Begin and End, and is the place
// to set gauges.
func (r *Registry) OnCollect(f func()) { r.collect = append(r.collect, f) }

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
		n += f.bound()
	}
	return n
}

// Type is the type of a family.
type Type int

// The types of families. Both counters are counters for Prometheus.
const (
	CounterType Type = iota // counts events
	FloatCounterType
	GaugeType
	HistogramType
)

func (t Type) String() string {
	switch t {
	case CounterType, FloatCounterType:
		return "counter"
	case GaugeType:
		return "gauge"
	default:
		return "histogram"
	}
}

// suffixes returns what is appended to the name of a family in the names of its
// samples.
func (t Type) suffixes() []string {
	switch t {
	case CounterType, FloatCounterType:
		return []string{"_total", "_created"}
	case GaugeType:
		return nil
	default:
		return []string{"_bucket", "_count", "_sum", "_created"}
	}
}

// Desc describes a family.
type Desc struct {
	Name   string // without _total; ends in the unit, if there is one
	Help   string
	Unit   string // "seconds", "bytes" or another base unit, or empty
	Labels []Label
	// MaxSeries limits the series, DefaultMaxSeries if 0. Overflow series, in which
	// every label without Values is Other, are not counted.
	MaxSeries int
}

// Family has the series of a metric, of which each is handled as an S.
type Family[S ~struct{ series *series }] struct{ family }

// The families of each type.
type (
	Counters      = Family[Counter]
	FloatCounters = Family[FloatCounter] // counters with a fraction, such as of seconds
	Gauges        = Family[Gauge]
	Histograms    = Family[Histogram]
)

// Counter declares a family of counters. It panics if the description is invalid
// or the name is in use; so do the other methods that declare families.
func (r *Registry) Counter(d Desc) *Counters {
	c := new(Counters)
	r.declare(&c.family, d, CounterType, nil)
	return c
}

// FloatCounter declares a family of counters with a fraction.
func (r *Registry) FloatCounter(d Desc) *FloatCounters {
	c := new(FloatCounters)
	r.declare(&c.family, d, FloatCounterType, nil)
	return c
}

// Gauge declares a family of gauges.
func (r *Registry) Gauge(d Desc) *Gauges {
	g := new(Gauges)
	r.declare(&g.family, d, GaugeType, nil)
	return g
}

// Histogram declares a family of histograms.
func (r *Registry) Histogram(d Desc, b Buckets) *Histograms {
	h := new(Histograms)
	r.declare(&h.family, d, HistogramType, newLayout(b))
	return h
}

func (r *Registry) declare(f *family, d Desc, t Type, l *layout) {
	if problem := r.check(d, t); problem != "" {
		panic(fmt.Sprintf("metrics: %s: %s", d.Name, problem))
	}
	for _, suffix := range append(t.suffixes(), "") {
		r.names[d.Name+suffix] = d.Name
	}
	if d.MaxSeries == 0 {
		d.MaxSeries = DefaultMaxSeries
	}
	*f = family{registry: r, desc: d, kind: t, layout: l, maxRegular: d.MaxSeries, byKey: make(map[string]*series)}
	for i, l := range d.Labels {
		if l.Top != nil {
			l.Top.labels = append(l.Top.labels, topLabel{f, i})
		}
	}
	r.families = append(r.families, f)
}

// check returns what is wrong with a description, or "".
func (r *Registry) check(d Desc, t Type) string {
	switch {
	case !validName(d.Name, true):
		return "invalid name"
	case d.Help == "":
		return "no help"
	case d.Unit != "" && !strings.HasSuffix(d.Name, "_"+d.Unit):
		return "the name does not end in the unit"
	case len(d.Labels) > maxLabels:
		return "too many labels"
	case d.MaxSeries < 0:
		return "negative limit"
	}
	for _, suffix := range []string{"_total", "_created", "_bucket", "_count", "_sum", "_info"} {
		if strings.HasSuffix(d.Name, suffix) && !(suffix == "_info" && t == GaugeType) {
			return "the name ends in " + suffix
		}
	}
	for _, suffix := range append(t.suffixes(), "") {
		if other, used := r.names[d.Name+suffix]; used {
			return "the name conflicts with " + other
		}
	}
	for i, l := range d.Labels {
		switch {
		case !validName(l.Name, false) || l.Name == "le" || l.Name == "quantile":
			return "invalid label " + l.Name
		case l.Name == "job" || l.Name == "instance":
			return "label " + l.Name + " is one that Prometheus gives to targets, and would be renamed"
		case l.Values != nil && l.Top != nil:
			return "label " + l.Name + " has both given and top values"
		case l.Top != nil && l.Top.registry != r:
			return "label " + l.Name + " has top values of another registry"
		}
		for _, before := range d.Labels[:i] {
			if before.Name == l.Name {
				return "two labels " + l.Name
			}
		}
	}
	return ""
}
