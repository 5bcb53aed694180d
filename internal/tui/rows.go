package tui

import (
	"cmp"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gdamore/tcell/v2"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// grid is the table of RPCs or messages: a pane whose lines have columns. It reads only the rows that
// are visible.
type grid struct {
	*pane
	opt    *render.SummaryOptions
	styles *styles

	view    *store.View
	stopped *atomic.Bool // of the goroutine that advances the view
	ids     []int64
	version int
	wanted  *int64 // row that the cursor goes to when the view has it
	placed  int    // line where update put the cursor; in another one, the user has moved it

	columns [2][]*store.Column // by kind
	widths  []int              // of the columns, which grow
	column  int                // with the cursor
	left    int                // first column that is shown

	reader *store.Reader
	top    int // first row that is drawn
	drawn  []gridRow
	room   int // columns of the screen
	text   []byte
}

// gridRow is a row that is drawn.
type gridRow struct {
	cells []string
	style tcell.Style
}

// maxCell is the width of a column at most, of all but the details.
const maxCell = 48

func usualColumns(k store.Kind) []string {
	if k == store.Messages {
		return []string{"frame", "time", "lnet.src_nid", "lnet.dest_nid", "kind", "opcode", store.Details}
	}
	return []string{"request.time", "opcode", "variant", "target", "latency", "error", "client", store.Details}
}

func (g *grid) names(k store.Kind) (list []string) {
	for _, c := range g.columns[k] {
		list = append(list, c.Name)
	}
	return list
}

func newGrid(rows *store.Store, opt *render.SummaryOptions, st *styles) *grid {
	g := &grid{pane: newPane(""), opt: opt, styles: st, reader: rows.NewReader()}
	for _, k := range []store.Kind{store.RPCs, store.Messages} {
		g.setColumns(k, usualColumns(k))
	}
	g.pane.line, g.pane.heading, g.pane.prepare, g.pane.pressed, g.pane.alwaysLit = g.line, g.head, g.read, g.sideways, true
	return g
}

// setColumns sets the columns of a kind of rows. Names that are unknown are left out; without any
// other, the columns stay.
func (g *grid) setColumns(k store.Kind, names []string) {
	var list []*store.Column
	for _, name := range names {
		if c, ok := store.NewColumn(k, name); ok {
			list = append(list, c)
		}
	}
	if len(list) > 0 {
		g.columns[k], g.widths = list, nil
	}
}

func (g *grid) shown() []*store.Column { return g.columns[g.view.Kind] }

// setView shows the rows of a view, with the cursor on the first one.
func (g *grid) setView(v *store.View) {
	if g.stopped != nil {
		g.stopped.Store(true)
	}
	if g.view == nil || g.view.Kind != v.Kind {
		g.column = 0
	}
	g.view, g.stopped = v, &atomic.Bool{}
	g.ids, g.version, g.wanted, g.widths, g.left = nil, -1, nil, nil, 0
	g.set(0, g.line)
	g.place(0)
}

// place puts the cursor on a line where it stays, whichever row is there, until it is moved.
func (g *grid) place(line int) {
	g.placed = line
	g.move(line)
}

// update takes the rows that the view has found since. Until the cursor is moved it is on the
// first row, or on the last one with follow; then it stays on its row, with follow also at the end.
func (g *grid) update(follow bool) (changed bool) {
	ids, version := g.view.IDs()
	if version == g.version {
		return false
	}
	line := g.cursor
	id, known := g.selected()
	atEnd := line == len(g.ids)-1
	g.ids, g.version = ids, version
	g.set(len(ids), g.line)
	switch {
	case g.wanted != nil && g.choose(*g.wanted):
		g.wanted = nil
	case follow && g.view.Sort == "" && (atEnd || line == g.placed):
		g.place(max(0, len(ids)-1))
	case line == g.placed:
		g.place(0)
	case known && (line >= len(ids) || ids[line] != id):
		g.choose(id)
	}
	return true
}

func (g *grid) selected() (id int64, ok bool) {
	if g.cursor >= len(g.ids) {
		return 0, false
	}
	return g.ids[g.cursor], true
}

// choose moves the cursor to a row, and reports whether it is in the view.
func (g *grid) choose(id int64) bool {
	i := slices.Index(g.ids, id)
	if i < 0 {
		return false
	}
	g.move(i)
	g.placed = -1
	return true
}

// read reads the rows that are drawn next, and makes the columns wide enough for them.
func (g *grid) read(from, to, room int) {
	g.top, g.room, g.drawn = from, room, g.drawn[:0]
	if columns := g.shown(); len(g.widths) != len(columns) {
		g.widths = make([]int, len(columns))
	}
	for i := range g.widths {
		g.widen(i, g.title(i))
	}
	for i := from; i < to; i++ {
		row := g.row(i)
		for k, text := range row.cells {
			g.widen(k, text)
		}
		g.drawn = append(g.drawn, row)
	}
}

func (g *grid) widen(column int, text string) {
	width := render.Width([]byte(text))
	if g.shown()[column].Name != store.Details {
		width = min(width, maxCell)
	}
	g.widths[column] = max(g.widths[column], width)
}

// headings are names of columns that are not those of their keys.
var headings = map[string]string{"request.time": "time", "lnet.src_nid": "source", "lnet.dest_nid": "destination"}

// title returns what is above a column: its name, and the direction by which rows are sorted.
func (g *grid) title(column int) string {
	c := g.shown()[column]
	name := cmp.Or(headings[c.Name], c.Name)
	switch {
	case g.view.Sort != c.Name:
		return name
	case g.view.Descending:
		return name + "↓"
	}
	return name + "↑"
}

// head returns the line above the columns.
func (g *grid) head() (list []run) {
	bold := tcell.StyleDefault.Bold(true)
	for i, width := range g.each {
		style := bold
		if i == g.column {
			style = bold.Underline(true)
		}
		space, text := g.cell(i, g.widths[i], g.title(i))
		whole := render.AppendTruncated(nil, []byte(space+text), width)
		list = append(list, run{string(whole), style}, run{" ", tcell.StyleDefault})
	}
	return list
}

// line returns a row.
func (g *grid) line(i int) (list []run) {
	row := &g.drawn[i-g.top]
	style := row.style
	if i == g.cursor {
		style = tcell.StyleDefault
	}
	for k, width := range g.each {
		space, text := g.cell(k, width, row.cells[k])
		list = append(list, run{space, tcell.StyleDefault}, run{text + " ", style})
	}
	return list
}

// each yields the columns that have room on the screen, and their widths there.
func (g *grid) each(yield func(column, width int) bool) {
	for i, room := g.left, g.room; i < len(g.widths) && room > 0; i++ {
		if !yield(i, min(g.widths[i], room)) {
			return
		}
		room -= g.widths[i] + 1
	}
}

// cell returns a text in the width of a column, and the spaces in front of it.
func (g *grid) cell(column, width int, text string) (space, aligned string) {
	text = string(render.AppendTruncated(nil, []byte(text), width))
	space = strings.Repeat(" ", max(0, width-render.Width([]byte(text))))
	if isRight(g.shown()[column]) {
		return space, text
	}
	return "", text + space
}

// isRight reports whether a column is aligned at its right end: numbers are.
func isRight(c *store.Column) bool {
	switch c.Type {
	case records.Uint, records.Int, records.Duration, records.Seconds, records.Float, records.Time:
		return true
	}
	return false
}

// row reads a row.
func (g *grid) row(i int) gridRow {
	columns := g.shown()
	row := gridRow{cells: make([]string, len(columns))}
	before := int64(0)
	if g.opt.Time == render.Delta && i > 0 {
		before = g.timeOf(g.ids[i-1])
	}
	r, err := g.reader.Read(g.view.Kind, g.ids[i])
	row.style = g.style(&r, err)
	if err != nil {
		row.cells[0] = err.Error()
		return row
	}
	for k, c := range columns {
		row.cells[k] = g.value(c, &r, before)
	}
	return row
}

// timeOf returns the time of a row, 0 when it is unknown.
func (g *grid) timeOf(id int64) int64 {
	r, err := g.reader.Read(g.view.Kind, id)
	switch {
	case err != nil:
		return 0
	case r.RPC != nil:
		return r.RPC.Begin()
	}
	return r.Message.Time
}

// style returns the style of a row: errors stand out, and what only keeps connections
// alive does not.
func (g *grid) style(r *store.Row, err error) tcell.Style {
	role := schema.NoRole
	switch {
	case err != nil:
		role = schema.Warning
	case r.RPC != nil && r.RPC.Failed() && !r.RPC.IsExpectedError():
		role = schema.Bad
	case r.RPC != nil && r.RPC.Unanswered():
		role = schema.Warning
	case r.RPC != nil && r.RPC.HasOpcode && r.RPC.Opcode == opcodes.OBD_PING:
		role = schema.Dim
	case r.Message != nil && r.Message.Kind == lnet.Reply && r.Message.RPC.Status < 0:
		role = schema.Bad
	case r.Message != nil && r.Message.Kind == lnet.Connrej:
		role = schema.Bad
	case r.Message != nil && render.IsKeepalive(r.Message):
		role = schema.Dim
	}
	return g.styles[role]
}

// fileOf returns the file of the frame that a column has.
func (g *grid) fileOf(frame *store.Column, r *store.Row) string {
	file, ok := store.NewColumn(g.view.Kind, strings.TrimSuffix(frame.Name, "frame")+"file")
	if !ok {
		return ""
	}
	return string(file.Append(nil, r))
}

// value returns the text of a value for people.
func (g *grid) value(c *store.Column, r *store.Row, before int64) string {
	var v records.Value
	at := render.Moment{First: r.First, Before: before}
	g.text = g.text[:0]
	switch {
	case c.Value == nil || !c.Value(r, &v):
		g.text = c.Append(g.text, r)
		if strings.HasSuffix(c.Name, "_nid") && !g.opt.NIDs.Full {
			return strings.TrimSuffix(string(g.text), "@tcp")
		}
	case c.Type == records.Time:
		g.text = g.opt.Time.Append(g.text, int64(v.U), at, false)
	case c.Unit == records.Bytes && v.U == 0:
	case strings.HasSuffix(c.Name, "frame") && len(g.opt.Files) > 0:
		g.text = render.AppendFrame(g.text, g.fileOf(c, r), int64(v.U))
	case c.Name == "opcode":
		g.text = render.ShortenOpcode(c.Append(g.text, r))
	default:
		g.text = render.AppendCell(g.text, &v, c.Unit, g.opt.NIDs)
	}
	return string(g.text)
}

// sideways moves the cursor to another column.
func (g *grid) sideways(event *tcell.EventKey) bool {
	switch motionOf(event) {
	case tcell.KeyLeft:
		g.column = max(0, g.column-1)
	case tcell.KeyRight:
		g.column = min(g.column+1, len(g.shown())-1)
	default:
		return false
	}
	g.left = min(g.left, g.column)
	for used := 0; g.left < g.column; g.left++ {
		used = 0
		for i := g.left; i <= g.column && i < len(g.widths); i++ {
			used += g.widths[i] + 1
		}
		if used <= g.room {
			break
		}
	}
	return true
}

func (g *grid) columnAtCursor() *store.Column { return g.shown()[min(g.column, len(g.shown())-1)] }
