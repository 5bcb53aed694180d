package docs

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/monitor"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/must"
)

const metricsHead = "| metric | type | labels | meaning |\n|---|---|---|---|\n"

// TestMetrics compares the table of metrics in monitor.md with the metrics that a monitor of
// a live capture has.
func TestMetrics(t *testing.T) {
	page := must.ReadFile(t, "monitor.md")
	text, _, ok := bytes.Cut(page, []byte(metricsHead))
	if !ok {
		t.Fatal("monitor.md has no table of metrics")
	}
	m := monitor.New(monitor.Options{Live: true, Top: 20, Side: func(*track.RPC) string { return "" }}, time.Now())
	var s metrics.Snapshot
	m.Registry().Snapshot(&s)
	want := append(bytes.Clone(text), metricsHead...)
	for _, f := range s.Families {
		name, kind := f.Name, "gauge"
		switch f.Type {
		case metrics.CounterType, metrics.FloatCounterType:
			name, kind = name+"_total", "counter"
		case metrics.HistogramType:
			kind = "histogram"
		}
		want = fmt.Appendf(want, "| `%s` | %s | %s | %s |\n", name, kind, strings.Join(f.Labels, ", "), f.Help)
	}
	wiretest.Golden(t, "monitor.md", string(want))
}
