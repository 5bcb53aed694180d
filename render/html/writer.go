package html

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/lshark/lshark/opcodes/schema"
)

// markup is text that is HTML already. The compiler refuses other text where it would not
// be escaped.
type markup string

// raw appends markup. Inlined, it would make the program 50 kB larger.
//
//go:noinline
func (r *renderer) raw(parts ...markup) {
	for _, s := range parts {
		r.buf = append(r.buf, s...)
	}
}

func number(n int) markup { return markup(strconv.Itoa(n)) }

// text returns text of the capture, as content or inside a quoted attribute. What controls something
// or is not UTF-8 is replaced: package render has escaped most of it already.
func text(s string) markup {
	return lines(strings.Map(func(c rune) rune {
		if schema.NeedsEscape(c) {
			return utf8.RuneError
		}
		return c
	}, s))
}

// lines returns text whose control characters are escaped already, or break lines.
func lines(s string) markup { return markup(html.EscapeString(s)) }

// coordinate returns a number of a drawing, in tenths.
func coordinate(f float64) markup {
	const digits = 1
	return markup(strings.TrimSuffix(strconv.FormatFloat(f, 'f', digits, 64), ".0"))
}

// attribute returns an attribute with a number of a drawing.
func attribute(name markup, f float64) markup { return " " + name + `="` + coordinate(f) + `"` }

// option returns an attribute with text, nothing where that is empty.
func option(name markup, s string) markup {
	if s == "" {
		return ""
	}
	return " " + name + `="` + text(s) + `"`
}

// element returns an element that has text of the capture only. tag may have
// attributes.
func element(tag markup, s string) markup {
	name, _, _ := strings.Cut(string(tag), " ")
	return "<" + tag + ">" + text(s) + "</" + markup(name) + ">"
}
