package cli

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/reference"
	"github.com/lshark/lshark/internal/cli/sql"
	"github.com/lshark/lshark/internal/cli/sql/sqltest"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

// query runs lshark sql with DuckDB and returns the rows.
func query[Row any](t *testing.T, path, text string, captures ...string) (rows []Row) {
	t.Helper()
	out := runLshark(t, path, append([]string{"sql", "-q", "-T", "json", text}, captures...)...)
	if err := json.Unmarshal(out, &rows); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return rows
}

// runLshark runs a command of lshark as a process, with a PATH, and returns its output.
func runLshark(t *testing.T, path string, args ...string) []byte {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "lshark", args...)
	cmd.Env = append(os.Environ(), "PATH="+path, "TZ=UTC")
	out, err := cmd.Output()
	if err != nil {
		var failed *exec.ExitError
		errors.As(err, &failed)
		t.Fatalf("%v: %v: %s", args, err, failed.Stderr)
	}
	return out
}

// seenSide is what a capture has seen of an RPC.
type seenSide struct {
	File           string
	Request, Reply int64 // frames
	Sent, Answered int64 // ns
}

// merged is an RPC that two captures have.
type merged struct {
	XID            string
	Client, Server seenSide
}

// mergedRPCs returns the RPCs that several of the captures have, as lshark rpcs shows them.
func mergedRPCs(t *testing.T, captures ...string) map[string]merged {
	t.Helper()
	out := succeeds(t, append([]string{"rpcs", "-T", "json"}, captures...)...)
	type point struct {
		File  string
		Frame int64
		Time  time.Time
	}
	list := make(map[string]merged)
	for line := range strings.Lines(out) {
		var r struct {
			XID       string
			Sightings []struct{ Request, Reply *point }
		}
		must.NoError(t, json.Unmarshal([]byte(line), &r))
		if len(r.Sightings) < 2 {
			continue
		}
		var sides []seenSide
		for _, s := range r.Sightings {
			var seen seenSide
			if s.Request != nil {
				seen = seenSide{File: s.Request.File, Request: s.Request.Frame, Sent: s.Request.Time.UnixNano()}
			}
			if s.Reply != nil {
				seen.File, seen.Reply, seen.Answered = s.Reply.File, s.Reply.Frame, s.Reply.Time.UnixNano()
			}
			sides = append(sides, seen)
		}
		slices.SortFunc(sides, func(a, b seenSide) int { return int(a.Sent - b.Sent) })
		list[fmt.Sprint(r.XID, sides[0].Request)] = merged{r.XID, sides[0], sides[len(sides)-1]}
	}
	return list
}

const bothSidesQuery = `select xid::varchar as xid, client_capture, server_capture, client_request_frame, client_reply_frame, server_request_frame, server_reply_frame,
	client_request_time_ns, client_reply_time_ns, server_request_time_ns, server_reply_time_ns, latency, node_time, wire_time,
	(select count(*) from rpcs) as rpcs from both_sides`

type bothSidesRow struct {
	XID            string `json:"xid"`
	ClientCapture  string `json:"client_capture"`
	ServerCapture  string `json:"server_capture"`
	ClientRequest  int64  `json:"client_request_frame"`
	ClientReply    int64  `json:"client_reply_frame"`
	ServerRequest  int64  `json:"server_request_frame"`
	ServerReply    int64  `json:"server_reply_frame"`
	ClientSent     int64  `json:"client_request_time_ns"`
	ClientAnswered int64  `json:"client_reply_time_ns"`
	ServerSent     int64  `json:"server_request_time_ns"`
	ServerAnswered int64  `json:"server_reply_time_ns"`
	Latency        int64  `json:"latency"`
	NodeTime       int64  `json:"node_time"`
	WireTime       int64  `json:"wire_time"`
	RPCs           int    `json:"rpcs"` // in all captures, each once
}

func (r *bothSidesRow) merged() merged {
	return merged{r.XID, seenSide{r.ClientCapture, r.ClientRequest, r.ClientReply, r.ClientSent, r.ClientAnswered},
		seenSide{r.ServerCapture, r.ServerRequest, r.ServerReply, r.ServerSent, r.ServerAnswered}}
}

// serverSide writes a capture as one near the server would have it, whose clock is ahead.
func serverSide(t *testing.T, path string, ahead time.Duration) string {
	t.Helper()
	const delay = 200 * time.Microsecond
	return rewritten(t, path, func(f *capture.Frame) {
		const ethernet, lnet = 14, 988
		to := ethernet + int(f.Data[ethernet]&15)*4 + 2
		f.Time += int64(ahead)
		if binary.BigEndian.Uint16(f.Data[to:]) == lnet {
			f.Time += int64(delay)
		} else {
			f.Time -= int64(delay)
		}
	})
}

