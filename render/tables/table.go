package tables

import (
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// grid aligns cells in columns. All cells are added first, then rendered with the
// widths that they need.
type grid struct {
	cols  []tableColumn
	text  []byte
	cells []cell
}

// rank is the importance of a column.
type rank int

const (
	needed       rank = iota
	neededFilled      // needed, but hidden first where it has no values
	useful            // omitted where there is no room
	extra             // omitted before those, the last one first
)

type tableColumn struct {
	title   string
	left    bool
	whole   bool // never truncated
	dimZero bool // 0 is dim
	rank    rank
	width   int
	wanted  int  // width without truncation
	filled  bool // a cell has another value than 0 or -
	hidden  bool // there is no room, or the column is absent

	optional bool // absent where no cell has a value
}

// absent reports whether the column is left out, because it is optional and empty.
func (c *tableColumn) absent() bool { return c.optional && !c.filled }

// isList reports whether a column has texts that are truncated first.
func (c *tableColumn) isList() bool { return c.rank == useful && c.left }

// cell is a cell by the end of its text, where that of the next one begins.
type cell struct {
	end  int
	role schema.Role
}

func newGrid(cols []tableColumn) *grid {
	t := &grid{cols: cols}
	for i := range t.cols {
		t.cols[i].width = len(t.cols[i].title)
	}
	return t
}

func (t *grid) put(role schema.Role, text []byte) {
	k := len(t.cells) % len(t.cols)
	if t.cols[k].dimZero && string(text) == "0" {
		role = schema.Dim
	}
	switch string(text) {
	case "", "0", "-":
	default:
		t.cols[k].filled = true
	}
	t.text = append(t.text, text...)
	t.cells = append(t.cells, cell{len(t.text), role})
	t.cols[k].width = max(t.cols[k].width, render.Width(text))
}

// Widths that columns are truncated to, on two levels: as long as others can be
// hidden instead, and at least.
const (
	shortName    = 20
	shortList    = 24
	minList      = 10
	minTruncated = 12
)

// fit hides and truncates columns until the table has a width; 0: any. Columns
// without values are hidden first, then the extra ones. Lists of errors are
// truncated before useful columns are hidden, the last ones first.
func (t *grid) fit(columns int) {
	if columns == 0 {
		return
	}
	over := -2 - columns
	for k := range t.cols {
		c := &t.cols[k]
		c.wanted = c.width
		if !c.hidden {
			over += c.width + 2
		}
	}
	hide := func(which func(c *tableColumn) bool) {
		for k := len(t.cols) - 1; k >= 0 && over > 0; k-- {
			if c := &t.cols[k]; !c.hidden && which(c) {
				c.hidden = true
				over -= c.width + 2
			}
		}
	}
	truncate := func(least int) {
		for k := len(t.cols) - 1; k >= 0; k-- {
			if c := &t.cols[k]; c.isList() && !c.hidden {
				cut := max(0, min(over, c.width-least))
				c.width -= cut
				over -= cut
			}
		}
	}
	hide(func(c *tableColumn) bool { return c.rank > needed && !c.filled })
	truncate(shortList)
	hide(func(c *tableColumn) bool { return c.rank == extra })
	truncate(minList)
	over = t.narrow(over, shortName)
	hide(func(c *tableColumn) bool { return c.rank == useful })
	for k := range t.cols { // a narrow one may fit where a wide one did not
		if c := &t.cols[k]; c.hidden && c.filled && c.rank == useful && over+c.width+2 <= 0 {
			c.hidden = false
			over += c.width + 2
		}
	}
	t.widen(-t.narrow(over, minTruncated))
}

// narrow truncates the widest of the left-aligned columns, down to a width, as
// long as the table is too wide. It returns by how much it still is.
func (t *grid) narrow(over, least int) int {
	for ; over > 0; over-- {
		widest := -1
		for k, c := range t.cols {
			if !c.hidden && c.left && !c.whole && c.width > least && (widest < 0 || c.width > t.cols[widest].width) {
				widest = k
			}
		}
		if widest < 0 {
			break
		}
		t.cols[widest].width--
	}
	return over
}

// widen gives room that is left to truncated columns, in their order.
func (t *grid) widen(room int) {
	for k := range t.cols {
		if c := &t.cols[k]; !c.hidden && room > 0 {
			n := min(room, c.wanted-c.width)
			c.width += n
			room -= n
		}
	}
}

// Omitted is the columns for which a terminal has no room, of tables with the
// same columns.
type Omitted struct{ columns []omittedColumn }

type omittedColumn struct {
	title string
	shown bool // in one of the tables
	lost  bool // hidden where it had values
}

func (o *Omitted) add(t *grid) {
	if o.columns == nil {
		o.columns = make([]omittedColumn, len(t.cols))
	}
	for k := range t.cols {
		c, sum := &t.cols[k], &o.columns[k]
		sum.title = c.title
		sum.shown = sum.shown || !c.hidden || c.absent()
		sum.lost = sum.lost || c.hidden && c.filled
	}
}

// String lists the titles, apart those of columns that have no values; it is empty
// when all columns are shown.
func (o *Omitted) String() string {
	var lost, empty []string
	for _, c := range o.columns {
		switch {
		case c.lost:
			lost = append(lost, c.title)
		case !c.shown:
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

// render appends the lines, titles first.
func (t *grid) render(dst *schema.Marked, columns int) {
	for k := range t.cols {
		t.cols[k].hidden = t.cols[k].absent()
	}
	t.fit(columns)
	t.line(dst, func(k int) ([]byte, schema.Role) { return []byte(t.cols[k].title), schema.Heading })
	for at := 0; at < len(t.cells); at += len(t.cols) {
		t.line(dst, func(k int) ([]byte, schema.Role) {
			from := 0
			if at+k > 0 {
				from = t.cells[at+k-1].end
			}
			c := t.cells[at+k]
			return t.text[from:c.end], c.role
		})
	}
}

func (t *grid) line(dst *schema.Marked, get func(k int) ([]byte, schema.Role)) {
	first := true
	pending := 0 // spaces that are appended when something follows
	for k := range t.cols {
		if t.cols[k].hidden {
			continue
		}
		if !first {
			pending += 2
		}
		first = false
		text, role := get(k)
		fill := max(0, t.cols[k].width-render.Width(text))
		if !t.cols[k].left {
			pending += fill
		}
		if len(text) > 0 {
			render.AddTruncated(dst.Spaces(pending), role, text, t.cols[k].width)
			pending = 0
		}
		if t.cols[k].left {
			pending += fill
		}
	}
	dst.Plain("\n")
}
