package filter

import (
	"encoding/hex"
	"strconv"
	"strings"
)

type tokenKind uint8

const (
	eof tokenKind = iota
	word
	str  // quoted
	fid  // [0x200000401:0x1:0x0]
	oper // == != < <= > >= & contains matches
	in
	and
	or
	not
	openParen
	closeParen
	openBrace
	closeBrace
	comma
	dots // ..
)

type token struct {
	kind tokenKind
	text string // of a quoted string: without quotes and escapes
	col  int
	len  int
}

// operators are those that are symbols, longer ones first, then those that are words.
var operators = []struct {
	text string
	tok  token
}{
	{"==", token{kind: oper, text: "=="}}, {"!=", token{kind: oper, text: "!="}},
	{"<=", token{kind: oper, text: "<="}}, {">=", token{kind: oper, text: ">="}},
	{"&&", token{kind: and}}, {"||", token{kind: or}}, {"..", token{kind: dots}},
	{"<", token{kind: oper, text: "<"}}, {">", token{kind: oper, text: ">"}},
	{"~", token{kind: oper, text: "matches"}}, {"&", token{kind: oper, text: "&"}},
	{"!", token{kind: not}}, {"(", token{kind: openParen}}, {")", token{kind: closeParen}},
	{"{", token{kind: openBrace}}, {"}", token{kind: closeBrace}}, {",", token{kind: comma}},

	{"eq", token{kind: oper, text: "=="}}, {"ne", token{kind: oper, text: "!="}},
	{"lt", token{kind: oper, text: "<"}}, {"le", token{kind: oper, text: "<="}},
	{"gt", token{kind: oper, text: ">"}}, {"ge", token{kind: oper, text: ">="}},
	{"contains", token{kind: oper, text: "contains"}}, {"matches", token{kind: oper, text: "matches"}},
	{"bitwise_and", token{kind: oper, text: "&"}},
	{"in", token{kind: in}}, {"and", token{kind: and}}, {"or", token{kind: or}}, {"not", token{kind: not}},
}

type lexer struct {
	text string
	pos  int
}

func (l *lexer) fail(col, n int, msg string) *Error {
	return &Error{Text: l.text, Col: min(col, len(l.text)), Len: n, Msg: msg}
}

func (l *lexer) next() (token, error) {
	for l.pos < len(l.text) && strings.IndexByte(" \t\r\n", l.text[l.pos]) >= 0 {
		l.pos++
	}
	start := l.pos
	if start == len(l.text) {
		return token{kind: eof, col: start, len: 1}, nil
	}
	rest := l.text[start:]
	text := l.wordAt(start)
	t := token{kind: word, text: text}
	switch c := rest[0]; {
	case c == '"' || c == '\'':
		return l.quoted(c)
	case c == '[':
		end := strings.IndexByte(rest, ']')
		if end < 0 {
			return token{}, l.fail(start, 1, "FID without closing ]")
		}
		text = rest[:end+1]
		t = token{kind: fid, text: text}
	default:
		for _, o := range operators {
			isWord := o.text[0] >= 'a' && o.text[0] <= 'z'
			if isWord && strings.EqualFold(o.text, text) || !isWord && strings.HasPrefix(rest, o.text) {
				t, text = o.tok, o.text
				break
			}
		}
	}
	switch {
	case text != "":
	case rest[0] == '=':
		return token{}, l.fail(start, 1, "unexpected character '='; did you mean ==?")
	default:
		return token{}, l.fail(start, 1, "unexpected character "+strconv.QuoteRune(rune(rest[0])))
	}
	t.col, t.len = start, len(text)
	l.pos += len(text)
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
	return token{}, l.fail(start, 1, "string without closing quote")
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
