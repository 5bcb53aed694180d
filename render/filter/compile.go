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
	match, err := (&compiler{text: text}).compile()
	if err != nil {
		return nil, err
	}
	return &Filter{match: match}, nil
}

// CompileRecord compiles a filter over records, by their keys with or without the
// prefix. The error is an *Error.
func CompileRecord[R any](keys *records.Table[R], text string) (*RecordFilter[R], error) {
	c := &compiler{text: text}
	c.record = func(name string) *field {
		if p, ok := keys.Find(strings.TrimPrefix(name, keys.Prefix)); ok {
			return keyField(name, p)
		}
		return nil
	}
	c.unknownKey = func(t token) error {
		return c.fail(t, "unknown key of "+keys.Record+" records: "+t.text, DidYouMean(schema.Nearest(t.text, RecordNames(keys), 3)))
	}
	match, err := c.compile()
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

type compiler struct {
	text string
	rpc  *RPCFilter // the filter that is compiled, when it is over RPCs

	// Of filters over other records: record finds the field of a name, nil for none, and unknownKey
	// makes the error.
	record     func(name string) *field
	unknownKey func(t token) error
}

func (c *compiler) compile() (func(*subject) bool, error) {
	e, err := parse(c.text)
	if err != nil {
		return nil, err
	}
	return c.expr(e)
}

func (c *compiler) fail(t token, msg, hint string) *Error {
	return &Error{Text: c.text, Col: t.col, Len: t.len, Msg: msg, Hint: hint}
}

func (c *compiler) expr(e *expr) (func(*subject) bool, error) {
	var parts []func(*subject) bool
	for _, a := range e.args {
		f, err := c.expr(a)
		if err != nil {
			return nil, err
		}
		parts = append(parts, f)
	}
	switch e.op {
	case "and":
		a, b := parts[0], parts[1]
		return func(s *subject) bool { return a(s) && b(s) }, nil
	case "or":
		a, b := parts[0], parts[1]
		return func(s *subject) bool { return a(s) || b(s) }, nil
	case "not":
		a := parts[0]
		return func(s *subject) bool { return !a(s) }, nil
	}
	return c.leaf(e)
}

// leaf compiles a comparison, or a bare name, which tests whether the field
// exists.
func (c *compiler) leaf(e *expr) (func(*subject) bool, error) {
	f, err := c.resolve(e.field)
	if err != nil {
		return nil, err
	}
	test, err := c.test(e, f)
	if err != nil {
		return nil, err
	}
	each := f.each
	match := func(s *subject) bool { return each(s, test) }
	if c.rpc != nil && !f.ofRPC {
		return c.perMessage(e, match)
	}
	return match, nil
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
	switch len(near) {
	case 0:
		return ""
	case 1:
		return "did you mean " + near[0] + "?"
	}
	return "did you mean " + strings.Join(near[:len(near)-1], ", ") + " or " + near[len(near)-1] + "?"
}
