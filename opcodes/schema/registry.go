package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// Registry holds all declarations of a protocol. Declarations are added in any
// order; Prepare sorts them.
type Registry struct {
	Structs []*Struct // by name
	Groups  []*Names  // by name
	RPCs    []*RPC    // by opcode
	Texts   []*TextConstant
	Terms   []*Term

	Formats       []*RequestFormat // request formats of layout.c
	FormatBuffers []*FormatBuffer  // buffers of layout.c

	Opcodes       *Names               // names of the operations; Prepare fills it
	UnusedOpcodes []Value              // opcodes that have a name and no RPC
	NumberGroups  []*Names             // groups that a number without a name may belong to
	Sections      map[string][]*Struct // structs at the top of a tree, by the name they have there
	OtherFields   []Place              // fields that are neither in a struct nor buffers of an RPC

	byOpcode []*RPC

	variants []addedVariant // to be added to their RPCs by Prepare
	values   []addedValue   // to be added to their groups by Prepare
}

type addedVariant struct {
	opcode  uint32
	variant *Variant
}

type addedValue struct {
	group string
	value Value
}

// AddStruct adds a struct and returns it.
func (g *Registry) AddStruct(s *Struct) *Struct {
	g.Structs = append(g.Structs, s)
	return s
}

// AddNames adds a group of names and returns it.
func (g *Registry) AddNames(n *Names) *Names {
	g.Groups = append(g.Groups, n)
	return n
}

// AddTexts adds constants that are texts and returns them.
func (g *Registry) AddTexts(list []*TextConstant) []*TextConstant {
	g.Texts = append(g.Texts, list...)
	return list
}

// AddRPC adds an operation and returns it.
func (g *Registry) AddRPC(r *RPC) *RPC {
	g.RPCs = append(g.RPCs, r)
	return r
}

// AddVariant adds a variant to the RPC with that opcode and returns it. The RPC
// may be declared later. It has the variants that are added behind its own,
// sorted by Select.
func (g *Registry) AddVariant(opcode uint32, v *Variant) *Variant {
	g.variants = append(g.variants, addedVariant{opcode, v})
	return v
}

// AddValue adds a value to a group of names, which may be declared later.
func (g *Registry) AddValue(group string, v Value) {
	g.values = append(g.values, addedValue{group, v})
}

// addPending adds the variants and values that were declared apart from their RPC
// or group.
func (g *Registry) addPending() {
	slices.SortStableFunc(g.variants, func(a, b addedVariant) int { return cmp.Compare(a.variant.Select, b.variant.Select) })
	for _, a := range g.variants {
		i := slices.IndexFunc(g.RPCs, func(r *RPC) bool { return r.Opcode == a.opcode })
		if i < 0 {
			panic(fmt.Sprintf("variant %s is of opcode %d, which is not declared", a.variant.Name, a.opcode))
		}
		g.RPCs[i].Variants = append(g.RPCs[i].Variants, a.variant)
	}
	for _, a := range g.values {
		i := slices.IndexFunc(g.Groups, func(n *Names) bool { return n.Group == a.group })
		if i < 0 {
			panic(fmt.Sprintf("value %s is of group %s, which is not declared", a.value.Name, a.group))
		}
		g.Groups[i].add(a.value)
	}
	g.variants, g.values = nil, nil
}

// Prepare completes the registry after the last declaration was added: it sorts
// the declarations, names the opcodes and computes what the variants of each
// RPC have in common. It panics when two declarations have the same name or
// opcode.
func (g *Registry) Prepare() {
	g.Structs = sorted(g.Structs, "struct", func(a, b *Struct) int { return strings.Compare(a.Name, b.Name) },
		func(s *Struct) string { return s.Name })
	g.Groups = sorted(g.Groups, "group", func(a, b *Names) int { return strings.Compare(a.Group, b.Group) },
		func(n *Names) string { return n.Group })
	g.RPCs = sorted(g.RPCs, "the opcode of", func(a, b *RPC) int { return cmp.Compare(a.Opcode, b.Opcode) },
		func(r *RPC) string { return fmt.Sprint(r.Name, ", ", r.Opcode) })
	g.addPending()
	values := make([]Value, 0, len(g.RPCs)+len(g.UnusedOpcodes))
	g.byOpcode = make([]*RPC, g.RPCs[len(g.RPCs)-1].Opcode+1)
	for _, r := range g.RPCs {
		g.byOpcode[r.Opcode] = r
		r.Common = r.common()
		values = append(values, Value{Name: r.Name, Value: uint64(r.Opcode), Doc: r.Doc})
	}
	g.Opcodes.Fill(append(values, g.UnusedOpcodes...))
}

// sorted returns a sorted copy of the list.
func sorted[T any](list []T, kind string, compare func(a, b T) int, name func(T) string) []T {
	list = slices.Clone(list)
	slices.SortFunc(list, compare)
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) == 0 {
			panic(fmt.Sprintf("two declarations of %s %s", kind, name(list[i])))
		}
	}
	return list
}

// ByOpcode returns an operation by its number, nil when it is unknown.
func (g *Registry) ByOpcode(opcode uint32) *RPC {
	if opcode < uint32(len(g.byOpcode)) {
		return g.byOpcode[opcode]
	}
	return nil
}

// StructNamed returns a struct by its name, letters of either case; nil when it
// is unknown.
func (g *Registry) StructNamed(name string) *Struct {
	for _, s := range g.Structs {
		if strings.EqualFold(s.Name, name) {
			return s
		}
	}
	return nil
}
