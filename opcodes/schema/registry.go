package schema

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Registry holds all declarations of a protocol: operations, sections of trees, and what these refer
// to. Operations are added in any order; Prepare sorts them.
type Registry struct {
	Texts []*TextConstant
	Terms []*Term

	Formats       func() []*RequestFormat // request formats of layout.c
	FormatBuffers func() []*FormatBuffer  // buffers of layout.c
	HeaderNames   func() []*HeaderName    // what no message has

	Opcodes       *Names               // names of the operations; Prepare fills it
	UnusedOpcodes []Value              // opcodes that have a name and no RPC
	NumberGroups  []*Names             // groups that a number without a name may belong to
	Sections      map[string][]*Struct // structs at the top of a tree, by the name they have there
	OtherFields   []Place              // fields that are neither in a struct nor buffers of an RPC
	OtherStructs  []*Struct            // structs that no message has
	OtherGroups   func() []*Names      // groups that no field of a message has

	rpcs     []*RPC // by opcode
	byOpcode []*RPC
	variants []*addedVariant // to be added to their RPCs by Prepare

	resolved atomic.Bool
	once     sync.Once // resolves
	listed   sync.Once // makes structs and groups
	structs  []*Struct
	groups   []*Names
}

type addedVariant struct {
	opcode  uint32
	variant *Variant
}

// AddRPC adds an operation and returns it.
func (g *Registry) AddRPC(r *RPC) *RPC {
	g.rpcs = append(g.rpcs, r)
	return r
}

// AddVariant adds a variant to the RPC with that opcode and returns it. The RPC
// may be declared later. It has the variants that are added behind its own,
// sorted by Select.
func (g *Registry) AddVariant(opcode uint32, v *Variant) *Variant {
	g.variants = append(g.variants, &addedVariant{opcode, v})
	return v
}

// addVariants adds the variants that were declared apart from their RPC.
func (g *Registry) addVariants() {
	slices.SortStableFunc(g.variants, func(a, b *addedVariant) int { return cmp.Compare(a.variant.Select, b.variant.Select) })
	for _, a := range g.variants {
		i := slices.IndexFunc(g.rpcs, func(r *RPC) bool { return r.Opcode == a.opcode })
		if i < 0 {
			panic(fmt.Sprintf("variant %s is of opcode %d, which is not declared", a.variant.Name, a.opcode))
		}
		g.rpcs[i].Variants = append(g.rpcs[i].Variants, a.variant)
	}
	g.variants = nil
}

// Prepare completes the registry after the last declaration was added: it sorts
// the operations, names the opcodes, and computes what the variants of each
// RPC have in common. It panics when two operations have the same opcode.
func (g *Registry) Prepare() {
	g.rpcs = sorted(g.rpcs, func(a, b *RPC) int { return cmp.Compare(a.Opcode, b.Opcode) },
		func(a, b *RPC) string {
			return fmt.Sprintf("%s and %s have the same opcode, %d", a.Name, b.Name, a.Opcode)
		})
	g.addVariants()
	values := make([]Value, 0, len(g.rpcs)+len(g.UnusedOpcodes))
	g.byOpcode = make([]*RPC, g.rpcs[len(g.rpcs)-1].Opcode+1)
	for _, r := range g.rpcs {
		g.byOpcode[r.Opcode] = r
		r.Common = r.common()
		values = append(values, Value{Name: r.Name, Value: uint64(r.Opcode), Since: r.Since, Doc: r.Doc})
	}
	g.Opcodes.Fill(append(values, g.UnusedOpcodes...))
}

// each calls a func for each field at the top of a message or tree, with the operation that has
// it, and one for each struct there.
func (g *Registry) each(field func(f *Field, in string), record func(*Struct)) {
	for _, r := range g.rpcs {
		for _, v := range r.Variants {
			for _, f := range slices.Concat(v.Request, v.Reply) {
				field(f, r.Name)
			}
			if v.Bulk != nil && v.Bulk.Type != nil {
				record(v.Bulk.Type)
			}
		}
	}
	for _, list := range g.Sections {
		for _, s := range list {
			record(s)
		}
	}
	for _, p := range g.OtherFields {
		field(p.Field, p.In)
	}
	for _, s := range g.OtherStructs {
		record(s)
	}
}

