package docs

import (
	"bytes"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/internal/cli/reference"
	"github.com/lshark/lshark/internal/must"
)

// fleetQuery is a query of fleet.md: a block of SQL that begins with "-- NAME: what it
// shows", and the block after it with its result.
var fleetQuery = regexp.MustCompile("(?s)```sql\n(-- ([a-z_]+): [^`]*)```\n\n```\n([^`]*)```\n")

// TestFleetColumns compares the names in the queries of fleet.md with the columns of the
// table that lshark schema -T clickhouse makes.
func TestFleetColumns(t *testing.T) {
	names := []string{"rpcs_all", "time", "frame"}
	for _, table := range reference.SchemaTables() {
		if table.Name == "rpcs" {
			for _, c := range table.Columns {
				names = append(names, c.Name)
			}
		}
	}
	page := must.ReadFile(t, "fleet.md")
	queries := fleetQuery.FindAllSubmatch(page, -1)
	if want := bytes.Count(page, []byte("```sql\n")); len(queries) == 0 || len(queries) != want {
		t.Fatalf("%d of %d blocks of SQL have a name and a result", len(queries), want)
	}
	word := regexp.MustCompile(`'[^']*'|--[^\n]*|\b[a-z_][A-Za-z0-9_]*\b\(?`)
	alias := regexp.MustCompile(`\b(?:AS|SETTINGS) ([a-z_0-9]+)`)
	for _, query := range queries {
		known := slices.Clone(names)
		for _, a := range alias.FindAllSubmatch(query[1], -1) {
			known = append(known, string(a[1]))
		}
		for _, w := range word.FindAllString(string(query[1]), -1) {
			if strings.HasPrefix(w, "'") || strings.HasPrefix(w, "--") || strings.HasSuffix(w, "(") {
				continue // text, comments and functions
			}
			if !slices.Contains(known, w) {
				t.Errorf("%s: %s is not a column", query[2], w)
			}
		}
	}
}

// TestFleetOnClickHouse runs internal/tools/bench/clickhouse and compares the results of the queries
// with those in fleet.md.
func TestFleetOnClickHouse(t *testing.T) {
	for _, program := range []string{"bash", "curl", "perl", "clickhouse-server"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skipf("%s is not installed (Debian: apt-get install clickhouse-server curl)", program)
		}
	}
	if testing.Short() {
		t.Skip("starts two servers")
	}
	cmd := exec.Command("../internal/tools/bench/clickhouse")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("internal/tools/bench/clickhouse: %v\n%s%s", err, out, stderr.Bytes())
	}
	results := map[string]string{}
	for _, part := range strings.Split(string(out), "\n-- ")[1:] {
		name, lines, _ := strings.Cut(part, "\n")
		lines, _, _ = strings.Cut(lines, "\n\n")
		results[name] = align(lines)
	}
	page := must.ReadFile(t, "fleet.md")
	fresh := fleetQuery.ReplaceAllFunc(page, func(block []byte) []byte {
		parts := fleetQuery.FindSubmatch(block)
		result, ok := results[string(parts[2])]
		if !ok {
			t.Errorf("internal/tools/bench/clickhouse did not run %s", parts[2])
		}
		return bytes.Replace(block, append([]byte("```\n\n```\n"), parts[3]...), []byte("```\n\n```\n"+result), 1)
	})
	wiretest.Golden(t, "fleet.md", string(fresh))
}

// align returns tab-separated lines as columns.
func align(text string) string {
	var out strings.Builder
	w := tabwriter.NewWriter(&out, 0, 0, 3, ' ', 0)
	w.Write([]byte(strings.TrimRight(text, "\n") + "\n"))
	w.Flush()
	lines := strings.Split(out.String(), "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
