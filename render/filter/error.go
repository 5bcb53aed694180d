package filter

import "strings"

// Error is a syntax error in a filter, or a name or value that does not exist.
type Error struct {
	Text string // the filter
	Col  int    // offset of the error in Text, in bytes
	Len  int    // bytes that it covers, at least 1
	Msg  string
	Hint string // as in: did you mean pb_opc?
}

// Error returns the message, the filter with carets under the error, and the
// hint, on lines of their own.
func (e *Error) Error() string { return strings.Join(e.Lines(), "\n") }

// Lines returns the lines of Error. A line may contain line breaks, when the
// filter has some in a name.
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

// oneLine replaces white space one by one, so that columns stay where they are.
var oneLine = strings.NewReplacer("\n", " ", "\r", " ", "\t", " ")

// DidYouMean returns a hint that offers names, empty for no names.
func DidYouMean(near []string) string {
	switch len(near) {
	case 0:
		return ""
	case 1:
		return "did you mean " + near[0] + "?"
	}
	return "did you mean " + strings.Join(near[:len(near)-1], ", ") + " or " + near[len(near)-1] + "?"
}
