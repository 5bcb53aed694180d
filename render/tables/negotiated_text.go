package tables

import (
	"slices"
	"strconv"
	"strings"

	"github.com/lshark/lshark/dissect/track/comparison"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
	"github.com/lshark/lshark/render/records"
)

// NegotiatedText renders how flags and releases of connects differ between two
// sides, a paragraph for the targets that differ in the same way.
type NegotiatedText struct {
	width int
	sides [2]string
}

// NewNegotiatedText makes a renderer with names for the two sides.
func NewNegotiatedText(o render.SummaryOptions, before, after string) *NegotiatedText {
	return &NegotiatedText{o.Width, [2]string{before, after}}
}

// paragraph is the text about some targets.
type paragraph struct {
	targets []string
	kind    string
	lines   schema.Marked
}

// Append appends the paragraphs, with empty lines between them.
func (s *NegotiatedText) Append(dst *schema.Marked, list []*comparison.Connection) {
	var paragraphs []*paragraph
	for _, c := range list {
		var lines schema.Marked
		s.lines(&lines, c)
		at := slices.IndexFunc(paragraphs, func(p *paragraph) bool { return p.kind == c.Kind && string(p.lines.Text) == string(lines.Text) })
		if at < 0 {
			at = len(paragraphs)
			paragraphs = append(paragraphs, &paragraph{kind: c.Kind, lines: lines})
		}
		paragraphs[at].targets = append(paragraphs[at].targets, string(schema.AppendText(nil, []byte(c.Target))))
	}
	for i, p := range paragraphs {
		if i > 0 {
			dst.Plain("\n")
		}
		heading := strings.Join(p.targets, " ")
		if p.kind != "" {
			heading += " (" + p.kind + ")"
		}
		begin := len(dst.Text)
		dst.Add(schema.Heading, heading)
		render.Wrap(dst, begin, 0, s.width)
		dst.Plain("\n")
		dst.Append(&p.lines)
	}
}

func (s *NegotiatedText) lines(dst *schema.Marked, c *comparison.Connection) {
	switch {
	case c.Before == nil:
		s.line(dst, "", indent, "", "connects captured: only "+s.sides[1])
	case c.After == nil:
		s.line(dst, "", indent, "", "connects captured: only "+s.sides[0])
	case len(c.Changed) == 0:
		s.line(dst, "", indent, "", same(c.Before))
	}
	for _, p := range c.Changed {
		switch p {
		case comparison.Asked:
			s.flags(dst, "asked", c.Before.Asked, c.After.Asked)
		case comparison.Granted:
			s.flags(dst, "granted", c.Before.Granted, c.After.Granted)
		case comparison.ClientVersion:
			s.both(dst, "client release", releases(c.Before.Clients), releases(c.After.Clients))
		case comparison.ServerVersion:
			s.both(dst, "server release", releases(c.Before.Servers), releases(c.After.Servers))
		case comparison.Evictions:
			s.both(dst, "evictions", evictions(c.Before), evictions(c.After))
		}
	}
}

func (s *NegotiatedText) flags(dst *schema.Marked, title string, before, after comparison.Flags) {
	s.line(dst, title, textColumn, "", "both: "+strconv.Itoa(before.Both(after).Count())+" flags")
	for i, only := range []comparison.Flags{before.Without(after), after.Without(before)} {
		if names := records.ConnectFlagNames(only); len(names) > 0 {
			s.line(dst, "", textColumn, "only "+s.sides[i]+":", strings.Join(names, " "))
		}
	}
}

func (s *NegotiatedText) both(dst *schema.Marked, title, before, after string) {
	s.line(dst, title, textColumn, "", s.sides[0]+before+", "+s.sides[1]+after)
}

// releases returns releases, each after a space.
func releases(versions []uint32) (text string) {
	for _, v := range versions {
		text += " " + string(schema.AppendVersion(nil, v))
	}
	return text
}

func evictions(n *comparison.Negotiated) string {
	if n == nil {
		return " 0"
	}
	return " " + strconv.Itoa(n.Evictions)
}

// same returns what both sides negotiated.
func same(n *comparison.Negotiated) string {
	var parts []string
	if n.HasAsked {
		parts = append(parts, strconv.Itoa(n.Asked.Count())+" flags asked")
	}
	if n.HasGranted {
		parts = append(parts, strconv.Itoa(n.Granted.Count())+" granted")
	}
	for _, v := range n.Clients {
		parts = append(parts, "client "+string(schema.AppendVersion(nil, v)))
	}
	for _, v := range n.Servers {
		parts = append(parts, "server "+string(schema.AppendVersion(nil, v)))
	}
	return "the same" + before(": ", strings.Join(parts, ", "))
}

// Columns of the lines about targets.
const (
	indent     = 2
	textColumn = 18
)

// line appends a line with a title, and from a column on a label and text that is wrapped behind it.
func (s *NegotiatedText) line(dst *schema.Marked, title string, at int, label, text string) {
	dst.Spaces(indent).Add(schema.Label, title).Spaces(at - indent - len(title))
	style := schema.NoRole
	if label != "" {
		at += render.Width([]byte(label)) + 1
		dst.Plain(label + " ")
		style = schema.Flag
	}
	width := s.width
	if width > 0 {
		const least = 24
		width = max(width, at+least)
	}
	begin := len(dst.Text)
	dst.Add(style, text)
	render.Wrap(dst, begin, at, width)
	dst.Plain("\n")
}
