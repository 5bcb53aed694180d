package records

import (
	"slices"
	"strings"
)

// Table is the keys of a kind of record, in the order of its JSON.
type Table[R any] struct {
	Record  string           // the kind: record (a message), rpc, stats row, import
	Keys    func() []*Key[R] // made when they are first asked for
	Command string           // that shows the records; empty: lshark without a command
	Trims   bool             // JSON has durations without zeros at the end
	Name    string           // of the table in databases; empty: it is in none

	// InFilters is set when -Y and -e know the keys. Prefix is put before them
	// in -Y.
	InFilters bool
	Prefix    string
}

// With returns the table with further keys behind its own.
func (t Table[R]) With(keys ...*Key[R]) *Table[R] { return t.Only(slices.Concat(t.Keys(), keys)) }

// Only returns the table with these keys in place of its own.
func (t Table[R]) Only(keys []*Key[R]) *Table[R] {
	t.Keys = func() []*Key[R] { return keys }
	return &t
}

// erased returns the table for those who need the keys and not their values.
func (t *Table[R]) erased() *Table[any] {
	none := func(any, int) (r R, ok bool) { return r, false }
	return &Table[any]{Record: t.Record, Command: t.Command, Name: t.Name, InFilters: t.InFilters, Prefix: t.Prefix,
		Keys: func() []*Key[any] { return inner(none, t.Keys()) }}
}

// tables are those of all kinds of records. Of those of one command, the first is that of the
// records that it shows without further flags.
var tables = []*Table[any]{Messages.erased(), RPCs.erased(), Rows.erased(), HostPaths.erased(), Imports.erased(), ImportEvents.erased(),
	Locks.erased(), Holders.erased(), Files.erased(), Directories.erased(), Recoveries.erased(), Configuration.erased(), Findings.erased(),
	Changes.erased(), ConnectionChanges.erased(), ClientDifferences.erased(), Arrows.erased(), LogLines.erased()}

// Add adds a kind of record that is declared outside of this package, beside the command that shows it.
func Add[R any](t Table[R]) *Table[R] {
	tables = append(tables, t.erased())
	return &t
}

// Kinds lists all kinds of records, without their values.
func Kinds() []*Table[any] { return tables }

// Path is a key with the list that it is in.
type Path[R any] struct {
	Key  *Key[R]
	list *Key[R] // the key itself or the one around it that is a list
}

// Find finds a key by its path: the names of the keys around it and its own,
// joined by dots.
func (t *Table[R]) Find(path string) (p Path[R], ok bool) {
	keys := t.Keys()
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

func find[R any](keys []*Key[R], name string) *Key[R] {
	for _, k := range keys {
		if k.Name == name {
			return k
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
	return p.Key.Read(r, i, v)
}
