package render

import (
	"encoding/hex"
	"math"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes/schema"
)

// appendMembers appends ,"name":value for the nodes from i to end. The caller
// may overwrite the first comma with a bracket.
func appendMembers(dst []byte, t *dissect.Tree, i, end int) []byte {
	nodes := t.Nodes[:end]
	for i < len(nodes) {
		n := &nodes[i]
		switch {
		case n.State&(dissect.Missing|dissect.Remark) != 0:
		case isInteger(n):
			dst = appendJSONInteger(append(dst, n.Field.Key...), n)
		default:
			dst = appendMember(dst, t, i)
		}
		i = int(n.End)
	}
	return dst
}

// appendMember appends ,"name":value of a node that is not an integer, or
// nothing when all of its parts are missing.
func appendMember(dst []byte, t *dissect.Tree, i int) []byte {
	start := len(dst)
	dst = append(dst, t.Nodes[i].Field.Key...)
	value := len(dst)
	dst = AppendNodeJSON(dst, t, i)
	if len(dst) == value+2 && dst[value] == '{' && int(t.Nodes[i].End) > i+1 {
		return dst[:start]
	}
	return dst
}

func isInteger(n *dissect.Node) bool {
	return n.Field.Kind <= schema.Int && n.Src != dissect.InText && !n.Is(dissect.Undecoded)
}

// AppendNodeJSON appends the value of the i-th node of a tree, with its parts.
func AppendNodeJSON(dst []byte, t *dissect.Tree, i int) []byte {
	n := &t.Nodes[i]
	switch {
	case isInteger(n):
		return appendJSONInteger(dst, n)
	case !isContainer(n, i):
		return appendJSONLeaf(dst, t, n)
	case isList(n):
		return appendList(dst, t, i)
	}
	start := len(dst)
	if n.Tag && n.Field.Kind == schema.Record {
		dst = append(append(append(dst, `,"_struct":"`...), n.Field.Type.Name...), '"')
	}
	dst = appendMembers(dst, t, i+1, int(n.End))
	if len(dst) == start {
		return append(dst, "{}"...)
	}
	dst[start] = '{'
	return append(dst, '}')
}

func appendList(dst []byte, t *dissect.Tree, i int) []byte {
	nodes, start := t.Nodes[:t.Nodes[i].End], len(dst)
	for k := i + 1; k < len(nodes); k = int(nodes[k].End) {
		if nodes[k].State&(dissect.Missing|dissect.Remark) == 0 {
			dst = AppendNodeJSON(append(dst, ','), t, k)
		}
	}
	if len(dst) == start {
		return append(dst, "[]"...)
	}
	dst[start] = '['
	return append(dst, ']')
}

func appendJSONLeaf(dst []byte, t *dissect.Tree, n *dissect.Node) []byte {
	if n.Src == dissect.InText {
		return schema.AppendJSONString(dst, t.Bytes(n))
	}
	if !n.Is(dissect.Undecoded) {
		switch n.Field.Kind {
		case schema.Record:
			if n.Field.Type.Atom == schema.UUID {
				return schema.AppendJSONString(dst, schema.TrimNUL(t.Bytes(n)))
			}
			return append(appendAtom(append(dst, '"'), t, n), '"')
		case schema.Text:
			return schema.AppendJSONString(dst, schema.TrimNUL(t.Bytes(n)))
		case schema.Strings:
			return appendJSONStrings(dst, t.Bytes(n))
		}
	}
	return append(hex.AppendEncode(append(dst, '"'), t.Bytes(n)), '"')
}

func appendJSONInteger(dst []byte, n *dissect.Node) []byte {
	f := n.Field
	if f.Names != nil {
		if f.Names.Flags {
			if n.Is(dissect.NotValid) && n.Val != 0 {
				return append(schema.AppendHex(append(dst, `["`...), n.Val), `"]`...)
			}
			return appendJSONFlags(dst, f.Names, n.Val)
		}
		if !n.Is(dissect.NotValid) {
			if name := f.Names.Name(n.Val); name != "" {
				return append(append(append(dst, '"'), name...), '"')
			}
		}
	}
	switch f.Style {
	case schema.Decimal:
		if n.Val <= maxJSONInt {
			return strconv.AppendUint(dst, n.Val, 10)
		}
	case schema.Signed:
		return appendJSONNumber(dst, int64(n.Val))
	case schema.Status:
		return appendJSONNumber(dst, schema.ErrnoValue(n.Val))
	case schema.Amount:
		if n.Val <= maxJSONInt {
			return strconv.AppendUint(dst, n.Val, 10)
		}
		if n.Val == math.MaxUint64 {
			return append(dst, `"EOF"`...)
		}
	default:
		return append(appendFormat(append(dst, '"'), f, n.Val), '"')
	}
	return append(strconv.AppendUint(append(dst, '"'), n.Val, 10), '"')
}

// appendJSONUint appends a number, as a string where readers of JSON would round
// it.
func appendJSONUint(dst []byte, v uint64) []byte {
	if v > maxJSONInt {
		return append(strconv.AppendUint(append(dst, '"'), v, 10), '"')
	}
	return strconv.AppendUint(dst, v, 10)
}

// appendJSONNumber appends an integer, as a string where readers of JSON would
// round it.
func appendJSONNumber(dst []byte, v int64) []byte {
	switch {
	case v >= 0 && v <= maxJSONInt:
		return strconv.AppendUint(dst, uint64(v), 10)
	case v < 0 && v >= -maxJSONInt:
		return strconv.AppendInt(dst, v, 10)
	}
	return append(strconv.AppendInt(append(dst, '"'), v, 10), '"')
}

func appendJSONFlags(dst []byte, names *schema.Names, word uint64) []byte {
	if word == 0 {
		return append(dst, '[', ']')
	}
	dst = append(dst, '[')
	rest := names.Set(word, func(v *schema.Value) {
		dst = append(append(append(dst, '"'), v.Name...), '"', ',')
	})
	if rest != 0 {
		return append(schema.AppendHex(append(dst, '"'), rest), '"', ']')
	}
	if dst[len(dst)-1] == ',' {
		dst[len(dst)-1] = ']'
		return dst
	}
	return append(dst, ']')
}

func appendJSONStrings(dst, b []byte) []byte {
	dst = append(dst, '[')
	for first := true; len(b) > 0; first = false {
		s := schema.TrimNUL(b)
		if !first {
			dst = append(dst, ',')
		}
		dst = schema.AppendJSONString(dst, s)
		b = b[min(len(s)+1, len(b)):]
	}
	return append(dst, ']')
}
