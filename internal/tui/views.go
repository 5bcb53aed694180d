package tui

import (
	"fmt"

	"github.com/lshark/lshark/internal/tui/model"
	"github.com/lshark/lshark/internal/tui/store"
	"github.com/lshark/lshark/render"
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
	s.choose("views", list)
}

// selection returns the rows that are shown, nil without a filter.
func (s *Screen) selection() *model.Selection {
	v := s.grid.view
	if v.Filter == "" {
		return nil
	}
	return &model.Selection{Kind: v.Kind, Filter: v.Filter, Rows: s.grid.ids}
}

// withFilter appends the filter of the rows that a page is about.
func withFilter(text string, x *model.Selection) string {
	if x == nil {
		return text
	}
	return text + ", filter: " + x.Filter
}

// view returns the settings of pages as wide as the screen.
func (s *Screen) view() render.SummaryOptions {
	o := s.opt.View
	_, _, o.Width, _ = s.pages.GetInnerRect()
	return o
}

// showTable shows a table of the rows that are shown. Enter goes from a row to its RPCs.
func showTable(s *Screen, t model.Table) {
	x, o := s.selection(), s.view()
	s.later("looking …", func() func() {
		lines := t.Lines(s.opt.Capture, x, o)
		return func() {
			if len(lines) == 0 {
				s.say("%s", withFilter("no "+t.Name, x))
				return
			}
			s.showLines(withFilter(t.Name+", Enter goes to the RPCs, : to other views, Esc closes", x), lines)
		}
	})
}
