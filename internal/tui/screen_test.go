package tui

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/lshark/lshark/dissect/capture"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/internal/wiretest/hostile"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/diagnose"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/internal/tui/store"
)

// terminal is a screen that a test types on. Work of other goroutines is done at once.
type terminal struct {
	*Screen
	t      *testing.T
	screen tcell.SimulationScreen
	saved  map[string][]Frame
	drawn  bool // since the last key
}

// capturing reads a sample into a model.
func capturing(t *testing.T, name string) *model.Capture {
	t.Helper()
	return ofFrames(t, wiretest.ReadSample(t, "../../pcaps/"+name))
}

// ofFrames reads frames into a model.
func ofFrames(t *testing.T, frames []capture.Frame) *model.Capture {
	t.Helper()
	var d *dissect.Dissector
	var c *model.Capture
	c = model.New(store.Options{}, diagnose.Options{Capture: func() diagnose.Capture {
		return diagnose.Capture{Stats: d.Stats(), Files: 1, FirstFrame: c.Rows.First()}
	}})
	t.Cleanup(func() {
		assert.NoError(t, c.Rows.Close())
	})
	d = dissect.New(dissect.Options{Frames: true, TransferUpdate: c.TransferUpdate, Lost: c.Lost, TCPEvent: c.TCPEvent, IBEvent: c.IBEvent,
		Handle: c.Message})
	c.Rows.SetFirst(frames[0].Time)
	for i := range frames {
		must.NoError(t, c.Frame(&frames[i]))
		d.Frame(&frames[i])
	}
	d.Close()
	c.Advance(frames[len(frames)-1].Time)
	c.Close()
	must.NoError(t, c.Rows.Err())
	return c
}

// newTerminal makes a screen for a model.
func newTerminal(t *testing.T, c *model.Capture, width, height int, change func(*Options)) *terminal {
	t.Helper()
	x := &terminal{t: t, saved: make(map[string][]Frame), screen: tcell.NewSimulationScreen("UTF-8")}
	must.NoError(t, x.screen.Init())
	t.Cleanup(x.screen.Fini)
	x.screen.SetSize(width, height)
	o := Options{Title: "sample.pcap", Capture: c, Colored: true,
		Save: func(path string, frames []Frame) (int, error) {
			if strings.HasPrefix(path, "/nonexistent") {
				return 0, os.ErrNotExist
			}
			x.saved[path] = frames
			return 1, nil
		}}
	if change != nil {
		change(&o)
	}
	now := func(f func()) { f() }
	x.Screen = newScreen(o, work{post: now, spawn: now, wait: func() bool { return false }})
	x.Begin(nil)
	x.End(nil)
	x.refresh()
	return x
}

// sample returns a screen of 120 by 40 for a sample.
func sample(t *testing.T, name string) *terminal {
	t.Helper()
	return newTerminal(t, capturing(t, name), 120, 40, nil)
}

// press types keys: the names of special ones, or text, between whose characters the screen is
// drawn with the tag all only.
func (x *terminal) press(keys ...string) {
	x.t.Helper()
	named := map[string]tcell.Key{"Enter": tcell.KeyEnter, "Esc": tcell.KeyEscape, "Tab": tcell.KeyTab, "Backtab": tcell.KeyBacktab, "Up": tcell.KeyUp,
		"Down": tcell.KeyDown, "Left": tcell.KeyLeft, "Right": tcell.KeyRight, "Home": tcell.KeyHome, "End": tcell.KeyEnd, "PgDn": tcell.KeyPgDn,
		"^P": tcell.KeyCtrlP, "^N": tcell.KeyCtrlN, "^U": tcell.KeyCtrlU, "F1": tcell.KeyF1}
	for _, k := range keys {
		if key, ok := named[k]; ok {
			x.event(tcell.NewEventKey(key, 0, tcell.ModNone))
			continue
		}
		x.drawOnce()
		for _, r := range k {
			if wiretest.All {
				x.draw()
			}
			x.pass(tcell.NewEventKey(tcell.KeyRune, r, tcell.ModNone))
		}
	}
}

// event draws the screen and passes a key to it, as the event loop does.
func (x *terminal) event(e *tcell.EventKey) {
	x.drawOnce()
	x.pass(e)
}

