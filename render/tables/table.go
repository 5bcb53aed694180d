package tables

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Table renders records of one kind as a table, one row each. All cells are added first, then
// rendered with the widths that they need.
type Table[R any] struct {
	*printer
	columns []tableColumn[R]
	text    []byte
	cells   []cell
}

type tableColumn[R any] struct {
	*column[R]
	path records.Path[R] // of the key, if the record has it
	val  records.Value
	buf  []byte

	// In the table that is appended.
	width  int
	wanted int  // width without truncation
	filled bool // a cell has another value than 0 or -
	hidden bool // there is no room, or the column is absent

	all appearance
}

// appearance is what happened to a column in the tables that were appended so far. Each field is
// set when it was true in at least one of them.
type appearance struct {
	shown   bool
	omitted bool // there was no room for the column
	lost    bool // there was no room for values that it had
}

// rank is the importance of a column.
type rank int

const (
	needed       rank = iota
	neededFilled      // needed, but hidden first where it has no values
	useful            // omitted where there is no room
	extra             // omitted before those, the last one first
)

// isList reports whether a column has texts that are truncated first.
func (c *column[R]) isList() bool { return c.rank == useful && c.left }

// cell is a cell by the end of its text, where that of the next one begins.
type cell struct {
	end  int
	role schema.Role
}

// New makes a renderer. first is the time of the capture's first frame.
func (k *Kind[R]) New(o render.SummaryOptions, first int64) *Table[R] {
	return k.newOf(&printer{opt: o, at: render.Moment{First: first}})
}

// newOf makes one of several renderers that print together: the differences between
// times are those between all.
func (k *Kind[R]) newOf(p *printer) *Table[R] {
	t := &Table[R]{printer: p}
	for i := range k.columns {
		c := tableColumn[R]{column: &k.columns[i]}
		if k.keys != nil {
			var ok bool
			if c.path, ok = k.keys.Find(c.keyPath()); !ok && c.show == nil {
				panic("tables: a " + k.keys.Record + " has no key " + c.keyPath() + ": declare it in render/records, or give the column a show")
			}
		}
		t.columns = append(t.columns, c)
	}
	return t
}

// Append appends the table, nothing without records.
func (t *Table[R]) Append(dst *schema.Marked, list []R) {
	if len(list) > 0 {
		t.appendRows(dst, list)
	}
}

// appendRows appends the table, titles first.
func (t *Table[R]) appendRows(dst *schema.Marked, list []R) {
	t.begin(len(list))
	for _, r := range list {
		for k := range t.columns {
			t.put(&t.columns[k], r)
		}
	}
	for k := range t.columns {
		c := &t.columns[k]
		c.hidden = c.optional && !c.filled
	}
	t.fit()
	t.line(dst, func(k int) ([]byte, schema.Role) { return []byte(t.columns[k].title), schema.Heading })
	for at := 0; at < len(t.cells); at += len(t.columns) {
		t.line(dst, func(k int) ([]byte, schema.Role) {
			from, c := 0, t.cells[at+k]
			if at+k > 0 {
				from = t.cells[at+k-1].end
			}
			return t.text[from:c.end], c.role
		})
	}
	for k := range t.columns {
		c := &t.columns[k]
		omitted := c.hidden && (c.filled || !c.optional)
		c.all.shown = c.all.shown || !omitted
		c.all.omitted = c.all.omitted || omitted
		c.all.lost = c.all.lost || omitted && c.filled
	}
}

// begin begins a table of so many rows.
func (t *Table[R]) begin(rows int) {
	t.text, t.cells = t.text[:0], slices.Grow(t.cells[:0], rows*len(t.columns))
	for k := range t.columns {
		c := &t.columns[k]
		c.width, c.filled = len(c.title), false
	}
}

// put adds the cell of a record.
func (t *Table[R]) put(c *tableColumn[R], r R) {
	role := c.role
	if c.mark != nil {
		role = c.mark(r)
	}
	if c.show != nil {
		c.buf = schema.AppendText(c.buf[:0], []byte(c.show(t.printer, r)))
	} else {
		c.buf = c.value(t.printer, c.buf[:0], r)
	}
	switch string(c.buf) {
	case "":
		if !c.blank {
			c.buf = append(c.buf, '-')
			if c.dimNone {
				role = schema.Dim
			}
		}
	case "0":
		if c.dimZero {
			role = schema.Dim
		}
	case "-":
	default:
		c.filled = true
	}
	t.text = append(t.text, c.buf...)
	t.cells = append(t.cells, cell{len(t.text), role})
	c.width = max(c.width, render.Width(c.buf))
}

