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
	"github.com/lshark/lshark/render"
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
		s.closeAll()
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

// item is a line of a page, and what it does when it is chosen.
type item struct {
	line  []run
	do    func() // nil: nothing
	stays bool   // of a menu: it stays below the page that do shows
}

// entry is a line of a menu.
func entry(text string, do func()) item { return item{line: plain(text), do: do} }

func plain(text string) []run { return []run{{text, tcell.StyleDefault}} }

// showPage shows lines on the whole screen.
func (s *Screen) showPage(title string, items []item) *pane {
	p := newPane(title)
	p.set(len(items), func(i int) []run { return items[i].line })
	p.chosen = func() {
		if do := items[p.cursor].do; do != nil {
			do()
		}
	}
	s.openPane(p)
	return p
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
	s.open(tview.NewFlex().SetDirection(tview.FlexRow).AddItem(s.top(), 0, 1, false).AddItem(in, 1, 0, true))
}

// showLines shows a page of lines. Enter goes to the message or the RPCs that a line is about.
func (s *Screen) showLines(title string, lines []model.Line) {
	var items []item
	for _, l := range lines {
		x := item{line: s.styles.runs(&l.Marked)}
		switch frame := fmt.Sprintf("frame == %d", l.At.Frame); {
		case l.Filter != "":
			x.do = func() { s.filterRows(store.RPCs, l.Filter) }
		case l.At.Frame == 0:
		case l.At.File != "":
			x.do = func() { s.filterRows(store.Messages, fmt.Sprintf("%s && file == %q", frame, l.At.File)) }
		default:
			x.do = func() { s.filterRows(store.Messages, frame) }
		}
		items = append(items, x)
	}
	p := s.showPage(title, items)
	p.cursor = max(0, slices.IndexFunc(lines, func(l model.Line) bool { return l.Filter != "" })) // below the heading of a table
}

// choose shows a menu.
func (s *Screen) choose(title string, list []item) {
	for i, x := range list {
		list[i].do = func() {
			if !x.stays {
				s.close()
			}
			x.do()
		}
	}
	s.showPage(title+", Enter to choose, Esc to close", list)
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
	var items []item
	for line := range strings.SplitSeq(helpText, "\n") {
		items = append(items, item{line: plain(line)})
	}
	s.showPage("keys, Esc closes", items)
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

// view is what one can switch to by its number.
type view struct {
	name string
	show func(s *Screen)
}

// views are the rows of either kind, the findings, and tables as the commands have them.
var views = func() []view {
	list := []view{
		{"RPCs", func(s *Screen) { showKind(s, store.RPCs) }},
		{"messages", func(s *Screen) { showKind(s, store.Messages) }},
		{"findings", showFindings},
	}
	for _, t := range model.Tables {
		list = append(list, view{t.Name, func(s *Screen) { showTable(s, t) }})
	}
	return list
}()

// chooseView shows a menu of the views.
func chooseView(s *Screen) {
	var list []item
	for i, v := range views {
		list = append(list, entry(fmt.Sprintf("%d  %s", i+1, v.name), func() { v.show(s) }))
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
	o.Width, _ = s.screen.Size()
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
