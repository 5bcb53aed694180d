package schema

import "strings"

// HeaderName is a name of Lustre's public headers that no message has: of ioctls, of files of a server, a limit.
type HeaderName struct {
	Name   string
	Header string // lustre_user.h
	Of     string // the enum of a constant; empty: none
	Struct bool
	Alias  bool           // Value is the name that declarations have for it
	Value  string         // of a constant: a number, a text in quotes or another name; empty: what depends on sizes of types
	Fields []*HeaderField // of a struct
	Doc    string
}

// HeaderField is a field of a struct that no message has. Size and Doc are known of structs in files of a server.
type HeaderField struct {
	Name         string
	Offset, Size int
	Doc          string
}

// inHeaders finds names that no message has: a constant, a struct, the constants of an enum, or the struct of a field.
func (x *Index) inHeaders(name string) (list []Topic) {
	if x.reg.HeaderNames == nil {
		return nil
	}
	of, field, hasField := strings.Cut(name, ".")
	for _, h := range x.reg.HeaderNames() {
		found, known := strings.EqualFold(h.Name, name) || strings.EqualFold(h.Of, name), (*HeaderField)(nil)
		for _, f := range h.Fields {
			if strings.EqualFold(f.Name, name) || hasField && strings.EqualFold(f.Name, field) && strings.EqualFold(h.Name, of) {
				found, known = true, f
			}
		}
		if found {
			list = append(list, Topic{Header: h, HeaderField: known})
		}
		if found && h.Alias {
			list = append(list, x.Topics(h.Value)...)
		}
	}
	return list
}
