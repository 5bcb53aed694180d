package main

import (
	"go/constant"
	gotoken "go/token"
	"go/types"
	"regexp"
	"strings"
)

// values computes the constants of headers, as Go does: the two languages write such expressions alike. A name may have
// several definitions, for different systems; the first counts.
type values struct{ known *types.Package }

func newValues(names []name) *values {
	v := &values{types.NewPackage("headers", "headers")}
	for more := true; more; { // a name may be defined before those in its value
		more = false
		for _, n := range names {
			if v.known.Scope().Lookup(n.name) != nil {
				continue
			}
			if value := v.value(n.value); value != nil {
				v.known.Scope().Insert(types.NewConst(gotoken.NoPos, v.known, n.name, types.Typ[types.UntypedInt], value))
				more = true
			}
		}
	}
	return v
}

// inGo replaces what Go writes otherwise, and drops casts and the suffixes of numbers.
var inGo = []struct {
	c    *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`\( (?:(?:__[us]\d+|int|unsigned|long) )+\)`), ""},
	{regexp.MustCompile(`(?i)\b(\d\w*) [ul]+\b`), "$1"},
	{regexp.MustCompile(`([<>]) ([<>])`), "$1$2"},
	{regexp.MustCompile(`~`), "^"},
}

// value returns the value of a constant; nil: it is no number, or depends on the size of a type.
func (v *values) value(tokens []string) constant.Value {
	text := strings.Join(tokens, " ")
	for _, r := range inGo {
		text = r.c.ReplaceAllString(text, r.text)
	}
	computed, err := types.Eval(gotoken.NewFileSet(), v.known, gotoken.NoPos, text)
	if err != nil || computed.Value == nil || computed.Value.Kind() != constant.Int {
		return nil
	}
	return computed.Value
}

// number returns the value of a constant in 64 bits.
func (v *values) number(tokens []string) (uint64, bool) {
	value := v.value(tokens)
	if value == nil {
		return 0, false
	}
	if n, exact := constant.Uint64Val(value); exact {
		return n, true
	}
	n, exact := constant.Int64Val(value)
	return uint64(n), exact
}
