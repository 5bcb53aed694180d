package schema

import (
	"cmp"
	"fmt"
	"math/bits"
	"slices"
	"sync/atomic"
)

// Names are the names of the values of a field (an enumeration) or of its bits
// (a flag word).
type Names struct {
	Group  string // the group's name, as in obd_connect_flags
	Doc    string
	Prefix string // what all full names begin with; Value.Name goes without
	Flags  bool
	Values []Value
	Mask   uint64 // the bits of the field that hold the value; 0: all
	Signed bool   // values may be negative: 1<<64 - 1 is -1

	form   bool                              // a form of a group that is declared under the same name
	places atomic.Pointer[[]int16]           // made at the first search
	byName atomic.Pointer[map[string]*Value] // made when the first value is read by its name
}

// maxDense is the largest value of enumerations whose places are kept by value.
const maxDense = 1 << 11

// Value is a named value, bit, or value of a part of a flag word.
type Value struct {
	Name  string // without the group's prefix
	Value uint64
	Mask  uint64 // of flags: the bits to compare; 0: those of Value
	Since Since
	Doc   string
	Alias bool // another name of a value that has one, for input only

	NoPrefix bool // Name is the whole name: it has not the prefix of its group
}

// Bits are the bits that a flag compares.
func (v *Value) Bits() uint64 {
	if v.Mask != 0 {
		return v.Mask
	}
	return v.Value
}

// Enum declares the names of a field's values.
func Enum(group, prefix, doc string, values []Value) *Names {
	return &Names{Group: group, Prefix: prefix, Doc: doc, Values: values}
}

// Bits declares the names of a flag word. Its values are in the order of their bits.
func Bits(group, prefix, doc string, values []Value) *Names {
	return &Names{Group: group, Prefix: prefix, Doc: doc, Values: values, Flags: true}
}

// Form returns another form of a group, with other values.
func (n *Names) Form(values []Value) *Names {
	c := &Names{Group: n.Group, Prefix: n.Prefix, Doc: n.Doc, Flags: n.Flags, form: true}
	c.Fill(values)
	return c
}

// Add adds a value to a group.
func (n *Names) Add(v Value) { n.Fill(append(n.Values, v)) }

// WithMask makes only some bits of a field select the value.
func (n *Names) WithMask(part uint64) *Names {
	n.Mask = part
	return n
}

// WithSign makes values with the highest bit negative numbers.
func (n *Names) WithSign() *Names {
	n.Signed = true
	return n
}

// HighHalf returns the names of the bits above the lowest 32, moved down by 32.
func (n *Names) HighHalf() *Names {
	var high []Value
	for _, v := range n.Values {
		if v.Value&(1<<32-1) == 0 && v.Value != 0 {
			v.Value >>= 32
			v.Mask >>= 32
			high = append(high, v)
		}
	}
	return n.Form(high)
}

// Fill sets the values of a group that was declared without them.
func (n *Names) Fill(values []Value) {
	n.Values = values
	n.places.Store(nil)
	n.byName.Store(nil)
	if n.Flags {
		slices.SortStableFunc(values, func(a, b Value) int { return cmp.Compare(a.Bits(), b.Bits()) })
	}
}

// search returns where values are in Values, counted from 1: of flags by bit, of enumerations by
// value. There is nothing where a flag is more than one bit or a value is large.
func (n *Names) search() []int16 {
	if p := n.places.Load(); p != nil {
		return *p
	}
	list := n.index()
	n.places.Store(&list)
	return list
}

func (n *Names) index() []int16 {
	list := make([]int16, 64)
	for i, v := range slices.Backward(n.Values) {
		at := v.Value
		switch {
		case v.Alias || n.Flags && at == 0:
			continue
		case n.Flags && (v.Bits() != at || at&(at-1) != 0) || !n.Flags && at > maxDense:
			return nil
		case n.Flags:
			at = uint64(bits.TrailingZeros64(at))
		}
		list = append(list, make([]int16, max(0, int(at)+1-len(list)))...)
		list[at] = int16(i + 1)
	}
	return list
}

