package explain

import (
	"fmt"
	"slices"
	"strconv"

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
			p.put(&p.c.Num, fmt.Sprintf("%5s", render.BitText(v.Bits())))
			p.out, p.at = render.AppendSpaces(p.out, 2), p.at+2
		}
		p.put(&p.c.Num, valueText(g, v))
		at := textIndent + number + 2
		if g.Flags {
			at += 7
		}
		p.pad(at)
		p.put(&p.c.Flag, v.Name)
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
	if p.at+2 > col {
		p.column(col)
	}
	p.words(col, &render.Style{}, v.Doc)
	if s := since(v.Since); s != "" {
		p.words(col, &p.c.Dim, "("+s+")")
	}
	if v.Alias {
		p.words(col, &p.c.Dim, "(alias)")
	}
}

// valueText returns a value in decimal, flags and large values in hexadecimal.
func valueText(g *schema.Names, v *schema.Value) string {
	const large = 4096
	if !g.Flags && v.Value < large {
		return strconv.FormatUint(v.Value, 10)
	}
	return fmt.Sprintf("%#x", v.Value)
}

// users appends the fields whose values a group names.
func (e *Topics) users(p *page, g *schema.Names) {
	p.in(placeNames(e.index.Users(g)))
}

// value appends one value of a group.
func (e *Topics) value(p *page, g *schema.Names, v *schema.Value) {
	kind := "value"
	number := strconv.FormatUint(v.Value, 10)
	if v.Value > 9 {
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
	p.words(textIndent, &render.Style{}, "Gives meaning to")
	p.list(textIndent, &p.c.Key, names)
	p.end()
}
