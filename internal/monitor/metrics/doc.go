// Package metrics counts events in counters, gauges and histograms with labels,
// and exposes them to Prometheus.
//
// A [Registry] has families; a [Family] has a series for each combination of label
// values. Memory is bounded whatever the values are: a label can be restricted to
// given values or to those that a [Top] ranks highest, and a family with another
// label has at most [Desc.MaxSeries] series. Everything else counts under the label
// value [Other].
//
// Each event counts in exactly one series of a family. A value that becomes one
// of the top values gets a series that begins at 0; when it ceases to be one, its
// series is removed; what [Other] has counted remains there. So the rates of all
// series add up to the rate of all events, while the sum of the counters
// themselves falls when a series is removed. (Counts of a removed series since the
// last scrape are lost; they are few, since a low top value is removed.)
//
// One goroutine observes, between [Registry.Begin] and [Registry.End]. Any
// goroutine can copy the values with [Registry.Snapshot]. Observing a value in an existing series allocates nothing.
package metrics