func (x *terminal) pass(e *tcell.EventKey) {
	x.drawn = false
	if e = x.key(e); e != nil {
		x.top().InputHandler()(e, func(p tview.Primitive) { x.app.SetFocus(p) })
	}
	x.refresh()
}

// click clicks on a place.
func (x *terminal) click(column, row int, action tview.MouseAction) {
	x.draw()
	e := tcell.NewEventMouse(column, row, tcell.Button1, tcell.ModNone)
	x.top().MouseHandler()(action, e, func(p tview.Primitive) { x.app.SetFocus(p) })
	x.drawn = false
}

// drawOnce draws the screen if a key was pressed since it was drawn.
func (x *terminal) drawOnce() {
	if !x.drawn {
		x.draw()
	}
}

// draw draws the screen.
func (x *terminal) draw() {
	x.drawn = true
	width, height := x.screen.Size()
	x.screen.Clear()
	if !x.beforeDraw(x.screen) {
		x.top().SetRect(0, 0, width, height)
		x.top().Draw(x.screen)
	}
}

// shown returns the cells of the screen as it is drawn now.
func (x *terminal) shown() (cells []tcell.SimCell, width, height int) {
	x.draw()
	x.screen.Show()
	return x.screen.GetContents()
}

// lines returns what the screen shows.
func (x *terminal) lines() (list []string) {
	cells, width, height := x.shown()
	for y := range height {
		line := ""
		for _, c := range cells[y*width : (y+1)*width] {
			if len(c.Runes) > 0 {
				line += string(c.Runes)
			} else {
				line += " "
			}
		}
		list = append(list, strings.TrimRight(line, " "))
	}
	return list
}

func (x *terminal) text() string { return strings.Join(x.lines(), "\n") }

// want checks that the screen shows texts.
func (x *terminal) want(texts ...string) {
	x.t.Helper()
	shown := x.text()
	for _, text := range texts {
		if !strings.Contains(shown, text) {
			x.t.Fatalf("%q is not on the screen:\n%s", text, shown)
		}
	}
}

// not checks that the screen does not show texts.
func (x *terminal) not(texts ...string) {
	x.t.Helper()
	shown := x.text()
	for _, text := range texts {
		if strings.Contains(shown, text) {
			x.t.Fatalf("%q is on the screen:\n%s", text, shown)
		}
	}
}

// lit returns the text in the parts of a line that are drawn in reverse.
func (x *terminal) lit() (text []string) {
	cells, width, height := x.shown()
	for y := range height {
		line := ""
		for _, c := range cells[y*width : (y+1)*width] {
			if _, _, attr := c.Style.Decompose(); attr&tcell.AttrReverse != 0 {
				line += string(c.Runes)
			}
		}
		if line != "" {
			text = append(text, line)
		}
	}
	return text
}

// TestBrowse walks through a capture: rows, tree, bytes.
func TestBrowse(t *testing.T) {
	x := sample(t, "mount.pcap")
	x.want("sample.pcap", "79 RPCs", "MGS_CONNECT", "196 messages", "message 1 of 2", "ptlrpc_body", "ocd_connect_flags", "? help")
	x.not("ksh_type", "pb_opc") // folded
	x.press("j", "Down", "k")
	x.want("request LDLM_ENQUEUE plain  x1882453915468032")
	x.press("]")
	x.want("message 2 of 2", "reply LDLM_ENQUEUE plain")
	x.press("]", "[")
	x.want("message 1 of 2")

	// The bytes of the field with the cursor are lit.
	x.not("bytes of the message")
	x.press("b", "Tab", "/", "PB_OPC", "Enter")
	x.want("4 from 152")
	if lit := x.lit(); !strings.Contains(lit[len(lit)-1], "65 00 00 00") { // LDLM_ENQUEUE is 101
		t.Errorf("lit: %q", lit)
	}

	// Folding.
	x.press("Home", "j", "Right")
	x.want("ksh_type")
	x.press(" ")
	x.not("ksh_type")
	x.press("Right", "j", "Left", "Left")
	x.not("ksh_type")

	// Ends of the table, and the column of the tree.
	x.press("Esc", "G")
	x.want("MGS_DISCONNECT")
	x.press("g", "z")
	x.not("ptlrpc_body")
	x.press("Tab", "z", "z")
	x.not("variant")
	x.press("z")
	x.want("variant", "target_uuid")
}

