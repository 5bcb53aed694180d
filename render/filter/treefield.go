package filter

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

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
		f.declarations = append(f.declarations, *p.Field)
		if n := p.Field.Names; n != nil {
			f.names = append(f.names, n)
		}
		if el := p.Field.Elem; el != nil && el.Names != nil {
			f.names = append(f.names, el.Names)
		}
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
