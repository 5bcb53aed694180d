package explain

import (
	"strconv"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// operation explains an operation with the buffers of request and reply.
func operation(r *schema.RPC) *Explanation {
	x := &Explanation{more: []string{"opcode " + strconv.Itoa(int(r.Opcode)), since(r.Since)},
		topicJSON: topicJSON{Kind: "operation", Name: r.Name, Opcode: &r.Opcode, Since: string(r.Since), Retired: r.Retired, OneWay: r.OneWay,
			Meaning: r.Doc, Forms: variantsJSON(r.Variants)}}
	if r.Retired {
		x.more = append(x.more, "not sent since 2.12")
	}
	if r.OneWay {
		x.more = append(x.more, "without a reply")
	}
	x.body = func(p *page) {
		for _, v := range r.Variants {
			p.end()
			if v.Name != "" {
				p.words(textIndent, schema.Action, v.Name)
				p.end()
			}
			p.variant(v)
		}
	}
	return x
}

// mostVariants is the number of variants up to which the buffers of all are shown.
const mostVariants = 5

// requestFormat explains a request format of layout.c by the variants of operations that have it.
func requestFormat(f *schema.RequestFormat) *Explanation {
	x := &Explanation{more: []string{"of layout.c"}, topicJSON: topicJSON{Kind: "request format", Name: f.Name, Meaning: f.Doc}}
	uses := opcodes.Protocol.Uses(f)
	for _, u := range uses {
		for _, v := range variantsJSON(u.Variants) {
			v.Operation = u.RPC.Name
			x.Forms = append(x.Forms, v)
		}
	}
	x.body = func(p *page) {
		for _, u := range uses {
			if len(u.Variants) > mostVariants {
				p.words(textIndent, schema.Dim, "variants of")
				p.words(textIndent, schema.Action, u.RPC.Name+":")
				p.list(textIndent, schema.Label, namesOf(u.Variants, func(v *schema.Variant) string { return v.Name }))
				p.end()
				continue
			}
			for _, v := range u.Variants {
				p.end()
				p.words(textIndent, schema.Action, u.RPC.Name)
				p.words(textIndent, schema.Action, v.Name)
				p.words(textIndent, schema.Dim, "(opcode "+strconv.Itoa(int(u.RPC.Opcode))+")")
				p.end()
				p.variant(v)
			}
		}
	}
	return x
}

func (p *page) variant(v *schema.Variant) {
	p.buffers("request", v.Request)
	p.buffers("reply", v.Reply)
	b := v.Bulk
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

func (p *page) buffers(name string, list []*schema.Field) {
	if len(list) == 0 {
		return
	}
	p.words(textIndent, schema.Dim, name)
	p.end()
	l := layoutOf(list, 7, p.width-9)
	for i, f := range list {
		p.column(4)
		p.Add(schema.Number, strconv.Itoa(i))
		p.field(f, l)
	}
}
