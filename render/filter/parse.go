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

type parser struct {
	lexer
	tok   token
	depth int
}

func parse(text string) (*expr, error) {
	p := &parser{lexer: lexer{text: text}}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == eof {
		return nil, p.fail(0, 1, "empty filter")
	}
	e, err := p.orExpr()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != eof {
		return nil, p.unexpected("and, or, or the end of the filter")
	}
	return e, nil
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

func (p *parser) unexpected(want string) *Error {
	if p.tok.kind == eof {
		return p.fail(p.tok.col, 1, "unexpected end of the filter; expected "+want)
	}
	return p.fail(p.tok.col, p.tok.len, "expected "+want)
}

func (p *parser) orExpr() (*expr, error) { return p.binary(or, "or", p.andExpr) }

func (p *parser) andExpr() (*expr, error) { return p.binary(and, "and", p.operand) }

func (p *parser) binary(k tokenKind, op string, operand func() (*expr, error)) (*expr, error) {
	e, err := operand()
	for err == nil && p.tok.kind == k {
		at := p.tok
		if err = p.advance(); err != nil {
			break
		}
		var right *expr
		if right, err = operand(); err == nil {
			e = &expr{op: op, at: at, args: []*expr{e, right}}
		}
	}
	return e, err
}

// operand parses a comparison, a not or an expression in parentheses.
func (p *parser) operand() (*expr, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail(p.tok.col, 1, "too many nested parentheses or nots")
	}
	defer func() { p.depth-- }()
	at := p.tok
	switch at.kind {
	case not:
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := p.operand()
		return &expr{op: "not", at: at, args: []*expr{e}}, err
	case openParen:
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := p.orExpr()
		if err != nil {
			return nil, err
		}
		if p.tok.kind != closeParen {
			return nil, p.unexpected(") for the ( in column " + strconv.Itoa(at.col+1))
		}
		return e, p.advance()
	case word:
		return p.comparison()
	}
	return nil, p.unexpected("a field name")
}

func (p *parser) comparison() (*expr, error) {
	e := &expr{op: "exists", at: p.tok, field: p.tok}
	if err := p.advance(); err != nil {
		return nil, err
	}
	if p.tok.kind == oper && p.tok.text == "&" {
		if err := p.advance(); err != nil {
			return nil, err
		}
		mask, err := p.value()
		if err != nil {
			return nil, err
		}
		e.op, e.mask = "&", &mask
	}
	switch p.tok.kind {
	case oper:
		if p.tok.text == "&" {
			return nil, p.unexpected("a comparison")
		}
		e.op, e.at = p.tok.text, p.tok
		if err := p.advance(); err != nil {
			return nil, err
		}
		v, err := p.value()
		e.set = []valueRange{{from: v}}
		return e, err
	case in:
		e.op, e.at = "in", p.tok
		err := p.members(e)
		return e, err
	}
	return e, nil
}

func (p *parser) value() (token, error) {
	t := p.tok
	switch t.kind {
	case word, str, fid:
		return t, p.advance()
	}
	return t, p.unexpected("a value")
}

func (p *parser) members(e *expr) error {
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind != openBrace {
		return p.unexpected("a set such as {A, B} or {1..40}")
	}
	for {
		if err := p.advance(); err != nil {
			return err
		}
		from, err := p.value()
		if err != nil {
			return err
		}
		s := valueRange{from: from}
		if p.tok.kind == dots {
			if err := p.advance(); err != nil {
				return err
			}
			if s.to, err = p.value(); err != nil {
				return err
			}
		}
		e.set = append(e.set, s)
		switch p.tok.kind {
		case comma:
			continue
		case closeBrace:
			return p.advance()
		}
		return p.unexpected(", or }")
	}
}
