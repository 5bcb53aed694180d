package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/render/records"
)

// keyTable is a kind of record with the arguments that print it.
type keyTable struct {
	args    []string
	entries []records.Entry
	samples []string
	least   int // records of each sample
}

var keyTables = []keyTable{
	{nil, records.Messages.Entries(), []string{sampleFile, "../../pcaps/gss.pcap.zst", "../../pcaps/io.pcap.zst", "../../pcaps/rdma_data.pcap.zst"}, 9},
	{[]string{"rpcs"}, records.RPCs.Entries(), []string{sampleFile, "../../pcaps/gss.pcap.zst", "../../pcaps/recovery.pcap.zst", "../../pcaps/rdma_mount.pcap"}, 9},
	{[]string{"locks"}, records.Locks.Entries(), []string{"../../pcaps/locks.pcap.zst", "../../pcaps/recovery.pcap.zst"}, 9},
	{[]string{"files"}, records.Files.Entries(), []string{"../../pcaps/metadata.pcap.zst", "../../pcaps/layouts.pcap.zst", "../../pcaps/recovery.pcap.zst"}, 9},
	{[]string{"config"}, records.Configuration.Entries(), []string{sampleFile, "../../pcaps/servers.pcap.zst", "../../pcaps/ip6_mount.pcap"}, 3},
	{[]string{"recovery", "--all"}, records.Recoveries.Entries(), []string{"../../pcaps/recovery.pcap.zst"}, 6},
}

// TestKeysEverywhere: each key of the tables has the same value in JSON and in
// -e, chooses the same records with -Y, and has an explanation and a
// completion.
func TestKeysEverywhere(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("compares results of many runs")
	}
	for _, table := range keyTables {
		explain, columns, filters := []string{"explain"}, []string(nil), []string(nil)
		for _, e := range table.entries {
			if explain = append(explain, e.Name); e.Type != records.Section {
				columns, filters = append(columns, e.Path), append(filters, e.Name)
			}
		}
		out, errs, status := run(t, explain...)
		for _, e := range table.entries {
			if status != exit.OK || !strings.Contains(out, e.Doc[:min(10, len(e.Doc))]) {
				t.Errorf("explain %s: status %d, %s", e.Name, status, errs)
			}
		}
		tried := make(map[string]bool)
		checkCompletion(t, append(table.args, "-e"), columns)
		checkCompletion(t, append(table.args, "-Y"), filters)
		for _, sample := range table.samples {
			checkValues(t, table, sample, tried)
		}
	}
}

// TestShortNames: a key that only RPCs have needs no prefix in filters.
func TestShortNames(t *testing.T) {
	t.Parallel()
	wire := opcodes.FieldIndex().Names()
	for _, e := range records.RPCs.Entries() {
		_, _, status := run(t, "rpcs", "-Y", e.Path, sampleFile)
		assert.That(t, status == exit.OK, "-Y %s: status %d", e.Path, status)
		_, shared := records.Messages.Find(e.Path)
		_, inWire := slices.BinarySearch(wire, e.Path[strings.LastIndexByte(e.Path, '.')+1:])
		if shared || inWire {
			continue
		}
		rpcs := []string{"rpcs"}
		short, long := count(t, rpcs, e.Path, sampleFile), count(t, rpcs, e.Name, sampleFile)
		assert.That(t, short == long, "-Y %s chooses %d RPCs, -Y %s %d", e.Path, short, e.Name, long)
	}
}

// checkCompletion checks that the last word of a command line can be each of these names.
func checkCompletion(t *testing.T, args, names []string) {
	t.Helper()
	var out, errs bytes.Buffer
	Run(testSystem(&out, &errs), slices.Concat([]string{"__complete"}, args, []string{""}))
	for _, name := range names {
		assert.Contains(t, "\n"+out.String(), "\n"+name+"\n", args, name, "is not completed")
	}
}

// counted returns a key that every record of a command has.
func counted(args []string) string {
	switch {
	case slices.Contains(args, "locks"):
		return "client"
	case slices.Contains(args, "config"):
		return "kind"
	case slices.Contains(args, "recovery"):
		return "target"
	case slices.Contains(args, "files"):
		return "fid"
	}
	return "xid"
}

