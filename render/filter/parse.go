package filter

import "strconv"

type expr struct {
	op    string // and or not exists == != < <= > >= & contains matches in
	at    token  // the operator
	field token
	mask  *token       // of &: field & mask, compared with != 0 unless an operator follows
	set   []valueRange // the right side: one value, or the members of a set
	args  []*expr
}

// valueRange is a range of values, or one value when to is empty.
type valueRange struct{ from, to token }

// maxNesting is the maximum depth of parentheses and nots.
const maxNesting = 200

// parser keeps the first error. Behind it, everything is the end of the filter.
type parser struct {
	lexer
	tok   token
	depth int
	err   error
}

func parse(text string) (*expr, error) {
	p := &parser{lexer: lexer{text: text}}
	if p.advance(); p.err == nil && p.tok.kind == eof {
		return nil, p.fail(0, 1, "empty filter")
	}
	e := p.orExpr()
	if p.tok.kind != eof {
		p.expected("and, or, or the end of the filter")
	}
	return e, p.err
}

func (p *parser) advance() {
	if p.err == nil {
		p.tok, p.err = p.next()
	}
}

func (p *parser) stop(err *Error) {
	if p.err == nil {
		p.tok.kind, p.err = eof, err
	}
}

func (p *parser) expected(want string) {
	if p.tok.kind == eof {
		p.stop(p.fail(p.tok.col, 1, "unexpected end of the filter; expected "+want))
	} else {
		p.stop(p.fail(p.tok.col, p.tok.len, "expected "+want))
	}
}

// skip skips a token of a kind.
func (p *parser) skip(k tokenKind, want string) {
	if p.tok.kind == k {
		p.advance()
	} else {
		p.expected(want)
	}
}

func (p *parser) orExpr() *expr { return p.binary(or, "or", p.andExpr) }

func (p *parser) andExpr() *expr { return p.binary(and, "and", p.operand) }

func (p *parser) binary(k tokenKind, op string, operand func() *expr) *expr {
	e := operand()
	for p.tok.kind == k {
		at := p.tok
		p.advance()
		e = &expr{op: op, at: at, args: []*expr{e, operand()}}
	}
	return e
}

// operand parses a comparison, a not or an expression in parentheses.
func (p *parser) operand() *expr {
	if p.depth++; p.depth > maxNesting {
		p.stop(p.fail(p.tok.col, 1, "too many nested parentheses or nots"))
	}
	defer func() { p.depth-- }()
	at := p.tok
	switch at.kind {
	case not:
		p.advance()
		return &expr{op: "not", at: at, args: []*expr{p.operand()}}
	case openParen:
		p.advance()
		e := p.orExpr()
		p.skip(closeParen, ") for the ( in column "+strconv.Itoa(at.col+1))
		return e
	case word:
		return p.comparison()
	}
	p.expected("a field name")
	return nil
}

func (p *parser) comparison() *expr {
	e := &expr{op: "exists", at: p.tok, field: p.tok}
	p.advance()
	if p.tok.kind == oper && p.tok.text == "&" {
		p.advance()
		mask := p.value()
		e.op, e.mask = "&", &mask
		if p.tok.kind == oper && p.tok.text == "&" {
			p.expected("a comparison")
		}
	}
	switch p.tok.kind {
	case oper:
		e.op, e.at = p.tok.text, p.tok
		p.advance()
		e.set = []valueRange{{from: p.value()}}
	case in:
		e.op, e.at = "in", p.tok
		p.advance()
		e.set = p.members()
	}
	return e
}

func (p *parser) value() token {
	t := p.tok
	switch t.kind {
	case word, str, fid:
		p.advance()
	default:
		p.expected("a value")
	}
	return t
}

func (p *parser) members() (set []valueRange) {
	p.skip(openBrace, "a set such as {A, B} or {1..40}")
	for {
		s := valueRange{from: p.value()}
		if p.tok.kind == dots {
			p.advance()
			s.to = p.value()
		}
		if set = append(set, s); p.tok.kind != comma {
			break
		}
		p.advance()
	}
	p.skip(closeBrace, ", or }")
	return set
}
