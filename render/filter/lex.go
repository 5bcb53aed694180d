package filter

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"
)

type tokenKind uint8

const (
	eof tokenKind = iota
	word
	str // quoted
	fid // [0x200000401:0x1:0x0]
	operator
)

type token struct {
	kind tokenKind
	text string // of a quoted string: without quotes and escapes; of an operator: as parsers know it
	col  int
	len  int
}

// symbols are the operators that are no words, longer ones first.
var symbols = []string{"==", "!=", "<=", ">=", "&&", "||", "..", "<", ">", "~", "&", "!", "(", ")", "{", "}", ","}

// operators maps each spelling of an operator to the one that the parser uses. Operators with one
// spelling, such as ==, are not in the map.
var operators = map[string]string{"eq": "==", "ne": "!=", "lt": "<", "le": "<=", "gt": ">", "ge": ">=", "bitwise_and": "&",
	"contains": "contains", "matches": "matches", "~": "matches", "in": "in", "and": "and", "&&": "and", "or": "or", "||": "or",
	"not": "not", "!": "not"}

type lexer struct {
	text string
	pos  int
}

func (l *lexer) error(t token, msg, hint string) *Error {
	return &Error{Text: l.text, Col: t.col, Len: t.len, Msg: msg, Hint: hint}
}

func (l *lexer) next() (token, error) {
	for l.pos < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.pos]) >= 0 {
		l.pos++
	}
	rest := l.text[l.pos:]
	t := token{col: l.pos, len: 1}
	switch text := l.wordAt(l.pos); {
	case rest == "":
		return t, nil
	case rest[0] == '"' || rest[0] == '\'':
		return l.quoted(rest[0])
	case rest[0] == '[':
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return token{}, l.error(t, "FID without closing ]", "")
		}
		t.kind, t.text = fid, rest[:end+1]
		t.len = len(t.text)
	case text != "":
		t.kind, t.text, t.len = word, text, len(text)
		if name := operators[strings.ToLower(text)]; name != "" {
			t.kind, t.text = operator, name
		}
	default:
		i := slices.IndexFunc(symbols, func(s string) bool { return strings.HasPrefix(rest, s) })
		switch {
		case i >= 0:
			t.kind, t.text, t.len = operator, cmp.Or(operators[symbols[i]], symbols[i]), len(symbols[i])
		case rest[0] == '=':
			return token{}, l.error(t, "unexpected character '='; did you mean ==?", "")
		default:
			return token{}, l.error(t, "unexpected character "+strconv.QuoteRune(rune(rest[0])), "")
		}
	}
	l.pos += t.len
	return t, nil
}

// wordAt returns the name, number, NID or the like at a place: up to white space or an
// operator.
func (l *lexer) wordAt(start int) string {
	end := start
	for end < len(l.text) && isWordByte(l.text[end]) && !endsWord(l.text[end:]) {
		end++
	}
	return l.text[start:end]
}

// endsWord reports whether a text begins with an operator whose letters may occur
// in words: the range 1..40, but 2.17; the or of a||b, but flags A|B.
func endsWord(text string) bool {
	return strings.HasPrefix(text, "..") || strings.HasPrefix(text, "||")
}

func isWordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80 ||
		strings.IndexByte("_.:@/-+|*", c) >= 0
}

// quoted reads a string in quotes, with the escapes of C.
func (l *lexer) quoted(quote byte) (token, error) {
	start := l.pos
	var b []byte
	for i := start + 1; i < len(l.text); i++ {
		switch c := l.text[i]; {
		case c == quote:
			l.pos = i + 1
			return token{kind: str, text: string(b), col: start, len: l.pos - start}, nil
		case c == '\\' && i+1 < len(l.text):
			i++
			i, b = l.escape(i, b)
		default:
			b = append(b, c)
		}
	}
	return token{}, l.error(token{col: start, len: 1}, "string without closing quote", "")
}

// escape appends what the escape sequence stands for whose letter is at i, and
// returns the index of its last byte.
func (l *lexer) escape(i int, b []byte) (int, []byte) {
	switch c := l.text[i]; c {
	case 'n':
		return i, append(b, '\n')
	case 't':
		return i, append(b, '\t')
	case '\\', '"', '\'':
		return i, append(b, c)
	case 'x':
		if v, err := hex.DecodeString(l.text[i+1 : min(i+3, len(l.text))]); err == nil && len(v) == 1 {
			return i + 2, append(b, v[0])
		}
	}
	return i, append(b, '\\', l.text[i]) // left to regular expressions
}
