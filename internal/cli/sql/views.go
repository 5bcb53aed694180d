package sql

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/dissect/lnet/clocks"
)

// rpcViews are the views over RPCs.
//
//go:embed rpcs.sql
var rpcViews string

// script returns the SQL that makes the views over the files of tables. clocks are those of captures, by
// path. Captures have names as in the records of other commands.
func script(files map[string][]file, captures []string, clocks map[string]clocks.Clock) string {
	var b strings.Builder
	// Everything that is needed is in DuckDB. A query that needs an extension installs it itself.
	b.WriteString("set autoinstall_known_extensions = false;\ncreate schema if not exists lshark;\n" +
		"create or replace macro duration(ns) as to_microseconds(ns // 1000);\n") // an INTERVAL
	names := make(map[string]string) // by path
	for i, name := range capture.FileNames(captures) {
		names[captures[i]] = name
	}
	for _, table := range allTables {
		if len(files[table]) == 0 {
			continue
		}
		view := table
		if table == rpcsTable {
			view = "rpcs_by_capture"
			writeCaptures(&b, files[table], names, clocks)
		}
		writeView(&b, view, table, files[table], names)
	}
	if len(files[rpcsTable]) > 0 {
		b.WriteString(rpcViews)
	}
	return b.String()
}

// writeView writes the view over the files of a table. A file of the cache may have been made when the
// capture had another name.
func writeView(b *strings.Builder, view, table string, files []file, names map[string]string) {
	fmt.Fprintf(b, "create or replace view %s as\nselect * ", view)
	if table != rpcsTable {
		b.WriteString("exclude (filename) ")
	}
	var pairs []string
	given := false
	for _, f := range files {
		given = given || f.capture == ""
		if f.capture != "" {
			pairs = append(pairs, quote(f.path)+": "+quote(names[f.capture]))
		}
	}
	if len(pairs) > 0 {
		fmt.Fprintf(b, "replace (coalesce(map_extract(map {%s}, filename)[1], capture) as capture)", strings.Join(pairs, ", "))
	}
	if table == rpcsTable || table == messagesTable {
		b.WriteString(", opcode as op")
	}
	fmt.Fprintf(b, "\nfrom read_parquet(%s, filename = true, hive_partitioning = false", pathList(files))
	if table == rpcsTable {
		b.WriteString(", file_row_number = true")
	}
	if given {
		b.WriteString(", union_by_name = true") // other releases may have had fewer columns
	}
	b.WriteString(");\n")
}

// writeCaptures writes the table of the captures whose RPCs can be queried, with their clocks and times.
func writeCaptures(b *strings.Builder, files []file, names map[string]string, clocks map[string]clocks.Clock) {
	b.WriteString("create or replace table captures as\nwith given(number, parquet, capture, path, clock_offset, clock_of) as (values")
	for i, f := range files {
		if i > 0 {
			b.WriteByte(',')
		}
		name, path, offset, of := "null", "null", "null::bigint", "null"
		if f.capture != "" {
			name, path = quote(names[f.capture]), quote(f.capture)
		}
		if clock, ok := clocks[f.capture]; ok && f.capture != "" {
			offset, of = fmt.Sprintf("%d::bigint", int64(clock.Offset/time.Nanosecond)), quote(clock.Of)
		}
		fmt.Fprintf(b, "\n  (%d, %s, %s, %s, %s, %s)", i, quote(f.path), name, path, offset, of)
	}
	fmt.Fprintf(b, `),
spans as (
  select file_name as parquet, min(stats_min_value::bigint) as first_ns, max(stats_max_value::bigint) as last_ns
  from parquet_metadata(%s) where path_in_schema = 'request_time_ns' group by all)
from given left join spans using (parquet);
`, pathList(files))
}

func quote(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// pathList returns files as a list in SQL, for functions to which some characters in paths mean
// patterns.
func pathList(files []file) string {
	literal := strings.NewReplacer("*", "[*]", "?", "[?]", "[", "[[]")
	var paths []string
	for _, f := range files {
		paths = append(paths, quote(literal.Replace(f.path)))
	}
	return "[" + strings.Join(paths, ", ") + "]"
}
