package opcodes

import (
	"fmt"
	"sort"
	"strings"
)

// Names are the names of the values of a field (an enumeration) or of its bits
// (a flag word).
type Names struct {
	Group  string // the group's name, as in obd_connect_flags
	Doc    string
	Prefix string // what all full names begin with; Value.Name goes without
	Flags  bool
	Values []Value

	byValue map[uint64]int
}

// Value is a named value, bit, or value of a part of a flag word.
type Value struct {
	Name  string // without the group's prefix
	Value uint64
	Mask  uint64 // of flags: the bits to compare, as a rule Value itself
	Since Since
	Doc   string
	Alias bool // another name of a value that has one, for input only
}

// Bits declares the names of a flag word.
func Bits(group, prefix, doc string, values []Value) *Names {
	n := &Names{Group: group, Prefix: prefix, Doc: doc, Flags: true, Values: values}
	for i := range n.Values {
		if n.Values[i].Mask == 0 {
			n.Values[i].Mask = n.Values[i].Value
		}
	}
	sort.SliceStable(n.Values, func(i, j int) bool { return n.Values[i].Mask < n.Values[j].Mask })
	return n
}

// Enum declares the names of a field's values.
func Enum(group, prefix, doc string, values []Value) *Names {
	n := &Names{Group: group, Prefix: prefix, Doc: doc, Values: values, byValue: make(map[uint64]int, len(values))}
	for i, v := range values {
		if _, known := n.byValue[v.Value]; !known && !v.Alias {
			n.byValue[v.Value] = i
		}
	}
	return n
}

// Name is the name of a value of an enumeration, empty when it has none.
func (n *Names) Name(v uint64) string {
	if i, ok := n.byValue[v]; ok {
		return n.Values[i].Name
	}
	return ""
}

// Full is the name of a value with its prefix.
func (n *Names) Full(v Value) string { return n.Prefix + v.Name }

// Find looks a value up by its short or full name, letters of either case.
func (n *Names) Find(name string) (Value, bool) {
	for _, v := range n.Values {
		if strings.EqualFold(v.Name, name) || strings.EqualFold(n.Prefix+v.Name, name) {
			return v, true
		}
	}
	return Value{}, false
}

// Bit is the mask of a flag by its short name; the tables are wrong when there
// is none.
func (n *Names) Bit(name string) uint64 {
	for _, v := range n.Values {
		if v.Name == name {
			return v.Mask
		}
	}
	panic(fmt.Sprintf("%s has no bit %s", n.Group, name))
}

// Set calls f for each flag of the word, in bit order, and returns the bits
// that have no name.
func (n *Names) Set(word uint64, f func(*Value)) (rest uint64) {
	rest = word
	for i := range n.Values {
		v := &n.Values[i]
		if v.Alias || v.Mask == 0 || v.Value == 0 || word&v.Mask != v.Value || rest&v.Mask == 0 {
			continue
		}
		rest &^= v.Mask
		f(v)
	}
	return rest
}
