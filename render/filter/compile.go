package filter

import (
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// Filter is a compiled filter over messages.
type Filter = RecordFilter[*records.Message]

// RecordFilter is a compiled filter over records of one kind, such as locks. It is
// not safe for concurrent use.
type RecordFilter[R any] struct {
	match   func(*subject) bool
	subject subject
}

// Match reports whether the filter holds for a record. It does for all when f is
// nil.
func (f *RecordFilter[R]) Match(r R) bool {
	if f == nil {
		return true
	}
	f.subject.record = r
	return f.match(&f.subject)
}

// Compile compiles a filter over messages. The error is an *Error.
func Compile(text string) (*Filter, error) {
	match, err := new(compiler).compile(text)
	if err != nil {
		return nil, err
	}
	return &Filter{match: match}, nil
}

// CompileRecord compiles a filter over records, by their keys with or without the
// prefix. The error is an *Error.
func CompileRecord[R any](keys *records.Table[R], text string) (*RecordFilter[R], error) {
	c := new(compiler)
	c.record = func(name string) *field {
		if p, ok := keys.Find(strings.TrimPrefix(name, keys.Prefix)); ok {
			return keyField(name, p)
		}
		return nil
	}
	c.unknownKey = func(t token) {
		c.reject(t, "unknown key of "+keys.Record+" records: "+t.text, DidYouMean(schema.Nearest(t.text, RecordNames(keys), 3)))
	}
	match, err := c.compile(text)
	if err != nil {
		return nil, err
	}
	return &RecordFilter[R]{match: match}, nil
}

// RecordNames lists the names that filters over records of a kind know.
func RecordNames[R any](keys *records.Table[R]) (names []string) {
	for _, e := range keys.Entries() {
		names = append(names, e.Name)
	}
	return names
}

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
	if len(near) == 0 {
		return ""
	}
	return "did you mean " + schema.WordList(near, " or ") + "?"
}
