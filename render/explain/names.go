package explain

import (
	"fmt"
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// group explains a flag word or enumeration, with a table of its values.
func group(index *schema.Index, g *schema.Names) *Explanation {
	x := &Explanation{kind: "values", topicJSON: topicJSON{Kind: "enum", Name: g.Group, Prefix: g.Prefix, Meaning: g.Doc, In: users(index, g)}}
	if g.Flags {
		x.kind, x.Kind = "flags", "flags"
	}
	if g.Prefix != "" {
		x.more = []string{"full names begin with " + g.Prefix}
	}
	name, number := 4, 4
	for i := range g.Values {
		v := &g.Values[i]
		x.Values = append(x.Values, valueJSON(g, v))
		name, number = max(name, min(len(v.Name), 32)), max(number, len(valueText(g, v)))
	}
	x.body = func(p *page) {
		p.end()
		for i := range g.Values {
			v := &g.Values[i]
			p.column(textIndent)
			at := textIndent + number + 2
			if g.Flags {
				p.Add(schema.Number, fmt.Sprintf("%5s", render.BitText(v.Bits())))
				p.pad(p.at() + 2)
				at += 7
			}
			p.Add(schema.Number, valueText(g, v))
			p.pad(at)
			p.Add(schema.Flag, v.Name)
			text := at + name + 2
			if text > p.width-30 {
				text = at + 2
			}
			p.about(v, text)
			p.end()
		}
		p.in(x.In)
	}
	return x
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

// users returns the fields whose values a group names.
func users(index *schema.Index, g *schema.Names) []string { return placeNames(index.Users(g)) }

func value(index *schema.Index, g *schema.Names, v *schema.Value) *Explanation {
	number := strconv.FormatUint(v.Value, 10)
	switch {
	case g.Flags && v.Bits()&(v.Bits()-1) == 0:
		number = fmt.Sprintf("bit %s, %#x", render.BitText(v.Bits()), v.Value)
	case g.Flags:
		number = fmt.Sprintf("bits %s, %#x", render.BitText(v.Bits()), v.Value)
	case g.Signed && int64(v.Value) < 0:
		number = strconv.FormatInt(int64(v.Value), 10)
	case v.Value > 9:
		number += fmt.Sprintf(" = %#x", v.Value)
	}
	x := &Explanation{topicJSON: valueJSON(g, v), more: []string{number, "of " + g.Group, since(v.Since)}}
	x.Group, x.In = g.Group, users(index, g)
	if v.Alias {
		x.more = append(x.more, "alias")
	}
	if g == schema.Errnos {
		x.name = v.Name // without a prefix, as in C
	}
	x.body = func(p *page) {
		if v.Doc == "" {
			p.paragraph(g.Doc)
		}
		if names := conditional(g, v); len(names) > 0 {
			p.words(textIndent, schema.NoRole, "Gives meaning to")
			p.list(textIndent, schema.Label, names)
			p.end()
		}
		p.in(x.In)
	}
	return x
}

// conditional returns the fields that are valid only with a flag.
func conditional(g *schema.Names, v *schema.Value) (names []string) {
	for _, s := range opcodes.Protocol.Structs() {
		for _, f := range s.Fields {
			for _, c := range f.When {
				if word, ok := s.Lookup(c.Field); ok && word.Names == g && slices.Contains(c.Bits, v.Name) {
					names = append(names, s.Name+"."+f.Name)
				}
			}
		}
	}
	return names
}

// number explains a number by the names that it has, one for each group. Flags
// together are listed behind the name of their group.
func number(n *schema.NamedNumber) *Explanation {
	x := &Explanation{topicJSON: topicJSON{Kind: "number", Name: n.Text, Value: fmt.Sprintf("%#x", n.Value)}}
	for _, text := range []string{strconv.FormatUint(n.Value, 10), x.Value} {
		if !strings.EqualFold(text, n.Text) {
			x.more = append(x.more, text)
		}
	}
	if n.Value > 1 && n.Value&(n.Value-1) == 0 {
		x.more = append(x.more, "bit "+strconv.Itoa(bits.TrailingZeros64(n.Value)))
	}
	names := make([]string, len(n.Uses))
	width := 0
	for i := range n.Uses {
		u := &n.Uses[i]
		x.Values = append(x.Values, valuesJSON(u)...)
		names[i] = u.Group.Group
		if !u.Combined() {
			names[i] = strings.Join(fullNames(u), ", ")
		}
		width = max(width, len(names[i]))
	}
	x.body = func(p *page) {
		const widest = 34
		text := textIndent + min(width, widest) + 2
		for i := range n.Uses {
			u := &n.Uses[i]
			p.column(textIndent)
			if u.Combined() {
				p.words(textIndent, schema.Label, names[i])
				p.column(text)
				p.list(text, schema.Flag, shortNames(u))
			} else {
				p.words(textIndent, schema.Flag, names[i])
				p.column(text)
				p.words(text, schema.Dim, "of")
				p.words(text, schema.Label, u.Group.Group)
				p.words(text, schema.NoRole, useDoc(u))
			}
			p.end()
		}
	}
	return x
}

// useDoc returns the meaning of a number that is a value of a group, in brackets.
func useDoc(u *schema.NumberUse) string {
	for _, v := range u.Values {
		if v.Doc != "" {
			return "(" + strings.TrimSuffix(v.Doc, ".") + ")"
		}
	}
	return ""
}

func fullNames(u *schema.NumberUse) []string {
	return namesOf(u.Values, func(v *schema.Value) string { return u.Group.Full(*v) })
}

func shortNames(u *schema.NumberUse) []string {
	return namesOf(u.Values, func(v *schema.Value) string { return v.Name })
}

// flagSet explains several flags of a word.
func flagSet(index *schema.Index, u *schema.NumberUse) *Explanation {
	word := fmt.Sprintf("%#x", u.Word())
	x := &Explanation{name: strings.Join(fullNames(u), "|"), more: []string{word, "of " + u.Group.Group},
		topicJSON: topicJSON{Kind: "flags", Name: u.Group.Group, Value: word, Values: valuesJSON(u), In: users(index, u.Group)}}
	x.body = func(p *page) {
		p.flags(u.Group, u.Word())
		name := strings.Join(shortNames(u), "|")
		for _, r := range opcodes.Protocol.RPCs() {
			if slices.ContainsFunc(r.Variants, func(v *schema.Variant) bool { return v.Name == name }) {
				p.words(textIndent, schema.NoRole, "variant "+name+" of")
				p.words(textIndent, schema.Action, r.Name)
				p.end()
			}
		}
		p.in(x.In)
	}
	return x
}

// flags appends a line for each flag of a word, and one for the bits without names.
func (p *page) flags(g *schema.Names, word uint64) {
	name := 0
	g.Set(word, func(f *schema.Value) { name = max(name, len(f.Name)) })
	rest := g.Set(word, func(f *schema.Value) {
		p.Add(schema.Number, fmt.Sprintf("%5s", render.BitText(f.Bits())))
		p.pad(textIndent + 5)
		p.Add(schema.Flag, f.Name)
		p.about(f, textIndent+5+name+2)
		p.end()
	})
	if rest != 0 {
		p.column(textIndent + 5)
		p.Add(schema.Warning, fmt.Sprintf("%#x", rest))
		p.Add(schema.NoRole, "  unknown bits")
		p.end()
	}
}
