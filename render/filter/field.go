package filter

import (
	"slices"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// subject is the record that a filter is applied to.
type subject struct {
	record any    // a pointer: *records.Message, *track.RPC and so on
	passed uint64 // comparisons that held for a message of an RPC
	value  records.Value
}

type field struct {
	name string

	// each calls f with each value until f returns true, and returns what f
	// returned last.
	each func(s *subject, f func(*records.Value) bool) bool

	names []*schema.Names // of its values
	ofRPC bool            // of a whole RPC, not of each of its messages
	bit   string          // of name.BIT

	// All values of a typed field have the type valueType. Of other fields, the
	// declarations say which types there may be.
	typed        bool
	valueType    records.Type
	declarations []schema.Field
}

// keyField makes a field of a key of records of the type R.
func keyField[R any](name string, p records.Path[R]) *field {
	f := &field{name: name, typed: true, valueType: p.Key.Type, each: func(s *subject, f func(*records.Value) bool) bool {
		r, v := s.record.(R), &s.value
		for i := range p.Len(r) {
			if p.Value(r, i, v) && anyText(v, f) {
				return true
			}
		}
		return false
	}}
	if p.Key.Type == records.Strings || p.Key.Type == records.Counts {
		f.valueType = records.Text
	}
	if p.Key.Names != nil {
		f.names = append(f.names, p.Key.Names)
	}
	return f
}

// anyText calls f with a value; of several texts, or names that are counted, with each
// of them, until it returns true. An empty text counts as no value.
func anyText(v *records.Value, f func(*records.Value) bool) bool {
	one := func(text string) bool {
		v.Type = records.Text
		v.SetString(text)
		return f(v)
	}
	switch v.Type {
	case records.Text:
		return len(v.Text) > 0 && f(v)
	case records.Strings:
		return slices.ContainsFunc(v.Strings, one)
	case records.Counts:
		return slices.ContainsFunc(v.Counts, func(c records.Count) bool { return one(c.Name) })
	}
	return f(v)
}

// isID reports whether the values are decimal identifiers, such as xids.
func (f *field) isID() bool {
	return f.typed && f.valueType == records.Decimal ||
		slices.ContainsFunc(f.declarations, func(d schema.Field) bool { return d.Format == schema.ID })
}
