package tui

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// Options are the settings of a Screen.
type Options struct {
	Title   string // names the capture
	Capture *model.Capture
	View    render.SummaryOptions // times, NIDs and Files; the other fields are not used
	Colored bool
	Live    bool

	// Of the first view: messages instead of RPCs, a filter, and columns instead of
	// the usual ones.
	Messages bool
	Findings bool // when all was read
	Filter   string
	Columns  []string
	State    State // of the session before

	// Save writes frames to a file, in their order, and returns how many are no longer
	// available. It is called from a goroutine of its own.
	Save func(path string, frames []Frame) (missing int, err error)
}

// Frame is a frame to be saved.
type Frame struct {
	Number  int64 // over all files
	Comment []byte
}

// Screen is the terminal program. Its methods are for one goroutine, unless their
// comments say otherwise.
type Screen struct {
	opt     Options
	styles  *styles
	app     *tview.Application
	main    *tview.Flex
	lower   *tview.Flex
	head    *tview.Box
	grid    *grid
	details *details
	filter  *filterLine
	trouble *tview.Box
	status  *tview.Box
	said    run            // shown in the last line until the next key
	texts   texts          // of the first line and the last ones
	queries [2]store.Query // by kind of rows
	paused  bool
	zoomed  bool // only the table is shown, or only tree and bytes

	bytesShown   bool
	bytesChanged bool // they are shown where they are usually not, or not where they are

	overlays  []overlay
	back      []place
	sought    string       // text that is searched
	searching *atomic.Bool // stops the search in rows; nil before the first
	screen    tcell.Screen // nil before it is drawn

	reading atomic.Pointer[reading] // nil: the input is not open

	work
}

// texts are what refresh compares with what is shown.
type texts struct {
	rows    string // how many rows of which kind
	read    string // how much was read
	trouble string // why rows are missing
}

// reading is how far the input was read.
type reading struct {
	bytes func() (read, total int64) // nil: unknown
	ended bool
	err   error
}

// New makes a Screen.
func New(o Options) *Screen {
	const pause = 50 * time.Millisecond
	var s *Screen
	s = newScreen(o, work{
		post:  func(f func()) { s.app.QueueUpdateDraw(f) },
		spawn: func(f func()) { go s.Guard(f) },
		wait:  func() bool { time.Sleep(pause); return true },
	})
	return s
}

// work is how work is distributed over goroutines. Tests do all of it in one.
type work struct {
	post  func(func()) // runs a func in the event loop
	spawn func(func()) // runs a func in a goroutine of its own
	wait  func() bool  // waits for more rows, and reports whether there may be some
}

func newScreen(o Options, w work) *Screen {
	// The colours of the terminal, not those of tview.
	tview.Styles = tview.Theme{}
	s := &Screen{opt: o, app: tview.NewApplication(), main: tview.NewFlex(), lower: tview.NewFlex(), styles: newStyles(o.Colored), work: w}
	s.grid = newGrid(o.Capture.Rows, &s.opt.View, s.styles)
	s.details = newDetails(o.Capture.Rows, &s.opt.View, s.styles)
	s.filter = newFilterLine(o.Capture.Rows, s.styles)
	s.head, s.trouble, s.status = bar(s.headLine), bar(s.troubleLine), bar(s.statusLine)
	s.queries = [2]store.Query{{Kind: store.RPCs}, {Kind: store.Messages}}
	kind := store.RPCs
	if o.Messages {
		kind = store.Messages
	}
	s.restore(&o.State)
	s.filter.remember(o.Filter)
	s.grid.setColumns(kind, o.Columns)
	s.queries[kind].Filter = o.Filter
	s.grid.view, _ = o.Capture.Rows.NewView(store.Query{Kind: kind})

	s.grid.moved, s.grid.chosen = s.chosen, func() { openMessages(s) }
	s.filter.SetDoneFunc(s.filterDone)
	s.app.SetRoot(s.main, true).EnableMouse(true).EnablePaste(true).SetInputCapture(s.key).SetBeforeDrawFunc(s.beforeDraw)
	s.app.SetFocus(s.grid.pane)
	s.show(s.queries[kind], nil)
	return s
}

const (
	// Shares of the lines for the table, and for tree and bytes below it.
	gridShare, lowerShare = 5, 6

	// From this width on, tree and bytes are side by side. On others the bytes are shown on demand.
	sideBySide   = 140
	bytesColumns = 76
	bytesLines   = 5

	minColumns, minLines = 80, 24
)

