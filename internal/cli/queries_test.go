package cli

import (
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/internal/cli/reference"
	"github.com/lshark/lshark/internal/cli/sql/sqltest"
	"github.com/lshark/lshark/internal/must"
)

const queriesPage = "docs/queries.md"

// querySection is a question of docs/queries.md.
var querySection = regexp.MustCompile("(?s)\n## (\\d+)\\. ([^\n]+\\?)\n\n(.+?)\n\n```sh\n(lshark sql -T table \"\n(.*?)\n\" [^\n]+)\n```\n\n```text\n(.*?)```\n")

func readQueries(t *testing.T) (page string, sections [][]string) {
	t.Helper()
	text := must.ReadFile(t, wiretest.Repo(queriesPage))
	sections = querySection.FindAllStringSubmatch(string(text), -1)
	if all := strings.Count(string(text), "\n## "); len(sections) != all || all != 20 {
		t.Fatalf("%s has %d sections, %d of them with question, answer, command and output", queriesPage, all, len(sections))
	}
	return string(text), sections
}

// TestQueries runs the queries of docs/queries.md and compares what they print.
func TestQueries(t *testing.T) {
	path := sqltest.Path(t)
	page, sections := readQueries(t)
	printed := make([]string, len(sections))
	t.Run("sections", func(t *testing.T) {
		for i, s := range sections {
			if !wiretest.All && !wiretest.Update() && i%5 > 0 {
				printed[i] = s[6]
				continue
			}
			t.Run(s[1], func(t *testing.T) {
				t.Parallel()
				cmd := exec.CommandContext(t.Context(), "sh", "-c", s[4])
				cmd.Dir, cmd.Env = wiretest.Repo("."), append(os.Environ(), "PATH="+path, "TZ=UTC")
				var errs strings.Builder
				cmd.Stderr = &errs
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%s: %v: %s", s[2], err, &errs)
				}
				if printed[i] = string(out); printed[i] != s[6] && !wiretest.Update() {
					t.Errorf("%s prints\n%s\nand the page says\n%s", s[2], out, s[6])
				}
			})
		}
	})
	fresh := page
	for i, s := range sections {
		section := strings.TrimSuffix(s[0], s[6]+"```\n") + printed[i] + "```\n"
		fresh = strings.Replace(fresh, s[0], section, 1)
	}
	if wiretest.Update() && fresh != page {
		must.NoError(t, os.WriteFile(wiretest.Repo(queriesPage), []byte(fresh), 0o644))
	}
}

// The words of SQL in docs/queries.md, and the columns of views that are not in tables.
var (
	sqlWords = strings.Fields(`select from where group by all order limit having as and or not null is in like desc last nulls
		case when then end left join using cross on between with over filter interval seconds int bigint ubigint date distinct`)
	viewColumns = strings.Fields(`op seconds parquet path clock_offset clock_of first_ns last_ns clock_difference node_time wire_time request_delay reply_delay
		client_capture server_capture captures slow errors by_op both_sides rpcs_by_capture`)
)

// TestQueryNames checks the page without DuckDB: numbers, tables and columns.
func TestQueryNames(t *testing.T) {
	t.Chdir(wiretest.Repo("."))
	names := slices.Concat(sqlWords, viewColumns)
	var tables []string
	for _, table := range reference.SchemaTables() {
		tables = append(tables, table.Name)
		for _, c := range table.Columns {
			names = append(names, c.Name)
		}
	}
	names = append(names, tables...)
	quoted := regexp.MustCompile(`'[^']*'`)
	alias := regexp.MustCompile(`(?:\bas|\bjoin captures|\bjoin server|\bjoin both_sides|\bfrom rpcs_by_capture|\bfrom locks) ([a-z_]\w*)`)
	with := regexp.MustCompile(`with (\w+) as`)
	subquery := regexp.MustCompile(`\) (\w)\b`)
	word := regexp.MustCompile(`\b[a-zA-Z_]\w*(\s*\()?`)
	_, sections := readQueries(t)
	for i, s := range sections {
		if s[1] != strconv.Itoa(i+1) {
			t.Errorf("question %s follows question %d", s[1], i)
		}
		query := quoted.ReplaceAllString(s[5], "")
		known := slices.Clone(names)
		for _, r := range []*regexp.Regexp{alias, with, subquery} {
			for _, m := range r.FindAllStringSubmatch(query, -1) {
				known = append(known, m[1])
			}
		}
		for _, w := range word.FindAllString(query, -1) {
			if !strings.HasSuffix(w, "(") && !slices.Contains(known, w) {
				t.Errorf("%s %s: %s is neither a column nor a word of SQL that this test knows", s[1], s[2], w)
			}
		}
		for _, file := range strings.Fields(s[4][strings.LastIndex(s[4], "\"")+1:]) {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		}
	}
}
