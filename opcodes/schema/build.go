package schema

import (
	"fmt"
	"slices"
)

// The constructors take their options in any order: a *Names, a Format, an
// Order, a Since, an Over, an At, a Tagged, a CountBy, a Cond, a func of one of Field's types,
// or a string, which is the field's one-line meaning.

// U8 is an unsigned byte.
func U8(name string, opts ...any) *Field { return number(name, Uint, 1, opts) }

// U16 is an unsigned integer of 2 bytes.
func U16(name string, opts ...any) *Field { return number(name, Uint, 2, opts) }

// U24 is an unsigned integer of 3 bytes.
func U24(name string, opts ...any) *Field { return number(name, Uint, 3, opts) }

// U32 is an unsigned integer of 4 bytes.
func U32(name string, opts ...any) *Field { return number(name, Uint, 4, opts) }

// U48 is an unsigned integer of 6 bytes.
func U48(name string, opts ...any) *Field { return number(name, Uint, 6, opts) }

// U64 is an unsigned integer of 8 bytes.
func U64(name string, opts ...any) *Field { return number(name, Uint, 8, opts) }

// S32 is a signed integer of 4 bytes.
func S32(name string, opts ...any) *Field { return number(name, Int, 4, opts) }

// S64 is a signed integer of 8 bytes.
func S64(name string, opts ...any) *Field { return number(name, Int, 8, opts) }

// Pad is padding of size bytes, or of as many as a CountOf returns when
// size is zero. It is shown only when it is not zero.
func Pad(name string, size int, opts ...any) *Field {
	f := newField(name, Uint, size, opts)
	if size > 8 || size == 0 {
		f.Kind = Bytes
	}
	f.Format, f.Pad = Hex, true
	f.Style = style(f.Kind, f.Format)
	return f
}

// Pads is padding that is an array of n integers of size bytes.
func Pads(name string, n, size int, opts ...any) *Field {
	f := Arr(name, n, newField("", Uint, size, []any{Hex}), opts...)
	f.Pad = true
	return f
}

// Opaque is size bytes, or all bytes up to the end of the buffer when size is
// zero.
func Opaque(name string, size int, opts ...any) *Field { return newField(name, Bytes, size, opts) }

// Str is a string in size bytes, or up to the end of the buffer when size is
// zero.
func Str(name string, size int, opts ...any) *Field { return newField(name, Text, size, opts) }

// Strs is a list of strings with a NUL behind each, up to the end of the
// buffer.
func Strs(name string, opts ...any) *Field { return newField(name, Strings, 0, opts) }

// Sub is a struct, inside another one or filling a buffer.
func Sub(name string, s *Struct, opts ...any) *Field {
	f := newField(name, Record, s.Size, opts)
	f.Type = s
	if f.Format == Plain {
		f.Format = s.Atom
	}
	return f
}

// Arr is an array of n elements, or up to the end of the buffer when n is
// negative; with a CountBy or CountOf it has that many elements.
func Arr(name string, n int, elem *Field, opts ...any) *Field {
	f := newField(name, Array, 0, opts)
	f.Elem, f.Count = elem, n
	if n > 0 {
		f.Size = n * elem.Size
	}
	elem.Off = 0
	elem.Direct = elem.direct() && len(elem.When) == 0 && !elem.hasFunc()
	return f
}

// Records is a list of records of different types and lengths, which step
// returns. An option of type []*Field lists the possible types.
func Records(name string, step func(*View) (*Field, int), opts ...any) *Field {
	f := newField(name, List, 0, opts)
	f.ownRules().Step = step
	return f
}

// OneOf is a union: choose returns the member in use, one of options, or nil
// when it is unknown.
func OneOf(name string, choose func(*View) *Field, options []*Field, opts ...any) *Field {
	f := newField(name, Union, 0, opts)
	r := f.ownRules()
	r.Choose, r.Options = choose, options
	r.named = make([]Field, len(options))
	for i, o := range options {
		f.Size = max(f.Size, o.Size)
		r.named[i] = f.rename(o)
	}
	return f
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

// Rest makes a union take all bytes up to the end of its buffer.
func (f *Field) Rest() *Field { f.Size = 0; return f }

// Msgs is a lustre_msg inside another message.
func Msgs(name string, opts ...any) *Field { return newField(name, Message, 0, opts) }

// Derived is text composed from other fields.
func Derived(name string, derive func(v *View, dst []byte) []byte, opts ...any) *Field {
	f := newField(name, Virtual, 0, opts)
	f.ownRules().Derive = derive
	return f
}

// If leaves a field out of a message where the func returns false.
type If func(v *View) bool

// ValidIf makes a field valid where the func returns true, even without the
// bits of its conditions.
type ValidIf func(v *View) bool

// InvalidIf makes a field invalid where the func returns true.
type InvalidIf func(v *View) bool

// Remark adds text behind the value in trees.
type Remark func(v *View, dst []byte) []byte

// CountOf computes the number of elements of an array, or of bytes.
type CountOf func(v *View) int

func number(name string, k Kind, size int, opts []any) *Field {
	return newField(name, k, size, opts)
}

func newField(name string, k Kind, size int, opts []any) *Field {
	f := &Field{Name: name, Kind: k, Size: size, Key: `,"` + name + `":`, Rules: &noRules}
	f.set(opts)
	return f
}

// Copy returns a copy of the field with more options.
func (f *Field) Copy(opts ...any) *Field {
	c := *f
	c.copyRules()
	c.set(opts)
	return &c
}

// copyRules makes a copied field independent of the original.
func (f *Field) copyRules() {
	if f.Rules != &noRules {
		r := *f.Rules
		f.Rules = &r
	}
}

func (f *Field) set(opts []any) {
	for _, o := range opts {
		switch o := o.(type) {
		case string:
			f.Doc = o
		case *Names:
			f.Names = o
		case Format:
			f.Format = o
		case Order:
			f.Order = o
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
		case Cond:
			f.ownRules().When = append(f.When, o)
		case If:
			f.ownRules().If = o
		case Case:
			f.ownRules().Case = &o
		case ValidIf:
			f.ownRules().ValidIf = o
		case InvalidIf:
			f.ownRules().InvalidIf = o
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
		default:
			panic(fmt.Sprintf("field %s: option of type %T", f.Name, o))
		}
	}
	f.Style = style(f.Kind, f.Format)
}
