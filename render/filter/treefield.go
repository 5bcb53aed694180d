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

// fieldType returns the type of the values of a field, Object where it has parts.
func fieldType(f *schema.Field) records.Type {
	switch f.Format {
	case schema.FID:
		return records.FID
	case schema.NID, schema.NID4:
		return records.NID
	case schema.Handle:
		return records.Uint
	case schema.OSTID, schema.OSTIDPlain, schema.UUID:
		return records.Text // or a FID
	}
	switch f.Kind {
	case schema.Uint:
		return records.Uint
	case schema.Int:
		return records.Int
	case schema.Record, schema.Array, schema.List:
		return records.Object
	}
	return records.Text
}

// readNode reads the value of a node. That of a struct or list is its bytes.
func readNode(tree *dissect.Tree, n *dissect.Node, v *records.Value) {
	f, b, big := n.Field, tree.Bytes(n), n.Is(dissect.BigEndian)
	v.Type, v.Names = fieldType(f), f.Names
	switch {
	case f.Format == schema.NID4:
		v.NID = lnet.NID4(n.Val)
	case f.Kind == schema.Uint || f.Kind == schema.Int:
		v.U = n.Val
	case f.Format == schema.FID:
		readFID(b, big, v)
	case f.Format == schema.OSTID || f.Format == schema.OSTIDPlain:
		readOSTID(b, big, f.Format == schema.OSTIDPlain, v)
	case f.Format == schema.NID:
		v.NID = lnet.NID16(b)
	case f.Format == schema.Handle:
		v.U = schema.ReadUint(b[:8], false)
	case f.Kind == schema.Text || f.Kind == schema.Virtual || f.Format == schema.UUID:
		v.Text = schema.TrimNUL(b)
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