// TestBothSides compares the view both_sides with lshark rpcs over both captures: with the captures, with a
// Parquet file of each, whose clocks only RPCs show, and with one Parquet file of both.
func TestBothSides(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	t.Parallel()
	path := sqltest.Path(t)
	const ahead = 185 * time.Millisecond
	samples := []string{"../../pcaps/mount.pcap", "../../pcaps/recovery.pcap.zst"}
	if !wiretest.All {
		samples = samples[:1]
	}
	for _, client := range samples {
		server := serverSide(t, client, ahead)
		want := mergedRPCs(t, client, server)
		must.That(t, len(want) >= 20, "%s: %d RPCs are in both captures", client, len(want))
		rpcs := strings.Count(succeeds(t, "rpcs", "-T", "json", client), "\n")
		got := func(captures ...string) map[string]merged {
			list := make(map[string]merged)
			for _, r := range query[bothSidesRow](t, path, bothSidesQuery, captures...) {
				m := r.merged()
				list[fmt.Sprint(m.XID, m.Client.Request)] = m
				if r.Latency != r.ClientAnswered-r.ClientSent || r.WireTime != r.Latency-r.NodeTime {
					t.Errorf("%s: latency %d, %d of it on the wire", r.XID, r.Latency, r.WireTime)
				}
				must.Equal(t, r.RPCs, rpcs, captures, "RPCs")
			}
			return list
		}
		compare := func(of string, got map[string]merged) {
			if !maps.Equal(got, want) {
				t.Errorf("%s of %s: %d RPCs, want %d", of, client, len(got), len(want))
				for key, w := range want {
					if got[key] != w {
						t.Errorf("%s: %v, want %v", key, got[key], w)
						break
					}
				}
			}
		}
		compare("captures", got(client, server))
		folder := t.TempDir()
		runLshark(t, path, "rpcs", "-q", "-T", "parquet", "-o", folder, client, server)
		files := []string{filepath.Join(folder, strings.TrimSuffix(strings.TrimSuffix(filepath.Base(client), ".zst"), ".pcap")+".rpcs.parquet"), filepath.Join(folder, "changed.rpcs.parquet")}
		compare("Parquet files", got(files...))
		one := filepath.Join(folder, "both.parquet")
		runLshark(t, path, "rpcs", "-q", "-T", "parquet", "-o", one, client, server)
		compare("one Parquet file", got(one))
	}
}

// TestByOp compares the view by_op with lshark stats.
func TestByOp(t *testing.T) {
	path := sqltest.Path(t)
	samples, err := filepath.Glob("../../pcaps/*.pcap*")
	must.That(t, err == nil && len(samples) != 0, "no samples: %v", err)
	if !wiretest.All {
		samples = []string{recoverySample}
	}
	type row struct {
		Op                     string
		Count, Replies, Errors int64
		Unanswered, Resends    int64
		NotCaptured            int64   `json:"not_captured"`
		Min                    float64 `json:"min_ms"`
		Max                    float64 `json:"max_ms"`
		P50                    float64 `json:"p50_ms"`
		P99                    float64 `json:"p99_ms"`
		RequestBytes           int64   `json:"request_bytes"`
		ReplyBytes             int64   `json:"reply_bytes"`
		BulkBytes              int64   `json:"bulk_bytes"`
	}
	for _, sample := range samples {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			t.Parallel()
			got := make(map[string]row)
			for _, r := range query[row](t, path, "from by_op", sample) {
				got[r.Op] = r
			}
			out := succeeds(t, "stats", "-T", "json", sample)
			rows := 0
			for line := range strings.Lines(out) {
				var s struct {
					row
					Errors  map[string]int64
					Latency *struct{ Min, P50, P99, Max float64 }
				}
				must.NoError(t, json.Unmarshal([]byte(line), &s))
				rows++
				r, want := got[s.Op], s.row
				for _, n := range s.Errors {
					want.Errors += n
				}
				if l := s.Latency; l != nil {
					want.Min, want.Max, want.P50, want.P99 = l.Min*1e3, l.Max*1e3, l.P50*1e3, l.P99*1e3
				}
				// stats has percentiles within one percent.
				near := func(a, b, within float64) bool { return a-b <= within*b+1e-6 && b-a <= within*b+1e-6 }
				if !near(r.Min, want.Min, 0) || !near(r.Max, want.Max, 0) || !near(r.P50, want.P50, 0.01) || !near(r.P99, want.P99, 0.01) {
					t.Errorf("latencies: %v, want %v", r, want)
				}
				r.Min, r.Max, r.P50, r.P99 = want.Min, want.Max, want.P50, want.P99
				assert.Equal(t, r, want)
			}
			assert.Equal(t, rows, len(got), "operations")
		})
	}
}

