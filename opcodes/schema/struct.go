package schema

import (
	"fmt"
	"slices"
	"sync/atomic"
)

// Struct is a struct of the wire: consecutive fields, some of them overlays of
// others.
type Struct struct {
	Name   string
	Doc    string
	Since  Since
	Order  Order
	Atom   Format // not Plain: shown as one value
	Fields []*Field
	Size   int  // of the fixed part; set by Resolve
	Open   bool // bytes behind the fixed part belong to it; set by Resolve
	Form   bool // another form of a struct that is declared under the same name

	// Shorter are the sizes that older releases send.
	Shorter []int

	// Detect finds the byte order from the struct's own bytes, given the
	// order around it; nil: Order rules.
	Detect func(b []byte, big bool) bool

	// Summarize appends a short description, shown beside the struct's name.
	Summarize func(v *View, dst []byte) []byte

	resolved bool
	placed   bool                              // all offsets are known
	runs     atomic.Pointer[[]Run]             // made when a message has the struct
	byName   atomic.Pointer[map[string]*Field] // made when the first field is read by its name
}

// Resolve works out the offsets of the fields, and resolves the names that conditions and
// counts refer to.
func (s *Struct) Resolve() *Struct {
	if s.resolved {
		return s
	}
	s.resolved = true
	for i := 0; i < len(s.Fields); i++ {
		if all := s.Fields[i].all(); all != nil {
			s.Fields = slices.Concat(s.Fields[:i], all, s.Fields[i+1:])
		}
	}
	fixed := true
	for _, f := range s.Fields {
		fixed = s.place(f.Resolve(), fixed)
	}
	s.resolve()
	s.placed = true
	return s
}

// place computes the offset of a field, after the ones before it or over one of
// them. It reports whether the next field still has a fixed offset.
func (s *Struct) place(f *Field, fixed bool) bool {
	switch {
	case f.over != "":
		f.Off = s.Field(f.over).Off
		if fixed && f.Off+f.Size > s.Size {
			s.Size = f.Off + f.Size
		}
		return fixed
	case f.at > 0:
		f.Off = f.at
		if f.Off+f.Size > s.Size {
			s.Size = f.Off + f.Size
		}
		return fixed
	case !fixed || f.afterPrevious:
		f.Off = -1
		s.Open = true
		return false
	}
	f.Off = s.Size
	if f.Kind == Virtual || f.Locate != nil {
		return fixed
	}
	s.Size += f.Size
	if f.Size == 0 || f.Kind == Record && f.Type.Open {
		s.Open = true
		return false
	}
	return true
}

func (s *Struct) resolve() {
	for _, f := range s.Fields {
		if c := f.Case; c != nil {
			c.resolve(s)
			f.ownRules().If = func(v *View) bool { return c.Holds(v.Struct, v.Big) }
		}
		f.Direct = f.direct()
		if s.Atom == Plain {
			f.mustHaveClass(s.Name)
		}
		if f.CountBy != "" {
			f.count = s.Field(f.CountBy)
		}
		for i := range f.When {
			c := &f.When[i]
			c.word, c.mask = s.Field(c.Field), 0
			if c.word.Names == nil {
				panic(fmt.Sprintf("%s.%s: When{%q, …}: the field %s has no names of its bits", s.Name, f.Name, c.Field, c.Field))
			}
			for _, b := range c.Bits {
				mask, ok := c.word.Names.bit(b)
				if !ok {
					panic(fmt.Sprintf("%s.%s: When{%q, …}: %s has no bit %s", s.Name, f.Name, c.Field, c.word.Names.Group, b))
				}
				c.mask |= mask
			}
		}
	}
}

// Runs returns, for each field, the Direct fields that begin with it.
func (s *Struct) Runs() []Run {
	if r := s.runs.Load(); r != nil {
		return *r
	}
	r := runs(s.Fields)
	s.runs.Store(&r)
	return r
}

// WithFields returns another form of the struct, under the same name, with other fields.
func (s *Struct) WithFields(doc string, fields []*Field) *Struct {
	return &Struct{Name: s.Name, Doc: doc, Since: s.Since, Order: s.Order, Atom: s.Atom, Fields: fields,
		Shorter: s.Shorter, Detect: s.Detect, Summarize: s.Summarize, Form: true}
}

// With returns a form of the struct in which some fields are replaced by others of the same name
// and size.
func (s *Struct) With(doc string, fields ...*Field) *Struct {
	t := s.WithFields(doc, slices.Clone(s.Fields))
	for _, f := range fields {
		t.Fields[slices.IndexFunc(t.Fields, func(old *Field) bool { return old.Name == f.Name })] = f
	}
	return t
}

// Overlays reports whether the field lies over others of its struct.
func (f *Field) Overlays() bool { return f.over != "" || f.at > 0 }

// Lookup finds a field by name.
func (s *Struct) Lookup(name string) (*Field, bool) {
	if !s.placed {
		i := slices.IndexFunc(s.Fields, func(f *Field) bool { return f.Name == name })
		if i < 0 {
			return nil, false
		}
		return s.Fields[i], true
	}
	m := s.byName.Load()
	if m == nil {
		fields := make(map[string]*Field, len(s.Fields))
		for _, f := range slices.Backward(s.Fields) {
			fields[f.Name] = f // the first of a name counts
		}
		m = &fields
		s.byName.Store(m)
	}
	f, ok := (*m)[name]
	return f, ok
}

// Field is the field of that name; it panics when the struct has none: the
// tables are wrong. TestNamesInCode finds that in code.
func (s *Struct) Field(name string) *Field {
	f, ok := s.Lookup(name)
	if !ok {
		panic(fmt.Sprintf("struct %s has no field %s", s.Name, name))
	}
	return f
}

// Big reports whether the integers of the struct at b are big-endian; big is the
// order of the enclosing struct.
func (s *Struct) Big(b []byte, big bool) bool {
	if s.Detect != nil {
		return s.Detect(b, big)
	}
	return s.Order.Is(big)
}

// Elements is the number of elements the field holds according to the fields
// before it; -1: as many as there is room for.
func (f *Field) Elements(v *View) int {
	switch {
	case f.count != nil:
		return int(f.count.Uint(v.Struct, v.Big) & 0x7fffffff)
	case f.CountOf != nil:
		return f.CountOf(v)
	case f.Kind == Array:
		return f.Count
	}
	return -1
}
