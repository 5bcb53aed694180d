package tui

import (
	"slices"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/render"
)

// key handles a key before the part with the focus gets it. It returns nil if that part is
// not to get the key.
func (s *Screen) key(event *tcell.EventKey) *tcell.EventKey {
	switch event.Key() {
	case tcell.KeyCtrlC:
		s.app.Stop()
		return nil
	case tcell.KeyCtrlL:
		s.app.Sync()
		return nil
	}
	s.said, s.grid.wanted = run{}, nil
	if s.searching != nil {
		s.searching.Store(true)
	}
	switch {
	case len(s.overlays) > 0:
		return s.overlayKey(event)
	case s.filter.HasFocus():
		return s.filterKey(event)
	}
	return s.mainKey(event)
}

func (s *Screen) filterKey(event *tcell.EventKey) *tcell.EventKey {
	switch event.Key() {
	case tcell.KeyCtrlP:
		s.filter.older(-1)
	case tcell.KeyCtrlN:
		s.filter.older(1)
	case tcell.KeyEnter: // also while names are offered
		s.filterDone(tcell.KeyEnter)
	default:
		return event
	}
	return nil
}

// mainKey handles a key while no page is over the table, tree and bytes.
func (s *Screen) mainKey(event *tcell.EventKey) *tcell.EventKey {
	do := otherKeys[event.Key()]
	if event.Key() == tcell.KeyRune {
		do = commands[event.Rune()]
	}
	if do == nil {
		return event
	}
	do(s)
	return nil
}

var otherKeys = map[tcell.Key]func(*Screen){
	tcell.KeyTab:     func(s *Screen) { s.nextFocus(1) },
	tcell.KeyBacktab: func(s *Screen) { s.nextFocus(-1) },
	tcell.KeyEscape:  leave,
	tcell.KeyF1:      showHelp,
}

var commands = map[rune]func(*Screen){
	'q': func(s *Screen) { s.app.Stop() },
	'?': showHelp,
	'/': askSearch,
	'n': func(s *Screen) { s.search(1) },
	'N': func(s *Screen) { s.search(-1) },
	'F': func(s *Screen) { s.app.SetFocus(s.filter) },
	'y': copyMenu,
	'm': toggleKind,
	':': chooseView,
	's': func(s *Screen) { sortBy(s, s.grid.columnAtCursor()) },
	'c': chooseColumns,
	'f': follow,
	'o': open,
	'd': showFindings,
	'a': func(s *Screen) { showLadder(s, false) },
	'A': func(s *Screen) { showLadder(s, true) },
	'b': toggleBytes,
	'z': func(s *Screen) { s.zoomed = !s.zoomed },
	'w': func(s *Screen) { askSave(s, false) },
	'W': func(s *Screen) { askSave(s, true) },
	't': nextTime,
	'p': pause,
	'u': clearFilter,
	'r': reset,
	'[': func(s *Screen) { s.details.turn(-1) },
	']': func(s *Screen) { s.details.turn(1) },
}

func init() {
	for i, v := range views {
		commands[rune('1'+i)] = v.show
	}
}

// leave leaves a part for the table, and the table for what was shown before.
func leave(s *Screen) {
	if s.grid.HasFocus() {
		s.goBack()
	} else {
		s.app.SetFocus(s.grid.pane)
	}
}

func (s *Screen) nextFocus(by int) {
	parts := []tview.Primitive{s.grid.pane, s.details.tree, s.details.bytes, s.filter}
	if !s.bytesShown {
		parts = slices.Delete(parts, 2, 3)
	}
	for i, p := range parts {
		if p.HasFocus() {
			s.app.SetFocus(parts[(i+by+len(parts))%len(parts)])
			return
		}
	}
	s.app.SetFocus(s.grid.pane)
}

// toggleBytes shows the bytes, or hides them.
func toggleBytes(s *Screen) {
	s.bytesChanged = !s.bytesChanged
	if s.details.bytes.HasFocus() {
		s.app.SetFocus(s.details.tree)
	}
}

// toggleKind shows messages instead of RPCs, or RPCs instead of messages.
func toggleKind(s *Screen) {
	kind := store.Messages
	if s.grid.view.Kind == store.Messages {
		kind = store.RPCs
	}
	showKind(s, kind)
}

// showKind shows RPCs or messages, by the query that was shown last.
func showKind(s *Screen, k store.Kind) { s.visit(s.queries[k], s.current(k)) }

// sortBy sorts by a column, then the other way round, then not. The largest numbers come first.
func sortBy(s *Screen, c *store.Column) {
	q := s.queries[s.grid.view.Kind]
	begin := isRight(c)
	switch {
	case q.Sort != c.Name:
		q.Sort, q.Descending = c.Name, begin
	case q.Descending == begin:
		q.Descending = !begin
	default:
		q.Sort, q.Descending = "", false
	}
	s.show(q, nil) // the first rows are those that were looked for
}

// reset shows all rows of the kind with the usual columns, in the order of time, from the first
// one on, of a live capture from the last one on.
func reset(s *Screen) {
	kind := s.grid.view.Kind
	s.grid.setColumns(kind, usualColumns(kind))
	s.visit(store.Query{Kind: kind}, nil)
	s.grid.column = 0
}

func nextTime(s *Screen) {
	names := map[render.TimeFormat]string{render.Relative: "since the first frame", render.Local: "local", render.UTC: "UTC",
		render.Delta: "since the row before"}
	s.opt.View.Time = (s.opt.View.Time + 1) % render.TimeFormat(len(names))
	s.grid.widths = nil
	s.say("times: %s", names[s.opt.View.Time])
}

// pause stops showing what is read, or goes on. Reading continues.
func pause(s *Screen) {
	s.paused = !s.paused
	if s.refresh(); s.paused {
		s.say("paused: rows that are read are not shown, p to go on")
	}
}

func clearFilter(s *Screen) { s.filterRows(s.grid.view.Kind, "") }
