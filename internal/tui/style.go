package tui

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/gdamore/tcell/v2"
	"github.com/rivo/tview"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

type run struct {
	text  string
	style tcell.Style
}

// runsOf returns the runs of a line with the escape sequences of render.Colors. Text of
// the wire has none: the renderers escape it.
func runsOf(line []byte) (list []run) {
	style := tcell.StyleDefault
	for len(line) > 0 {
		text, rest, found := bytes.Cut(line, []byte("\x1b["))
		if len(text) > 0 {
			list = append(list, run{string(text), style})
		}
		if !found {
			break
		}
		codes, after, _ := bytes.Cut(rest, []byte("m"))
		for _, code := range strings.Split(string(codes), ";") {
			style = withCode(style, code)
		}
		line = after
	}
	return list
}

func withCode(s tcell.Style, code string) tcell.Style {
	const (
		reset, bold, faint, normal = 0, 1, 2, 22
		firstColor, lastColor      = 30, 37
		noColor                    = 39
	)
	n, err := strconv.Atoi(code)
	switch {
	case err != nil || n == reset:
		return tcell.StyleDefault
	case n == bold:
		return s.Bold(true)
	case n == faint:
		return s.Dim(true)
	case n == normal:
		return s.Bold(false).Dim(false)
	case n >= firstColor && n <= lastColor:
		return s.Foreground(tcell.PaletteColor(n - firstColor))
	case n == noColor:
		return s.Foreground(tcell.ColorDefault)
	}
	return s
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

// cellText returns text for a table of tview, which has tags in it.
func cellText(text string) string { return tview.Escape(printable(text)) }

// put draws runs from a column on, up to a width, and leaves out the first skip columns
// of the text. It returns the column behind the text.
func put(screen tcell.Screen, x, y, width, skip int, runs []run, change func(tcell.Style) tcell.Style) int {
	end := x + width
	for _, r := range runs {
		style := r.style
		if change != nil {
			style = change(style)
		}
		for rest := printable(r.text); rest != "" && x < end; {
			if skip > 0 {
				_, size := utf8.DecodeRuneInString(rest)
				rest = rest[size:]
				skip--
				continue
			}
			var columns int
			rest, columns = screen.Put(x, y, rest, style)
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

func styleOf(st *render.Style) tcell.Style {
	runs := runsOf(st.Append(nil, " "))
	return runs[0].style
}
