package render

import (
	"strconv"
	"time"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
)

// leaf appends the line of a value.
func (r *Tree) leaf(dst []byte, i, depth, label int) []byte {
	n := &r.tree.Nodes[i]
	start := len(dst)
	dst = r.name(dst, i, depth, max(label, 1))
	column := width(dst[start:])
	switch {
	case n.Is(dissect.Missing):
		dst = append(dst, r.c.Warn.on...)
		dst = strconv.AppendInt(dst, int64(n.Len), 10)
		dst = append(append(dst, " bytes missing, "...), dissect.Why(n.Val).String()...)
		return append(append(dst, r.c.Warn.off...), '\n')
	case n.Is(dissect.Leftover):
		dst = append(dst, r.c.Dim.on...)
		dst = appendLeaf(dst, &r.tree, n)
		dst = append(dst, r.c.Dim.off...)
	default:
		dst = r.value(dst, n, column)
		dst = r.remarks(dst, i)
	}
	dst = r.span(dst, n)
	dst = append(dst, '\n')
	return r.dump(dst, n, depth+1)
}

// value appends a value in its style, with what helps to read it.
func (r *Tree) value(dst []byte, n *dissect.Node, column int) []byte {
	f := n.Field
	if f.Names != nil && (f.Kind == opcodes.Uint || f.Kind == opcodes.Int) {
		if f.Names.Flags {
			return r.flags(dst, n, column)
		}
		return r.enum(dst, n)
	}
	st := r.style(f)
	dst = append(dst, st.on...)
	switch {
	case f.Kind == opcodes.Bytes || n.Is(dissect.Undecoded):
		dst = r.bytes(dst, n)
	case f.Kind == opcodes.Text && n.Src != dissect.InText:
		dst = append(appendText(append(dst, '"'), opcodes.TrimNUL(r.tree.Bytes(n))), '"')
	default:
		dst = appendLeaf(dst, &r.tree, n)
	}
	dst = append(dst, st.off...)
	return r.reading(dst, n)
}

// style is the style of a field's values.
func (r *Tree) style(f *opcodes.Field) *Style {
	c := r.c
	switch f.Kind {
	case opcodes.Text, opcodes.Strings:
		return &c.Name
	case opcodes.Virtual, opcodes.Bytes:
		return &Style{}
	}
	switch f.Format {
	case opcodes.NID, opcodes.NID4, opcodes.IPv4, opcodes.UUID:
		return &c.NID
	case opcodes.FID, opcodes.OSTID, opcodes.OSTIDPlain, opcodes.Handle, opcodes.Cookie, opcodes.ID:
		return &c.FID
	}
	return &c.Num
}

func (r *Tree) enum(dst []byte, n *dissect.Node) []byte {
	name := n.Field.Names.Name(n.Val)
	if name == "" {
		r.text = appendFormat(r.text[:0], n.Field, n.Val)
		return append(append(append(dst, r.c.Num.on...), r.text...), r.c.Num.off...)
	}
	dst = r.c.Flag.Append(dst, name)
	dst = append(append(append(dst, ' '), r.c.Dim.on...), '(')
	dst = appendFormat(dst, n.Field, n.Val)
	return append(append(dst, ')'), r.c.Dim.off...)
}

// flags appends the names of the bits, on as many lines as the terminal needs,
// and the word itself.
func (r *Tree) flags(dst []byte, n *dissect.Node, column int) []byte {
	room := r.opt.Width
	at := column
	put := func(text []byte, st *Style) {
		if room > column+20 && at > column {
			if at+1+len(text) > room {
				dst = appendSpaces(append(dst, '\n'), column)
				at = column
			} else {
				dst = append(dst, ' ')
				at++
			}
		} else if at > column {
			dst = append(dst, ' ')
		}
		dst = append(append(append(dst, st.on...), text...), st.off...)
		at += len(text)
	}
	r.text = opcodes.AppendHex(r.text[:0], n.Val)
	put(r.text, &r.c.Dim)
	rest := n.Field.Names.Set(n.Val, func(v *opcodes.Value) {
		r.text = append(r.text[:0], v.Name...)
		put(r.text, &r.c.Flag)
	})
	if rest != 0 && rest != n.Val {
		r.text = opcodes.AppendHex(r.text[:0], rest)
		put(r.text, &r.c.Warn)
	}
	return dst
}