// TestFilter types filters, with an error, completion, and what was typed before.
func TestFilter(t *testing.T) {
	x := sample(t, "mount.pcap")
	x.press("F", "pb_opc == == 3", "Enter")
	x.want("expected a value", "          ^^")
	x.press("^U", "latenc", "Tab", " > 20ms", "Enter")
	x.want("RPCs", "filter: latency > 20ms", "of 79 RPCs")
	x.not("^")
	n := len(x.grid.ids)
	assert.That(t, n != 0 && n != 79, "%d RPCs", n)
	x.press("F", "^U", "nonsense", "Enter")
	x.want("nonsense", "^^^^^^^^")
	x.press("Esc")
	x.want("filter: latency > 20ms")
	x.press("u")
	x.want("79 RPCs")
	x.press("F", "rpc.target == l", "Tab", " and opcode in {OBD_PI", "Tab", ", MDS_STA", "Tab", "}", "Enter") // values that were seen
	x.want("filter: rpc.target == lustre-MDT0000 and opcode in {OBD_PING, MDS_STATFS}", "of 79 RPCs")
	x.press("F", "^U", "error == ENOS", "Tab", " or rpc.client == 192", "Tab", "Enter")
	x.want("filter: error == ENOSPC or rpc.client == 192.0.2.3@tcp", "of 79 RPCs")
	x.press("u", "F", "^P", "^P", "^P", "Enter")
	x.want("filter: latency > 20ms")
	x.press("F", "^P", "^N", "^N", "Enter")
	x.want(" 79 RPCs")
	x.press("F", "opcode == OST_WRITE", "Enter")
	x.want("0 of 79 RPCs")
	x.press("j", "k", "Enter", "o", "f", "w", "a", "G", "g") // nothing is chosen
}

// TestSortAndColumns sorts by columns, and chooses others.
func TestSortAndColumns(t *testing.T) {
	x := sample(t, "mount.pcap")
	x.press("Right", "Right", "Right", "Right", "s")
	x.want("latency↓", "by latency", "104ms") // numbers: the largest first
	x.press("s")
	x.want("latency↑", "by latency")
	x.press("s")
	x.not("by latency")
	x.press("Left", "s")
	x.want("target↑")

	// Reset: as in the beginning.
	x.press("F", "latency > 10ms", "Enter", "c", "Enter", "Esc", "j", "r")
	x.want("79 RPCs", " time ")
	x.not("by target", "filter: latency")
	if id, _ := x.grid.selected(); id != 0 {
		t.Errorf("the cursor is on row %d", id)
	}

	x.press("c")
	x.want("[x] request.time", "[ ] uid", "columns:")
	x.press("Enter") // hides the time
	x.want("[ ] request.time")
	x.press("Esc")
	assert.Equal(t, x.grid.shown()[0].Name, "opcode", "the first column")
	x.press("c", ">", "a", "sends", "Enter")
	x.want("[x] sends", "columns:")
	x.press("Esc")
	c := x.grid.shown()
	if n := len(c); c[1].Name != "opcode" || c[n-2].Name != "sends" || c[n-1].Name != "details" {
		t.Errorf("columns: %s … %s %s", c[1].Name, c[n-2].Name, c[n-1].Name)
	}
	x.press("c", "a", "nonsense", "Enter")
	x.want("nonsense: no such field")

	x.press("Esc", "m", "c", "a", "pb_timeout", "Enter", "Esc")
	c = x.grid.shown()
	assert.Equal(t, c[len(c)-2].Name, "pb_timeout", "the column before the details")
	for _, kind := range []string{"messages", "RPCs"} { // every column sorts
		for range x.grid.shown() {
			x.press("s", "Right")
			x.want(kind)
		}
		x.press("m")
	}
	for range 4 {
		x.press("t")
	}
	x.want("times: since the first frame")
}

