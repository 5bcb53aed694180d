package filter

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// valueTest reports whether a value is one that a filter wants.
type valueTest = func(*records.Value) bool

// comparisons are the operators that compare: whether they hold for a result of order.
var comparisons = map[string]func(order int) bool{
	"==": func(o int) bool { return o == 0 },
	"!=": func(o int) bool { return o != 0 },
	"<":  func(o int) bool { return o < 0 },
	"<=": func(o int) bool { return o <= 0 },
	">":  func(o int) bool { return o > 0 },
	">=": func(o int) bool { return o >= 0 },
}

// test compiles what follows the name of a field.
func (c *compiler) test(f *field) valueTest {
	if f.bit != "" {
		if !c.isOperator() {
			return bitTest(f.bit)
		}
		c.reject(c.tok, "a flag cannot be compared: its name alone tests whether it is set", "")
	}
	if !c.accept("&") {
		if !c.isOperator() {
			return func(*records.Value) bool { return true }
		}
		return c.operation(f)
	}
	mask := c.literal(c.value(), f).mask()
	if !c.isOperator() {
		return func(v *records.Value) bool { return isNumber(v.Type) && v.U&mask != 0 }
	}
	masked := c.operation(f)
	return func(v *records.Value) bool {
		v.U &= mask
		return masked(v)
	}
}

// isOperator reports whether the next token is an operator between a field and values.
func (c *compiler) isOperator() bool {
	return c.tok.kind == operator &&
		(comparisons[c.tok.text] != nil || slices.Contains([]string{"&", "in", "contains", "matches"}, c.tok.text))
}

// operation compiles an operator and the values behind it.
func (c *compiler) operation(f *field) valueTest {
	op := c.tok
	c.advance()
	switch op.text {
	case "in":
		return c.set(f)
	case "contains":
		want := c.value().text
		if slices.ContainsFunc(f.names, func(n *schema.Names) bool { return n.Flags && hasName(n, want) }) {
			return bitTest(want)
		}
		return textTest(func(text []byte) bool { return bytes.Contains(text, []byte(want)) })
	case "matches":
		at := c.value()
		re, err := regexp.Compile(at.text)
		if err != nil {
			c.reject(at, "invalid regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "), "")
		}
		return textTest(re.Match)
	case "&":
		c.fail(op, "expected a comparison", "")
	}
	return compare(op.text, c.literal(c.value(), f))
}

func textTest(holds func(text []byte) bool) valueTest {
	var buf []byte
	return func(v *records.Value) bool {
		buf = appendValue(buf[:0], v)
		return holds(buf)
	}
}

// appendValue appends the text of a value, for contains and matches: as -T fields prints it, but text
// of the wire as it is.
func appendValue(dst []byte, v *records.Value) []byte {
	t := *v
	switch {
	case t.Type == records.Text:
		return append(dst, t.Text...)
	case t.Names == nil || !isNumber(t.Type):
	case t.Names.Flags:
		t.Type = records.Flags
	default:
		t.Type = records.Enum
	}
	return render.AppendValue(dst, &t)
}

// compare makes the test of a comparison with a literal.
func compare(op string, l *literal) valueTest {
	holds := comparisons[op]
	return func(v *records.Value) bool {
		o, ok := order(v, l)
		if !ok {
			return op == "!=" && !isTime(v.Type)
		}
		return holds(o)
	}
}

func isTime(t records.Type) bool {
	return t == records.Seconds || t == records.Duration || t == records.Time
}

func hasName(n *schema.Names, name string) bool {
	_, ok := n.Find(name)
	return ok
}

// bitTest makes the test whether a flag is set, or a value has a name.
func bitTest(name string) valueTest {
	return func(v *records.Value) bool {
		if v.Names == nil {
			return false
		}
		b, ok := v.Names.Find(name)
		if !ok {
			return false
		}
		if !v.Names.Flags {
			return v.U == b.Value
		}
		return v.U&b.Bits() == b.Value && b.Value != 0
	}
}

// literal reads a literal. One that no value of the field can be compared with
// is an error.
func (c *compiler) literal(t token, f *field) *literal {
	if f.isID && isXID(t.text) {
		t.text = t.text[1:]
	}
	l := readLiteral(t, f.names)
	hint := frameHint(f.name, t.text)
	switch {
	case slices.Contains(f.types, records.Time):
		if l.readTime(t.text) {
			return l
		}
		hint = timeHint
	case f.fits(l):
		return l
	case hint == "":
		groups := f.names
		if len(groups) == 0 || f.hasErrnos {
			groups = append(slices.Clone(groups), schema.Errnos)
		}
		var all []string
		for _, n := range groups {
			for _, v := range n.Values {
				all = append(all, v.Name, n.Full(v))
			}
		}
		hint = DidYouMean(schema.Nearest(t.text, all, 3))
	}
	c.reject(t, "invalid value "+t.text+" for "+f.name, hint)
	return l
}

const timeHint = "give date and time, such as 2026-11-21T08:06:41.5Z (without Z: local time), or seconds since 1970; " +
	"rel is the time since the first frame"

// isXID reports whether a text is an identifier as lines print it: x1882453915467904.
func isXID(text string) bool {
	return len(text) > 1 && text[0] == 'x' && strings.Trim(text[1:], "0123456789") == ""
}

// fits reports whether values of the field can be compared with a literal.
func (f *field) fits(l *literal) bool {
	return len(l.byName) > 0 || len(f.types) == 0 || slices.ContainsFunc(f.types, func(t records.Type) bool {
		if t == records.Enum || t == records.Flags {
			return l.isNum
		}
		_, ok := order(&records.Value{Type: t}, l)
		return ok
	})
}

// reversed reports whether two numbers are in the wrong order for a range.
func reversed(from, to *literal) bool {
	switch {
	case !from.isNum || !to.isNum:
		return false
	case from.neg != to.neg:
		return to.neg
	}
	return from.u > to.u
}
