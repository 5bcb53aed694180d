package ladder

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// SVGOptions are the settings of a diagram as SVG.
type SVGOptions struct {
	Width int // characters of text that fit into the picture; 0: the usual number
	Time  render.TimeFormat

	// Embedded is for a part of a page: without a style sheet, which the page has, and with
	// relative times that have room for absolute ones and the attribute data-u, microseconds since
	// the epoch.
	Embedded bool
	Label    string // of an embedded picture, for those who do not see it
}

// Sizes in pixels. Those of characters are of a monospaced font of fontSize; fonts
// differ by a few percent.
const (
	fontSize   = 12
	charWidth  = 7.3
	lineHeight = 16 // of lines of text
	rowHeight  = 27 // of an event
	gapHeight  = 14 // of a line of a gap
	border     = 16
	headLength = 8 // of an arrow
	headWidth  = 3.5
	bulkSpace  = 1.5 // from the middle of a double line to each of its lines
	svgColumns = 160
	titleSize  = 15
	boxPadding = 5
	labelSpace = 6 // from an arrow to the text above it
)

// svgStyle is the style sheet of a picture. Each colour stands twice, without variables,
// which converters to PDF do not know.
const svgStyle = `
text{font-family:ui-monospace,monospace;font-size:12px;fill:#1f2328;white-space:pre}
.bg{fill:#fff}.h{font-size:15px;font-weight:bold}.d{fill:#656d76}
.l{stroke:#afb8c1}.g{stroke:#afb8c1;stroke-dasharray:2 4}.b{fill:#f6f8fa;stroke:#afb8c1}.t{font-weight:bold}
.a{stroke:#1f2328;stroke-width:1.3;fill:none}.p{stroke-dasharray:4 3}.x{fill:#1f2328}
.op{font-weight:bold;stroke:#fff;stroke-width:3px;paint-order:stroke}
.bulk .a{stroke:#0a6c74}.bulk .x{fill:#0a6c74}.minor .a{stroke:#8c959f}.minor .x,.minor .op{fill:#656d76;font-weight:normal}
.warn .a{stroke:#9a6700}.warn .x{fill:#9a6700}.bad .a{stroke:#cf222e}.bad .x,.bad .op,.e,.m{fill:#cf222e}
.m{font-weight:bold;stroke:#fff;stroke-width:3px;paint-order:stroke}
.n{fill:#7d4e00}.o{fill:#8250df}.u{fill:#0a6c74}.i{fill:#0550ae}.k,.f{fill:#116329}
@media screen and (prefers-color-scheme:dark){
text{fill:#e6edf3}.bg{fill:#0d1117}.d{fill:#8b949e}
.l,.g{stroke:#484f58}.b{fill:#161b22;stroke:#484f58}
.a{stroke:#e6edf3}.x{fill:#e6edf3}.op,.m{stroke:#0d1117}
.bulk .a{stroke:#56d4dd}.bulk .x{fill:#56d4dd}.minor .a{stroke:#6e7681}.minor .x,.minor .op{fill:#8b949e}
.warn .a{stroke:#d29922}.warn .x{fill:#d29922}.bad .a{stroke:#ff7b72}.bad .x,.bad .op,.e,.m{fill:#ff7b72}
.n{fill:#e3b341}.o{fill:#d2a8ff}.u{fill:#56d4dd}.i{fill:#79c0ff}.k,.f{fill:#7ee787}
}
`

var roleClasses = [...]string{schema.Dim: "d", schema.Name: "n", schema.Object: "o", schema.Number: "u",
	schema.Node: "i", schema.Good: "k", schema.Bad: "e", schema.Flag: "f", schema.Heading: "h"}

// picture draws a diagram as SVG, with the layout of text.
type picture struct {
	*text
	o     SVGOptions
	buf   []byte
	y     float64 // of the lower end so far
	width float64 // of the right end so far
}