// place finds a value of an enumeration among Values.
func (n *Names) place(v uint64) (int, bool) {
	if n.Flags {
		return 0, false
	}
	if places := n.search(); places == nil {
		i := slices.IndexFunc(n.Values, func(have Value) bool { return have.Value == v && !have.Alias })
		return i, i >= 0
	} else if v < uint64(len(places)) {
		return int(places[v]) - 1, places[v] > 0
	}
	return 0, false
}

// Name is the name of a value of an enumeration, empty when it has none.
func (n *Names) Name(v uint64) string {
	if i, ok := n.place(v); ok {
		return n.Values[i].Name
	}
	return ""
}

// DocOf is the meaning of a value of an enumeration, empty when it has no name.
func (n *Names) DocOf(v uint64) string {
	if i, ok := n.place(v); ok {
		return n.Values[i].Doc
	}
	return ""
}

// Full is the name of a value in Lustre's headers: with the prefix of the group.
func (n *Names) Full(v Value) string {
	if v.NoPrefix {
		return v.Name
	}
	return n.Prefix + v.Name
}

// Find looks a value up by its short or full name, letters of either case.
func (n *Names) Find(name string) (Value, bool) {
	if v := n.value(name); v != nil {
		return *v, true
	}
	return Value{}, false
}

// Bit is the mask of one or several flags by their short names; it panics when
// there is no such flag: the tables are wrong.
func (n *Names) Bit(names ...string) (mask uint64) {
	for _, name := range names {
		bit, ok := n.bit(name)
		if !ok {
			panic(fmt.Sprintf("%s has no bit %s", n.Group, name))
		}
		mask |= bit
	}
	return mask
}

func (n *Names) bit(name string) (mask uint64, ok bool) {
	if v := n.named(name); v != nil {
		return v.Bits(), true
	}
	return 0, false
}

// Number returns a value of an enumeration by its short name. It panics when
// there is no such value: the tables are wrong.
func (n *Names) Number(name string) uint64 {
	if v := n.named(name); v != nil {
		return v.Value
	}
	panic(fmt.Sprintf("%s has no value %s", n.Group, name))
}

// named finds a value by its short name, nil when there is none.
func (n *Names) named(name string) *Value {
	m := n.byName.Load()
	if m == nil {
		values := make(map[string]*Value, len(n.Values))
		for i := range slices.Backward(n.Values) {
			values[n.Values[i].Name] = &n.Values[i] // the first of a name counts
		}
		m = &values
		n.byName.Store(m)
	}
	return (*m)[name]
}

// Set calls f for each flag of the word, in bit order, and returns the bits
// that have no name.
func (n *Names) Set(word uint64, f func(*Value)) (rest uint64) {
	if single := n.search(); single != nil {
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word)
			if i := single[bit]; i > 0 {
				f(&n.Values[i-1])
			} else {
				rest |= 1 << bit
			}
		}
		return rest
	}
	rest = word
	for i := range n.Values {
		v := &n.Values[i]
		mask := v.Bits()
		if v.Alias || v.Value == 0 || word&mask != v.Value || rest&mask == 0 {
			continue
		}
		rest &^= mask
		f(v)
	}
	return rest
}

// AppendFlags appends the names of a word's bits with a separator, unknown bits
// as a number at the end; "0" when no bit is set.
func AppendFlags(dst []byte, names *Names, word uint64, sep string) []byte {
	start := len(dst)
	rest := names.Set(word, func(v *Value) { dst = append(append(dst, v.Name...), sep...) })
	switch {
	case rest != 0:
		return AppendHex(dst, rest)
	case len(dst) == start:
		return append(dst, '0')
	}
	return dst[:len(dst)-len(sep)]
}
