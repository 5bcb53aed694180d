package tui

import (
	"fmt"

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
