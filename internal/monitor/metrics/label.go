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
	if strings.ContainsFunc(s, func(r rune) bool { return !strconv.IsPrint(r) || r == utf8.RuneError }) {
		quoted := strconv.Quote(s)
		s = unquoted.Replace(quoted[1 : len(quoted)-1])
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

// unquoted undoes what strconv.Quote does to printable characters.
var unquoted = strings.NewReplacer(`\\`, `\`, `\"`, `"`)

// In both text formats, label values have all of these escaped. Help has no
// quotes, so only the others need it in the older one.
var (
	escaped     = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
	escapedHelp = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
)

// appendLabels appends labels in the syntax of both text formats, without braces:
// op="OST_READ",target="lustre-OST0000".
func appendLabels(b []byte, labels []Label, values []string) []byte {
	for i := range labels {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, labels[i].Name...)
		b = append(b, `="`...)
		b = append(b, escaped.Replace(values[i])...)
		b = append(b, '"')
	}
	return b
}
