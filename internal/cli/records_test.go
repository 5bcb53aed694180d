package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
)

const recoverySample = "../../pcaps/recovery.pcap.zst"

func TestRecordFlags(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"stats --by opp", "did you mean op"},
		{"stats --by op,op", "twice"},
		{"stats --sort nam", "did you mean name"},
		{"stats -T jso", "did you mean json"},
		{"stats --histogram -T json", "-T table"},
		{"stats --interval -1s", "at least"},
		{"stats --timeout 0s", "more than zero"},
		{"stats --window 10ms", "at least 1s"},
		{"stats --window 5s --interval 1s", "cannot be combined"},
		{"stats --sort rate", "needs --window"},
		{"stats --by path,op", "unknown key"},
		{"stats --by path -Y pb_opc", "cannot be combined with -Y"},
		{"stats --by path --interval 1s", "cannot be combined with --interval"},
		{"stats --by path --sort wait", "no --sort wait"},
		{"rpcs -T tree", "unknown form"},
		{"rpcs -T fields", "-e"},
		{"rpcs -T fields -e latenc", "did you mean latency"},
		{"rpcs -e xid", "-T fields"},
		{"rpcs --slowest -1", "negative"},
		{"rpcs --timeout 0s", "more than zero"},
		{"rpcs -t x", "must be r, a, u or d"},
		{"rpcs --offset x", "FILE=SECS"},
		{"rpcs --offset other.pcap=1", "not among the files"},
		{"imports -T summary", "unknown form"},
		{"imports --at yesterday", "must be seconds"},
		{"imports --at -1", "must be seconds"},
		{"imports --color maybe", "auto, always or never"},
		{"locks --slowest -1", "negative"},
		{"locks -c -1", "negative"},
		{"locks --slowest 1 --blockers", "exclude"},
		{"locks --blockers -T fields -e mode", "unknown field"},
		{"locks --fid 7", "must be a FID"},
		{"locks -T fields -e mod", "did you mean mode"},
		{"locks -T fields", "-e"},
		{"locks -Y lock.waitd", "did you mean lock.waited"},
		{"locks -Y lock.mode.XX", "has no value XX"},
		{"rpcs -Y lock.waited", "use lshark locks"},
		{"recovery -c -1", "negative"},
		{"recovery -T fields -e windo", "did you mean window"},
		{"recovery -T fields", "-e"},
		{"recovery -Y recovery.windo", "did you mean recovery.window"},
		{"recovery -T timeline", "unknown form"},
		{"rpcs -Y recovery.window", "use lshark recovery"},
		{"files --top -1", "negative"},
		{"files -c -1", "negative"},
		{"files --fid 7", "must be a FID"},
		{"files --by user", "unknown key"},
		{"files --sort size", "unknown order"},
		{"files --by dir -T fields -e layout", "unknown field"},
		{"files -T fields -e pat", "did you mean path"},
		{"files -Y file.write_byte", "did you mean file.write_bytes"},
		{"rpcs -Y file.path", "use lshark files"},
	} {
		out, errs, status := run(t, append(strings.Fields(c.args), recoverySample)...)
		if status != exit.Usage || out != "" || !strings.Contains(errs, c.want) {
			t.Errorf("%s: status %d, %q, %q", c.args, status, out, errs)
		}
	}
}

// TestHistoryKeys checks the keys of a state in the history of a connection.
func TestHistoryKeys(t *testing.T) {
	out, _, _ := run(t, "imports", "-T", "json", recoverySample)
	states := 0
	for line := range strings.Lines(out) {
		var r struct{ History []json.RawMessage }
		must.NoError(t, json.Unmarshal([]byte(line), &r))
		for _, state := range r.History {
			states++
			got := keys(t, string(state))
			must.That(t, slices.Equal(got, []string{"frame", "time", "state"}), "%s has the keys %v", state, got)
		}
	}
	assert.That(t, states != 0, "no history")
}

// TestImportsColumns checks which columns are shown at which width.
func TestImportsColumns(t *testing.T) {
	for columns, want := range map[int]string{
		60:  "target client state cnt evict pings version",
		80:  "target client state cnt fails evict pings version kind",
		160: "target client state cnt fails evict pings version kind server committed ungranted uuid",
	} {
		var out bytes.Buffer
		sys := onTerminal(&out, columns)
		Run(sys, []string{"imports", "--color", "never", recoverySample})
		title, rows, _ := strings.Cut(out.String(), "\n")
		assert.Equal(t, strings.Join(strings.Fields(title), " "), want, columns, "columns")
		if columns >= 80 && (!strings.Contains(rows, " ENODEV:5 ") || !strings.Contains(rows, " ENODEV:2 ")) {
			t.Errorf("%d columns: no connect failed in\n%s", columns, rows)
		}
	}
}

