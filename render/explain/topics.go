package explain

import (
	"cmp"
	"strconv"

	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render/records"
)

// Explanation is what there is to say about a name.
type Explanation struct {
	topicJSON
	kind, name string      // in text, where they are not those of JSON
	more       []string    // main properties; empty ones are left out
	body       func(*page) // what follows in text, nil: nothing
}

// AppendJSON appends the explanation as an object on a line.
func (x *Explanation) AppendJSON(dst []byte) []byte { return appendObject(dst, &x.topicJSON) }

// AppendText appends the explanation as text for reading. width is that of the terminal in columns,
// 0 without a terminal.
func (x *Explanation) AppendText(dst *schema.Marked, width int) { x.text(newPage(dst, width)) }

func (x *Explanation) text(p *page) {
	p.heading(cmp.Or(x.kind, x.Kind), cmp.Or(x.name, x.Name), x.more...)
	p.paragraph(cmp.Or(x.Summary, x.Meaning))
	if x.body != nil {
		x.body(p)
	}
}

// Topic explains a topic.
func Topic(index *schema.Index, t *schema.Topic) *Explanation {
	switch {
	case t.Struct != nil:
		return structure(index, t.Struct)
	case t.Value != nil:
		return value(index, t.Group, t.Value)
	case t.Group != nil:
		return group(index, t.Group)
	case t.RPC != nil:
		return operation(t.RPC)
	case t.Text != nil:
		return textConstant(t.Text)
	case t.Header != nil:
		return headerName(t.Header, t.HeaderField)
	case t.Term != nil:
		return term(t.Term)
	case t.Number != nil:
		return number(t.Number)
	case t.Flags != nil:
		return flagSet(index, t.Flags)
	case t.Format != nil:
		return requestFormat(t.Format)
	case t.Buffer != nil:
		return formatBuffer(t.Buffer, field(t))
	}
	return field(t)
}

// Key explains a key, a code or a column.
func Key(k *records.Entry) *Explanation {
	of := "of each " + k.Of
	if k.Kind == records.ColumnEntry {
		of = "of the " + k.Of
	}
	return &Explanation{more: []string{k.TypeText(), of},
		topicJSON: topicJSON{Kind: string(k.Kind), Name: k.Name, Type: k.TypeText(), Unit: string(k.Unit), In: []string{k.Of}, Meaning: k.Doc}}
}

func textConstant(t *schema.TextConstant) *Explanation {
	forms := optionNames(t.Forms)
	return &Explanation{more: []string{strconv.Quote(t.Value), since(t.Since)}, body: func(p *page) { p.labelled("holds", textIndent, forms) },
		topicJSON: topicJSON{Kind: "name", Name: t.Name, Value: t.Value, Since: string(t.Since), Meaning: t.Doc, Options: forms}}
}

// headerName explains a name of the headers that is in no message, or a field of a struct that is in none.
func headerName(h *schema.HeaderName, f *schema.HeaderField) *Explanation {
	x := &Explanation{topicJSON: topicJSON{Kind: "constant", Name: h.Name, Group: h.Of, Value: h.Value, Meaning: h.Doc, In: []string{h.Header}}}
	for _, f := range h.Fields {
		x.Options = append(x.Options, f.Name)
	}
	of := "of " + h.Header
	switch {
	case f != nil && f.Size > 0:
		x.topicJSON = topicJSON{Kind: "field", Name: f.Name, Meaning: f.Doc, In: x.In,
			Fields: []fieldJSON{{In: h.Name, Name: f.Name, Offset: &f.Offset, Size: f.Size}}}
		x.more = []string{"offset " + strconv.Itoa(f.Offset), "size " + strconv.Itoa(f.Size), "of struct " + h.Name + " in " + h.Header, "in no message"}
		return x
	case h.Alias:
		x.Kind, x.more = "name", []string{"another one of " + h.Value, "in " + h.Header}
		return x
	case h.Struct:
		x.Kind = "struct"
	case h.Of != "":
		of = "of enum " + h.Of + " in " + h.Header
	}
	x.more = []string{h.Value, of, "in no message"}
	x.body = func(p *page) { p.labelled("fields", textIndent, x.Options) }
	return x
}

func term(t *schema.Term) *Explanation {
	return &Explanation{more: []string{t.Long}, body: func(p *page) { p.labelled("see", textIndent+4, t.See) },
		topicJSON: topicJSON{Kind: "term", Name: t.Name, Short: t.Long, Meaning: t.Doc, In: t.See}}
}

func since(s schema.Since) string {
	if s == "" {
		return ""
	}
	return "since " + string(s)
}
