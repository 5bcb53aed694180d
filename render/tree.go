package render

import (
	"net/netip"
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
)

// TreeOptions are the settings of a Tree.
type TreeOptions struct {
	Colors *Colors
	Width  int // columns of the terminal; 0: lines may be of any length
	Time   TimeFormat
	Hex    bool // show the offset and the bytes of each field
}

// Tree renders a message with all its fields, the parts of a field indented
// below it.
type Tree struct {
	opt  TreeOptions
	c    *Colors
	tree dissect.Tree
	text []byte

	placing bool
	places  []Place // of the nodes, while placing is set
}

// Place is where the line of a node begins in the text of a tree.
type Place struct {
	Off  int // in the text
	Node int // index of the node
}

// NewTree makes a tree renderer.
func NewTree(o TreeOptions) *Tree {
	r := &Tree{opt: o, c: o.Colors}
	r.tree.Remarks = true
	return r
}

const (
	indent       = 2  // columns a level
	maxNameWidth = 28 // a longer name shifts its value
)

// Append appends the tree of a message and an empty line.
func (r *Tree) Append(dst []byte, m *dissect.Message, at Moment) []byte {
	t := &r.tree
	t.Build(m)
	dst = r.head(dst, m, at)
	for i := 0; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		dst = r.node(dst, i, 1, 0)
	}
	return append(r.notes(r.log(dst, at)), '\n')
}

// log appends the lines of logs about the RPC.
func (r *Tree) log(dst []byte, at Moment) []byte {
	if len(at.Log) == 0 {
		return dst
	}
	dst = append(r.c.Head.Append(AppendSpaces(dst, indent), "log"), '\n')
	widest := 0
	for _, l := range at.Log {
		r.text = appendLogPlace(r.text[:0], l)
		widest = max(widest, Width(r.text))
	}
	for _, l := range at.Log {
		r.text = appendLogPlace(r.text[:0], l)
		dst = r.c.Key.Append(AppendSpaces(dst, 2*indent), string(r.text))
		dst = AppendSpaces(dst, widest-Width(r.text)+2)
		dst = r.opt.Time.Append(dst, l.Time, at, false)
		dst = append(AppendLogLine(append(dst, "  "...), &l.Event), '\n')
	}
	return dst
}

// appendLogPlace appends the name of a log, and the number of the line.
func appendLogPlace(dst []byte, l *track.LogLine) []byte {
	return strconv.AppendInt(append(schema.AppendText(dst, []byte(l.File)), ':'), l.Line, 10)
}

// AppendPlaced appends the tree of a message as Append does, and returns where the lines
// of its nodes begin, with the nodes. A remark has no line of its own. The places and the
// nodes are valid until the Tree is used again.
func (r *Tree) AppendPlaced(dst []byte, m *dissect.Message, at Moment) (text []byte, places []Place, nodes *dissect.Tree) {
	r.placing, r.places = true, r.places[:0]
	dst = r.Append(dst, m, at)
	r.placing = false
	return dst, r.places, &r.tree
}

// AppendValue appends the tree of a value of type f that stands alone, with its
// notes; owner is the struct that has the field, nil without one.
func (r *Tree) AppendValue(dst []byte, f *schema.Field, owner *schema.Struct, value []byte, big bool) []byte {
	t := &r.tree
	t.BuildField(f, owner, value, big)
	for i := 0; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		dst = r.node(dst, i, 0, 0)
	}
	return r.notes(dst)
}

// notes appends the notes of the message, a line each.
func (r *Tree) notes(dst []byte) []byte {
	t := &r.tree
	for i := range t.Notes {
		dst = AppendSpaces(dst, indent)
		dst = append(append(append(dst, r.c.Warn.on...), "note: "...), t.Notes[i].Code...)
		dst = r.c.Warn.end(dst)
		dst = append(append(dst, ": "...), t.Notes[i].Text...)
		dst = append(dst, '\n')
	}
	return dst
}

// head appends the first line, which identifies the message.
func (r *Tree) head(dst []byte, m *dissect.Message, at Moment) []byte {
	c, start := r.c, len(dst)
	dst = append(append(dst, c.Head.on...), "frame "...)
	dst = AppendFrame(dst, m.File, m.Frame)
	dst = c.Head.end(dst)
	dst = r.opt.Time.Append(append(dst, "  "...), m.Time, at, true)
	dst = append(append(dst, "  "...), c.NID.on...)
	dst = r.address(dst, m.Src)
	dst = append(append(dst, c.NID.off...), " > "...)
	dst = c.NID.begin(dst)
	dst = r.address(dst, m.Dst)
	dst = append(append(dst, c.NID.off...), "  "...)
	dst = c.Op.end(append(c.Op.begin(dst), m.Kind.String()...))
	if m.RPC.HasOpcode || m.RPC.Inferred != 0 {
		r.text = AppendOperation(r.text[:0], m)
		dst = append(append(append(append(dst, ' '), c.Op.on...), r.text...), c.Op.off...)
	}
	if m.RPC.HasXID {
		r.text = strconv.AppendUint(append(r.text[:0], 'x'), m.RPC.XID, 10)
		dst = appendGap(dst, start, len(r.text), r.opt.Width)
		dst = append(append(append(dst, c.Dim.on...), r.text...), c.Dim.off...)
	}
	return append(dst, '\n')
}

