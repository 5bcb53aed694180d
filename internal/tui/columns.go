package tui

import (
	"fmt"
	"slices"

	"github.com/gdamore/tcell/v2"

	"github.com/lshark/lshark/internal/tui/store"
)

// columnList is the page on which columns are chosen.
type columnList struct {
	*pane
	screen *Screen
	kind   store.Kind
	names  []string
	shown  int // the first names are those of the columns that are shown, in their order
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
	l.pressed = l.key
	l.chosen = func() { l.toggle(l.cursor) }
	l.set(len(l.names), l.runs)
	s.openPane(l.pane)
}

// runs returns a line: whether the column is shown, its name and meaning.
func (l *columnList) runs(i int) []run {
	const width = 22
	mark, style, doc := "[ ] ", tcell.StyleDefault, ""
	if i < l.shown {
		mark, style = "[x] ", style.Bold(true)
	}
	if column, ok := store.NewColumn(l.kind, l.names[i]); ok {
		doc = column.Doc
	}
	return []run{{mark, style}, {fmt.Sprintf("%-*s ", width, l.names[i]), style}, {doc, tcell.StyleDefault.Dim(true)}}
}

func (l *columnList) key(event *tcell.EventKey) bool {
	if event.Key() != tcell.KeyRune {
		return false
	}
	switch event.Rune() {
	case ' ':
		l.toggle(l.cursor)
	case '<':
		l.swap(-1)
	case '>':
		l.swap(1)
	case 'a':
		l.screen.ask("column: ", "", l.add)
	default:
		return false
	}
	return true
}

// toggle shows a column as the last one, but before the details, which have the rest of the line, or hides
// it. The only one cannot be hidden.
func (l *columnList) toggle(i int) {
	name := l.names[i]
	to := l.shown
	if i < l.shown {
		to--
		if to == 0 {
			return
		}
		l.shown--
	} else {
		if k := slices.Index(l.names[:l.shown], store.Details); k >= 0 {
			to = k
		}
		l.shown++
	}
	l.names = slices.Insert(slices.Delete(l.names, i, i+1), to, name)
	l.apply()
}

func (l *columnList) swap(by int) {
	i, k := l.cursor, l.cursor+by
	if k >= 0 && max(i, k) < l.shown {
		l.names[i], l.names[k] = l.names[k], l.names[i]
		l.cursor = k
		l.apply()
	}
}

func (l *columnList) apply() {
	l.set(len(l.names), l.runs)
	l.screen.grid.setColumns(l.kind, l.names[:l.shown])
	l.screen.grid.column = min(l.screen.grid.column, l.shown-1)
}

// add shows a column with any name.
func (l *columnList) add(name string) {
	if _, ok := store.NewColumn(l.kind, name); !ok {
		l.screen.say("%s: no such field", name)
		return
	}
	i := slices.Index(l.names, name)
	if i < 0 {
		i = len(l.names)
		l.names = append(l.names, name)
	}
	if i >= l.shown {
		l.toggle(i)
	}
}
