// Package contrib checks what other programs use lshark's metrics with: rules of
// Prometheus and a dashboard of Grafana. It consists of tests.
package contrib

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

// TestNameCheck checks that names that do not exist are found.
func TestNameCheck(t *testing.T) {
	refs, err := parsePromQL(`sum by (op, target) (rate(a_total{x="1}", y!~'b'}[5m] offset 1h)) / on (job) group_left (z) b > 1e3 unless -c`)
	want := `{[{a_total [{x = 1}} {y !~ b}]} {b []} {c []}] [op target job z]}`
	if got := fmt.Sprint(refs); err != nil || got != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
	for _, expr := range []string{"a ? b", "sum by a", `a{"x"}`} {
		if refs, err := parsePromQL(expr); err == nil {
			t.Errorf("%s: %v", expr, refs)
		}
	}
}

// TestDashboardLayout checks what Grafana would only show when the dashboard is
// opened: panels that overlap, doubled numbers, legends with unknown labels.
func TestDashboardLayout(t *testing.T) {
	d := readDashboard(t)
	cells := make(map[[2]int]string)
	ids := make(map[int]bool)
	legend := regexp.MustCompile(`\{\{(\w+)\}\}`)
	for _, p := range d.Panels {
		if ids[p.ID] {
			t.Errorf("panel %q: number %d is used twice", p.Title, p.ID)
		}
		ids[p.ID] = true
		g := p.GridPos
		if g.X < 0 || g.X+g.W > 24 || g.W < 1 || g.H < 1 {
			t.Errorf("panel %q: position %+v", p.Title, g)
		}
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				if other := cells[[2]int{x, y}]; other != "" {
					t.Errorf("panel %q overlaps %q", p.Title, other)
				}
				cells[[2]int{x, y}] = p.Title
			}
		}
		if p.Type != "row" && len(p.Targets) == 0 {
			t.Errorf("panel %q has no query", p.Title)
		}
		for _, target := range p.Targets {
			for _, m := range legend.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !regexp.MustCompile(`by \([^)]*\b` + m[1] + `\b`).MatchString(target.Expr) {
					t.Errorf("panel %q: the legend has %s, but no series of %s", p.Title, m[1], target.Expr)
				}
			}
		}
	}
}

// promtool runs promtool, or skips the test.
func promtool(t *testing.T, args ...string) {
	t.Helper()
	binary, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool is not installed")
	}
	if out, err := exec.Command(binary, args...).CombinedOutput(); err != nil {
		t.Errorf("promtool %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// TestPromtool checks syntax and runs the unit tests of the rules.
func TestPromtool(t *testing.T) {
	promtool(t, "check", "rules", rulesFile)
	promtool(t, "check", "config", configFile)
	promtool(t, "test", "rules", ruleTestsFile)

	// The queries of the dashboard as rules, for their syntax.
	d := readDashboard(t)
	text := []byte("groups:\n- name: dashboard\n  rules:\n")
	for i, q := range d.queries(t) {
		text = fmt.Appendf(text, "  # %s\n  - record: q%d\n    expr: %q\n", q.place, i, q.expr)
	}
	file := filepath.Join(t.TempDir(), "dashboard.yml")
	must.NoError(t, os.WriteFile(file, text, 0o644))
	promtool(t, "check", "rules", file)
}

// TestAlertsAreTested checks that the unit tests let each alert fire, and that the
// page lists it.
func TestAlertsAreTested(t *testing.T) {
	tests := must.ReadFile(t, ruleTestsFile)
	page := must.ReadFile(t, "README.md")
	for _, q := range readRules(t) {
		if q.alert == "" {
			continue
		}
		if !strings.Contains(string(page), "| `"+q.alert+"` | ") {
			t.Errorf("README.md does not list %s", q.alert)
		}
		fires := regexp.MustCompile(`alertname: ` + q.alert + `\n\s+eval_time: \S+\n\s+exp_alerts:\n`)
		if !fires.Match(tests) {
			t.Errorf("no test in %s lets %s fire", ruleTestsFile, q.alert)
		}
	}
}
