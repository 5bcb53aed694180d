package schema

import "strings"

// HeaderName is a name of Lustre's public headers that no message has: of ioctls, of files of a server, a limit.
type HeaderName struct {
	Name   string
	Header string // lustre_user.h
	Of     string // the enum of a constant; empty: none
	Struct bool
	Value  string   // of a constant: a number, a text in quotes or another name; empty: what depends on sizes of types
	Fields []string // of a struct
	Doc    string
}

// inHeaders finds names that no message has: a constant, a struct, the constants of an enum, or the struct of a field.
func (x *Index) inHeaders(name string) (list []Topic) {
	if x.reg.HeaderNames == nil {
		return nil
	}
	of, field, hasField := strings.Cut(name, ".")
	for _, h := range x.reg.HeaderNames() {
		found := strings.EqualFold(h.Name, name) || strings.EqualFold(h.Of, name)
		for _, f := range h.Fields {
			found = found || strings.EqualFold(f, name) || hasField && strings.EqualFold(f, field) && strings.EqualFold(h.Name, of)
		}
		if found {
			list = append(list, Topic{Header: h})
		}
	}
	return list
}
