package records

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// FieldPath is a field of the tree of a message: its name, and names of nodes around it, or of
// their structs, the outermost first.
type FieldPath struct {
	Name   string
	Around []string
}

// FindField returns the field with a name or a path, if there may be one. Names of the wire may
// contain dots.
func FindField(path string, index *schema.Index) (p FieldPath, ok bool) {
	if isDeclared(path, index) {
		return FieldPath{Name: path}, true
	}
	parts := strings.Split(path, ".")
	last := len(parts) - 1
	for i, name := range parts {
		if isDeclared(name, index) {
			continue
		}
		if s := opcodes.StructNamed(name); i == last || s == nil || s.Name != name {
			return p, false
		}
	}
	return FieldPath{parts[last], parts[:last]}, true
}

func isDeclared(name string, index *schema.Index) bool {
	_, ok := slices.BinarySearch(index.Names(), name)
	return ok || IsSection(name)
}

// IsSection reports whether a name is that of a section of the tree.
func IsSection(name string) bool {
	p, ok := Messages.Find(name)
	return ok && p.Key.Type == Section
}

// Enter returns the nodes around the i-th one, of those around the one before, and the node itself.
func Enter(nodes []int, t *dissect.Tree, i int) []int {
	return append(nodes[:min(int(t.Nodes[i].Depth), len(nodes))], i)
}

// IsIn reports whether the last of nodes, with all others around it, lies in the nodes of the path.
func (p *FieldPath) IsIn(t *dissect.Tree, nodes []int) bool {
	k := len(p.Around) - 1
	for i := len(nodes) - 2; i >= 0 && k >= 0; i-- {
		n := &t.Nodes[nodes[i]]
		if n.Name() == p.Around[k] || n.Field.Kind == schema.Record && n.Field.Type.Name == p.Around[k] {
			k--
		}
	}
	return k < 0
}