// beforeDraw fits the parts to the screen. On one that is too small it says so instead.
func (s *Screen) beforeDraw(screen tcell.Screen) bool {
	s.screen = screen
	width, height := screen.Size()
	screen.Clear()
	if width < minColumns || height < minLines {
		text := fmt.Sprintf("lshark tui needs %dx%d, this is %dx%d", minColumns, minLines, width, height)
		put(screen, 0, 0, width, 0, []run{{text, tcell.StyleDefault}})
		return true
	}
	direction, room := tview.FlexRow, bytesLines+1
	if width >= sideBySide {
		direction, room = tview.FlexColumn, bytesColumns
	}
	if s.bytesShown = (width >= sideBySide) != s.bytesChanged; !s.bytesShown {
		room = 0
	}
	grid, lower := gridShare, lowerShare
	if s.zoomed && (s.details.tree.HasFocus() || s.details.bytes.HasFocus()) {
		grid = 0
	} else if s.zoomed {
		lower = 0
	}
	s.lower.Clear().SetDirection(direction).
		AddItem(s.details.tree, 0, 1, false).
		AddItem(s.details.bytes, room, 0, false)
	s.main.Clear().SetDirection(tview.FlexRow).
		AddItem(s.head, 1, 0, false).
		AddItem(s.filter, 1, 0, false).
		AddItem(s.filter.hint, len(s.filter.errors), 0, false).
		AddItem(s.grid.pane, 0, grid, true).
		AddItem(s.lower, 0, lower, false).
		AddItem(s.trouble, min(1, len(s.texts.trouble)), 0, false).
		AddItem(s.status, 1, 0, false)
	return false
}

// Run shows the screen until the user quits. Errors are those of the terminal.
func (s *Screen) Run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	go func() {
		tick := time.NewTicker(refreshEvery)
		defer tick.Stop()
		for ctx.Err() == nil {
			select {
			case <-ctx.Done():
			case <-tick.C:
				s.app.QueueUpdate(func() {
					if s.refresh() {
						s.app.ForceDraw()
					}
				})
			}
		}
		s.app.Stop()
	}()
	return s.app.Run()
}

// refreshEvery is how often rows that were read are shown.
const refreshEvery = 100 * time.Millisecond

// Guard calls f, on the goroutine of the caller. When f panics, Guard restores the terminal
// before it panics, too. It is for goroutines other than that of Run.
func (s *Screen) Guard(f func()) {
	defer func() {
		if p := recover(); p != nil {
			s.app.Stop()
			panic(p)
		}
	}()
	f()
}

// Begin is called when the input is open, from any goroutine. bytes returns how much was
// read, and is nil when that is unknown.
func (s *Screen) Begin(bytes func() (read, total int64)) { s.reading.Store(&reading{bytes: bytes}) }

// End is called when the input was read, from any goroutine.
func (s *Screen) End(err error) {
	s.reading.Store(&reading{ended: true, err: err})
	if s.opt.Findings {
		s.post(func() { showFindings(s) })
	}
}

// show shows the rows of a query, with the cursor on one of them (nil: on the first), and reports
// whether its filter is one.
func (s *Screen) show(q store.Query, row *int64) bool {
	v, err := s.opt.Capture.Rows.NewView(q)
	if err != nil {
		s.filter.fail(err)
		return false
	}
	s.display(v)
	s.grid.wanted = row
	s.refresh()
	return true
}

// current returns the row with the cursor, nil where rows of another kind are shown.
func (s *Screen) current(k store.Kind) *int64 {
	if id, ok := s.grid.selected(); ok && s.grid.view.Kind == k {
		return &id
	}
	return nil
}

// display shows the rows of a view.
func (s *Screen) display(v *store.View) {
	s.filter.kind = v.Kind
	if s.filter.GetText() != v.Filter {
		s.filter.SetText(v.Filter)
	}
	s.filter.errors = nil
	s.queries[v.Kind] = v.Query
	s.grid.setView(v)
	s.details.clear()
	stopped := s.grid.stopped
	s.spawn(func() { s.advance(v, stopped) })
}

// advance finds the rows of a view until all were read or it is no longer shown.
func (s *Screen) advance(v *store.View, stopped *atomic.Bool) {
	for !stopped.Load() {
		ended := s.opt.Capture.Rows.Ended()
		if !v.Advance() && (ended || !s.wait()) {
			return
		}
	}
}

// later says what is done, does it in a goroutine of its own, and calls the func that it returns, which
// shows the result.
func (s *Screen) later(remark string, work func() (show func())) {
	s.say("%s", remark)
	s.spawn(func() {
		show := work()
		s.post(func() {
			s.said = run{}
			show()
		})
	})
}