// AppendSVG appends the diagram as SVG: a document of its own, for light and dark
// backgrounds, without scripts, links and fonts.
func (d *Diagram) AppendSVG(dst []byte, o SVGOptions) []byte {
	events := d.Events()
	if len(events) == 0 {
		return dst
	}
	if o.Width == 0 {
		o.Width = svgColumns
	}
	if o.Embedded {
		o.Time = render.UTC
	}
	p := &picture{text: d.newText(events, TextOptions{Width: o.Width, Time: o.Time}), o: o, y: border}
	if o.Embedded {
		p.times = d.times(events, render.Relative)
	}
	p.head(events)
	p.lifelines("l", labelSpace)
	before := gaps(events)
	for i, e := range events {
		p.gap(before[i], e.Time-events[max(i-1, 0)].Time)
		p.event(i, e)
	}
	p.lifelines("l", gapHeight)
	for _, line := range p.notes() {
		p.textLine("d", []byte(line.text))
	}
	width, height := p.width+border, p.y+border
	size := fmt.Sprintf(`width="%.0f" height="%.0f" viewBox="0 0 %.0f %.0f" role="img"`, width, height, width, height)
	escaped := func(s string) []byte { return appendXML(nil, schema.AppendText(nil, []byte(s))) }
	if o.Embedded {
		return fmt.Appendf(dst, "<svg class=\"ladder\" %s aria-label=\"%s\">\n%s</svg>\n", size, escaped(o.Label), p.buf)
	}
	title := escaped(cmp.Or(d.Title, d.summary(events, o.Time)))
	return fmt.Appendf(dst, "<svg xmlns=\"http://www.w3.org/2000/svg\" %s>\n<title>%s</title>\n<style>%s</style>\n"+
		"<rect class=\"bg\" width=\"100%%\" height=\"100%%\"/>\n%s</svg>\n", size, title, svgStyle, p.buf)
}

// appendXML appends text for XML, which has been escaped for a terminal.
func appendXML(dst, text []byte) []byte { return append(dst, xmlEscapes.Replace(string(text))...) }

// xmlEscapes has the characters of markup, and those that are no characters of XML.
var xmlEscapes = strings.NewReplacer("<", "&lt;", ">", "&gt;", "&", "&amp;", `"`, "&quot;", "\ufffe", "\ufffd", "\uffff", "\ufffd")

func (p *picture) x(column int) float64 { return border + (float64(column)+0.5)*charWidth }

// element adds an element, with its arguments in the format.
func (p *picture) element(format string, args ...any) {
	p.buf = fmt.Appendf(p.buf, format+"\n", args...)
}

// textAt adds text at a place, with attributes such as where it is aligned.
func (p *picture) textAt(x, y float64, attributes string, s []byte) {
	if attributes != "" {
		attributes = " " + attributes
	}
	p.element(`<text x="%.1f" y="%.1f"%s>%s</text>`, x, y, attributes, appendXML(nil, s))
}

// textFrom adds text that begins at a place.
func (p *picture) textFrom(x, y float64, class string, s []byte) {
	p.width = max(p.width, x+float64(render.Width(s))*charWidth)
	p.textAt(x, y, `class="`+class+`"`, s)
}

// textLine adds a line of text over the whole width.
func (p *picture) textLine(class string, s []byte) {
	p.y += lineHeight
	p.textFrom(border, p.y-4, class, render.AppendTruncated(nil, s, max(p.l.width, 1)))
}

