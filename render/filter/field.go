package filter

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
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

	names     []*schema.Names // of its values
	types     []records.Type  // that values may have; none: any
	isID      bool            // its values are decimal identifiers, such as xids
	hasErrnos bool
	ofRPC     bool   // of a whole RPC, not of each of its messages
	bit       string // of name.BIT
}

// keyField makes a field of a key of records of the type R.
func keyField[R any](name string, p records.Path[R]) *field {
	t := p.Key.Type
	f := &field{name: name, isID: t == records.Decimal, hasErrnos: t == records.Status, each: func(s *subject, f func(*records.Value) bool) bool {
		r, v := s.record.(R), &s.value
		for i := range p.Len(r) {
			if p.Value(r, i, v) && anyText(v, f) {
				return true
			}
		}
		return false
	}}
	if t == records.Strings || t == records.Counts {
		t = records.Text
	}
	f.types = []records.Type{t}
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

// treeField makes the field of a field of trees.
func treeField(name string, t *records.TreeField) *field {
	f := &field{name: name, each: func(s *subject, f func(*records.Value) bool) bool {
		tree := s.record.(*records.Message).Tree()
		return t.Any(tree, func(i int) bool { return eachValue(tree, i, &s.value, f) })
	}}
	if records.IsSection(name) {
		return f
	}
	for _, p := range opcodes.FieldIndex().Find(name) {
		f.isID = f.isID || p.Field.Format == schema.ID
		f.hasErrnos = f.hasErrnos || p.Field.Style == schema.Status
		leaf := p.Field
		for leaf.Elem != nil {
			leaf = leaf.Elem
		}
		t := records.FieldType(leaf)
		if leaf.Names != nil {
			f.names = append(f.names, leaf.Names)
			if isNumber(t) {
				t = records.Enum
			}
		}
		f.types = append(f.types, t)
	}
	return f
}

// eachValue calls f with the elements of node i that were captured when it is a list, and then
// with its value, until f returns true. It returns what f returned last.
func eachValue(tree *dissect.Tree, i int, v *records.Value, f func(*records.Value) bool) bool {
	n := &tree.Nodes[i]
	if n.Field.Kind == schema.Array || n.Field.Kind == schema.List {
		for k := i + 1; k < int(n.End); k = int(tree.Nodes[k].End) {
			el := &tree.Nodes[k]
			if el.Is(dissect.Missing) {
				continue
			}
			if v.ReadNode(tree, el); f(v) {
				return true
			}
		}
	}
	v.ReadNode(tree, n)
	return f(v)
}
