package schema

// View is the argument of the funcs in the tables: the raw bytes of a struct,
// and its place in the message.
type View struct {
	Struct     []byte // the struct the field is part of, to the end of its buffer
	Rest       []byte // from the field to the end of its buffer
	Len        int    // of a union: the bytes it has, of which Rest is what was captured
	Big        bool   // integers of this struct are big-endian
	Off        int    // offset of Struct in the message
	LocatedEnd int    // end of the last part that a Locate func placed
	Index      int    // of the record in its list or the element in its array
	Value      uint64 // of the integer that a Remark is about
	Type       *Struct
	Up         *View // the enclosing struct, nil in a buffer's own struct
	Msg        *Msg
}

// Uint reads a field of the struct.
func (v *View) Uint(f *Field) uint64 { return f.Uint(v.Struct, v.Big) }

// Msg is a lustre_msg with its buffers.
type Msg struct {
	Bufs           [][]byte // as far as they were captured
	Big            bool
	Reply          bool
	Opcode         uint32
	Status         int32 // pb_status
	RPC            *RPC
	Variant        *Variant
	VariantGuessed bool // the variant is a guess
	Req            *Msg // of a reply or a bulk: its request; nil when it was not captured
	Portal         uint32
	Sub            bool // a message inside a batch

	Scratch [16]byte // room for a FID that a Subject func composes
}

// Buf returns buffer i, nil when the message has fewer.
func (m *Msg) Buf(i int) []byte {
	if m == nil || i >= len(m.Bufs) {
		return nil
	}
	return m.Bufs[i]
}

// Fields are the declared buffers of the message.
func (m *Msg) Fields() []*Field {
	switch {
	case m == nil || m.Variant == nil:
		return nil
	case m.Reply:
		return m.Variant.Reply
	}
	return m.Variant.Request
}

// Named returns the buffer of that name, nil when the message has none.
func (m *Msg) Named(name string) []byte {
	for i, f := range m.Fields() {
		if f.Name == name {
			return m.Buf(i)
		}
	}
	return nil
}