// TestFollow goes from a row to what it has in common with others, and back.
func TestFollow(t *testing.T) {
	x := sample(t, "mount.pcap")
	x.press("j", "Enter")
	x.want("xid == 1882453915468032", "2 of 196 messages", "request", "reply")
	x.press("Enter")
	x.want("79 RPCs")
	id, _ := x.grid.selected()
	assert.That(t, id == 1, "row %d", id)
	x.press("f")
	x.want("follow", "xid == 1882453915468032", "rpc.client == 192.0.2.3@tcp", "and rpc.pid == ", "lock_handle == 0x", "rpc.target == \"MGS\"")
	x.press("Esc", "f", "End", "Enter")
	x.want("of 79 RPCs")

	// A field of the tree.
	x.press("u", "g", "j", "Tab", "/", "pb_timeout", "Enter", "f")
	x.want("pb_timeout == 11")
	x.press("Enter")
	x.want("filter: pb_timeout == 11", "of 79 RPCs")
}

// TestOpen looks at the lock, file and connection of rows.
func TestOpen(t *testing.T) {
	x := sample(t, "locks.pcap.zst")
	x.press("F", "opcode == LDLM_ENQUEUE && fid", "Enter", "o")
	x.want("messages of the RPC", "lock 0x", "connection to ")
	x.press("j", "Enter")
	x.want("resource.text", "granted.frame", "Enter goes to a frame")
	for !strings.Contains(strings.Join(x.lit(), ""), "granted.frame") {
		x.press("j")
	}
	x.press("Enter")
	x.want("frame == ", "messages")
	x.press("o")
	x.want("RPC of the message")
	x.press("End", "Enter")
	x.want("conn_cnt", "state")
	x.press("q", "q") // the page, and the menu below it
	x.want("frame == ")

	// Back to the page of the lock, to the menu, to the rows.
	x.press("Esc")
	x.want("granted.frame", "Enter goes to a frame")
	x.press("Esc")
	x.want("messages of the RPC")
	x.press("Esc")
	x.want("filter: opcode == LDLM_ENQUEUE && fid")
}

// TestBack goes back through filters, kinds of rows, findings and other rows: each time the filter,
// the row and the rows above it are those from before.
func TestBack(t *testing.T) {
	x := sample(t, "recovery.pcap.zst")
	type seen struct{ filter, table string }
	look := func() seen {
		return seen{x.grid.view.Filter + " by " + x.grid.view.Sort, strings.Join(x.lines()[2:14], "\n") + strings.Join(x.lit(), "")}
	}
	var places []seen
	visit := func(keys ...string) {
		places = append(places, look())
		x.press(keys...)
		if look() == places[len(places)-1] {
			t.Fatalf("%q changes nothing:\n%s", keys, x.text())
		}
	}
	x.press("PgDn", "PgDn", "k", "k", "k")
	visit("F", "^U", "latency > 1ms", "Enter")
	x.press("PgDn", "k", "k")
	visit("m")
	x.press("PgDn", "j")
	visit("f", "Down", "Enter")
	visit("m")
	visit("Enter")
	visit("u")
	for i := len(places) - 1; i >= 0; i-- {
		if x.press("Esc"); look() != places[i] {
			t.Fatalf("step %d: %s\nwant\n%s\n%s", i, x.text(), places[i].filter, places[i].table)
		}
	}
	x.press("Esc")
	x.want("nothing to go back to")

	// From a finding to its frame, and back to the same line of the findings.
	x.press("d", "G")
	for !strings.Contains(x.text(), "frame == ") {
		places[0] = look()
		x.press("Enter", "k")
	}
	if x.press("Esc"); look() != places[0] {
		t.Errorf("%s", x.text())
	}
	x.press("Esc")
	x.want("351 RPCs")

	// What is no filter is no place.
	x.press("F", "^U", "==", "Enter", "Esc", "Esc")
	x.want("nothing to go back to")
}

