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
		for _, line := range wrapWords(strings.Fields(heading), s.width) {
			dst.Add(schema.Heading, line).Plain("\n")
		}
		dst.Append(&p.lines)
	}
}

func (s *NegotiatedText) lines(dst *schema.Marked, c *comparison.Connection) {
	switch {
	case c.Before == nil:
		dst.Spaces(indent)
		s.line(dst, indent, "", []string{"connects captured: only " + s.sides[1]})
	case c.After == nil:
		dst.Spaces(indent)
		s.line(dst, indent, "", []string{"connects captured: only " + s.sides[0]})
	case len(c.Changed) == 0:
		dst.Spaces(indent)
		s.line(dst, indent, "", strings.Fields(same(c.Before)))
		return
	}
	for _, p := range c.Changed {
		switch p {
		case comparison.Asked:
			s.flags(dst, "asked", c.Before.Asked, c.After.Asked)
		case comparison.Granted:
			s.flags(dst, "granted", c.Before.Granted, c.After.Granted)
		case comparison.ClientVersion:
			s.versions(dst, "client release", c.Before.Clients, c.After.Clients)
		case comparison.ServerVersion:
			s.versions(dst, "server release", c.Before.Servers, c.After.Servers)
		case comparison.Evictions:
			s.evictions(dst, c)
		}
	}
}

func (s *NegotiatedText) flags(dst *schema.Marked, title string, before, after comparison.Flags) {
	s.title(dst, title)
	s.line(dst, textColumn, "", []string{"both: " + strconv.Itoa(before.Both(after).Count()) + " flags"})
	for i, only := range []comparison.Flags{before.Without(after), after.Without(before)} {
		if names := records.ConnectFlagNames(only); len(names) > 0 {
			dst.Spaces(textColumn)
			s.line(dst, textColumn, "only "+s.sides[i]+":", names)
		}
	}
}

// same returns what both sides negotiated.
func same(n *comparison.Negotiated) string {
	text := "the same"
	sep := ": "
	add := func(part string) {
		text += sep + part
		sep = ", "
	}
	if n.HasAsked {
		add(strconv.Itoa(n.Asked.Count()) + " flags asked")
	}
	if n.HasGranted {
		add(strconv.Itoa(n.Granted.Count()) + " granted")
	}
	for _, v := range n.Clients {
		add("client " + string(schema.AppendVersion(nil, v)))
	}
	for _, v := range n.Servers {
		add("server " + string(schema.AppendVersion(nil, v)))
	}
	return text
}

func (s *NegotiatedText) versions(dst *schema.Marked, title string, before, after []uint32) {
	s.title(dst, title)
	var parts []string
	for i, list := range [][]uint32{before, after} {
		part := s.sides[i]
		for _, v := range list {
			part += " " + string(schema.AppendVersion(nil, v))
		}
		parts = append(parts, part)
	}
	parts[0] += ","
	s.line(dst, textColumn, "", parts)
}

func (s *NegotiatedText) evictions(dst *schema.Marked, c *comparison.Connection) {
	var parts []string
	for i, n := range []*comparison.Negotiated{c.Before, c.After} {
		evictions := 0
		if n != nil {
			evictions = n.Evictions
		}
		parts = append(parts, s.sides[i]+" "+strconv.Itoa(evictions))
	}
	parts[0] += ","
	s.title(dst, "evictions")
	s.line(dst, textColumn, "", parts)
}

// Columns of the lines about targets.
const (
	indent     = 2
	textColumn = 18
)

// title appends the beginning of a line, up to textColumn.
func (s *NegotiatedText) title(dst *schema.Marked, title string) {
	dst.Spaces(indent).Add(schema.Label, title).Spaces(textColumn - indent - len(title))
}

// line appends the rest of a line from a column on: a label, and words that are
// wrapped behind it.
func (s *NegotiatedText) line(dst *schema.Marked, at int, label string, words []string) {
	style := schema.NoRole
	dst.Text = append(dst.Text, label...)
	if label != "" {
		at += render.Width([]byte(label)) + 1
		dst.Plain(" ")
		style = schema.Flag
	}
	room := 0
	if s.width > 0 {
		const least = 24
		room = max(s.width-at, least)
	}
	for i, line := range wrapWords(words, room) {
		if i > 0 {
			dst.Spaces(at)
		}
		dst.Add(style, line).Plain("\n")
	}
}

// wrapWords joins words to lines of at most a width in columns; 0: one line.
func wrapWords(words []string, width int) []string {
	return strings.Split(string(render.AppendWrapped(nil, strings.Join(words, " "), 0, width)), "\n")
}
