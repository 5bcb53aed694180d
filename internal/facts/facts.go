// Package facts reads the tables in opcodes/testdata: sizes, offsets and numbers
// from Lustre's headers. Tests compare the declarations of the protocol with them.
package facts

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
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
	Buffers   [][]string // RMF name, name in layout.c, buffer
	Formats   [][]string // RQF name, opcodes, note, buffers of the request, of the reply
	Messages  [][]string // operation, variant, direction, index, field, kind, size, condition, bulk
}

// Read reads the .tsv files of a folder. A file has one or more tables, each of
// which begins with a line of headings.
func Read(dir string) (*Tables, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*.tsv"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("no .tsv files in %s", dir)
	}
	t := &Tables{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		if err := t.add(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
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
		{"rmf\t", &t.Buffers}, {"rqf\t", &t.Formats}, {"operation\tvariants\t", &t.Messages},
	}
	var table *[][]string
	columns := 0
next:
	for i, line := range strings.Split(text, "\n") {
		row := strings.Split(line, "\t")
		for _, x := range tables {
			if strings.HasPrefix(line, x.heading) {
				table, columns = x.rows, len(row)
				continue next
			}
		}
		switch {
		case strings.TrimSpace(line) == "":
			continue
		case table == nil:
			return fmt.Errorf("line %d: no headings above it; copy those of constants.tsv, structs.tsv or messages.tsv", i+1)
		case len(row) > columns:
			return fmt.Errorf("line %d: %d columns, the headings have %d; is the line of headings of the next table missing?", i+1, len(row), columns)
		case len(row) < columns:
			return fmt.Errorf("line %d: %d columns, the headings have %d: an empty one needs its tab, too", i+1, len(row), columns)
		}
		if table == &t.Messages {
			t.addMessages(row)
			continue
		}
		*table = append(*table, row)
	}
	return nil
}

// addMessages adds a row for each variant that a row of messages.tsv lists. A message whose first row is not of buffer 0
// begins with a ptlrpc_body, which such a table leaves out.
func (t *Tables) addMessages(row []string) {
	for variant := range strings.FieldsSeq(row[1]) {
		of := slices.Clone(row)
		of[1] = variant
		if of[3] == "1" && !slices.ContainsFunc(t.Messages, func(m []string) bool { return slices.Equal(m[:3], of[:3]) }) {
			t.Messages = append(t.Messages, []string{of[0], variant, of[2], "0", "ptlrpc_body", "struct ptlrpc_body_v3", "184", "", ""})
		}
		t.Messages = append(t.Messages, of)
	}
}
