package tui

import (
	"strings"
	"sync/atomic"
)

// askSearch asks for a text, and goes to the next line or row that has it.
func askSearch(s *Screen) {
	s.ask("search: ", s.sought, func(text string) {
		s.sought = text
		s.search(1)
	})
}

// search goes to the next line of the part with the focus, or the next row, that has the text
// that is looked for; with by -1 to the one before.
func (s *Screen) search(by int) {
	if s.sought == "" {
		s.say("/ searches")
		return
	}
	found := false
	switch p, _ := s.app.GetFocus().(*pane); p {
	case nil, s.grid.pane:
		s.searchRows(by)
		return
	case s.details.tree:
		found = s.details.search(s.sought, by)
	default:
		var i int
		if i, found = nextWith(s.sought, p.cursor, p.count, by, func(i int) string { return textOf(p.line(i)) }); found {
			p.move(i)
		}
	}
	if !found {
		s.say("%s: not found", s.sought)
	}
}

// searchRows looks for a row in a goroutine of its own, until a key is pressed.
func (s *Screen) searchRows(by int) {
	view := s.opt.View
	finder := newGrid(s.opt.Capture.Rows, &view, s.styles)
	finder.view, finder.ids = s.grid.view, s.grid.ids
	finder.setColumns(finder.view.Kind, s.grid.names(finder.view.Kind))
	text, at := s.sought, s.grid.cursor
	stop := &atomic.Bool{}
	s.searching = stop
	s.later("searching …", func() func() {
		i, ok := nextWith(text, at, len(finder.ids), by, func(i int) string {
			if stop.Load() {
				return text
			}
			return finder.rowText(i)
		})
		return func() {
			if !stop.Load() && (!ok || !s.grid.choose(finder.ids[i])) {
				s.say("%s: not found", text)
			}
		}
	})
}

// rowText returns what the columns of a row show, and their values in full.
func (g *grid) rowText(i int) string {
	r, err := g.reader.Read(g.view.Kind, g.ids[i])
	if err != nil {
		return ""
	}
	var b strings.Builder
	for _, c := range g.shown() {
		b.WriteString(g.value(c, &r, 0) + " ")
		b.Write(append(c.Append(nil, &r), ' '))
	}
	return b.String()
}

// nextWith returns the next of n texts that contains another one, in either case of letters: after
// text i, or before it with by -1, and then from the other end on.
func nextWith(sought string, i, n, by int, text func(i int) string) (int, bool) {
	sought = strings.ToLower(sought)
	for k := 1; k <= n; k++ {
		at := ((i+k*by)%n + n) % n
		if strings.Contains(strings.ToLower(text(at)), sought) {
			return at, true
		}
	}
	return 0, false
}

func textOf(runs []run) string {
	var b strings.Builder
	for _, r := range runs {
		b.WriteString(r.text)
	}
	return b.String()
}

// search goes to the next line of the tree that has a text, and unfolds what it is in.
func (d *details) search(sought string, by int) bool {
	if d.tree.cursor >= len(d.shown) {
		return false
	}
	i, ok := nextWith(sought, d.shown[d.tree.cursor], len(d.lines), by, func(i int) string { return string(d.lines[i].Text) })
	if !ok {
		return false
	}
	path := d.lines[i].path
	for at := strings.LastIndexByte(path, '/'); at > 0; at = strings.LastIndexByte(path, '/') {
		path = path[:at]
		delete(d.folded, path)
	}
	d.refold()
	for k, line := range d.shown {
		if line == i {
			d.tree.move(k)
		}
	}
	return true
}
