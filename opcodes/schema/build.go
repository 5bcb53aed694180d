package schema

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// The constructors take their options in any order: the address of a *Names, a Format, an
// Order, a Class, a Since, an Over, an At, a Tagged, a CountBy, a When, a func of one of Field's types,
// or a string, which is the field's one-line meaning.
//
// They only note what they are given, so that the linker can place declarations as data,
// which cost nothing at the start of the program. For that a constructor is one composite
// literal so small that the compiler inlines it into the largest of funcs, and its arguments
// have no call inside, and no func literal: a field with one is made at the start, by two or
// three allocations. Field.Resolve does the rest.

// U8 is an unsigned byte.
func U8(name string, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Uint, Size: 1, options: options}
}

// U16 is an unsigned integer of 2 bytes.
func U16(name string, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Uint, Size: 2, options: options}
}

// U24 is an unsigned integer of 3 bytes.
func U24(name string, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Uint, Size: 3, options: options}
}

// U32 is an unsigned integer of 4 bytes.
func U32(name string, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Uint, Size: 4, options: options}
}

// U48 is an unsigned integer of 6 bytes.
func U48(name string, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Uint, Size: 6, options: options}
}

// U64 is an unsigned integer of 8 bytes.
func U64(name string, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Uint, Size: 8, options: options}
}

// S32 is a signed integer of 4 bytes.
func S32(name string, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Int, Size: 4, options: options}
}

// S64 is a signed integer of 8 bytes.
func S64(name string, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Int, Size: 8, options: options}
}

// Opaque is size bytes, or all bytes up to the end of the buffer when size is
// zero.
func Opaque(name string, size int, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Bytes, Size: size, options: options}
}

// Str is a string in size bytes, or up to the end of the buffer when size is
// zero.
func Str(name string, size int, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Text, Size: size, options: options}
}

// Strs is a list of strings with a NUL behind each, up to the end of the
// buffer.
func Strs(name string, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Strings, options: options}
}

// Msgs is a lustre_msg inside another message.
func Msgs(name string, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Message, options: options}
}

// Pad is padding of size bytes, or of as many as a CountOf returns when
// size is zero. It is shown only when it is not zero.
func Pad(name string, size int, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Uint, Size: size, Pad: true, options: options}
}

// Padding is several fields of padding, of these sizes. Their names are the prefix and a
// number, from first on.
func Padding(prefix string, first int, sizes ...int) *Field {
	return &Field{Name: prefix, Off: unresolved, Rules: &Rules{several: &several{first: first, sizes: sizes}}}
}

// Like is the first n fields of another struct, whose names have another prefix there.
func Like(s **Struct, n int, there, prefix string) *Field {
	return &Field{Name: prefix, Off: unresolved, declared: s, Rules: &Rules{several: &several{n: n, there: there}}}
}

// several is what a field that stands for several ones makes of itself.
type several struct {
	first int // number of the first one
	sizes []int
	n     int
	there string // prefix
}

// all returns the fields that a field stands for, nil when it is one field.
func (f *Field) all() (list []*Field) {
	if f.Rules == nil || f.several == nil {
		return nil
	}
	for i, size := range f.several.sizes {
		list = append(list, Pad(f.Name+strconv.Itoa(f.several.first+i), size))
	}
	if f.declared != nil {
		for _, there := range (*f.declared).Fields[:f.several.n] {
			c := there.Copy()
			c.Name = f.Name + strings.TrimPrefix(there.Name, f.several.there)
			c.Key = `,"` + c.Name + `":`
			list = append(list, c)
		}
	}
	return list
}

// Pads is padding that is an array of n integers of size bytes.
func Pads(name string, n, size int, options ...any) *Field {
	return &Field{Name: name, Off: unresolved, Kind: Array, Count: n, Pad: true, options: options,
		Elem: &Field{Kind: Uint, Size: size, Format: Hex}}
}

// Sub is a struct, inside another one or filling a buffer. It takes the address of the
// variable that has the struct, which is known before the struct is, as does an option for names.
func Sub(name string, s **Struct, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Record, declared: s, options: options}
}

// Arr is an array of n elements, or up to the end of the buffer when n is
// negative; with a CountBy or CountOf it has that many elements.
func Arr(name string, n int, elem *Field, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Array, Elem: elem, Count: n, options: options}
}

// Subs is an array of n structs, as Arr.
func Subs(name string, n int, s **Struct, options ...any) *Field {
	return &Field{Name: name, Key: `,"` + name + `":`, Off: unresolved, Kind: Array, Count: n, declared: s, options: options}
}

// Records is a list of records of different types and lengths, which step
// returns. An option of type []*Field lists the possible types; a *Field is the only one, which
// explanations do not mention.
func Records(name string, step func(*View) (*Field, int), options ...any) *Field {
	return &Field{Name: name, Off: unresolved, Kind: List, options: options, Rules: &Rules{Step: step}}
}

// OneOf is a union that takes all bytes up to the end of its buffer: choose returns the
// member in use, one of forms, or nil when it is unknown.
func OneOf(name string, choose func(*View) *Field, forms []*Field, options ...any) *Field {
	return &Field{Name: name, Off: unresolved, Kind: Union, options: options, Rules: &Rules{Choose: choose, Options: forms}}
}

