package explain

import (
	"slices"
	"strconv"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// operation appends an operation with the buffers of request and reply.
func (e *Topics) operation(p *page, r *schema.RPC) {
	retired, oneWay := "", ""
	if r.Retired {
		retired = "not sent since 2.12"
	}
	if r.OneWay {
		oneWay = "without a reply"
	}
	p.heading("operation", r.Name, "opcode "+strconv.Itoa(int(r.Opcode)), since(r.Since), retired, oneWay)
	p.paragraph(r.Doc)
	for _, v := range r.Variants {
		p.end()
		if v.Name != "" {
			p.words(textIndent, schema.Action, v.Name)
			p.end()
		}
		e.variant(p, v)
	}
}

func (e *Topics) variant(p *page, v *schema.Variant) {
	e.buffers(p, "request", v.Request)
	e.buffers(p, "reply", v.Reply)
	e.bulk(p, v.Bulk)
}

func (e *Topics) buffers(p *page, name string, list []*schema.Field) {
	if len(list) == 0 {
		return
	}
	p.words(textIndent, schema.Dim, name)
	p.end()
	const number, first = 4, 7
	l := layoutOf(list, p.width)
	shift := l.name - first
	for i, f := range list {
		p.column(number)
		p.Add(schema.Number, strconv.Itoa(i))
		p.pad(first)
		p.Add(schema.Label, f.Name)
		p.pad(l.kind - shift)
		p.Add(schema.Flag, f.TypeText())
		e.meaning(p, f, l.text-shift)
		p.end()
	}
}

func (e *Topics) bulk(p *page, b *schema.BulkData) {
	if b == nil {
		return
	}
	p.words(textIndent, schema.Dim, "bulk")
	if b.Get {
		p.words(textIndent, schema.NoRole, "fetched by the server, portal")
	} else {
		p.words(textIndent, schema.NoRole, "sent by the server, portal")
	}
	p.words(textIndent, schema.Number, strconv.Itoa(int(b.Portal)))
	if name := opcodes.Portal.Name(uint64(b.Portal)); name != "" {
		p.words(textIndent, schema.Dim, "("+name+")")
	}
	if b.Type != nil {
		p.words(textIndent, schema.Flag, b.Type.Name)
	} else {
		p.words(textIndent, schema.NoRole, "file data")
	}
	p.end()
}

// field appends a field with all its places, grouped by declaration.
func (e *Topics) field(p *page, t *schema.Topic) {
	p.heading("field", t.Field, placesText(len(t.Places)))
	var shown []*schema.Field
	for i := range t.Places {
		f := t.Places[i].Field
		if slices.Contains(shown, f) {
			continue
		}
		shown = append(shown, f)
		p.end()
		p.column(textIndent)
		p.Add(schema.Flag, f.TypeText())
		if f.Size > 0 {
			p.words(textIndent, schema.Dim, "("+strconv.Itoa(f.Size)+" bytes)")
		}
		p.end()
		e.meaning(p, f, textIndent)
		p.in(e.where(t.Places, f))
	}
}

func placesText(n int) string {
	if n == 1 {
		return "in one place"
	}
	return "in " + strconv.Itoa(n) + " places"
}

// where returns the structs and operations that have the field f, with its
// offset in structs.
func (e *Topics) where(places []schema.Place, f *schema.Field) (names []string) {
	for _, pl := range places {
		if pl.Field != f {
			continue
		}
		name := pl.In
		if opcodes.StructNamed(pl.In) != nil {
			if at := offsetText(f); at != "-" {
				name += " at " + at
			}
		}
		names = append(names, name)
	}
	return names
}
