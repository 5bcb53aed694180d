package tui

import (
	"fmt"

	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/internal/tui/store"
)

// view is what one can switch to by its number.
type view struct {
	name string
	show func(s *Screen)
}

// views are the rows of either kind, the findings, and tables as the commands have them.
var views = func() []view {
	list := []view{
		{"RPCs", func(s *Screen) { s.visit(s.queries[store.RPCs]) }},
		{"messages", func(s *Screen) { s.visit(s.queries[store.Messages]) }},
		{"findings", showFindings},
	}
	for _, t := range model.Tables {
		list = append(list, view{t.Name, func(s *Screen) { showTable(s, t) }})
	}
	return list
}()

// showView shows the view with a digit.
func showView(s *Screen, digit rune) {
	if i := int(digit - '1'); i < len(views) {
		views[i].show(s)
	}
}

// chooseView shows a menu of the views.
func chooseView(s *Screen) {
	var list []choice
	for i, v := range views {
		list = append(list, choice{text: fmt.Sprintf("%d  %s", i+1, v.name), do: func() { v.show(s) }})
	}
	choose(s, "views", list)
}

// showTable shows a table. Enter goes from a row to its RPCs.
func showTable(s *Screen, t model.Table) {
	s.status.say("looking …")
	o := s.opt.View
	_, _, o.Width, _ = s.pages.GetInnerRect()
	s.spawn(func() {
		lines := t.Lines(s.opt.Capture, o)
		s.post(func() {
			if len(lines) == 0 {
				s.status.say("no %s", t.Name)
				return
			}
			s.status.left = ""
			showLines(s, t.Name+", Enter goes to the RPCs, : to other views, Esc closes", lines)
		})
	})
}
