package explain

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// group appends the table of a flag word or enumeration.
func (e *Topics) group(p *page, g *schema.Names) {
	kind := "values"
	if g.Flags {
		kind = "flags"
	}
	full := ""
	if g.Prefix != "" {
		full = "full names begin with " + g.Prefix
	}
	p.heading(kind, g.Group, full)
	p.paragraph(g.Doc)
	p.end()
	name, number := 4, 4
	for i := range g.Values {
		name = max(name, min(len(g.Values[i].Name), 32))
		number = max(number, len(valueText(g, &g.Values[i])))
	}
	for i := range g.Values {
		v := &g.Values[i]
		p.column(textIndent)
		if g.Flags {
			p.Add(schema.Number, fmt.Sprintf("%5s", render.BitText(v.Bits())))
			p.pad(p.at() + 2)
		}
		p.Add(schema.Number, valueText(g, v))
		at := textIndent + number + 2
		if g.Flags {
			at += 7
		}
		p.pad(at)
		p.Add(schema.Flag, v.Name)
		text := at + name + 2
		if text > p.width-30 {
			text = at + 2
		}
		p.about(v, text)
		p.end()
	}
	e.users(p, g)
}

func (p *page) about(v *schema.Value, col int) {
	if v.Doc == "" && v.Since == "" && !v.Alias {
		return
	}
	if p.at()+2 > col {
		p.column(col)
	}
	p.words(col, schema.NoRole, v.Doc)
	if s := since(v.Since); s != "" {
		p.words(col, schema.Dim, "("+s+")")
	}
	if v.Alias {
		p.words(col, schema.Dim, "(alias)")
	}
}

// valueText returns a value in decimal, flags and large values in hexadecimal.
func valueText(g *schema.Names, v *schema.Value) string {
	const large = 4096
	if g.Signed && int64(v.Value) < 0 {
		return strconv.FormatInt(int64(v.Value), 10)
	}
	if !g.Flags && v.Value < large {
		return strconv.FormatUint(v.Value, 10)
	}
	return fmt.Sprintf("%#x", v.Value)
}

// users appends the fields whose values a group names.
func (e *Topics) users(p *page, g *schema.Names) {
	p.in(placeNames(e.index.Users(g)))
}

func (e *Topics) value(p *page, g *schema.Names, v *schema.Value) {
	kind := "value"
	number := strconv.FormatUint(v.Value, 10)
	switch {
	case g.Signed && int64(v.Value) < 0:
		number = strconv.FormatInt(int64(v.Value), 10)
	case v.Value > 9:
		number += fmt.Sprintf(" = %#x", v.Value)
	}
	if g.Flags {
		kind = "flag"
		number = fmt.Sprintf("%#x", v.Value)
		if v.Bits()&(v.Bits()-1) == 0 {
			number = "bit " + render.BitText(v.Bits()) + ", " + number
		} else {
			number = "bits " + render.BitText(v.Bits()) + ", " + number
		}
	}
	other := ""
	if v.Alias {
		other = "alias"
	}
	name := g.Full(*v)
	if g == schema.Errnos {
		name = v.Name // without a prefix, as in C
	}
	p.heading(kind, name, number, "of "+g.Group, since(v.Since), other)
	p.paragraph(v.Doc)
	if v.Doc == "" {
		p.paragraph(g.Doc)
	}
	e.conditional(p, g, v)
	e.users(p, g)
}

// conditional appends the fields that are valid only with a flag.
func (e *Topics) conditional(p *page, g *schema.Names, v *schema.Value) {
	var names []string
	for _, s := range opcodes.Protocol.Structs() {
		for _, f := range s.Fields {
			for _, c := range f.When {
				if word, ok := s.Lookup(c.Field); ok && word.Names == g && slices.Contains(c.Bits, v.Name) {
					names = append(names, s.Name+"."+f.Name)
				}
			}
		}
	}
	if len(names) == 0 {
		return
	}
	p.words(textIndent, schema.NoRole, "Gives meaning to")
	p.list(textIndent, schema.Label, names)
	p.end()
}

// mostVariants is the number of variants up to which the buffers of all are shown.
const mostVariants = 5

// format appends a request format of layout.c: the variants of operations that have it.
func (e *Topics) format(p *page, f *schema.RequestFormat) {
	p.heading("request format", f.Name, "of layout.c")
	p.paragraph(f.Doc)
	for _, u := range opcodes.Protocol.Uses(f) {
		if len(u.Variants) > mostVariants {
			p.words(textIndent, schema.Dim, "variants of")
			p.words(textIndent, schema.Action, u.RPC.Name+":")
			p.list(textIndent, schema.Label, variantNames(u.Variants))
			p.end()
			continue
		}
		for _, v := range u.Variants {
			p.end()
			p.words(textIndent, schema.Action, u.RPC.Name)
			if v.Name != "" {
				p.words(textIndent, schema.Action, v.Name)
			}
			p.words(textIndent, schema.Dim, "(opcode "+strconv.Itoa(int(u.RPC.Opcode))+")")
			p.end()
			e.variant(p, v)
		}
	}
}

func variantNames(list []*schema.Variant) []string {
	return namesOf(list, func(v *schema.Variant) string { return v.Name })
}

// formatBuffer appends the name of a buffer in layout.c, and the fields that it is.
func (e *Topics) formatBuffer(p *page, t *schema.Topic) {
	b := t.Buffer
	if b.Buffer != "" {
		p.heading("buffer", b.Name, "of layout.c; here "+b.Buffer)
		p.end()
		e.field(p, t)
		return
	}
	p.heading("buffer", b.Name, "of layout.c")
	holds := "text"
	if b.Struct != "" {
		holds = "struct " + b.Struct
	}
	p.paragraph("No request format of layout.c has it. It would hold a " + holds)
}

func (e *Topics) term(p *page, t *schema.Term) {
	p.heading("term", t.Name, t.Long)
	p.words(textIndent, schema.NoRole, t.Doc)
	p.end()
	p.words(textIndent, schema.Dim, "see")
	p.list(textIndent+4, schema.Label, t.See)
	p.end()
}

// AppendFieldList appends a line for each declaration of a field of the tables:
// name, type, places and meaning, separated by tabs.
func AppendFieldList(dst []byte, index *schema.Index) []byte {
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
			dst = append(dst, strings.Join([]string{name, f.TypeText(), strings.Join(in, ","), doc}, "\t")+"\n"...)
			places = others
		}
	}
	return dst
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
