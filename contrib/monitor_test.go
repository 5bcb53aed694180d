package contrib

import (
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/monitor"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/monitor/metrics/page"
	"github.com/lshark/lshark/internal/must"
)

// families returns the metrics of lshark monitor, without values.
func families(t testing.TB) []metrics.FamilySnapshot {
	t.Helper()
	s := monitor.New(monitor.Options{Live: true, Top: 10}, time.Now()).Registry().Snapshot()
	must.That(t, len(s.Families) != 0, "the monitor has no metrics")
	return s.Families
}

// sampleNames returns the names under which Prometheus has a family. Native
// histograms have the name of the family.
func sampleNames(f *metrics.FamilySnapshot) []string {
	switch f.Type {
	case metrics.CounterType, metrics.FloatCounterType:
		return []string{f.Name + "_total"}
	case metrics.HistogramType:
		return []string{f.Name, f.Name + "_bucket", f.Name + "_count", f.Name + "_sum"}
	default:
		return []string{f.Name}
	}
}

// TestNames checks that all metrics and labels in the rules and the dashboard
// exist, and that no metric of lshark is missing in the dashboard.
func TestNames(t *testing.T) {
	labels := map[string][]string{ // by metric
		"up":     {"job", "instance"},
		"ALERTS": {"job", "instance", "alertname", "alertstate", "severity", "target"},
	}
	for _, f := range families(t) {
		for _, name := range sampleNames(&f) {
			labels[name] = []string{"job", "instance"}
			for _, l := range f.Labels {
				labels[name] = append(labels[name], l.Name)
			}
			if strings.HasSuffix(name, "_bucket") {
				labels[name] = append(labels[name], "le")
			}
		}
	}
	groups := make(map[string]string) // by recorded metric
	check := func(q query, used map[string]bool) {
		refs, err := parsePromQL(q.expr)
		if err != nil {
			t.Errorf("%s: %v", q.place, err)
			return
		}
		assert.That(t, len(refs.selectors) != 0, "%s: no metric in %s", q.place, q.expr)
		var all []string
		for _, s := range refs.selectors {
			known, ok := labels[s.metric]
			assert.That(t, ok, "%s: there is no metric %s", q.place, s.metric)
			for _, m := range s.matchers {
				assert.That(t, slices.Contains(known, m.label), "%s: %s has no label %s, only %v", q.place, s.metric, m.label, known)
			}
			group, recorded := groups[s.metric]
			assert.That(t, !recorded || group == q.group, "%s: %s is recorded in another group, at another time", q.place, s.metric)
			all = append(all, known...)
			used[s.metric] = true
		}
		for _, label := range refs.grouping {
			assert.That(t, slices.Contains(all, label), "%s: no metric in it has a label %s", q.place, label)
		}
		if q.record != "" {
			labels[q.record], groups[q.record] = all, q.group
		}
	}
	inRules, inDashboard := make(map[string]bool), make(map[string]bool)
	rules := readRules(t)
	for _, q := range rules {
		check(q, inRules)
	}
	d := readDashboard(t)
	for _, q := range d.queries(t) {
		check(q, inDashboard)
	}
	for _, q := range rules {
		assert.That(t, q.record == "" || inRules[q.record], "no alert uses %s", q.record)
	}
	for name := range inDashboard {
		assert.That(t, !strings.Contains(name, ":"), "the dashboard needs the recording rule %s", name)
	}
	// These are for other uses: a figure of the process, or part of another one.
	const elsewhere = " process_start_time_seconds process_open_fds go_goroutines lshark_findings_dropped_total lshark_severe_errors_total lshark_log_lines_total lshark_last_frame_timestamp_seconds" +
		" lshark_records_files_total lshark_records_pruned_files_total lshark_config_reloads_total lshark_config_last_reload_success_timestamp_seconds "
	for _, f := range families(t) {
		names := sampleNames(&f)
		used := slices.ContainsFunc(names, func(name string) bool { return inDashboard[name] })
		except := strings.Contains(elsewhere, " "+names[0]+" ")
		assert.That(t, used != except, "%s: in the dashboard %v, exempted %v", f.Name, used, except)
	}
}

