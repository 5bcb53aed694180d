package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

func structure(index *schema.Index, s *schema.Struct) *Explanation {
	size := strconv.Itoa(s.Size) + " bytes"
	if s.Open {
		size += " and more"
	}
	order, word := structOrder(s)
	x := &Explanation{more: []string{size, order, since(s.Since)},
		topicJSON: topicJSON{Kind: "struct", Name: s.Name, Size: s.Size, Open: s.Open, Shorter: s.Shorter, Order: word,
			Since: string(s.Since), Meaning: s.Doc, Fields: fieldsJSON(s.Fields, true), In: placeNames(index.Holders(s))}}
	x.body = func(p *page) {
		if len(s.Shorter) > 0 {
			p.paragraph("Older releases send " + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(s.Shorter), "[]")), " or ") + " bytes")
		}
		p.end()
		p.fields(s.Fields)
		p.in(x.In)
	}
	return x
}

// structOrder returns the byte order of a struct in words, and in a word for JSON.
func structOrder(s *schema.Struct) (text, word string) {
	switch {
	case s.Detect != nil:
		return "byte order by its magic", "magic"
	case s.Order == schema.Big:
		return "big-endian", "big"
	case s.Order == schema.Little:
		return "little-endian", "little"
	}
	return "in the sender's byte order", "sender"
}

// layout has the columns in which the cells of a table of fields begin.
type layout struct{ name, kind, text int }

// layoutOf returns the columns of a table whose names begin at a column.
func layoutOf(fields []*schema.Field, at, room int) layout {
	name, kind := 5, 4
	for _, f := range fields {
		name = max(name, min(len(f.Name), 24))
		kind = max(kind, min(len(f.TypeText()), 16))
	}
	l := layout{name: at}
	l.kind = l.name + name + 2
	l.text = l.kind + kind + 2
	if l.text > room-30 {
		l.text = l.name + 2 // in the lines below
	}
	return l
}

// fields appends the table of a struct.
func (p *page) fields(list []*schema.Field) {
	if len(list) == 0 {
		return
	}
	l := layoutOf(list, 16, p.width)
	p.Add(schema.Dim, "  offset  size  field")
	p.pad(l.kind)
	p.Add(schema.Dim, "type")
	if l.text > l.kind {
		p.pad(l.text)
		p.Add(schema.Dim, "meaning")
	}
	p.end()
	for _, f := range list {
		size := "-"
		if f.Size > 0 {
			size = strconv.Itoa(f.Size)
		}
		p.Add(schema.Number, fmt.Sprintf("%8s%6s", offsetText(f), size))
		p.field(f, l)
	}
}

// field appends the name, type and meaning of a field.
func (p *page) field(f *schema.Field, l layout) {
	p.pad(l.name)
	p.Add(schema.Label, f.Name)
	p.pad(l.kind)
	p.Add(schema.Flag, f.TypeText())
	p.meaning(f, l.text)
	p.end()
}

// offsetText returns the offset of a field, "-" when it depends on the message.
func offsetText(f *schema.Field) string {
	if f.Off < 0 || f.Kind == schema.Virtual || f.Locate != nil {
		return "-"
	}
	return strconv.Itoa(f.Off)
}

// meaning appends the meaning of a field and its conditions, in the column col.
func (p *page) meaning(f *schema.Field, col int) {
	list := properties(f)
	if p.at()+2 > col && (f.Doc != "" || len(list) > 0) {
		p.column(col)
	}
	p.words(col, schema.NoRole, f.Doc)
	for _, property := range list {
		p.words(col, schema.Dim, "("+property+")")
	}
}

// properties returns what is declared of a field besides its place, type and
// meaning.
func properties(f *schema.Field) (list []string) {
	if s := since(f.Since); s != "" {
		list = append(list, s)
	}
	if g := f.Group(); g != nil {
		list = append(list, "names: "+g.Group)
	}
	if f.Elem != nil && f.Elem.Type != nil && f.Elem.Name != "" && f.Elem.Name != f.Elem.Type.Name {
		list = append(list, "of "+f.Elem.Type.Name)
	}
	if f.CountBy != "" {
		list = append(list, "count: "+f.CountBy)
	}
	if len(f.Options) > 0 {
		list = append(list, "one of "+strings.Join(optionNames(f.Options), ", "))
	}
	for _, c := range f.When {
		list = append(list, "if "+c.Field+" has "+strings.Join(c.Bits, " or "))
	}
	if over := f.OverlaidField(); over != "" {
		list = append(list, "overlays "+over)
	}
	if f.Order == schema.Big {
		list = append(list, "big-endian")
	}
	return list
}

