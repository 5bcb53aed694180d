package monitor

import (
	"context"
	"os"
	"time"

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

// sender sends the metrics to an OTLP receiver at each interval.
type sender struct {
	exporter *otlp.Exporter // nil: there is no receiver
	stop     chan struct{}  // ends sendMetrics
	stopped  chan struct{}  // closed when sendMetrics has ended
}

// start sends the metrics from now on.
func (x *sender) start(interval time.Duration, r *metrics.Registry) {
	if x.exporter == nil {
		return
	}
	x.stop, x.stopped = make(chan struct{}), make(chan struct{})
	go x.sendMetrics(interval, r)
}

// sendMetrics sends the metrics until stop is closed.
func (x *sender) sendMetrics(interval time.Duration, r *metrics.Registry) {
	defer close(x.stopped)
	t := time.NewTicker(interval)
	defer t.Stop()
	for {
		select {
		case <-x.stop:
			return
		case <-t.C:
			x.exporter.Metrics(r.Snapshot())
		}
	}
}

// close sends the metrics a last time, and what waits, for closeOTLP at most.
func (x *sender) close(r *metrics.Registry, say func(string, ...any)) {
	if x.exporter == nil {
		return
	}
	close(x.stop)
	<-x.stopped // an older snapshot must not follow the last one
	x.exporter.Metrics(r.Snapshot())
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
