package values

import (
	"strings"

	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

type treatment struct {
	class Class

	// write writes the value, or its replacement, into v.out, which is zero before; nil:
	// the value is removed.
	write func(w *writer, v *value)
}

type value struct {
	in, out []byte // as captured, and where its replacement goes; of the same length
	big     bool   // integers are big-endian
	index   int    // in its list, or -1
}

func (v *value) uint() uint64 { return schema.ReadUint(v.in, v.big) }

func (v *value) put(x uint64) {
	for i := range v.out {
		shift := 8 * i
		if v.big {
			shift = 8 * (len(v.out) - 1 - i)
		}
		v.out[i] = byte(x >> shift)
	}
}

var (
	keep    = &treatment{Harmless, func(_ *writer, v *value) { copy(v.out, v.in) }}
	remove  = &treatment{Data, nil}
	replID  = &treatment{Identity, func(w *writer, v *value) { v.put(w.p.ID(v.uint())) }}
	nid4    = &treatment{Address, func(w *writer, v *value) { v.put(w.p.nid4(v.uint())) }}
	nid16   = &treatment{Address, func(w *writer, v *value) { w.p.nid16(v.out, v.in) }}
	ipv4    = &treatment{Address, func(w *writer, v *value) { v.put(w.p.ipv4Number(v.uint())) }}
	gid     = &treatment{Address, func(w *writer, v *value) { w.p.gid(v.out, v.in) }}
	nidText = &treatment{Address, text((*names).nidText)}

	fileName  = &treatment{Name, text((*names).fileName)}
	path      = &treatment{Name, text((*names).path)}
	device    = &treatment{Name, text((*names).device)}
	plainWord = &treatment{Name, text((*names).plainWord)}
	job       = &treatment{Name, text((*names).job)}
	params    = &treatment{Name, text(configText(config.params))}
	comment   = &treatment{Name, text(configText(config.comment))}
	xattrName = &treatment{Name, text((*names).xattrName)}
	xattrText = &treatment{Name, text((*names).xattrText)}
	xattrs    = &treatment{Name, texts((*names).xattrName)}
	keyword   = &treatment{Harmless, keepKeyword}

	// These depend on other values of the message.
	entryName   = &treatment{Name, (*writer).entryName}
	updateParam = &treatment{Name, (*writer).updateParam}
	argument    = &treatment{Name, (*writer).argument}
	resource    = &treatment{Name, (*writer).resource}
	listedID    = &treatment{Identity, (*writer).listedID}
	handle      = &treatment{Harmless, keepHandle}
)

func text(replacement func(*names, []byte) string) func(*writer, *value) {
	return func(w *writer, v *value) { v.putText(schema.TrimNUL(v.in), replacement, w.p.names) }
}

func configText(replacement func(config, []byte) string) func(*names, []byte) string {
	return func(p *names, text []byte) string { return replacement(config{p}, text) }
}

// putText writes the replacement of a text, which must be as long.
func (v *value) putText(text []byte, replacement func(*names, []byte) string, p *names) {
	if len(text) == 0 {
		return
	}
	if r := replacement(p, text); len(r) == len(text) {
		copy(v.out, r)
	}
}

// texts returns a func that writes the replacements of texts with a NUL behind each.
func texts(replacement func(*names, []byte) string) func(*writer, *value) {
	return func(w *writer, v *value) {
		for at := 0; at < len(v.in); {
			name := schema.TrimNUL(v.in[at:])
			part := value{out: v.out[at : at+len(name)]}
			part.putText(name, replacement, w.p.names)
			at += len(name) + 1
		}
	}
}

// fieldKey identifies a field where it occurs.
type fieldKey struct{ in, name string }

// inBuffers stands for the struct in the key of a field that is in no struct: a buffer of
// an RPC, or a member of a union in one.
const inBuffers = "-"

type fieldTable struct {
	listed  map[fieldKey]*treatment
	options map[*schema.Field]string // members of unions by the names they are declared with
	known   map[fieldUse]*treatment

	resource *schema.Struct // ldlm_res_id, which is replaced as a whole
}

// fieldUse is a field as part of a struct; of buffers the struct is nil.
type fieldUse struct {
	field *schema.Field
	in    *schema.Struct
}

func newFieldTable() *fieldTable {
	t := &fieldTable{
		listed:   make(map[fieldKey]*treatment),
		options:  make(map[*schema.Field]string),
		known:    make(map[fieldUse]*treatment),
		resource: opcodes.StructNamed("ldlm_res_id"),
	}
	for _, l := range treatments {
		for line := range strings.Lines(l.fields) {
			if words := strings.Fields(line); len(words) > 0 {
				for _, name := range words[1:] {
					t.listed[fieldKey{words[0], name}] = l.treatment
				}
			}
		}
	}
	forEachField(func(_ *schema.Struct, f *schema.Field) {
		for _, o := range f.Options {
			if f.Kind == schema.Union && o.Name != "" {
				t.options[f.Option(o)] = o.Name
			}
		}
	})
	return t
}

// of returns the treatment of a field of a struct, nil if it has no class. name is that
// of the field or, if it has none, of the array or list around it.
func (t *fieldTable) of(in *schema.Struct, name string, f *schema.Field) *treatment {
	use := fieldUse{f, in}
	r, ok := t.known[use]
	if !ok {
		r = t.find(in, name, f)
		if len(t.known) < maxKnown {
			t.known[use] = r
		}
	}
	return r
}

// maxKnown is how many treatments are kept. It is more than there are declared fields, but a
// tree may also have fields that were made for one message.
const maxKnown = 1 << 14

func (t *fieldTable) find(in *schema.Struct, name string, f *schema.Field) *treatment {
	key := fieldKey{inBuffers, name}
	if in != nil {
		key.in = in.Name
	}
	option := t.options[f]
	if option != "" {
		key.name = option
	}
	if r := t.listed[fieldKey{key.in, "!" + key.name}]; r != nil {
		return r
	}
	if r := byType(f); r != nil {
		return r
	}
	r := t.listed[key]
	if r == nil && option != "" {
		r = t.listed[fieldKey{inBuffers, option}]
	}
	return r
}

// byType returns the treatment that follows from the type of a field, nil if the type
// does not decide it.
func byType(f *schema.Field) *treatment {
	switch {
	case f.Pad:
		return remove
	case f.Kind == schema.Virtual:
		return keep // has no bytes
	case f.Kind == schema.Record:
		return byAtom(f.Type.Atom)
	case f.Kind > schema.Int:
		return nil
	case f.Format == schema.NID4:
		return nid4
	case f.Format == schema.IPv4:
		return ipv4
	case f.Names == nil && (f.Format == schema.Plain || f.Format == schema.Hex):
		return nil
	}
	return keep
}

func byAtom(f schema.Format) *treatment {
	switch f {
	case schema.FID, schema.OSTID, schema.OSTIDPlain, schema.Handle:
		return keep
	case schema.NID:
		return nid16
	case schema.UUID:
		return device
	}
	return nil
}

// forEachField calls f for all declared fields: in is the struct around, nil for buffers
// and what is in no struct.
func forEachField(f func(in *schema.Struct, field *schema.Field)) {
	structs := make(map[*schema.Struct]bool)
	seen := make(map[fieldUse]bool)
	var visit func(in *schema.Struct, field *schema.Field)
	visitStruct := func(s *schema.Struct) {
		if s == nil || structs[s] {
			return
		}
		structs[s] = true
		for _, field := range s.Fields {
			visit(s, field)
		}
	}
	visit = func(in *schema.Struct, field *schema.Field) {
		if field == nil || seen[fieldUse{field, in}] {
			return
		}
		seen[fieldUse{field, in}] = true
		f(in, field)
		visitStruct(field.Type)
		visit(in, field.Elem)
		for _, o := range field.Options {
			if field.Kind == schema.Union {
				o = field.Option(o)
			}
			visit(in, o)
		}
	}
	for _, s := range opcodes.Protocol.Structs() {
		visitStruct(s)
	}
	for _, list := range opcodes.Protocol.Sections {
		for _, s := range list {
			visitStruct(s)
		}
	}
	for _, r := range opcodes.Protocol.RPCs() {
		for _, v := range r.Variants {
			for _, field := range append(append([]*schema.Field(nil), v.Request...), v.Reply...) {
				visit(nil, field)
			}
			if v.Bulk != nil {
				visitStruct(v.Bulk.Type)
			}
		}
	}
	for _, place := range opcodes.Protocol.OtherFields {
		visit(nil, place.Field)
	}
}
