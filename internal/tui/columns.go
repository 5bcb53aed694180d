package tui

import (
	"slices"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/internal/tui/store"
)

// columnList is the page on which columns are chosen: those that are shown in their
// order, then the others.
type columnList struct {
	*pane
	screen *Screen
	kind   store.Kind
	names  []string
	shown  int // names that are shown, at the beginning
}

func chooseColumns(s *Screen) {
	l := &columnList{pane: newPane("columns: Space shows or hides, < > moves, a adds any field, Esc closes"), screen: s,
		kind: s.grid.view.Kind}
	l.names = s.grid.names(l.kind)
	l.shown = len(l.names)
	for _, name := range store.ColumnNames(l.kind) {
		if !slices.Contains(l.names, name) {
			l.names = append(l.names, name)
		}
	}
	l.pressed, l.chosen = l.key, l.toggle
	l.update()
	s.open(full(s, l.pane))
}

func (l *columnList) update() { l.set(len(l.names), l.runs) }

// runs returns a line: whether the column is shown, its name and meaning.
func (l *columnList) runs(i int) []run {
	mark, style := "[ ] ", tcell.StyleDefault
	if i < l.shown {
		mark, style = "[x] ", style.Bold(true)
	}
	const width = 22
	name := l.names[i]
	for len(name) < width {
		name += " "
	}
	doc := ""
	if c, ok := store.NewColumn(l.kind, l.names[i]); ok {
		doc = c.Doc
	}
	return []run{{mark, style}, {name + " ", style}, {doc, tcell.StyleDefault.Dim(true)}}
}

func (l *columnList) key(event *tcell.EventKey) bool {
	if event.Key() != tcell.KeyRune {
		return false
	}
	switch event.Rune() {
	case ' ':
		l.toggle()
	case '<':
		l.swap(-1)
	case '>':
		l.swap(1)
	case 'a':
		l.askName()
	default:
		return false
	}
	return true
}

// toggle shows the column with the cursor as the last one, or hides it.
func (l *columnList) toggle() {
	i := l.cursor
	name := l.names[i]
	if i < l.shown && l.shown == 1 {
		return // the only column cannot be hidden
	}
	l.names = slices.Delete(l.names, i, i+1)
	if i < l.shown {
		l.shown--
	} else {
		l.shown++
	}
	at := l.shown
	if i >= at {
		at--
	}
	l.names = slices.Insert(l.names, at, name)
	l.apply()
}

func (l *columnList) swap(by int) {
	i, k := l.cursor, l.cursor+by
	if i >= l.shown || k < 0 || k >= l.shown {
		return
	}
	l.names[i], l.names[k] = l.names[k], l.names[i]
	l.cursor = k
	l.apply()
}

func (l *columnList) apply() {
	l.update()
	l.screen.grid.setColumns(l.kind, l.names[:l.shown])
	l.screen.grid.column = min(l.screen.grid.column, l.shown-1)
}

func (l *columnList) askName() {
	s := l.screen
	ask(s, "column: ", "", func(name string) {
		_, ok := store.NewColumn(l.kind, name)
		switch {
		case !ok:
			s.status.say("%s: no such field", name)
		case !slices.Contains(l.names[:l.shown], name):
			l.names = slices.DeleteFunc(l.names, func(n string) bool { return n == name })
			l.names = slices.Insert(l.names, l.shown, name)
			l.shown++
			l.apply()
		}
	})
}

func ask(s *Screen, label, text string, done func(text string)) {
	in := tview.NewInputField().SetLabel(label).SetText(text).SetFieldStyle(tcell.StyleDefault.Underline(true))
	in.SetDoneFunc(func(key tcell.Key) {
		given := in.GetText()
		s.close()
		if key == tcell.KeyEnter && given != "" {
			done(given)
		}
	})
	below := tview.Primitive(s.main)
	if n := len(s.overlays); n > 0 {
		below = s.overlays[n-1].page
	}
	s.open(tview.NewFlex().SetDirection(tview.FlexRow).AddItem(below, 0, 1, false).AddItem(in, 1, 0, true))
}
