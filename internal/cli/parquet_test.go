//go:build all

package cli

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/parquet-go/parquet-go"

	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/cli/exit"
	"github.com/lshark/lshark/internal/cli/flags"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/hostile"
	"github.com/lshark/lshark/render/filter"
	"github.com/lshark/lshark/render/parquet/rows"
	"github.com/lshark/lshark/render/records"
)

// TestParquetOfSamples compares the Parquet files of all commands and samples with their JSON,
// value for value.
func TestParquetOfSamples(t *testing.T) {
	for _, sample := range wiretest.Samples(t) {
		t.Run(filepath.Base(sample), func(t *testing.T) {
			compareMessages(t, sample)
			compareRecords(t, &records.RPCs, "rpcs", sample)
			compareRecords(t, &records.Imports, "imports", sample)
			compareRecords(t, &records.Locks, "locks", sample)
			compareRecords(t, &records.Files, "files", sample)
			compareRecords(t, &records.Recoveries, "recovery", "--all", sample)
			compareRecords(t, &records.Configuration, "config", sample)
			compareRecords(t, &records.Findings, "diagnose", sample)
		})
	}
}

// TestParquetOfSeveral compares the records of several captures that are read together.
func TestParquetOfSeveral(t *testing.T) {
	files := []string{"../../pcaps/io.pcap.zst", "../../pcaps/locks.pcap.zst"}
	compareMessages(t, files...)
	compareRecords(t, &records.RPCs, "rpcs", files...)
	compareRecords(t, &records.Findings, "diagnose", files...)
}

// TestParquetOfCut compares the messages of captures whose frames were cut short: fields that
// were not captured are NULL, and no filter finds them.
func TestParquetOfCut(t *testing.T) {
	for _, snaplen := range []int{150, 180, 200, 220, 240, 256, 280, 330, 500} {
		path := cutCapture(t, "../../pcaps/recovery.pcap.zst", snaplen)
		compareMessages(t, path)
		compareRecords(t, &records.RPCs, "rpcs", path)
		found, _, _ := run(t, "-q", "-Y", "pb_flags", path)
		objects, _, _ := run(t, "-q", "-T", "json", path)
		assert.Equal(t, strings.Count(found, "\n"), strings.Count(objects, `"pb_flags":`), snaplen, "bytes: pb_flags messages")
	}
}

// compareRecords compares the rows of a command's Parquet file with its JSON.
func compareRecords[R any](t *testing.T, keys *records.Table[R], command string, args ...string) {
	t.Helper()
	objects, file := outputs(t, append([]string{command}, args...))
	compareRows(t, command, objects, file, func(object map[string]any) map[string]any {
		row := map[string]any{}
		addColumns(row, keys.Keys(), "", object, false)
		return row
	})
}

// compareMessages compares the rows of messages with their JSON.
func compareMessages(t *testing.T, files ...string) {
	t.Helper()
	objects, file := outputs(t, files)
	compareRows(t, "messages", objects, file, func(object map[string]any) map[string]any {
		row := map[string]any{}
		addColumns(row, records.Messages.Keys(), "", object, false)
		for _, k := range filter.ProbeKeys() {
			name, around := strings.TrimPrefix(k.Name, "lnet."), "lnet"
			if strings.HasPrefix(name, "pb_") {
				around = "ptlrpc_body"
			}
			if in, ok := object[around].(map[string]any); ok && in[name] != nil {
				k.Name = name
				addColumns(row, []*records.Key[*records.Message]{k}, "", in, false)
				if around == "lnet" {
					row["lnet_"+name] = row[name]
					delete(row, name)
				}
			}
		}
		return row
	})
}

// outputs returns the JSON objects that a command line writes, and its Parquet file.
func outputs(t *testing.T, args []string) (objects []string, file string) {
	t.Helper()
	text := succeeds(t, append(args, "-q", "-T", "json")...)
	file = succeeds(t, append(args, "-q", "-T", "parquet", "--sensor", "oss1")...)
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")[:strings.Count(text, "\n")], file
}