// TestDurations checks the INTERVAL of a duration beside its seconds.
func TestDurations(t *testing.T) {
	t.Parallel()
	type row struct {
		Seconds   float64
		Span, Own string
	}
	rows := query[row](t, sqltest.Path(t), "select seconds, s.duration::varchar as span, duration(r.latency)::varchar as own from slow s join rpcs r using (xid, request_frame) order by seconds desc limit 1", recoverySample)
	assert.Slice(t, rows, []row{{9.061574, "00:00:09.061574", "00:00:09.061574"}})
}

const queriesPage = "docs/queries.md"

// querySection is a question of docs/queries.md.
var querySection = regexp.MustCompile("(?s)\n## (\\d+)\\. ([^\n]+\\?)\n\n(.+?)\n\n```sql\n(.*?)\n```\n\n```sh\n(lshark sql -T table (\\w+) [^\n]+)\n```\n\n```text\n(.*?)```\n")

// section is a question of docs/queries.md, with the query that lshark has.
type section struct {
	number, question, sql, command, name, output string
	text                                         string // all of it
}

// readQueries returns docs/queries.md, with the SQL that lshark has, and its sections.
func readQueries(t *testing.T) (page string, sections []section) {
	t.Helper()
	page = string(must.ReadFile(t, wiretest.Repo(queriesPage)))
	list := querySection.FindAllStringSubmatch(page, -1)
	all := sql.Queries()
	must.That(t, len(list) == len(all) && len(list) == strings.Count(page, "\n## "), "%s has %d sections, of which %d have question, answer, SQL, command and output; lshark has %d queries",
		queriesPage, strings.Count(page, "\n## "), len(list), len(all))
	for i, m := range list {
		q := all[i]
		assert.Equal(t, m[6]+": "+m[2], q.Name+": "+q.Question, queriesPage, "and queries.sql, question", i+1)
		if m[4] != q.SQL && !wiretest.Update() {
			t.Errorf("%s has another query of %s than queries.sql: %s", queriesPage, q.Name, wiretest.UpdateHint(t))
		}
		text := strings.Replace(m[0], "```sql\n"+m[4], "```sql\n"+q.SQL, 1)
		page = strings.Replace(page, m[0], text, 1)
		sections = append(sections, section{number: m[1], question: m[2], sql: q.SQL, command: m[5], name: q.Name, output: m[7], text: text})
	}
	return page, sections
}

// TestQueries runs the queries of docs/queries.md by their names, and compares what they print. With
// UPDATE=1 it writes the page, with the SQL of queries.sql.
func TestQueries(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	path := sqltest.Path(t)
	page, sections := readQueries(t)
	printed := make([]string, len(sections))
	t.Run("sections", func(t *testing.T) {
		for i, s := range sections {
			if printed[i] = s.output; !wiretest.All && !wiretest.Update() && i%10 > 0 {
				continue
			}
			t.Run(s.name, func(t *testing.T) {
				t.Parallel()
				cmd := exec.CommandContext(t.Context(), "sh", "-c", s.command)
				cmd.Dir, cmd.Env = wiretest.Repo("."), append(os.Environ(), "PATH="+path, "TZ=UTC")
				var errs strings.Builder
				cmd.Stderr = &errs
				out, err := cmd.Output()
				if err != nil {
					t.Fatalf("%s: %v: %s", s.name, err, &errs)
				}
				printed[i] = string(out)
			})
		}
	})
	for i, s := range sections {
		page = strings.Replace(page, s.text, strings.TrimSuffix(s.text, s.output+"```\n")+printed[i]+"```\n", 1)
	}
	wiretest.Golden(t, wiretest.Repo(queriesPage), page)
}

// The words of SQL in docs/queries.md, and the columns of views that are not in tables.
var (
	sqlWords = strings.Fields(`select from where group by all order limit having as and or not null is in like desc last nulls
		case when then end left join using cross on between with over filter interval seconds int bigint ubigint date distinct`)
	viewColumns = strings.Fields(`op seconds duration parquet path clock_offset clock_of first_ns last_ns clock_difference node_time wire_time request_delay reply_delay
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
		assert.Equal(t, s.number, strconv.Itoa(i+1), "question follows question", i)
		query := quoted.ReplaceAllString(s.sql, "")
		known := slices.Clone(names)
		for _, r := range []*regexp.Regexp{alias, with, subquery} {
			for _, m := range r.FindAllStringSubmatch(query, -1) {
				known = append(known, m[1])
			}
		}
		for _, w := range word.FindAllString(query, -1) {
			if !strings.HasSuffix(w, "(") && !slices.Contains(known, w) {
				t.Errorf("%s: %s is neither a column nor a word of SQL that this test knows", s.name, w)
			}
		}
		for _, file := range strings.Fields(s.command)[5:] {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		}
	}
}
