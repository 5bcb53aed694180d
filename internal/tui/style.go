package tui

import (
	"strings"
	"unicode/utf8"

	"github.com/fatih/color"
	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

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
