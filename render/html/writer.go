package html

import (
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
	for i, c := range s {
		switch {
		case c == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			w.escape(s[i])
		case schema.NeedsEscape(c):
			for k := range utf8.RuneLen(c) {
				w.escape(s[i+k])
			}
		case c < utf8.RuneSelf:
			w.character(byte(c))
		default:
			w.buf = utf8.AppendRune(w.buf, c)
		}
	}
}

// escape appends a byte as \xNN.
func (w *writer) escape(b byte) {
	const digits = "0123456789abcdef"
	w.buf = append(w.buf, '\\', 'x', digits[b>>4], digits[b&15])
}

// lines appends text of several lines whose control characters are escaped already.
func (w *writer) lines(b []byte) {
	for _, c := range b {
		w.character(c)
	}
}

// character appends a character of ASCII, or a byte of another one.
func (w *writer) character(c byte) {
	switch c {
	case '&':
		w.raw("&amp;")
	case '<':
		w.raw("&lt;")
	case '>':
		w.raw("&gt;")
	case '"':
		w.raw("&#34;")
	case '\'':
		w.raw("&#39;")
	default:
		w.buf = append(w.buf, c)
	}
}

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
