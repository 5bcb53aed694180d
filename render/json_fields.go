package render

import (
	"math"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes/schema"
)

// appendMembers appends ,"name":value for the nodes from i to end, but for those that were not
// captured. The caller may overwrite the first comma with a bracket.
func appendMembers(dst []byte, t *dissect.Tree, i, end int) []byte {
	for nodes := t.Nodes[:end]; i < len(nodes); i = int(nodes[i].End) {
		n := &nodes[i]
		if n.State&(dissect.Missing|dissect.Remark) != 0 {
			continue
		}
		start := len(dst)
		dst = append(dst, n.Field.Key...)
		value := len(dst)
		dst = AppendNodeJSON(dst, t, i)
		if len(dst) == value+2 && dst[value] == '{' && int(n.End) > i+1 { // all parts are missing
			dst = dst[:start]
		}
	}
	return dst
}

// AppendNodeJSON appends the value of the i-th node of a tree, with its parts.
func AppendNodeJSON(dst []byte, t *dissect.Tree, i int) []byte {
	n := &t.Nodes[i]
	switch {
	case n.Field.Kind <= schema.Int && n.Src != dissect.InText && !n.Is(dissect.Undecoded):
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
	return endJSON(appendMembers(dst, t, i+1, int(n.End)), start, "{}")
}

// endJSON puts brackets around what was appended from start on, in place of its first comma.
func endJSON(dst []byte, start int, brackets string) []byte {
	if len(dst) == start {
		return append(dst, brackets...)
	}
	dst[start] = brackets[0]
	return append(dst, brackets[1])
}

func appendList(dst []byte, t *dissect.Tree, i int) []byte {
	nodes, start := t.Nodes[:t.Nodes[i].End], len(dst)
	for k := i + 1; k < len(nodes); k = int(nodes[k].End) {
		if nodes[k].State&(dissect.Missing|dissect.Remark) == 0 {
			dst = AppendNodeJSON(append(dst, ','), t, k)
		}
	}
	return endJSON(dst, start, "[]")
}

// appendJSONLeaf appends a value that is no integer: as text, in quotes.
func appendJSONLeaf(dst []byte, t *dissect.Tree, n *dissect.Node) []byte {
	switch f := n.Field; {
	case n.Src == dissect.InText:
		return schema.AppendJSONString(dst, t.Bytes(n))
	case n.Is(dissect.Undecoded):
	case f.Kind == schema.Text, f.Kind == schema.Record && f.Type.Atom == schema.UUID:
		return schema.AppendJSONString(dst, schema.TrimNUL(t.Bytes(n)))
	case f.Kind == schema.Strings:
		return append(appendStrings(append(dst, '['), t.Bytes(n), schema.AppendJSONString), ']')
	}
	return append(appendNodeValue(append(dst, '"'), t, n), '"')
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
	switch {
	case f.Style == schema.Signed:
		return appendJSONNumber(dst, int64(n.Val))
	case f.Style == schema.Status:
		return appendJSONNumber(dst, schema.ErrnoValue(n.Val))
	case f.Style == schema.Spelled, f.Style == schema.Amount && n.Val == math.MaxUint64: // EOF
		return append(appendFormat(append(dst, '"'), f, n.Val), '"')
	}
	return appendJSONUint(dst, n.Val)
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
	case v >= 0:
		return appendJSONUint(dst, uint64(v))
	case v >= -maxJSONInt:
		return strconv.AppendInt(dst, v, 10)
	}
	return append(strconv.AppendInt(append(dst, '"'), v, 10), '"')
}

func appendJSONFlags(dst []byte, names *schema.Names, word uint64) []byte {
	if word == 0 {
		return append(dst, "[]"...)
	}
	return append(schema.AppendFlags(append(dst, `["`...), names, word, `","`), `"]`...)
}
