package explain

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// Decoder reads and renders standalone values.
type Decoder struct {
	width  int
	index  *schema.Index
	tree   *render.Tree
	values dissect.Tree
}

// Decoded is a value as one type.
type Decoded struct {
	Type  string         // name of the type
	File  string         // file whose extended attribute it is
	In    string         // the struct or operation that has the field
	Owner *schema.Struct // In, when it is a struct
	Field *schema.Field
	Bytes []byte
	Big   bool
	Note  string // further meaning of the value
}

// ErrType is the error for a type that does not exist.
var ErrType = errors.New("unknown type")

// NewDecoder makes a decoder; width is that of the terminal, 0 without one.
func NewDecoder(width int, index *schema.Index) *Decoder {
	d := &Decoder{width: width, index: index, tree: render.NewTree(render.TreeOptions{Width: width})}
	d.values.Remarks = true
	return d
}

// scalars are the types besides those of the tables.
var scalars = map[string]*schema.Field{
	"errno":   schema.S32("errno", schema.Errno),
	"fid":     schema.Sub("fid", &opcodes.LuFid),
	"ip":      schema.U32("ip", schema.IPv4),
	"mode":    schema.U32("mode", schema.Octal),
	"nid":     schema.U64("nid", schema.NID4),
	"opcode":  schema.U32("opcode", &opcodes.Opcodes),
	"size":    schema.U64("size", schema.Size),
	"time":    schema.U64("time", schema.Time),
	"version": schema.U32("version", schema.Version),
	"xid":     schema.U64("xid", schema.ID),
}

// ScalarNames returns the names of the types that are not in the tables.
func ScalarNames() []string { return slices.Sorted(maps.Keys(scalars)) }

