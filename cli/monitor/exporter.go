package monitor

import (
	"context"
	"os"
	"sync"
	"time"

	"github.com/lshark/lshark/cli/flags"
	"github.com/lshark/lshark/metrics"
	"github.com/lshark/lshark/monitor"
	"github.com/lshark/lshark/otlp"
)

// closeOTLP is how long what waits may take to be sent when the capture has ended, or the
// receiver was replaced.
const closeOTLP = 5 * time.Second

// hasReceiver reports whether metrics and spans are to be sent: to --otlp, or where the
// variables of OpenTelemetry say, but only what happens now.
func (c *command) hasReceiver() bool {
	return c.otlp.url != "" || c.in.Live() && otlp.Configured(c.sys.Env)
}

// newExporter returns the exporter that the settings describe.
func (c *command) newExporter() (*otlp.Exporter, error) {
	host, err := os.Hostname()
	if err != nil {
		host = "unknown"
	}
	release := flags.Version()
	o := otlp.Config{Endpoint: c.otlp.url, Gzip: true, Names: monitor.Names(), UserAgent: "lshark/" + release,
		Log: func(message string) { c.sys.Say("%s", message) }}
	if o.Resource, err = otlp.NewResource("lshark", release, host, c.sys.Env); err != nil {
		return nil, usage(err)
	}
	for _, text := range c.otlp.headers {
		h, err := otlp.ParseHeader(text)
		if err != nil {
			return nil, usage(err)
		}
		o.Headers = append(o.Headers, h)
	}
	if err := o.Environment(c.sys.Env); err != nil {
		return nil, usage(err)
	}
	e, err := otlp.New(o)
	if err != nil {
		return nil, usage(err)
	}
	return e, nil
}

// exporter is the exporter in use, and those that were replaced and have not ended.
type exporter struct {
	mu     sync.Mutex
	active *otlp.Exporter // nil: none
	stop   chan struct{}  // ends the sending of metrics to active
	old    []*otlp.Exporter
	ended  otlp.Stats // of those that have ended
	ending sync.WaitGroup
}

// replace replaces the exporter and sends metrics by the new one.
func (x *exporter) replace(e *otlp.Exporter, interval time.Duration, r *metrics.Registry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if old := x.active; old != nil {
		close(x.stop)
		x.old = append(x.old, old)
		x.ending.Add(1)
		go func() {
			defer x.ending.Done()
			x.shut(old)
		}()
	}
	x.active = e
	if e == nil {
		return
	}
	e.Start()
	x.stop = make(chan struct{})
	go sendMetrics(e, interval, r, x.stop)
}

// sendMetrics sends the metrics until stop is closed.
func sendMetrics(e *otlp.Exporter, interval time.Duration, r *metrics.Registry, stop <-chan struct{}) {
	t := time.NewTicker(interval)
	defer t.Stop()
	var s metrics.Snapshot
	for {
		select {
		case <-stop:
			return
		case <-t.C:
			r.Snapshot(&s)
			e.Metrics(&s)
		}
	}
}

// shut ends an exporter that was replaced.
func (x *exporter) shut(e *otlp.Exporter) {
	ctx, cancel := context.WithTimeout(context.Background(), closeOTLP)
	defer cancel()
	e.Shutdown(ctx) // what is dropped is counted
	x.mu.Lock()
	defer x.mu.Unlock()
	s := e.Stats()
	addSignal(&x.ended.Spans, &s.Spans)
	addSignal(&x.ended.Points, &s.Points)
	for i := range x.old {
		if x.old[i] == e {
			x.old = append(x.old[:i], x.old[i+1:]...)
			return
		}
	}
}

// close sends the metrics a last time, and what waits.
func (x *exporter) close(r *metrics.Registry, say func(string, ...any)) {
	x.ending.Wait()
	if x.active == nil {
		return
	}
	close(x.stop)
	var s metrics.Snapshot
	r.Snapshot(&s)
	x.active.Metrics(&s)
	ctx, cancel := context.WithTimeout(context.Background(), closeOTLP)
	defer cancel()
	if err := x.active.Shutdown(ctx); err != nil {
		say("%v", err)
	}
}

// stats returns the sums over all exporters.
func (x *exporter) stats() otlp.Stats {
	x.mu.Lock()
	defer x.mu.Unlock()
	sum := x.ended
	for _, e := range append(x.old[:len(x.old):len(x.old)], x.active) {
		if e != nil {
			s := e.Stats()
			addSignal(&sum.Spans, &s.Spans)
			addSignal(&sum.Points, &s.Points)
		}
	}
	return sum
}

// addSignal adds the counters that are exposed.
func addSignal(sum, s *otlp.SignalStats) {
	sum.Sent += s.Sent
	sum.Refused += s.Refused
	sum.Dropped += s.Dropped
	sum.Waiting += s.Waiting
	sum.Requests += s.Requests
	sum.Failures += s.Failures
}