// TestSearch searches rows, the tree and pages, forwards and backwards.
func TestSearch(t *testing.T) {
	x := sample(t, "mount.pcap")
	rows := func(keys ...string) (list []int64) {
		for _, k := range keys {
			x.press(k)
			id, _ := x.grid.selected()
			list = append(list, id)
		}
		return list
	}
	x.press("n")
	x.want("/ searches")
	x.press("/", "mds_connect", "Enter")
	x.want("sample.pcap")
	first := rows("k", "n")[1]
	if opcode := func(id int64) string { return string(x.grid.shown()[1].Append(nil, mustRow(t, x, id))) }; opcode(first) != "MDS_CONNECT" {
		t.Errorf("row %d", first)
	}
	forward := rows("n", "n", "n", "n", "n", "n")
	if n := slices.Index(forward, first); n < 2 { // behind the last one comes the first
		t.Errorf("row %d, then %v", first, forward)
	}
	back := rows("N", "N", "N", "N", "N")
	slices.Reverse(back)
	assert.Slice(t, back, forward[:5], "forward", forward, "back")
	x.press("/", "^U", "no such text", "Enter")
	x.want("no such text: not found")
	x.press("/", "Esc", "n")
	x.want("not found")

	x.press("?", "/", "^U", "quit", "Enter")
	assert.Contains(t, strings.Join(x.lit(), ""), "quit", "lit")
	x.press("Esc", "Tab", "/", "^U", "ksh_type", "Enter") // it was folded away
	assert.Contains(t, strings.Join(x.lit(), ""), "ksh_type", "lit")
}

func mustRow(t *testing.T, x *terminal, id int64) *store.Row {
	t.Helper()
	return must.Value(x.opt.Capture.Rows.Row(x.grid.view.Kind, id))(t)
}

// TestCopy copies what a row is about.
func TestCopy(t *testing.T) {
	x := sample(t, "locks.pcap.zst")
	x.press("F", "opcode == LDLM_ENQUEUE && fid", "Enter", "y")
	x.want("xid ", "FID [0x", "handle 0x", "NID 192.0.2.3@tcp")
	copied := func() string { return string(x.screen.GetClipboardData()) }
	x.press("Enter")
	if id, _ := x.grid.selected(); copied() != fmt.Sprint(mustRow(t, x, id).RPC.XID) {
		t.Errorf("copied %q", copied())
	}
	x.want("copied")
	x.press("y", "G", "Enter")
	if !strings.HasSuffix(copied(), "@tcp") {
		t.Errorf("copied %q", copied())
	}
	x.press("Tab", "/", "pb_opc", "Enter", "y", "Enter")
	if strings.Join(strings.Fields(copied()), " ") != "pb_opc LDLM_ENQUEUE (101)" {
		t.Errorf("copied %q", copied())
	}
}

// TestState begins with what the session before has left.
func TestState(t *testing.T) {
	c := capturing(t, "mount.pcap")
	x := newTerminal(t, c, 120, 40, nil)
	s := x.State()
	assert.That(t, reflect.DeepEqual(s, State{}), "in the beginning: %+v", s)
	x.press("F", "latency > 1ms", "Enter", "F", "^U", "latency > 2ms", "Enter", "F", "^U", "latency > 1ms", "Enter")
	x.press("c", "Enter", "Esc", "Right", "s", "s", "m", "c", "a", "pb_timeout", "Enter", "Esc")
	state := x.State()
	state.RPCs.Columns = append(state.RPCs.Columns, "of a later version")
	y := newTerminal(t, c, 120, 40, func(o *Options) { o.State = state })
	y.want("79 RPCs")
	y.not(" time ", "by variant") // the sort was for another capture
	y.press("F", "^P", "^P", "Enter")
	y.want("filter: latency > 2ms")
	y.press("m")
	y.press("Enter") // a jump is no filter that was typed
	assert.Slice(t, y.State().Filters, []string{"latency > 1ms", "latency > 2ms"}, "filters")
	names := y.grid.names(store.Messages)
	assert.That(t, slices.Contains(names, "pb_timeout"), "columns %q", names)
	z := newTerminal(t, c, 120, 40, func(o *Options) { o.State, o.Columns = state, []string{"xid"} })
	assert.Equal(t, len(z.grid.names(store.RPCs)), 1, "columns")
}

// TestFindings jumps from a finding to the message that proves it.
func TestFindings(t *testing.T) {
	x := sample(t, "recovery.pcap.zst")
	x.press("d")
	x.want("findings", "next:")
	for i := 0; !strings.Contains(x.text(), "frame == "); i++ {
		if i > 60 {
			t.Fatalf("no finding leads to a frame:\n%s", x.text())
		}
		x.press("j", "Enter")
	}
	x.want("filter: frame == ", " messages")
	x.press("m")
	x.want("RPCs")
}

