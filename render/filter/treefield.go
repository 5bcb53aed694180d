package filter

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

type treeField struct {
	records.FieldPath
	nodes []int // that is tested, and those around it, when there is a path
}

// each reads each value into v and calls f with it until f returns true. It
// returns what f returned last.
func (t *treeField) each(tree *dissect.Tree, v *records.Value, f func(*records.Value) bool) bool {
	for i := range tree.Nodes {
		n := &tree.Nodes[i]
		if len(t.Around) > 0 {
			t.nodes = records.Enter(t.nodes, tree, i)
		}
		if n.Name() == t.Name && n.State&(dissect.Missing|dissect.Remark) == 0 && t.IsIn(tree, t.nodes) && eachValue(tree, i, v, f) {
			return true
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
