package tables

import (
	"github.com/lshark/lshark/dissect/track"
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
	t := k.New(o, first)
	grid, exact := newGrid(t.heads()), []SheetCell(nil)
	for _, r := range list {
		for i := range t.cells {
			t.shown = 0
			t.cells[i].put(grid, t.printer, r)
			exact = append(exact, SheetCell{Value: t.cells[i].number(r), Time: t.shown})
		}
	}
	keys := k.entriesOfKeys()
	return grid.sheet(exact, func(i int) string { return k.columns[i].describe(keys).Doc })
}

// Sheet returns the sheet of an interval, with at most so many rows.
func (s *StatsTable) Sheet(i *track.Interval, most int) *Sheet {
	grid, exact := newGrid(s.columns()), []SheetCell(nil)
	rows := s.Options.Rows(i)
	for _, r := range rows[:min(most, len(rows))] {
		s.row(grid, r, false)
		exact = append(exact, make([]SheetCell, len(s.Options.By))...)
		for k := range s.numbers {
			exact = append(exact, SheetCell{Value: s.numbers[k].number(r)})
		}
	}
	keys := records.Rows.Entries()
	return grid.sheet(exact, func(i int) string {
		if i -= len(s.Options.By); i >= 0 {
			return s.numbers[i].describe(keys).Doc
		}
		return ""
	})
}

// number returns the exact value of a time span or a size, as JSON has it, empty for other values.
func (c *cellPrinter[R]) number(r R) string {
	path, ok := c.keys.Find(c.keyPath())
	if !ok || path.Len(r) != 1 || !path.Value(r, 0, &c.val) || c.val.Type != records.Duration && path.Key.Unit != records.Bytes {
		return ""
	}
	return string(render.AppendValue(nil, &c.val))
}

// sheet makes a sheet of the cells. exact has what else is known of each.
func (t *grid) sheet(exact []SheetCell, doc func(column int) string) *Sheet {
	s := &Sheet{}
	for k := range t.cols {
		c := &t.cols[k]
		c.hidden = !c.filled && (c.rank > needed || c.optional)
		if !c.hidden {
			s.Columns = append(s.Columns, SheetColumn{c.title, doc(k), c.left, c.isList()})
		}
	}
	from := 0
	for at := range t.cells {
		if at%len(t.cols) == 0 {
			s.Rows = append(s.Rows, nil)
		}
		text := t.text[from:t.cells[at].end]
		from = t.cells[at].end
		c := &t.cols[at%len(t.cols)]
		if c.hidden {
			continue
		}
		if c.isList() {
			const longest = 100
			var short schema.Marked
			render.AddTruncated(&short, schema.NoRole, text, longest)
			text = short.Text
		}
		cell := exact[at]
		cell.Text, cell.Role = string(text), t.cells[at].role
		last := len(s.Rows) - 1
		s.Rows[last] = append(s.Rows[last], cell)
	}
	return s
}
