package schema

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// Place is a field where it occurs: in a struct, or as a buffer of messages.
type Place struct {
	Field *Field
	In    string // the struct, or the operation whose buffer it is
}

// Index finds the declared fields by name. Filters, -e, completion and
// explanations share it.
type Index struct {
	reg    *Registry
	places map[string][]Place
	names  []string
	named  func() []named
}

// NewIndex indexes the declarations of a registry.
func (g *Registry) NewIndex() *Index {
	x := &Index{reg: g, places: make(map[string][]Place, 2048)}
	for _, s := range g.Structs() {
		for _, f := range s.Fields {
			x.add(f, s.Name)
		}
	}
	g.each(x.add, func(*Struct) {})
	x.names = slices.Sorted(maps.Keys(x.places))
	x.named = sync.OnceValue(x.listNamed)
	return x
}

func (x *Index) add(f *Field, in string) {
	if f.Name == "" {
		return
	}
	for _, p := range x.places[f.Name] {
		if p.Field == f && p.In == in {
			return
		}
	}
	x.places[f.Name] = append(x.places[f.Name], Place{f, in})
	for _, o := range f.Options {
		x.add(o, f.Name)
	}
}

// Find lists the places of a field, by its name or by a path whose last part
// is its name.
func (x *Index) Find(path string) []Place {
	if p := x.places[path]; p != nil {
		return p
	}
	if i := strings.LastIndexByte(path, '.'); i >= 0 {
		return x.places[path[i+1:]]
	}
	return nil
}

// Names are the names of all fields, sorted.
func (x *Index) Names() []string { return x.names }
