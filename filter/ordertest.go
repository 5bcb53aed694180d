package filter

import (
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/records"
)

// literal reads a literal and refuses one that no value of the field can be
// compared with.
func (c *compiler) literal(t token, f *field) (*literal, error) {
	l := read(t, f.names)
	if c.sensible(l, f) {
		return l, nil
	}
	var all []string
	for _, n := range f.names {
		for _, v := range n.Values {
			all = append(all, v.Name, n.Prefix+v.Name)
		}
	}
	if len(all) == 0 || f.kind == records.Status {
		all = append(all, errnoNames()...)
	}
	return nil, c.fail(t, t.text+" is not a value of this field", DidYouMean(schema.Nearest(t.text, all, 3)))
}

func errnoNames() []string {
	var all []string
	for _, v := range schema.Errnos.Values {
		all = append(all, v.Name)
	}
	return all
}

// sensible says whether the field has values that the literal can be.
func (c *compiler) sensible(l *literal, f *field) bool {
	if len(l.byName) > 0 {
		return true
	}
	if f.key {
		return typeSensible(l, f.kind)
	}
	for i := range f.forms {
		if formSensible(l, &f.forms[i]) {
			return true
		}
	}
	return len(f.forms) == 0
}

// typeSensible reports whether a literal can be compared with values of a type.
func typeSensible(l *literal, t records.Type) bool {
	switch t {
	case records.Seconds, records.Duration, records.Time:
		return l.isSec
	case records.Enum, records.Flags:
		return l.isNum
	case records.FID:
		return l.isFID
	case records.NID:
		return l.isNID
	case records.Address:
		return l.isAddr
	case records.Bool:
		return l.truth != 0
	case records.Object:
		return false
	}
	return !isNumber(t) || l.isNum || l.errno != 0
}

func formSensible(l *literal, d *schema.Field) bool {
	if d.Elem != nil {
		return formSensible(l, d.Elem)
	}
	switch d.Format {
	case schema.FID:
		return l.isFID
	case schema.OSTID, schema.OSTIDPlain, schema.UUID:
		return true
	case schema.NID4, schema.NID:
		return l.isNID
	case schema.Handle:
		return l.isNum
	}
	switch d.Kind {
	case schema.Uint, schema.Int:
		return l.isNum || l.errno != 0 && d.Names == nil
	case schema.Record, schema.Array, schema.List:
		return false
	}
	return true
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
				return nil, c.fail(s.to, "this range ends before it begins", "")
			}
		}
		set = append(set, ends{from, to})
	}
	return func(v *records.Value) bool {
		for _, s := range set {
			low, ok := order(v, s.from)
			if ok && (low == 0 && s.to == s.from || low >= 0 && s.to != s.from && below(v, s.to)) {
				return true
			}
		}
		return false
	}, nil
}

// reversed says whether two numbers are in the wrong order for a range.
func reversed(from, to *literal) bool {
	switch {
	case !from.isNum || !to.isNum:
		return false
	case from.neg != to.neg:
		return to.neg
	}
	return from.u > to.u
}

func below(v *records.Value, l *literal) bool {
	o, ok := order(v, l)
	return ok && o <= 0
}
