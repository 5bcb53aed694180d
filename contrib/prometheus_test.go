package contrib

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/metrics/page"
	"github.com/lshark/lshark/internal/must"
)

// prometheus runs in a test: on loopback, with its data in a temporary folder.
type prometheus struct {
	url string
	t   testing.TB
}

// startPrometheus starts Prometheus with a configuration file, and with native histograms
// if asked to. The server ends with the test, which is skipped if Prometheus is
// not installed.
func startPrometheus(t testing.TB, config string, nativeHistograms bool) *prometheus {
	t.Helper()
	binary, err := exec.LookPath("prometheus")
	if err != nil {
		t.Skip("prometheus is not installed")
	}
	file := filepath.Join(t.TempDir(), "prometheus.yml")
	if err := os.WriteFile(file, []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	address := freeAddress(t)
	args := []string{"--config.file=" + file, "--storage.tsdb.path=" + t.TempDir(), "--web.listen-address=" + address, "--log.level=warn"}
	if nativeHistograms {
		args = append(args, "--enable-feature=native-histograms")
	}
	ctx, cancel := context.WithCancel(context.Background())
	cmd := exec.CommandContext(ctx, binary, args...)
	var log bytes.Buffer
	cmd.Stdout, cmd.Stderr = &log, &log
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // killed below, or its log is shown
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
		if t.Failed() {
			t.Logf("Prometheus: %s", log.Bytes())
		}
	})
	s := &prometheus{url: "http://" + address, t: t}
	s.poll("readiness of Prometheus", func() error {
		select {
		case <-ended:
			t.Fatalf("Prometheus ended: %s", log.Bytes())
		default:
		}
		resp, err := http.Get(s.url + "/-/ready")
		if err != nil {
			return err
		}
		defer resp.Body.Close()
		if resp.StatusCode != http.StatusOK {
			return fmt.Errorf("status %s", resp.Status)
		}
		return nil
	})
	return s
}

// freeAddress returns an address of loopback that no one listens on.
func freeAddress(t testing.TB) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// poll calls check every tenth of a second until it returns nil, and fails the
// test if it does not within 20 seconds.
func (s *prometheus) poll(what string, check func() error) {
	s.t.Helper()
	deadline := time.After(20 * time.Second)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := check()
		if err == nil {
			return
		}
		select {
		case <-deadline:
			s.t.Fatalf("%s: %v", what, err)
		case <-tick.C:
		}
	}
}

// promSeries is a series in the result of a query.
type promSeries struct {
	Labels map[string]string
	Value  float64
}

// query evaluates an expression now. The value of a native histogram is NaN.
func (s *prometheus) query(expression string) ([]promSeries, error) {
	resp, err := http.PostForm(s.url+"/api/v1/query", url.Values{"query": {expression}})
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	var answer struct {
		Status, Error string
		Data          struct {
			ResultType string
			Result     json.RawMessage
		}
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return nil, fmt.Errorf("%s: %s: %w", expression, resp.Status, err)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("%s: %s", expression, answer.Error)
	}
	if answer.Data.ResultType != "vector" {
		return nil, fmt.Errorf("%s: the result is a %s", expression, answer.Data.ResultType)
	}
	var vector []struct {
		Metric map[string]string
		Value  []any
	}
	if err := json.Unmarshal(answer.Data.Result, &vector); err != nil {
		return nil, fmt.Errorf("%s: %w", expression, err)
	}
	var list []promSeries
	for _, v := range vector {
		value := math.NaN()
		if len(v.Value) == 2 {
			if value, err = strconv.ParseFloat(fmt.Sprint(v.Value[1]), 64); err != nil {
				return nil, fmt.Errorf("%s: %w", expression, err)
			}
		}
		list = append(list, promSeries{v.Metric, value})
	}
	return list, nil
}

