package parquet

import "slices"

// Type is the type of a field.
type Type uint8

const (
	Group Type = iota // a group of fields
	List              // a group that holds a list; see ListOf
	Map               // a group that holds a map; see MapOf
	Int64
	Uint64
	Boolean
	Double
	String    // UTF-8
	Timestamp // microseconds since the epoch, UTC
)

// Repetition is how often a field occurs in the group that it is in.
type Repetition uint8

// The numbers are those of the format.
const (
	Required Repetition = iota // once
	Optional                   // once or not at all
	Repeated                   // any number of times
)

// Field is a field of a schema.
type Field struct {
	Name       string
	Type       Type
	Repetition Repetition
	Fields     []Field // of a group
}

// ListOf returns an optional field that holds a list. The name of element does not
// matter.
func ListOf(name string, element Field) Field {
	element.Name = "element"
	list := Field{Name: "list", Repetition: Repeated, Fields: []Field{element}}
	return Field{Name: name, Type: List, Repetition: Optional, Fields: []Field{list}}
}

// MapOf returns an optional field that holds a map. It has two leaves: the keys and
// the values, which are required.
func MapOf(name string, key, value Type) Field {
	entry := Field{Name: "key_value", Repetition: Repeated, Fields: []Field{{Name: "key", Type: key}, {Name: "value", Type: value}}}
	return Field{Name: name, Type: Map, Repetition: Optional, Fields: []Field{entry}}
}

// Leaf is a field that has values, not fields.
type Leaf struct {
	Path          []string // names of the fields, from the outermost
	Type          Type
	MaxRepetition int // number of repeated fields in the path
	MaxDefinition int // number of optional and repeated fields in the path: the definition level of a value
}

// Leaves returns the leaves of a schema in the order of its fields.
func Leaves(fields []Field) []Leaf { return appendLeaves(nil, Leaf{}, fields) }

// appendLeaves appends the leaves of the fields of a group. group has the path and the
// levels of the group.
func appendLeaves(leaves []Leaf, group Leaf, fields []Field) []Leaf {
	for i := range fields {
		f := &fields[i]
		leaf := Leaf{append(slices.Clip(group.Path), f.Name), f.Type, group.MaxRepetition, group.MaxDefinition}
		if f.Repetition != Required {
			leaf.MaxDefinition++
		}
		if f.Repetition == Repeated {
			leaf.MaxRepetition++
		}
		if f.Type.isGroup() {
			leaves = appendLeaves(leaves, leaf, f.Fields)
		} else {
			leaves = append(leaves, leaf)
		}
	}
	return leaves
}

func (t Type) isGroup() bool { return t <= Map }

// physical are the numbers of the physical types of leaves.
var physical = [...]int{Int64: 2, Uint64: 2, Boolean: 0, Double: 5, String: 6, Timestamp: 2}

// logical are the logical types: the id of their struct in the schema, 0 for none, and what the
// converted type says for old readers.
var logical = [...]struct{ id, converted int }{String: {1, 0}, Map: {2, 1}, List: {3, 3}, Timestamp: {8, 10}, Uint64: {10, 14}}

// appendSchema appends the elements of a schema: the root, and its fields, each before
// its own fields.
func appendSchema(e *encoder, root string, fields []Field) {
	e.list(2, typeStruct, countFields(fields)+1)
	e.begin()
	e.string(4, root)
	e.int32(5, len(fields))
	e.end()
	appendFields(e, fields)
}

func countFields(fields []Field) int {
	n := len(fields)
	for i := range fields {
		n += countFields(fields[i].Fields)
	}
	return n
}

func appendFields(e *encoder, fields []Field) {
	for i := range fields {
		f := &fields[i]
		e.begin()
		if !f.Type.isGroup() {
			e.int32(1, physical[f.Type])
		}
		e.int32(3, int(f.Repetition))
		e.string(4, f.Name)
		if f.Type.isGroup() {
			e.int32(5, len(f.Fields))
		}
		appendType(e, f.Type)
		e.end()
		appendFields(e, f.Fields)
	}
}

func appendType(e *encoder, t Type) {
	if int(t) >= len(logical) || logical[t].id == 0 {
		return
	}
	e.int32(6, logical[t].converted)
	e.beginField(10)
	e.beginField(logical[t].id)
	switch t {
	case Timestamp:
		e.bool(1, true) // UTC
		e.beginField(2)
		e.beginField(2) // microseconds
		e.end()
		e.end()
	case Uint64:
		e.field(1, typeByte)
		e.buf = append(e.buf, 64) // bits
		e.bool(2, false)          // unsigned
	}
	e.end()
	e.end()
}
