package metrics

// With returns the series of label values, which are given in the order of the labels. It is
// valid until the next call of Top.Count or Registry.End.
func (f *Family[S]) With(values ...string) S { return S{f.find(values)} }

// Reset removes all series.
func (f *Family[S]) Reset() {
	clear(f.order)
	f.order = f.order[:0]
	clear(f.byKey)
	f.regular = 0
}

// Counter counts the events of a series.
type Counter struct{ series *series }

// Inc counts one event.
func (c Counter) Inc() { c.series.count++ }

// Add counts n events.
func (c Counter) Add(n uint64) { c.series.count += n }

// FloatCounter is a sum that only grows.
type FloatCounter struct{ series *series }

// Add adds x. It ignores what is negative or not finite.
func (c FloatCounter) Add(x float64) {
	if x > 0 && x <= maxFloat {
		c.series.value += x
	}
}

// Gauge is a value that goes up and down.
type Gauge struct{ series *series }

// Set sets the value.
func (g Gauge) Set(x float64) { g.series.value = x }

// Add adds x to the value.
func (g Gauge) Add(x float64) { g.series.value += x }

// Histogram counts values in buckets.
type Histogram struct{ series *series }

// Observe counts a value. A value that is negative or not finite counts as 0.
func (h Histogram) Observe(x float64) {
	if !(x > 0 && x <= maxFloat) {
		x = 0
	}
	h.series.count++
	h.series.value += x
	h.series.observe(x)
}
