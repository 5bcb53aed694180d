package pcapfilter

import "strings"

// byteNames maps the names of offsets and values in byte expressions to numbers.
var byteNames = map[string]uint32{
	"tcpflags": 13, "tcp-fin": 1, "tcp-syn": 2, "tcp-rst": 4, "tcp-push": 8, "tcp-ack": 16, "tcp-urg": 32,
	"tcp-ece": 64, "tcp-cwr": 128, "icmptype": 0, "icmpcode": 1, "icmp-echoreply": 0, "icmp-unreach": 3, "icmp-echo": 8,
}

// atRelation reports whether a byte expression or `len` is next.
func (p *parser) atRelation() bool {
	word := p.peek().text
	return word == "len" || p.second().text == "[" && (isProtocol(word) || word == "ether")
}

// relation parses proto[offset:size] & mask OP value, where & mask is
// optional.
func (p *parser) relation() (test, error) {
	r := relation{mask: 1<<32 - 1}
	if word := p.take().text; word != "len" {
		r.proto = word
		if err := p.bytes(&r); err != nil {
			return nil, err
		}
	}
	var err error
	if p.accept("&") {
		if r.mask, err = p.constant(); err != nil {
			return nil, err
		}
	}
	op := p.take()
	switch op.text {
	case "=", "==", "!=", "<", ">", "<=", ">=":
		r.op = op.text
	case "+", "*", "^", "%", "<<", ">>", "|", "&":
		return nil, p.unsupported(op, "the operator")
	default:
		return nil, p.invalid(op, "%q, expected a comparison", op.text)
	}
	r.value, err = p.constant()
	return r.test, err
}

// bytes parses [offset] or [offset:size].
func (p *parser) bytes(r *relation) error {
	p.next++ // the bracket, which atRelation checked
	t := p.take()
	offset, size, sized := strings.Cut(t.text, ":")
	r.size = 1
	var err error
	if sized {
		at := token{size, t.at + len(offset) + 1}
		if r.size, err = p.number(at, 4); err != nil || r.size == 0 || r.size == 3 {
			return p.invalid(at, "the size must be 1, 2 or 4 bytes")
		}
	}
	if n, ok := byteNames[offset]; ok {
		r.offset = n
	} else if !startsWithDigit(offset) {
		return p.unsupported(t, "the offset")
	} else if r.offset, err = p.number(token{offset, t.at}, 65535); err != nil {
		return err
	}
	if !p.accept("]") {
		if t := p.peek(); t.text != "" {
			return p.unsupported(t, "in an offset,")
		}
		return p.invalid(p.peek(), "")
	}
	return nil
}

// constant parses a number, a name, or several joined with | in parentheses.
func (p *parser) constant() (uint32, error) {
	if !p.accept("(") {
		return p.oneConstant()
	}
	v, err := p.oneConstant()
	for err == nil && p.accept("|") {
		var more uint32
		more, err = p.oneConstant()
		v |= more
	}
	if err == nil && !p.accept(")") {
		err = p.invalid(p.peek(), "%q, expected )", p.peek().text)
	}
	return v, err
}

func (p *parser) oneConstant() (uint32, error) {
	t := p.take()
	if n, ok := byteNames[t.text]; ok {
		return n, nil
	}
	if !startsWithDigit(t.text) && t.text != "" {
		return 0, p.unsupported(t, "the value")
	}
	return p.number(t, 1<<32-1)
}
