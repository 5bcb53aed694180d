// Package facts reads the tables in opcodes/testdata: sizes, offsets and numbers
// from Lustre's headers. Tests compare the declarations of the protocol with them.
package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Tables are the rows of all tables. Every row has as many columns as the
// headings of its table.
type Tables struct {
	Constants [][]string // group, name, value, kind, since, note
	Structs   [][]string // struct, field, offset, size, type, array length, since, note
	Validity  [][]string // struct, field, valid or shown, condition: see validity.tsv
	Fields    [][]string // group or byte order, its fields: see fields.tsv
	Texts     [][]string // name, text, since, note
	Buffers   [][]string // name, what it holds, size, name in messages and in errors of layout.c, note
	Messages  [][]string // operation, variants, names in layout.c, buffers of the request, of the reply, note
	Formats   [][]string // name in layout.c, operations, buffers that all their requests and replies begin with, note
}

// Read reads the .tsv files of folders. A file has one or more tables, each of
// which begins with a line of headings.
func Read(dirs ...string) (*Tables, error) {
	t := &Tables{}
	for _, dir := range dirs {
		names, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
		if err != nil {
			return nil, err
		}
		if len(names) == 0 {
			return nil, fmt.Errorf("no .tsv files in %s", dir)
		}
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				return nil, err
			}
			if err := t.add(string(text)); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
	}
	return t, nil
}

func (t *Tables) add(text string) error {
	tables := []struct {
		heading string // its first columns
		rows    *[][]string
	}{
		{"group\tname\t", &t.Constants}, {"struct\tfield\twhat\t", &t.Validity}, {"struct\tfield\t", &t.Structs}, {"name\ttext\t", &t.Texts}, {"names\tfields", &t.Fields},
		{"buffer\t", &t.Buffers}, {"operation\tvariants\t", &t.Messages}, {"rqf\t", &t.Formats},
	}
	var rows *[][]string
	columns := 0
next:
	for i, line := range strings.Split(text, "\n") {
		row := strings.Split(line, "\t")
		for _, x := range tables {
			if strings.HasPrefix(line, x.heading) {
				rows, columns = x.rows, len(row)
				continue next
			}
		}
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case rows == nil:
			return fmt.Errorf("line %d: no headings above it; copy those of constants.tsv, structs.tsv or messages.tsv", i+1)
		case len(row) != columns:
			return fmt.Errorf("line %d: %d columns, the headings have %d: an empty one needs its tab, too", i+1, len(row), columns)
		}
		*rows = append(*rows, row)
	}
	return nil
}

// Buffer is a buffer of a message.
type Buffer struct {
	Operation, Variant string
	Reply              bool
	Index              int
	Name, Holds, Size  string
}

// MessageBuffers returns the buffers of each variant of the operations that are sent.
func (t *Tables) MessageBuffers() (list []Buffer, err error) {
	rows := make(map[string][]string)
	for _, row := range t.Buffers {
		rows[row[0]] = row
	}
	for _, row := range t.Messages {
		for variant := range strings.FieldsSeq(row[1]) {
			for i, name := range append(strings.Fields(row[3]), strings.Fields(row[4])...) {
				b := Buffer{Operation: row[0], Variant: variant, Index: i}
				if n := len(strings.Fields(row[3])); i >= n {
					b.Reply, b.Index = true, i-n
				}
				name, isEmpty := strings.CutSuffix(name, "=0")
				of := rows[name]
				if of == nil {
					return nil, fmt.Errorf("%s has the buffer %s, which is not in the facts: add what it holds to a table with the headings of the first one in messages.tsv", row[0], name)
				}
				b.Name, _, _ = strings.Cut(name, ":")
				b.Holds, b.Size = of[1], of[2]
				if isEmpty {
					b.Size = "0"
				}
				list = append(list, b)
			}
		}
	}
	return list, nil
}