// TypeNames returns the names of all types.
func TypeNames(index *schema.Index) []string {
	names := append(ScalarNames(), index.Names()...)
	for _, s := range opcodes.Protocol.Structs() {
		names = append(names, s.Name)
	}
	for _, g := range opcodes.Protocol.Groups() {
		names = append(names, g.Group)
		if g.Prefix != "" {
			names = append(names, strings.TrimSuffix(g.Prefix, "_"))
		}
	}
	for _, t := range opcodes.Protocol.Texts {
		names = append(names, t.Name, t.Value)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// Parse reads text as a value of a type. A field that is declared in several
// ways gives a value for each that the text fits.
func (d *Decoder) Parse(kind, text string, big bool) ([]Decoded, error) {
	for _, t := range opcodes.Protocol.Texts {
		if strings.EqualFold(t.Name, kind) {
			kind = t.Value
		}
	}
	if isAttribute(kind) {
		b, err := attributeValue(strings.TrimSpace(text))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", kind, err)
		}
		return []Decoded{d.Attribute(Attribute{Name: kind, Value: b}, big)}, nil
	}
	types := d.types(kind)
	if types == nil {
		return nil, fmt.Errorf("%w %q", ErrType, kind)
	}
	var list []Decoded
	var first error
	for _, v := range types {
		v.Big = big
		if err := v.read(strings.TrimSpace(text)); err != nil {
			first = cmp.Or(first, fmt.Errorf("%s: %w", kind, err))
			continue
		}
		if list = append(list, v); v.In == "" { // not one of several declarations
			return list, nil
		}
	}
	switch len(list) {
	case 0:
		return nil, first
	case 1:
		list[0].In = ""
	}
	return list, nil
}

// types returns the declarations of a name. When a group of values and a struct
// share it, the group comes first: numbers and names are its values, longer bytes
// are the struct.
func (d *Decoder) types(kind string) (list []Decoded) {
	if f := scalars[strings.ToLower(kind)]; f != nil {
		return []Decoded{{Type: strings.ToLower(kind), Field: f.Resolve()}}
	}
	for _, g := range opcodes.Protocol.Groups() {
		if strings.EqualFold(g.Group, kind) {
			list = append(list, Decoded{Type: g.Group, Field: groupField(g)})
			break
		}
	}
	if s := opcodes.StructNamed(kind); s != nil {
		list = append(list, Decoded{Type: s.Name, Field: schema.Sub(s.Name, &s).Resolve()})
	}
	if list != nil {
		return list
	}
	if list = prefixed(kind); list != nil {
		return list
	}
	for _, t := range d.index.Topics(kind) {
		for _, p := range t.Places {
			if !slices.ContainsFunc(list, func(d Decoded) bool { return sameType(d.Field, p.Field) }) {
				list = append(list, Decoded{Type: t.Field, In: p.In, Owner: opcodes.StructNamed(p.In), Field: p.Field.Standalone()})
			}
		}
	}
	return list
}

// prefixed returns the groups whose names begin with a prefix, with or without the
// underscore behind it: obd_connect_flags for OBD_CONNECT. Groups of which only some names
// do count if there are no others: mds_open_flags for MDS_FMODE.
func prefixed(prefix string) (list []Decoded) {
	prefix = strings.ToUpper(strings.TrimSuffix(prefix, "_")) + "_"
	var some []Decoded
	for _, g := range opcodes.Protocol.Groups() {
		if g.Prefix == "" || !strings.HasPrefix(prefix, g.Prefix) {
			continue
		}
		d := Decoded{Type: g.Group, In: g.Group, Field: groupField(g)}
		n := 0
		for _, v := range g.Values {
			if strings.HasPrefix(g.Full(v), prefix) {
				n++
			}
		}
		switch {
		case g.Prefix == prefix || n > 1 && 2*n >= len(g.Values):
			list = append(list, d)
		case n > 1:
			some = append(some, d)
		}
	}
	if list == nil {
		return some
	}
	return list
}

// sameType reports whether a declaration gives values the same meaning.
func sameType(f, g *schema.Field) bool {
	return g.Kind == f.Kind && g.Size == f.Size && g.Format == f.Format && g.Names == f.Names && g.Type == f.Type && g.Elem == f.Elem
}

func groupField(g *schema.Names) *schema.Field {
	if slices.ContainsFunc(g.Values, func(v schema.Value) bool { return v.Value > math.MaxUint32 }) {
		return schema.U64(g.Group, &g, schema.Hex).Resolve()
	}
	if g == schema.Errnos {
		return schema.S32(g.Group, schema.Errno).Resolve()
	}
	return schema.U32(g.Group, &g).Resolve()
}

// AppendText appends a value as text for reading.
func (d *Decoder) AppendText(dst *schema.Marked, v Decoded) {
	d.values.BuildField(v.Field, v.Owner, v.Bytes, v.Big)
	if v.In != "" {
		dst.Add(schema.Dim, "as declared in "+v.In).Plain("\n")
	}
	if len(d.values.Nodes) == 1 && v.Field.Names != nil {
		d.named(dst, v)
		return
	}
	if len(d.values.Nodes) == 0 { // padding, or a union whose member depends on other fields
		dst.Plain(v.Field.Name)
		dst.Add(schema.Dim, "  all zeros").Plain("\n")
	}
	d.tree.AppendValue(dst, v.Field, v.Owner, v.Bytes, v.Big)
	if v.Note != "" {
		newPage(dst, d.width).paragraph(v.Note)
	}
}

// named appends a flag word with a line for each flag, or the value of an
// enumeration, with what they mean.
func (d *Decoder) named(dst *schema.Marked, v Decoded) {
	p := newPage(dst, d.width)
	g, word := v.Field.Names, d.values.Nodes[0].Val
	p.Add(schema.Label, v.Field.Name).Plain("  ").Add(schema.Number, valueText(g, &schema.Value{Value: word}))
	value, ok := g.Find(g.Name(word))
	switch {
	case g.Flags:
		p.end()
		p.flags(g, word)
		return
	case ok:
		p.Plain("  ").Add(schema.Flag, value.Name)
		p.about(&value, textIndent)
	default:
		p.Plain("  ").Add(schema.Warning, "unknown value")
	}
	p.end()
}

type decodedJSON struct {
	File   json.RawMessage `json:"file,omitempty"`
	Type   json.RawMessage `json:"type"`
	In     string          `json:"in,omitempty"`
	Value  json.RawMessage `json:"value"`
	Number string          `json:"number,omitempty"`
	Error  string          `json:"error,omitempty"`
	Notes  []noteJSON      `json:"notes,omitempty"`
}

type noteJSON struct {
	Code string          `json:"code"`
	Text json.RawMessage `json:"text"`
}

// AppendJSON appends a value as an object on a line.
func (d *Decoder) AppendJSON(dst []byte, v Decoded) []byte {
	t := &d.values
	t.BuildField(v.Field, v.Owner, v.Bytes, v.Big)
	text := func(s string) json.RawMessage { return schema.AppendJSONString(nil, []byte(s)) }
	j := decodedJSON{Type: text(v.Type), In: v.In}
	if v.File != "" {
		j.File = text(v.File)
	}
	if len(t.Nodes) > 0 {
		n := &t.Nodes[0]
		if !n.Is(dissect.Missing) {
			j.Value = render.AppendNodeJSON(nil, t, 0)
		}
		if (v.Field.Kind == schema.Uint || v.Field.Kind == schema.Int) && v.Field.Names != nil {
			j.Number = string(schema.AppendHex(nil, n.Val))
		}
		if v.Field.Format == schema.Errno && int64(n.Val) < 0 {
			j.Error = string(records.AppendErrno(nil, int32(n.Val)))
		}
	}
	for _, n := range t.Notes {
		j.Notes = append(j.Notes, noteJSON{n.Code, text(n.Text)})
	}
	return appendObject(dst, j)
}
