package tui

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// pane is lines of text with a cursor. Lines are made when they are drawn, so there may be
// any number.
type pane struct {
	*tview.Box
	title     string
	count     int
	line      func(i int) []run
	cursor    int
	offset    int                        // first line that is shown
	column    int                        // first column that is shown
	widest    int                        // columns of the longest line that was drawn last
	heading   func() []run               // in place of the title; may be nil
	prepare   func(from, to, width int)  // called before lines are drawn; may be nil
	alwaysLit bool                       // the line with the cursor stands out without the focus, too
	below     int                        // lines below the one with the cursor that are to be seen when it is drawn next
	moved     func()                     // called when the cursor has moved; may be nil
	chosen    func()                     // called for Enter or a double click; may be nil
	pressed   func(*tcell.EventKey) bool // called for keys that the pane does not handle; reports whether the key was handled
}

func newPane(title string) *pane {
	p := &pane{Box: tview.NewBox(), title: title, line: func(int) []run { return nil }}
	p.Box.SetBackgroundColor(tcell.ColorDefault)
	return p
}

func (p *pane) set(count int, line func(i int) []run) {
	p.count, p.line = count, line
	p.cursor = max(0, min(p.cursor, count-1))
}

// setText replaces the lines.
func (p *pane) setText(lines ...string) {
	p.set(len(lines), func(i int) []run { return plain(lines[i]) })
}

func (p *pane) move(to int) {
	to = max(0, min(to, p.count-1))
	if to != p.cursor {
		p.cursor = to
		if p.moved != nil {
			p.moved()
		}
	}
}

// show scrolls so that a line is visible.
func (p *pane) show(i int) {
	_, _, _, height := p.body()
	p.offset = max(0, min(p.offset, i))
	p.offset = max(p.offset, i-height+1)
}

// body returns the place of the lines, which are below the title.
func (p *pane) body() (x, y, width, height int) {
	x, y, width, height = p.GetInnerRect()
	return x, y + 1, width, max(0, height-1)
}

// Draw draws the pane.
func (p *pane) Draw(screen tcell.Screen) {
	p.Box.DrawForSubclass(screen, p)
	x, y, width, height := p.body()
	p.show(min(p.cursor+p.below, p.cursor+height-1))
	p.show(p.cursor)
	p.below = 0
	p.offset, p.widest = max(0, min(p.offset, p.count-height)), 0
	end := min(p.offset+height, p.count)
	if p.prepare != nil {
		p.prepare(p.offset, end, width)
	}
	if p.heading != nil {
		put(screen, x, y-1, width, 0, p.heading())
	} else {
		drawTitle(screen, x, y-1, width, p.title, p.HasFocus())
	}
	for i := p.offset; i < end; i, y = i+1, y+1 {
		runs := p.line(i)
		p.widest = max(p.widest, columnsOf(runs))
		if i == p.cursor && (p.HasFocus() || p.alwaysLit) {
			runs = slices.Clone(runs)
			for k := range runs {
				runs[k].style = runs[k].style.Reverse(true)
			}
			runs = append(runs, run{strings.Repeat(" ", width), tcell.StyleDefault.Reverse(true)})
		}
		put(screen, x, y, width, p.column, runs)
	}
}

// drawTitle draws the line above a part of the screen. The one with the focus is bold and
// marked.
func drawTitle(screen tcell.Screen, x, y, width int, title string, focus bool) {
	style := tcell.StyleDefault.Dim(true)
	lead := "── "
	if focus {
		style, lead = tcell.StyleDefault.Bold(true), "━━ "
	}
	end := put(screen, x, y, width, 0, []run{{lead + title + " ", style}})
	for ; end < x+width; end++ {
		screen.SetContent(end, y, []rune(lead)[0], nil, style)
	}
}

// InputHandler returns the handler of keys.
func (p *pane) InputHandler() func(*tcell.EventKey, func(tview.Primitive)) {
	return p.WrapInputHandler(func(event *tcell.EventKey, _ func(tview.Primitive)) { p.key(event) })
}

func (p *pane) key(event *tcell.EventKey) {
	const sideways = 8
	_, _, width, height := p.body()
	page := max(1, height-1) // a line stays
	if p.pressed != nil && p.pressed(event) {
		return
	}
	switch motionOf(event) {
	case tcell.KeyUp:
		p.move(p.cursor - 1)
	case tcell.KeyDown:
		p.move(p.cursor + 1)
	case tcell.KeyPgUp:
		p.move(p.cursor - page)
	case tcell.KeyPgDn:
		p.move(p.cursor + page)
	case tcell.KeyHome:
		p.move(0)
	case tcell.KeyEnd:
		p.move(p.count - 1)
	case tcell.KeyLeft:
		p.column = max(0, p.column-sideways)
	case tcell.KeyRight:
		if p.column+width < p.widest {
			p.column += sideways
		}
	case tcell.KeyEnter:
		if p.chosen != nil && p.count > 0 {
			p.chosen()
		}
	}
}