// compareRows compares the rows of a file with those that flat makes of JSON objects.
func compareRows(t *testing.T, of string, objects []string, file string, flat func(map[string]any) map[string]any) {
	t.Helper()
	f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
	must.NoError(t, err)
	if v, _ := f.Lookup("lshark.schema"); v != rows.SchemaVersion {
		t.Errorf("%s: lshark.schema is %q", of, v)
	}
	rows := parquet.NewReader(f)
	for i, text := range objects {
		got := map[string]any{}
		if err := rows.Read(&got); err != nil {
			t.Fatalf("%s, row %d: %v", of, i, err)
		}
		if got["sensor"] != "oss1" || got["capture"] == "" {
			t.Fatalf("%s, row %d: sensor %v, capture %v", of, i, got["sensor"], got["capture"])
		}
		delete(got, "sensor")
		delete(got, "capture")
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		var object map[string]any
		must.NoError(t, d.Decode(&object))
		want := flat(object)
		for _, name := range slices.Sorted(maps.Keys(want)) {
			g, w := plain(got[name]), plain(want[name])
			must.That(t, fmt.Sprint(g) == fmt.Sprint(w), "%s, row %d, %s: %v, want %v\n%s", of, i, name, g, w, text)
			delete(got, name)
		}
		for name, v := range got {
			must.That(t, plain(v) == nil, "%s, row %d, %s: %v, which JSON does not have\n%s", of, i, name, v, text)
		}
	}
	assert.Equal(t, rows.Read(&map[string]any{}), io.EOF, of, "after the last row")
}

// addColumns adds the values that a JSON object has of some keys as columns. inList: the
// object is an element of a list.
func addColumns[R any](row map[string]any, keys []*records.Key[R], prefix string, object map[string]any, inList bool) {
	for _, k := range keys {
		v, name := object[k.Name], prefix+strings.ReplaceAll(k.Name, ".", "_")
		if k.JSON == records.Hidden || k.Type == records.Section {
			continue
		}
		if k.Type == records.Bool {
			if inside := object != nil; inside {
				row[name] = v == true
			}
			continue
		}
		list, isList := v.([]any)
		switch {
		case k.Parts != nil && isList:
			elements := []any{}
			for _, e := range list {
				element := map[string]any{}
				addColumns(element, k.Parts, "", e.(map[string]any), true)
				elements = append(elements, element)
			}
			row[name] = elements
		case k.Parts != nil && k.Len == nil:
			inner, _ := v.(map[string]any)
			addColumns(row, k.Parts, name+"_", inner, inList)
		case v == nil:
		case k.Len != nil:
			elements := []any{}
			for _, e := range list {
				elements = append(elements, columnValue(k, e))
			}
			row[name] = elements
		case k.Type == records.Counts && inList:
			var texts []string
			for _, name := range slices.Sorted(maps.Keys(v.(map[string]any))) {
				texts = append(texts, fmt.Sprintf("%s:%v", name, v.(map[string]any)[name]))
			}
			row[name] = strings.Join(texts, ",")
		case isList && inList:
			var texts []string
			for _, e := range list {
				texts = append(texts, e.(string))
			}
			separator := ","
			if k.Type == records.Flags {
				separator = "|"
			}
			row[name] = strings.Join(texts, separator)
		case k.Type == records.Time:
			at, err := time.Parse(time.RFC3339Nano, v.(string))
			if err != nil {
				panic(err)
			}
			row[name], row[name+"_ns"] = at.UnixMicro(), at.UnixNano()
		default:
			row[name] = columnValue(k, v)
		}
	}
}

// columnValue returns the value of a key in JSON as a column has it. Unsigned numbers are
// negative from 2^63 on, as in maps of parquet-go.
func columnValue[R any](k *records.Key[R], v any) any {
	text, isText := v.(string)
	switch {
	case k.Type == records.Duration:
		seconds, fraction, _ := strings.Cut(v.(json.Number).String(), ".")
		n, err := strconv.ParseInt(seconds+(fraction + "000000000")[:9], 10, 64)
		if err != nil {
			panic(err)
		}
		return n
	case text == "EOF" && k.Unit == records.Bytes:
		return int64(-1)
	case isText && (k.Type == records.Decimal || k.Type == records.Uint):
		n, err := strconv.ParseUint(text, 0, 64)
		if err != nil {
			panic(err)
		}
		return int64(n)
	case k.Type == records.Float:
		f, err := v.(json.Number).Float64()
		if err != nil {
			panic(err)
		}
		return fmt.Sprintf("%.3f", f)
	}
	return v
}

