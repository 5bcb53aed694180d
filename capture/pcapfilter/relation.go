package pcapfilter

import "strings"

// byteNames are the names for offsets and values in byte expressions.
var byteNames = map[string]uint32{
	"tcpflags": 13, "tcp-fin": 1, "tcp-syn": 2, "tcp-rst": 4, "tcp-push": 8, "tcp-ack": 16, "tcp-urg": 32,
	"tcp-ece": 64, "tcp-cwr": 128, "icmptype": 0, "icmpcode": 1, "icmp-echoreply": 0, "icmp-unreach": 3, "icmp-echo": 8,
}

// atRelation looks whether a byte expression or `len` is next.
func (p *parser) atRelation() bool {
	word := p.peek().text
	after := p.tokens[min(p.next+1, len(p.tokens)-1)].text
	return word == "len" || after == "[" && (isProtocol(word) || word == "ether")
}

// relation reads proto[offset:size] & mask OP value; & mask may be missing.
func (p *parser) relation() (test, error) {
	r := relationTest{mask: 1<<32 - 1}
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
		return nil, p.wrong(op, "%q where a comparison is wanted", op.text)
	}
	r.value, err = p.constant()
	return r, err
}

// bytes reads [offset] or [offset:size].
func (p *parser) bytes(r *relationTest) error {
	p.next++ // the bracket has been seen
	t := p.take()
	offset, size, sized := strings.Cut(t.text, ":")
	r.size = 1
	var err error
	if sized {
		at := token{size, t.at + len(offset) + 1}
		if r.size, err = p.number(at, 4); err != nil || r.size == 0 || r.size == 3 {
			return p.wrong(at, "a size is 1, 2 or 4 bytes")
		}
	}
	if n, known := byteNames[offset]; known {
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
		return p.wrong(p.peek(), "")
	}
	return nil
}

// constant reads a number, a name, or several joined with | in parentheses.
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
		err = p.wrong(p.peek(), "%q where ) is wanted", p.peek().text)
	}
	return v, err
}

func (p *parser) oneConstant() (uint32, error) {
	t := p.take()
	if n, known := byteNames[t.text]; known {
		return n, nil
	}
	if !startsWithDigit(t.text) && t.text != "" {
		return 0, p.unsupported(t, "the value")
	}
	return p.number(t, 1<<32-1)
}
