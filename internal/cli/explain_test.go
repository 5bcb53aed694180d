package cli

import (
	"encoding/json"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/records"
	"github.com/lshark/lshark/render/tables"
)

// unexplained returns which of the names explain does not know.
func unexplained(names map[string]bool) (list []string) {
	own, index := slices.Concat(records.All(), tables.Columns(), filter.Probes()), opcodes.FieldIndex()
	for name := range names {
		if records.Named(own, name) == nil && index.Topics(name) == nil {
			list = append(list, name)
		}
	}
	slices.Sort(list)
	return list
}

// TestEveryKeyExplained: explain knows each key that JSON has.
func TestEveryKeyExplained(t *testing.T) {
	t.Parallel()
	keys := make(map[string]bool)
	counts := make(map[string]bool) // objects of names that are no keys
	for _, e := range records.All() {
		if e.Type == records.Counts {
			counts[e.Path] = true
		}
	}
	for _, sample := range wiretest.Samples(t) {
		for _, args := range [][]string{
			nil, {"rpcs"}, {"imports"}, {"stats", "--interval", "1s", "--by", strings.Join(track.DimensionNames(), ",")},
		} {
			out, _, _ := run(t, append(args, "-T", "json", sample)...)
			collectKeys(t, keys, counts, out)
		}
	}
	list := unexplained(keys)
	assert.That(t, list == nil, "declare these keys in records, or fields in opcodes: %q", list)
	assert.That(t, len(keys) >= 500, "only %d keys were found", len(keys))
}

func collectKeys(t *testing.T, keys, counts map[string]bool, text string) {
	t.Helper()
	for line := range strings.Lines(text) {
		var v any
		must.NoError(t, json.Unmarshal([]byte(line), &v))
		walkKeys(keys, counts, v)
	}
}

func walkKeys(keys, counts map[string]bool, v any) {
	switch v := v.(type) {
	case []any:
		for _, elem := range v {
			walkKeys(keys, counts, elem)
		}
	case map[string]any:
		for name, inner := range v {
			keys[name] = true
			if !counts[name] {
				walkKeys(keys, counts, inner)
			}
		}
	}
}

// TestEveryColumnExplained: explain knows the header of each column.
func TestEveryColumnExplained(t *testing.T) {
	names := make(map[string]bool)
	heads := func(line string) {
		for _, name := range strings.Fields(line) {
			names[name] = true
		}
	}
	by := strings.Join(track.DimensionNames(), ",")
	for _, args := range [][]string{
		{"stats", "--by", by}, {"stats", "--by", by, "-T", "tsv", "--interval", "1h"}, {"stats", "--window", "5s"},
		{"stats", "--window", "5s", "-T", "tsv"}, {"imports"},
	} {
		out := succeeds(t, append(args, sampleFile)...)
		line, _, _ := strings.Cut(out, "\n")
		heads(line)
	}
	out, _, _ := run(t, "-T", "flags", sampleFile)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(strings.TrimSpace(line), "bit ") {
			heads(line)
		}
	}
	out, _, _ = run(t, "rpcs", sampleFile)
	for _, label := range regexp.MustCompile(`(?m) ([a-z_]+)=`).FindAllStringSubmatch(out, -1) {
		names[label[1]] = true
	}
	list := unexplained(names)
	assert.That(t, list == nil, "declare these columns in render/records/columns.go: %q", list)
	for _, name := range []string{"unans", "in_flight_mean", "committed", "granted", "bulk"} {
		assert.That(t, names[name], "no table has the column %s", name)
	}
}

// TestEveryCodeExplained: explain knows the codes of notes and events.
func TestEveryCodeExplained(t *testing.T) {
	notes := regexp.MustCompile(`[nN]ote\("([a-z_]+)"`)
	names := make(map[string]bool)
	for _, pattern := range []string{"../../dissect/lnet/*.go", "../../dissect/*.go"} {
		files := must.Value(filepath.Glob(pattern))(t)
		for _, file := range files {
			text := must.ReadFile(t, file)
			for _, code := range notes.FindAllSubmatch(text, -1) {
				if !strings.HasSuffix(file, "_test.go") {
					names[string(code[1])] = true
				}
			}
		}
	}
	assert.That(t, len(names) >= 8, "the sources have only the notes %v", names)
	for name := range names {
		entries := records.Named(records.All(), name)
		if !slices.ContainsFunc(entries, func(e records.Entry) bool { return e.Kind == records.CodeEntry && e.Doc != "" }) {
			t.Errorf("declare the code %s in render/records/value.go", name)
		}
	}
	for _, e := range records.All() {
		assert.That(t, e.Doc != "", "%s %s of %s has no meaning", e.Kind, e.Name, e.Of)
	}
}

// TestExplainedOnce: what explain says about keys in several records.
func TestExplainedOnce(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"rpc.portal", "key rpc.portal, number, of each rpc\n"},
		{"p50", "key latency.p50, seconds, of each stats row\n"},
		{"unans", "column unans, number, of the table of stats\n"},
		{"lock_replay", "code lock_replay, of each event\n"},
		{"request.frame", "key rpc.request.frame, number, of each rpc\n"},
		{"content", "key content, object, of each record\n"},
	} {
		out, errs, status := run(t, "explain", c.name)
		assert.That(t, status == exit.OK && strings.Count(out, c.want) == 1, "explain %s: status %d\n%s%s", c.name, status, out, errs)
	}
}

// TestDecodeAttributes decodes the output of getfattr that is an argument.
func TestDecodeAttributes(t *testing.T) {
	out, errs, status := run(t, "decode", "# file: f\ntrusted.version=0x0500000001000000\n\n")
	want := "file f\n\ntrusted.version  0x100000005\n"
	assert.That(t, out == want && status == exit.OK, "status %d, %q %s, want %q", status, out, errs, want)
}
