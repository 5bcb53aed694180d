package capture

import (
	"fmt"
	"strings"
)

// FilterError says what is wrong with a capture filter, or not supported.
type FilterError struct {
	Expr   string
	Column int // of the first character of what is meant, from 1
	Cause  string
	// Unsupported is set for what may be valid but is not compiled here.
	Unsupported bool
}

func (e *FilterError) Error() string {
	return fmt.Sprintf("capture filter, column %d: %s", e.Column, e.Cause)
}

// token is a word, a number or an operator of a capture filter; the last one
// has no text.
type token struct {
	text string
	at   int // byte in the expression
}

// operators, longer ones first.
var operators = []string{"&&", "||", "==", "!=", ">=", "<=", "<<", ">>", "(", ")", "[", "]", "!", "&", "|", "=", "<", ">", "+", "*", "^", "%"}

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(`_.:/-\`, c) >= 0
}

// lex splits an expression. Addresses, ranges and the offset:size of a byte
// expression are one word each.
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
				return nil, &FilterError{Expr: expr, Column: i + 1, Cause: fmt.Sprintf("unexpected character %q", []rune(expr[i:])[0])}
			}
			i += len(op)
		}
		list = append(list, token{expr[start:i], start})
	}
	return append(list, token{"", len(expr)}), nil
}

func operatorAt(s string) string {
	for _, op := range operators {
		if strings.HasPrefix(s, op) {
			return op
		}
	}
	return ""
}