// value appends the value of the key, or its values separated by spaces.
func (c *tableColumn[R]) value(p *printer, dst []byte, r R) []byte {
	start := len(dst)
	for i := range c.path.Len(r) {
		if !c.path.Value(r, i, &c.val) {
			continue
		}
		if len(dst) > start {
			dst = append(dst, ' ')
		}
		if c.round {
			dst = render.AppendLockWait(dst, int64(c.val.U))
		} else {
			dst = render.AppendCell(dst, &c.val, c.path.Key.Unit, p.opt.NIDs)
		}
	}
	return dst
}

// Widths that columns are truncated to, on two levels: as long as others can be
// hidden instead, and at least.
const (
	shortName    = 20
	shortList    = 24
	minList      = 10
	minTruncated = 12
)

// fit hides and truncates columns until the table has the width of the terminal; 0: any. Columns
// without values are hidden first, then the extra ones. Lists of errors are
// truncated before useful columns are hidden, the last ones first.
func (t *Table[R]) fit() {
	if t.opt.Width == 0 {
		return
	}
	over := -2 - t.opt.Width
	for k := range t.columns {
		c := &t.columns[k]
		c.wanted = c.width
		if !c.hidden {
			over += c.width + 2
		}
	}
	hide := func(which func(c *tableColumn[R]) bool) {
		for k := len(t.columns) - 1; k >= 0 && over > 0; k-- {
			if c := &t.columns[k]; !c.hidden && which(c) {
				c.hidden = true
				over -= c.width + 2
			}
		}
	}
	truncate := func(least int) {
		for k := len(t.columns) - 1; k >= 0; k-- {
			if c := &t.columns[k]; c.isList() && !c.hidden {
				cut := max(0, min(over, c.width-least))
				c.width -= cut
				over -= cut
			}
		}
	}
	hide(func(c *tableColumn[R]) bool { return c.rank > needed && !c.filled })
	truncate(shortList)
	hide(func(c *tableColumn[R]) bool { return c.rank == extra })
	truncate(minList)
	over = t.narrow(over, shortName)
	hide(func(c *tableColumn[R]) bool { return c.rank == useful })
	for k := range t.columns { // a narrow one may fit where a wide one did not
		if c := &t.columns[k]; c.hidden && c.filled && c.rank == useful && over+c.width+2 <= 0 {
			c.hidden = false
			over += c.width + 2
		}
	}
	t.widen(-t.narrow(over, minTruncated))
}

// narrow truncates the widest of the left-aligned columns, down to a width, as
// long as the table is too wide. It returns by how much it still is.
func (t *Table[R]) narrow(over, least int) int {
	for ; over > 0; over-- {
		widest := -1
		for k := range t.columns {
			if c := &t.columns[k]; !c.hidden && c.left && !c.whole && c.width > least && (widest < 0 || c.width > t.columns[widest].width) {
				widest = k
			}
		}
		if widest < 0 {
			break
		}
		t.columns[widest].width--
	}
	return over
}

// widen gives room that is left to truncated columns, in their order.
func (t *Table[R]) widen(room int) {
	for k := range t.columns {
		if c := &t.columns[k]; !c.hidden && room > 0 {
			n := min(room, c.wanted-c.width)
			c.width += n
			room -= n
		}
	}
}

// Omitted lists the columns for which the terminal had no room, first those that have values; it is
// empty when all columns were shown.
func (t *Table[R]) Omitted() string {
	var lost, empty []string
	for k := range t.columns {
		switch c := &t.columns[k]; {
		case c.all.lost:
			lost = append(lost, c.title)
		case c.all.omitted && !c.all.shown:
			empty = append(empty, c.title)
		}
	}
	text := strings.Join(lost, " ")
	switch {
	case len(empty) == 0:
		return text
	case text == "":
		return strings.Join(empty, " ") + " (0)"
	}
	return text + " (0: " + strings.Join(empty, " ") + ")"
}

func (t *Table[R]) line(dst *schema.Marked, get func(k int) ([]byte, schema.Role)) {
	first := true
	pending := 0 // spaces that are appended when something follows
	for k := range t.columns {
		if t.columns[k].hidden {
			continue
		}
		if !first {
			pending += 2
		}
		first = false
		text, role := get(k)
		fill := max(0, t.columns[k].width-render.Width(text))
		if !t.columns[k].left {
			pending += fill
		}
		if len(text) > 0 {
			render.AddTruncated(dst.Spaces(pending), role, text, t.columns[k].width)
			pending = 0
		}
		if t.columns[k].left {
			pending += fill
		}
	}
	dst.Plain("\n")
}
