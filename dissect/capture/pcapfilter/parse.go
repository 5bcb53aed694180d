package pcapfilter

import "strings"

// qualifiers precede a value and give its meaning, as in "src port 988". A value
// without qualifiers has those of the previous value.
type qualifiers struct {
	proto, dir, kind string
}

// maxNesting bounds parentheses and negations, which recurse.
const maxNesting = 200

type parser struct {
	tokenReader
	last   qualifiers // of the previous value
	tags   int        // number of `vlan` words so far; each shifts the tests after it by one tag
	nested int        // open parentheses and negations
}

// parseFilter parses an expression.
func parseFilter(expr string) (condition, error) {
	tokens, err := lex(expr)
	if err != nil {
		return nil, err
	}
	p := &parser{tokenReader: tokenReader{expr: expr, tokens: tokens}}
	if p.peek().text == "" {
		return anyFrame, nil
	}
	c, err := p.expression()
	if err != nil {
		return nil, err
	}
	if t := p.peek(); t.text != "" {
		return nil, p.invalid(t, "unexpected %q", t.text)
	}
	return c, nil
}

// expression parses terms joined by `and` and `or`, which have the same
// precedence.
func (p *parser) expression() (condition, error) {
	c, err := p.term()
	for err == nil {
		var right condition
		switch {
		case p.accept("and", "&&"):
			right, err = p.term()
			c = both(c, right)
		case p.accept("or", "||"):
			right, err = p.term()
			c = either(c, right)
		default:
			return c, nil
		}
	}
	return nil, err
}

// term parses a primitive, a negation or a parenthesis.
func (p *parser) term() (condition, error) {
	if p.nested++; p.nested > maxNesting {
		return nil, p.invalid(p.peek(), "nested too deeply")
	}
	defer func() { p.nested-- }()
	switch {
	case p.accept("not", "!"):
		c, err := p.term()
		return negate(c), err
	case p.accept("("):
		c, err := p.expression()
		if err == nil && !p.accept(")") {
			err = p.invalid(p.peek(), "%q, expected )", p.peek().text)
		}
		return c, err
	}
	return p.primitive()
}

// primitive parses a test.
func (p *parser) primitive() (condition, error) {
	tags := p.tags
	var t test
	var err error
	first := p.peek()
	switch first.text {
	case "vlan":
		p.next++
		if tags == maxTags {
			return nil, p.unsupported(first, "a third")
		}
		p.tags++
		return p.vlan(tags)
	case "less":
		p.next++
		t, err = p.length("<=")
	case "greater":
		p.next++
		t, err = p.length(">=")
	default:
		if p.atRelation() {
			t, err = p.relation()
			break
		}
		q, given, err := p.qualifiers()
		if err != nil {
			return nil, err
		}
		if given && p.accept("(") { // port (988 or 989)
			p.next--
			p.last = q
			return p.term()
		}
		if t, err = p.value(q, given); err != nil {
			return nil, err
		}
	}
	return behindTags(tags, t, nil), err
}

// protocols maps the names of protocols to their numbers in the IP header.
var protocols = map[string]uint32{"icmp": 1, "igmp": 2, "tcp": 6, "udp": 17, "icmp6": 58, "sctp": 132}

// etherTypes maps the names of protocols to their numbers in the link header.
var etherTypes = map[string]uint32{"ip": 0x0800, "ip6": 0x86dd, "arp": 0x0806, "rarp": 0x8035}

func isProtocol(word string) bool {
	return protocols[word] != 0 || etherTypes[word] != 0
}

// qualifiers parses the words before a value. Without any it returns those of
// the previous value, and given is false.
func (p *parser) qualifiers() (q qualifiers, given bool, err error) {
	first := p.peek()
	if isProtocol(first.text) || first.text == "ether" && p.second().text == "proto" {
		q.proto = p.take().text
	}
	if dir := p.peek().text; p.accept("src", "dst") {
		q.dir = dir
		for _, join := range []string{"or", "and"} {
			if p.peek().text == join && dir == "src" && p.second().text == "dst" {
				p.next += 2
				q.dir = "src " + join + " dst"
			}
		}
	}
	if kind := p.peek().text; p.accept("host", "net", "port", "portrange", "proto") {
		q.kind = kind
	}
	if q == (qualifiers{}) {
		return p.last, false, nil
	}
	if q.kind == "" && q.dir != "" {
		q.kind = "host"
	}
	return q, true, p.compatible(q, first)
}

// compatible returns an error for qualifiers that exclude each other.
func (p *parser) compatible(q qualifiers, at token) error {
	ok := true
	switch q.kind {
	case "host", "net":
		ok = protocols[q.proto] == 0
	case "port", "portrange":
		ok = q.proto == "" || q.proto == "tcp" || q.proto == "udp" || q.proto == "sctp"
	case "proto":
		ok = q.dir == "" && (q.proto == "" || q.proto == "ip" || q.proto == "ip6" || q.proto == "ether")
	}
	if ok {
		return nil
	}
	words := strings.Join(strings.Fields(q.proto+" "+q.dir+" "+q.kind), " ")
	return p.invalid(at, "invalid combination %q", words)
}

// value parses the value that the qualifiers require.
func (p *parser) value(q qualifiers, given bool) (test, error) {
	if q.kind == "" {
		if given {
			if t := p.peek(); t.text == "broadcast" || t.text == "multicast" {
				return nil, p.unsupported(t, "the word")
			}
			return protocolTest(q.proto), nil
		}
		q.kind = "host"
	}
	t := p.peek()
	if t.text == "" || !isWordByte(t.text[0]) || isReserved(t.text) {
		return nil, p.invalid(t, "unexpected %q", t.text)
	}
	p.next++
	if p.last == (qualifiers{}) && !given && !startsWithDigit(t.text) && !strings.ContainsRune(t.text, ':') {
		return nil, p.unsupported(t, "the word")
	}
	p.last = q
	switch q.kind {
	case "host":
		return p.host(q, t)
	case "net":
		return p.network(q, t)
	case "port":
		return p.port(q, t)
	case "portrange":
		return p.portRange(q, t)
	}
	if q.proto == "ether" {
		return p.etherType(t)
	}
	return p.protocolNumber(q, t)
}

// isReserved reports whether a word cannot be a value.
func isReserved(word string) bool {
	switch word {
	case "and", "or", "not", "src", "dst", "host", "net", "port", "portrange", "proto", "vlan", "less", "greater":
		return true
	}
	return isProtocol(word)
}
