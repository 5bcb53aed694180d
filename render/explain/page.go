package explain

import (
	"bytes"
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// page is text that is wrapped at the width of the terminal.
type page struct {
	*schema.Marked
	width int
}

// pageWidth is the width of a page without a terminal.
const pageWidth = 80

func newPage(dst *schema.Marked, width int) *page {
	const minWidth = 40 // on a narrower terminal, lines are too long
	if width == 0 {
		width = pageWidth
	}
	return &page{Marked: dst, width: max(width, minWidth)}
}

// at returns the column where text is appended.
func (p *page) at() int { return render.Width(p.Text[bytes.LastIndexByte(p.Text, '\n')+1:]) }

func (p *page) end() { p.Plain("\n") }

// column moves to a column, of the next line if the column has passed.
func (p *page) column(col int) {
	if at := p.at(); at > 0 && at >= col {
		p.end()
	}
	p.Spaces(col - p.at())
}

// pad appends spaces up to a column, at least two.
func (p *page) pad(col int) {
	p.Spaces(max(col-p.at(), 2))
}

// words appends text word by word; further lines begin at the column indent.
func (p *page) words(indent int, role schema.Role, text string) {
	begin := len(p.Text)
	for _, w := range strings.Fields(text) {
		if at := p.at(); at < indent {
			p.column(indent)
			begin = len(p.Text)
		} else if at > indent {
			p.Plain(" ")
		}
		p.Add(role, w)
	}
	render.Wrap(p.Marked, begin, indent, p.width)
}

// list appends names with commas between them.
func (p *page) list(indent int, role schema.Role, names []string) {
	for i, n := range names {
		if i < len(names)-1 {
			n += ","
		}
		p.words(indent, role, n)
	}
}

// labelled appends a line of names behind a label, nothing without names. Further lines begin at a
// column.
func (p *page) labelled(label string, col int, names []string) {
	if len(names) == 0 {
		return
	}
	p.words(textIndent, schema.Dim, label)
	p.list(col, schema.Label, names)
	p.end()
}

// in appends the places of what the page is about, behind an empty line.
func (p *page) in(places []string) {
	if len(places) > 0 {
		p.end()
		p.labelled("in", textIndent+3, places)
	}
}

// textIndent is the column in which text under a heading begins.
const textIndent = 2

// heading appends a line with the kind and the name of a topic and its main
// properties. Empty ones are left out.
func (p *page) heading(kind, name string, more ...string) {
	p.Add(schema.Dim, kind+" ")
	p.Add(schema.Heading, name)
	more = slices.DeleteFunc(slices.Clone(more), func(m string) bool { return m == "" })
	if len(more) > 0 {
		p.Add(schema.Dim, ",")
	}
	p.list(textIndent, schema.Dim, more)
	p.end()
}

// paragraph appends a text as a sentence, nothing for an empty text.
func (p *page) paragraph(text string) {
	if text == "" {
		return
	}
	p.words(textIndent, schema.NoRole, sentence(text))
	p.end()
}

// sentence adds a full stop to a text that has none.
func sentence(s string) string {
	if s == "" || strings.HasSuffix(s, ".") {
		return s
	}
	return s + "."
}
