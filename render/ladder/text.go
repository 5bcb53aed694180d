package ladder

import (
	"fmt"
	"math"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// TextOptions are the settings of a diagram as text.
type TextOptions struct {
	Width int // columns of the terminal; 0: lines may be of any length
	Time  render.TimeFormat
}

// Line is a line of a diagram, without a line break.
type Line struct {
	schema.Marked
	Event int // index in Diagram.Events, -1 where it has none
}

// stroke has the characters of an arrow: its shaft, where that crosses a lifeline, and where an
// arrow to the right and one to the left begin.
type stroke struct{ shaft, cross, right, left rune }

var (
	plainStroke   = stroke{'─', '┼', '├', '┤'}
	bulkStroke    = stroke{'═', '╪', '╞', '╡'}
	partialStroke = stroke{'╌', '┼', '├', '┤'} // of a message that was not captured completely
)

const lifelineGlyph = '│'

// AppendText appends the diagram as text.
func (d *Diagram) AppendText(dst *schema.Marked, o TextOptions) {
	for _, l := range d.Text(o) {
		dst.Append(&l.Marked)
		dst.Plain("\n")
	}
}

// Text returns the diagram as lines.
func (d *Diagram) Text(o TextOptions) []Line {
	events := d.Events()
	if len(events) == 0 {
		return nil
	}
	t := d.newText(events, o)
	t.head(events)
	before := gaps(events)
	for i, e := range events {
		t.gap(before[i], e.Time-events[max(i-1, 0)].Time)
		t.event(i, e)
	}
	t.addNotes(t.notes())
	return t.lines
}

func (d *Diagram) times(events []*Event, format render.TimeFormat) []string {
	at := render.Moment{First: d.First}
	times := make([]string, len(events))
	for i, e := range events {
		times[i] = string(format.Append(nil, e.Time, at, false))
		at.Before = e.Time
	}
	return times
}

type text struct {
	d      *Diagram
	o      TextOptions
	l      *layout
	nodes  *nodes
	times  []string
	lines  []Line
	cells  []cell
	seen   Mark // on the arrows so far
	hidden int  // events between nodes without columns of their own
}

type cell struct {
	r    rune
	role schema.Role
}

func (d *Diagram) newText(events []*Event, o TextOptions) *text {
	t := &text{d: d, o: o, nodes: d.findNodes(events), times: d.times(events, o.Time)}
	t.l = d.newLayout(events, t.nodes, t.times, o.Width)
	return t
}

func (t *text) add(line schema.Marked, event int) {
	if t.l.width > 0 {
		render.Truncate(&line, t.l.width)
	}
	line.TrimSpaces()
	t.lines = append(t.lines, Line{line, event})
}

// note is a line of text above or below a diagram.
type note struct {
	role schema.Role
	text string
}

func (t *text) addNotes(list []note) {
	for _, n := range list {
		var line schema.Marked
		line.Add(n.role, n.text)
		t.add(line, -1)
	}
}

// heading returns the title, and the legend of the columns.
func (t *text) heading(events []*Event) (list []note) {
	if t.d.Title != "" {
		list = append(list, note{schema.Heading, string(schema.AppendText(nil, []byte(t.d.Title)))})
	}
	list = append(list, note{schema.Dim, t.d.summary(events, t.o.Time)})
	for i, name := range t.d.Files {
		list = append(list, note{schema.Dim, fmt.Sprintf("%d: %s", i+1, schema.AppendText(nil, []byte(name)))})
	}
	for i, name := range t.d.Logs {
		list = append(list, note{schema.Dim, fmt.Sprintf("%s: %s", logLabel(i), schema.AppendText(nil, []byte(name)))})
	}
	for i := range t.l.columns {
		if line := t.l.legend(i); line != "" {
			list = append(list, note{schema.Node, line})
		}
	}
	return list
}

// head adds the heading and the names of the columns.
func (t *text) head(events []*Event) {
	t.addNotes(t.heading(events))
	for row := range t.l.headerRows() {
		var line schema.Marked
		for i, list := range t.l.headers {
			if row >= len(list) {
				continue
			}
			role := schema.Node
			if row == 0 {
				role = schema.Heading
			}
			line.Spaces(t.l.headerAt(i, render.Width([]byte(list[row]))) - render.Width(line.Text))
			line.Add(role, list[row])
		}
		t.add(line, -1)
	}
}

func (d *Diagram) summary(events []*Event, format render.TimeFormat) string {
	first, last := events[0].Time, events[len(events)-1].Time
	lines := 0
	for _, e := range events {
		if e.Kind == LogLine {
			lines++
		}
	}
	b := []byte(schema.Plural(len(events)-lines, "message"))
	if lines > 0 {
		b = fmt.Appendf(b, ", %s", schema.Plural(lines, "log line"))
	}
	if last > first {
		b = render.AppendLatency(append(b, " in "...), last-first)
	}
	at := time.Unix(0, first).UTC()
	if format == render.Relative {
		at = time.Unix(0, d.First).UTC()
		b = append(b, ", times since "...)
	} else {
		b = append(b, ", the first at "...)
	}
	return string(at.AppendFormat(b, "2006-01-02 15:04:05.000000 UTC"))
}

func (t *text) startLine(lifeline rune) {
	last := t.l.lifelines[len(t.l.lifelines)-1]
	t.cells = slices.Grow(t.cells[:0], last+1)[:last+1]
	for i := range t.cells {
		t.cells[i] = cell{' ', schema.NoRole}
	}
	for _, x := range t.l.lifelines {
		t.cells[x] = cell{lifeline, schema.Dim}
	}
}

// put sets cells from a column to text; what is beyond the end is dropped.
func (t *text) put(x int, s []byte, role schema.Role) {
	for len(s) > 0 && x < len(t.cells) {
		r, size := utf8.DecodeRune(s)
		t.cells[x] = cell{r, role}
		s = s[size:]
		x++
	}
}

func (t *text) appendCells(dst *schema.Marked) {
	cells := t.cells
	if t.l.width > 0 {
		cells = cells[:min(len(cells), t.l.width)]
	}
	begin := len(dst.Text)
	for i, c := range cells {
		dst.Text = utf8.AppendRune(dst.Text, c.r)
		if i+1 == len(cells) || cells[i+1].role != c.role {
			dst.MarkFrom(begin, c.role)
			begin = len(dst.Text)
		}
	}
}

// gap adds the lines for a time without events.
func (t *text) gap(lines int, ns int64) {
	for i := range lines {
		t.startLine('┊')
		if i == (lines-1)/2 {
			label := append(render.AppendLatency([]byte("· "), ns), " ·"...)
			t.put(max(0, t.l.lifelines[0]-margin-render.Width(label)), label, schema.Dim)
		}
		var line schema.Marked
		t.appendCells(&line)
		t.add(line, -1)
	}
}

func (t *text) event(i int, e *Event) {
	from, to, ok := t.nodes.ends(t.l.columns, e)
	if !ok {
		t.hidden++
		return
	}
	t.startLine(lifelineGlyph)
	if frame := frameText(t.d, e); t.l.frame > 0 {
		t.put(t.l.frame-render.Width(frame), frame, schema.Dim)
	}
	t.put(t.l.lifelines[0]-margin-len(t.times[i]), []byte(t.times[i]), schema.Dim)
	switch at := t.l.lifelines[from.column]; {
	case e.Kind == LogLine:
		t.put(at, []byte("•"), schema.NoRole)
	case from.column != to.column:
		t.arrow(e, at, t.l.lifelines[to.column])
	default:
		t.put(at, []byte("○"), arrowRoles[e.class()])
	}
	t.addFacts(i, e, from, to)
	t.seen |= e.Marks
}

// arrowRoles are the roles of arrows, by the classes of events.
var arrowRoles = map[string]schema.Role{"bad": schema.Bad, "warn": schema.Warning, "minor": schema.Dim, "bulk": schema.Number}

// arrow draws an arrow between two lifelines.
func (t *text) arrow(e *Event, from, to int) {
	role := arrowRoles[e.class()]
	line := plainStroke
	switch {
	case e.Kind == Bulk:
		line = bulkStroke
	case e.Kind == Loss || e.Marks&Incomplete != 0:
		line = partialStroke
	}
	left, right := min(from, to), max(from, to)
	for x := left + 1; x < right; x++ {
		r := line.shaft
		if t.cells[x].r == lifelineGlyph {
			r = line.cross
		}
		t.cells[x] = cell{r, role}
	}
	tail, head, step := line.right, '>', -1
	if from > to {
		tail, head, step = line.left, '<', 1
	}
	if e.Kind == Loss {
		head = '×'
	}
	t.cells[from] = cell{tail, role}
	t.cells[to+step] = cell{head, role}
	x := to + 2*step
	for _, m := range marks {
		if e.Marks&m.mark != 0 && m.mark != Incomplete && x > left && x < right {
			t.cells[x] = cell{m.glyph, schema.Bad}
			x += step
		}
	}
	t.label(e, from, to)
}

// label writes the operation on an arrow.
func (t *text) label(e *Event, from, to int) {
	op := t.l.opText(e)
	n := render.Width(op)
	if t.l.op > 0 || n == 0 || n > maxOp {
		return
	}
	x := from + 2
	if from > to {
		x = from - 3 - n
	}
	t.put(x, append(append([]byte{' '}, op...), ' '), t.opRole(e))
}

func (t *text) opRole(e *Event) schema.Role {
	switch {
	case e.Marks&Failed != 0:
		return schema.Bad
	case e.Minor:
		return schema.Dim
	}
	return schema.Action
}

// addFacts adds the line of an event, and lines for facts that have no room in it.
func (t *text) addFacts(i int, e *Event, from, to end) {
	line := t.lifelineText()
	if t.l.xid > 0 {
		xid := ""
		if e.XID != 0 {
			xid = xidText(e.XID)
		}
		line.Add(schema.Dim, xid)
		line.Spaces(t.l.xid - len(xid))
	}
	op := t.l.opText(e)
	if n := render.Width(op); t.l.op > 0 && n > 0 || n > maxOp {
		line.AddBytes(t.opRole(e), op)
		line.Plain(" ")
		line.Spaces(min(t.l.op, maxOp) - n)
	}
	facts := t.facts(e, from, to)
	left, rest := math.MaxInt, math.MaxInt
	if t.l.width > 0 {
		left, rest = max(t.l.width-render.Width(line.Text), 0), max(t.l.width-t.l.text, 0)
	}
	for k, piece := range wrap(&facts, left, rest) {
		if k > 0 {
			t.startLine(lifelineGlyph)
			line, left = t.lifelineText(), rest
		}
		render.AddFacts(&line, &piece, left, e.Minor)
		t.add(line, i)
	}
}

// lifelineText returns the beginning of a line, up to the column of the text.
func (t *text) lifelineText() (line schema.Marked) {
	t.appendCells(&line)
	line.Spaces(t.l.text - render.Width(line.Text))
	return line
}

// maxFactLines is how many lines the facts of an event take at most.
const maxFactLines = 4

// wrap splits facts at spaces and behind FIDs. The first piece takes at most left columns, the
// others at most rest; only the last one may be longer. There is at least one piece.
func wrap(line *schema.Marked, left, rest int) (pieces []schema.Marked) {
	start := 0
	for room := left; ; room = rest {
		end := len(line.Text)
		if len(pieces) < maxFactLines-1 {
			end = start + render.LineEnd(line.Text[start:], room, room == rest)
		}
		pieces = append(pieces, line.Slice(start, end))
		start = end
		for start < len(line.Text) && line.Text[start] == ' ' {
			start++
		}
		if start == len(line.Text) {
			return pieces
		}
	}
}

// facts returns the note and the facts of an event, behind the nodes that have no
// column.
func (t *text) facts(e *Event, from, to end) (line schema.Marked) {
	hidden := func(label string, nid lnet.NID) {
		if nid.Len > 0 {
			line.Add(schema.Dim, label)
			line.Add(schema.Node, t.d.nidText(nid)+" ")
		}
	}
	hidden("from ", from.hidden)
	hidden("to ", to.hidden)
	if note := e.note(); note != "" {
		line.Add(schema.Bad, note)
		if len(e.Facts.Text) > 0 {
			line.Add(schema.Dim, "; ")
		}
	}
	line.Append(&e.Facts)
	return line
}

// markGlyph is a mark, its character, and what it means.
type markGlyph struct {
	mark  Mark
	glyph rune
	text  string
}

// marks are the marks in the order in which an arrow has them, from its head.
var marks = [...]markGlyph{
	{Retransmitted, 'R', "parts of the message were sent again by TCP or InfiniBand"},
	{Resent, 'A', "the request was sent again"},
	{NoReply, '?', "no reply was captured"},
	{Incomplete, '╌', "bytes of it were not captured"},
}

// notes returns what marks mean, and what is not drawn.
func (t *text) notes() (list []note) {
	for _, m := range marks {
		if t.seen&m.mark != 0 {
			list = append(list, note{schema.Dim, string(m.glyph) + "  " + m.text})
		}
	}
	if t.hidden > 0 {
		list = append(list, note{schema.Warning, "not drawn: " + schema.Plural(t.hidden, "message") + " between others"})
	}
	if t.d.Omitted > 0 {
		list = append(list, note{schema.Warning, fmt.Sprintf("not drawn: %d more messages", t.d.Omitted)})
	}
	if t.d.OmittedLines > 0 {
		list = append(list, note{schema.Warning, fmt.Sprintf("not drawn: %d more lines of logs", t.d.OmittedLines)})
	}
	return list
}
