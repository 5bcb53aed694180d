package otlp

import (
	"compress/gzip"
	"context"
	"fmt"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/lshark/lshark/internal/monitor/metrics"
)

// Exporter sends spans and metrics. Its methods may be called from any
// goroutine, and none but Shutdown waits for the network.
type Exporter struct {
	spans, points *sender
	client        *http.Client
	ctx           context.Context // of requests
	cancel        context.CancelFunc
	start         sync.Once

	mu      sync.Mutex // of what follows
	encoder metricEncoder
	newest  time.Time // of the snapshots so far
}

// SignalStats are counters of spans or data points.
// Accepted = Sent + Refused + Dropped + Waiting.
type SignalStats struct {
	Accepted     uint64 // passed to Span or Metrics
	Sent         uint64 // and accepted by the receiver
	Refused      uint64 // by the receiver
	Dropped      uint64 // the queue was full, a newer snapshot was there, or the time was up at the end
	Waiting      uint64
	WaitingBytes int

	Requests, Failures uint64 // requests, and those of them that are repeated
	SentBytes          uint64 // of all requests, as sent

	LastError string
}

// Stats are the counters of an Exporter.
type Stats struct {
	Spans, Points SignalStats
}

// maxBatch is the size at which spans are sent at once.
const maxBatch = 512 << 10

// New returns an Exporter, or an error that says what is wrong with c. It does
// not use the network; Start does.
func New(c Config) (*Exporter, error) {
	metricsURL, err := c.url(c.MetricsURL, "v1/metrics")
	if err != nil {
		return nil, err
	}
	tracesURL, err := c.url(c.TracesURL, "v1/traces")
	if err != nil {
		return nil, err
	}
	metricsHeader, err := c.header(c.Headers, c.MetricsHeaders)
	if err != nil {
		return nil, err
	}
	tracesHeader, err := c.header(c.Headers, c.TracesHeaders)
	if err != nil {
		return nil, err
	}
	client, err := c.client()
	if err != nil {
		return nil, err
	}
	if c.Timeout <= 0 {
		c.Timeout = DefaultTimeout
	}
	if c.Delay <= 0 {
		c.Delay = DefaultDelay
	}
	if c.QueueBytes <= 0 {
		c.QueueBytes = DefaultQueueBytes
	}
	if c.Log == nil {
		c.Log = func(string) {}
	}
	envelope := newEnvelope(&c.Resource)
	e := &Exporter{client: client}
	e.ctx, e.cancel = context.WithCancel(context.Background())
	e.spans = &sender{
		signal: tracesSignal, url: tracesURL, header: tracesHeader,
		queue: newQueue(&envelope, min(maxBatch, c.QueueBytes/4), c.QueueBytes, c.Delay),
	}
	e.points = &sender{
		signal: metricsSignal, url: metricsURL, header: metricsHeader,
		queue: newQueue(&envelope, 0, math.MaxInt, c.Delay),
	}
	for _, s := range []*sender{e.spans, e.points} {
		s.client, s.timeout, s.log, s.done = e.client, c.Timeout, c.Log, make(chan struct{})
		if c.Gzip {
			// The level is valid, so there is no error.
			s.gzip, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed)
		}
	}
	e.encoder = metricEncoder{
		names: &c.Names, explicit: c.ExplicitHistograms, limit: maxMetricsBytes,
		envelope: &envelope, take: e.points.queue.emptyBatch,
	}
	return e, nil
}

// Start begins to send.
func (e *Exporter) Start() {
	e.start.Do(func() {
		go e.spans.run(e.ctx)
		go e.points.run(e.ctx)
	})
}

// Span queues a span. If the queue is full, its oldest spans are dropped.
func (e *Exporter) Span(s *Span) { e.spans.queue.add(s) }

// Metrics encodes a snapshot and queues it in place of the one that is still
// waiting. Metrics are cumulative, so a receiver that was away has everything
// when it gets the newest. A snapshot that is older than an earlier one is ignored.
func (e *Exporter) Metrics(s *metrics.Snapshot) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s.Time.Before(e.newest) {
		return
	}
	e.newest = s.Time
	e.points.queue.replace(e.encoder.encode(s))
}

// Stats returns the counters.
func (e *Exporter) Stats() Stats {
	return Stats{Spans: e.spans.queue.read(), Points: e.points.queue.read()}
}

// Shutdown sends what is waiting, each batch once, and ends the Exporter. What
// is not sent when ctx ends is dropped, and an error says how much that is.
func (e *Exporter) Shutdown(ctx context.Context) error {
	e.Start()
	before := e.Stats()
	e.spans.queue.close()
	e.points.queue.close()
	stop := context.AfterFunc(ctx, e.cancel)
	defer stop()
	<-e.spans.done
	<-e.points.done
	e.cancel()
	e.client.CloseIdleConnections()
	after := e.Stats()
	lost := func(a, b SignalStats) uint64 { return a.Dropped + a.Refused - b.Dropped - b.Refused }
	spans, points := lost(after.Spans, before.Spans), lost(after.Points, before.Points)
	if spans+points == 0 {
		return nil
	}
	reason := after.Spans.LastError
	if spans == 0 {
		reason = after.Points.LastError
	}
	return fmt.Errorf("OTLP: %d spans and %d data points were not sent: %s", spans, points, reason)
}
