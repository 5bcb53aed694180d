package tui

import (
	"fmt"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"
)

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
