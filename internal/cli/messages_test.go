package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"

	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
)

// TestMessagesOfSamples compares the summaries of each sample with its golden, and the
// first message of each form in all samples as tree and as JSON, with one golden for each
// service.
func TestMessagesOfSamples(t *testing.T) {
	t.Parallel()
	trees, objects := make(map[string]string), make(map[string]string) // by service
	seen := make(map[string]bool)
	for _, sample := range wiretest.Samples(t) {
		name, _, _ := strings.Cut(filepath.Base(sample), ".pcap")
		summary, _, _ := run(t, sample)
		wiretest.Golden(t, wiretest.Repo("pcaps/"+name+".summary"), summary)
		jsonLines, _, _ := run(t, "-T", "json", sample)
		allTrees, _, _ := run(t, "-V", sample)
		lines, parts := strings.Split(jsonLines, "\n"), strings.Split(allTrees, "\n\n")
		if n := strings.Count(summary, "\n"); len(lines) != n+1 || len(parts) != n+1 {
			t.Errorf("%s: %d lines, %d records and %d trees", sample, n, len(lines)-1, len(parts)-1)
			continue
		}
		for i, line := range lines[:len(lines)-1] {
			service, kind, form := formOf(t, line)
			if seen[form] {
				continue
			}
			seen[form] = true
			tree := parts[i]
			if headers := service + kind; seen[headers] {
				tree = withoutHeaders(tree)
			} else {
				seen[headers] = true
			}
			trees[service] += name + ", " + tree + "\n\n"
			objects[service] += line + "\n"
		}
	}
	for service, tree := range trees {
		wiretest.Golden(t, wiretest.Repo("pcaps/services/"+service+".tree"), tree)
		wiretest.Golden(t, wiretest.Repo("pcaps/services/"+service+".json"), objects[service])
	}
	assert.Equal(t, len(glob(t, wiretest.Repo("pcaps/services/*"))), 2*len(trees), "goldens services")
}

// headers are the sections that most messages have.
var headers = regexp.MustCompile(`(?m)^  (ksock|lnet|lustre_msg|ptlrpc_body)\b.*\n(    .*\n)*`)

func withoutHeaders(tree string) string {
	return strings.TrimSuffix(headers.ReplaceAllString(tree+"\n", ""), "\n")
}

// formOf returns the service of a message, its kind, and its form: kind, operation and
// buffers.
func formOf(t *testing.T, line string) (service, kind, form string) {
	t.Helper()
	var r struct {
		Kind, Error, Variant string
		Opcode               any
		Buffers              map[string]any
		Content              any
	}
	if err := json.Unmarshal([]byte(line), &r); err != nil {
		t.Fatalf("%v in %.200s", err, line)
	}
	service = "lnet"
	if name, ok := r.Opcode.(string); ok {
		prefix, _, _ := strings.Cut(name, "_")
		service = strings.ToLower(prefix)
	}
	return service, r.Kind, fmt.Sprint(r.Kind, r.Opcode, r.Variant, slices.Sorted(maps.Keys(r.Buffers)), r.Content != nil, r.Error != "")
}

var recordOrder = []string{"file", "frame", "time", "rel", "conn", "src", "dst", "src_qp", "dst_qp", "kind", "ksock", "ib", "o2iblnd", "connreq", "hello", "lnet",
	"ping_info", "selftest", "reject", "opcode", "variant", "xid", "error", "latency", "target", "job", "request_frame", "reply_frame", "gss", "plain", "lustre_msg", "ptlrpc_body", "buffers", "content",
	"bytes", "rdma", "notes"}

// TestRecordKeys checks that the keys of records are in order, and that no object
// has a key twice.
func TestRecordKeys(t *testing.T) {
	t.Parallel()
	for _, sample := range wiretest.Samples(t) {
		out, _, _ := run(t, "-T", "json", sample)
		for line := range strings.Lines(out) {
			last := -1
			for _, key := range keys(t, line) {
				i := slices.Index(recordOrder, key)
				must.That(t, i > last, "%s: key %s is unknown or out of order in %.300s", sample, key, line)
				last = i
			}
		}
	}
}

