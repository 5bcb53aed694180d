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
	Width int // columns of the terminal; 0: lines may be of any length
	Time  TimeFormat
	Hex   bool // show the offset and the bytes of each field
}

// Tree renders a message with all its fields, the parts of a field indented
// below it.
type Tree struct {
	opt  TreeOptions
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
	r := &Tree{opt: o}
	r.tree.Remarks = true
	return r
}

const (
	indent       = 2  // columns a level
	maxNameWidth = 28 // a longer name shifts its value
)

// Append appends the tree of a message and an empty line.
func (r *Tree) Append(dst *schema.Marked, m *dissect.Message, at Moment) {
	t := &r.tree
	t.Build(m)
	r.head(dst, m, at)
	for i := 0; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		r.node(dst, i, 1, 0)
	}
	r.log(dst, at)
	r.notes(dst)
	dst.Text = append(dst.Text, '\n')
}

// log appends the lines of logs about the RPC.
func (r *Tree) log(dst *schema.Marked, at Moment) {
	if len(at.Log) == 0 {
		return
	}
	dst.Spaces(indent).Add(schema.Heading, "log")
	dst.Text = append(dst.Text, '\n')
	widest := 0
	for _, l := range at.Log {
		r.text = appendLogPlace(r.text[:0], l)
		widest = max(widest, Width(r.text))
	}
	for _, l := range at.Log {
		r.text = appendLogPlace(r.text[:0], l)
		dst.Spaces(2*indent).Add(schema.Label, string(r.text)).Spaces(widest - Width(r.text) + 2)
		dst.Text = r.opt.Time.Append(dst.Text, l.Time, at, false)
		dst.Plain("  ")
		dst.Text = AppendLogLine(dst.Text, &l.Event)
		dst.Text = append(dst.Text, '\n')
	}
}

// appendLogPlace appends the name of a log, and the number of the line.
func appendLogPlace(dst []byte, l *track.LogLine) []byte {
	return strconv.AppendInt(append(schema.AppendText(dst, []byte(l.File)), ':'), l.Line, 10)
}

// AppendPlaced appends the tree of a message as Append does, and returns where the lines
// of its nodes begin, with the nodes. A remark has no line of its own. The places and the
// nodes are valid until the Tree is used again.
func (r *Tree) AppendPlaced(dst *schema.Marked, m *dissect.Message, at Moment) ([]Place, *dissect.Tree) {
	r.placing, r.places = true, r.places[:0]
	r.Append(dst, m, at)
	r.placing = false
	return r.places, &r.tree
}

// AppendValue appends the tree of a value of type f that stands alone, with its
// notes; owner is the struct that has the field, nil without one.
func (r *Tree) AppendValue(dst *schema.Marked, f *schema.Field, owner *schema.Struct, value []byte, big bool) {
	t := &r.tree
	t.BuildField(f, owner, value, big)
	for i := 0; i < len(t.Nodes); i = int(t.Nodes[i].End) {
		r.node(dst, i, 0, 0)
	}
	r.notes(dst)
}

// notes appends the notes of the message, a line each.
func (r *Tree) notes(dst *schema.Marked) {
	t := &r.tree
	for i := range t.Notes {
		dst.Spaces(indent).Add(schema.Warning, "note: "+t.Notes[i].Code).Plain(": ")
		dst.Plain(t.Notes[i].Text).Plain("\n")
	}
}

// head appends the first line, which identifies the message.
func (r *Tree) head(dst *schema.Marked, m *dissect.Message, at Moment) {
	start := len(dst.Text)
	addFrame(dst, m, at, r.opt.Time)
	r.text = r.address(r.text[:0], m.Src)
	dst.AddBytes(schema.Node, r.text).Plain(" > ")
	r.text = r.address(r.text[:0], m.Dst)
	dst.AddBytes(schema.Node, r.text).Plain("  ")
	dst.Add(schema.Action, m.Kind.String())
	if m.RPC.HasOpcode || m.RPC.Inferred != 0 {
		r.text = AppendOperation(r.text[:0], m)
		dst.Plain(" ").AddBytes(schema.Action, r.text)
	}
	if m.RPC.HasXID {
		r.text = strconv.AppendUint(append(r.text[:0], 'x'), m.RPC.XID, 10)
		appendGap(dst, start, len(r.text), r.opt.Width)
		dst.AddBytes(schema.Dim, r.text)
	}
	dst.Plain("\n")
}

// addFrame appends the number and the time of a message.
func addFrame(dst *schema.Marked, m *dissect.Message, at Moment, format TimeFormat) {
	start := len(dst.Text)
	dst.Text = AppendFrame(append(dst.Text, "frame "...), m.File, m.Frame)
	dst.MarkFrom(start, schema.Heading)
	dst.Plain("  ")
	dst.Text = format.Append(dst.Text, m.Time, at, true)
	dst.Plain("  ")
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
func (r *Tree) node(dst *schema.Marked, i, depth, label int) {
	n := &r.tree.Nodes[i]
	if r.placing && !n.Is(dissect.Remark) {
		r.places = append(r.places, Place{len(dst.Text), i})
	}
	switch {
	case n.Is(dissect.Remark):
		return // shown with the value that it is about
	case !isContainer(n, i) || n.State&(dissect.Missing|dissect.Zeros) != 0:
		r.leaf(dst, i, depth, label)
		return
	case isList(n) && isFlat(&r.tree, i):
		r.scalars(dst, i, depth, label)
		return
	}
	r.name(dst, n, depth, 0)
	first := i + 1
	if n.Field.Kind == schema.Record && n.Field.Type.Name != n.Name() && n.Depth > 0 {
		dst.Plain(" ").Add(schema.Dim, n.Field.Type.Name)
	}
	r.remarks(dst, n, int(n.End))
	r.remarks(dst, n, first)
	r.span(dst, n)
	dst.Text = append(dst.Text, '\n')
	column, nodes := r.nameWidth(i), r.tree.Nodes[:n.End]
	for k := first; k < len(nodes); k = int(nodes[k].End) {
		r.node(dst, k, depth+1, column)
	}
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
func (r *Tree) name(dst *schema.Marked, n *dissect.Node, depth, label int) (column int) {
	role := schema.Label
	switch {
	case n.Depth == 0:
		role = schema.Heading
	case n.Is(dissect.NotValid):
		role = schema.Dim
	}
	dst.Spaces(depth * indent)
	name, begin := n.Field.Name, len(dst.Text)
	if n.Index >= 0 {
		dst.Text = append(strconv.AppendInt(append(dst.Text, '['), int64(n.Index), 10), ']')
		if name != "" {
			dst.Plain(" ")
		}
	}
	dst.Plain(name)
	dst.MarkFrom(begin, role)
	if label == 0 {
		return 0
	}
	const gap = 2
	size := len(dst.Text) - begin
	label = max(label, size)
	dst.Spaces(label - size + gap)
	return depth*indent + label + gap
}

// remarks appends the node at an index if it is a remark about a value: it is behind the value, or the
// first of its parts.
func (r *Tree) remarks(dst *schema.Marked, of *dissect.Node, at int) {
	if at < len(r.tree.Nodes) && r.tree.Nodes[at].Is(dissect.Remark) && r.tree.Nodes[at].Field == of.Field {
		dst.Plain(" ")
		begin := len(dst.Text)
		dst.Text = append(schema.AppendText(append(dst.Text, '('), r.tree.Bytes(&r.tree.Nodes[at])), ')')
		dst.MarkFrom(begin, schema.Dim)
	}
}
