package pcapfilter

import (
	"fmt"
	"strings"
)

// Error describes why a capture filter is invalid or not supported.
type Error struct {
	Expr   string
	Column int // of the first byte of the invalid or unsupported text, from 1
	Cause  string
	// Unsupported is set if the expression may be valid, but is not supported.
	Unsupported bool
}

func (e *Error) Error() string {
	return fmt.Sprintf("capture filter, column %d: %s", e.Column, e.Cause)
}

// token is a word, a number or an operator of a capture filter; the last token
// of an expression has no text.
type token struct {
	text string
	at   int // offset in the expression, bytes
}

// operators lists the operators, longer ones first.
var operators = []string{"&&", "||", "==", "!=", ">=", "<=", "<<", ">>", "(", ")", "[", "]", "!", "&", "|", "=", "<", ">", "+", "*", "^",
	"%"}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(`_.:/-\`, c) >= 0
}

// lex splits an expression into tokens. Addresses, ranges and the offset:size
// of a byte expression are one token each.
func lex(expr string) ([]token, error) {
	var list []token
	for i := 0; i < len(expr); {
		start := i
		for i < len(expr) && isWordByte(expr[i]) {
			i++
		}
		if i == start {
			if strings.IndexByte(" \t\r\n", expr[i]) >= 0 {
				i++
				continue
			}
			op := operatorAt(expr[i:])
			if op == "" {
				return nil, &Error{Expr: expr, Column: i + 1, Cause: fmt.Sprintf("unexpected character %q", []rune(expr[i:])[0])}
			}
			i += len(op)
		}
		list = append(list, token{expr[start:i], start})
	}
	return append(list, token{"", len(expr)}), nil
}

// operatorAt returns the operator that s begins with, or "".
func operatorAt(s string) string {
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return ""
}

// tokenReader returns the tokens of an expression one after the other.
type tokenReader struct {
	expr   string
	tokens []token
	next   int
}

func (r *tokenReader) peek() token { return r.tokens[r.next] }

func (r *tokenReader) second() token { return r.tokens[min(r.next+1, len(r.tokens)-1)] }

// take returns the next token and advances, except at the end.
func (r *tokenReader) take() token {
	t := r.tokens[r.next]
	if t.text != "" {
		r.next++
	}
	return t
}

// accept advances if the next token is one of the words, and reports whether it
// is.
func (r *tokenReader) accept(words ...string) bool {
	for _, w := range words {
		if r.peek().text == w {
			r.next++
			return true
		}
	}
	return false
}

func (r *tokenReader) invalid(t token, format string, args ...any) error {
	cause := fmt.Sprintf(format, args...)
	if t.text == "" {
		cause = "the expression ends too early"
	}
	return &Error{Expr: r.expr, Column: t.at + 1, Cause: cause}
}

// unsupported returns the error for a token that may be valid, but is not
// supported.
func (r *tokenReader) unsupported(t token, what string) error {
	return &Error{Expr: r.expr, Column: t.at + 1, Unsupported: true,
		Cause: fmt.Sprintf("%s %q is not supported", what, t.text)}
}
