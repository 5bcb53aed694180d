package filter

import (
	"bytes"
	"regexp"
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

func (c *compiler) test(e *expr, f *field) (func(*records.Value) bool, error) {
	if f.bit != "" {
		if e.op != "exists" {
			return nil, c.fail(e.at, "a flag cannot be compared: its name alone tests whether it is set", "")
		}
		return bitTest(f), nil
	}
	switch e.op {
	case "exists":
		return func(*records.Value) bool { return true }, nil
	case "contains", "matches":
		return c.textTest(e, f)
	case "in":
		return c.setTest(e, f)
	}
	return c.orderTest(e, f)
}

func bitTest(f *field) func(*records.Value) bool {
	return func(v *records.Value) bool {
		if v.Names == nil {
			return false
		}
		b, ok := v.Names.Find(f.bit)
		if !ok {
			return false
		}
		if !v.Names.Flags {
			return v.U == b.Value
		}
		return v.U&b.Bits() == b.Value && b.Value != 0
	}
}

func (c *compiler) textTest(e *expr, f *field) (func(*records.Value) bool, error) {
	want := []byte(e.set[0].from.text)
	var buf []byte
	if e.op == "contains" {
		if isFlagName(f, e.set[0].from.text) {
			g := *f
			g.bit = e.set[0].from.text
			return bitTest(&g), nil
		}
		return func(v *records.Value) bool {
			buf = appendValue(buf[:0], v)
			return bytes.Contains(buf, want)
		}, nil
	}
	re, err := regexp.Compile(string(want))
	if err != nil {
		return nil, c.fail(e.set[0].from, "invalid regular expression: "+strings.TrimPrefix(err.Error(), "error parsing regexp: "), "")
	}
	return func(v *records.Value) bool {
		buf = appendValue(buf[:0], v)
		return re.Match(buf)
	}, nil
}

func isFlagName(f *field, text string) bool {
	return slices.ContainsFunc(f.names, func(n *schema.Names) bool {
		_, ok := n.Find(text)
		return ok && n.Flags
	})
}

// literal reads a literal. One that no value of the field can be compared with
// is an error.
func (c *compiler) literal(t token, f *field) (*literal, error) {
	if f.isID() && isXID(t.text) {
		t.text = t.text[1:]
	}
	l := readLiteral(t, f.names)
	if f.valueType == records.Time && f.typed {
		if l.readTime(t.text); l.isTime {
			return l, nil
		}
		return nil, c.fail(t, "invalid value "+t.text+" for "+f.name, timeHint)
	}
	if c.comparable(l, f) {
		return l, nil
	}
	if hint := frameHint(f.name, t.text); hint != "" {
		return nil, c.fail(t, "invalid value "+t.text+" for "+f.name, hint)
	}
	var all []string
	for _, n := range f.names {
		for _, v := range n.Values {
			all = append(all, v.Name, n.Full(v))
		}
	}
	if len(all) == 0 || f.valueType == records.Status {
		all = append(all, errnoNames()...)
	}
	return nil, c.fail(t, "invalid value "+t.text+" for "+f.name, DidYouMean(schema.Nearest(t.text, all, 3)))
}

const timeHint = "give date and time, such as 2026-11-21T08:06:41.5Z (without Z: local time), or seconds since 1970; " +
	"rel is the time since the first frame"

// isXID reports whether a text is an identifier as lines print it: x1882453915467904.
func isXID(text string) bool {
	return len(text) > 1 && text[0] == 'x' && strings.Trim(text[1:], "0123456789") == ""
}

func errnoNames() []string {
	var all []string
	for _, v := range schema.Errnos.Values {
		all = append(all, v.Name)
	}
	return all
}

func (c *compiler) comparable(l *literal, f *field) bool {
	if len(l.byName) > 0 {
		return true
	}
	if f.typed {
		return comparableType(l, f.valueType)
	}
	return len(f.declarations) == 0 || slices.ContainsFunc(f.declarations, func(d schema.Field) bool { return comparableField(l, &d) })
}

func comparableType(l *literal, t records.Type) bool {
	if t == records.Enum || t == records.Flags {
		return l.isNum
	}
	_, ok := order(&records.Value{Type: t}, l)
	return ok
}

// comparableField reports whether a literal can be compared with values of a
// declared field.
func comparableField(l *literal, d *schema.Field) bool {
	if d.Elem != nil {
		return comparableField(l, d.Elem)
	}
	t := records.FieldType(d)
	if d.Names != nil && isNumber(t) {
		t = records.Enum
	}
	return comparableType(l, t)
}

func (c *compiler) orderTest(e *expr, f *field) (func(*records.Value) bool, error) {
	var mask uint64
	if e.mask != nil {
		m, err := c.literal(*e.mask, f)
		if err != nil {
			return nil, err
		}
		if mask = m.u; !m.isNum {
			for _, u := range m.byName {
				mask = u
			}
		}
		if len(e.set) == 0 {
			return func(v *records.Value) bool { return isNumber(v.Type) && v.U&mask != 0 }, nil
		}
	}
	l, err := c.literal(e.set[0].from, f)
	if err != nil {
		return nil, err
	}
	op := e.op
	return func(v *records.Value) bool {
		if mask != 0 {
			v.U &= mask
		}
		o, ok := order(v, l)
		if !ok {
			return op == "!=" && !isTime(v.Type)
		}
		return holds(op, o)
	}, nil
}

func isTime(t records.Type) bool {
	return t == records.Seconds || t == records.Duration || t == records.Time
}

// holds reports whether an operator holds for a result of order.
func holds(op string, o int) bool {
	switch op {
	case "==":
		return o == 0
	case "!=":
		return o != 0
	case "<":
		return o < 0
	case "<=":
		return o <= 0
	case ">":
		return o > 0
	}
	return o >= 0
}

func (c *compiler) setTest(e *expr, f *field) (func(*records.Value) bool, error) {
	type ends struct{ from, to *literal }
	var set []ends
	for _, s := range e.set {
		from, err := c.literal(s.from, f)
		if err != nil {
			return nil, err
		}
		to := from
		if s.to.text != "" {
			if to, err = c.literal(s.to, f); err != nil {
				return nil, err
			}
			if reversed(from, to) {
				return nil, c.fail(s.to, "the range ends below its start", "")
			}
		}
		set = append(set, ends{from, to})
	}
	return func(v *records.Value) bool {
		for _, s := range set {
			low, ok := order(v, s.from)
			if ok && (low == 0 && s.to == s.from || low >= 0 && s.to != s.from && atMost(v, s.to)) {
				return true
			}
		}
		return false
	}, nil
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

// atMost reports whether a value is not above a literal.
func atMost(v *records.Value, l *literal) bool {
	o, ok := order(v, l)
	return ok && o <= 0
}
