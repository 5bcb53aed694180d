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
	Size   int  // of the fixed part
	Open   bool // bytes behind the fixed part belong to it

	// Shorter are the sizes that older releases send.
	Shorter []int

	// Detect finds the byte order from the struct's own bytes, given the
	// order around it; nil: Order rules.
	Detect func(b []byte, big bool) bool

	// Summarize appends a short description, shown beside the struct's name.
	Summarize func(v *View, dst []byte) []byte

	runs atomic.Pointer[[]Run] // made when a message has the struct
}

// Shorter are the sizes of a struct in older releases.
type Shorter []int

// Detect finds the byte order of a struct from its bytes.
type Detect func(b []byte, big bool) bool

// Summarize appends a short description of a struct.
type Summarize func(v *View, dst []byte) []byte

// NewStruct makes a struct of fields and options (an Order, a Since, a Format when
// the struct is one value, Shorter, Detect, Summarize, or a string, its meaning), works out the offsets and
// resolves the names that conditions and counts refer to.
func NewStruct(name string, parts ...any) *Struct {
	s := &Struct{Name: name, Fields: make([]*Field, 0, len(parts))}
	fixed := true
	for _, p := range parts {
		switch p := p.(type) {
		case *Field:
			fixed = s.place(p, fixed)
		case Order:
			s.Order = p
		case Since:
			s.Since = p
		case Format:
			s.Atom = p
		case string:
			s.Doc = p
		case Shorter:
			s.Shorter = p
		case Detect:
			s.Detect = p
		case Summarize:
			s.Summarize = p
		default:
			panic(fmt.Sprintf("struct %s: part of type %T", name, p))
		}
	}
	s.resolve()
	return s
}

// place computes the offset of a field, after the ones before it or over one of
// them. It reports whether the next field still has a fixed offset.
func (s *Struct) place(f *Field, fixed bool) bool {
	s.Fields = append(s.Fields, f)
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
		if f.CountBy != "" {
			f.count = s.Field(f.CountBy)
		}
		for i := range f.When {
			c := &f.When[i]
			c.word = s.Field(c.Field)
			for _, b := range c.Bits {
				c.mask |= c.word.Names.Bit(b)
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

// With returns a copy of the struct, under the same name, in which some fields
// are replaced by others of the same name and size.
func (s *Struct) With(doc string, fields ...*Field) *Struct {
	t := &Struct{Name: s.Name, Doc: doc, Since: s.Since, Order: s.Order, Atom: s.Atom, Fields: slices.Clone(s.Fields), Size: s.Size,
		Open: s.Open, Shorter: s.Shorter, Detect: s.Detect, Summarize: s.Summarize}
	for _, f := range fields {
		for i, old := range s.Fields {
			if old.Name == f.Name {
				f.Off = old.Off
				t.Fields[i] = f
			}
		}
	}
	t.resolve()
	return t
}

// Overlays reports whether the field lies over others of its struct.
func (f *Field) Overlays() bool { return f.over != "" || f.at > 0 }

// Lookup finds a field by name.
func (s *Struct) Lookup(name string) (*Field, bool) {
	for _, f := range s.Fields {
		if f.Name == name {
			return f, true
		}
	}
	return nil, false
}

// Field is the field of that name; it panics when the struct has none: the
// tables are wrong.
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
