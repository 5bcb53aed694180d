package dissect

import (
	"fmt"
	"slices"

	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// maxDepth bounds the nesting of a tree; deeper parts stay bytes.
const maxDepth = 32

// walker turns bytes into nodes by the declarations. It knows where a buffer
// ends by the length fields (limit) and what was captured of it.
type walker struct {
	t      *Tree
	m      *Message
	msg    *schema.Msg
	src    Source
	data   []byte
	big    bool
	whole  bool // no holes: all bytes up to len(data) are there
	depth  int
	dim    int // inside this many leftovers
	views  [maxDepth + 8]schema.View
	nview  int
	nested int  // inside this many messages of the message
	told   bool // a note about missing bytes was made
}

func (w *walker) reset(t *Tree, m *Message) {
	w.t, w.m, w.msg = t, m, nil
	w.use(InMessage, m.Data)
	w.big, w.depth, w.dim, w.nview, w.nested, w.told = false, 0, 0, 0, 0, false
}

func (w *walker) use(src Source, data []byte) {
	w.src, w.data = src, data
	w.whole = src != InMessage || len(w.m.Holes) == 0
}

// bytes is what was captured between off and limit.
func (w *walker) bytes(off, limit int) []byte {
	limit = min(limit, len(w.data))
	if off >= limit {
		return nil
	}
	return w.data[off:limit]
}

// missing says why the n bytes at off are not all there.
func (w *walker) missing(off, n, limit int) lnet.Why {
	switch {
	case off+n > limit:
		return lnet.Shorter
	case w.whole && off+n <= len(w.data):
		return lnet.Present
	case w.src != InMessage:
		return lnet.Shorter
	}
	return w.m.Missing(off, n)
}

// open appends a node; its End is set by close.
func (w *walker) open(f *schema.Field, off, n int) int {
	w.add(f, off, n)
	return len(w.t.Nodes) - 1
}

// add appends a node without parts.
func (w *walker) add(f *schema.Field, off, n int) *Node {
	t := w.t
	i := len(t.Nodes)
	t.Nodes = w.room(1)[:i+1]
	state := w.state()
	if w.big {
		state |= BigEndian
	}
	// Field by field: a whole Node would be put together elsewhere and copied.
	node := &t.Nodes[i]
	node.Field, node.Val = f, 0
	node.Off, node.Len, node.End, node.Index = int32(off), int32(n), int32(i+1), -1
	node.Depth, node.Src, node.State, node.Tag = uint8(w.depth), w.src, state, false
	return node
}

// room returns the nodes with room for n more behind them.
func (w *walker) room(n int) []Node {
	nodes := w.t.Nodes
	if cap(nodes)-len(nodes) < n {
		nodes = slices.Grow(nodes, max(n, len(nodes), 256))
	}
	return nodes
}

// state is that of all nodes made now, but for the byte order.
func (w *walker) state() State {
	if w.dim > 0 {
		return Leftover
	}
	return 0
}

func (w *walker) close(i, end int) {
	n := &w.t.Nodes[i]
	n.End = int32(len(w.t.Nodes))
	if n.Len = int32(end) - n.Off; n.Len < 0 {
		n.Len = 0
	}
}

// view takes a view from the stack; drop gives it back.
func (w *walker) view() *schema.View {
	v := &w.views[w.nview]
	w.nview++
	return v
}

func (w *walker) drop() { w.nview-- }

// field walks one field at off and returns where it ends. v is the view of the
// struct around it, or of the buffer itself.
func (w *walker) field(f *schema.Field, v *schema.View, off, limit int) int {
	dim := !f.Valid(v)
	if dim {
		w.dim++
	}
	save := w.big
	w.big = f.Order.Is(v.Big)
	end := w.kind(f, v, off, limit)
	if w.t.Remarks && !dim {
		w.remark(f, v, off, limit)
	}
	w.big = save
	if dim {
		w.dim--
	}
	return end
}

func (w *walker) kind(f *schema.Field, v *schema.View, off, limit int) int {
	switch f.Kind {
	case schema.Uint, schema.Int:
		return w.integer(f, off, limit)
	case schema.Record:
		if f.Type.Atom != schema.Plain {
			return w.span(f, off, f.Type.Size, limit)
		}
		return w.record(f, v, off, limit)
	case schema.Array:
		return w.array(f, v, off, limit)
	case schema.List:
		return w.list(f, v, off, limit)
	case schema.Union:
		return w.union(f, v, off, limit)
	case schema.Message:
		return w.submessage(f, off, limit)
	case schema.Virtual:
		v.Rest = w.bytes(off, limit)
		w.says(f, f.Derive, v, 0)
		return off
	}
	return w.run(f, v, off, limit)
}

func (w *walker) integer(f *schema.Field, off, limit int) int {
	if why := w.missing(off, f.Size, limit); why != lnet.Present {
		return w.gap(f, off, f.Size, why, limit)
	}
	w.direct(f, off)
	return off + f.Size
}

// span is a node of a fixed number of bytes that is shown as one value.
func (w *walker) span(f *schema.Field, off, n, limit int) int {
	if why := w.missing(off, n, limit); why != lnet.Present {
		return w.gap(f, off, n, why, limit)
	}
	w.open(f, off, n)
	return off + n
}

// run is a string or opaque bytes: of fixed size, of the size another field
// tells, or up to the end of the buffer.
func (w *walker) run(f *schema.Field, v *schema.View, off, limit int) int {
	n := f.Size
	if n == 0 {
		v.Rest = w.bytes(off, limit)
		if n = f.Elements(v); n < 0 {
			n = limit - off
		}
		if n <= 0 {
			return off
		}
	}
	if why := w.missing(off, n, limit); why != lnet.Present {
		if got := w.bytes(off, limit); len(got) > 0 && w.whole && !(f.Pad && zero(got)) {
			w.open(f, off, len(got))
		}
		return w.gap(f, off, n, why, limit)
	}
	if f.Pad && (f.Kind == schema.Text || zero(w.data[off:off+n])) {
		return off + n
	}
	w.open(f, off, n)
	return off + n
}

// gap is a node for bytes that are not there. It ends where the walk of the
// struct has to stop: at the limit, or behind a hole of known length.
func (w *walker) gap(f *schema.Field, off, n int, why lnet.Why, limit int) int {
	if !w.told {
		w.told = true
		w.t.Notes = append(w.t.Notes, lnet.Note{Code: noteCode(why), Text: w.gapText(f, off, n, why, limit)})
	}
	i := w.open(f, off, n)
	w.t.Nodes[i].State |= Missing
	w.t.Nodes[i].Val = uint64(why)
	if why == lnet.Lost {
		return off + n
	}
	return limit
}

func noteCode(why lnet.Why) string {
	switch why {
	case lnet.Shorter:
		return "short"
	case lnet.Lost:
		return "gap"
	}
	return "truncated"
}

func (w *walker) gapText(f *schema.Field, off, n int, why lnet.Why, limit int) string {
	have := max(0, min(limit, len(w.data))-off)
	if why == lnet.Lost || have > n {
		have = 0
	}
	return fmt.Sprintf("%s: %d of %d bytes missing, %s", w.path(f.Name), n-have, n, why)
}

// path names a field from its buffer on.
func (w *walker) path(name string) string {
	depth := w.depth
	for i := len(w.t.Nodes) - 1; i >= 0 && depth > 1; i-- {
		if n := &w.t.Nodes[i]; int(n.Depth) == depth-1 {
			depth--
			if n.Name() != "" && n.Index < 0 {
				name = n.Name() + "." + name
			}
		}
	}
	return name
}

// says makes a node of text that a func of the tables puts together.
func (w *walker) says(f *schema.Field, derive func(*schema.View, []byte) []byte, v *schema.View, state State) {
	t := w.t
	start := len(t.src[InText])
	t.src[InText] = derive(v, t.src[InText])
	if n := len(t.src[InText]) - start; n > 0 {
		i := w.open(f, start, n)
		t.Nodes[i].Src = InText
		t.Nodes[i].State |= state
	}
}

func zero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}