func optionNames(options []*schema.Field) []string {
	return distinct(options, func(o *schema.Field) string {
		if o.Type != nil {
			return o.Type.Name
		}
		return o.Name
	})
}

// placeNames returns the places of fields, as in ost_body.oa.
func placeNames(places []schema.Place) []string {
	return distinct(places, func(p schema.Place) string { return p.In + "." + p.Field.Name })
}

// distinct returns the names of what is listed, each once.
func distinct[T any](list []T, name func(T) string) (names []string) {
	for _, n := range namesOf(list, name) {
		if !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	return names
}

func namesOf[T any](list []T, name func(T) string) []string {
	names := make([]string, len(list))
	for i, x := range list {
		names[i] = name(x)
	}
	return names
}

// field explains a field with all its places, grouped by declaration.
func field(t *schema.Topic) *Explanation {
	x := &Explanation{topicJSON: topicJSON{Kind: "field", Name: t.Field}, more: []string{"in " + strconv.Itoa(len(t.Places)) + " places"}}
	if len(t.Places) == 1 {
		x.more[0] = "in one place"
	}
	var declared []*schema.Field
	places := make(map[*schema.Field][]string)
	for _, p := range t.Places {
		f, in, inStruct := p.Field, p.In, opcodes.StructNamed(p.In) != nil
		j := describeField(f, inStruct)
		j.In = in
		x.Fields = append(x.Fields, j)
		if places[f] == nil {
			declared = append(declared, f)
		}
		if j.Offset != nil {
			in += " at " + strconv.Itoa(f.Off)
		}
		places[f] = append(places[f], in)
	}
	x.body = func(p *page) {
		for _, f := range declared {
			p.end()
			p.column(textIndent)
			p.Add(schema.Flag, f.TypeText())
			if f.Size > 0 {
				p.words(textIndent, schema.Dim, "("+strconv.Itoa(f.Size)+" bytes)")
			}
			p.end()
			p.meaning(f, textIndent)
			p.in(places[f])
		}
	}
	return x
}

// formatBuffer explains the name of a buffer in layout.c, and the field that it is.
func formatBuffer(b *schema.FormatBuffer, field *Explanation) *Explanation {
	x := &Explanation{topicJSON: topicJSON{Kind: "buffer", Name: b.Name, Short: b.Buffer, Type: b.Struct, Fields: field.Fields}, more: []string{"of layout.c"}}
	if b.Buffer != "" {
		x.more[0] = "of layout.c; here " + b.Buffer
		x.body = func(p *page) {
			p.end()
			field.text(p)
		}
		return x
	}
	holds := "text"
	if b.Struct != "" {
		holds = "struct " + b.Struct
	}
	x.body = func(p *page) { p.paragraph("No request format of layout.c has it. It would hold a " + holds) }
	return x
}

// ListedField is a field that filters and -e know.
type ListedField struct {
	Name    string   `json:"name"`
	Type    string   `json:"type"`
	Places  []string `json:"places"`
	Meaning string   `json:"meaning"`
}

// FieldList lists the declarations of the fields of the tables.
func FieldList(index *schema.Index) (list []ListedField) {
	for _, name := range index.Names() {
		places := index.Find(name)
		for len(places) > 0 {
			f := places[0].Field
			var in []string
			first := schema.Since("~") // later than all releases
			var others []schema.Place
			for _, p := range places {
				if p.Field == f || p.Field.Doc == f.Doc && p.Field.TypeText() == f.TypeText() {
					in, first = append(in, p.In), min(first, sinceOf(p))
				} else {
					others = append(others, p)
				}
			}
			doc := f.Doc
			if s := since(first); s != "" {
				doc = strings.TrimSpace(doc + " (" + s + ")")
			}
			list = append(list, ListedField{name, f.TypeText(), in, doc})
			places = others
		}
	}
	return list
}

// sinceOf returns the release that brought a field to a struct or an operation.
func sinceOf(p schema.Place) schema.Since {
	if p.Field.Since != "" {
		return p.Field.Since
	}
	if s := opcodes.StructNamed(p.In); s != nil {
		return s.Since
	}
	for _, r := range opcodes.Protocol.RPCs() {
		if r.Name == p.In {
			return r.Since
		}
	}
	return ""
}
