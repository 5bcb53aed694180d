package render

import (
	"encoding/hex"
	"strconv"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

func (r *Tree) leaf(dst []byte, i, depth, label int) []byte {
	n := &r.tree.Nodes[i]
	dst, column := r.name(dst, n, depth, max(label, 1))
	switch {
	case n.Is(dissect.Missing):
		dst = r.c.Warn.begin(dst)
		dst = strconv.AppendInt(dst, int64(n.Len), 10)
		dst = append(append(dst, " bytes missing, "...), lnet.Why(n.Val).String()...)
		return append(append(dst, r.c.Warn.off...), '\n')
	case n.Is(dissect.NotValid):
		dst = r.c.Dim.begin(dst)
		dst = appendNodeValue(dst, &r.tree, n)
		dst = r.c.Dim.end(dst)
	default:
		dst = r.value(dst, n, column)
		dst = r.remarks(dst, i)
	}
	return r.endLine(dst, n, depth)
}

// endLine ends the line of a value, with Hex after its offset and bytes.
func (r *Tree) endLine(dst []byte, n *dissect.Node, depth int) []byte {
	if !r.opt.Hex {
		return append(dst, '\n')
	}
	return r.dump(append(r.span(dst, n), '\n'), n, depth+1)
}

// value appends a value in its style, with its meaning in brackets. It begins
// in a column.
func (r *Tree) value(dst []byte, n *dissect.Node, column int) []byte {
	f := n.Field
	if f.Names != nil && f.Kind <= schema.Int {
		if f.Names.Flags {
			return r.flags(dst, n, column)
		}
		return r.enum(dst, n)
	}
	st := r.style(f)
	dst = st.begin(dst)
	switch {
	case f.Kind == schema.Bytes || n.Is(dissect.Undecoded):
		dst = r.bytes(dst, n)
	case f.Kind == schema.Text && n.Src != dissect.InText:
		dst = append(schema.AppendText(append(dst, '"'), schema.TrimNUL(r.tree.Bytes(n))), '"')
	default:
		dst = appendNodeValue(dst, &r.tree, n)
	}
	dst = st.end(dst)
	switch f.Format {
	case schema.Time, schema.Size, schema.Errno:
		return r.meaning(dst, n)
	}
	return dst
}

func (r *Tree) style(f *schema.Field) *Style {
	c := r.c
	switch f.Kind {
	case schema.Text, schema.Strings:
		return &c.Name
	case schema.Virtual, schema.Bytes:
		return &Style{}
	}
	switch f.Format {
	case schema.NID, schema.NID4, schema.IPv4, schema.UUID:
		return &c.NID
	case schema.FID, schema.OSTID, schema.OSTIDPlain, schema.Handle, schema.Cookie, schema.ID:
		return &c.FID
	}
	return &c.Num
}

func (r *Tree) enum(dst []byte, n *dissect.Node) []byte {
	name := n.Field.Names.Name(n.Val)
	if name == "" {
		r.text = appendFormat(r.text[:0], n.Field, n.Val)
		return r.c.Num.end(append(r.c.Num.begin(dst), r.text...))
	}
	dst = r.c.Flag.Append(dst, name)
	dst = append(r.c.Dim.begin(append(dst, ' ')), '(')
	if n.Field.Format == schema.Plain && n.Val >= minHex {
		dst = schema.AppendHex(dst, n.Val)
	} else {
		dst = appendFormat(dst, n.Field, n.Val)
	}
	return r.c.Dim.end(append(dst, ')'))
}

// minHex is the lowest value of an enumeration that is shown in hexadecimal.
const minHex = 1 << 16

// flags appends a flag word and the names of its bits, wrapped at the width of
// the terminal.
func (r *Tree) flags(dst []byte, n *dissect.Node, column int) []byte {
	at := column
	put := func(st *Style) {
		dst, at = r.space(dst, column, at, len(r.text))
		dst = st.end(append(st.begin(dst), r.text...))
	}
	r.text = schema.AppendHex(r.text[:0], n.Val)
	put(&r.c.Dim)
	rest := n.Field.Names.Set(n.Val, func(v *schema.Value) {
		r.text = append(r.text[:0], v.Name...)
		put(&r.c.Flag)
	})
	if rest != 0 && rest != n.Val {
		r.text = schema.AppendHex(r.text[:0], rest)
		put(&r.c.Warn)
	}
	return dst
}

// meaning appends, in brackets, a number as date, size or name of an error.
func (r *Tree) meaning(dst []byte, n *dissect.Node) []byte {
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
		return dst
	}
	dst = append(r.c.Dim.begin(append(dst, ' ')), '(')
	return r.c.Dim.end(append(append(dst, r.text...), ')'))
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

// bytes appends the first bytes of opaque data.
func (r *Tree) bytes(dst []byte, n *dissect.Node) []byte {
	const shown = 32
	b := r.tree.Bytes(n)
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

// span appends the offset and size of a node, and its bytes when they are few.
func (r *Tree) span(dst []byte, n *dissect.Node) []byte {
	if !r.opt.Hex || !onWire(n) {
		return dst
	}
	dst = append(append(append(dst, "  "...), r.c.Dim.on...), '[')
	dst = strconv.AppendInt(dst, int64(n.Off), 10)
	dst = strconv.AppendInt(append(dst, ':'), int64(n.Len), 10)
	dst = append(dst, ']')
	if b := r.tree.Bytes(n); len(b) <= maxInline {
		dst = appendSpaced(append(dst, ' '), b)
	}
	return append(dst, r.c.Dim.off...)
}

// onWire reports whether the bytes of a node were captured.
func onWire(n *dissect.Node) bool { return n.Src != dissect.InText && n.Src != dissect.Implied }

// dump appends the bytes of a node in lines of 16, as hex and as text.
func (r *Tree) dump(dst []byte, n *dissect.Node, depth int) []byte {
	const line = 16
	if !r.opt.Hex || !onWire(n) {
		return dst
	}
	b := r.tree.Bytes(n)
	if len(b) <= maxInline {
		return dst
	}
	for at := 0; at < len(b); at += line {
		part := b[at:min(at+line, len(b))]
		dst = append(AppendSpaces(dst, depth*indent), r.c.Dim.on...)
		const digits = 6
		r.text = strconv.AppendInt(r.text[:0], int64(n.Off)+int64(at), 10)
		dst = append(AppendSpaces(dst, digits-len(r.text)), r.text...)
		dst = append(dst, ' ', ' ')
		dst = appendSpaced(dst, part)
		dst = AppendSpaces(dst, 3*(line-len(part))+2)
		for _, c := range part {
			if c < ' ' || c >= 0x7f {
				c = '.'
			}
			dst = append(dst, c)
		}
		dst = append(append(dst, r.c.Dim.off...), '\n')
	}
	return dst
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
