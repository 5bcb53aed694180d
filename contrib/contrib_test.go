// Package contrib checks what other programs use lshark's metrics with: rules of
// Prometheus and a dashboard of Grafana. It consists of tests.
package contrib

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/trouble"
	"github.com/lshark/lshark/opcodes/schema"
)

// TestNameCheck checks that names that do not exist are found.
func TestNameCheck(t *testing.T) {
	refs, err := parsePromQL(`sum by (op, target) (rate(a_total{x="1}", y!~'b'}[5m] offset 1h)) / on (job) group_left (z) b > 1e3 unless -c`)
	want := `{[{a_total [{x = 1}} {y !~ b}]} {b []} {c []}] [op target job z]}`
	got := fmt.Sprint(refs)
	assert.That(t, err == nil && got == want, "%s, %v, want %s", got, err, want)
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
		assert.That(t, !ids[p.ID], "panel %q: number %d is used twice", p.Title, p.ID)
		ids[p.ID] = true
		g := p.GridPos
		assert.That(t, g.X >= 0 && g.X+g.W <= 24 && g.W >= 1 && g.H >= 1, "panel %q: position %+v", p.Title, g)
		for x := g.X; x < g.X+g.W; x++ {
			for y := g.Y; y < g.Y+g.H; y++ {
				assert.Equal(t, cells[[2]int{x, y}], "", "panel", p.Title, "overlaps")
				cells[[2]int{x, y}] = p.Title
			}
		}
		assert.That(t, p.Type == "row" || len(p.Targets) != 0, "panel %q has no query", p.Title)
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
		assert.Contains(t, string(page), "| `"+q.alert+"` | ", "README.md does not list", q.alert)
		fires := regexp.MustCompile(`alertname: ` + q.alert + `\n\s+eval_time: \S+\n\s+exp_alerts:\n`)
		assert.That(t, fires.Match(tests), "no test in %s lets %s fire", ruleTestsFile, q.alert)
	}
}

// TestLabelValues checks that the values by which series are selected exist, where
// the label has names of lshark or Lustre.
func TestLabelValues(t *testing.T) {
	known := map[string][]string{"severity": nil, "reason": append(trouble.SkipReasons(), "queue"), "error": {""}, "state": nil}
	for _, s := range diagnose.Severities() {
		known["severity"] = append(known["severity"], s.String())
	}
	for _, m := range track.MissingReasons() {
		known["reason"] = append(known["reason"], m.String())
	}
	for errno := range uint64(200) {
		known["error"] = append(known["error"], schema.Errnos.Name(errno))
	}
	for s := track.StateUnknown; s <= track.StateDisconnecting; s++ {
		known["state"] = append(known["state"], s.String())
	}
	d := readDashboard(t)
	checked := 0
	for _, q := range slices.Concat(readRules(t), d.queries(t)) {
		refs, err := parsePromQL(q.expr)
		must.NoError(t, err)
		for _, s := range refs.selectors {
			for _, m := range s.matchers {
				values, ok := known[m.label]
				if !ok {
					continue
				}
				for want := range strings.SplitSeq(m.value, "|") {
					checked++
					pattern, err := regexp.Compile("^(?:" + want + ")$")
					if err != nil {
						t.Errorf("%s: %v", q.place, err)
					} else if !slices.ContainsFunc(values, pattern.MatchString) {
						t.Errorf("%s: no %s is called %s", q.place, m.label, want)
					}
				}
			}
		}
	}
	assert.That(t, checked >= 20, "only %d values were checked", checked)
}

// selector is a metric in an expression, with the labels that it is selected by.
type selector struct {
	metric   string
	matchers []matcher
}

type matcher struct{ label, operator, value string }

// references are the names in an expression.
type references struct {
	selectors []selector
	grouping  []string // labels after by, without, on, ignoring, group_left, group_right
}

var promqlToken = regexp.MustCompile(`^(?:` +
	`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'` + // strings
	`|\[[^\]]*\]` + // ranges
	`|[0-9][0-9a-zA-Z.]*` + // numbers and durations
	`|[a-zA-Z_:][a-zA-Z0-9_:]*` +
	`|=~|!~|!=|==|>=|<=|[-+*/%^<>=(){},@])`)

var (
	groupingWords = []string{"by", "without", "on", "ignoring", "group_left", "group_right"}
	operatorWords = []string{"and", "or", "unless", "offset", "bool", "atan2", "start", "end", "inf", "nan"}
)

