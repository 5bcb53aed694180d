package render

import (
	"math"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
)

// appendMember appends ,"name":value, or nothing when there is no value.
func appendMember(dst []byte, t *dissect.Tree, i int) []byte {
	n := &t.Nodes[i]
	if n.State&(dissect.Missing|dissect.Remark) != 0 {
		return dst
	}
	start := len(dst)
	if dst[start-1] != '{' {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, n.Name...)
	dst = append(dst, '"', ':')
	if isInteger(n) {
		return appendJSONInteger(dst, n)
	}
	value := len(dst)
	dst = appendValue(dst, t, i)
	if len(dst) == value+2 && dst[value] == '{' && int(n.End) > i+1 {
		return dst[:start] // all of its parts are missing
	}
	return dst
}

// isInteger picks out what most nodes are.
func isInteger(n *dissect.Node) bool {
	return n.Field.Kind <= opcodes.Int && n.State&dissect.Undecoded == 0 && n.Src != dissect.InText
}

// appendValue appends the value of a node.
func appendValue(dst []byte, t *dissect.Tree, i int) []byte {
	n := &t.Nodes[i]
	switch {
	case !isContainer(n, i):
		return appendJSONLeaf(dst, t, n)
	case isList(n):
		return appendList(dst, t, i)
	}
	dst = append(dst, '{')
	if n.Tag && n.Field.Kind == opcodes.Record {
		dst = append(append(append(dst, `"_struct":"`...), n.Field.Type.Name...), '"')
	}
	nodes, end := t.Nodes, int(n.End)
	for k := i + 1; k < end; k = int(nodes[k].End) {
		dst = appendMember(dst, t, k)
	}
	return append(dst, '}')
}

func appendList(dst []byte, t *dissect.Tree, i int) []byte {
	dst = append(dst, '[')
	for k := i + 1; k < int(t.Nodes[i].End); k = int(t.Nodes[k].End) {
		if t.Nodes[k].State&(dissect.Missing|dissect.Remark) != 0 {
			continue
		}
		if dst[len(dst)-1] != '[' {
			dst = append(dst, ',')
		}
		dst = appendValue(dst, t, k)
	}
	return append(dst, ']')
}

func appendJSONLeaf(dst []byte, t *dissect.Tree, n *dissect.Node) []byte {
	if n.Src == dissect.InText {
		return appendJSONString(dst, t.Bytes(n))
	}
	if !n.Is(dissect.Undecoded) {
		switch n.Field.Kind {
		case opcodes.Uint, opcodes.Int:
			return appendJSONInteger(dst, n)
		case opcodes.Record:
			if n.Field.Type.Atom == opcodes.UUID {
				return appendJSONString(dst, opcodes.TrimNUL(t.Bytes(n)))
			}
			return append(appendAtom(append(dst, '"'), t, n), '"')
		case opcodes.Text:
			return appendJSONString(dst, opcodes.TrimNUL(t.Bytes(n)))
		case opcodes.Strings:
			return appendJSONStrings(dst, t.Bytes(n))
		}
	}
	return append(appendHexBytes(append(dst, '"'), t.Bytes(n)), '"')
}

func appendJSONInteger(dst []byte, n *dissect.Node) []byte {
	f := n.Field
	if f.Names != nil && f.Names.Flags {
		if n.Is(dissect.Leftover) && n.Val != 0 {
			return append(opcodes.AppendHex(append(dst, `["`...), n.Val), `"]`...)
		}
		return appendJSONFlags(dst, f.Names, n.Val)
	}
	if f.Names != nil && !n.Is(dissect.Leftover) {
		if name := f.Names.Name(n.Val); name != "" {
			return append(append(append(dst, '"'), name...), '"')
		}
	}
	if !isNumber(f) && f.Format != opcodes.Errno {
		return append(appendFormat(append(dst, '"'), f, n.Val), '"')
	}
	if f.Kind == opcodes.Int {
		v := int64(n.Val)
		if f.Format == opcodes.Errno {
			v = opcodes.ErrnoValue(n.Val)
		}
		if v > exact || v < -exact {
			return append(strconv.AppendInt(append(dst, '"'), v, 10), '"')
		}
		return strconv.AppendInt(dst, v, 10)
	}
	switch {
	case f.Format == opcodes.Size && n.Val == math.MaxUint64:
		return append(dst, `"EOF"`...)
	case n.Val > exact:
		return append(strconv.AppendUint(append(dst, '"'), n.Val, 10), '"')
	}
	return strconv.AppendUint(dst, n.Val, 10)
}

func appendJSONFlags(dst []byte, names *opcodes.Names, word uint64) []byte {
	if word == 0 {
		return append(dst, '[', ']')
	}
	dst = append(dst, '[')
	rest := names.Set(word, func(v *opcodes.Value) {
		dst = append(append(append(dst, '"'), v.Name...), '"', ',')
	})
	if rest != 0 {
		return append(opcodes.AppendHex(append(dst, '"'), rest), '"', ']')
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
		s := opcodes.TrimNUL(b)
		if !first {
			dst = append(dst, ',')
		}
		dst = appendJSONString(dst, s)
		b = b[min(len(s)+1, len(b)):]
	}
	return append(dst, ']')
}