// resolve resolves the fields and structs of all operations, when the first is asked for.
func (g *Registry) resolve() {
	g.once.Do(func() {
		g.each(func(f *Field, in string) { f.Resolve().mustHaveClass(in) }, func(s *Struct) { s.Resolve() })
		g.resolved.Store(true)
	})
}

// RPCs are the operations by opcode.
func (g *Registry) RPCs() []*RPC {
	g.resolve()
	return g.rpcs
}

// Structs are the structs by name.
func (g *Registry) Structs() []*Struct {
	g.listed.Do(g.listAll)
	return g.structs
}

// Groups are the groups of names by name.
func (g *Registry) Groups() []*Names {
	g.listed.Do(g.listAll)
	return g.groups
}

// EachField calls do for each declared field where it occurs: in is the struct around it, nil for
// buffers and what is in no struct, which may come several times.
func (g *Registry) EachField(do func(in *Struct, f *Field)) {
	g.resolve()
	structs := make(map[*Struct]bool)
	var field func(in *Struct, f *Field)
	record := func(s *Struct) {
		if s == nil || structs[s] {
			return
		}
		structs[s] = true
		for _, f := range s.Fields {
			field(s, f)
		}
	}
	field = func(in *Struct, f *Field) {
		do(in, f)
		record(f.Type)
		if f.Elem != nil {
			field(in, f.Elem)
		}
		for _, o := range f.Options {
			if f.Kind == Union {
				o = f.Option(o)
			}
			field(in, o)
		}
	}
	g.each(func(f *Field, _ string) { field(nil, f) }, record)
}

// listAll lists the structs and groups, once each. It panics when two have the same name.
func (g *Registry) listAll() {
	structs, groups := make(map[*Struct]bool), make(map[*Names]bool)
	g.EachField(func(in *Struct, f *Field) {
		if in != nil {
			structs[in] = true
		}
		if f.Names != nil {
			groups[f.Names] = true
		}
	})
	for _, n := range append(g.NumberGroups, g.OtherGroups()...) {
		groups[n] = true
	}
	maps.DeleteFunc(structs, func(s *Struct, _ bool) bool { return s.Form })
	maps.DeleteFunc(groups, func(n *Names, _ bool) bool { return n.form })
	g.structs = sorted(slices.Collect(maps.Keys(structs)), func(a, b *Struct) int { return strings.Compare(a.Name, b.Name) },
		func(a, _ *Struct) string { return "two declarations of struct " + a.Name })
	g.groups = sorted(slices.Collect(maps.Keys(groups)), func(a, b *Names) int { return strings.Compare(a.Group, b.Group) },
		func(a, _ *Names) string { return "two declarations of group " + a.Group })
}

// sorted sorts a list. It panics with what twice returns when two of it are the same.
func sorted[T any](list []T, compare func(a, b T) int, twice func(a, b T) string) []T {
	list = slices.Clone(list)
	slices.SortFunc(list, compare)
	for i := 1; i < len(list); i++ {
		if compare(list[i-1], list[i]) == 0 {
			panic(twice(list[i-1], list[i]))
		}
	}
	return list
}

// ByOpcode returns an operation by its number, nil when it is unknown.
func (g *Registry) ByOpcode(opcode uint32) *RPC {
	if !g.resolved.Load() { // faster than to enter a sync.Once for each message
		g.resolve()
	}
	if opcode < uint32(len(g.byOpcode)) {
		return g.byOpcode[opcode]
	}
	return nil
}

// StructNamed returns a struct by its name, letters of either case; nil when it
// is unknown.
func (g *Registry) StructNamed(name string) *Struct {
	for _, s := range g.Structs() {
		if strings.EqualFold(s.Name, name) {
			return s
		}
	}
	return nil
}
