package filter

import "strconv"

// expr is a node of the parsed filter.
type expr struct {
	op    string // and or not has == != < <= > >= & contains matches in
	at    token  // the operator
	field token
	mask  *token // of &: field & mask, compared with != 0 unless an operator follows
	set   []span // the right side: one value, or those of a set
	args  []*expr
}

// span is a value or, with two ends, a range.
type span struct{ from, to token }

// maxNesting bounds the depth of parentheses and nots.
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
		return nil, p.fail(0, 1, "the filter is empty")
	}
	e, err := p.either()
	if err != nil {
		return nil, err
	}
	if p.tok.kind != eof {
		return nil, p.unexpected("and, or, or the end")
	}
	return e, nil
}

func (p *parser) advance() (err error) {
	p.tok, err = p.next()
	return err
}

func (p *parser) unexpected(want string) *Error {
	if p.tok.kind == eof {
		return p.fail(p.tok.col, 1, "the filter ends here; expected "+want)
	}
	return p.fail(p.tok.col, p.tok.len, "expected "+want)
}

// either parses a or b.
func (p *parser) either() (*expr, error) { return p.chain(or, "or", p.both) }

// both parses a and b.
func (p *parser) both() (*expr, error) { return p.chain(and, "and", p.one) }

func (p *parser) chain(k kind, op string, part func() (*expr, error)) (*expr, error) {
	e, err := part()
	for err == nil && p.tok.kind == k {
		at := p.tok
		if err = p.advance(); err != nil {
			break
		}
		var right *expr
		if right, err = part(); err == nil {
			e = &expr{op: op, at: at, args: []*expr{e, right}}
		}
	}
	return e, err
}

// one parses a comparison, or what stands in its place.
func (p *parser) one() (*expr, error) {
	if p.depth++; p.depth > maxNesting {
		return nil, p.fail(p.tok.col, 1, "nested too deep")
	}
	defer func() { p.depth-- }()
	at := p.tok
	switch at.kind {
	case not:
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := p.one()
		return &expr{op: "not", at: at, args: []*expr{e}}, err
	case open:
		if err := p.advance(); err != nil {
			return nil, err
		}
		e, err := p.either()
		if err != nil {
			return nil, err
		}
		if p.tok.kind != closing {
			return nil, p.unexpected(") for the ( in column " + strconv.Itoa(at.col+1))
		}
		return e, p.advance()
	case word:
		return p.comparison()
	}
	return nil, p.unexpected("a field name")
}

func (p *parser) comparison() (*expr, error) {
	e := &expr{op: "has", at: p.tok, field: p.tok}
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
		e.set = []span{{from: v}}
		return e, err
	case in:
		e.op, e.at = "in", p.tok
		err := p.members(e)
		return e, err
	}
	return e, nil
}

// value takes the token of a value.
func (p *parser) value() (token, error) {
	t := p.tok
	switch t.kind {
	case word, str, fid:
		return t, p.advance()
	}
	return t, p.unexpected("a value")
}

// members parses the set behind in.
func (p *parser) members(e *expr) error {
	if err := p.advance(); err != nil {
		return err
	}
	if p.tok.kind != openSet {
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
		s := span{from: from}
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
		case closeSet:
			return p.advance()
		}
		return p.unexpected(", or }")
	}
}
