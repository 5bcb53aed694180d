package html

import (
	"fmt"
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lshark/lshark/opcodes/schema"
)

type writer struct {
	buf []byte
}

// markup is text that is HTML already. The compiler refuses other text where it would not
// be escaped.
type markup string

// raw appends markup. Inlined, it would make the program 50 kB larger.
//
//go:noinline
func (w *writer) raw(parts ...markup) {
	for _, s := range parts {
		w.buf = append(w.buf, s...)
	}
}

func number(n int) markup { return markup(strconv.Itoa(n)) }

// text appends text of the capture, as content or inside a quoted attribute. Bytes that
// control something or are not UTF-8 are written as \xNN, like everywhere; text that is
// escaped already stays as it is.
func (w *writer) text(s string) {
	if strings.ContainsFunc(s, func(c rune) bool { return c == utf8.RuneError || schema.NeedsEscape(c) }) {
		s = printable(s)
	}
	w.lines(s)
}

func printable(s string) string {
	var b []byte
	for i, c := range s {
		n := utf8.RuneLen(c)
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			b = fmt.Appendf(b, `\x%02x`, s[i])
		case schema.NeedsEscape(c):
			for _, c := range []byte(s[i : i+n]) {
				b = fmt.Appendf(b, `\x%02x`, c)
			}
		default:
			b = append(b, s[i:i+n]...)
		}
	}
	return string(b)
}

// lines appends text whose control characters are escaped already, or break lines.
func (w *writer) lines(s string) { w.buf = append(w.buf, html.EscapeString(s)...) }

// coordinate appends a number of a drawing, in tenths.
func (w *writer) coordinate(f float64) {
	const digits = 1
	w.buf = strconv.AppendFloat(w.buf, f, 'f', digits, 64)
	n := len(w.buf)
	if w.buf[n-1] == '0' { // 12.0
		w.buf = w.buf[:n-2]
	}
}

// attribute appends an attribute with a number of a drawing.
func (w *writer) attribute(name markup, f float64) {
	w.raw(" ", name, `="`)
	w.coordinate(f)
	w.raw(`"`)
}

// element appends an element that has text of the capture only. tag may have
// attributes.
func (w *writer) element(tag markup, s string) {
	w.raw("<", tag, ">")
	w.text(s)
	w.raw("</", tagName(tag), ">")
}

func tagName(tag markup) markup {
	name, _, _ := strings.Cut(string(tag), " ")
	return markup(name)
}