// reading appends, in brackets, a value in the form that people think in.
func (r *Tree) reading(dst []byte, n *dissect.Node) []byte {
	r.text = r.text[:0]
	switch f := n.Field; f.Format {
	case opcodes.Seconds:
		const year2200 = 7258118400
		if n.Val > 0 && n.Val < year2200 {
			r.text = time.Unix(int64(n.Val), 0).UTC().AppendFormat(r.text, "2006-01-02 15:04:05 UTC")
		}
	case opcodes.Size:
		r.text = appendUnits(r.text, n.Val)
	case opcodes.Errno:
		if v := opcodes.ErrnoValue(n.Val); v < 0 && v > -1<<16 {
			r.text = append(r.text, opcodes.Errnos.Name(uint64(-v))...)
		}
	}
	if len(r.text) == 0 {
		return dst
	}
	dst = append(append(append(dst, ' '), r.c.Dim.on...), '(')
	return append(append(append(dst, r.text...), ')'), r.c.Dim.off...)
}

// appendUnits appends a round size in KiB, MiB …, nothing for others.
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
	dst = appendHexBytes(dst, b[:min(len(b), shown)])
	if len(b) > shown {
		dst = append(dst, "… "...)
		dst = strconv.AppendInt(dst, int64(len(b)), 10)
		dst = append(dst, " bytes"...)
	}
	return dst
}

// flat says whether a list holds nothing but values without a name.
func (r *Tree) flat(i int) bool {
	t := &r.tree
	for k := i + 1; k < int(t.Nodes[i].End); k++ {
		if n := &t.Nodes[k]; isContainer(n, k) || n.Name != "" || n.State&(dissect.Missing|dissect.Remark|dissect.Undecoded) != 0 {
			return false
		}
	}
	return true
}

// scalars appends the values of a list behind each other; of equal ones the
// first, and how many there are.
func (r *Tree) scalars(dst []byte, i, depth, label int) []byte {
	t := &r.tree
	start := len(dst)
	dst = r.name(dst, i, depth, max(label, 1))
	column := width(dst[start:])
	at := column
	end := int(t.Nodes[i].End)
	var last []byte
	for k := i + 1; k < end; {
		n := &t.Nodes[k]
		st := r.style(n.Field)
		if n.Is(dissect.Leftover) {
			st = &r.c.Dim
		}
		r.text = appendLeaf(r.text[:0], t, n)
		same := 1
		for k += 1; k < end; k++ {
			size := len(r.text)
			r.text = appendLeaf(r.text, t, &t.Nodes[k])
			last, r.text = r.text[size:], r.text[:size]
			if string(last) != string(r.text) {
				break
			}
			same++
		}
		if r.opt.Width > column+20 && at > column && at+1+len(r.text) > r.opt.Width {
			dst = appendSpaces(append(dst, '\n'), column)
			at = column
		} else if at > column {
			dst = append(dst, ' ')
			at++
		}
		dst = append(append(append(dst, st.on...), r.text...), st.off...)
		at += len(r.text)
		if same > 1 {
			dst = append(append(append(dst, ' '), r.c.Dim.on...), 'x')
			dst = append(strconv.AppendInt(dst, int64(same), 10), r.c.Dim.off...)
			at += 4
		}
	}
	dst = r.remarks(dst, i)
	dst = r.span(dst, &t.Nodes[i])
	dst = append(dst, '\n')
	return r.dump(dst, &t.Nodes[i], depth+1)
}
