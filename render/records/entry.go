package records

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
)

// Entry describes a name that lshark defines itself, for explain and for lists
// of names: a key, a code or a column of a table.
type Entry struct {
	Kind  EntryKind
	Name  string // as in filters
	Path  string // of a key: inside its record
	Of    string // the kind of record, the list of codes, or the table
	Type  Type
	Unit  Unit
	Names *schema.Names
	Doc   string
	JSON  Presence
	List  bool

	InFilters bool // -Y and -e know the key
}

// EntryKind is what an Entry describes.
type EntryKind string

// The kinds of entries.
const (
	KeyEntry    EntryKind = "key"
	CodeEntry   EntryKind = "code"   // a word for scripts
	ColumnEntry EntryKind = "column" // its type is that of the key that it shows
)

// TypeText returns the type in words, such as number or list of text. It is
// empty for a code.
func (e *Entry) TypeText() string {
	switch {
	case e.Kind == CodeEntry:
		return ""
	case e.List:
		return "list of " + e.Type.String()
	}
	return e.Type.String()
}

// Entries lists the keys of a table. Those inside an object follow it.
func (t *Table[R]) Entries() []Entry {
	return appendEntries(nil, Entry{Kind: KeyEntry, Of: t.Record, InFilters: t.InFilters}, t.Prefix, t.Keys())
}

// appendEntries appends the entries of keys inside the one that around
// describes.
func appendEntries[R any](list []Entry, around Entry, prefix string, keys []*Key[R]) []Entry {
	for _, k := range keys {
		e := around
		if e.Path != "" {
			e.Path += "."
		}
		e.Path += k.Name
		e.Name = prefix + e.Path
		e.Type, e.Unit, e.Names, e.Doc, e.JSON, e.List = k.Type, k.Unit, k.Names, k.Doc, k.JSON, around.List || k.Len != nil
		list = appendEntries(append(list, e), e, prefix, k.Parts)
	}
	return list
}

// All lists the keys of all kinds of records, and the codes.
func All() []Entry {
	var list []Entry
	for _, t := range tables {
		if list = append(list, t.Entries()...); t.Record == Messages.Record {
			list = append(list, structName)
		}
	}
	return append(list, codes()...)
}

// structName is the key of objects in the sections of messages.
var structName = Entry{Kind: KeyEntry, Name: "_struct", Path: "_struct", Of: "record", Type: Text, JSON: Omit,
	Doc: "in an object that can be one of several structs: which one it is"}

// Named lists the entries with a name, in upper or lower case. A key inside
// another one is also found by its own name when no key has that name as a
// whole.
func Named(all []Entry, name string) (list []Entry) {
	inner := "." + strings.ToLower(name)
	whole := slices.ContainsFunc(all, func(e Entry) bool { return e.Kind == KeyEntry && e.is(name) })
	for i := range all {
		if e := &all[i]; e.is(name) || !whole && strings.HasSuffix(strings.ToLower(e.Path), inner) {
			list = append(list, *e)
		}
	}
	return list
}

// is reports whether a name is that of the entry, in upper or lower case.
func (e *Entry) is(name string) bool {
	return strings.EqualFold(e.Name, name) || strings.EqualFold(e.Path, name)
}
