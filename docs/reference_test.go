// Package docs compares the pages that are made from tables with these. It
// consists of tests.
package docs

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/lshark/lshark/dissect/diagnose/rules"
	"github.com/lshark/lshark/dissect/track"
	_ "github.com/lshark/lshark/internal/cli" // declares kinds of records
	"github.com/lshark/lshark/internal/cli/reference"
	"github.com/lshark/lshark/internal/monitor"
	"github.com/lshark/lshark/internal/monitor/metrics"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/explain"
	"github.com/lshark/lshark/render/parquet/rows"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// TestReferencePages compares the pages that are made from tables with these.
func TestReferencePages(t *testing.T) {
	for page, want := range map[string][]byte{
		"operations.md": operationsPage(),
		"keys.md":       keysPage(),
		"findings.md":   findingsPage(),
		"columns.md":    columnsPage(),
	} {
		wiretest.Golden(t, page, string(want))
	}
}

const operationsHead = `# Operations

The operations of ptlrpc that lshark decodes, by opcode. ` + "`lshark explain NAME`" + ` shows the buffers of an operation, and the structs
in them field by field. This page is made from the tables in ` + "`opcodes/` by `UPDATE=1 go test ./docs`" + `.

| opcode | operation | meaning | variants |
|---|---|---|---|
`

func operationsPage() []byte {
	page := []byte(operationsHead)
	for _, r := range opcodes.Protocol.RPCs() {
		page = fmt.Appendf(page, "| %d | `%s` | %s | %s |\n", r.Opcode, r.Name, operationMeaning(r), operationVariants(r))
	}
	return page
}

func operationMeaning(r *schema.RPC) string {
	text := strings.ToUpper(r.Doc[:1]) + strings.TrimSuffix(r.Doc[1:], ".") + "."
	if r.Since != "" {
		text += " Since " + string(r.Since) + "."
	}
	if r.OneWay {
		text += " Has no reply."
	}
	if r.Retired && !strings.Contains(strings.ToLower(text), "no release") {
		text += " No release since 2.12 sends it."
	}
	return tableCell(text)
}

func operationVariants(r *schema.RPC) string {
	var names []string
	for _, v := range r.Variants {
		if v.Name != "" {
			names = append(names, tableCell(v.Name))
		}
	}
	return strings.Join(names, ", ")
}

// tableCell returns a text as it is written in a cell of a Markdown table.
func tableCell(text string) string { return strings.ReplaceAll(text, "|", `\|`) }

const columnsHead = `# Columns of Parquet files

The columns of the files that ` + "`-T parquet`" + ` writes, with their types as DuckDB names them. Files have the version of this schema
in their metadata, as ` + "`lshark.schema`" + `: %s. Within a schema version, columns are only added. [usage.md](usage.md#columns-for-databases) has examples.
` + "`lshark schema`" + ` prints the same, with ` + "`-T json`" + ` for programs and ` + "`-T sql` or `-T clickhouse`" + ` as statements that create tables. This page is made from the tables in
` + "`render/records/` by `UPDATE=1 go test ./docs`" + `.
`

func columnsPage() []byte {
	page := fmt.Appendf(nil, columnsHead, rows.SchemaVersion)
	for _, t := range reference.SchemaTables() {
		page = fmt.Appendf(page, "\n## %s\n\nWritten by `%s -T parquet`.\n\n| column | type | unit | key of JSON | meaning |\n|---|---|---|---|---|\n", t.Name, t.Command)
		for _, c := range t.Columns {
			page = fmt.Appendf(page, "| `%s` | %s | %s | `%s` | %s |\n", c.Name, tableCell(c.Type), c.Unit, c.Key, tableCell(c.Doc))
		}
	}
	return bytes.ReplaceAll(page, []byte(" `` "), []byte(" "))
}

const keysHead = `# Keys, codes and columns

The names that lshark gives to what it shows. Fields of the wire, such as ` + "`mbo_size`" + `, keep the names of Lustre's headers;
` + "`lshark fields`" + ` lists both kinds, and ` + "`lshark explain NAME`" + ` explains them. This page is made from the tables in
` + "`render/records/` by `UPDATE=1 go test ./docs`" + `.
`