// lines counts the lines a command prints.
func lines(t *testing.T, args string) int {
	t.Helper()
	out := quiet(t, append(strings.Fields(args), recoverySample)...)
	return strings.Count(out, "\n")
}

func TestChoosingRPCs(t *testing.T) {
	if testing.Short() {
		t.Skip("compares results")
	}
	all, _, _ := run(t, "rpcs", "-T", "json", recoverySample)
	failed, resent := strings.Count(all, `"error":`), strings.Count(all, `"other_errors":["ENOTCONN"]`)
	lost := strings.Count(all, `"reply":null`)
	for args, want := range map[string]int{
		"rpcs":                              strings.Count(all, "\n"),
		"rpcs --errors":                     failed + resent,
		"rpcs --unanswered":                 lost,
		"rpcs --errors --unanswered":        failed + resent + lost,
		"rpcs -c 7":                         7,
		"rpcs --slowest 5":                  5,
		"rpcs --slowest 5 -c 2":             2,
		"rpcs -T fields -e xid":             strings.Count(all, "\n"),
		"rpcs -T fields -e xid -E header=y": strings.Count(all, "\n") + 1,
		"rpcs -Y rpc.other_errors":          resent,
	} {
		assert.Equal(t, lines(t, args), want, args, "lines")
	}
	assert.That(t, failed != 0 && resent != 0, "the sample has no errors")
}

func TestSlowestComesFirst(t *testing.T) {
	out, _, _ := run(t, "rpcs", "--slowest", "20", "-T", "fields", "-e", "latency", recoverySample)
	list := strings.Fields(out)
	for i := 1; i < len(list); i++ {
		if len(list[i]) > len(list[i-1]) || len(list[i]) == len(list[i-1]) && list[i] > list[i-1] {
			t.Errorf("%s comes before %s", list[i-1], list[i])
		}
	}
}

// TestOffset checks that an offset moves the times of its file and nothing else.
func TestOffset(t *testing.T) {
	first := func(args ...string) string {
		out := succeeds(t, append([]string{"rpcs", "-c", "1", "-T", "fields", "-e", "request.time"}, args...)...)
		return strings.TrimSpace(out)
	}
	const mount = "../../pcaps/mount.pcap"
	a, b := first(mount), first("--offset", mount+"=1.5", mount)
	assert.That(t, a == "2026-11-21T08:06:42.067707000Z" && b == "2026-11-21T08:06:43.567707000Z", "%s becomes %s", a, b)
}

// TestOutputOfTerminal: what is written to a file has no colours and all columns, whatever
// the terminal is like.
func TestOutputOfTerminal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "rpcs.txt")
	var out strings.Builder
	status := Run(onTerminal(&out, 40), []string{"rpcs", "-q", "-o", path, "../../pcaps/mount.pcap"})
	must.That(t, status == exit.OK && out.Len() <= 0, "status %d, %s", status, &out)
	got := must.ReadFile(t, path)
	want, _, _ := run(t, "rpcs", "-q", "../../pcaps/mount.pcap")
	assert.That(t, string(got) == want, "%s\nwant\n%s", got, want)
}

// TestOmittedColumns checks that commands say which columns do not fit the
// terminal, in one line, and that their tables fit it. UPDATE=1 takes up a new column.
func TestOmittedColumns(t *testing.T) {
	t.Parallel()
	var notes strings.Builder
	for _, tt := range []struct {
		args    string
		columns int
	}{
		{"stats", 0},
		{"stats", 80},
		{"stats -q", 80},
		{"stats", 170},
		{"stats", 300},
		{"stats --interval 10s", 80},
		{"stats -T json", 80},
		{"stats --by path", 80},
		{"stats --by path", 120},
		{"stats --by path", 200},
		{"imports", 80},
		{"imports --timeline", 80},
		{"-T flags", 80},
		{"locks", 80},
		{"locks --blockers", 80},
		{"recovery", 80},
		{"recovery -v -q", 80},
		{"files", 80},
		{"files --by dir", 80},
		{"rpcs", 80},
		{"rpcs --slowest 3", 80},
		{"rpcs", 120},
		{"rpcs -T json", 80},
	} {
		var out, errs bytes.Buffer
		sys := testSystem(&out, &errs)
		sys.OutTTY, sys.Columns = tt.columns > 0, tt.columns
		status := Run(sys, append(strings.Fields(tt.args), "--color", "never", recoverySample))
		must.Equal(t, status, exit.OK, tt.args)
		fmt.Fprintf(&notes, "%d columns: lshark %s\n%s", tt.columns, tt.args, &errs)
		for line := range strings.Lines(out.String()) {
			n := utf8.RuneCountInString(line) - 1
			assert.That(t, n <= tt.columns || tt.columns <= 0 || strings.HasPrefix(line, "{"), "%s: %d columns: %s", tt.args, n, line)
		}
	}
	wiretest.Golden(t, "testdata/omitted.txt", notes.String())
}
