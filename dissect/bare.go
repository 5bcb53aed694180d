package dissect

import (
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// BuildField dissects bytes that no message is around as a field: a struct is
// the field opcodes.Sub makes of it. A field that is part of a struct comes
// with it, as far as its declaration asks for it. The bytes are integers of a
// big-endian sender if big is set.
func (t *Tree) BuildField(f *schema.Field, in *schema.Struct, b []byte, big bool) {
	t.Nodes, t.Notes = t.Nodes[:0], t.Notes[:0]
	t.src = [3][]byte{b, nil, t.src[InText][:0]}
	t.bulk = schema.Msg{Big: big}
	w := &t.walker
	w.reset(t, &Message{Message: lnet.Message{Data: b, Size: len(b), LNetOff: -1}})
	w.msg, w.big = &t.bulk, big
	v := w.view()
	*v = schema.View{Struct: b, Rest: b, Big: big, Type: in, Msg: &t.bulk}
	w.tail(w.field(f, v, 0, len(b)), len(b))
	w.drop()
}