// keySections are the sections of docs/keys.md: the names of one kind, with
// what the page says about them.
var keySections = []struct{ of, heading, intro string }{
	{"record", "Messages", "Keys of `lshark -T json`, `-T fields -e KEY` and `-Y`."},
	{"rpc", "RPCs", "Keys of `lshark rpcs -T json` and `-e`. In the filters of `rpcs` and `stats` they begin with `rpc.`."},
	{"stats row", "Statistics", "Keys of `lshark stats -T json`: one row, for one group and interval."},
	{"path", "Paths", "Keys of `lshark stats --by path -T json`: what one host sends to another, at one capture point."},
	{"import", "Connections", "Keys of `lshark imports -T json`."},
	{"import event", "Events of connections", "Keys of `lshark imports --timeline -T json`."},
	{"lock", "Locks", "Keys of `lshark locks -T json` and `-e`. In its filters they begin with `lock.`, which may be left out."},
	{"file", "Files", "Keys of `lshark files -T json` and `-e`. In its filters they begin with `file.`, which may be left out."},
	{"directory", "Directories", "Keys of `lshark files --by dir -T json`."},
	{"blocker", "Who kept others waiting", "Keys of `lshark locks --blockers -T json`."},
	{"finding", "Findings", "Keys of `lshark diagnose -T json` and `-e`. In its filters they begin with `finding.`, which may be left out."},
	{"change", "Changes", "Keys of `lshark diff -T json`: one row, for one group of RPCs."},
	{"connection change", "Changes of connections", "Keys of `lshark diff -T json`, in the objects that have a `kind`: one target."},
	{"client difference", "Two clients", "Keys of `lshark imports --compare A B -T json`: one target."},
	{"recovery", "Recovery", "Keys of `lshark recovery -T json` and `-e`. In its filters they begin with `recovery.`, which may be left out."},
	{"config entry", "Configuration", "Keys of `lshark config -T json` and `-e`: which of them an entry has depends on its `kind`. In its filters they begin with `config.`, which may be left out."},
	{"arrow", "Arrows of diagrams", "Keys of `lshark ladder -T json`: one message, bytes that were not captured, or a line of a log."},
	{"log line", "Lines of logs", "Keys of the objects in `log` of `lshark -T json --log`."},
	{"message", "Kinds of messages", "What a message is, in `kind`."},
	{"note", "Codes of notes", "What is unusual about a message, in `notes`."},
	{"event", "Codes of events", "What happened to a connection, in `events` and in `lshark imports --timeline`."},
	{"place", "Codes of places", "Where the cause of a finding may be, in `suspects` and `cleared`."},
	{"table of stats", "Columns of lshark stats", "Beside the keys that `--by` names, and `count`."},
	{"tsv of stats", "Columns of lshark stats -T tsv", "Beside those with the names of JSON keys."},
	{"table of paths", "Columns of lshark stats --by path", "Beside those with the names of JSON keys."},
	{"table of imports", "Columns of lshark imports", "Beside those with the names of JSON keys."},
	{"table of locks", "Columns of lshark locks", "Beside those with the names of JSON keys."},
	{"table of blockers", "Columns of lshark locks --blockers", "Beside those with the names of JSON keys."},
	{"table of diff", "Columns of lshark diff", "Beside the keys that `--by` names."},
	{"table of recovery", "Columns of lshark recovery", "Beside those with the names of JSON keys."},
	{"tables of config", "Columns of lshark config", "Beside those with the names of JSON keys."},
	{"table of files", "Columns of lshark files", "Beside those with the names of JSON keys."},
	{"table of directories", "Columns of lshark files --by dir", "Beside those with the names of JSON keys."},
	{"line of rpcs", "Words in the lines of lshark rpcs", "As in `bulk=4K`."},
	{"table of flags", "Columns of lshark -T flags", "One table for each flag word."},
}

func keysPage() []byte {
	page := []byte(keysHead)
	for _, section := range keySections {
		page = fmt.Appendf(page, "\n## %s\n\n%s\n", section.heading, section.intro)
		head := "\n| name | meaning |\n|---|---|\n"
		for _, e := range slices.Concat(records.All(), tables.Columns()) {
			if e.Of != section.of {
				continue
			}
			if e.Kind == records.KeyEntry {
				page = append(page, strings.Replace(head, "| meaning |\n|", "| type | without a value | meaning |\n|---|---|", 1)...)
				page = fmt.Appendf(page, "| `%s` | %s | %s | %s |\n", e.Path, e.TypeText(), keyAbsence(&e), tableCell(e.Doc))
			} else {
				page = append(page, head...)
				page = fmt.Appendf(page, "| `%s` | %s |\n", e.Path, tableCell(e.Doc))
			}
			head = ""
		}
	}
	return page
}

// keyAbsence returns what JSON has for a key without a value.
func keyAbsence(e *records.Entry) string {
	switch e.JSON {
	case records.Omit:
		return "left out"
	case records.Hidden:
		return "not in JSON, only in filters and `-e`"
	}
	if e.List {
		return "[]"
	}
	return "null"
}

