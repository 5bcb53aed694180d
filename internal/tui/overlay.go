package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/opcodes/schema"
)

func (s *Screen) overlayKey(event *tcell.EventKey) *tcell.EventKey {
	if event.Key() == tcell.KeyEscape {
		s.close()
		return nil
	}
	if _, typing := s.app.GetFocus().(*tview.InputField); typing || event.Key() != tcell.KeyRune {
		return event
	}
	switch event.Rune() {
	case 'q':
		s.close()
	case '/', 'n', 'N':
		commands[event.Rune()](s)
	case ':', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		for len(s.overlays) > 0 {
			s.close()
		}
		return s.mainKey(event)
	default:
		return event
	}
	return nil
}

// openPane shows a pane on the whole screen, above the status line.
func (s *Screen) openPane(p *pane) {
	s.open(tview.NewFlex().SetDirection(tview.FlexRow).AddItem(p, 0, 1, true).AddItem(s.status, 1, 0, false))
}

// ask asks for a text below what is shown.
func (s *Screen) ask(label, text string, done func(text string)) {
	in := tview.NewInputField().SetLabel(label).SetText(text).SetFieldStyle(tcell.StyleDefault.Underline(true))
	in.SetDoneFunc(func(key tcell.Key) {
		s.close()
		if given := in.GetText(); key == tcell.KeyEnter && given != "" {
			done(given)
		}
	})
	below := tview.Primitive(s.main)
	if n := len(s.overlays); n > 0 {
		below = s.overlays[n-1].page
	}
	s.open(tview.NewFlex().SetDirection(tview.FlexRow).AddItem(below, 0, 1, false).AddItem(in, 1, 0, true))
}

// showLines shows a page of lines. Enter goes to the message or the RPCs that a line is about.
func (s *Screen) showLines(title string, lines []model.Line) {
	p := newPane(title)
	p.set(len(lines), func(i int) []run { return s.styles.runs(&lines[i].Marked) })
	p.cursor = max(0, slices.IndexFunc(lines, func(l model.Line) bool { return l.Filter != "" })) // below the heading of a table
	p.chosen = func() {
		switch l := lines[p.cursor]; {
		case l.Filter != "":
			s.filterRows(store.RPCs, l.Filter)
		case l.At.Frame == 0:
		case l.At.File != "":
			s.filterRows(store.Messages, fmt.Sprintf("frame == %d && file == %q", l.At.Frame, l.At.File))
		default:
			s.filterRows(store.Messages, fmt.Sprintf("frame == %d", l.At.Frame))
		}
	}
	s.openPane(p)
}

// choice is a line of a menu, and what it does.
type choice struct {
	text  string
	do    func()
	stays bool // below the page that do shows
}

// choose shows a menu.
func (s *Screen) choose(title string, list []choice) {
	p := newPane(title + ", Enter to choose, Esc to close")
	p.set(len(list), func(i int) []run { return []run{{list[i].text, tcell.StyleDefault}} })
	p.chosen = func() {
		chosen := list[p.cursor]
		if !chosen.stays {
			s.close()
		}
		chosen.do()
	}
	s.openPane(p)
}

// helpText is the page of keys. docs/tui.md has it too.
const helpText = `MOVE
  ↑ ↓ k j          row or line           Tab, Shift-Tab  table, tree, bytes,
  PgUp PgDn ^B ^F  page                                  filter
  Home End g G     first, last           [ ]             message of the RPC
  ← → h l          column; tree: unfold  mouse           click, wheel
  1 … 9  :         RPCs, messages, findings, clients, targets, operations, …
ROWS
  m  messages or RPCs                    Enter           messages of an RPC, RPC
  F  filter: Tab completes,                              of a message
     ^P ^N older and newer               u  r            no filter; reset all
  s  sort by the column, either way      c               choose columns
  f  follow an xid, a FID, a lock, a     t               format of times
     client; in the tree: the field      p               pause, go on
LOOK
  /  search, n N next and the one before
  y  copy xid, FID, handle, NID          w W             save frames of the row,
  o  locks, files, connection of the row                 of all rows, as pcapng
  d  findings of diagnose                b               bytes, or no bytes
  a A  ladder of the row, of all rows    z               zoom: table, or tree
  Esc      close a page, go back         ?               this page
  q, ^C    quit                          ^L              draw the screen again`

func showHelp(s *Screen) {
	p := newPane("keys, Esc closes")
	p.setText(strings.Split(helpText, "\n")...)
	s.openPane(p)
}

const usualKeys = "? help  / search  F filter  m messages  : views  q quit"

// statusLine is the last line: what was said last or the most important keys on the left, how much
// was read on the right.
func (s *Screen) statusLine() [][2]run {
	left := s.said
	if left.text == "" {
		left = run{usualKeys, tcell.StyleDefault.Dim(true)}
	}
	return [][2]run{{left, {s.texts.read, tcell.StyleDefault}}}
}

// say shows a message in the last line until the next key.
func (s *Screen) say(format string, args ...any) {
	s.said = run{fmt.Sprintf(format, args...), tcell.StyleDefault}
}

// fail shows an error in the last line until the next key.
func (s *Screen) fail(err error) { s.said = run{err.Error(), s.styles[schema.Bad]} }