// head draws the title, the legend of the columns, and a box for each of them.
func (p *picture) head(events []*Event) {
	heading := p.heading(events)
	if p.o.Embedded {
		heading = heading[1:] // how many messages in which time
	}
	for _, n := range heading {
		space := 0.0
		if n.role == schema.Heading {
			space = titleSize - fontSize
		}
		p.y += space
		p.textLine(roleClasses[n.role], []byte(n.text))
		p.y += space
	}
	p.y += boxPadding
	height := float64(p.l.headerRows()*lineHeight + 2*boxPadding)
	for i, lines := range p.l.headers {
		width := widest(lines)
		// The text is centred above the lifeline, unless there is no room left of it.
		middle := border + (float64(p.l.headerAt(i, width))+float64(width)/2)*charWidth
		half := float64(width)*charWidth/2 + boxPadding
		p.width = max(p.width, middle+half)
		p.element(`<rect class="b" rx="4" x="%.1f" y="%.1f" width="%.1f" height="%.1f"/>`, middle-half, p.y, 2*half, height)
		for row, line := range lines {
			class := "i"
			if row == 0 {
				class = "t"
			}
			p.textAt(middle, p.y+boxPadding+float64((row+1)*lineHeight)-4, `text-anchor="middle" class="`+class+`"`, []byte(line))
		}
	}
	p.y += height
}

// lifelines draws the lifelines down from p.y, which it moves.
func (p *picture) lifelines(class string, height float64) {
	for _, column := range p.l.lifelines {
		p.element(`<path class="%s" d="M%.1f %.1fv%.1f"/>`, class, p.x(column), p.y, height)
	}
	p.y += height
}

// gap draws a time without events.
func (p *picture) gap(lines int, ns int64) {
	if lines == 0 {
		return
	}
	top, height := p.y, float64(lines*gapHeight)
	p.lifelines("g", height)
	p.textAt(p.x(p.l.lifelines[0])-float64(margin)*charWidth, top+height/2+4, `text-anchor="end" class="d"`,
		append(render.AppendLatency([]byte("· "), ns), " ·"...))
}

// class returns the class of an event, empty for none.
func (e *Event) class() string {
	switch {
	case e.Kind == Loss, e.Marks&Failed != 0:
		return "bad"
	case e.Marks&(Retransmitted|Incomplete|NoReply) != 0:
		return "warn"
	case e.Minor:
		return "minor"
	case e.Kind == Bulk:
		return "bulk"
	}
	return ""
}

func (p *picture) event(i int, e *Event) {
	from, to, ok := p.nodes.ends(p.l.columns, e)
	if !ok {
		p.hidden++
		return
	}
	p.lifelines("l", rowHeight)
	y := p.y - 8 // of the arrow
	class := e.class()
	if class != "" {
		class = ` class="` + class + `"`
	}
	p.element("<g%s><title>%s</title>", class, appendXML(nil, p.tooltip(i, e)))
	left := p.x(p.l.lifelines[0]) - margin*charWidth
	attributes := `text-anchor="end" class="d"`
	if p.o.Embedded {
		attributes += fmt.Sprintf(` data-u="%d"`, e.Time/1000)
	}
	p.textAt(left, y+4, attributes, []byte(p.times[i]))
	if frame := frameText(p.d, e); p.l.frame > 0 && len(frame) > 0 {
		p.textAt(left-float64(p.l.time+1)*charWidth, y+4, `text-anchor="end" class="d"`, frame)
	}
	switch at := p.x(p.l.lifelines[from.column]); {
	case e.Kind == LogLine:
		p.element(`<circle class="x" cx="%.1f" cy="%.1f" r="3"/>`, at, y)
	case from.column != to.column:
		p.arrow(e, at, p.x(p.l.lifelines[to.column]), y)
	default:
		p.element(`<circle class="a" cx="%.1f" cy="%.1f" r="4"/>`, at, y)
	}
	p.facts(e, from, to, y+4)
	p.element("</g>")
	p.seen |= e.Marks
}

func (p *picture) tooltip(i int, e *Event) []byte {
	var b []byte
	if e.Frame != 0 {
		b = append(render.AppendFrame(append(b, "frame "...), e.File, e.Frame), ' ')
	}
	if e.Line != 0 {
		b = fmt.Appendf(b, "%s:%d ", schema.AppendText(nil, []byte(e.File)), e.Line)
	}
	b = append(append(append(b, p.times[i]...), ' '), p.d.nidText(e.From)...)
	if e.Kind != LogLine {
		b = append(append(b, " > "...), p.d.nidText(e.To)...)
	}
	if e.XID != 0 {
		b = append(append(b, ' '), xidText(e.XID)...)
	}
	for _, part := range [...][]byte{e.Op, []byte(e.note()), e.Facts.Text} {
		if len(part) > 0 {
			b = append(append(b, ' '), part...)
		}
	}
	return b
}

