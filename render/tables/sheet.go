package tables

import (
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Sheet is a table for a page, by columns and cells. Of the columns that are not needed it has
// those with values.
type Sheet struct {
	Columns []SheetColumn
	Rows    [][]SheetCell
}

// SheetColumn is a column of a sheet.
type SheetColumn struct {
	Title, Doc string
	Left       bool
	List       bool // its texts may have several lines
}

// SheetCell is a cell of a sheet.
type SheetCell struct {
	Text  string
	Role  schema.Role
	Value string // the exact number of a time span or a size, empty for others
	Time  int64  // that the text stands for, in nanoseconds since the epoch, 0 for none
}

// Sheet returns the sheet of records. first is the time of the capture's first frame.
func (k *Kind[R]) Sheet(o render.SummaryOptions, first int64, list []R) *Sheet {
	t, rows := k.New(o, first), make([][]SheetCell, len(list))
	t.begin(len(list))
	for n, r := range list {
		for i := range t.columns {
			c := &t.columns[i]
			t.lastTime = 0
			t.put(c, r)
			if c.isList() {
				const longest = 100
				c.buf = render.AppendTruncated(nil, c.buf, longest)
			}
			rows[n] = append(rows[n], SheetCell{string(c.buf), t.cells[len(t.cells)-1].role, c.number(r), t.lastTime})
		}
	}
	s := &Sheet{Rows: make([][]SheetCell, len(rows))}
	keys := k.entriesOfKeys()
	for i := range t.columns {
		c := &t.columns[i]
		if !c.filled && (c.rank > needed || c.optional) {
			continue
		}
		s.Columns = append(s.Columns, SheetColumn{c.title, c.describe(keys).Doc, c.left, c.isList()})
		for n := range rows {
			s.Rows[n] = append(s.Rows[n], rows[n][i])
		}
	}
	return s
}

// number returns the exact value of a time span or a size, as JSON has it, empty for other values.
func (c *tableColumn[R]) number(r R) string {
	if c.path.Key == nil || c.path.Len(r) != 1 || !c.path.Value(r, 0, &c.val) ||
		c.val.Type != records.Duration && c.path.Key.Unit != records.Bytes {
		return ""
	}
	return string(render.AppendValue(nil, &c.val))
}
