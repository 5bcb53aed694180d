package render

import (
	"strings"

	"github.com/fatih/color"

	"github.com/lshark/lshark/opcodes/schema"
)

// Style is the look of a piece of text: the escape sequences before and after
// it. The zero Style is plain.
type Style struct{ on, off string }

// Colors are the styles by meaning. The zero value is plain text.
type Colors struct {
	NID  Style // nodes, uuids, targets
	FID  Style // FIDs, object ids, handles
	Name Style // names of files, xattrs, keys
	Num  Style // sizes, offsets, counts
	Good Style // a success
	Bad  Style // an error
	Warn Style // something missing or unexpected
	Flag Style // flags, modes, states
	Dim  Style // labels, punctuation, unimportant values
	Key  Style // field names
	Op   Style // operations
	Head Style // headings

	roles [8]*Style // of parts of summary lines
}

// NewColors makes the styles for a terminal, or plain ones.
func NewColors(on bool) *Colors {
	c := &Colors{}
	if on {
		*c = Colors{
			NID: style(color.FgBlue), FID: style(color.FgMagenta), Name: style(color.FgYellow),
			Num: style(color.FgCyan), Good: style(color.FgGreen), Bad: style(color.FgRed, color.Bold),
			Warn: style(color.FgYellow, color.Bold), Flag: style(color.FgGreen), Dim: style(color.Faint),
			Key: style(color.FgBlue), Op: style(color.Bold), Head: style(color.Bold),
		}
	}
	c.roles = [...]*Style{schema.Dim: &c.Dim, schema.Name: &c.Name, schema.Object: &c.FID, schema.Number: &c.Num,
		schema.Node: &c.NID, schema.Good: &c.Good, schema.Bad: &c.Bad, schema.Flag: &c.Flag}
	return c
}

// style computes the escape sequences once.
func style(a ...color.Attribute) Style {
	const text = "\x00"
	c := color.New(a...)
	c.EnableColor()
	on, off, _ := strings.Cut(c.Sprint(text), text)
	return Style{on, off}
}

// Append appends text in this style.
func (s *Style) Append(dst []byte, text string) []byte {
	return s.end(append(s.begin(dst), text...))
}

// AppendTruncated appends text in this style, which ends with … when it is
// wider than a number of columns.
func (s *Style) AppendTruncated(dst, text []byte, columns int) []byte {
	dst = s.begin(dst)
	if fits(text, columns) {
		return s.end(append(dst, text...))
	}
	return s.end(append(append(dst, truncate(text, columns-1)...), "…"...))
}

// begin appends the escape sequence before text in this style.
func (s *Style) begin(dst []byte) []byte {
	if s.on != "" {
		dst = append(dst, s.on...)
	}
	return dst
}

// end appends the escape sequence after text in this style.
func (s *Style) end(dst []byte) []byte {
	if s.off != "" {
		dst = append(dst, s.off...)
	}
	return dst
}