// keys returns the keys of a record, and fails the test when an object in it has
// a key twice.
func keys(t *testing.T, line string) []string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	type object struct {
		keys  []string
		array bool
		value bool // a value comes next
	}
	stack := []*object{{array: true}}
	var top []string
	for {
		token, err := d.Token()
		if err == io.EOF {
			return top
		}
		if err != nil {
			t.Fatalf("%v in %.300s", err, line)
		}
		o := stack[len(stack)-1]
		switch token {
		case json.Delim('{'), json.Delim('['):
			o.value = false
			stack = append(stack, &object{array: token == json.Delim('[')})
			continue
		case json.Delim('}'), json.Delim(']'):
			top = o.keys
			stack = stack[:len(stack)-1]
			continue
		}
		if o.array || o.value {
			o.value = false
			continue
		}
		key := token.(string)
		must.That(t, !slices.Contains(o.keys, key), "%s twice in %.300s", key, line)
		o.keys, o.value = append(o.keys, key), true
	}
}

// TestWidths checks that no summary line is wider than the terminal.
func TestWidths(t *testing.T) {
	for _, columns := range []int{40, 80, 200} {
		var out bytes.Buffer
		sys := onTerminal(&out, columns)
		must.Equal(t, Run(sys, []string{"../../pcaps/mount.pcap"}), exit.OK, "status")
		for line := range strings.Lines(out.String()) {
			n := utf8.RuneCountInString(plainText(line)) - 1
			assert.That(t, n <= max(columns, 62), "%d columns: %d in %q", columns, n, line)
		}
	}
}

var escapes = regexp.MustCompile("\x1b\\[[0-9;]*m")

func plainText(s string) string { return escapes.ReplaceAllString(s, "") }

// TestColorsOnlyAdd checks that coloured output without its escapes is the plain
// output.
func TestColorsOnlyAdd(t *testing.T) {
	for _, form := range []string{"summary", "tree", "flags", "json"} {
		plain, _, _ := run(t, "-T", form, "--color", "never", "../../pcaps/mount.pcap")
		colored, _, _ := run(t, "-T", form, "--color", "always", "../../pcaps/mount.pcap")
		assert.Equal(t, plainText(colored), plain, form, "colours change the text")
		assert.Equal(t, colored == plain, form == "json", form, "coloured equals plain")
		assert.That(t, !strings.Contains(plain, "\x1b"), "%s: escapes without colours", form)
	}
}

// TestFlagsOfPairs checks that -c and -Y do not separate a connect from its reply
// in -T flags, and that no pair says that there is no reply where there is one.
func TestFlagsOfPairs(t *testing.T) {
	all, _, _ := run(t, "-T", "flags", sampleFile)
	replies := regexp.MustCompile(`(?m)^frame .* request [A-Z]+_CONNECT  reply in frame [0-9]+$`)
	for args, want := range map[string]int{
		"-c 1":                        1,
		"-c 2 -Y pb_opc==MDS_CONNECT": 2,
		"-c 3 -Y pb_opc==MDS_CONNECT&&kind==request": 3,
		"-Y pb_opc==MDS_CONNECT&&kind==request":      6,
		"-Y pb_opc==MDS_CONNECT&&kind==reply":        6,
		"-Y pb_opc==MDS_STATFS":                      0,
	} {
		out, _, status := run(t, append(strings.Fields("-T flags "+args), sampleFile)...)
		if got := len(replies.FindAllString(out, -1)); status != exit.OK || got != want || strings.Contains(out, "no reply") {
			t.Errorf("%s: status %d, %d pairs of %d:\n%s", args, status, got, want, out)
		}
		for table := range strings.SplitSeq(strings.TrimSpace(out), "\n\n") {
			assert.That(t, strings.Contains(all, table), "%s prints what is not among all:\n%s", args, table)
		}
	}
	if out, _, _ := run(t, "-T", "flags", "-c", "2", "-Y", "pb_opc == LDLM_ENQUEUE", sampleFile); strings.Count(out, "\nframe ") != 1 {
		t.Errorf("-c 2 prints\n%s", out)
	}
}

// TestParallel checks that several renderers produce the output of one.
func TestParallel(t *testing.T) {
	files := []string{"../../pcaps/mount.pcap", "../../pcaps/recovery.pcap.zst", "../../pcaps/io.pcap.zst"}
	for _, form := range []string{"json", "tree"} {
		args := append([]string{"--color", "never", "-T", form}, files...)
		parallel, _, _ := run(t, args...)
		var direct bytes.Buffer
		sys := onTerminal(&direct, 0)
		must.Equal(t, Run(sys, args), exit.OK, "status")
		assert.Equal(t, parallel, direct.String(), form, "workers render something else")
	}
}

