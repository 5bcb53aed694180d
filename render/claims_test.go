package render_test

import (
	"encoding/binary"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
	"github.com/lshark/lshark/render"
)

// TestBuiltDialogsAreUnderstood holds the builders of this package: what they
// make is what the other tests think it is.
func TestBuiltDialogsAreUnderstood(t *testing.T) {
	dialogs := append(sampleDialogs(t), tableDialogs()...)
	if len(dialogs) < 150 {
		t.Fatal(len(dialogs), "dialogs")
	}
	contents := 0
	for _, d := range dialogs {
		var kinds []lnet.Kind
		dd := dissect.New(dissect.Options{Handle: func(m *dissect.Message) {
			kinds = append(kinds, m.Kind)
			if len(m.Content) > 0 {
				contents++
			}
		}})
		wiretest.Play(dd, wiretest.Dialog(d.way, d.request, d.answer))
		if len(kinds) < 3 || kinds[0] != lnet.Request {
			t.Errorf("%s: %v", d.name, kinds)
		}
	}
	if contents < 5 {
		t.Error(contents, "with content")
	}
}

// TestClaimsCostNothing sets each length, count and offset of a message to
// what it cannot be, one after the other: the messages are shown without
// panic, in no more than they deserve.
func TestClaimsCostNothing(t *testing.T) {
	b := newTrees(t)
	for _, d := range append(sampleDialogs(t), tableDialogs()...) {
		if len(d.request) > 2000 || len(d.answer) > 2000 {
			continue
		}
		b.name = d.name
		claims(d.request, func(lie []byte) { b.play(d.way, lie, d.answer) })
		claims(d.answer, func(lie []byte) { b.play(d.way, d.request, lie) })
	}
	for _, c := range contents(t) {
		if len(c.answer) <= 4096 {
			b.name = c.name
			claims(c.answer, func(lie []byte) { b.message(c.message(lie)) })
		}
	}
}

// claims calls try with b in which one integer lies.
func claims(b []byte, try func([]byte)) {
	lies := [...]uint32{0, 1, 0xffff, 0x10000, 0x7fffffff, 0x80000000, 0xffffffff}
	b = append([]byte(nil), b...)
	for off := 0; off+4 <= len(b); off += 4 {
		old := binary.LittleEndian.Uint32(b[off:])
		binary.LittleEndian.PutUint32(b[off:], lies[off/4%len(lies)])
		try(b)
		binary.LittleEndian.PutUint32(b[off:], old)
	}
}

// trees builds the trees of conversations and holds what they may cost.
type trees struct {
	t    *testing.T
	name string
	tree dissect.Tree
	sum  *render.Summary
	json *render.JSON
	out  []byte
}

func newTrees(t *testing.T) *trees {
	b := &trees{t: t, sum: render.NewSummary(render.SummaryOptions{Colors: render.NewColors(false)}), json: render.NewJSON()}
	b.tree.Remarks = true
	return b
}

func (b *trees) play(way wiretest.Way, request, answer []byte) {
	wiretest.Play(dissect.New(dissect.Options{Handle: b.message}), wiretest.Dialog(way, request, answer))
}

func (b *trees) message(m *dissect.Message) {
	size := len(m.Data) + len(m.Content)
	b.tree.Build(m)
	if n := len(b.tree.Nodes); n > 64+nodesPerByte*size {
		b.t.Fatalf("%s: %s: %d nodes of %d bytes", b.name, m.Kind, n, size)
	}
	b.out = b.sum.Append(b.out[:0], m, render.Moment{})
	b.out = b.json.Append(b.out, m, render.Moment{})
	if len(b.out) > 16<<10+200*size {
		b.t.Fatalf("%s: %s: %d bytes shown of %d", b.name, m.Kind, len(b.out), size)
	}
}

// TestComponentsShareNoBytes has a composite layout whose components claim the
// same bytes over and over: they are read once.
func TestComponentsShareNoBytes(t *testing.T) {
	le := binary.LittleEndian
	const entries, room = 400, 30 << 10
	b := make([]byte, 32+48*entries+room)
	le.PutUint32(b, 0x0bd60bd0)
	le.PutUint32(b[4:], uint32(len(b)))
	le.PutUint16(b[14:], entries)
	for i := range entries {
		e := b[32+48*i:]
		le.PutUint32(e, uint32(i+1))
		if i%2 == 0 { // else none, so that the next may seem the first
			le.PutUint32(e[24:], 32+48*entries)
			le.PutUint32(e[28:], room)
		}
	}
	layout := b[32+48*entries:]
	le.PutUint32(layout, 0x0bd10bd0)
	le.PutUint16(layout[28:], room/24)
	var tree dissect.Tree
	s := opcodes.StructNamed("lov_comp_md_v1")
	tree.BuildField(schema.Sub(s.Name, &s).Resolve(), nil, b, false)
	if n := len(tree.Nodes); n > len(b) || n < entries {
		t.Errorf("%d nodes of %d bytes", n, len(b))
	}
}
