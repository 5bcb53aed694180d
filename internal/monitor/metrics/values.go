package metrics

// Counter counts the events of a series. It is valid until the next call of
// Top.Count or Registry.End.
type Counter struct{ series *series }

// With returns the counter of label values, which are given in the order of the
// labels.
func (c *Counters) With(values ...string) Counter { return Counter{c.find(values)} }

// Inc counts one event.
func (c Counter) Inc() { c.series.count++ }

// Add counts n events.
func (c Counter) Add(n uint64) { c.series.count += n }

// FloatCounter is a sum that only grows. It is valid until the next call of
// Top.Count or Registry.End.
type FloatCounter struct{ series *series }

// With returns the counter of label values, which are given in the order of the
// labels.
func (c *FloatCounters) With(values ...string) FloatCounter { return FloatCounter{c.find(values)} }

// Add adds x. It ignores what is negative or not finite.
func (c FloatCounter) Add(x float64) {
	if x > 0 && x <= maxFloat {
		c.series.value += x
	}
}

// Gauge is a value that goes up and down. It is valid until the next call of
// Top.Count or Registry.End.
type Gauge struct{ series *series }

// With returns the gauge of label values, which are given in the order of the
// labels.
func (g *Gauges) With(values ...string) Gauge { return Gauge{g.find(values)} }

// Set sets the value.
func (g Gauge) Set(x float64) { g.series.value = x }

// Add adds x to the value.
func (g Gauge) Add(x float64) { g.series.value += x }

// Reset removes all series.
func (g *Gauges) Reset() {
	clear(g.order)
	g.order = g.order[:0]
	g.index.clear()
	g.regular = 0
}

// Histogram counts values in buckets. It is valid until the next call of
// Top.Count or Registry.End.
type Histogram struct {
	series *series
	layout *layout
}

// With returns the histogram of label values, which are given in the order of
// the labels.
func (h *Histograms) With(values ...string) Histogram { return Histogram{h.find(values), &h.layout} }

// Observe counts a value. A value that is negative or not finite counts as 0.
func (h Histogram) Observe(x float64) {
	if !(x > 0 && x <= maxFloat) {
		x = 0
	}
	h.series.count++
	h.series.value += x
	h.series.observe(h.layout, x)
}
