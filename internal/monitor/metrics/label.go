package metrics

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Other is the label value of the events whose own value has no series.
const Other = "other"

// Label declares a label of a family. With neither Values nor Top it takes any
// value, and [Other] in new series once the family is full.
type Label struct {
	Name   string
	Values []string // if not nil, any other value counts as Other
	Top    *Top     // if not nil, values that are not among its top values count as Other
}

const maxValueLen = 128

// cleanValue returns s as a label value: what is not valid UTF-8 or not printable
// is replaced by an escape sequence such as \x1b, and long values are truncated.
// It allocates only where it changes s.
func cleanValue(s string) string {
	for i := range len(s) {
		if s[i] < ' ' || s[i] > '~' {
			s = escapeUnprintable(s)
			break
		}
	}
	if len(s) <= maxValueLen {
		return s
	}
	n := maxValueLen
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

func escapeUnprintable(s string) string {
	if len(s) > maxValueLen+utf8.UTFMax { // the rest would be cut off anyway
		s = s[:maxValueLen+utf8.UTFMax]
	}
	var b []byte
	for i := 0; i < len(s); {
		r, size := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			b = append(b, '\\', 'x', hexDigits[s[i]>>4], hexDigits[s[i]&15])
		case strconv.IsPrint(r):
			b = append(b, s[i:i+size]...)
		default:
			quoted := strconv.QuoteRuneToASCII(r)
			b = append(b, quoted[1:len(quoted)-1]...)
		}
		i += size
	}
	return string(b)
}

const hexDigits = "0123456789abcdef"

// appendLabels appends labels in the syntax of both text formats, without braces:
// op="OST_READ",target="lustre-OST0000".
func appendLabels(b []byte, labels []Label, values []string) []byte {
	for i := range labels {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, labels[i].Name...)
		b = append(b, `="`...)
		b = appendEscaped(b, values[i], true)
		b = append(b, '"')
	}
	return b
}

// appendEscaped appends s with backslashes and newlines escaped, and double
// quotes too where quotes is true.
func appendEscaped(b []byte, s string, quotes bool) []byte {
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\\':
			b = append(b, `\\`...)
		case c == '\n':
			b = append(b, `\n`...)
		case c == '"' && quotes:
			b = append(b, `\"`...)
		default:
			b = append(b, c)
		}
	}
	return b
}

// validName reports whether s is a name of a label, or with colons of a metric.
func validName(s string, colons bool) bool {
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c == '_':
		case c >= '0' && c <= '9' && i > 0:
		case c == ':' && colons:
		default:
			return false
		}
	}
	return s != "" && !strings.HasPrefix(s, "__")
}
