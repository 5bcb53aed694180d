package render

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

func (r *Tree) leaf(dst *schema.Marked, i, depth, label int) {
	n := &r.tree.Nodes[i]
	column := r.name(dst, n, depth, max(label, 1))
	begin := len(dst.Text)
	switch {
	case n.Is(dissect.Missing):
		dst.Text = strconv.AppendInt(dst.Text, int64(n.Len), 10)
		dst.Plain(" bytes missing, ").Plain(lnet.Why(n.Val).String())
		dst.MarkFrom(begin, schema.Warning)
		dst.Plain("\n")
		return
	case n.Is(dissect.Zeros):
		dst.Text = append(strconv.AppendInt(dst.Text, int64(n.Len), 10), " zero bytes"...)
		dst.MarkFrom(begin, schema.Dim)
	case n.Is(dissect.NotValid):
		dst.Text = appendNodeValue(dst.Text, &r.tree, n)
		dst.MarkFrom(begin, schema.Dim)
	default:
		r.value(dst, n, column)
		r.remarks(dst, n, int(n.End))
	}
	r.endLine(dst, n, depth)
}

// endLine ends the line of a value, with Hex after its offset and bytes.
func (r *Tree) endLine(dst *schema.Marked, n *dissect.Node, depth int) {
	r.span(dst, n)
	dst.Plain("\n")
	r.dump(dst, n, depth+1)
}

// value appends a value in its style, with its meaning in brackets. It begins
// in a column.
func (r *Tree) value(dst *schema.Marked, n *dissect.Node, column int) {
	f := n.Field
	if f.Names != nil && f.Kind <= schema.Int {
		if f.Names.Flags {
			r.flags(dst, n, column)
			return
		}
		r.enum(dst, n)
		return
	}
	begin := len(dst.Text)
	switch {
	case f.Kind == schema.Bytes || n.Is(dissect.Undecoded):
		dst.Text = appendFirstBytes(dst.Text, r.tree.Bytes(n))
	case f.Kind == schema.Text && n.Src != dissect.InText:
		dst.Text = append(schema.AppendText(append(dst.Text, '"'), schema.TrimNUL(r.tree.Bytes(n))), '"')
	default:
		dst.Text = appendNodeValue(dst.Text, &r.tree, n)
	}
	dst.MarkFrom(begin, roleOfField(f))
	r.meaning(dst, n)
}

func roleOfField(f *schema.Field) schema.Role {
	switch f.Kind {
	case schema.Text, schema.Strings:
		return schema.Name
	case schema.Virtual, schema.Bytes:
		return schema.NoRole
	}
	switch f.Format {
	case schema.NID, schema.NID4, schema.IPv4, schema.UUID:
		return schema.Node
	case schema.FID, schema.OSTID, schema.OSTIDPlain, schema.Handle, schema.Cookie, schema.ID:
		return schema.Object
	}
	return schema.Number
}

func (r *Tree) enum(dst *schema.Marked, n *dissect.Node) {
	begin, name := len(dst.Text), n.Field.Names.Name(n.Val)
	if name == "" {
		dst.Text = appendFormat(dst.Text, n.Field, n.Val)
		dst.MarkFrom(begin, schema.Number)
		return
	}
	dst.Add(schema.Flag, name).Plain(" ")
	begin = len(dst.Text)
	dst.Plain("(")
	if n.Field.Format == schema.Plain && n.Val >= minHex {
		dst.Text = schema.AppendHex(dst.Text, n.Val)
	} else {
		dst.Text = appendFormat(dst.Text, n.Field, n.Val)
	}
	dst.Plain(")")
	dst.MarkFrom(begin, schema.Dim)
}

// minHex is the lowest value of an enumeration that is shown in hexadecimal.
const minHex = 1 << 16

// flags appends a flag word and the names of its bits, wrapped at the width of
// the terminal.
func (r *Tree) flags(dst *schema.Marked, n *dissect.Node, column int) {
	begin := len(dst.Text)
	r.text = schema.AppendHex(r.text[:0], n.Val)
	dst.AddBytes(schema.Dim, r.text)
	rest := n.Field.Names.Set(n.Val, func(v *schema.Value) {
		dst.Plain(" ").Add(schema.Flag, v.Name)
	})
	if rest != 0 && rest != n.Val {
		r.text = schema.AppendHex(r.text[:0], rest)
		dst.Plain(" ").AddBytes(schema.Warning, r.text)
	}
	Wrap(dst, begin, column, r.opt.Width)
}