// refresh takes what other goroutines have found, and reports whether something changed
// on the screen.
func (s *Screen) refresh() (changed bool) {
	if !s.paused && s.grid.update(s.opt.Live) {
		changed = true
		s.chosen()
	}
	now := texts{s.rowsText(), s.readText(), ""}
	if err := s.problem(); err != nil {
		now.trouble = err.Error()
	}
	changed = changed || now != s.texts
	s.texts = now
	return changed
}

// problem returns why rows are missing.
func (s *Screen) problem() error {
	if r := s.reading.Load(); r != nil && r.err != nil {
		return r.err
	}
	return cmp.Or(s.opt.Capture.Rows.Err(), s.grid.view.Err())
}

func (s *Screen) readText() string {
	dropped, to := s.opt.Capture.Rows.Range(store.Messages)
	text := fmt.Sprintf("%d messages", to)
	if dropped > 0 {
		text += fmt.Sprintf(", the first %d dropped", dropped)
	}
	switch p := s.reading.Load(); {
	case p == nil:
		text = "opening"
	case p.ended:
	case s.opt.Live:
		text += ", live"
	case p.bytes == nil:
		text += ", reading"
	default:
		read, total := p.bytes()
		if to == 0 && read > 0 {
			text = "looking for the names of targets"
		}
		text += fmt.Sprintf(", %d%% read", min(read, total)*100/max(total, 1))
	}
	if s.paused {
		text += ", PAUSED"
	}
	return text
}

// rowsText returns how many rows of which kind are shown.
func (s *Screen) rowsText() string {
	v := s.grid.view
	kind := "RPCs"
	if v.Kind == store.Messages {
		kind = "messages"
	}
	_, all := s.opt.Capture.Rows.Range(v.Kind)
	text := fmt.Sprintf("%d %s", len(s.grid.ids), kind)
	if v.Filter != "" {
		text = fmt.Sprintf("%d of %d %s", len(s.grid.ids), all, kind)
	}
	if v.Sort != "" {
		text += " by " + v.Sort
	}
	if tested := v.Tested(); tested < all && !s.paused && (v.Filter != "" || v.Sort != "") {
		text += fmt.Sprintf(", %d%% searched", tested*100/all)
	}
	return text
}

// troubleLine says why rows are missing.
func (s *Screen) troubleLine() [][2]run { return [][2]run{{{s.texts.trouble, s.styles[schema.Bad]}}} }

func (s *Screen) headLine() [][2]run {
	style := tcell.StyleDefault.Bold(true)
	return [][2]run{{{"lshark  " + s.opt.Title, style}, {s.texts.rows, style}}}
}

// chosen shows the row with the cursor below the table.
func (s *Screen) chosen() {
	if id, ok := s.grid.selected(); ok {
		s.details.set(s.grid.view.Kind, id)
	} else {
		s.details.clear()
	}
}

// filterDone applies the filter that was typed, or leaves the line.
func (s *Screen) filterDone(key tcell.Key) {
	switch key {
	case tcell.KeyEnter:
		q := s.queries[s.grid.view.Kind]
		q.Filter = s.filter.GetText()
		if s.visit(q, s.current(q.Kind)); len(s.filter.errors) == 0 {
			s.filter.remember(q.Filter)
			s.app.SetFocus(s.grid.pane)
		}
	case tcell.KeyEscape:
		s.filter.SetText(s.grid.view.Filter)
		s.app.SetFocus(s.grid.pane)
	}
}

// State is what is remembered from one session to the next.
type State struct {
	RPCs     Layout   `json:"rpcs"`
	Messages Layout   `json:"messages"`
	Filters  []string `json:"filters,omitempty"` // that were applied, the last one at the end
}

// Layout is how rows of a kind are shown.
type Layout struct {
	Columns []string `json:"columns,omitempty"` // nil: the usual ones
}

// restore applies what is remembered.
func (s *Screen) restore(state *State) {
	s.grid.setColumns(store.RPCs, state.RPCs.Columns)
	s.grid.setColumns(store.Messages, state.Messages.Columns)
	for _, f := range state.Filters {
		s.filter.remember(f)
	}
}

// State returns what is to be remembered, after Run.
func (s *Screen) State() State {
	return State{RPCs: s.layout(store.RPCs), Messages: s.layout(store.Messages), Filters: s.filter.past}
}

func (s *Screen) layout(k store.Kind) (l Layout) {
	if names := s.grid.names(k); !slices.Equal(names, usualColumns(k)) {
		l.Columns = names
	}
	return l
}
