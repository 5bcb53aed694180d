package tui

import (
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"

	"github.com/lshark/lshark/internal/tui/store"
)

// columnList is the page on which columns are chosen: those that are shown in their
// order, then the others.
type columnList struct {
	*pane
	screen *Screen
	kind   store.Kind
	list   []columnChoice
}

type columnChoice struct {
	name  string
	shown bool
}

func chooseColumns(s *Screen) {
	l := &columnList{pane: newPane("columns: Space shows or hides, < > moves, a adds any field, Esc closes"), screen: s,
		kind: s.grid.view.Kind}
	for _, name := range s.grid.names(l.kind) {
		l.list = append(l.list, columnChoice{name, true})
	}
	for _, name := range store.ColumnNames(l.kind) {
		if l.find(name) < 0 {
			l.list = append(l.list, columnChoice{name, false})
		}
	}
	l.pressed, l.chosen = l.key, l.toggle
	l.set(len(l.list), l.runs)
	s.openPane(l.pane)
}

func (l *columnList) find(name string) int {
	return slices.IndexFunc(l.list, func(c columnChoice) bool { return c.name == name })
}

// runs returns a line: whether the column is shown, its name and meaning.
func (l *columnList) runs(i int) []run {
	const width = 22
	c := l.list[i]
	mark, style, doc := "[ ] ", tcell.StyleDefault, ""
	if c.shown {
		mark, style = "[x] ", style.Bold(true)
	}
	if column, ok := store.NewColumn(l.kind, c.name); ok {
		doc = column.Doc
	}
	return []run{{mark, style}, {fmt.Sprintf("%-*s ", width, c.name), style}, {doc, tcell.StyleDefault.Dim(true)}}
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
	l.list[l.cursor].shown = !l.list[l.cursor].shown
	l.apply()
}

func (l *columnList) swap(by int) {
	i, k := l.cursor, l.cursor+by
	if k >= 0 && k < len(l.list) && l.list[i].shown && l.list[k].shown {
		l.list[i], l.list[k] = l.list[k], l.list[i]
		l.cursor = k
		l.apply()
	}
}

// apply shows the columns. The only one cannot be hidden.
func (l *columnList) apply() {
	var names []string
	var shown, hidden []columnChoice
	for _, c := range l.list {
		if c.shown {
			names, shown = append(names, c.name), append(shown, c)
		} else {
			hidden = append(hidden, c)
		}
	}
	if len(names) == 0 {
		l.list[l.cursor].shown = true
		return
	}
	l.list = append(shown, hidden...)
	l.set(len(l.list), l.runs)
	l.screen.grid.setColumns(l.kind, names)
	l.screen.grid.column = min(l.screen.grid.column, len(names)-1)
}

func (l *columnList) askName() {
	l.screen.ask("column: ", "", func(name string) {
		if _, ok := store.NewColumn(l.kind, name); !ok {
			l.screen.say("%s: no such field", name)
			return
		}
		i := l.find(name)
		if i >= 0 && l.list[i].shown {
			return
		}
		if i >= 0 {
			l.list = slices.Delete(l.list, i, i+1)
		}
		l.list = append(l.list, columnChoice{name, true})
		l.apply()
	})
}