// count returns how many records of a sample a filter chooses.
func count(t *testing.T, args []string, filter, sample string) int {
	t.Helper()
	out, errs, status := run(t, slices.Concat(args, []string{"-Y", filter, "-T", "fields", "-e", counted(args), sample})...)
	assert.Equal(t, status, exit.OK, args, "-Y", filter, "status", errs)
	return strings.Count(out, "\n")
}

// checkValues compares the JSON of a sample with -e of all keys, and how often
// there is a value with -Y: of a key in the first sample and in the first that has a value,
// with the tag all in each.
func checkValues(t *testing.T, table keyTable, sample string, tried map[string]bool) {
	t.Helper()
	args := slices.Concat(table.args, []string{"-T", "fields"})
	for _, e := range table.entries {
		args = append(args, "-e", e.Path)
	}
	fields, errs, status := run(t, append(args, sample)...)
	text, _, _ := run(t, slices.Concat(table.args, []string{"-T", "json", sample})...)
	lines, objects := strings.Split(fields, "\n"), strings.Split(text, "\n")
	if status != exit.OK || len(lines) != len(objects) || len(lines) <= table.least {
		t.Fatalf("%s: status %d, %d lines of fields and %d of JSON: %s", sample, status, len(lines), len(objects), errs)
	}
	there := make([]int, len(table.entries))
	for i, line := range lines[:len(lines)-1] {
		var object any
		d := json.NewDecoder(strings.NewReader(objects[i]))
		d.UseNumber()
		must.NoError(t, d.Decode(&object))
		columns := strings.Split(line, "\t")
		for k, e := range table.entries {
			if columns[k] != "" {
				there[k]++
			}
			if e.Type == records.Section || e.Type == records.Object || strings.Contains(columns[k], `\`) {
				continue
			}
			if e.Type == records.Counts {
				columns[k] = sortedParts(columns[k])
			}
			if got := jsonText(object, strings.Split(e.Path, "."), e); e.JSON == records.Hidden && got != "" || e.JSON != records.Hidden && got != columns[k] {
				t.Fatalf("%s: %s is %q with -e, and %q in %s", sample, e.Path, columns[k], got, objects[i])
			}
		}
	}
	for k, e := range table.entries {
		if e.Type == records.Flags { // zero is a value, and -e shows nothing for it
			continue
		}
		had, before := tried[e.Name]
		has := there[k] > 0
		if before && (had || !has) && !wiretest.All {
			continue
		}
		tried[e.Name] = has
		assert.Equal(t, count(t, table.args, e.Name, sample), there[k], sample, "-Y", e.Name, "chooses -e has a value")
	}
}

// jsonText returns the text that -e shows for a value in JSON, empty without
// one.
func jsonText(v any, path []string, e records.Entry) string {
	switch v := v.(type) {
	case map[string]any:
		if len(path) == 0 && e.Type == records.Counts {
			return countsText(v)
		}
		if len(path) > 0 {
			return jsonText(v[path[0]], path[1:], e)
		}
		if e.Type == records.Counts {
			var parts []string
			for _, name := range slices.Sorted(maps.Keys(v)) {
				parts = append(parts, fmt.Sprintf("%s:%v", name, v[name]))
			}
			return strings.Join(parts, ",")
		}
		return jsonText(v["code"], nil, e) // the short form of a note
	case []any:
		var parts []string
		for _, elem := range v {
			if s := jsonText(elem, path, e); s != "" {
				parts = append(parts, s)
			}
		}
		if e.Type == records.Flags {
			return strings.Join(parts, "|")
		}
		return strings.Join(parts, ",")
	case nil:
		return ""
	}
	return fmt.Sprint(v)
}

// countsText returns the text of counts, sorted by name.
func countsText(counts map[string]any) string {
	var parts []string
	for name, n := range counts {
		parts = append(parts, fmt.Sprintf("%s:%v", name, n))
	}
	return sortedParts(strings.Join(parts, ","))
}

// sortedParts sorts parts with commas between them.
func sortedParts(text string) string {
	parts := strings.Split(text, ",")
	slices.Sort(parts)
	return strings.Join(parts, ",")
}