// TestViews goes through the views, and from a row of each table to its RPCs and back.
func TestViews(t *testing.T) {
	x := sample(t, "recovery.pcap.zst")
	for i, v := range []struct{ key, heading, filter string }{
		{"4", "client", "rpc.client == 192.0.2."},
		{"5", "target", "rpc.target"},
		{"6", "op ", "opcode == "},
		{"7", "job", "rpc.job"},
		{"8", "resource", "lock_handle == 0x"},
		{"9", "path", "fid == [0x"},
	} {
		x.press(v.key)
		x.want(v.heading, model.Tables[i].Name+", Enter goes to the RPCs")
		x.press("Enter")
		x.want("filter: ", v.filter, " RPCs")
		assert.That(t, len(x.grid.ids) > 0, "%s leads to no RPCs", x.grid.view.Filter)
		x.press("Esc")
		x.want(v.heading)
		x.press("Esc")
	}
	x.press(":")
	x.want("1  RPCs", "9  files")
	x.press("j", "Enter")
	x.want(" messages", "destination")
	x.press("6", "3")
	x.want("findings")
	x.press("1")
	x.want(" RPCs", "variant")
}

// TestFilteredViews checks that tables and findings are about the rows that the filter shows.
func TestFilteredViews(t *testing.T) {
	x := sample(t, "recovery.pcap.zst")
	x.press("8")
	rows := func() int { return len(x.lines()) - 2 - strings.Count(x.text(), "\n\n") } // without title and last line
	locks := rows()
	x.press("Esc", "9")
	files := rows()
	x.press("Esc", "3")
	x.want("lustre-MDT0001 was restarted")
	x.press("Esc", "F", "opcode == OST_WRITE", "Enter", "6")
	x.want("operations, Enter", "Esc closes, filter: opcode == OST_WRITE", "OST_WRITE")
	x.not("OBD_PING", "MDS_REINT")
	x.press("Esc", "5")
	x.want("lustre-OST0000", "lustre-OST0001")
	x.not("lustre-MDT")
	x.press("Enter")
	x.want("filter: (opcode == OST_WRITE) and rpc.target == lustre-OST000", "3 of ")
	x.press("Esc", "Esc", "3")
	x.want("findings, Enter goes to a frame, Esc closes, filter: opcode == OST_WRITE", "lustre-OST0000 was restarted")
	x.not("lustre-MDT0001 was restarted")
	x.press("Esc", "9")
	x.want("files, Enter", "filter: opcode == OST_WRITE", "/")
	assert.That(t, rows() < files, "%d lines, without a filter %d", rows(), files)
	x.press("Enter")
	x.want("filter: (opcode == OST_WRITE) and fid == [0x", " of ")
	assert.That(t, len(x.grid.ids) > 0, "%s leads to no RPCs", x.grid.view.Filter)
	x.press("Esc", "Esc", "8")
	x.want("no locks, filter: opcode == OST_WRITE")
	x.press("F", "^U", "opcode == LDLM_CANCEL", "Enter", "8")
	x.want("locks, Enter", "filter: opcode == LDLM_CANCEL", "cancel")
	assert.That(t, rows() < locks, "%d lines, without a filter %d", rows(), locks)

	// Of messages, the RPCs that they belong to.
	x.press("2", "F", "^U", "kind == reply && pb_status == ENODEV", "Enter", "6")
	x.want("operations, Enter", "filter: kind == reply", "CONNECT")
	x.not("OBD_PING")
	x.press("Enter")
	x.want("filter: opcode == ")
}

// TestLadder draws the messages of a row and of all rows.
func TestLadder(t *testing.T) {
	x := sample(t, "mount.pcap")
	x.press("j", "a")
	x.want("ladder", "192.0.2.3", "192.0.2.1", "LDLM_ENQUEUE")
	x.press("q", "A", "G")
	x.want("DISCONNECT")
	x.press("Esc")
	x.want("79 RPCs")
}

