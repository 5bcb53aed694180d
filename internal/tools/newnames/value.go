package main

import (
	"strconv"
	"strings"
)

// values computes the constants of headers. A name may have several definitions, for different systems; the first counts.
type values struct {
	of   map[string][]string // tokens
	busy map[string]bool     // being computed
}

// number returns the value of a constant, if it is a number that depends on no size of a type.
func (v *values) number(tokens []string) (uint64, bool) {
	e := expression{values: v, tokens: tokens, ok: len(tokens) > 0}
	n := e.binary(0)
	return n, e.ok && len(e.tokens) == 0
}

func (v *values) named(name string) (uint64, bool) {
	tokens := v.of[name]
	if tokens == nil || v.busy[name] {
		return 0, false
	}
	v.busy[name] = true
	defer delete(v.busy, name)
	return v.number(tokens)
}

// expression is an integer expression of C that is being computed.
type expression struct {
	*values
	tokens []string
	ok     bool
}

type operator = func(n, m uint64) uint64

// operators are the binary ones, by their precedence, the lowest first.
var operators = []map[string]operator{
	{"|": func(n, m uint64) uint64 { return n | m }},
	{"^": func(n, m uint64) uint64 { return n ^ m }},
	{"&": func(n, m uint64) uint64 { return n & m }},
	{"<<": func(n, m uint64) uint64 { return n << m }, ">>": func(n, m uint64) uint64 { return n >> m }},
	{"+": func(n, m uint64) uint64 { return n + m }, "-": func(n, m uint64) uint64 { return n - m }},
	{"*": func(n, m uint64) uint64 { return n * m }, "/": func(n, m uint64) uint64 { return n / m }},
}

func (e *expression) peek() string {
	if len(e.tokens) == 0 {
		return ""
	}
	t := e.tokens[0]
	if len(e.tokens) > 1 && (t == "<" || t == ">") && e.tokens[1] == t {
		return t + t
	}
	return t
}

func (e *expression) next() string {
	t := e.peek()
	if t == "" {
		e.ok = false
		return ""
	}
	e.tokens = e.tokens[1:]
	if t == "<<" || t == ">>" {
		e.tokens = e.tokens[1:]
	}
	return t
}

func (e *expression) binary(level int) uint64 {
	if level == len(operators) {
		return e.unary()
	}
	n := e.binary(level + 1)
	for op := operators[level][e.peek()]; op != nil; op = operators[level][e.peek()] {
		isDivision := e.next() == "/"
		m := e.binary(level + 1)
		if isDivision && m == 0 {
			e.ok = false
			return 0
		}
		n = op(n, m)
	}
	return n
}

// casts are the types that a value may be converted to, with the bits that it keeps; negative: with a sign.
var casts = map[string]int{"__u8": 8, "__u16": 16, "__u32": 32, "__u64": 64, "__s16": -16, "__s32": -32, "__s64": -64, "int": -32, "unsigned": 32, "long": -64}

func (e *expression) unary() uint64 {
	switch t := e.next(); {
	case t == "~":
		return ^e.unary()
	case t == "-":
		return -e.unary()
	case t == "(" && casts[e.peek()] != 0:
		bits := casts[e.next()]
		for casts[e.peek()] != 0 {
			bits = casts[e.next()]
		}
		e.expect(")")
		n := e.unary()
		if bits < 0 {
			return uint64(int64(n<<(64+bits)) >> (64 + bits))
		}
		return n << (64 - bits) >> (64 - bits)
	case t == "(":
		n := e.binary(0)
		e.expect(")")
		return n
	case strings.HasPrefix(t, "'"):
		r, _, _, err := strconv.UnquoteChar(strings.Trim(t, "'"), '\'')
		e.ok = e.ok && err == nil
		return uint64(r)
	case t != "" && t[0] >= '0' && t[0] <= '9':
		if suffix := strings.ToLower(e.peek()); suffix != "" && strings.Trim(suffix, "ul") == "" {
			e.next()
		}
		n, err := strconv.ParseUint(t, 0, 64)
		e.ok = e.ok && err == nil
		return n
	default:
		n, ok := e.named(t)
		e.ok = e.ok && ok
		return n
	}
}

func (e *expression) expect(t string) {
	if e.next() != t {
		e.ok = false
	}
}
