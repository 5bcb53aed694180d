package tui

import (
	"github.com/rivo/tview"

	"github.com/lshark/lshark/internal/tui/store"
)

// place is where the user was: the rows, the one with the cursor and how far they were
// scrolled, and the pages over them.
type place struct {
	view   *store.View
	row    *int64 // with the cursor, nil: none
	offset int    // first row that was shown
	column int
	widths []int // of the columns
	pages  []overlay
}

// visit shows other rows as show does, and remembers where the user was.
func (s *Screen) visit(q store.Query, row *int64) {
	g := s.grid
	p := place{g.view, s.current(g.view.Kind), g.offset, g.column, g.widths, s.overlays}
	if !s.show(q, row) {
		return
	}
	s.closeAll()
	if q == p.view.Query && len(p.pages) == 0 {
		return
	}
	s.back = append(s.back, p)
}

// filterRows shows the rows of a kind that match a filter.
func (s *Screen) filterRows(k store.Kind, filter string) {
	q := s.queries[k]
	q.Filter = filter
	s.visit(q, s.current(k))
}

// goBack shows what was shown before the last visit.
func (s *Screen) goBack() {
	n := len(s.back) - 1
	if n < 0 {
		s.say("nothing to go back to, q quits")
		return
	}
	p := s.back[n]
	s.back = s.back[:n]
	s.display(p.view)
	s.grid.wanted = p.row
	s.grid.update(false)
	s.grid.column, s.grid.widths, s.grid.offset = p.column, p.widths, p.offset
	s.chosen()
	for _, x := range p.pages {
		s.open(x.page)
	}
}

// overlay is a page over the others. It has the whole screen.
type overlay struct {
	page  tview.Primitive
	focus tview.Primitive // what had the focus before
}

// open shows a page over the others. Escape closes it.
func (s *Screen) open(p tview.Primitive) {
	s.overlays = append(s.overlays[:len(s.overlays):len(s.overlays)], overlay{p, s.app.GetFocus()})
	s.app.SetRoot(p, true)
}

// close closes the uppermost page.
func (s *Screen) close() {
	last := len(s.overlays) - 1
	if last < 0 {
		return
	}
	focus := s.overlays[last].focus
	s.overlays = s.overlays[:last]
	s.app.SetRoot(s.top(), true).SetFocus(focus)
}

func (s *Screen) closeAll() {
	for len(s.overlays) > 0 {
		s.close()
	}
}

// top returns the uppermost page.
func (s *Screen) top() tview.Primitive {
	if n := len(s.overlays); n > 0 {
		return s.overlays[n-1].page
	}
	return s.main
}
