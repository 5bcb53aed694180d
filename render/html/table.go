package html

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/tables"
)

type column struct {
	title string
	class markup // num, still, list or empty
	help  string // a longer title, empty for none
}

// The classes of columns.
const (
	num   markup = "num"   // numbers, aligned at the right
	still markup = "still" // rows are not sorted by it
	list  markup = "list"  // texts of several lines
)

type cell struct {
	text  string
	value string // what the column is sorted by, and the exact value; empty: the text
	class markup // of the style sheet, empty for none
	bar   int64  // with barOf: the part of barOf that a bar in the cell shows
	barOf int64
	draw  func() // appends the content, nil for text
}

// numberCell returns a cell with a number, grey when it is 0.
func numberCell(n int64) cell {
	c := cell{text: render.Thousands(n), value: strconv.FormatInt(n, 10)}
	if n == 0 {
		c.class = "dim"
	}
	return c
}

// table is a table with a caption. The first cell of a row is its heading.
type table struct {
	id      markup
	caption string
	noun    string // what a row is, empty for row
	omitted int    // rows that are not shown
	rest    string // how to see these
	columns []column
	rows    [][]cell
}

// first returns the first items of a list, and how many there are more.
func first[T any](list []T, most int) (head []T, omitted int) {
	n := min(most, len(list))
	return list[:n], len(list) - n
}

// options are those of the tables of commands on a page.
func (r *renderer) options() render.SummaryOptions {
	return render.SummaryOptions{NIDs: r.NIDs, Time: render.Relative}
}

// fill fills a table with that of a command.
func (r *renderer) fill(t *table, s *tables.Sheet) {
	for _, c := range s.Columns {
		col := column{title: c.Title, help: c.Doc}
		switch {
		case !c.Left:
			col.class = num
		case c.List:
			col.class = list
		}
		t.columns = append(t.columns, col)
	}
	for _, from := range s.Rows {
		row := make([]cell, len(from))
		for k, x := range from {
			row[k] = cell{text: x.Text, value: x.Value}
			switch {
			case x.Text == "-":
				row[k] = cell{text: "–"}
			case x.Time != 0:
				row[k] = r.timeCell(track.Point{Time: x.Time})
			case x.Role == schema.Bad:
				row[k].class = "bad"
			case x.Role == schema.Warning:
				row[k].class = "warn"
			case x.Role == schema.Dim:
				row[k].class = "dim"
			}
		}
		t.rows = append(t.rows, row)
	}
}

// records appends a table of a command.
func (r *renderer) records(t table, s *tables.Sheet) {
	r.fill(&t, s)
	r.table(&t)
}

func (w *writer) table(t *table) {
	w.raw(`<div class="scroll" role="region" tabindex="0" aria-labelledby="`, t.id, `-caption"><table id="`, t.id, `"><caption id="`, t.id, `-caption">`)
	w.element("span", t.caption)
	w.raw("</caption><thead><tr>")
	for _, c := range t.columns {
		w.raw(`<th scope="col"`)
		if c.class != "" {
			w.raw(` class="`, c.class, `"`)
		}
		if c.help != "" {
			w.raw(` title="`)
			w.text(c.help)
			w.raw(`"`)
		}
		w.raw(">")
		w.text(c.title)
		w.raw("</th>")
	}
	w.raw("</tr></thead>\n<tbody>\n")
	for _, row := range t.rows {
		w.raw("<tr>")
		for i := range row {
			w.cell(&row[i], t.columns[i].class, i == 0)
		}
		w.raw("</tr>\n")
	}
	w.raw("</tbody></table></div>\n")
	if t.omitted > 0 {
		w.raw(`<p class="remark">`)
		w.text(render.Counted(int64(t.omitted), "more "+cmp.Or(t.noun, "row")) + " not shown; ")
		w.element("code", t.rest)
		w.raw(" has all.</p>\n")
	}
}

// cell appends a cell of a column with a class, as the heading of its row when it is the first.
func (w *writer) cell(c *cell, class markup, heading bool) {
	tag := markup("td")
	if heading {
		tag = "th"
	}
	w.raw("<", tag)
	if heading {
		w.raw(` scope="row"`)
	}
	classes := slices.DeleteFunc([]string{string(class), string(c.class)}, func(s string) bool { return s == "" || s == string(still) })
	if len(classes) > 0 {
		w.raw(` class="`, markup(strings.Join(classes, " ")), `"`)
	}
	if c.value != "" {
		w.raw(` data-v="`)
		w.text(c.value)
		w.raw(`"`)
	}
	w.raw(">")
	if c.draw != nil {
		c.draw()
	}
	for i, part := range strings.SplitAfter(c.text, "_") { // long names of operations break there
		if i > 0 {
			w.raw("<wbr>")
		}
		w.text(part)
	}
	if c.barOf > 0 {
		const percent = 100
		w.raw(`<svg class="bar" aria-hidden="true" width="100%" height="4"><rect height="4" width="`)
		w.coordinate(percent * float64(c.bar) / float64(c.barOf))
		w.raw(`%"/></svg>`)
	}
	w.raw("</", tag, ">")
}
