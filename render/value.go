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
	case schema.Version, schema.IPv4: // four numbers with dots between them
		return schema.AppendVersion(dst, uint32(v))
	case schema.NID4:
		return schema.AppendNID4(dst, v)
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
		switch {
		case f.Names == nil:
		case f.Names.Flags && n.Is(dissect.NotValid):
			return schema.AppendHex(dst, n.Val)
		case n.Is(dissect.NotValid):
		case f.Names.Flags:
			return schema.AppendFlags(dst, f.Names, n.Val, "|")
		default:
			if name := f.Names.Name(n.Val); name != "" {
				return append(dst, name...)
			}
		}
		return appendFormat(dst, f, n.Val)
	case schema.Record:
		return appendAtom(dst, t, n)
	case schema.Text:
		return schema.AppendText(dst, schema.TrimNUL(t.Bytes(n)))
	case schema.Strings:
		return appendStrings(dst, t.Bytes(n), schema.AppendText)
	}
	return hex.AppendEncode(dst, t.Bytes(n))
}

// appendStrings appends texts of which each has a NUL behind it, with commas between them.
func appendStrings(dst, b []byte, one func(dst, text []byte) []byte) []byte {
	for first := true; len(b) > 0; first = false {
		if !first {
			dst = append(dst, ',')
		}
		text := schema.TrimNUL(b)
		dst = one(dst, text)
		b = b[min(len(text)+1, len(b)):]
	}
	return dst
}

// appendTexts appends texts of the wire with a separator between them.
func appendTexts(dst []byte, texts []string, sep string) []byte {
	return appendJoined(dst, texts, sep, func(dst []byte, s string) []byte { return schema.AppendText(dst, []byte(s)) })
}

// appendJoined appends the elements of a list with a separator between them.
func appendJoined[T any](dst []byte, list []T, sep string, one func(dst []byte, element T) []byte) []byte {
	for i, element := range list {
		if i > 0 {
			dst = append(dst, sep...)
		}
		dst = one(dst, element)
	}
	return dst
}
