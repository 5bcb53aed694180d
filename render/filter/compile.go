package filter

import (
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// Filter is a compiled filter over messages. It is not safe for concurrent use.
type Filter struct {
	match   func(*subject) bool
	subject subject
}

// Match reports whether the filter holds for a message. It does for all when f
// is nil.
func (f *Filter) Match(m *records.Message) bool {
	if f == nil {
		return true
	}
	f.subject.msg = m
	return f.match(&f.subject)
}

// Compile compiles a filter over messages. The error is an *Error.
func Compile(text string) (*Filter, error) {
	match, err := (&compiler{text: text, index: opcodes.NewIndex()}).compile()
	if err != nil {
		return nil, err
	}
	return &Filter{match: match}, nil
}

type compiler struct {
	text  string
	index *schema.Index
	rpc   *RPCFilter // the filter that is compiled, when it is over RPCs

	// record finds the field of a name, when the filter is over records; else nil.
	record func(token) (*field, error)
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
