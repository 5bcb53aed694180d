package schema

import "strings"

// Registry holds all declarations of a protocol.
type Registry struct {
	Structs []*Struct
	Groups  []*Names
	RPCs    []*RPC

	Opcodes  *Names               // names of the operations
	Numbered []*Names             // groups that a number without a name may belong to
	Sections map[string][]*Struct // structs at the top of a tree, by the name they have there

	byOpcode []*RPC
}

// Prepare completes the registry after the last RPC was added: it makes
// ByOpcode work and computes what the variants of each RPC have in common.
func (g *Registry) Prepare() {
	size := uint32(0)
	for _, r := range g.RPCs {
		size = max(size, r.Opcode+1)
	}
	g.byOpcode = make([]*RPC, size)
	for _, r := range g.RPCs {
		g.byOpcode[r.Opcode] = r
		r.Common = r.common()
	}
}

// ByOpcode returns an operation by its number, nil when there is none.
func (g *Registry) ByOpcode(opcode uint32) *RPC {
	if opcode < uint32(len(g.byOpcode)) {
		return g.byOpcode[opcode]
	}
	return nil
}

// StructNamed returns a struct by its name, letters of either case; nil when
// there is none.
func (g *Registry) StructNamed(name string) *Struct {
	for _, s := range g.Structs {
		if strings.EqualFold(s.Name, name) {
			return s
		}
	}
	return nil
}
