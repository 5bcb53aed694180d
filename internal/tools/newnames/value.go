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
			if number, ok := v.number(n.value); ok {
				v.known.Scope().Insert(types.NewConst(gotoken.NoPos, v.known, n.name, types.Typ[types.UntypedInt], constant.MakeInt64(int64(number))))
				more = true
			}
		}
	}
	return v
}

// inGo replaces what Go writes otherwise, and drops the suffixes of numbers.
var inGo = []struct {
	c    *regexp.Regexp
	text string
}{
	{regexp.MustCompile(`(?i)\b(0x[0-9a-f]+|\d+)[ul]+\b`), "$1"},
	{regexp.MustCompile(`([<>]) ([<>])`), "$1$2"},
	{regexp.MustCompile(`~`), "^"},
}

// casts are the types that a value may be converted to, with the bits that it keeps; negative: with a sign.
var casts = map[string]int{"__u8": 8, "__u16": 16, "__u32": 32, "__u64": 64, "__s16": -16, "__s32": -32, "__s64": -64, "int": -32, "unsigned": 32, "long": -64}

var cast = regexp.MustCompile(`\( (?:(__[us]\d+|int|unsigned|long) )+\)`)

// number returns the value of a constant, if it is a number that depends on no size of a type. A cast in it counts for
// the whole expression.
func (v *values) number(tokens []string) (uint64, bool) {
	text := strings.Join(tokens, " ")
	for _, r := range inGo {
		text = r.c.ReplaceAllString(text, r.text)
	}
	computed, err := types.Eval(gotoken.NewFileSet(), v.known, gotoken.NoPos, cast.ReplaceAllString(text, ""))
	if err != nil || computed.Value == nil || computed.Value.Kind() != constant.Int {
		return 0, false
	}
	n, isPositive := constant.Uint64Val(computed.Value)
	if !isPositive {
		signed, _ := constant.Int64Val(computed.Value)
		n = uint64(signed)
	}
	if to := cast.FindStringSubmatch(text); to != nil {
		if bits := casts[to[1]]; bits < 0 {
			n = uint64(int64(n<<(64+bits)) >> (64 + bits))
		} else {
			n = n << (64 - bits) >> (64 - bits)
		}
	}
	return n, true
}
