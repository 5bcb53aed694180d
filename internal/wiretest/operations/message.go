package operations

import (
	"cmp"
	"encoding/binary"
	"slices"
	"strings"

	"github.com/lshark/lshark/internal/wiretest"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// message is the buffers of a message, and where in them there are values that may choose a variant.
type message struct {
	text   func(f *schema.Field) string
	bufs   [][]byte
	places []place
	next   uint64 // number of the next plain value
}

// place is a number or a text.
type place struct {
	buf, off int
	field    *schema.Field
}

func (c *Dialogs) message(r *schema.RPC, buffers []*schema.Field, kind uint64) *message {
	m := &message{text: c.text}
	for i, f := range buffers {
		m.bufs = append(m.bufs, nil)
		if f.Kind != schema.Union {
			m.bufs[i] = m.content(f, i, 0, false)
		}
	}
	for name, value := range map[string]uint64{"pb_type": kind, "pb_version": 0x30003, "pb_opc": uint64(r.Opcode), "pb_status": 0, "pb_flags": 0, "pb_op_flags": 0, "pb_mbits": c.xid} {
		f := opcodes.PtlrpcBody.Field(name)
		schema.PutUint(m.bufs[0][f.Off:f.Off+f.Size], value, false)
	}
	return m
}

// fillUnions fills the buffers that have one of several forms, with one that the message then says they have.
func (m *message) fillUnions(buffers []*schema.Field, msg *schema.Msg, form int) (more bool) {
	for i, f := range buffers {
		if f.Kind != schema.Union {
			continue
		}
		var filled [][]byte
		for _, option := range f.Options {
			b := m.content(f.Option(option), i, 0, false)
			m.bufs[i] = b
			isOption := func() bool { return f.Choose(&schema.View{Struct: b, Rest: b, Len: len(b), Msg: msg}) == option }
			if isOption() || option.Kind == schema.Record && tryMagic(option.Type.Fields[0], b, isOption) {
				filled = append(filled, b)
			}
		}
		m.bufs[i] = nil
		if n := len(filled); n > 0 {
			m.bufs[i] = filled[min(form, n-1)]
			more = more || form < n-1
		}
	}
	return more
}

// content is what fills a field, which is at off of a buffer.
func (m *message) content(f *schema.Field, buf, off int, big bool) []byte {
	big = f.Order.Is(big)
	switch f.Kind {
	case schema.Uint, schema.Int:
		b := make([]byte, f.Size)
		if !f.Pad {
			schema.PutUint(b, m.number(f), big)
		}
		if buf > 0 || f.Name == "pb_flags" {
			m.places = append(m.places, place{buf, off, f})
		}
		return b
	case schema.Text, schema.Bytes:
		if buf > 0 {
			m.places = append(m.places, place{buf, off, f})
		}
		b := append([]byte(m.text(f)), 0)
		if f.Size > 0 {
			b = append(b, make([]byte, f.Size)...)[:f.Size]
			b[f.Size-1] = 0
		}
		return b
	case schema.Strings:
		return []byte(m.text(f) + "\x00")
	case schema.Record:
		return m.record(f.Type, buf, off, big)
	case schema.Array:
		var all []byte
		for range cmp.Or(max(0, f.Count), someElements) {
			all = append(all, m.content(f.Elem, buf, off+len(all), big)...)
		}
		return all
	case schema.Union:
		if len(f.Options) > 0 {
			b := m.content(f.Option(f.Options[0]), buf, off, big)
			return append(b, make([]byte, max(0, f.Size-len(b)))...)
		}
	}
	return make([]byte, f.Size) // of a list: no records
}

const someElements = 2

// number returns a value of a number: one that the text of the field names, the first that has a name, or one of its own.
func (m *message) number(f *schema.Field) uint64 {
	if f.Names != nil {
		var first *schema.Value
		for i := range f.Names.Values {
			v := &f.Names.Values[i]
			if strings.HasSuffix(f.Name, "magic") && strings.Contains(f.Doc, f.Names.Full(*v)) {
				return v.Value
			}
			if first == nil && v.Value != 0 && !v.Alias {
				first = v
			}
		}
		if first != nil {
			return first.Value
		}
	}
	if f.Format == schema.Octal {
		return regularFile
	}
	if strings.HasSuffix(f.Name, "_count") {
		return someElements
	}
	m.next++
	return m.next
}

// Modes of files.
const regularFile, symlink = 0o100644, 0o120777

// record fills the fields of a struct in the order of the wire. Of members that share their place, it fills the first;
// words of flags have the bits that make the fields valid.
func (m *message) record(s *schema.Struct, buf, off int, big bool) []byte {
	big = s.Big(nil, big)
	out := make([]byte, s.Size)
	covered := 0
	for _, f := range s.Fields {
		if f.Locate != nil || f.Kind == schema.Virtual || f.Overlays() && f.Off < covered || f.If != nil && f.Off < 0 {
			continue
		}
		at := f.Off
		if at < 0 {
			at = len(out)
		}
		b := m.content(f, buf, off+at, big)
		if f.Kind == schema.Bytes && f.CountOf != nil {
			b = make([]byte, max(0, f.CountOf(&schema.View{Struct: out, Big: big, Type: s})))
		}
		out = append(out, make([]byte, max(0, at+len(b)-len(out)))...)
		copy(out[at:], b)
		covered = max(covered, at+len(b))
	}
	for _, f := range s.Fields {
		if count, ok := s.Lookup(f.CountBy); ok && f.Count <= 0 && f.Size == 0 && count.Off >= 0 {
			n := uint64(someElements)
			if f.Kind == schema.Text || f.Kind == schema.Bytes {
				n = uint64(len(m.text(f)) + 1)
			}
			schema.PutUint(out[count.Off:count.Off+count.Size], n, big)
		}
		for _, c := range f.When {
			if word, ok := s.Lookup(c.Field); ok && word.Off >= 0 {
				at := out[word.Off : word.Off+word.Size]
				schema.PutUint(at, schema.ReadUint(at, big)|word.Names.Bit(c.Bits[0]), big)
			}
		}
	}
	return out
}

// tryMagic puts each value that has a name into the field that a struct begins with, until it fits.
func tryMagic(f *schema.Field, b []byte, fits func() bool) bool {
	if f.Names == nil || f.Off != 0 {
		return false
	}
	for _, v := range f.Names.Values {
		schema.PutUint(b[:f.Size], v.Value, false)
		if fits() {
			return true
		}
	}
	return false
}

// choose looks for one value, else for two, with which the variant is picked.
func (m *message) choose(r *schema.RPC, v *schema.Variant) bool {
	return m.picks(r, v) || m.try(func() bool { return m.picks(r, v) }, v.Name) ||
		m.try(func() bool { return m.try(func() bool { return m.picks(r, v) }, v.Name) }, v.Name)
}

func (m *message) picks(r *schema.RPC, v *schema.Variant) bool {
	return r.Pick(&schema.Msg{Bufs: m.bufs, Opcode: r.Opcode, RPC: r}) == v
}

// try puts 0, each value that has a name, and all of them into each place until it fits, and else leaves all as it was.
func (m *message) try(fits func() bool, text string) bool {
	for _, p := range m.places {
		old := m.bufs[p.buf]
		if p.field.Kind > schema.Int {
			m.bufs[p.buf] = append(append(old[:p.off:p.off], text...), make([]byte, max(1, len(old)-p.off-len(text)))...)
			if fits() {
				return true
			}
			m.bufs[p.buf] = old
			continue
		}
		at := old[p.off : p.off+p.field.Size]
		before := schema.ReadUint(at, false)
		values := []uint64{0}
		if p.field.Format == schema.Octal {
			values = append(values, symlink)
		}
		if p.field.Names != nil {
			all := uint64(0)
			for _, v := range p.field.Names.Values {
				values = append(values, v.Value)
				all |= v.Value
			}
			values = append(values, all)
		}
		for _, v := range values {
			schema.PutUint(at, v, false)
			if fits() {
				return true
			}
		}
		schema.PutUint(at, before, false)
	}
	return false
}

// pack joins the buffers to a lustre_msg of version 2.
func (m *message) pack(surplus string) []byte {
	bufs := slices.Clone(m.bufs)
	if surplus != "" {
		bufs = append(bufs, nil)
		for i := 1; i < len(bufs); i++ {
			bufs[i] = append(slices.Clip(bufs[i]), surplus...)
		}
	}
	const flagsAt, flags = 20, 3
	b := wiretest.Msg(bufs...)
	binary.LittleEndian.PutUint32(b[flagsAt:], flags)
	return b
}
