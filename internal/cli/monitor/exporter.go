package monitor

import (
	"context"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/monitor"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/otlp"
)

// closeOTLP is how long what waits may take to be sent when the capture has ended, or the
// receiver was replaced.
const closeOTLP = 5 * time.Second

// hasReceiver reports whether metrics and spans are to be sent: to --otlp, or where the
// variables of OpenTelemetry say, but only what happens now.
func (c *command) hasReceiver() bool {
	return c.otlp.url != "" || c.in.Live() && otlp.Configured(c.sys.Env)
}

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
	if err := o.ApplyEnvironment(c.sys.Env); err != nil {
		return nil, usage(err)
	}
	e, err := otlp.New(o)
	if err != nil {
		return nil, usage(err)
	}
	return e, nil
}

// receiver is what makes an exporter differ from another one of the same process, whose
// environment stays.
type receiver struct{ url, headers string }

func (c *command) receiver() receiver {
	return receiver{c.otlp.url, strings.Join(c.otlp.headers, "\n")}
}

// exporter is the exporter in use, and those that were replaced and have not ended. One
// goroutine calls replace and close.
type exporter struct {
	receiver receiver
	interval time.Duration
	stop     chan struct{} // ends sendMetrics
	stopped  chan struct{} // closed when sendMetrics has ended

	mu     sync.Mutex     // guards what follows
	active *otlp.Exporter // nil: none
	old    []*otlp.Exporter
	ended  otlp.Stats // sum over the exporters that have ended
	ending sync.WaitGroup
}

// replace replaces the exporter by e, which is nil or not started, and sends metrics by it.
// An exporter to the same receiver stays, with the spans that wait in it, and takes the
// certificates of e. It never blocks.
func (x *exporter) replace(e *otlp.Exporter, to receiver, interval time.Duration, r *metrics.Registry) {
	same := x.active != nil && e != nil && x.receiver == to
	if same && x.active != e {
		x.active.Renew(e)
	}
	if same && x.interval == interval {
		return
	}
	x.receiver, x.interval = to, interval
	before := x.stopped
	if x.active != nil {
		close(x.stop)
	}
	if !same {
		x.setActive(e, before)
	}
	if x.active == nil {
		return
	}
	x.stop, x.stopped = make(chan struct{}), make(chan struct{})
	go x.send(x.active, r, interval, before, x.stop, x.stopped)
}

// setActive replaces the active exporter by e, and shuts it down when stopped is closed.
func (x *exporter) setActive(e *otlp.Exporter, stopped <-chan struct{}) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if old := x.active; old != nil {
		x.old = append(x.old, old)
		x.ending.Add(1)
		go func() {
			defer x.ending.Done()
			<-stopped
			x.shutdown(old)
		}()
	}
	if x.active = e; e != nil {
		e.Start()
	}
}

// send sends the metrics by e from the time when before is closed, which may be nil, until
// stop is closed, and then closes stopped: two of them never send at the same time.
func (*exporter) send(e *otlp.Exporter, r *metrics.Registry, interval time.Duration, before, stop <-chan struct{},
	stopped chan<- struct{}) {
	defer close(stopped)
	if before != nil {
		<-before
	}
	sendMetrics(e, interval, r, stop)
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

func (x *exporter) shutdown(e *otlp.Exporter) {
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

// close sends the metrics a last time, and what waits, for closeOTLP at most.
func (x *exporter) close(r *metrics.Registry, say func(string, ...any)) {
	defer x.ending.Wait() // they began earlier
	if x.active == nil {
		return
	}
	close(x.stop)
	<-x.stopped // an older snapshot must not follow the last one
	var s metrics.Snapshot
	r.Snapshot(&s)
	x.active.Metrics(&s)
	ctx, cancel := context.WithTimeout(context.Background(), closeOTLP)
	defer cancel()
	if err := x.active.Shutdown(ctx); err != nil {
		say("%v", err)
	}
}

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

func addSignal(sum, s *otlp.SignalStats) {
	sum.Sent += s.Sent
	sum.Refused += s.Refused
	sum.Dropped += s.Dropped
	sum.Waiting += s.Waiting
	sum.Requests += s.Requests
	sum.Failures += s.Failures
}
