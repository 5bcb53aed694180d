package tui

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/internal/tui/store"
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

// full puts a pane on the whole screen, above the status line.
func full(s *Screen, p *pane) tview.Primitive {
	return tview.NewFlex().SetDirection(tview.FlexRow).AddItem(p, 0, 1, true).AddItem(s.status, 1, 0, false)
}

// showLines shows a page of lines. Enter goes to the message or the RPCs that a line is about.
func showLines(s *Screen, title string, lines []model.Line) {
	p := newPane(title)
	p.set(len(lines), func(i int) []run { return s.styles.runs(&lines[i].Marked) })
	p.cursor = max(0, slices.IndexFunc(lines, func(l model.Line) bool { return l.Filter != "" })) // below the heading of a table
	p.chosen = func() {
		switch {
		case p.cursor >= len(lines):
		case lines[p.cursor].Filter != "":
			q := s.queries[store.RPCs]
			q.Filter = lines[p.cursor].Filter
			s.visit(q)
		case lines[p.cursor].At.Frame > 0:
			goTo(s, lines[p.cursor].At)
		}
	}
	s.open(full(s, p))
}

func goTo(s *Screen, at track.Point) {
	q := s.queries[store.Messages]
	q.Filter = fmt.Sprintf("frame == %d", at.Frame)
	if at.File != "" {
		q.Filter += fmt.Sprintf(" && file == %q", at.File)
	}
	s.visit(q)
}

// choice is a line of a menu, and what it does.
type choice struct {
	text  string
	do    func()
	stays bool // below the page that do shows
}

func choose(s *Screen, title string, list []choice) {
	if len(list) == 0 {
		s.status.say("%s: nothing", title)
		return
	}
	p := newPane(title + ", Enter to choose, Esc to close")
	p.set(len(list), func(i int) []run { return []run{{list[i].text, tcell.StyleDefault}} })
	p.chosen = func() {
		chosen := list[p.cursor]
		if !chosen.stays {
			s.close()
		}
		chosen.do()
	}
	s.open(full(s, p))
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
	s.open(full(s, p))
}

// statusLine is the last line: a message or the most important keys on the left, how much
// was read on the right.
type statusLine struct {
	*tview.Box
	left  string
	bad   bool // left is an error
	right string
	style tcell.Style // of an error
}

func newStatusLine(bad tcell.Style) *statusLine {
	s := &statusLine{Box: tview.NewBox(), style: bad}
	s.SetBackgroundColor(tcell.ColorDefault)
	return s
}

const usualKeys = "? help  / search  F filter  m messages  : views  q quit"

// Draw draws the line.
func (s *statusLine) Draw(screen tcell.Screen) {
	s.Box.DrawForSubclass(screen, s)
	x, y, width, _ := s.GetInnerRect()
	left, style := s.left, tcell.StyleDefault
	switch {
	case left == "":
		left, style = usualKeys, style.Dim(true)
	case s.bad:
		style = s.style
	}
	room := width - len([]rune(s.right)) - 1
	put(screen, x, y, room, 0, []run{{left, style}})
	put(screen, x+room+1, y, len([]rune(s.right)), 0, []run{{s.right, tcell.StyleDefault}})
}

// say shows a message until the next key.
func (s *statusLine) say(format string, args ...any) {
	s.left, s.bad = fmt.Sprintf(format, args...), false
}

// fail shows an error until the next key.
func (s *statusLine) fail(err error) { s.left, s.bad = err.Error(), true }
