package values

import (
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// Message writes the anonymized bytes of m into dst: the bytes that may stay, and
// replacements. The caller must zero dst before: bytes that are removed are not written.
// Offsets in dst are those of m.Data; dst may be shorter than the message.
//
// It must be called once for each message, requests before their replies. Bulk data that
// consist of known structs, such as directory pages, are kept where all of m.Content is the
// payload of m, and removed where several messages carry it.
func (p *Mapper) Message(dst []byte, m *dissect.Message) {
	p.tree.Build(m)
	w := &p.writer
	*w = writer{p: p, m: m, msg: m.Msg, dst: dst}
	if w.msg == nil {
		w.msg, _ = p.tree.ParseRPC(m)
	}
	w.guessed = slices.ContainsFunc(p.tree.Notes, func(n lnet.Note) bool { return n.Code == "guess" })
	w.walk()
	w.writeDataSum()
	w.writeMessageSums()
	w.writeTransportSum()
}

// base returns where in dst the bytes of a source begin; ok is false for sources that are
// not in dst.
func (w *writer) base(src dissect.Source) (base int, ok bool) {
	switch src {
	case dissect.InMessage:
		return 0, true
	case dissect.InContent:
		return w.m.PayloadOff, len(w.m.Content) == w.m.Size-w.m.PayloadOff
	}
	return 0, false
}

func (w *writer) walk() {
	nodes := w.p.tree.Nodes
	for i := 0; i < len(nodes); i++ {
		n := &nodes[i]
		at, ok := w.base(n.Src)
		if n.Src == dissect.InText {
			continue
		}
		switch {
		case n.Is(dissect.Missing):
			w.p.removed.Truncated += int64(len(w.p.tree.Bytes(n)))
		case n.Is(dissect.Undecoded):
			w.p.removed.Undecoded += int64(n.Len)
		case overruns(nodes, i):
			w.p.removed.Undecoded += int64(n.Len)
			i = int(n.End) - 1
		case n.Field.Kind == schema.Record && n.Field.Type.Name == "ldlm_res_id" && ok:
			w.put((*writer).resource, n, at)
			i = int(n.End) - 1
		case !isLeaf(n, i):
		case !ok:
			w.p.removed.Data += int64(n.Len)
		default:
			w.leaf(n, at)
		}
	}
}

// overruns reports whether a node, whose index is i, is an array that is too long for the
// bytes around it: its count is invalid, so its elements are other fields, or text.
func overruns(nodes []dissect.Node, i int) bool {
	n := &nodes[i]
	if n.Field.Kind != schema.Array && n.Field.Kind != schema.List || int(n.End) == i+1 {
		return false
	}
	last := &nodes[n.End-1]
	return last.Is(dissect.Missing) && lnet.Why(last.Val) == lnet.Shorter
}

// isLeaf reports whether a node, whose index is i, is a value and not made of others.
func isLeaf(n *dissect.Node, i int) bool {
	if int(n.End) > i+1 {
		return false
	}
	switch n.Field.Kind {
	case schema.Record:
		return n.Field.Type.Atom != schema.Plain
	case schema.Array, schema.List, schema.Union, schema.Message, schema.Virtual:
		return false
	}
	return true
}

func (w *writer) leaf(n *dissect.Node, base int) {
	switch t := treatmentOf(n.Field); {
	case t != nil && n.Field.Class < schema.Removed && w.guessed && n.Src == dissect.InMessage && w.mayBeText(int(n.Off), int(n.Len)):
		w.p.removed.Undecoded += int64(n.Len)
	case t != nil:
		w.note(n)
		w.put(t, n, base)
	case w.m.RPC.Encrypted:
		w.p.removed.Encrypted += int64(n.Len)
	default:
		w.p.removed.Data += int64(n.Len)
	}
}

// put writes a value by its treatment, if there is room for it.
func (w *writer) put(write treatment, n *dissect.Node, base int) {
	in, at := w.p.tree.Bytes(n), base+int(n.Off)
	if at+len(in) > len(w.dst) {
		w.p.removed.Truncated += int64(len(in))
		return
	}
	w.value = value{in: in, out: w.dst[at : at+len(in)], big: n.Is(dissect.BigEndian)}
	write(w, &w.value)
}

// mayBeText reports whether some of the n bytes at an offset of the message belong to a run
// of at least minUnique printable characters, which may be a name. Where the request of a
// reply is missing, the layout of the reply is a guess, and a number in it may be text.
func (w *writer) mayBeText(off, n int) bool {
	isText := func(c byte) bool { return c >= ' ' && c <= '~' }
	b := w.m.Data
	for first := max(0, off-minUnique+1); first < off+n && first+minUnique <= len(b); first++ {
		if allAre(b[first:first+minUnique], isText) {
			return true
		}
	}
	return false
}