// TestScrape lets Prometheus scrape the metrics, with native histograms and
// without, and compares what it has with the snapshot.
func TestScrape(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	r := metrics.New(time.Now())
	labels := []metrics.Label{{Name: "op"}, {Name: "target"}}
	rpcs := r.Family(metrics.Desc{Type: metrics.CounterType, Name: "test_rpcs", Help: "RPCs.", Labels: labels})
	wait := r.Family(metrics.Desc{Type: metrics.FloatCounterType, Name: "test_wait_seconds", Help: "Time."})
	inFlight := r.Family(metrics.Desc{Type: metrics.GaugeType, Name: "test_in_flight", Help: "RPCs without reply."})
	latency := r.Family(metrics.Desc{Type: metrics.HistogramType, Name: "test_latency_seconds", Help: `Latency, "wire" \ node.`, Labels: labels,
		Bounds: []float64{0.001, 0.01, 0.1, 1, 10}, Schema: 3})
	r.Begin(time.Now())
	wait.With().Add(0.25)
	inFlight.With().Set(7)
	for i := range 10_000 {
		op, target := fmt.Sprint("op", i%7), fmt.Sprint("target", i%5)
		rpcs.With(op, target).Inc()
		latency.With(op, target).Observe(float64(1+i%1000) / 1000)
	}
	r.End()
	s := r.Snapshot()
	server := httptest.NewServer(page.Handler(r))
	t.Cleanup(server.Close)
	config := fmt.Sprintf("scrape_configs:\n- job_name: test\n  scrape_interval: 200ms\n  scrape_timeout: 200ms\n  static_configs:\n  - targets: [%q]\n",
		strings.TrimPrefix(server.URL, "http://"))

	for _, native := range []bool{false, true} {
		t.Run(fmt.Sprintf("native %v", native), func(t *testing.T) {
			t.Parallel()
			server := startPrometheus(t, config, native)
			query := func(expression string) map[string]float64 {
				t.Helper()
				list := must.Value(server.query(expression))(t)
				values := make(map[string]float64)
				for _, x := range list {
					var labels []string
					for _, name := range []string{"op", "target", "le"} {
						if v, ok := x.Labels[name]; ok {
							labels = append(labels, v)
						}
					}
					values[strings.Join(labels, " ")] = x.Value
				}
				return values
			}
			server.poll("first scrape", func() error {
				if up, err := server.query(`up{job="test"} == 1`); len(up) != 1 {
					return fmt.Errorf("%d targets are up, %v", len(up), err)
				}
				return nil
			})
			for _, f := range s.Families {
				got := make(map[string]map[string]float64) // by suffix
				switch f.Type {
				case metrics.CounterType, metrics.FloatCounterType:
					got["_total"] = query(f.Name + "_total")
				case metrics.GaugeType:
					got[""] = query(f.Name)
				case metrics.HistogramType:
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
					assert.Equal(t, len(values), n, f.Name, suffix, "series")
				}
				for i := range f.Points {
					p := &f.Points[i]
					want := map[string]float64{"_total": p.Value, "": p.Value, "_sum": p.Value, "_count": float64(p.Count)}
					want["p99"] = quantile(&p.Native, 0.99)
					key := strings.Join(p.Values, " ")
					for suffix, values := range got {
						if suffix == "_bucket" {
							sum := uint64(0)
							for k, n := range p.Classic {
								bound := "+Inf"
								if sum += n; k < len(f.Bounds) {
									bound = strconv.FormatFloat(f.Bounds[k], 'f', -1, 64)
									if !strings.Contains(bound, ".") {
										bound += ".0"
									}
								}
								assert.Equal(t, values[key+" "+bound], float64(sum), f.Name, "{", key, "le", bound, "}", sum)
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

// quantile returns the value that a share q of the observations does not exceed,
// interpolated linearly within its bucket. It is NaN if there are no
// observations.
func quantile(n *metrics.Native, q float64) float64 {
	bound := func(bucket int) float64 { return math.Exp2(math.Ldexp(float64(bucket), -n.Schema)) }
	total := n.ZeroCount
	for _, c := range n.Counts {
		total += c
	}
	if total == 0 {
		return math.NaN()
	}
	rank := q * float64(total)
	low, high, count := 0.0, n.ZeroThreshold, n.ZeroCount
	for i := 0; i < len(n.Counts) && float64(count) < rank; i++ {
		rank -= float64(count)
		low, high, count = bound(n.Offset+i-1), bound(n.Offset+i), n.Counts[i]
	}
	if count == 0 {
		return low
	}
	return low + (high-low)*min(1, rank/float64(count))
}