// TestSave saves the frames of a row, and of all rows.
func TestSave(t *testing.T) {
	x := sample(t, "mount.pcap")
	dir := t.TempDir()
	one, all := filepath.Join(dir, "one"), filepath.Join(dir, "all")
	x.press("j", "w")
	x.want("save the frames of this row to:")
	x.press(one, "Enter")
	x.want(one + ": 1 frames; 1 are no longer available")
	assert.Equal(t, fmt.Sprint(numbers(x.saved[one])), "[40 41]", "frames")
	assert.Contains(t, string(x.saved[one][1].Comment), "LDLM_ENQUEUE reply", "comment")
	x.press("F", "latency > 20ms", "Enter", "W", all, "Enter")
	n := len(x.saved[all])
	assert.That(t, n >= 2*len(x.grid.ids), "%d frames of %d RPCs", n, len(x.grid.ids))
	x.press("w", "/nonexistent/x", "Enter")
	x.want("file does not exist")

	must.NoError(t, os.WriteFile(one, nil, 0o600))
	delete(x.saved, one)
	x.press("w", one, "Enter")
	x.want("exists", "keep it", "overwrite it")
	if x.press("Enter"); x.saved[one] != nil {
		t.Error("the file was overwritten")
	}
	if x.press("w", one, "Enter", "j", "Enter"); x.saved[one] == nil {
		t.Error("the file was not overwritten")
	}
	x.press("w", "Esc")
	x.not("save the frames")
}

func numbers(frames []Frame) (list []int64) {
	for _, f := range frames {
		list = append(list, f.Number)
	}
	return list
}

// TestMouse chooses a row, a part and a line with the mouse.
func TestMouse(t *testing.T) {
	x := sample(t, "mount.pcap")
	x.click(10, 5, tview.MouseLeftDown)
	x.click(10, 5, tview.MouseLeftClick)
	id, _ := x.grid.selected()
	assert.That(t, id == 2, "row %d", id)
	x.refresh()
	x.click(10, 24, tview.MouseLeftDown)
	x.click(10, 24, tview.MouseLeftClick)
	if !x.details.tree.HasFocus() || x.details.tree.cursor == 0 {
		t.Errorf("the tree has the focus: %v, cursor %d", x.details.tree.HasFocus(), x.details.tree.cursor)
	}
	before := x.details.tree.cursor
	x.click(10, 24, tview.MouseScrollDown)
	assert.That(t, x.details.tree.cursor != before, "the wheel does not scroll")
}

// TestSizes checks that the parts fit, and what a screen that is too small shows.
func TestSizes(t *testing.T) {
	c := capturing(t, "mount.pcap")
	for _, size := range [][2]int{{80, 24}, {120, 40}, {200, 60}} {
		x := newTerminal(t, c, size[0], size[1], nil)
		x.want("79 RPCs", "MGS_CONNECT", "request, message 1 of 2", "target_uuid", "client_uuid", "connect_data", "ocd_version", "196 messages")
		x.press("b")
		if strings.Contains(x.text(), "bytes of the message") != (size[0] < sideBySide) {
			t.Errorf("%d columns: bytes of the message are not toggled:\n%s", size[0], x.text())
		}
		x.press("?")
		x.want("MOVE", "quit", "findings of diagnose", "draw the screen again")
		x.press("Esc")
	}
	x := newTerminal(t, c, 79, 24, nil)
	assert.Equal(t, strings.TrimSpace(x.text()), "lshark tui needs 80x24, this is 79x24")
}

// TestWithoutColors checks that no cell has a colour.
func TestWithoutColors(t *testing.T) {
	x := newTerminal(t, capturing(t, "recovery.pcap.zst"), 120, 40, func(o *Options) { o.Colored = false })
	for _, keys := range []string{"", "m", "d", "q", "?", "q", "/"} {
		x.press(keys)
		cells, _, _ := x.shown()
		for i := range cells {
			if fg, bg, _ := cells[i].Style.Decompose(); fg != tcell.ColorDefault || bg != tcell.ColorDefault {
				t.Fatalf("after %q: cell %d has the colours %v on %v\n%s", keys, i, fg, bg, x.text())
			}
		}
	}
}

