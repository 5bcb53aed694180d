package html

import (
	"strconv"
)

type column struct {
	title string
	help  string // a longer title, empty for none
	num   bool   // numbers, aligned at the right
}

type cell struct {
	text  string
	value string // what the column is sorted by, and the exact value; empty: the text
	class markup // of the style sheet, empty for none
	bar   int64  // with barOf: the part of barOf that a bar in the cell shows
	barOf int64
}

func numberCell(n int64) cell { return markZero(cell{text: count(n)}, n) }

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

// table is a table with a caption. The first cell of a row is its heading.
type table struct {
	id      markup
	caption string
	columns []column
	rows    [][]cell
	omitted int64  // rows that are not shown
	rest    string // how to see these
}

func (t *table) add(cells ...cell) { t.rows = append(t.rows, cells) }

func (w *writer) table(t *table) {
	w.raw(`<div class="scroll" role="region" tabindex="0" aria-labelledby="`, t.id, `-caption"><table id="`, t.id, `"><caption id="`, t.id, `-caption">`)
	w.element("span", t.caption)
	w.raw("</caption><thead><tr>")
	for _, c := range t.columns {
		w.raw(`<th scope="col"`)
		if c.num {
			w.raw(` class="num"`)
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
			w.cell(&row[i], &t.columns[i], i == 0)
		}
		w.raw("</tr>\n")
	}
	w.raw("</tbody></table></div>\n")
	if t.omitted > 0 {
		w.raw(`<p class="remark">`)
		w.text(counted(t.omitted, "more row") + " not shown")
		if t.rest != "" {
			w.raw("; <code>")
			w.text(t.rest)
			w.raw("</code> has all")
		}
		w.raw(".</p>\n")
	}
}

// cell appends a cell, as the heading of its row when it is the first.
func (w *writer) cell(c *cell, col *column, heading bool) {
	tag := markup("td")
	if heading {
		tag = "th"
	}
	w.raw("<", tag)
	if heading {
		w.raw(` scope="row"`)
	}
	class := c.class
	if col.num {
		class = join("num", class)
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
	w.text(c.text)
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