// address appends one end of a connection, with its port on wide terminals.
func (r *Tree) address(dst []byte, a netip.AddrPort) []byte {
	if r.opt.Width > 0 && r.opt.Width < minWide {
		return a.Addr().Unmap().AppendTo(dst)
	}
	return a.AppendTo(dst)
}

// node appends a node and its parts. The values of a struct's fields form a
// column: names are padded to the width of label.
func (r *Tree) node(dst []byte, i, depth, label int) []byte {
	n := &r.tree.Nodes[i]
	if r.placing && !n.Is(dissect.Remark) {
		r.places = append(r.places, Place{len(dst), i})
	}
	switch {
	case n.Is(dissect.Zeros):
		return r.zeros(dst, n, depth, label)
	case n.Field.Kind <= schema.Int && int(n.End) == i+1 && !n.Is(dissect.Remark):
		return r.leaf(dst, i, depth, label)
	case n.Is(dissect.Remark):
		return dst // shown with the value that it is about
	case isList(n) && !n.Is(dissect.Missing) && isFlat(&r.tree, i):
		return r.scalars(dst, i, depth, label)
	case !isContainer(n, i) || n.Is(dissect.Missing):
		return r.leaf(dst, i, depth, label)
	}
	dst, _ = r.name(dst, n, depth, 0)
	first := i + 1
	if n.Field.Kind == schema.Record && n.Field.Type.Name != n.Name() && n.Depth > 0 {
		dst = append(append(append(append(dst, ' '), r.c.Dim.on...), n.Field.Type.Name...), r.c.Dim.off...)
	}
	dst = r.remarks(dst, i)
	if first < int(n.End) && r.tree.Nodes[first].Is(dissect.Remark) && r.tree.Nodes[first].Field == n.Field {
		dst = r.remark(dst, first)
	}
	if r.opt.Hex {
		dst = r.span(dst, n)
	}
	dst = append(dst, '\n')
	column, nodes := r.nameWidth(i), r.tree.Nodes[:n.End]
	for k := first; k < len(nodes); k = int(nodes[k].End) {
		dst = r.node(dst, k, depth+1, column)
	}
	return dst
}

// zeros appends the line of a buffer of zero bytes.
func (r *Tree) zeros(dst []byte, n *dissect.Node, depth, label int) []byte {
	dst, _ = r.name(dst, n, depth, max(label, 1))
	dst = strconv.AppendInt(r.c.Dim.begin(dst), int64(n.Len), 10)
	dst = r.c.Dim.end(append(dst, " zero bytes"...))
	if r.opt.Hex {
		dst = r.span(dst, n)
	}
	return append(dst, '\n')
}

// nameWidth returns the width of the longest name of a node's parts.
func (r *Tree) nameWidth(i int) int {
	longest := 0
	t := &r.tree
	for k := i + 1; k < int(t.Nodes[i].End); k = int(t.Nodes[k].End) {
		n := &t.Nodes[k]
		if isContainer(n, k) && !isList(n) || n.Is(dissect.Remark) {
			continue
		}
		longest = max(longest, min(len(n.Name()), maxNameWidth))
	}
	return longest
}

// name appends indent, name and the space up to the value; it returns the
// column of the value.
func (r *Tree) name(dst []byte, n *dissect.Node, depth, label int) ([]byte, int) {
	st := &r.c.Key
	switch {
	case n.Depth == 0:
		st = &r.c.Head
	case n.Is(dissect.NotValid):
		st = &r.c.Dim
	}
	dst = st.begin(AppendSpaces(dst, depth*indent))
	name := n.Field.Name
	size := len(name)
	if n.Index >= 0 {
		start := len(dst)
		dst = append(strconv.AppendInt(append(dst, '['), int64(n.Index), 10), ']')
		if size > 0 {
			dst = append(dst, ' ')
		}
		size += len(dst) - start
	}
	dst = st.end(append(dst, name...))
	if label == 0 {
		return dst, 0
	}
	const gap = 2
	label = max(label, size)
	return AppendSpaces(dst, label-size+gap), depth*indent + label + gap
}

// remarks appends the remark that belongs to a value. It is the node behind
// it.
func (r *Tree) remarks(dst []byte, i int) []byte {
	nodes := r.tree.Nodes
	next := int(nodes[i].End)
	if next < len(nodes) && nodes[next].Is(dissect.Remark) && nodes[next].Field == nodes[i].Field {
		dst = r.remark(dst, next)
	}
	return dst
}

func (r *Tree) remark(dst []byte, i int) []byte {
	dst = append(r.c.Dim.begin(append(dst, ' ')), '(')
	dst = schema.AppendText(dst, r.tree.Bytes(&r.tree.Nodes[i]))
	return r.c.Dim.end(append(dst, ')'))
}