// TestDamage checks that everything before damage is printed, and that one line
// reports where the damage is.
func TestDamage(t *testing.T) {
	whole := must.ReadFile(t, "../../pcaps/mount.pcap")
	dir := t.TempDir()
	for _, c := range []struct {
		name  string
		data  []byte
		lines int
		err   string
	}{
		{"empty", nil, 0, "byte 0: not a capture: empty"},
		{"cut", whole[:30000], 33, "cut short"},
		{"text", []byte("hello there, this is not a capture\n"), 0, "byte 0: not a capture"},
	} {
		file := filepath.Join(dir, c.name)
		must.NoError(t, os.WriteFile(file, c.data, 0o600))
		for _, form := range []string{"summary", "json"} {
			out, errs, status := run(t, "-T", form, file)
			n := strings.Count(out, "\n")
			assert.That(t, n == c.lines && status == exit.Damage, "%s as %s: %d lines, status %d", c.name, form, n, status)
			if strings.Count(errs, "\n") != 1 || !strings.Contains(errs, file) || !strings.Contains(errs, c.err) {
				t.Errorf("%s as %s: %s", c.name, form, errs)
			}
		}
	}
}

// TestMissing checks that nothing is printed when one of the files is missing.
func TestMissing(t *testing.T) {
	out, errs, status := run(t, "../../pcaps/mount.pcap", "../../pcaps/none.pcap")
	assert.That(t, out == "" && status == exit.Failure && strings.Contains(errs, "none.pcap"), "status %d, %q, %s", status, out, errs)
}

// TestNearNames checks that similar names are suggested for an unknown one.
func TestNearNames(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"-T", "jsno", "x"}, "json"},
		{[]string{"-T", "fields", "-e", "mbo_siz", "x"}, "mbo_size"},
		{[]string{"-T", "fields", "-e", "lent.src_nid", "x"}, "unknown field"},
	} {
		out, errs, status := run(t, c.args...)
		if out != "" || status != exit.Usage || !strings.Contains(errs, c.want) {
			t.Errorf("%v: status %d, %q, %s", c.args, status, out, errs)
		}
	}
}

// TestFields checks that the values of a field that occurs several times are
// separated by commas.
func TestFields(t *testing.T) {
	out, _, status := run(t, "-T", "fields", "-E", "header=y", "-e", "frame", "-e", "pb_opc", "-e", "lnet.src_nid",
		"-e", "lm_buflens", "-e", "ocd_version", "-e", "status", "-c", "17", "../../pcaps/mount.pcap")
	lines := strings.Split(out, "\n")
	const head, last = "frame\tpb_opc\tlnet.src_nid\tlm_buflens\tocd_version\tstatus",
		"39\tMGS_CONNECT\t192.0.2.1@tcp\t184,192\t2.17.0.0\t0"
	if status != exit.OK || len(lines) != 19 || lines[0] != head || lines[17] != last {
		t.Errorf("status %d: %d lines\n%s", status, len(lines), out)
	}
}

// TestLinesInOrder checks that lines are in order of time, also a keep-alive that
// is the first message of its connection.
func TestLinesInOrder(t *testing.T) {
	const late = 0.3 // seconds
	for _, path := range wiretest.Samples(t) {
		out := succeeds(t, "-T", "fields", "-e", "rel", "-e", "frame", path)
		last := 0.0
		for line := range strings.Lines(out) {
			rel, frame, _ := strings.Cut(strings.TrimSpace(line), "\t")
			at := must.Value(strconv.ParseFloat(rel, 64))(t)
			assert.That(t, at >= last-late, "%s: frame %s of %v comes after %v", path, frame, at, last)
			last = max(last, at)
		}
	}
}

// TestReplyDataInUpdateLogs reads the records of reply_data that the update log of a
// distributed operation has.
func TestReplyDataInUpdateLogs(t *testing.T) {
	out, errs, status := run(t, "-T", "fields", "-Y", "lrd_xid", "-e", "ur_master_transno", "-e", "lrd_transno", "-e", "lrd_xid", "-e", "lrd_result",
		"../../pcaps/update_log.pcap.zst")
	rows := strings.Split(strings.TrimSpace(out), "\n")
	must.That(t, status == exit.OK && out != "", "status %d, %q %s", status, out, errs)
	for _, row := range rows {
		cells := strings.Split(row, "\t")
		transnos, replies, xids := strings.Split(cells[0], ","), strings.Split(cells[1], ","), strings.Split(cells[2], ",")
		assert.That(t, len(replies) == len(xids) && len(xids) != 0, "%d numbers of transactions, %d xids", len(replies), len(xids))
		for _, reply := range replies {
			if !slices.Contains(transnos, reply) {
				t.Errorf("transaction %s of a reply is none of the update log: %s", reply, cells[0])
			}
		}
	}
}
