package records

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// TreeField is a field of the trees of messages: its name, and names of nodes around it, or of
// their structs, the outermost first. It is for one goroutine.
type TreeField struct {
	Name   string
	around []string
	nodes  []int // that Any visits, and those around it, where there is a path
}

// FindField finds what a name of -e and -Y stands for in messages: a key, or else a field of their
// trees. Names of the wire may contain dots.
func FindField(name string) (p Path[*Message], f *TreeField, ok bool) {
	if p, ok := MessageKey(name); ok && p.Key.Type != Section {
		return p, nil, true
	}
	if isDeclared(name) {
		return p, &TreeField{Name: name}, true
	}
	parts := strings.Split(name, ".")
	last := len(parts) - 1
	for i, name := range parts {
		if isDeclared(name) {
			continue
		}
		if s := opcodes.StructNamed(name); i == last || s == nil || s.Name != name {
			return p, nil, false
		}
	}
	return p, &TreeField{Name: parts[last], around: parts[:last]}, true
}

func isDeclared(name string) bool {
	_, ok := slices.BinarySearch(opcodes.FieldIndex().Names(), name)
	return ok || IsSection(name)
}

// IsSection reports whether a name is that of a section of the tree.
func IsSection(name string) bool {
	p, ok := Messages.Find(name)
	return ok && p.Key.Type == Section
}

// Any calls visit with the index of each node of the field that was captured, until it returns
// true, and returns what it returned last.
func (f *TreeField) Any(t *dissect.Tree, visit func(i int) bool) bool {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if len(f.around) > 0 {
			f.nodes = append(f.nodes[:min(int(n.Depth), len(f.nodes))], i)
		}
		if n.Name() == f.Name && n.State&(dissect.Missing|dissect.Remark) == 0 && f.isIn(t) && visit(i) {
			return true
		}
	}
	return false
}

// isIn reports whether the node that is visited lies in the nodes of the path.
func (f *TreeField) isIn(t *dissect.Tree) bool {
	k := len(f.around) - 1
	for i := len(f.nodes) - 2; i >= 0 && k >= 0; i-- {
		n := &t.Nodes[f.nodes[i]]
		if n.Name() == f.around[k] || n.Field.Kind == schema.Record && n.Field.Type.Name == f.around[k] {
			k--
		}
	}
	return k < 0
}

// FieldType returns the type of the values of a declared field, Object where it has parts.
func FieldType(f *schema.Field) Type {
	switch f.Format {
	case schema.FID:
		return FID
	case schema.NID, schema.NID4:
		return NID
	case schema.Handle:
		return Uint
	case schema.OSTID, schema.OSTIDPlain, schema.UUID:
		return Text // or a FID
	}
	switch f.Kind {
	case schema.Uint:
		return Uint
	case schema.Int:
		return Int
	case schema.Record, schema.Array, schema.List:
		return Object
	}
	return Text
}

// ReadNode reads the value of a node of a tree. That of a struct or list is its bytes.
func (v *Value) ReadNode(t *dissect.Tree, n *dissect.Node) {
	f, b, big := n.Field, t.Bytes(n), n.Is(dissect.BigEndian)
	v.Type, v.Names = FieldType(f), f.Names
	switch {
	case f.Format == schema.NID4:
		v.NID = lnet.NID4(n.Val)
	case f.Kind == schema.Uint || f.Kind == schema.Int:
		v.U = n.Val
	case f.Format == schema.FID, f.Format == schema.OSTID && schema.IsFID(b, big):
		var id track.FID
		id.Read(b, big)
		v.Type = FID
		v.SetFID(id)
	case f.Format == schema.OSTID || f.Format == schema.OSTIDPlain:
		v.buf = schema.AppendOSTID(v.buf[:0], b, big, true)
		v.Text = v.buf
	case f.Format == schema.NID:
		v.NID = lnet.NID16(b)
	case f.Format == schema.Handle:
		v.U = schema.ReadUint(b[:8], false)
	case f.Kind == schema.Text || f.Kind == schema.Virtual || f.Format == schema.UUID:
		v.Text = schema.TrimNUL(b)
	default:
		v.Type, v.Text = Text, b
	}
}

// fids returns the FIDs in all fields of the message, in their order. Those that
// are zero are left out.
func (m *Message) fids() []track.FID {
	if m.fidsRead {
		return m.fidList
	}
	m.fidList, m.fidsRead = m.fidList[:0], true
	t, v := m.Tree(), &m.value
	for i := range t.Nodes {
		n := &t.Nodes[i]
		if n.State&(dissect.Missing|dissect.Remark) != 0 {
			continue
		}
		var f track.FID
		switch {
		case n.Field.Format == schema.FID || n.Field.Format == schema.OSTID:
			if v.ReadNode(t, n); v.Type == FID {
				f = track.FID{Seq: v.U, OID: v.OID, Ver: v.Ver}
			}
		case n.Field.Kind == schema.Virtual: // such as the names of locks
			f = fidText(t.Bytes(n))
		}
		if f != (track.FID{}) {
			m.fidList = append(m.fidList, f)
		}
	}
	return m.fidList
}

// fidText reads a FID as names of locks have it, in brackets, 0 for another text. It does not
// allocate.
func fidText(b []byte) (f track.FID) {
	if len(b) > 0 && b[0] == '[' {
		f.Seq, f.OID, f.Ver, _ = schema.ParseFID(string(b))
	}
	return f
}