// TestLive follows the end of a live capture, pauses, and shows what was dropped.
func TestLive(t *testing.T) {
	c := model.New(store.Options{}, diagnose.Options{})
	x := newTerminal(t, c, 120, 40, func(o *Options) { o.Live, o.Messages = true, true })
	x.Begin(nil)
	add := func(n int) {
		for range n {
			m := &dissect.Message{}
			m.LNetOff = -1
			_, m.Frame = c.Rows.Range(store.Messages)
			must.NoError(t, c.Rows.AddMessage(m, nil))
		}
		for x.grid.view.Advance() {
		}
		x.refresh()
	}
	add(100)
	x.want("100 messages", "live")
	add(10)
	id, _ := x.grid.selected()
	assert.That(t, id == 109, "the cursor is on row %d", id)
	x.press("k")
	add(10)
	if id, _ := x.grid.selected(); id != 108 {
		t.Errorf("the cursor is on row %d", id)
	}
	x.press("p")
	add(10)
	x.want("PAUSED", "130 messages")
	assert.Equal(t, len(x.grid.ids), 120, "rows while paused")
	x.press("p")
	assert.Equal(t, len(x.grid.ids), 130, "rows after the pause")
	x.press("r")
	add(10)
	if id, _ := x.grid.selected(); id != 139 {
		t.Errorf("the cursor is on row %d after the reset", id)
	}
	x.End(errors.New("the network is down"))
	x.refresh()
	x.want("the network is down", "? help")
}

// TestFiles shows the files of frames, where there are several.
func TestFiles(t *testing.T) {
	c := model.New(store.Options{}, diagnose.Options{})
	m := &dissect.Message{}
	m.LNetOff, m.Frame, m.File = -1, 7, "client.pcap"
	must.NoError(t, c.Rows.AddMessage(m, nil))
	for _, files := range [][]string{nil, {"client.pcap", "server.pcap"}} {
		x := newTerminal(t, c, 80, 24, func(o *Options) { o.Messages, o.View.Files = true, files })
		assert.Equal(t, strings.Contains(x.lines()[3], "client.pcap:7"), files != nil, "the frame has the file")
	}
}

// TestHostileText checks that text of a capture cannot control the terminal or the
// widgets.
func TestHostileText(t *testing.T) {
	c := model.New(store.Options{}, diagnose.Options{})
	x := newTerminal(t, c, 120, 40, func(o *Options) { o.Title = "a\x1b[31mb" })
	x.say("%s", "[red]x\x1b]0;title\x07\u202ey")
	x.want("a·[31mb", "[red]x·]0;title··y")

	// The same text in all fields, through the pages and menus of many rows.
	inputs := map[string][]capture.Frame{
		"operations": hostile.Operations(t, 50),
		"mount":      hostile.Sample(t, wiretest.Sample("mount")),
	}
	rounds := 2
	if wiretest.All {
		rounds = 5
		inputs["locks"] = hostile.Sample(t, wiretest.Sample("locks"))
		inputs["hsm"] = hostile.Sample(t, wiretest.Sample("hsm"))
	}
	for name, frames := range inputs {
		x := newTerminal(t, ofFrames(t, frames), 120, 40, nil)
		look := func(keys ...string) {
			x.press(keys...)
			hostile.Check(t, fmt.Sprintf("%s, %q", name, keys), []byte(x.text()))
			hostile.Check(t, fmt.Sprintf("%s, %q: copied", name, keys), x.screen.GetClipboardData())
		}
		look("d")
		look("Esc", "A")
		look("Esc", "m")
		for range rounds {
			for _, keys := range [][]string{{"o"}, {"Enter"}, {"Esc", "Esc", "a"}, {"Esc", "f"}, {"Esc", "y", "End", "Enter"}, {"/", "^U", "a", "Enter"}, {"Tab"}, {"PgDn"}, {"End"}, {"Tab"}, {"Esc", "j", "j", "j"}} {
				look(keys...)
			}
		}
	}
}

// TestPage compares the screens in docs/tui.md with those of the program.
func TestPage(t *testing.T) {
	const page = "../../docs/tui.md"
	x := newTerminal(t, capturing(t, "mount.pcap"), 100, 34, func(o *Options) { o.Title = "mount.pcap" })
	x.press("F", "latency > 10ms", "Enter", "j", "j", "j", "j", "b", "Tab", "/", "ocd_version", "Enter")
	screens := []string{x.text(), helpText}

	text := must.ReadFile(t, page)
	parts := strings.Split(string(text), "```text\n")
	must.Equal(t, len(parts), len(screens)+1, "blocks")
	for i, screen := range screens {
		_, rest, _ := strings.Cut(parts[i+1], "```\n")
		parts[i+1] = strings.TrimRight(screen, "\n") + "\n```\n" + rest
	}
	wiretest.Golden(t, page, strings.Join(parts, "```text\n"))
}
