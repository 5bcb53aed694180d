package tui

import (
	"fmt"
	"strings"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/internal/tui/store"
)

const overlayPage = "overlay"

// open shows a page over the others. Escape closes it.
func (s *Screen) open(p tview.Primitive) {
	s.overlay = overlayPage
	s.pages.AddPage(overlayPage, p, true, true)
	s.app.SetFocus(p)
}

func (s *Screen) close() {
	if s.overlay != "" {
		s.overlay = ""
		s.pages.RemovePage(overlayPage)
		s.app.SetFocus(s.grid)
	}
}

func (s *Screen) overlayKey(event *tcell.EventKey) *tcell.EventKey {
	_, typing := s.app.GetFocus().(*tview.InputField)
	switch {
	case event.Key() == tcell.KeyEscape, !typing && event.Key() == tcell.KeyRune && event.Rune() == 'q':
		s.close()
		return nil
	}
	return event
}

// full puts a pane on the whole screen, above the status line.
func full(s *Screen, p *pane) tview.Primitive {
	return tview.NewFlex().SetDirection(tview.FlexRow).AddItem(p, 0, 1, true).AddItem(s.status, 1, 0, false)
}

// showLines shows a page of lines. Enter goes to the message that a line is about.
func showLines(s *Screen, title string, lines []model.Line) {
	p := newPane(title)
	text := make([][]byte, len(lines))
	for i := range lines {
		text[i] = lines[i].Text
	}
	p.setText(text)
	p.chosen = func() {
		if p.cursor < len(lines) && lines[p.cursor].At.Frame != 0 {
			s.close()
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
	s.show(q)
}

// choice is a line of a menu, and what it does.
type choice struct {
	text string
	do   func()
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
		s.close()
		chosen.do()
	}
	s.open(full(s, p))
}

// helpText is the page of keys. docs/tui.md has it too.
const helpText = `MOVE
  ↑ ↓ k j          row or line             Tab, Shift-Tab  table, tree, bytes, filter
  PgUp PgDn ^B ^F  page                    Home End g G    first, last
  ← → h l          column; in the tree     [ ]             message of the RPC
                   fold and unfold         mouse           click, wheel, double click

ROWS
  m                messages or RPCs        Enter           messages of an RPC, RPC of a
  /                filter: Tab completes,                  message; in the tree: fold
                   ^P ^N older and newer   u               no filter
  s                sort by the column:     c               choose columns
                   up, down, not           t               format of times
  f                follow an xid, a FID,   p               pause, go on
                   a lock handle, a client; in the tree: the field

LOOK
  o                open the locks, files and the connection that the row is about
  d                findings of diagnose    a A             arrows: ladder of the row, of all rows
  w W              save the frames of the row, of all rows, as pcapng
  z                zoom: table, or tree and bytes, on the whole screen
  ?                this page               Esc             close a page, back to the table
  q, Ctrl-C        quit                    Ctrl-L          draw the screen again`

func showHelp(s *Screen) {
	p := newPane("keys, Esc closes")
	lines := strings.Split(helpText, "\n")
	text := make([][]byte, len(lines))
	for i, l := range lines {
		text[i] = []byte(l)
	}
	p.setText(text)
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

const usualKeys = "? help  / filter  m messages  f follow  o open  d findings  q quit"

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
	put(screen, x, y, room, 0, []run{{left, style}}, nil)
	put(screen, x+room+1, y, len([]rune(s.right)), 0, []run{{s.right, tcell.StyleDefault}}, nil)
}

// say shows a message until the next key.
func (s *statusLine) say(format string, args ...any) {
	s.left, s.bad = fmt.Sprintf(format, args...), false
}

// fail shows an error until the next key.
func (s *statusLine) fail(err error) { s.left, s.bad = err.Error(), true }
