package html

import (
	"cmp"
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
	html  markup
	value string // what the column is sorted by, and the exact value; empty: the text
	class markup // of the style sheet, empty for none
}

// textCell returns a cell with text. Long names of operations break behind each _.
func textCell(s string) cell {
	return cell{html: markup(strings.ReplaceAll(string(text(s)), "_", "_<wbr>"))}
}

// numberCell returns a cell with a number, grey when it is 0.
func numberCell(n int64) cell {
	c := cell{html: text(render.Thousands(n)), value: strconv.FormatInt(n, 10)}
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
			row[k] = textCell(x.Text)
			row[k].value = x.Value
			switch {
			case x.Text == "-":
				row[k] = cell{html: "–"}
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

func (r *renderer) table(t *table) {
	r.raw(`<div class="scroll" role="region" tabindex="0" aria-labelledby="`, t.id, `-caption"><table id="`, t.id,
		`"><caption id="`, t.id, `-caption">`, element("span", t.caption), "</caption><thead><tr>")
	for _, c := range t.columns {
		r.raw(`<th scope="col"`, option("class", string(c.class)), option("title", c.help), ">", text(c.title), "</th>")
	}
	r.raw("</tr></thead>\n<tbody>\n")
	for _, row := range t.rows {
		r.raw("<tr>")
		for i, c := range row {
			class := option("class", strings.TrimSpace(strings.TrimPrefix(string(t.columns[i].class), string(still))+" "+string(c.class)))
			if content := class + option("data-v", c.value) + ">" + c.html; i == 0 {
				r.raw(`<th scope="row"`, content, "</th>")
			} else {
				r.raw("<td", content, "</td>")
			}
		}
		r.raw("</tr>\n")
	}
	r.raw("</tbody></table></div>\n")
	if t.omitted > 0 {
		r.raw(`<p class="remark">`, text(render.Counted(int64(t.omitted), "more "+cmp.Or(t.noun, "row"))+" not shown; "),
			element("code", t.rest), " has all.</p>\n")
	}
}

// proportion returns a bar for the part that a number is of the greatest one.
func proportion(n, greatest int64) markup {
	const percent = 100
	return `<svg class="bar" aria-hidden="true" width="100%" height="4"><rect height="4" width="` +
		coordinate(percent*float64(n)/float64(greatest)) + `%"/></svg>`
}
