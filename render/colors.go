package render

import (
	"strings"

	"github.com/fatih/color"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes/schema"
)

// Looks are how text of each role looks.
var Looks = [schema.RoleCount][]color.Attribute{
	schema.Dim:     {color.Faint},
	schema.Name:    {color.FgYellow},
	schema.Object:  {color.FgMagenta},
	schema.Number:  {color.FgCyan},
	schema.Node:    {color.FgBlue},
	schema.Good:    {color.FgGreen},
	schema.Bad:     {color.FgRed, color.Bold},
	schema.Warning: {color.FgYellow, color.Bold},
	schema.Flag:    {color.FgGreen},
	schema.Label:   {color.FgBlue},
	schema.Action:  {color.Bold},
	schema.Heading: {color.Bold},
}

// Colors paints text on a terminal: they are the escape sequences before and after text of
// each role.
type Colors struct {
	on    bool
	roles [schema.RoleCount]struct{ begin, end string }
}

// NewColors makes the colours for a terminal, or none.
func NewColors(on bool) *Colors {
	c := &Colors{on: on}
	for role, look := range Looks {
		if on && look != nil {
			const text = "\x00"
			printer := color.New(look...)
			printer.EnableColor()
			c.roles[role].begin, c.roles[role].end, _ = strings.Cut(printer.Sprint(text), text)
		}
	}
	return c
}

// Text returns an empty text for Paint.
func (c *Colors) Text() schema.Marked { return schema.Marked{Unmarked: !c.on} }

// Paint appends text with its colours.
func (c *Colors) Paint(dst []byte, t *schema.Marked) []byte {
	if !c.on {
		return append(dst, t.Text...)
	}
	begin := 0
	for _, p := range t.Parts {
		if text := t.Text[begin:p.End]; p.Role == schema.NoRole {
			dst = append(dst, text...)
		} else {
			role := &c.roles[p.Role]
			dst = append(append(append(dst, role.begin...), text...), role.end...)
		}
		begin = p.End
	}
	return append(dst, t.Text[begin:]...)
}

// Renderer returns a Renderer that paints what r shows.
func (c *Colors) Renderer(r TextRenderer) Renderer { return &painter{colors: c, of: r, text: c.Text()} }

type painter struct {
	colors *Colors
	of     TextRenderer
	text   schema.Marked
}

func (p *painter) Append(dst []byte, m *dissect.Message, at Moment) []byte {
	if !p.colors.on {
		p.text.Text = dst // which saves a copy
		p.of.Append(&p.text, m, at)
		return p.text.Text
	}
	p.text.Reset()
	p.of.Append(&p.text, m, at)
	return p.colors.Paint(dst, &p.text)
}
