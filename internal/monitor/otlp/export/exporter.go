package export

import (
	"context"
	"fmt"
	"time"

	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/otlp"
)

// Exporter sends spans and metrics. Its methods may be called from any
// goroutine, and none but Shutdown waits for the network.
type Exporter struct {
	spans, points *stream
	cancel        context.CancelFunc // of requests
	names         otlp.Names
	explicit      bool // histograms by their classic buckets

	ending, ended chan struct{} // of the goroutine of Start, which closes ended
}

// SignalStats are counters of spans or data points.
type SignalStats struct {
	Accepted uint64 // passed to Span or Metrics
	Sent     uint64 // and accepted by the receiver
	Refused  uint64 // by the receiver
	Dropped  uint64 // the queue was full, a newer snapshot was there, or the time was up at the end
	Waiting  uint64 // all others

	Requests, Failures uint64 // requests, and those of them that are repeated
	LastError          string
}

// Stats are the counters of an Exporter.
type Stats struct {
	Spans, Points SignalStats
}

// New returns an Exporter, or an error that says what is wrong with c. It uses the
// network when there is something to send.
func New(c Config) (*Exporter, error) {
	const explicit = "explicit_bucket_histogram"
	if _, err := c.choose("PROTOCOL", "http/protobuf"); err != nil {
		return nil, err
	}
	if _, err := c.choose("METRICS_TEMPORALITY_PREFERENCE", "cumulative"); err != nil {
		return nil, err
	}
	compression, err := c.choose("COMPRESSION", "none", "gzip")
	if err != nil {
		return nil, err
	}
	histograms, err := c.choose("METRICS_DEFAULT_HISTOGRAM_AGGREGATION", "base2_exponential_bucket_histogram", explicit)
	if err != nil {
		return nil, err
	}
	resource, err := c.resource()
	if err != nil {
		return nil, err
	}
	client, err := c.client()
	if err != nil {
		return nil, err
	}
	timeout, err := c.timeout()
	if err != nil {
		return nil, err
	}
	e := &Exporter{names: c.Names, explicit: histograms == explicit,
		spans:  &stream{name: "traces", items: "spans", full: maxBatch, limit: maxQueue - maxBatch},
		points: &stream{name: "metrics", items: "data points"}}
	for _, s := range []*stream{e.points, e.spans} {
		s.client, s.timeout, s.log, s.resource = client, timeout, c.Log, resource
		if s.url, err = c.url(s.name); err != nil {
			return nil, err
		}
		if s.header, err = c.headers(s.name, compression != "none"); err != nil {
			return nil, err
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	e.cancel = cancel
	e.spans.start(ctx)
	e.points.start(ctx)
	return e, nil
}

// Span queues a span. If the queue is full, its oldest spans are dropped.
func (e *Exporter) Span(s *otlp.Span) {
	e.spans.add(func(b *batch) {
		b.data = s.Append(b.data)
		b.items++
	})
}

// Metrics encodes a snapshot and queues it in place of the one that is still
// waiting. Metrics are cumulative, so a receiver that was away has everything
// when it gets the newest.
func (e *Exporter) Metrics(s *metrics.Snapshot) {
	data, points := e.names.Encode(s, e.explicit)
	e.points.add(func(b *batch) { *b = batch{data, points} })
}

// Start passes the metrics of a registry on at each interval, and once more at Shutdown.
func (e *Exporter) Start(interval time.Duration, r *metrics.Registry) {
	e.ending, e.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(e.ended)
		t := time.NewTicker(interval)
		defer t.Stop()
		for last := false; !last; {
			select {
			case <-e.ending:
				last = true
			case <-t.C:
			}
			e.Metrics(r.Snapshot())
		}
	}()
}

// Stats returns the counters.
func (e *Exporter) Stats() Stats {
	return Stats{Spans: e.spans.read(), Points: e.points.read()}
}

// Shutdown sends what is waiting, each batch once, and ends the Exporter. What
// is not sent when ctx ends is dropped, and an error says how much that is.
func (e *Exporter) Shutdown(ctx context.Context) error {
	if e.ending != nil {
		close(e.ending)
		<-e.ended
		e.ending = nil
	}
	before := e.Stats()
	e.spans.close()
	e.points.close()
	stop := context.AfterFunc(ctx, e.cancel)
	defer stop()
	<-e.spans.done
	<-e.points.done
	e.cancel()
	e.spans.client.CloseIdleConnections()
	after := e.Stats()
	lost := func(a, b SignalStats) uint64 { return a.Dropped + a.Refused - b.Dropped - b.Refused }
	spans, points := lost(after.Spans, before.Spans), lost(after.Points, before.Points)
	reason := after.Spans.LastError
	switch {
	case spans+points == 0:
		return nil
	case spans == 0:
		reason = after.Points.LastError
	}
	return fmt.Errorf("OTLP: %d spans and %d data points were not sent: %s", spans, points, reason)
}
