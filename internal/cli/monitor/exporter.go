package monitor

import (
	"context"
	"time"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/monitor"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/otlp"
)

// closeOTLP is how long what waits may take to be sent when the capture has ended.
const closeOTLP = 5 * time.Second

// hasReceiver reports whether metrics and spans are to be sent: to --otlp, or where the
// variables of OpenTelemetry say, but only what happens now.
func (c *command) hasReceiver() bool {
	return c.otlp.url != "" || c.in.Live() && otlp.Configured(c.sys.Env)
}

func (c *command) newExporter() (*otlp.Exporter, error) {
	e, err := otlp.New(otlp.Config{Endpoint: c.otlp.url, Headers: c.otlp.headers, Service: "lshark", Release: flags.Version(),
		Host: flags.HostName(), Names: monitor.Names(), Getenv: c.sys.Env, Log: func(message string) { c.sys.Say("%s", message) }})
	if err != nil {
		return nil, exit.UsageError{Err: err}
	}
	return e, nil
}

// sender sends the metrics to an OTLP receiver at each interval, and when it is closed.
type sender struct {
	exporter *otlp.Exporter // nil: there is no receiver
	closing  chan struct{}
	closed   chan struct{} // the last metrics are passed on
}

// start sends the metrics from now on.
func (x *sender) start(interval time.Duration, r *metrics.Registry) {
	if x.exporter == nil {
		return
	}
	x.closing, x.closed = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(x.closed)
		t := time.NewTicker(interval)
		defer t.Stop()
		for last := false; !last; {
			select {
			case <-x.closing:
				last = true
			case <-t.C:
			}
			x.exporter.Metrics(r.Snapshot())
		}
	}()
}

// close sends the metrics a last time, and what waits, for closeOTLP at most.
func (x *sender) close(say func(string, ...any)) {
	if x.exporter == nil {
		return
	}
	close(x.closing)
	<-x.closed
	ctx, cancel := context.WithTimeout(context.Background(), closeOTLP)
	defer cancel()
	if err := x.exporter.Shutdown(ctx); err != nil {
		say("%v", err)
	}
}

func (x *sender) stats() otlp.Stats {
	if x.exporter == nil {
		return otlp.Stats{}
	}
	return x.exporter.Stats()
}
