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
	dst = appendKey(dst, n)
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

// appendKey appends "name": and what parts it from the member before.
func appendKey(dst []byte, n *dissect.Node) []byte {
	if key := n.Field.Key; len(key) > 0 && n.Name == n.Field.Name {
		if dst[len(dst)-1] == '{' {
			key = key[1:]
		}
		return append(dst, key...)
	}
	if dst[len(dst)-1] != '{' {
		dst = append(dst, ',')
	}
	return append(append(append(dst, '"'), n.Name...), '"', ':')
}

// isInteger says whether a node is shown as an integer.
func isInteger(n *dissect.Node) bool {
	return n.Field.Kind <= opcodes.Int && n.Src != dissect.InText && !n.Is(dissect.Undecoded)
}

// appendValue appends the value of a node.
func appendValue(dst []byte, t *dissect.Tree, i int) []byte {
	n := &t.Nodes[i]
	switch {
	case isInteger(n):
		return appendJSONInteger(dst, n)
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
	if f.Names != nil {
		if f.Names.Flags {
			if n.Is(dissect.Leftover) && n.Val != 0 {
				return append(opcodes.AppendHex(append(dst, `["`...), n.Val), `"]`...)
			}
			return appendJSONFlags(dst, f.Names, n.Val)
		}
		if !n.Is(dissect.Leftover) {
			if name := f.Names.Name(n.Val); name != "" {
				return append(append(append(dst, '"'), name...), '"')
			}
		}
	}
	switch {
	case f.Format == opcodes.Errno:
		return appendJSONNumber(dst, opcodes.ErrnoValue(n.Val))
	case !isNumber(f):
		return append(appendFormat(append(dst, '"'), f, n.Val), '"')
	case f.Kind == opcodes.Int:
		return appendJSONNumber(dst, int64(n.Val))
	case n.Val <= exact:
		return appendDecimal(dst, n.Val)
	case f.Format == opcodes.Size && n.Val == math.MaxUint64:
		return append(dst, `"EOF"`...)
	}
	return append(appendDecimal(append(dst, '"'), n.Val), '"')
}

// appendJSONNumber appends an integer, as a string where readers would round
// the number.
func appendJSONNumber(dst []byte, v int64) []byte {
	switch {
	case v >= 0 && v <= exact:
		return appendDecimal(dst, uint64(v))
	case v < 0 && v >= -exact:
		return strconv.AppendInt(dst, v, 10)
	}
	return append(strconv.AppendInt(append(dst, '"'), v, 10), '"')
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