// meaning appends, in brackets, a number as date, size or name of an error.
func (r *Tree) meaning(dst *schema.Marked, n *dissect.Node) {
	r.text = r.text[:0]
	switch f := n.Field; f.Format {
	case schema.Time:
		const year2200 = 7258118400
		if n.Val > 0 && n.Val < year2200 {
			r.text = time.Unix(int64(n.Val), 0).UTC().AppendFormat(r.text, "2006-01-02 15:04:05 UTC")
		}
	case schema.Size:
		r.text = appendUnits(r.text, n.Val)
	case schema.Errno:
		if v := schema.ErrnoValue(n.Val); v < 0 && v > -1<<16 {
			r.text = append(r.text, schema.Errnos.Name(uint64(-v))...)
		}
	}
	if len(r.text) == 0 {
		return
	}
	dst.Plain(" ")
	begin := len(dst.Text)
	dst.Text = append(append(append(dst.Text, '('), r.text...), ')')
	dst.MarkFrom(begin, schema.Dim)
}

// appendUnits appends a multiple of 1024 in KiB, MiB …, nothing for other sizes.
func appendUnits(dst []byte, v uint64) []byte {
	const units = "KMGTP"
	u := -1
	for v >= 1024 && v&1023 == 0 && u+1 < len(units) {
		v >>= 10
		u++
	}
	if u < 0 || v >= 1<<20 {
		return dst
	}
	dst = strconv.AppendUint(dst, v, 10)
	return append(dst, ' ', units[u], 'i', 'B')
}

// appendFirstBytes appends the first bytes of opaque data.
func appendFirstBytes(dst, b []byte) []byte {
	const shown = 32
	dst = hex.AppendEncode(dst, b[:min(len(b), shown)])
	if len(b) > shown {
		dst = append(dst, "… "...)
		dst = strconv.AppendInt(dst, int64(len(b)), 10)
		dst = append(dst, " bytes"...)
	}
	return dst
}

// maxInline is how many bytes are shown in the line of their field.
const maxInline = 8

// span appends, with Hex, the offset and size of a node, and its bytes when they are few.
func (r *Tree) span(dst *schema.Marked, n *dissect.Node) {
	if !r.opt.Hex || !onWire(n) {
		return
	}
	dst.Plain("  ")
	begin := len(dst.Text)
	dst.Text = strconv.AppendInt(append(dst.Text, '['), int64(n.Off), 10)
	dst.Text = append(strconv.AppendInt(append(dst.Text, ':'), int64(n.Len), 10), ']')
	if b := r.tree.Bytes(n); len(b) <= maxInline {
		dst.Text = appendSpaced(append(dst.Text, ' '), b)
	}
	dst.MarkFrom(begin, schema.Dim)
}

// onWire reports whether the bytes of a node were captured.
func onWire(n *dissect.Node) bool { return n.Src != dissect.InText && n.Src != dissect.Implied }

// dump appends, with Hex, the bytes of a node in lines of 16, as hex and as text.
func (r *Tree) dump(dst *schema.Marked, n *dissect.Node, depth int) {
	const line = 16
	b := r.tree.Bytes(n)
	if !r.opt.Hex || !onWire(n) || n.Is(dissect.Zeros) || len(b) <= maxInline {
		return
	}
	for at := 0; at < len(b); at += line {
		part := b[at:min(at+line, len(b))]
		dst.Spaces(depth * indent)
		begin := len(dst.Text)
		const digits = 6
		r.text = strconv.AppendInt(r.text[:0], int64(n.Off)+int64(at), 10)
		dst.Spaces(digits - len(r.text))
		dst.Text = append(append(dst.Text, r.text...), "  "...)
		dst.Text = appendSpaced(dst.Text, part)
		dst.Spaces(3*(line-len(part)) + 2)
		for _, c := range part {
			if c < ' ' || c >= 0x7f {
				c = '.'
			}
			dst.Text = append(dst.Text, c)
		}
		dst.MarkFrom(begin, schema.Dim)
		dst.Plain("\n")
	}
}

func appendSpaced(dst, b []byte) []byte {
	for i, c := range b {
		if i > 0 {
			dst = append(dst, ' ')
		}
		dst = schema.AppendHexDigits(dst, uint64(c), 2)
	}
	return dst
}
