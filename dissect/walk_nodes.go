package dissect

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// nodeWriter appends nodes to a tree, for the bytes of a message or of its
// content. Offsets count in these bytes. A limit is where a part of the message
// ends by its length fields; what was captured may end before it.
type nodeWriter struct {
	tree     *Tree
	msg      *Message
	src      Source
	data     []byte
	big      bool // integers are big-endian
	whole    bool // no holes: all bytes up to len(data) are there
	depth    int
	notValid int  // how many of the fields around are switched off
	gapNoted bool // there is a note about missing bytes
}

// use sets the bytes that offsets count in.
func (w *nodeWriter) use(src Source, data []byte) {
	w.src, w.data = src, data
	w.whole = src != InMessage || len(w.msg.Holes) == 0
}

// bytes returns the captured bytes between off and limit.
func (w *nodeWriter) bytes(off, limit int) []byte {
	limit = min(limit, len(w.data))
	if off >= limit {
		return nil
	}
	return w.data[off:limit]
}

// missing returns why some of the n bytes at off are missing, lnet.Present if none
// is.
func (w *nodeWriter) missing(off, n, limit int) lnet.Why {
	switch {
	case off+n > limit:
		return lnet.Shorter
	case w.whole && off+n <= len(w.data):
		return lnet.Present
	case w.src >= InTransport:
		return lnet.Snaplen
	case w.src != InMessage:
		return lnet.Shorter
	}
	return w.msg.Missing(off, n)
}

// open appends a node; its End is set by close.
func (w *nodeWriter) open(f *schema.Field, off, n int) int {
	w.add(f, off, n)
	return len(w.tree.Nodes) - 1
}

// add appends a node without descendants.
func (w *nodeWriter) add(f *schema.Field, off, n int) *Node {
	t := w.tree
	i := len(t.Nodes)
	t.Nodes = w.room(1)[:i+1]
	state := w.state()
	if w.big {
		state |= BigEndian
	}
	// Field by field: a composite literal would be made elsewhere and copied.
	node := &t.Nodes[i]
	node.Field, node.Val = f, 0
	node.Off, node.Len, node.End, node.Index = int32(off), int32(n), int32(i+1), -1
	node.Depth, node.Src, node.State, node.Tag = uint8(w.depth), w.src, state, false
	return node
}

// room returns the nodes with room for n more behind them.
func (w *nodeWriter) room(n int) []Node {
	nodes := w.tree.Nodes
	if cap(nodes)-len(nodes) < n {
		nodes = slices.Grow(nodes, max(n, len(nodes), 256))
	}
	return nodes
}

// state returns the state of the nodes added now, without their byte order.
func (w *nodeWriter) state() State {
	if w.notValid > 0 {
		return NotValid
	}
	return 0
}

// close sets where the node with index i ends.
func (w *nodeWriter) close(i, end int) {
	n := &w.tree.Nodes[i]
	n.End = int32(len(w.tree.Nodes))
	if n.Len = int32(end) - n.Off; n.Len < 0 {
		n.Len = 0
	}
}

// gap adds a node for missing bytes, and a note for the first of them. It returns
// where to continue: behind a hole of known length, else at the limit.
func (w *nodeWriter) gap(f *schema.Field, off, n int, why lnet.Why, limit int) int {
	if !w.gapNoted {
		w.gapNoted = true
		w.tree.Notes = append(w.tree.Notes, lnet.Note{Code: noteCode(why), Text: w.gapText(f, off, n, why, limit)})
	}
	i := w.open(f, off, n)
	w.tree.Nodes[i].State |= Missing
	w.tree.Nodes[i].Val = uint64(why)
	if why == lnet.Lost {
		return off + n
	}
	return limit
}

// noteCode returns the code of a note about missing bytes.
func noteCode(why lnet.Why) string {
	switch why {
	case lnet.Shorter:
		return "short"
	case lnet.Lost:
		return "gap"
	}
	return "truncated"
}

func (w *nodeWriter) gapText(f *schema.Field, off, n int, why lnet.Why, limit int) string {
	have := max(0, min(limit, len(w.data))-off)
	if why == lnet.Lost || have > n {
		have = 0
	}
	return fmt.Sprintf("%s: %d of %d bytes missing, %s", w.path(f.Name), n-have, n, why)
}

// path returns the name of a field with those of the fields that it is part of.
func (w *nodeWriter) path(name string) string {
	depth := w.depth
	for i := len(w.tree.Nodes) - 1; i >= 0 && depth > 1; i-- {
		if n := &w.tree.Nodes[i]; int(n.Depth) == depth-1 {
			depth--
			if n.Name() != "" && n.Index < 0 {
				name = n.Name() + "." + name
			}
		}
	}
	return name
}

// text adds a node with text that derive appends.
func (w *nodeWriter) text(f *schema.Field, derive func(*schema.View, []byte) []byte, v *schema.View, state State) {
	t := w.tree
	start := len(t.src[InText])
	t.src[InText] = derive(v, t.src[InText])
	if n := len(t.src[InText]) - start; n > 0 {
		i := w.open(f, start, n)
		t.Nodes[i].Src = InText
		t.Nodes[i].State |= state
	}
}

// allZero reports whether all bytes are zero.
func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func (w *nodeWriter) note(code, text string) {
	w.tree.Notes = append(w.tree.Notes, lnet.Note{Code: code, Text: text})
}

// withoutHoles returns the end of the bytes that are certainly there, 0 if holes have
// to be checked for.
func (w *nodeWriter) withoutHoles(limit int) int {
	if !w.whole {
		return 0
	}
	return min(limit, len(w.data))
}