// arrow draws the arrow of an event, with its operation and marks above it.
func (p *picture) arrow(e *Event, from, to, y float64) {
	step := 1.0
	if from > to {
		step = -1
	}
	anchor, markAnchor := "start", "end"
	if step < 0 {
		anchor, markAnchor = markAnchor, anchor
	}
	if op := p.l.opText(e); p.l.op == 0 && render.Width(op) <= maxOp {
		p.textAt(from+step*boxPadding, y-labelSpace, `text-anchor="`+anchor+`" class="op"`, op)
	}
	var signs []byte
	for _, m := range marks {
		if e.Marks&m.mark != 0 && m.mark != Incomplete {
			signs = utf8.AppendRune(signs, m.glyph)
		}
	}
	if len(signs) > 0 {
		p.textAt(to-step*boxPadding, y-labelSpace, `text-anchor="`+markAnchor+`" class="m"`, signs)
	}
	class := "a"
	if e.Kind == Loss || e.Marks&Incomplete != 0 {
		class = "a p"
	}
	tip := to - step
	end := tip - step*headLength
	switch e.Kind {
	case Bulk:
		p.element(`<path class="%s" d="M%.1f %.1fH%.1fM%.1f %.1fH%.1f"/>`, class, from, y-bulkSpace, end, from, y+bulkSpace, end)
	case Loss:
		p.element(`<path class="%s" d="M%.1f %.1fH%.1f"/>`, class, from, y, end)
		p.element(`<path class="a" d="M%.1f %.1fl8 8m0 -8l-8 8"/>`, end-4, y-4)
		return
	default:
		p.element(`<path class="%s" d="M%.1f %.1fH%.1f"/>`, class, from, y, end)
	}
	p.element(`<path class="x" d="M%.1f %.1fl%.1f %.1fv%.1fz"/>`, tip, y, -step*headLength, -headWidth, 2*headWidth)
}

// facts adds what is right of the lifelines.
func (p *picture) facts(e *Event, from, to end, y float64) {
	column := p.l.text
	at := func() float64 { return border + float64(column)*charWidth }
	if p.l.xid > 0 {
		if e.XID != 0 {
			p.textFrom(at(), y, "d", []byte(xidText(e.XID)))
		}
		column += p.l.xid
	}
	if op := p.l.opText(e); p.l.op > 0 || render.Width(op) > maxOp {
		p.textFrom(at(), y, "op", op)
		column += max(p.l.op, render.Width(op)) + 1
	}
	facts := p.text.facts(e, from, to)
	pieces := wrap(&facts, p.l.width-column, p.l.width-p.l.text)
	for i, piece := range pieces {
		if i > 0 {
			column = p.l.text
			p.lifelines("l", lineHeight)
			y += lineHeight
		}
		p.piece(at(), y, piece, max(p.l.width-column, 1))
	}
}

// piece adds a line of facts, truncated to a number of columns.
func (p *picture) piece(x, y float64, line schema.Marked, columns int) {
	if len(line.Text) == 0 {
		return
	}
	render.Truncate(&line, columns)
	p.width = max(p.width, x+float64(render.Width(line.Text))*charWidth)
	p.buf = fmt.Appendf(p.buf, `<text x="%.1f" y="%.1f">`, x, y)
	start := 0
	for _, part := range line.Parts {
		p.buf = fmt.Appendf(p.buf, `<tspan class="%s">`, roleClasses[part.Role])
		p.buf = append(appendXML(p.buf, line.Text[start:part.End]), "</tspan>"...)
		start = part.End
	}
	p.buf = append(p.buf, "</text>\n"...)
}
