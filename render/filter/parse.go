package filter

import (
	"strconv"

	"github.com/lshark/lshark/render/records"
)

// compiler compiles a filter while it reads it. It keeps the first error of the syntax; behind that, everything
// is the end of the filter. A name or value that is wrong is reported when there is no such error.
type compiler struct {
	lexer
	tok   token
	depth int
	err   error
	wrong error

	rpc *RPCFilter // the filter that is compiled, when it is over RPCs

	// Of filters over other records: record finds the field of a name, nil for none, and unknownKey
	// makes the error.
	record     func(name string) *field
	unknownKey func(t token)
}

// matcher reports whether a part of a filter holds.
type matcher = func(*subject) bool

// maxNesting is the maximum depth of parentheses and nots.
const maxNesting = 200

func (c *compiler) compile(text string) (matcher, error) {
	c.text = text
	if c.advance(); c.tok.kind == eof {
		c.fail(c.tok, "empty filter", "")
	}
	m := c.orExpr()
	if c.tok.kind != eof {
		c.unexpected("and, or, or the end of the filter")
	}
	if c.err == nil {
		c.err = c.wrong
	}
	return m, c.err
}

func (c *compiler) advance() {
	if c.err == nil {
		c.tok, c.err = c.next()
	}
}

func (c *compiler) fail(t token, msg, hint string) {
	if c.err == nil {
		c.tok.kind, c.err = eof, c.error(t, msg, hint)
	}
}

// reject keeps the first error about a name or value.
func (c *compiler) reject(t token, msg, hint string) {
	if c.wrong == nil {
		c.wrong = c.error(t, msg, hint)
	}
}

func (c *compiler) unexpected(want string) {
	if c.tok.kind == eof {
		c.fail(c.tok, "unexpected end of the filter; expected "+want, "")
	} else {
		c.fail(c.tok, "expected "+want, "")
	}
}

// accept skips an operator, and reports whether it is the next token.
func (c *compiler) accept(name string) bool {
	if c.tok.kind != operator || c.tok.text != name {
		return false
	}
	c.advance()
	return true
}

func (c *compiler) expect(name, want string) {
	if !c.accept(name) {
		c.unexpected(want)
	}
}

func (c *compiler) orExpr() matcher {
	m := c.andExpr()
	for c.accept("or") {
		a, b := m, c.andExpr()
		m = func(s *subject) bool { return a(s) || b(s) }
	}
	return m
}

func (c *compiler) andExpr() matcher {
	m := c.operand()
	for c.accept("and") {
		a, b := m, c.operand()
		m = func(s *subject) bool { return a(s) && b(s) }
	}
	return m
}

// operand compiles a comparison, a not or an expression in parentheses.
func (c *compiler) operand() matcher {
	if c.depth++; c.depth > maxNesting {
		c.fail(c.tok, "too many nested parentheses or nots", "")
	}
	defer func() { c.depth-- }()
	switch at := c.tok; {
	case c.accept("not"):
		m := c.operand()
		return func(s *subject) bool { return !m(s) }
	case c.accept("("):
		m := c.orExpr()
		c.expect(")", ") for the ( in column "+strconv.Itoa(at.col+1))
		return m
	case at.kind == word:
		return c.comparison()
	}
	c.unexpected("a field name")
	return nil
}

// comparison compiles a comparison, or a bare name, which tests whether the field exists.
func (c *compiler) comparison() matcher {
	name := c.tok
	f := c.resolve(name)
	c.advance()
	test := c.test(f)
	m := func(s *subject) bool { return f.each(s, test) }
	if c.rpc != nil && !f.ofRPC {
		return c.perMessage(name, m)
	}
	return m
}

func (c *compiler) value() token {
	t := c.tok
	switch t.kind {
	case word, str, fid:
		c.advance()
	default:
		c.unexpected("a value")
	}
	return t
}

// set compiles the members of a set: values and ranges of them.
func (c *compiler) set(f *field) valueTest {
	var members []valueTest
	c.expect("{", "a set such as {A, B} or {1..40}")
	for {
		from := c.literal(c.value(), f)
		member := compare("==", from)
		if c.accept("..") {
			at := c.tok
			to := c.literal(c.value(), f)
			if reversed(from, to) {
				c.reject(at, "the range ends below its start", "")
			}
			low, high := compare(">=", from), compare("<=", to)
			member = func(v *records.Value) bool { return low(v) && high(v) }
		}
		if members = append(members, member); !c.accept(",") {
			break
		}
	}
	c.expect("}", ", or }")
	return func(v *records.Value) bool {
		for _, m := range members {
			if m(v) {
				return true
			}
		}
		return false
	}
}
