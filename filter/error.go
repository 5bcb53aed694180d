package filter

import "strings"

// Error is a mistake in a filter: where it is, what it is, and what may have
// been meant.
type Error struct {
	Text string // the filter
	Col  int    // of the mistake, from 0, in bytes
	Len  int    // bytes it covers, at least 1
	Msg  string
	Hint string // as in: did you mean pb_opc?
}

// Error shows the text with a caret under the mistake.
func (e *Error) Error() string { return strings.Join(e.Lines(), "\n") }

// Lines is the text of the error by lines: what it says may hold line breaks
// of whoever wrote the filter.
func (e *Error) Lines() []string {
	before := len([]rune(e.Text[:e.Col]))
	lines := []string{
		"filter: " + e.Msg,
		"  " + oneLine.Replace(e.Text),
		"  " + strings.Repeat(" ", before) + strings.Repeat("^", max(1, e.Len)),
	}
	if e.Hint != "" {
		lines = append(lines, "  "+e.Hint)
	}
	return lines
}

// oneLine keeps columns as they are.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")

// DidYouMean offers names that are near a mistaken one.
func DidYouMean(near []string) string {
	switch len(near) {
	case 0:
		return ""
	case 1:
		return "did you mean " + near[0] + "?"
	}
	return "did you mean " + strings.Join(near[:len(near)-1], ", ") + " or " + near[len(near)-1] + "?"
}
