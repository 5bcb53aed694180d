package dissect

import (
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// maxDepth bounds the nesting of a tree; what is deeper stays bytes.
const maxDepth = 32

// walker turns bytes into nodes, by the declarations of fields and structs.
type walker struct {
	nodeWriter
	rpc    *schema.Msg // the lustre_msg around, if any
	views  [maxDepth + 8]schema.View
	nviews int
	nested int // lustre_msgs around this part of the message
}

func (w *walker) reset(t *Tree, m *Message) {
	w.nodeWriter = nodeWriter{tree: t, msg: m}
	w.use(InMessage, m.Data)
	w.rpc, w.nviews, w.nested = nil, 0, 0
}

// view returns an unused view; drop ends its use.
func (w *walker) view() *schema.View {
	v := &w.views[w.nviews]
	w.nviews++
	return v
}

func (w *walker) drop() { w.nviews-- }

// field walks one field at off and returns where it ends. v is the view of the
// struct around it, or of the buffer itself.
func (w *walker) field(f *schema.Field, v *schema.View, off, limit int) int {
	notValid := !f.Valid(v)
	if notValid {
		w.notValid++
	}
	save := w.big
	w.big = f.Order.Is(v.Big)
	end := w.kind(f, v, off, limit)
	if w.tree.Remarks && !notValid {
		w.remark(f, v, off, limit)
	}
	w.big = save
	if notValid {
		w.notValid--
	}
	return end
}

// kind walks a field by its kind.
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
		return w.tree.submessage(f, off, limit)
	case schema.Virtual:
		v.Rest = w.bytes(off, limit)
		w.text(f, f.Derive, v, 0)
		return off
	}
	return w.run(f, v, off, limit)
}

// integer adds a node of an integer.
func (w *walker) integer(f *schema.Field, off, limit int) int {
	if why := w.missing(off, f.Size, limit); why != lnet.Present {
		return w.gap(f, off, f.Size, why, limit)
	}
	w.direct(f, off)
	return off + f.Size
}

// span adds a node of n bytes that are shown as one value.
func (w *walker) span(f *schema.Field, off, n, limit int) int {
	if why := w.missing(off, n, limit); why != lnet.Present {
		return w.gap(f, off, n, why, limit)
	}
	w.open(f, off, n)
	return off + n
}

// run adds a node of a string or of opaque bytes: of fixed size, of the size in
// another field, or up to the limit.
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
		if got := w.bytes(off, limit); len(got) > 0 && w.whole && !(f.Pad && allZero(got)) {
			w.open(f, off, len(got))
		}
		return w.gap(f, off, n, why, limit)
	}
	if f.Pad && (f.Kind == schema.Text || allZero(w.data[off:off+n])) {
		return off + n
	}
	w.open(f, off, n)
	return off + n
}
