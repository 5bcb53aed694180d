package filter

import (
	"maps"
	"slices"
)

// Listing is a name of ours, not of the wire, that filters know.
type Listing struct {
	Name, Type, Doc string
	RPC             bool // of whole RPCs
}

var classNames = [...]string{number: "number", seconds: "seconds", text: "text", fidClass: "FID", nidClass: "NID",
	address: "address"}

// Keys lists the names of ours, sorted.
func Keys() (list []Listing) {
	for _, name := range slices.Sorted(maps.Keys(keys)) {
		k := keys[name]
		list = append(list, Listing{Name: name, Type: k.typeText(), Doc: k.doc})
	}
	for _, name := range slices.Sorted(maps.Keys(rpcKeys)) {
		k := rpcKeys[name]
		list = append(list, Listing{Name: name, Type: k.typeText(), Doc: k.doc, RPC: true})
	}
	return list
}

func (k *key) typeText() string {
	switch {
	case k.names != nil && k.names.Flags:
		return "flags"
	case k.names != nil:
		return "enum"
	}
	return classNames[k.class]
}
