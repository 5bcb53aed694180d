package contrib

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/must"
)

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
		if q.expr == "" {
			t.Fatalf("%s: no expression for %s", rulesFile, q.place)
		}
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
		if m == nil {
			t.Fatalf("variable %s: %s", v.Name, v.Definition)
		}
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
