package extcap

import (
	"cmp"
	_ "embed"
	"fmt"
	"slices"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// luaCode is the plugin without its tables.
//
//go:embed lshark.lua
var luaCode string

type luaField struct {
	name, kind, doc string
	names           *schema.Names
}

// The kinds of fields, by which the plugin chooses a type of Wireshark and reads values.
const (
	luaNone     = "none" // a container
	luaText     = "text"
	luaTime     = "time"
	luaDuration = "duration"
)

// luaWire begins the name of a field of the wire whose own name is that of a key.
const luaWire = "wire."

// noteSeverities are the severities of notes that are more than a note, in the words of findings.
var noteSeverities = map[string]string{
	"checksum": "error", "rdma_failed": "error",
	"gap": "warning", "short": "warning", "truncated": "warning", "unknown": "warning",
}

func luaPlugin() string {
	var groups, fields, notes strings.Builder
	done := make(map[*schema.Names]int)
	for _, f := range luaFields() {
		group := 0
		if f.names != nil {
			if done[f.names] == 0 {
				done[f.names] = len(done) + 1
				fmt.Fprintf(&groups, "%d %t\n", done[f.names], f.names.Flags)
				for i := range f.names.Values {
					if v := &f.names.Values[i]; !v.Alias {
						fmt.Fprintf(&groups, "%s %#x\n", v.Name, v.Value)
					}
				}
			}
			group = done[f.names]
		}
		fmt.Fprintf(&fields, "%s %s %d %s\n", f.name, f.kind, group, f.doc)
	}
	for _, e := range records.All() {
		if e.Kind == records.CodeEntry && e.Of == "note" {
			fmt.Fprintf(&notes, "%s %s %s\n", e.Name, cmp.Or(noteSeverities[e.Name], "note"), e.Doc)
		}
	}
	return strings.NewReplacer("@groups@", groups.String(), "@fields@", fields.String(), "@notes@", notes.String()).Replace(luaCode)
}

// luaFields lists the fields: the keys of messages by their paths, and those of the wire by
// their names, or behind luaWire where a key of another kind has the name.
func luaFields() []luaField {
	var list []luaField
	place := make(map[string]int)
	add := func(f luaField) {
		if i, known := place[f.name]; known {
			list[i].merge(f)
			return
		}
		place[f.name] = len(list)
		list = append(list, f)
	}
	for _, e := range records.All() {
		if e.Of == records.Messages.Record && (e.JSON != records.Hidden || e.Type == records.FID) {
			add(luaField{e.Path, luaKeyKind(&e), e.Doc, e.Names})
		}
		if e.Of == records.Findings.Record {
			add(luaField{e.Name, luaKeyKind(&e), e.Doc, e.Names})
		}
	}
	keys := len(list)
	index := opcodes.FieldIndex()
	visited := make(map[*schema.Field]bool)
	var visit func(f *schema.Field)
	visit = func(f *schema.Field) { // structs that messages use in another way are found by what they are in
		if visited[f] {
			return
		}
		visited[f] = true
		if f.Name != "" {
			found := luaField{name: f.Name, doc: f.Doc}
			found.kind, found.names = luaFieldKind(f)
			if i, known := place[f.Name]; known && i < keys && list[i].kind != found.kind {
				found.name = luaWire + f.Name
			}
			add(found)
		}
		inner := f.Options
		if f.Elem != nil {
			inner = append(slices.Clip(inner), f.Elem)
		}
		if f.Type != nil {
			inner = append(slices.Clip(inner), f.Type.Fields...)
		}
		for _, f := range inner {
			visit(f)
		}
	}
	for _, name := range index.Names() {
		for _, p := range index.Find(name) {
			visit(p.Field)
		}
	}
	return list
}

// merge makes the field fit for values of another one: a text, unless both are numbers whose
// names do not contradict each other.
func (f *luaField) merge(g luaField) {
	names, ok := unite(f.names, g.names)
	switch {
	case f.kind == g.kind && f.names == g.names:
		return
	case !ok || !f.isNumber() || !g.isNumber():
		f.kind, f.names = luaText, nil
		return
	}
	f.names = names
	if f.kind == g.kind {
		return
	}
	letter := "u"
	switch a, b := f.kind[:1], g.kind[:1]; {
	case a == luaTime[:1], b == luaTime[:1]:
	case a == b, b == "f":
		letter = a
	case a == "f":
		letter = b
	case a == "s", b == "s":
		letter = "s"
	}
	bits := "64"
	if f.kind[1:] == "32" && g.kind[1:] == "32" {
		bits = "32"
	}
	f.kind = letter + bits
}

// unite returns a group with the values of two, unless they contradict each other.
func unite(a, b *schema.Names) (*schema.Names, bool) {
	switch {
	case a == b, b == nil:
		return a, true
	case a == nil:
		return b, true
	case a.Flags != b.Flags:
		return nil, false
	}
	isAlias := func(v schema.Value) bool { return v.Alias }
	values := slices.DeleteFunc(slices.Clone(a.Values), isAlias)
	for _, v := range slices.DeleteFunc(slices.Clone(b.Values), isAlias) {
		at := slices.IndexFunc(values, func(w schema.Value) bool { return w.Name == v.Name || !a.Flags && w.Value == v.Value })
		if at < 0 {
			values = append(values, v)
		} else if values[at].Name != v.Name || values[at].Value != v.Value {
			return nil, false
		}
	}
	return &schema.Names{Group: a.Group, Flags: a.Flags, Values: values}, true
}

// isNumber reports whether values of the field are numbers, also where they have names, but
// no errors.
func (f *luaField) isNumber() bool {
	return f.kind == luaTime || f.kind[0] != 'e' && (f.kind[1:] == "32" || f.kind[1:] == "64")
}

// luaKeyKinds are the kinds of keys by their types. Others are text.
var luaKeyKinds = map[records.Type]string{
	records.Uint: "u64", records.Decimal: "u64", records.Int: "s64", records.Hex: "x64", records.Enum: "u32",
	records.Time: luaTime, records.Duration: luaDuration, records.Object: luaNone, records.Section: luaNone,
}

func luaKeyKind(e *records.Entry) string { return cmp.Or(luaKeyKinds[e.Type], luaText) }

func luaFieldKind(f *schema.Field) (kind string, names *schema.Names) {
	for f.Kind == schema.Array {
		f = f.Elem
	}
	switch f.Kind {
	case schema.Uint, schema.Int:
		return luaIntegerKind(f)
	case schema.Record:
		switch f.Type.Atom {
		case schema.Plain:
			return luaNone, nil
		case schema.Handle:
			return "x64", nil
		}
	case schema.Union:
		for _, o := range f.Options {
			if kind, _ := luaFieldKind(o); kind != luaNone {
				return luaText, nil
			}
		}
		return luaNone, nil
	case schema.List, schema.Message:
		return luaNone, nil
	}
	return luaText, nil
}

func luaIntegerKind(f *schema.Field) (kind string, names *schema.Names) {
	bits := "32"
	if f.Size > 4 {
		bits = "64"
	}
	letter := ""
	switch {
	case f.Names != nil && f.Names.Flags:
		letter = "f"
	case f.Names != nil:
		letter = "u"
	case f.Format == schema.Time:
		return luaTime, nil
	case f.Style == schema.Status:
		return "e32", schema.Errnos
	case f.Style == schema.Signed:
		letter = "s"
	case f.Style == schema.Decimal, f.Style == schema.Amount, f.Format == schema.ID:
		letter = "u"
	case f.Format == schema.Hex, f.Format == schema.Cookie:
		letter = "x"
	case f.Format == schema.Octal:
		letter = "o"
	default:
		return luaText, nil
	}
	return letter + bits, f.Names
}
