package explain

import (
	"strconv"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// mostVariants is the number of variants up to which the buffers of all are shown.
const mostVariants = 5

// format appends a request format of layout.c: the variants of operations that have it.
func (e *Topics) format(p *page, f *schema.RequestFormat) {
	p.heading("request format", f.Name, "of layout.c")
	p.paragraph(f.Doc)
	for _, u := range opcodes.Protocol.Uses(f) {
		if len(u.Variants) > mostVariants {
			p.words(textIndent, &p.c.Dim, "variants of")
			p.words(textIndent, &p.c.Op, u.RPC.Name+":")
			p.list(textIndent, &p.c.Key, variantNames(u.Variants))
			p.end()
			continue
		}
		for _, v := range u.Variants {
			p.end()
			p.words(textIndent, &p.c.Op, u.RPC.Name)
			if v.Name != "" {
				p.words(textIndent, &p.c.Op, v.Name)
			}
			p.words(textIndent, &p.c.Dim, "(opcode "+strconv.Itoa(int(u.RPC.Opcode))+")")
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
	text := "No request format of layout.c has it. It would hold a text"
	if b.Struct != "" {
		text = "No request format of layout.c has it. It would hold a struct " + b.Struct
	}
	p.paragraph(text)
}

func (e *Topics) term(p *page, t *schema.Term) {
	p.heading("term", t.Name, t.Long)
	p.words(textIndent, &render.Style{}, t.Doc)
	p.end()
	p.words(textIndent, &p.c.Dim, "see")
	p.list(textIndent+4, &p.c.Key, t.See)
	p.end()
}
