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
	places atomic.Pointer[places]            // made at the first search
	byName atomic.Pointer[map[string]*Value] // made when the first value is read by its name
}

// places are where the values of a group are in Values.
type places struct {
	dense   []int16        // of enumerations, where values are small: one more than the place, by value
	byValue map[uint64]int // of enumerations, where values are large and many
	bits    []int16        // of flags, by bit; nil when flags are more than single bits
}

// maxDense is the largest value of enumerations that are kept in a slice.
const maxDense = 1 << 11

// maxSearched is the largest number of values of enumerations that are searched one by
// one.
const maxSearched = 12

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

// singleBits finds the flag of each bit, when each flag is one bit.
func (n *Names) singleBits() []int16 {
	places := make([]int16, 64)
	for i := range places {
		places[i] = -1
	}
	for i := range n.Values {
		v := &n.Values[i]
		if v.Alias || v.Value == 0 {
			continue
		}
		bit := bits.TrailingZeros64(v.Value)
		if v.Bits() != v.Value || v.Value != 1<<bit || places[bit] >= 0 {
			return nil
		}
		places[bit] = int16(i)
	}
	return places
}

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

func (n *Names) search() *places {
	if p := n.places.Load(); p != nil {
		return p
	}
	p := new(places)
	if n.Flags {
		p.bits = n.singleBits()
	} else {
		p.index(n.Values)
	}
	n.places.Store(p)
	return p
}

// index finds the places of the values of an enumeration. Few large values need none:
// they are searched one by one.
func (p *places) index(values []Value) {
	most := uint64(0)
	for i := range values {
		most = max(most, values[i].Value)
	}
	switch {
	case most < maxDense:
		p.dense = make([]int16, most+1)
	case len(values) > maxSearched:
		p.byValue = make(map[uint64]int, len(values))
	default:
		return
	}
	for i, v := range slices.Backward(values) {
		switch {
		case v.Alias:
		case p.dense != nil:
			p.dense[v.Value] = int16(i + 1)
		default:
			p.byValue[v.Value] = i
		}
	}
}

// place finds a value of an enumeration among Values.
func (n *Names) place(v uint64) (int, bool) {
	if n.Flags {
		return 0, false
	}
	switch p := n.search(); {
	case p.dense != nil:
		if v >= uint64(len(p.dense)) {
			return 0, false
		}
		i := int(p.dense[v])
		return i - 1, i > 0
	case p.byValue != nil:
		i, ok := p.byValue[v]
		return i, ok
	}
	for i := range n.Values {
		if have := &n.Values[i]; have.Value == v && !have.Alias {
			return i, true
		}
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
	if single := n.search().bits; single != nil {
		for ; word != 0; word &= word - 1 {
			bit := bits.TrailingZeros64(word)
			if i := single[bit]; i >= 0 {
				f(&n.Values[i])
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
