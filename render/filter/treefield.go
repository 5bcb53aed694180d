package filter

import (
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

type treeField struct {
	name string
	path []string // names of the nodes around it, outermost first

	enclosing []*dissect.Node // of the node that is tested, when there is a path
}

func newTreeField(path string) *field {
	parts := strings.Split(path, ".")
	t := treeField{name: parts[len(parts)-1], path: parts[:len(parts)-1]}
	return &field{name: path, each: func(s *subject, f func(*records.Value) bool) bool { return t.each(s.msg.Tree(), &s.value, f) }}
}

// each reads each value into v and calls f with it until f returns true. It
// returns what f returned last.
func (t *treeField) each(tree *dissect.Tree, v *records.Value, f func(*records.Value) bool) bool {
	t.enclosing = t.enclosing[:0]
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		if n.Name() == t.name && n.State&(dissect.Missing|dissect.Remark) == 0 && t.inPath(i) && eachValue(tree, i, v, f) {
			return true
		}
		if len(t.path) > 0 && int(n.End) > i+1 {
			t.leave(i)
			t.enclosing = append(t.enclosing, n)
		}
	}
	return false
}

// eachValue calls f with the elements of node i when it is a list, and then with
// its value.
func eachValue(tree *dissect.Tree, i int, v *records.Value, f func(*records.Value) bool) bool {
	n := &tree.Nodes[i]
	if n.Field.Kind == schema.Array || n.Field.Kind == schema.List {
		for k := i + 1; k < int(n.End); k = int(tree.Nodes[k].End) {
			if readNode(tree, &tree.Nodes[k], v); f(v) {
				return true
			}
		}
	}
	readNode(tree, n, v)
	return f(v)
}

// leave removes the enclosing nodes that end before node i.
func (t *treeField) leave(i int) {
	k := len(t.enclosing)
	for k > 0 && int(t.enclosing[k-1].End) <= i {
		k--
	}
	t.enclosing = t.enclosing[:k]
}

// inPath reports whether the nodes around node i have the names of the path, as
// sections, buffers, structs or fields.
func (t *treeField) inPath(i int) bool {
	want := len(t.path) - 1
	if want < 0 {
		return true
	}
	t.leave(i)
	for k := len(t.enclosing) - 1; k >= 0 && want >= 0; k-- {
		if n := t.enclosing[k]; n.Name() == t.path[want] || n.Field.Kind == schema.Record && n.Field.Type.Name == t.path[want] {
			want--
		}
	}
	return want < 0
}

// readNode reads the value of a node. That of a struct or list is its bytes.
func readNode(tree *dissect.Tree, n *dissect.Node, v *records.Value) {
	f := n.Field
	b := tree.Bytes(n)
	big := n.Is(dissect.BigEndian)
	v.Names = f.Names
	switch {
	case f.Kind == schema.Uint || f.Kind == schema.Int:
		v.Type, v.U = records.Uint, n.Val
		switch {
		case f.Format == schema.NID4:
			v.Type, v.NID = records.NID, lnet.NID4(n.Val)
		case f.Kind == schema.Int:
			v.Type = records.Int
		}
	case f.Format == schema.FID:
		readFID(b, big, v)
	case f.Format == schema.OSTID || f.Format == schema.OSTIDPlain:
		readOSTID(b, big, f.Format == schema.OSTIDPlain, v)
	case f.Format == schema.NID:
		v.Type, v.NID = records.NID, lnet.NID16(b)
	case f.Format == schema.Handle:
		v.Type, v.U = records.Uint, schema.ReadUint(b[:8], false)
	case f.Kind == schema.Text || f.Kind == schema.Virtual || f.Format == schema.UUID:
		v.Type, v.Text = records.Text, schema.TrimNUL(b)
	default:
		v.Type, v.Text = records.Text, b
	}
}

func readFID(b []byte, big bool, v *records.Value) {
	v.Type, v.U = records.FID, schema.ReadUint(b[:8], big)
	v.OID, v.Ver = uint32(schema.ReadUint(b[8:12], big)), uint32(schema.ReadUint(b[12:16], big))
}

func readOSTID(b []byte, big, plain bool, v *records.Value) {
	if !plain && schema.IsFID(b, big) {
		readFID(b, big, v)
		return
	}
	v.Type, v.Text = records.Text, schema.AppendOSTID(nil, b, big, plain)
}
