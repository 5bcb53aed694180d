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

// number appends a number with the names that it has, one for each group. Flags
// together are listed behind the name of their group.
func (e *Topics) number(p *page, n *schema.NamedNumber) {
	p.heading("number", n.Text, numberTexts(n)...)
	names := make([]string, len(n.Uses))
	width := 0
	for i := range n.Uses {
		u := &n.Uses[i]
		names[i] = u.Group.Group
		if !u.Combined() {
			names[i] = strings.Join(fullNames(u.Group, u.Values), ", ")
		}
		width = max(width, len(names[i]))
	}
	const widest = 34
	text := textIndent + min(width, widest) + 2
	for i := range n.Uses {
		u := &n.Uses[i]
		p.column(textIndent)
		if u.Combined() {
			p.words(textIndent, schema.Label, names[i])
		} else {
			p.words(textIndent, schema.Flag, names[i])
		}
		p.column(text)
		if u.Combined() {
			p.list(text, schema.Flag, shortNames(u.Values))
		} else {
			p.words(text, schema.Dim, "of")
			p.words(text, schema.Label, u.Group.Group)
			p.words(text, schema.NoRole, useDoc(u))
		}
		p.end()
	}
}

// numberTexts returns a number in the bases in which it was not given.
func numberTexts(n *schema.NamedNumber) (list []string) {
	for _, text := range []string{strconv.FormatUint(n.Value, 10), fmt.Sprintf("%#x", n.Value)} {
		if !strings.EqualFold(text, n.Text) {
			list = append(list, text)
		}
	}
	if n.Value > 1 && n.Value&(n.Value-1) == 0 {
		list = append(list, "bit "+strconv.Itoa(bits.TrailingZeros64(n.Value)))
	}
	return list
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

func fullNames(g *schema.Names, values []*schema.Value) []string {
	return namesOf(values, func(v *schema.Value) string { return g.Full(*v) })
}

func shortNames(values []*schema.Value) []string {
	return namesOf(values, func(v *schema.Value) string { return v.Name })
}

func (e *Topics) flagSet(p *page, u *schema.NumberUse) {
	p.heading("flags", strings.Join(fullNames(u.Group, u.Values), "|"), fmt.Sprintf("%#x", u.Word()), "of "+u.Group.Group)
	p.flags(u.Group, u.Word())
	name := strings.Join(shortNames(u.Values), "|")
	for _, r := range opcodes.Protocol.RPCs() {
		if slices.Contains(variantNames(r.Variants), name) {
			p.words(textIndent, schema.NoRole, "variant "+name+" of")
			p.words(textIndent, schema.Action, r.Name)
			p.end()
		}
	}
	e.users(p, u.Group)
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