// MouseHandler returns the handler of the mouse.
func (p *pane) MouseHandler() func(tview.MouseAction, *tcell.EventMouse, func(tview.Primitive)) (bool, tview.Primitive) {
	return p.WrapMouseHandler(func(action tview.MouseAction, event *tcell.EventMouse, setFocus func(tview.Primitive)) (bool, tview.Primitive) {
		const wheel = 3
		x, y := event.Position()
		if !p.InRect(x, y) {
			return false, nil
		}
		_, top, _, _ := p.body()
		at := p.offset + y - top
		switch action {
		case tview.MouseLeftDown:
			setFocus(p)
		case tview.MouseLeftClick:
			if y >= top && at < p.count {
				p.move(at)
			}
		case tview.MouseLeftDoubleClick:
			if y >= top && at < p.count && p.chosen != nil {
				p.move(at)
				p.chosen()
			}
		case tview.MouseScrollUp:
			p.move(p.cursor - wheel)
		case tview.MouseScrollDown:
			p.move(p.cursor + wheel)
		default:
			return false, nil
		}
		return true, nil
	})
}

// letters are those of vi that move.
var letters = map[rune]tcell.Key{'k': tcell.KeyUp, 'j': tcell.KeyDown, 'h': tcell.KeyLeft, 'l': tcell.KeyRight, 'g': tcell.KeyHome, 'G': tcell.KeyEnd}

// motionOf returns the key that moves as the one that was pressed.
func motionOf(event *tcell.EventKey) tcell.Key {
	switch k := event.Key(); k {
	case tcell.KeyRune:
		return letters[event.Rune()]
	case tcell.KeyCtrlU, tcell.KeyCtrlB:
		return tcell.KeyPgUp
	case tcell.KeyCtrlD, tcell.KeyCtrlF:
		return tcell.KeyPgDn
	default:
		return k
	}
}

type run struct {
	text  string
	style tcell.Style
}

// styles are how text of each role looks on the screen.
type styles [schema.RoleCount]tcell.Style

func newStyles(colored bool) *styles {
	list := &styles{}
	for role, look := range render.Looks {
		for _, attribute := range look {
			switch s := list[role]; {
			case !colored:
			case attribute == color.Bold:
				list[role] = s.Bold(true)
			case attribute == color.Faint:
				list[role] = s.Dim(true)
			default:
				list[role] = s.Foreground(tcell.PaletteColor(int(attribute - color.FgBlack)))
			}
		}
	}
	return list
}

// runs returns the runs of a line.
func (s *styles) runs(line *schema.Marked) (list []run) {
	begin := 0
	for _, p := range line.Parts {
		list = append(list, run{string(line.Text[begin:p.End]), s[p.Role]})
		begin = p.End
	}
	return append(list, run{string(line.Text[begin:]), tcell.StyleDefault})
}

// printable replaces what could control a terminal. The renderers escape text of the wire
// already; this also covers what users type and names of files.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if schema.NeedsEscape(r) {
			return '·'
		}
		return r
	}, text)
}

// put draws runs from a column on, up to a width, and leaves out the first skip columns
// of the text. It returns the column behind the text.
func put(screen tcell.Screen, x, y, width, skip int, runs []run) int {
	end := x + width
	for _, r := range runs {
		for rest := printable(r.text); rest != "" && x < end; {
			if skip > 0 {
				_, size := utf8.DecodeRuneInString(rest)
				rest = rest[size:]
				skip--
				continue
			}
			var columns int
			rest, columns = screen.Put(x, y, rest, r.style)
			x += max(columns, 1)
		}
	}
	return x
}

func columnsOf(runs []run) (n int) {
	for _, r := range runs {
		n += render.Width([]byte(r.text))
	}
	return n
}

// bar is lines of the screen, each with a text at its left end and one at its right.
func bar(lines func() [][2]run) *tview.Box {
	b := tview.NewBox().SetBackgroundColor(tcell.ColorDefault)
	return b.SetDrawFunc(func(screen tcell.Screen, x, y, width, height int) (int, int, int, int) {
		for i, l := range lines() {
			if i == height {
				break
			}
			room := width
			if right := columnsOf(l[1:]); right > 0 {
				room -= right + 1
				put(screen, x+room+1, y+i, right, 0, l[1:])
			}
			put(screen, x, y+i, room, 0, l[:1])
		}
		return x, y, width, height
	})
}
