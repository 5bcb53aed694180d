package render

import (
	"encoding/hex"
	"math"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes/schema"
)

// maxJSONInt is the largest integer that all readers of JSON represent exactly.
const maxJSONInt = 1 << 53

func isContainer(n *dissect.Node, i int) bool {
	if int(n.End) > i+1 {
		return true
	}
	switch n.Field.Kind {
	case schema.Record:
		return n.Field.Type.Atom == schema.Plain
	case schema.Array, schema.List, schema.Message:
		return true
	}
	return false
}

func isList(n *dissect.Node) bool {
	return n.Field.Kind == schema.Array || n.Field.Kind == schema.List
}

// appendFormat appends an integer in its field's format, without names.
func appendFormat(dst []byte, f *schema.Field, v uint64) []byte {
	switch f.Format {
	case schema.Hex, schema.Cookie:
		return schema.AppendHex(dst, v)
	case schema.Octal:
		return strconv.AppendUint(append(dst, '0'), v, 8)
	case schema.Size:
		if v == math.MaxUint64 {
			return append(dst, "EOF"...)
		}
	case schema.Version:
		return schema.AppendVersion(dst, uint32(v))
	case schema.NID4:
		return schema.AppendNID4(dst, v)
	case schema.IPv4:
		for i := 24; i >= 0; i -= 8 {
			dst = strconv.AppendUint(dst, v>>i&0xff, 10)
			if i > 0 {
				dst = append(dst, '.')
			}
		}
		return dst
	}
	if f.Kind == schema.Int {
		return strconv.AppendInt(dst, int64(v), 10)
	}
	return strconv.AppendUint(dst, v, 10)
}

// appendAtom appends a struct that is one value.
func appendAtom(dst []byte, t *dissect.Tree, n *dissect.Node) []byte {
	b, big := t.Bytes(n), n.Is(dissect.BigEndian)
	format := n.Field.Format
	if format == schema.Plain {
		format = n.Field.Type.Atom
	}
	switch format {
	case schema.FID:
		return schema.AppendFIDBytes(dst, b, big)
	case schema.OSTID, schema.OSTIDPlain:
		return schema.AppendOSTID(dst, b, big, format == schema.OSTIDPlain)
	case schema.NID:
		return schema.AppendNIDBytes(dst, b)
	case schema.Handle:
		return schema.AppendHex(dst, schema.ReadUint(b[:min(8, len(b))], false))
	case schema.UUID:
		return schema.AppendText(dst, schema.TrimNUL(b))
	}
	return hex.AppendEncode(dst, b)
}

// AppendFlags appends the names of a word's bits with a separator, unknown bits
// as a number at the end; "0" when no bit is set.
func AppendFlags(dst []byte, names *schema.Names, word uint64, sep string) []byte {
	first := true
	rest := names.Set(word, func(v *schema.Value) {
		if !first {
			dst = append(dst, sep...)
		}
		first = false
		dst = append(dst, v.Name...)
	})
	if rest != 0 {
		if !first {
			dst = append(dst, sep...)
		}
		return schema.AppendHex(dst, rest)
	}
	if first {
		dst = append(dst, '0')
	}
	return dst
}

// appendNodeValue appends the value of a node without parts as plain text.
func appendNodeValue(dst []byte, t *dissect.Tree, n *dissect.Node) []byte {
	f := n.Field
	if n.Src == dissect.InText {
		return schema.AppendText(dst, t.Bytes(n))
	}
	if n.Is(dissect.Undecoded) {
		return hex.AppendEncode(dst, t.Bytes(n))
	}
	switch f.Kind {
	case schema.Uint, schema.Int:
		if f.Names != nil && f.Names.Flags && n.Is(dissect.NotValid) {
			return schema.AppendHex(dst, n.Val)
		}
		if f.Names == nil || n.Is(dissect.NotValid) {
			return appendFormat(dst, f, n.Val)
		}
		if f.Names.Flags {
			return AppendFlags(dst, f.Names, n.Val, "|")
		}
		if name := f.Names.Name(n.Val); name != "" {
			return append(dst, name...)
		}
		return appendFormat(dst, f, n.Val)
	case schema.Record:
		return appendAtom(dst, t, n)
	case schema.Text:
		return schema.AppendText(dst, schema.TrimNUL(t.Bytes(n)))
	case schema.Strings:
		return appendStrings(dst, t.Bytes(n))
	}
	return hex.AppendEncode(dst, t.Bytes(n))
}

func appendStrings(dst, b []byte) []byte {
	for first := true; len(b) > 0; first = false {
		s := schema.TrimNUL(b)
		if !first {
			dst = append(dst, ',')
		}
		dst = schema.AppendText(dst, s)
		b = b[min(len(s)+1, len(b)):]
	}
	return dst
}