const findingsHead = `# Findings

What ` + "`lshark diagnose`" + ` looks for: one rule for each code. ` + "`lshark explain CODE`" + ` prints the same. This page is made from the
rules in ` + "`dissect/diagnose/rules/` by `UPDATE=1 go test ./docs`" + `.

An error is something that an application or an administrator got as an error, or wrong data; a warning is something slow, or that may
become an error; a note is worth knowing. A rule never reports more than its severity.

As text, ` + "`lshark diagnose`" + ` begins with a line about the input: when it began by the wall clock (with ` + "`-t u`" + ` in UTC), how long it lasts, and whose RPCs
it has. It says where there are no errors and no warnings. Below it are the notes that nearly every capture has; ` + "`-v`" + ` shows them as the
other findings, and JSON always has them. In a live capture the line comes at the end.

Where the cause of a finding may be in several places, these are its *suspects*: nothing in the input excludes them. Below them is what is
excluded, each time with the message or the line of a log that proves it (three of them, all with ` + "`-v`" + `), and which capture or log would tell the
suspects apart. [keys](keys.md#codes-of-places) has the places.

With ` + "`-v`" + ` and in JSON a finding also says which of the thresholds below decided on it or on its severity, and what was measured. Rules
about waits, which are found by exclusion, have few.

For scripts, ` + "`--exit-code`" + ` ends with status 4 if there is an error, else with 5 if there is a warning. Only findings that ` + "`--only`, `--severity` and `-Y`" + ` choose
count: ` + "`-Y 'not code contains \"capture.\"'`" + ` leaves out what is about the capture itself. A failure, damaged input (3) and Ctrl-C (130) have their own statuses also then.
`

func findingsPage() []byte {
	page := []byte(findingsHead)
	subject := ""
	for _, r := range rules.All() {
		if before, _, _ := strings.Cut(r.Code, "."); before != subject {
			subject = before
			page = fmt.Appendf(page, "\n## %s\n", subject)
		}
		page = fmt.Appendf(page, "\n### %s\n\n**%s.** %s %s\n", r.Code, r.Severity, r.Summary, r.Meaning)
		if r.Limits != "" {
			page = fmt.Appendf(page, "\nLimits: %s\n", r.Limits)
		}
		page = fmt.Appendf(page, "\nNext: %s\n", r.Next)
		if len(r.Thresholds) == 0 {
			continue
		}
		page = append(page, "\n| threshold | value | reason |\n|---|---|---|\n"...)
		for _, t := range r.Thresholds {
			page = fmt.Appendf(page, "| %s | %s | %s |\n", t.Name, explain.ThresholdText(t), tableCell(t.Reason))
		}
	}
	return page
}

// TestKeySections checks that docs/keys.md has a section for every kind.
func TestKeySections(t *testing.T) {
	for _, e := range slices.Concat(records.All(), tables.Columns()) {
		if !slices.ContainsFunc(keySections, func(s struct{ of, heading, intro string }) bool { return s.of == e.Of }) {
			t.Errorf("docs/keys.md has no section for %s: add %q to keySections in docs/reference_test.go", e.Name, e.Of)
		}
	}
}

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
	want := bytes.Count(page, []byte("```sql\n"))
	must.That(t, len(queries) != 0 && len(queries) == want, "%d of %d blocks of SQL have a name and a result", len(queries), want)
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

const metricsHead = "| metric | type | labels | meaning |\n|---|---|---|---|\n"

// TestMetrics compares the table of metrics in monitor.md with the metrics that a monitor of
// a live capture has.
func TestMetrics(t *testing.T) {
	page := must.ReadFile(t, "monitor.md")
	text, _, ok := bytes.Cut(page, []byte(metricsHead))
	must.That(t, ok, "monitor.md has no table of metrics")
	m := monitor.New(monitor.Options{Live: true, Top: 20, Side: func(*track.RPC) string { return "" }}, time.Now())
	want := append(bytes.Clone(text), metricsHead...)
	for _, f := range m.Registry().Snapshot().Families {
		name, kind := f.Name, "gauge"
		switch f.Type {
		case metrics.CounterType, metrics.FloatCounterType:
			name, kind = name+"_total", "counter"
		case metrics.HistogramType:
			kind = "histogram"
		}
		var labels []string
		for _, l := range f.Labels {
			labels = append(labels, l.Name)
		}
		want = fmt.Appendf(want, "| `%s` | %s | %s | %s |\n", name, kind, strings.Join(labels, ", "), f.Help)
	}
	wiretest.Golden(t, "monitor.md", string(want))
}

// TestLibraryPage runs the program in library.md and compares what it prints.
func TestLibraryPage(t *testing.T) {
	if testing.Short() {
		t.Skip("under the race detector everything would be compiled again, without it")
	}
	page := must.ReadFile(t, "library.md")
	blocks := regexp.MustCompile("(?ms)^```(?:go|text)\n(.*?)^```").FindAllSubmatch(page, -1)
	must.Equal(t, len(blocks), 2, "blocks, want the program and what it")
	program := filepath.Join(t.TempDir(), "main.go")
	must.NoError(t, os.WriteFile(program, blocks[0][1], 0o600))
	cmd := exec.Command("go", "run", program, wiretest.Sample("mount"))
	cmd.Dir = wiretest.Repo(".")
	if got, err := cmd.CombinedOutput(); err != nil || string(got) != string(blocks[1][1]) {
		t.Errorf("the program prints, %v\n%s", err, got)
	}
}
