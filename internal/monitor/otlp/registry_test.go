package otlp

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/monitor/metrics"
)

// What the registry of package metrics has counted arrives as it was.
func TestMetricsOfRegistry(t *testing.T) {
	const series = 3
	m := testEncoder(t, &Names{})
	text := readFields(t).decode("ExportMetricsServiceRequest", m.encode(seriesSnapshot(series))[0].body(), "")
	f := 0
	for _, block := range strings.Split(text, "data_points {") {
		var count, sum, zero uint64
		for _, line := range strings.Split(block, "\n") {
			line = strings.TrimSpace(line)
			var v uint64
			if n, _ := fmt.Sscanf(line, "count: %d", &v); n == 1 {
				count = v
			} else if n, _ := fmt.Sscanf(line, "bucket_counts: %d", &v); n == 1 {
				sum += v
			} else if n, _ := fmt.Sscanf(line, "zero_count: %d", &v); n == 1 {
				zero = v
			}
		}
		if count > 0 {
			f++
			if count != 1000 || sum+zero != count {
				t.Errorf("count %d, zero %d, buckets %d", count, zero, sum)
			}
		}
	}
	if f != series {
		t.Errorf("%d histograms", f)
	}
}

// OpenTelemetry defines bucket i as the values above base^i up to base^(i+1).
func TestExponentialBuckets(t *testing.T) {
	for _, schema := range []int{-4, -1, 0, 3, 8} {
		for _, v := range []float64{1e-6, 0.001, 0.5, 1, math.Nextafter(1, 2), 2.5, 4, 60, 7e8} {
			r := metrics.New(time.Unix(1700000000, 0))
			h := r.Histogram(metrics.Desc{Name: "lshark_seconds", Help: "Time.", Unit: "seconds"}, metrics.Buckets{Schema: schema})
			r.Begin(time.Unix(1700000001, 0))
			h.With().Observe(v)
			r.End()
			var s metrics.Snapshot
			r.Snapshot(&s)
			text := readFields(t).decode("ExportMetricsServiceRequest", testEncoder(t, &Names{}).encode(&s)[0].body(), "")
			var scale, offset int
			for line := range strings.Lines(text) {
				line = strings.TrimSpace(line)
				_, _ = fmt.Sscanf(line, "scale: %d", &scale)
				_, _ = fmt.Sscanf(line, "offset: %d", &offset)
			}
			low := math.Exp2(math.Ldexp(float64(offset), -scale))
			high := math.Exp2(math.Ldexp(float64(offset+1), -scale))
			if scale != schema || strings.Count(text, "bucket_counts: 1\n") != 1 || v <= low || v > high*(1+1e-15) {
				t.Errorf("schema %d: %v is in bucket %d of scale %d, above %v up to %v", schema, v, offset, scale, low, high)
			}
		}
	}
}
