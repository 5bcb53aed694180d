//go:build all

// Command rows prints the rows of Parquet files that lshark wrote as tab-separated
// values, for releases of ClickHouse that do not read Parquet. The first line has the
// names of the columns. Lists of objects and counts are left out. It reads with
// parquet-go, not with code of lshark, and has the tag all because that takes long to
// compile.
package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

func main() {
	if len(os.Args) < 2 {
		fmt.Fprintln(os.Stderr, "usage: rows FILE.parquet... >FILE.tsv")
		os.Exit(2)
	}
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "rows:", err)
		os.Exit(1)
	}
}

func run(paths []string, to io.Writer) error {
	out := bufio.NewWriterSize(to, 1<<20)
	var header string
	for _, path := range paths {
		if err := printFile(out, path, &header); err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
	}
	return out.Flush()
}

// printFile prints the rows of a file, and the header before the first one.
func printFile(out io.Writer, path string, header *string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	file, err := parquet.OpenFile(f, info.Size())
	if err != nil {
		return err
	}
	w := newWriter(file.Schema())
	switch names := w.header(); *header {
	case "":
		*header = names
		if _, err := io.WriteString(out, names); err != nil {
			return err
		}
	case names:
	default:
		return errors.New("it has other columns than the first file")
	}
	for _, group := range file.RowGroups() {
		if err := w.group(out, group); err != nil {
			return err
		}
	}
	return nil
}

func (w *writer) group(out io.Writer, group parquet.RowGroup) error {
	rows := group.Rows()
	defer rows.Close()
	buffer := make([]parquet.Row, 256)
	for {
		n, err := rows.ReadRows(buffer)
		w.line = w.line[:0]
		for _, row := range buffer[:n] {
			w.row(row)
		}
		if _, err := out.Write(w.line); err != nil {
			return err
		}
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
	}
}

type writer struct {
	columns []column // by the number of the leaf
	line    []byte
}

// column is how the values of a leaf are printed.
type column struct {
	name string // none: left out
	form form
	list bool
}

type form uint8

const (
	asText    form = iota // empty for NULL
	asInt                 // \N for NULL
	asUint                // \N for NULL
	asFlag                // 0 for NULL
	asSeconds             // of a time in microseconds; \N for NULL
)

func newWriter(schema *parquet.Schema) *writer {
	w := &writer{}
	for _, path := range schema.Columns() {
		leaf, _ := schema.Lookup(path...)
		c := column{name: path[0], list: strings.Join(path[1:], ".") == "list.element"}
		kind := leaf.Node.Type()
		var logical format.LogicalTypeValue
		if t := kind.LogicalType(); t != nil {
			logical = t.Value
		}
		_, isTime := logical.(*format.TimestampType)
		integer, isInteger := logical.(*format.IntType)
		switch {
		case len(path) > 1 && !c.list || c.list && kind.Kind() != parquet.ByteArray:
			c.name = ""
		case kind.Kind() == parquet.Boolean:
			c.form = asFlag
		case isTime:
			c.form = asSeconds
		case isInteger && !integer.IsSigned:
			c.form = asUint
		case kind.Kind() == parquet.Int64:
			c.form = asInt
		}
		w.columns = append(w.columns, c)
	}
	return w
}

func (w *writer) header() string {
	var names []string
	for _, c := range w.columns {
		if c.name != "" {
			names = append(names, c.name)
		}
	}
	return strings.Join(names, "\t") + "\n"
}

// row appends the line of a row. The values of a leaf follow each other.
func (w *writer) row(row parquet.Row) {
	first := true
	for len(row) > 0 {
		leaf := row[0].Column()
		n := 1
		for n < len(row) && row[n].Column() == leaf {
			n++
		}
		if c := &w.columns[leaf]; c.name != "" {
			if !first {
				w.line = append(w.line, '\t')
			}
			first = false
			if c.list {
				w.texts(row[:n])
			} else {
				w.value(c.form, row[0])
			}
		}
		row = row[n:]
	}
	w.line = append(w.line, '\n')
}

func (w *writer) value(f form, v parquet.Value) {
	switch {
	case f == asText:
		w.text(v.ByteArray())
	case f == asFlag && !v.IsNull() && v.Boolean():
		w.line = append(w.line, '1')
	case f == asFlag:
		w.line = append(w.line, '0')
	case v.IsNull():
		w.line = append(w.line, `\N`...)
	case f == asUint:
		w.line = strconv.AppendUint(w.line, v.Uint64(), 10)
	case f == asSeconds:
		w.line = strconv.AppendInt(w.line, v.Int64()/1e6, 10)
	default:
		w.line = strconv.AppendInt(w.line, v.Int64(), 10)
	}
}

// texts appends a list; the value of an empty one is NULL.
func (w *writer) texts(list []parquet.Value) {
	w.line = append(w.line, '[')
	for i, v := range list {
		if v.IsNull() && len(list) == 1 {
			break
		}
		if i > 0 {
			w.line = append(w.line, ',')
		}
		w.line = append(w.line, '\'')
		w.text(v.ByteArray())
		w.line = append(w.line, '\'')
	}
	w.line = append(w.line, ']')
}

// text appends a string with the escapes of ClickHouse's TabSeparated.
func (w *writer) text(b []byte) {
	for _, c := range b {
		switch c {
		case '\t':
			w.line = append(w.line, `\t`...)
		case '\n':
			w.line = append(w.line, `\n`...)
		case 0:
			w.line = append(w.line, `\0`...)
		case '\\', '\'':
			w.line = append(w.line, '\\', c)
		default:
			w.line = append(w.line, c)
		}
	}
}
