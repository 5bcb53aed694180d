package html

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/lshark/lshark/render"
)

// column is a column of a table of rows of T, declared once.
type column[T any] struct {
	title string
	cell  func(row T) cell
	class markup // num, still or empty
	help  string // a longer title, empty for none
}

// The classes of columns.
const (
	num   markup = "num"   // numbers, aligned at the right
	still markup = "still" // rows are not sorted by it
)

type cell struct {
	text  string
	value string // what the column is sorted by, and the exact value; empty: the text
	class markup // of the style sheet, empty for none
	bar   int64  // with barOf: the part of barOf that a bar in the cell shows
	barOf int64
	draw  func() // appends the content, nil for text
}

func numberCell(n int64) cell { return markZero(cell{text: render.Thousands(n)}, n) }

// markZero sets the exact value of a cell, and its class when it is 0.
func markZero(c cell, n int64) cell {
	if c.value = strconv.FormatInt(n, 10); n == 0 {
		c.text, c.class = "0", "zero"
	}
	return c
}

// problemCell returns a cell with a number of problems, marked unless it is 0.
func problemCell(n int64) cell {
	c := numberCell(n)
	if n > 0 {
		c.class = "bad"
	}
	return c
}

// latencyCell returns a cell with a time span, empty when it is unknown.
func latencyCell(ns int64, known bool) cell {
	if !known {
		return cell{text: "–"}
	}
	return cell{text: latency(ns), value: seconds(ns)}
}

func spanCell(ns int64) cell { return cell{text: span(ns), value: seconds(ns)} }

func sizeCell(n int64) cell { return markZero(cell{text: size(n)}, n) }

// textCell returns a cell with text, a dash for none.
func textCell(s string) cell {
	if s == "" {
		return cell{text: "–"}
	}
	return cell{text: s}
}

// badCell returns a cell with what went wrong, a dash for nothing.
func badCell(s string) cell {
	if s == "" {
		return cell{text: "–"}
	}
	return cell{text: s, class: "bad"}
}

// table is a table with a caption. The first cell of a row is its heading.
type table[T any] struct {
	id      markup
	caption string
	columns []column[T]
	noun    string // what a row is, empty for row
	omitted int64  // rows that are not shown
	rest    string // how to see these
}

// most appends the table of the first rows of a list, and how many there are more.
func (t table[T]) most(w *writer, list []T, n int) {
	n = min(n, len(list))
	t.omitted = int64(len(list) - n)
	t.append(w, list[:n])
}

func (t table[T]) append(w *writer, rows []T) {
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
	for _, row := range rows {
		w.raw("<tr>")
		for i := range t.columns {
			c := t.columns[i].cell(row)
			w.cell(&c, t.columns[i].class == num, i == 0)
		}
		w.raw("</tr>\n")
	}
	w.raw("</tbody></table></div>\n")
	if t.omitted > 0 {
		w.raw(`<p class="remark">`)
		w.text(render.Counted(t.omitted, "more "+cmp.Or(t.noun, "row")) + " not shown")
		if t.rest != "" {
			w.raw("; <code>")
			w.text(t.rest)
			w.raw("</code> has all")
		}
		w.raw(".</p>\n")
	}
}

// cell appends a cell, as the heading of its row when it is the first.
func (w *writer) cell(c *cell, isNumber, heading bool) {
	tag := markup("td")
	if heading {
		tag = "th"
	}
	w.raw("<", tag)
	if heading {
		w.raw(` scope="row"`)
	}
	class := c.class
	if isNumber {
		class = join(num, class)
	}
	if class != "" {
		w.raw(` class="`, class, `"`)
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

func join(a, b markup) markup {
	if b == "" {
		return a
	}
	return a + " " + b
}
