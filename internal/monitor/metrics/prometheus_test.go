package metrics

import (
	"fmt"
	"math"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/prometheustest"
)

// TestPrometheus lets Prometheus scrape the handler, with native histograms and
// without, and compares what it has with the snapshot.
func TestPrometheus(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r, _ := testRegistry(t)
	var s Snapshot
	r.Snapshot(&s)
	server := httptest.NewServer(NewHandler(r))
	t.Cleanup(server.Close)
	config := fmt.Sprintf("scrape_configs:\n- job_name: test\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n  static_configs:\n  - targets: [%q]\n",
		strings.TrimPrefix(server.URL, "http://"))

	for _, native := range []bool{false, true} {
		t.Run(fmt.Sprintf("native %v", native), func(t *testing.T) {
			t.Parallel()
			prometheus := prometheustest.Start(t, config, native)
			query := func(expression string) map[string]float64 {
				t.Helper()
				list, err := prometheus.Query(expression)
				must.NoError(t, err)
				values := make(map[string]float64)
				for _, x := range list {
					var labels []string
					for _, name := range []string{"op", "target", "client", "le"} {
						if v, ok := x.Labels[name]; ok {
							labels = append(labels, v)
						}
					}
					values[strings.Join(labels, " ")] = x.Value
				}
				return values
			}
			prometheus.Poll("first scrape", func() error {
				if up, err := prometheus.Query(`up{job="test"} == 1`); len(up) != 1 {
					return fmt.Errorf("%d targets are up, %v", len(up), err)
				}
				return nil
			})
			for _, f := range s.Families {
				got := make(map[string]map[string]float64) // by suffix
				switch f.Type {
				case CounterType, FloatCounterType:
					got["_total"] = query(f.Name + "_total")
				case GaugeType:
					got[""] = query(f.Name)
				case HistogramType:
					if native {
						got["_count"], got["_sum"] = query("histogram_count("+f.Name+")"), query("histogram_sum("+f.Name+")")
						got["p99"] = query("histogram_quantile(0.99," + f.Name + ")")
					} else {
						got["_count"], got["_sum"], got["_bucket"] = query(f.Name+"_count"), query(f.Name+"_sum"), query(f.Name+"_bucket")
					}
				}
				for suffix, values := range got {
					n := len(f.Points)
					if suffix == "_bucket" {
						n *= len(f.Bounds) + 1
					}
					if len(values) != n {
						t.Errorf("%s%s: %d series, want %d", f.Name, suffix, len(values), n)
					}
				}
				for i := range f.Points {
					p := &f.Points[i]
					want := map[string]float64{"_total": p.Value, "": p.Value, "_sum": p.Value, "_count": float64(p.Count)}
					if f.Type == CounterType {
						want["_total"] = float64(p.Count)
					}
					want["p99"] = quantile(&p.Native, 0.99)
					key := strings.Join(p.Values, " ")
					for suffix, values := range got {
						if suffix == "_bucket" {
							sum := uint64(0)
							for k, n := range p.Classic {
								bound := "+Inf"
								if sum += n; k < len(f.Bounds) {
									bound = string(appendBound(nil, f.Bounds[k], true))
								}
								if got := values[key+" "+bound]; got != float64(sum) {
									t.Errorf("%s{%s le=%s} is %g, want %d", f.Name, key, bound, got, sum)
								}
							}
							continue
						}
						if got, ok := values[key]; !ok || math.Abs(got-want[suffix]) > 1e-9*math.Abs(want[suffix]) {
							t.Errorf("%s%s{%s} is %g, want %g", f.Name, suffix, key, got, want[suffix])
						}
					}
				}
			}
		})
	}
}
