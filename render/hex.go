package render

import (
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes/schema"
)

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
