package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// Topics renders topics of the protocol, keys, and rules, as text for reading.
type Topics struct {
	width int
	index *schema.Index
}

// NewTopics makes a renderer of topics. width is that of the terminal in
// columns, 0 without a terminal.
func NewTopics(width int, index *schema.Index) *Topics {
	return &Topics{width: width, index: index}
}

// AppendTopic appends the text about a topic.
func (e *Topics) AppendTopic(dst *schema.Marked, t *schema.Topic) {
	p := newPage(dst, e.width)
	switch {
	case t.Struct != nil:
		e.structure(p, t.Struct)
	case t.Value != nil:
		e.value(p, t.Group, t.Value)
	case t.Group != nil:
		e.group(p, t.Group)
	case t.RPC != nil:
		e.operation(p, t.RPC)
	case t.Text != nil:
		textConstant(p, t.Text)
	case t.Header != nil:
		headerName(p, t.Header, t.HeaderField)
	case t.Term != nil:
		e.term(p, t.Term)
	case t.Number != nil:
		e.number(p, t.Number)
	case t.Flags != nil:
		e.flagSet(p, t.Flags)
	case t.Format != nil:
		e.format(p, t.Format)
	case t.Buffer != nil:
		e.formatBuffer(p, t)
	default:
		e.field(p, t)
	}
}

func textConstant(p *page, t *schema.TextConstant) {
	p.heading("name", t.Name, strconv.Quote(t.Value), since(t.Since))
	p.paragraph(t.Doc)
	if len(t.Forms) > 0 {
		p.words(textIndent, schema.Dim, "holds")
		p.list(textIndent, schema.Label, optionNames(t.Forms))
		p.end()
	}
}

func headerName(p *page, h *schema.HeaderName, f *schema.HeaderField) {
	if f != nil && f.Size > 0 {
		p.heading("field", f.Name, "offset "+strconv.Itoa(f.Offset), "size "+strconv.Itoa(f.Size), "of struct "+h.Name+" in "+h.Header, "in no message")
		p.paragraph(f.Doc)
		return
	}
	if h.Alias {
		p.heading("name", h.Name, "another one of "+h.Value, "in "+h.Header)
		return
	}
	kind, of := "constant", "of "+h.Header
	switch {
	case h.Struct:
		kind = "struct"
	case h.Of != "":
		of = "of enum " + h.Of + " in " + h.Header
	}
	p.heading(kind, h.Name, h.Value, of, "in no message")
	p.paragraph(h.Doc)
	if h.Fields != nil {
		p.words(textIndent, schema.Dim, "fields")
		p.list(textIndent, schema.Label, headerFieldNames(h))
		p.end()
	}
}

func headerFieldNames(h *schema.HeaderName) (names []string) {
	for _, f := range h.Fields {
		names = append(names, f.Name)
	}
	return names
}

// AppendKey appends the text about a key, a code or a column.
func (e *Topics) AppendKey(dst *schema.Marked, k *records.Entry) {
	p := newPage(dst, e.width)
	of := "of each " + k.Of
	if k.Kind == records.ColumnEntry {
		of = "of the " + k.Of
	}
	p.heading(string(k.Kind), k.Name, k.TypeText(), of)
	p.paragraph(k.Doc)
}

func since(s schema.Since) string {
	if s == "" {
		return ""
	}
	return "since " + string(s)
}

func (e *Topics) structure(p *page, s *schema.Struct) {
	order, _ := structOrder(s)
	p.heading("struct", s.Name, structSize(s), order, since(s.Since))
	p.paragraph(s.Doc)
	if len(s.Shorter) > 0 {
		p.paragraph("Older releases send " + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(s.Shorter), "[]")), " or ") + " bytes")
	}
	p.end()
	e.fields(p, s)
	p.in(placeNames(e.index.Holders(s)))
}

func structSize(s *schema.Struct) string {
	text := strconv.Itoa(s.Size) + " bytes"
	if s.Open {
		text += " and more"
	}
	return text
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

func layoutOf(fields []*schema.Field, room int) layout {
	name, kind := 5, 4
	for _, f := range fields {
		name = max(name, min(len(f.Name), 24))
		kind = max(kind, min(len(f.TypeText()), 16))
	}
	l := layout{name: 16}
	l.kind = l.name + name + 2
	l.text = l.kind + kind + 2
	if l.text > room-30 {
		l.text = l.name + 2 // in the lines below
	}
	return l
}

func (e *Topics) fields(p *page, s *schema.Struct) {
	if len(s.Fields) == 0 {
		return
	}
	l := layoutOf(s.Fields, p.width)
	p.Add(schema.Dim, "  offset  size  field")
	p.pad(l.kind)
	p.Add(schema.Dim, "type")
	if l.text > l.kind {
		p.pad(l.text)
		p.Add(schema.Dim, "meaning")
	}
	p.end()
	for _, f := range s.Fields {
		e.fieldLine(p, f, l)
	}
}

func (e *Topics) fieldLine(p *page, f *schema.Field, l layout) {
	p.Add(schema.Number, fmt.Sprintf("%8s%6s", offsetText(f), sizeText(f)))
	p.pad(l.name)
	p.Add(schema.Label, f.Name)
	p.pad(l.kind)
	p.Add(schema.Flag, f.TypeText())
	e.meaning(p, f, l.text)
	p.end()
}

// offsetText returns the offset of a field, "-" when it depends on the message.
func offsetText(f *schema.Field) string {
	if f.Off < 0 || f.Kind == schema.Virtual || f.Locate != nil {
		return "-"
	}
	return strconv.Itoa(f.Off)
}

func sizeText(f *schema.Field) string {
	if f.Size == 0 {
		return "-"
	}
	return strconv.Itoa(f.Size)
}

// meaning appends the meaning of a field and its conditions, in the column col.
func (e *Topics) meaning(p *page, f *schema.Field, col int) {
	if p.at()+2 > col && (f.Doc != "" || len(properties(f)) > 0) {
		p.column(col)
	}
	p.words(col, schema.NoRole, f.Doc)
	for _, property := range properties(f) {
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
