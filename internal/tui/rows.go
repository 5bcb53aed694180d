package tui

import (
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// grid is the table of RPCs or messages. It reads only the rows that are visible.
type grid struct {
	*tview.Table
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

	reader *store.Reader
	cache  map[int64][]*tview.TableCell // of rows that were drawn
	text   []byte
}

// maxCell is the width of a column at most.
const maxCell = 48

// maxCached is the number of rows that are kept as cells.
const maxCached = 1024

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
	g := &grid{Table: tview.NewTable(), opt: opt, styles: st, reader: rows.NewReader()}
	for _, k := range []store.Kind{store.RPCs, store.Messages} {
		g.setColumns(k, usualColumns(k))
	}
	g.SetContent(cells{g: g}).SetFixed(1, 0).SetSelectable(true, false)
	g.SetSelectedStyle(tcell.StyleDefault.Reverse(true))
	g.SetBackgroundColor(tcell.ColorDefault)
	return g
}

// setColumns sets the columns of a kind of rows. Names that are unknown are left out.
func (g *grid) setColumns(k store.Kind, names []string) {
	g.columns[k] = nil
	for _, name := range names {
		if c, ok := store.NewColumn(k, name); ok {
			g.columns[k] = append(g.columns[k], c)
		}
	}
	g.forget()
}

// forget drops the cells that were drawn.
func (g *grid) forget() {
	g.cache, g.widths = make(map[int64][]*tview.TableCell), nil
}

func (g *grid) shown() []*store.Column { return g.columns[g.view.Kind] }

// setView shows the rows of a view and keeps the cursor on a row, if it is in the view.
func (g *grid) setView(v *store.View) {
	if g.stopped != nil {
		g.stopped.Store(true)
	}
	other := g.view == nil || g.view.Kind != v.Kind
	g.view, g.stopped = v, &atomic.Bool{}
	g.ids, g.version, g.wanted = nil, -1, nil
	g.forget()
	if other {
		g.column = 0
	}
	g.SetOffset(0, 0)
	g.place(1)
}

// place puts the cursor on a line where it stays, whichever row is there, until it is moved.
func (g *grid) place(line int) {
	g.placed = line
	g.Select(line, 0)
}

// update takes the rows that the view has found since. Until the cursor is moved it is on the
// first row, or on the last one with follow; then it stays on its row, with follow also at the end.
func (g *grid) update(follow bool) (changed bool) {
	ids, version := g.view.IDs()
	if version == g.version {
		return false
	}
	row, _ := g.GetSelection()
	id, known := g.selected()
	atEnd := row == len(g.ids)
	g.ids, g.version = ids, version
	g.SetOffset(g.GetOffset()) // a table of tview with few rows would show the last ones from then on
	switch {
	case len(ids) == 0:
	case g.wanted != nil && g.choose(*g.wanted):
		g.wanted = nil
	case follow && g.view.Sort == "" && (atEnd || row == g.placed):
		g.place(len(ids))
	case row == g.placed:
		g.place(1)
	case !known:
		g.Select(max(1, min(row, len(ids))), 0)
	case row > len(ids) || ids[row-1] != id:
		g.choose(id)
	}
	return true
}

func (g *grid) selected() (id int64, ok bool) {
	row, _ := g.GetSelection()
	if row < 1 || row > len(g.ids) {
		return 0, false
	}
	return g.ids[row-1], true
}

// choose moves the cursor to a row, and reports whether it is in the view.
func (g *grid) choose(id int64) bool {
	i := slices.Index(g.ids, id)
	if i < 0 {
		return false
	}
	g.Select(i+1, 0)
	g.placed = 0
	return true
}

// cells is the content of the table. Only the cells that are drawn are made.
type cells struct {
	tview.TableContentReadOnly
	g *grid
}

// GetRowCount returns the number of rows, the head included.
func (t cells) GetRowCount() int { return len(t.g.ids) + 1 }

// GetColumnCount returns the number of columns.
func (t cells) GetColumnCount() int { return len(t.g.shown()) }

// GetCell returns a cell.
func (t cells) GetCell(row, column int) *tview.TableCell {
	g := t.g
	columns := g.shown()
	if column < 0 || column >= len(columns) || row > len(g.ids) {
		return nil
	}
	if row == 0 {
		return g.head(column)
	}
	id := g.ids[row-1]
	list, ok := g.cache[id]
	if !ok {
		if len(g.cache) >= maxCached {
			clear(g.cache)
		}
		list = g.newRow(id, row)
		g.cache[id] = list
	}
	return list[column]
}

// head returns the cell above a column: its name, and the direction by which rows are
// sorted.
func (g *grid) head(column int) *tview.TableCell {
	c := g.shown()[column]
	name := heading(c)
	if g.view.Sort == c.Name {
		if g.view.Descending {
			name += "↓"
		} else {
			name += "↑"
		}
	}
	g.widen(column, len([]rune(name)))
	style := tcell.StyleDefault.Bold(true)
	if column == g.column {
		style = style.Underline(true)
	}
	return g.cell(g.pad(name, column, isRight(c)), c).SetSelectable(false).SetStyle(style)
}

func (g *grid) cell(text string, c *store.Column) *tview.TableCell {
	cell := tview.NewTableCell(cellText(text))
	if isRight(c) {
		cell.SetAlign(tview.AlignRight)
	}
	if c.Name != store.Details {
		cell.SetMaxWidth(maxCell)
	}
	return cell
}

func heading(c *store.Column) string {
	switch c.Name {
	case "request.time":
		return "time"
	case "lnet.src_nid":
		return "source"
	case "lnet.dest_nid":
		return "destination"
	}
	return c.Name
}

// isRight reports whether a column is aligned at its right end: numbers are.
func isRight(c *store.Column) bool {
	switch c.Type {
	case records.Uint, records.Int, records.Duration, records.Seconds, records.Float, records.Time:
		return true
	}
	return false
}

func (g *grid) widen(column, width int) {
	for len(g.widths) <= column {
		g.widths = append(g.widths, 0)
	}
	g.widths[column] = max(g.widths[column], min(width, maxCell))
}

// pad returns text in the width of a column, which stays as wide as it was.
func (g *grid) pad(text string, column int, right bool) string {
	space := strings.Repeat(" ", max(0, g.widths[column]-tview.TaggedStringWidth(cellText(text))))
	if right {
		return space + text
	}
	return text + space
}

func (g *grid) newRow(id int64, row int) []*tview.TableCell {
	columns := g.shown()
	list := make([]*tview.TableCell, len(columns))
	before := int64(0)
	if g.opt.Time == render.Delta && row > 1 {
		before = g.timeOf(g.ids[row-2])
	}
	r, err := g.reader.Read(g.view.Kind, id)
	style := g.style(&r, err)
	for i, c := range columns {
		text := ""
		switch {
		case err == nil:
			text = g.value(c, &r, before)
		case i == 0:
			text = err.Error()
		}
		list[i] = g.cell(text, c).SetStyle(style)
		g.widen(i, tview.TaggedStringWidth(list[i].Text))
	}
	return list
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
