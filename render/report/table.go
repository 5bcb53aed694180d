package report

import (
	"github.com/lshark/lshark/render"
)

// table aligns cells in columns. All cells are added first, then rendered with
// the widths that they need.
type table struct {
	colors *render.Colors
	cols   []tableColumn
	text   []byte
	cells  []cell
}

// rank is the importance of a column.
type rank int

const (
	needed rank = iota
	useful      // omitted where there is no room
	extra       // omitted before those, the last one first
)

// tableColumn is a column of a table.
type tableColumn struct {
	title   string
	left    bool
	dimZero bool // 0 is dim
	rank    rank
	width   int
}

type cell struct {
	from, to int
	style    *render.Style
}

func newTable(c *render.Colors, cols []tableColumn) *table {
	t := &table{colors: c, cols: cols}
	for i := range t.cols {
		t.cols[i].width = len(t.cols[i].title)
	}
	return t
}

// put adds the next cell, which write appends.
func (t *table) put(st *render.Style, write func([]byte) []byte) {
	from := len(t.text)
	t.text = write(t.text)
	k := len(t.cells) % len(t.cols)
	if t.cols[k].dimZero && string(t.text[from:]) == "0" {
		st = &t.colors.Dim
	}
	t.cells = append(t.cells, cell{from, len(t.text), st})
	t.cols[k].width = max(t.cols[k].width, render.Width(t.text[from:]))
}

// minTruncated is the least width that a column is truncated to.
const minTruncated = 12

// shown returns which of the table's columns fit into a width, and truncates
// the last one to fit; width 0: all fit.
func (t *table) shown(columns int) []bool {
	show := make([]bool, len(t.cols))
	all := -2
	for k := range t.cols {
		show[k] = true
		all += t.cols[k].width + 2
	}
	for least := extra; least >= useful && columns > 0; least-- {
		for k := len(t.cols) - 1; k >= 0 && all > columns; k-- {
			c := &t.cols[k]
			if c.rank != least {
				continue
			}
			if over := all - columns; k == len(t.cols)-1 && least == useful && c.width-over >= minTruncated {
				c.width -= over
				return show
			}
			show[k] = false
			all -= c.width + 2
		}
	}
	if columns > 0 {
		t.narrow(show, all-columns)
	}
	return show
}

// narrow truncates the widest of the left-aligned columns, as long as the table
// is too wide.
func (t *table) narrow(show []bool, excess int) {
	for ; excess > 0; excess-- {
		widest := -1
		for k, c := range t.cols {
			if show[k] && c.left && c.width > minTruncated && (widest < 0 || c.width > t.cols[widest].width) {
				widest = k
			}
		}
		if widest < 0 {
			return
		}
		t.cols[widest].width--
	}
}

// render appends the lines, titles first.
func (t *table) render(dst []byte, columns int) []byte {
	show := t.shown(columns)
	dst = t.line(dst, show, func(k int) ([]byte, *render.Style) { return []byte(t.cols[k].title), &t.colors.Head })
	for at := 0; at < len(t.cells); at += len(t.cols) {
		dst = t.line(dst, show, func(k int) ([]byte, *render.Style) {
			c := t.cells[at+k]
			return t.text[c.from:c.to], c.style
		})
	}
	return dst
}

func (t *table) line(dst []byte, show []bool, get func(k int) ([]byte, *render.Style)) []byte {
	first := true
	pending := 0 // spaces that are appended when something follows
	for k := range t.cols {
		if !show[k] {
			continue
		}
		if !first {
			pending += 2
		}
		first = false
		text, st := get(k)
		fill := max(0, t.cols[k].width-render.Width(text))
		if !t.cols[k].left {
			pending += fill
		}
		if len(text) > 0 {
			dst = render.AppendSpaces(dst, pending)
			dst = st.AppendTruncated(dst, text, t.cols[k].width)
			pending = 0
		}
		if t.cols[k].left {
			pending += fill
		}
	}
	return append(dst, '\n')
}