// Derived is text composed from other fields.
func Derived(name string, derive func(v *View, dst []byte) []byte, options ...any) *Field {
	return &Field{Name: name, Off: unresolved, Kind: Virtual, options: options, Rules: &Rules{Derive: derive}}
}

// Option is one of the union's forms under the union's name.
func (f *Field) Option(o *Field) *Field {
	if i := slices.Index(f.Options, o); i >= 0 {
		return &f.named[i]
	}
	c := f.rename(o)
	return &c
}

func (f *Field) rename(o *Field) Field {
	c := *o
	c.Name, c.Key = f.Name, f.Key
	return c
}

// If leaves a field out of a message where the func returns false.
type If func(v *View) bool

// IfNot leaves a field out of a message where the func returns true.
type IfNot func(v *View) bool

// ValidIf makes a field valid where the func returns true: one with conditions also without the bits of these,
// one without conditions only there.
type ValidIf func(v *View) bool

// Remark adds text behind the value in trees. It is not called where not all bytes of the value were captured.
type Remark func(v *View, dst []byte) []byte

// CountOf computes the number of elements of an array, or of bytes.
type CountOf func(v *View) int

// Resolve applies the options of a field that was declared, and resolves the declarations that it
// refers to. A Registry does so when the first operation is asked for.
func (f *Field) Resolve() *Field {
	if f.resolved {
		return f
	}
	f.resolved, f.Off = true, 0
	if f.Key == "" {
		f.Key = `,"` + f.Name + `":`
	}
	if f.Rules == nil {
		f.Rules = &noRules
	}
	f.set(f.options)
	switch f.Kind {
	case Uint:
		if f.Pad {
			f.Format = Hex
		}
		if f.Pad && (f.Size > 8 || f.Size == 0) {
			f.Kind = Bytes
		}
	case Record:
		if f.Type == nil {
			f.Type = *f.declared
		}
		f.Size = f.Type.Resolve().Size
		if f.Format == Plain {
			f.Format = f.Type.Atom
		}
	case Array:
		if f.Elem == nil {
			f.Elem = Sub("", f.declared)
		}
		class := f.Class
		if f.Pad {
			class = Removed
		}
		if class != Unclassified && !f.Elem.resolved {
			f.Elem.options = slices.Concat([]any{class}, f.Elem.options)
		}
		elem := f.Elem.Resolve()
		if f.Count > 0 {
			f.Size = f.Count * elem.Size
		}
		elem.Direct = elem.direct() && len(elem.When) == 0 && elem.If == nil && elem.Remark == nil && elem.ValidIf == nil
	case Union:
		f.named = make([]Field, len(f.Options))
	}
	for i, o := range f.Options {
		o.Resolve()
		if f.Kind == Union {
			f.named[i] = f.rename(o)
		}
	}
	if f.Class == Unclassified {
		f.Class = f.classOfType()
	}
	f.Style = style(f.Kind, f.Format)
	return f
}

// Copy returns a copy of the field with more options.
func (f *Field) Copy(options ...any) *Field {
	c := *f
	c.copyRules()
	if f.resolved {
		c.set(options)
		c.Style = style(c.Kind, c.Format)
	} else {
		c.options = slices.Concat(f.options, options)
	}
	return &c
}

// copyRules makes a copied field independent of the original.
func (f *Field) copyRules() {
	if f.Rules != nil && f.Rules != &noRules {
		r := *f.Rules
		f.Rules = &r
	}
}

func (f *Field) set(options []any) {
	for _, o := range options {
		switch o := o.(type) {
		case string:
			f.Doc = o
		case **Names:
			f.Names = *o
		case Format:
			f.Format = o
		case Order:
			f.Order = o
		case Class:
			f.Class = o
		case Since:
			f.ownRules().Since = o
		case Over:
			f.ownRules().over = string(o)
		case At:
			f.ownRules().at = int(o)
		case Tagged:
			f.Tagged = bool(o)
		case Negotiated:
			f.Negotiated = bool(o)
		case Shown:
			f.ownRules().Shown = &o
		case Counted:
			f.ownRules().Counted = string(o)
		case CountBy:
			f.ownRules().CountBy = string(o)
		case When:
			f.ownRules().When = append(f.When, Cond{Field: o[0], Bits: o[1:]})
		case If:
			f.ownRules().If = o
		case IfNot:
			f.ownRules().If = func(v *View) bool { return !o(v) }
		case IfValue:
			f.ownRules().Case = &Case{Field: o[0], Values: o[1:]}
		case ValidIf:
			f.ownRules().ValidIf = o
		case Remark:
			f.ownRules().Remark = o
		case CountOf:
			f.ownRules().CountOf = o
		case Locate:
			f.ownRules().Locate = o
		case AfterPrevious:
			f.ownRules().afterPrevious = bool(o)
		case []*Field:
			f.ownRules().Options = o
		case *Field:
			o.Resolve()
		default:
			panic(fmt.Sprintf("field %s: option of type %T", f.Name, o))
		}
	}
}