// TestQueries runs every query of the rules and the dashboard in Prometheus, once
// with classic and once with native histograms. It scrapes a page with all metrics
// of the monitor and values that rise from scrape to scrape.
func TestQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	rules, err := filepath.Abs(rulesFile)
	must.NoError(t, err)
	for _, native := range []bool{false, true} {
		t.Run(fmt.Sprintf("native %v", native), func(t *testing.T) {
			t.Parallel()
			exporter := httptest.NewServer(page.Handler(risingValues(t)))
			t.Cleanup(exporter.Close)
			server := startPrometheus(t, fmt.Sprintf(`
global: {scrape_interval: 250ms, scrape_timeout: 250ms, evaluation_interval: 500ms}
rule_files: [%q]
scrape_configs:
- job_name: lshark
  static_configs:
  - targets: [%q]
`, rules, strings.TrimPrefix(exporter.URL, "http://")), native)
			server.poll("recorded rates", func() error {
				list, err := server.query("instance_op_target:lshark_rpcs:rate5m > 0")
				if err != nil || len(list) == 0 {
					return fmt.Errorf("%d series, %v", len(list), err)
				}
				return nil
			})
			d := readDashboard(t)
			for _, q := range slices.Concat(readRules(t), d.queries(t)) {
				list, err := server.query(q.expr)
				switch {
				case err != nil:
					t.Errorf("%s: %v", q.place, err)
				case q.alert != "" || q.record == "instance_op_target:lshark_rpc_latency_seconds:p99_usual1d" ||
					strings.Contains(q.expr, "ALERTS"):
					// Fires only under conditions, or needs a day: see the unit tests.
				case len(list) == 0:
					t.Errorf("%s has no result: %s", q.place, q.expr)
				case slices.ContainsFunc(list, func(s promSeries) bool { return math.IsInf(s.Value, 0) }):
					t.Errorf("%s is infinite: %v", q.place, list)
				}
			}
			checkRuleHealth(t, server.url)
		})
	}
}

// checkRuleHealth checks that Prometheus evaluates all rules without an error.
func checkRuleHealth(t *testing.T, url string) {
	t.Helper()
	resp := must.Value(http.Get(url + "/api/v1/rules"))(t)
	defer resp.Body.Close()
	var answer struct {
		Data struct {
			Groups []struct {
				Rules []struct{ Name, Health, LastError string }
			}
		}
	}
	must.NoError(t, json.NewDecoder(resp.Body).Decode(&answer))
	n := 0
	for _, g := range answer.Data.Groups {
		for _, r := range g.Rules {
			n++
			assert.That(t, r.Health != "err" && r.LastError == "", "rule %s: %s %s", r.Name, r.Health, r.LastError)
		}
	}
	assert.Equal(t, n, len(readRules(t)), "Prometheus rules")
}

// risingValues returns a registry with the metrics of the monitor, with series for
// a few values of each label. Counters and histograms rise with each scrape.
func risingValues(t *testing.T) *metrics.Registry {
	t.Helper()
	r := metrics.New(time.Now())
	var rise []func()
	for _, f := range families(t) {
		desc := metrics.Desc{Type: f.Type, Name: f.Name, Help: f.Help, Bounds: f.Bounds, Schema: 3}
		combinations := [][]string{nil}
		for _, label := range f.Labels {
			desc.Labels = append(desc.Labels, metrics.Label{Name: label.Name})
			var longer [][]string
			for _, c := range combinations {
				for _, v := range exampleValues(t, label.Name) {
					longer = append(longer, append(slices.Clip(c), v))
				}
			}
			combinations = longer
		}
		family := r.Family(desc)
		rise = append(rise, func() {
			each(combinations, func(v []string) {
				switch series := family.With(v...); f.Type {
				case metrics.CounterType:
					series.Add(3)
				case metrics.FloatCounterType:
					series.Add(0.5)
				case metrics.GaugeType:
					series.Set(2)
				case metrics.HistogramType:
					series.Observe(0.002)
					series.Observe(1.5)
				}
			})
		})
	}
	r.OnCollect(func() {
		for _, f := range rise {
			f()
		}
	})
	return r
}

func each(combinations [][]string, do func([]string)) {
	for _, c := range combinations {
		do(c)
	}
}

// exampleValues returns values of a label as the monitor has them.
func exampleValues(t *testing.T, label string) []string {
	t.Helper()
	values, ok := map[string][]string{
		"op":        {"OST_WRITE", "MDS_REINT"},
		"target":    {"lustre-OST0000", "lustre-MDT0000"},
		"error":     {"", "EIO", "ENOSPC", "EAGAIN"},
		"reason":    {"unanswered", "queue", "disk"},
		"folder":    {"lshark-trouble-oss1-20261127T192548Z-lock.stuck"},
		"side":      {"client", "server"},
		"kind":      {"client", "bulk", "retransmission"},
		"state":     {"FULL", "EVICTED", "DISCONN"},
		"cause":     {"silence", ""},
		"code":      {"lock.stuck"},
		"severity":  {"error"},
		"client":    {"192.0.2.1@tcp", "other"},
		"jobid":     {"cp.1000", "other"},
		"uid":       {"1000", "other"},
		"result":    {"sent", "success", "failure"},
		"signal":    {"spans"},
		"label":     {"client"},
		"version":   {"1.0"},
		"goversion": {"go1.26"},
	}[label]
	must.That(t, ok, "no example values of label %s", label)
	return values
}
