package records

import (
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
)

// Key is a key of records of the type R.
type Key[R any] struct {
	Name  string
	Type  Type
	Unit  Unit
	Names *schema.Names // of the values of an Enum, Flags or Status
	Doc   string
	JSON  Presence

	// Get reads the value and reports whether the record has one. It may be nil
	// for an object that every record has.
	Get func(r R, v *Value) bool

	// Len returns the length of a list, At reads its i-th element. Len is nil
	// for other keys. The parts of a list of objects have At instead of Get. At
	// of a list of objects reads the short form that filters and -e show.
	Len func(r R) int
	At  func(r R, i int, v *Value) bool

	Parts []Key[R]
}

// Presence is how JSON shows a key without a value.
type Presence uint8

// The presences.
const (
	Null   Presence = iota // null, and [] for a list
	Omit                   // the key is left out
	Hidden                 // the key is not in JSON at all; only filters and -e have it
)

// Read reads the value of a key and reports whether there is one: in the i-th
// element of the list around it, or in the record when i is negative.
func (k *Key[R]) Read(r R, i int, v *Value) bool {
	v.Type, v.Names = k.Type, k.Names
	if i < 0 {
		return k.Get == nil || k.Get(r, v)
	}
	return k.At == nil || k.At(r, i, v)
}

// Table is the keys of a kind of record, in the order of its JSON.
type Table[R any] struct {
	Record string // the kind: record (a message), rpc, stats row, import
	Keys   []Key[R]

	// InFilters is set when -Y and -e know the keys. Prefix is put before them
	// in -Y.
	InFilters bool
	Prefix    string
}

// Path is a key with the list that it is in.
type Path[R any] struct {
	Key  *Key[R]
	list *Key[R] // the key itself or the one around it that is a list
}

// Find finds a key by its path: the names of the keys around it and its own,
// joined by dots.
func (t *Table[R]) Find(path string) (p Path[R], ok bool) {
	keys := t.Keys
	for {
		name, rest, inside := strings.Cut(path, ".")
		k := find(keys, name)
		if k == nil {
			return p, false
		}
		p.Key = k
		if k.Len != nil {
			p.list = k
		}
		if !inside {
			return p, true
		}
		keys, path = k.Parts, rest
	}
}

func find[R any](keys []Key[R], name string) *Key[R] {
	for i := range keys {
		if keys[i].Name == name {
			return &keys[i]
		}
	}
	return nil
}

// IsList reports whether a record may have several values of the key.
func (p *Path[R]) IsList() bool { return p.list != nil }

// Len returns how many values a record may have of the key: 1, or the length
// of the list.
func (p *Path[R]) Len(r R) int {
	if p.list == nil {
		return 1
	}
	return p.list.Len(r)
}

// Value reads the i-th value and reports whether there is one.
func (p *Path[R]) Value(r R, i int, v *Value) bool {
	if p.list == nil {
		i = -1
	}
	return p.Key.Read(r, i, v)
}
