package schema

import (
	"sort"
	"strings"
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
}

// NewIndex indexes the declarations of a registry.
func (g *Registry) NewIndex() *Index {
	x := &Index{reg: g, places: make(map[string][]Place, 2048)}
	for _, s := range g.Structs {
		for _, f := range s.Fields {
			x.add(f, s.Name)
		}
	}
	for _, r := range g.RPCs {
		for _, v := range r.Variants {
			for _, f := range v.Request {
				x.add(f, r.Name)
			}
			for _, f := range v.Reply {
				x.add(f, r.Name)
			}
			if v.Bulk != nil && v.Bulk.Type != nil {
				for _, f := range v.Bulk.Type.Fields {
					x.add(f, v.Bulk.Type.Name)
				}
			}
		}
	}
	for _, p := range g.OtherFields {
		x.add(p.Field, p.In)
	}
	for name := range x.places {
		x.names = append(x.names, name)
	}
	sort.Strings(x.names)
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

// Nearest are the names that are most like a mistaken one, at most n, the best
// first; none when all are far from it.
func Nearest(name string, among []string, n int) []string {
	type near struct {
		name string
		dist int
	}
	var list []near
	name = strings.ToLower(name)
	limit := max(2, len(name)/3)
	for _, a := range among {
		lower := strings.ToLower(a)
		d := distance(name, lower, limit+1)
		if len(name) > 3 && strings.Contains(lower, name) {
			d = min(d, 1)
		}
		if d <= limit {
			list = append(list, near{a, d})
		}
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].dist < list[j].dist })
	var names []string
	for i, l := range list {
		if len(names) < n && (i == 0 || l.name != list[i-1].name) {
			names = append(names, l.name)
		}
	}
	return names
}

// distance is the number of letters to change, add, drop or swap with the next
// one to make b of a; limit when it is that many or more.
func distance(a, b string, limit int) int {
	if d := len(a) - len(b); d >= limit || -d >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return min(last[len(b)], limit)
}