// plain returns a value in a form that both sides have in common.
func plain(v any) any {
	switch v := v.(type) {
	case time.Time:
		return v.UnixMicro()
	case float64:
		return fmt.Sprintf("%.3f", v)
	case map[string]any:
		m := map[string]any{}
		for k, e := range v {
			if n := plain(e); n != nil {
				m[k] = n
			}
		}
		return m
	case []any:
		list := []any{}
		for _, e := range v {
			list = append(list, plain(e))
		}
		return list
	}
	return v
}

// TestParquetFields compares the columns of -e with what -T fields prints.
func TestParquetFields(t *testing.T) {
	names := []string{"mbo_size", "mdt_body.mbo_valid", "name", "ocd_connect_flags", "lustre_msg", "fid", "kind"}
	args := []string{"../../pcaps/metadata.pcap.zst"}
	for _, name := range names {
		args = append(args, "-e", name)
	}
	text := succeeds(t, append(args, "-q", "-T", "fields")...)
	file := succeeds(t, append(args, "-q", "-T", "parquet")...)
	f := must.Value(parquet.OpenFile(strings.NewReader(file), int64(len(file))))(t)
	reader := parquet.NewReader(f)
	found := 0
	for line := range strings.Lines(text) {
		row := map[string]any{}
		must.NoError(t, reader.Read(&row))
		for i, want := range strings.Split(strings.TrimSuffix(line, "\n"), "\t") {
			name := strings.ReplaceAll(names[i], ".", "_")
			got, ok := row[name]
			switch {
			case !ok:
				t.Fatalf("no column %s", name)
			case got == nil && want == "":
			case got != want:
				t.Fatalf("%s: %v, want %s", name, got, want)
			default:
				found++
			}
		}
	}
	if err := reader.Read(&map[string]any{}); err != io.EOF || found == 0 {
		t.Errorf("after the last row: %v; %d values", err, found)
	}
	_, errs, status := run(t, "-T", "parquet", "-e", "lnet_type", args[0])
	assert.That(t, status == exit.Usage, "an unknown field: status %d, %s", status, errs)
	assert.Equal(t, rows.Duplicate(flags.MessageTable()), "", "two columns")
}

// TestHostileParquet: texts in Parquet files, also those of lshark monitor, are UTF-8.
func TestHostileParquet(t *testing.T) {
	for _, sample := range []string{"mount", "layouts", "hsm", "changelog", "operations"} {
		frames := hostile.Operations(t, 50)
		if sample != "operations" {
			frames = hostile.Sample(t, wiretest.Sample(sample))
		}
		path, texts := wiretest.SaveFrames(t, frames), 0
		for _, form := range []string{"", "rpcs", "imports", "locks", "files", "recovery --all", "config", "diagnose"} {
			out := filepath.Join(t.TempDir(), "out.parquet")
			succeeds(t, append(words(form), "-q", "-T", "parquet", "-o", out, path)...)
			texts += checkTexts(t, sample+" "+form, out)
		}
		dir := t.TempDir()
		succeeds(t, "monitor", "-q", "--records", dir, path)
		files := must.Value(filepath.Glob(filepath.Join(dir, "*.parquet")))(t)
		must.That(t, len(files) != 0, "no records")
		for _, file := range files {
			texts += checkTexts(t, sample+" monitor", file)
		}
		assert.That(t, texts >= 50, "%s: only %d texts", sample, texts)
	}
}

// checkTexts checks all texts of a file, and returns how many there are.
func checkTexts(t *testing.T, what, path string) (n int) {
	t.Helper()
	file := must.Value(os.Open(path))(t)
	defer file.Close()
	info := must.Value(file.Stat())(t)
	f, err := parquet.OpenFile(file, info.Size())
	must.NoError(t, err)
	for _, group := range f.RowGroups() {
		rows := group.Rows()
		buf := make([]parquet.Row, 64)
		for {
			k, err := rows.ReadRows(buf)
			for _, row := range buf[:k] {
				for _, v := range row {
					if v.Kind() != parquet.ByteArray || v.IsNull() {
						continue
					}
					n++
					if !utf8.Valid(v.ByteArray()) {
						t.Errorf("%s: %s", what, fmt.Sprintf("%q", v.ByteArray()))
					}
				}
			}
			if err != nil {
				break
			}
		}
		must.NoError(t, rows.Close())
	}
	return n
}
