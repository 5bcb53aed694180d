package render

import (
	"bytes"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes/schema"
)

// isFlat reports whether a list has only values without names.
func isFlat(t *dissect.Tree, i int) bool {
	for k := i + 1; k < int(t.Nodes[i].End); k++ {
		if n := &t.Nodes[k]; isContainer(n, k) || n.Name() != "" || n.State&(dissect.Missing|dissect.Remark|dissect.Undecoded) != 0 {
			return false
		}
	}
	return true
}

// manyEqual is how many equal values a list shows as one value and their
// number.
const manyEqual = 4

// scalars appends the values of a list one behind the other, wrapped at the
// width of the terminal; many equal ones as one value and their number.
func (r *Tree) scalars(dst *schema.Marked, i, depth, label int) {
	t := &r.tree
	column := r.name(dst, &t.Nodes[i], depth, max(label, 1))
	begin := len(dst.Text)
	for k := i + 1; k < int(t.Nodes[i].End); {
		n := &t.Nodes[k]
		st := roleOfField(n.Field)
		if n.Is(dissect.NotValid) {
			st = schema.Dim
		}
		same := 1
		for k+same < int(t.Nodes[i].End) && bytes.Equal(t.Bytes(n), t.Bytes(&t.Nodes[k+same])) {
			same++
		}
		r.text = appendNodeValue(r.text[:0], t, n)
		times := same
		if same >= manyEqual {
			times = 1
		}
		for range times {
			if len(dst.Text) > begin {
				dst.Plain(" ")
			}
			dst.AddBytes(st, r.text)
		}
		if same >= manyEqual {
			size := len(r.text)
			r.text = strconv.AppendInt(append(r.text, 'x'), int64(same), 10)
			dst.Plain(" ").AddBytes(schema.Dim, r.text[size:])
		}
		k += same
	}
	Wrap(dst, begin, column, r.opt.Width)
	r.remarks(dst, &t.Nodes[i], int(t.Nodes[i].End))
	r.endLine(dst, &t.Nodes[i], depth)
}