// parsePromQL returns the names in an expression. It knows as much of the
// language as that takes.
func parsePromQL(expr string) (references, error) {
	var tokens []string
	for rest := strings.TrimSpace(expr); rest != ""; rest = strings.TrimSpace(rest) {
		token := promqlToken.FindString(rest)
		if token == "" {
			return references{}, fmt.Errorf("unknown token at %q", rest)
		}
		tokens = append(tokens, token)
		rest = rest[len(token):]
	}
	at := func(i int) string {
		if i < len(tokens) {
			return tokens[i]
		}
		return ""
	}
	var refs references
	for i := 0; i < len(tokens); i++ {
		t := tokens[i]
		switch {
		case !isName(t):
		case slices.Contains(groupingWords, t):
			if at(i+1) != "(" {
				return refs, fmt.Errorf("%s without labels", t)
			}
			for i += 2; at(i) != ")"; i++ {
				if isName(at(i)) {
					refs.grouping = append(refs.grouping, at(i))
				} else if at(i) != "," {
					return refs, fmt.Errorf("%q among labels", at(i))
				}
			}
		case slices.Contains(operatorWords, t), at(i+1) == "(", slices.Contains(groupingWords, at(i+1)):
			// A word of the language, or a function or aggregation.
		default:
			s := selector{metric: t}
			if at(i+1) == "{" {
				for i += 2; at(i) != "}"; i++ {
					if at(i) == "," {
						continue
					}
					if !isName(at(i)) || len(at(i+2)) < 2 {
						return refs, fmt.Errorf("selector of %s at %q", t, at(i))
					}
					value := at(i + 2)
					s.matchers = append(s.matchers, matcher{at(i), at(i + 1), value[1 : len(value)-1]})
					i += 2
				}
			}
			refs.selectors = append(refs.selectors, s)
		}
	}
	return refs, nil
}

func isName(t string) bool {
	return t != "" && (t[0] == '_' || t[0] == ':' || t[0] >= 'a' && t[0] <= 'z' || t[0] >= 'A' && t[0] <= 'Z')
}

const (
	rulesFile     = "prometheus/lshark.rules.yml"
	ruleTestsFile = "prometheus/lshark.rules.test.yml"
	configFile    = "prometheus/prometheus.yml"
	dashboardFile = "grafana/lshark.json"
)

// query is an expression and where it stands.
type query struct {
	place  string
	group  string // of rules
	record string // name of the recorded metric
	alert  string
	expr   string
}

var ruleLine = regexp.MustCompile(`^(\s+)(- )?(name|record|alert|expr): *(.*)$`)

// readRules returns the expressions of the rules. It reads the layout that the
// file has: expr on the line, or indented below it.
func readRules(t *testing.T) []query {
	t.Helper()
	text := must.ReadFile(t, rulesFile)
	var list []query
	group := ""
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		m := ruleLine.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		indent, key, value := len(m[1])+len(m[2]), m[3], m[4]
		switch key {
		case "name":
			group = value
		case "record":
			list = append(list, query{place: value, group: group, record: value})
		case "alert":
			list = append(list, query{place: value, group: group, alert: value})
		case "expr":
			if value == "|" {
				value = ""
				for i+1 < len(lines) && strings.HasPrefix(lines[i+1], strings.Repeat(" ", indent+1)) {
					i++
					value += lines[i] + "\n"
				}
			}
			list[len(list)-1].expr = strings.TrimSpace(value)
		}
	}
	for _, q := range list {
		must.That(t, q.expr != "", "%s: no expression for %s", rulesFile, q.place)
	}
	return list
}

// dashboard is what the tests need of the dashboard.
type dashboard struct {
	Panels     []panel
	Templating struct {
		List []struct{ Name, Type, Definition string }
	}
	Annotations struct {
		List []struct{ Name, Expr string }
	}
}

type panel struct {
	ID      int
	Title   string
	Type    string
	GridPos struct{ X, Y, W, H int }
	Targets []struct{ RefID, Expr, LegendFormat string }
}

func readDashboard(t *testing.T) dashboard {
	t.Helper()
	text := must.ReadFile(t, dashboardFile)
	var d dashboard
	must.NoError(t, json.Unmarshal(text, &d))
	return d
}

// dashboardVariable replaces what Grafana replaces.
var dashboardVariable = strings.NewReplacer("$__rate_interval", "5m", "$__range", "1h", "$top", "10",
	"$job", ".*", "$instance", ".*", "$target", ".*", "$op", ".*")

var labelValues = regexp.MustCompile(`^label_values\((.*), (\w+)\)$`)

// queries returns the expressions of the dashboard with values for its variables.
func (d *dashboard) queries(t *testing.T) []query {
	t.Helper()
	var list []query
	for _, p := range d.Panels {
		for _, target := range p.Targets {
			list = append(list, query{place: fmt.Sprintf("panel %q %s", p.Title, target.RefID), expr: target.Expr})
		}
	}
	for _, v := range d.Templating.List {
		if v.Type != "query" {
			continue
		}
		m := labelValues.FindStringSubmatch(v.Definition)
		must.That(t, m != nil, "variable %s: %s", v.Name, v.Definition)
		list = append(list, query{place: "variable " + v.Name, expr: fmt.Sprintf("count by (%s) (%s)", m[2], m[1])})
	}
	for _, a := range d.Annotations.List {
		list = append(list, query{place: "annotation " + a.Name, expr: a.Expr})
	}
	for i := range list {
		list[i].expr = dashboardVariable.Replace(list[i].expr)
		if strings.Contains(list[i].expr, "$") {
			t.Errorf("%s: unknown variable in %s", list[i].place, list[i].expr)
		}
	}
	return list
}
