package dissect

import (
	"encoding/binary"
	"fmt"
	"strings"
)

// want is a value that a tree must have.
type want struct {
	path  string // from the section on: buffers.mdt_body.mbo_size
	fact  string // the struct's name and the field's
	off   int    // in the data of its blob
	bytes []byte
	big   bool
}

// blob is a piece of a message and the values in it.
type blob struct {
	data  []byte
	wants []want
}

// rename expects a value under another path.
func (b *blob) rename(from, to string) {
	for i := range b.wants {
		if b.wants[i].path == from {
			b.wants[i].path = to
		}
	}
}

// put appends another blob, with its paths below name.
func (b *blob) put(name string, part blob) {
	for _, w := range part.wants {
		w.off += len(b.data)
		w.path = under(name, w.path)
		b.wants = append(b.wants, w)
	}
	b.data = append(b.data, part.data...)
}

// fill appends zeros up to a multiple of n.
func (b *blob) fill(n int) {
	for len(b.data)%n != 0 {
		b.data = append(b.data, 0)
	}
}

func under(name, path string) string {
	switch {
	case name == "":
		return path
	case path == "" || strings.HasPrefix(path, "["):
		return name + path
	}
	return name + "." + path
}

// values say what stands in a struct where anything would not do: numbers and
// bytes by field, blobs for what is inside. A name with a + in front chooses
// that member among those that share their place.
type values map[string]any

// inside are the values of the struct that is a field.
func (v values) inside(field string) values {
	in := values{}
	for k, x := range v {
		choice := strings.HasPrefix(k, "+")
		if rest, ok := strings.CutPrefix(strings.TrimPrefix(k, "+"), field+"."); ok {
			if choice {
				rest = "+" + rest
			}
			in[rest] = x
		}
	}
	return in
}

// builder makes structs from the facts, with another value in each field.
type builder struct {
	*factTables
	big  bool
	next uint64
}

// value is a number that no other field has, as far as size bytes allow.
func (b *builder) value(size int) uint64 {
	b.next++
	v := b.next * 0x9e3779b97f4a7c15 >> 1
	if size == 1 {
		return b.next%250 + 1
	}
	return v>>(64-8*size) | 1
}

func (b *builder) text(prefix string) string {
	b.next++
	return fmt.Sprintf("%s-%d", prefix, b.next)
}

func encode(v uint64, size int, big bool) []byte {
	p := make([]byte, 8)
	if big {
		binary.BigEndian.PutUint64(p, v)
		return p[8-size:]
	}
	binary.LittleEndian.PutUint64(p, v)
	return p[:size]
}

// number is an integer of its own.
func (b *builder) number(v uint64, size int) blob {
	p := encode(v, size, b.big)
	return blob{p, []want{{bytes: p, big: b.big}}}
}

// numbers is an array of n integers.
func (b *builder) numbers(n, size int) blob {
	var all blob
	for i := range n {
		all.put(fmt.Sprintf("[%d]", i), b.number(b.value(size), size))
	}
	return all
}

// str is a string with a NUL behind it.
func str(text string) blob {
	return blob{append([]byte(text), 0), []want{{bytes: append([]byte(text), 0)}}}
}

func raw(p []byte) blob { return blob{p, []want{{bytes: p}}} }

// list is n structs one behind the other.
func (b *builder) list(n int, name string, v values) blob {
	var all blob
	for i := range n {
		all.put(fmt.Sprintf("[%d]", i), b.record(name, v))
	}
	return all
}

// record builds a struct: each field gets a value of its own unless v or the
// defaults say which.
func (b *builder) record(name string, v values) blob {
	s := b.structs[name]
	if s == nil {
		panic("no struct " + name)
	}
	save := b.big
	switch s.order {
	case "little":
		b.big = false
	case "big":
		b.big = true
	}
	defer func() { b.big = save }()
	out := blob{data: make([]byte, s.size)}
	taken := make([]bool, s.size)
	for _, chosen := range []bool{true, false} {
		for i := range s.fields {
			f := &s.fields[i]
			_, is := v["+"+f.name]
			if is = is || prefer[name+"."+f.name]; is != chosen || covers(taken, f) {
				continue
			}
			b.member(&out, s, f, v)
		}
	}
	return out
}

// covers says whether a field's place is taken, and takes it.
func covers(taken []bool, f *factField) bool {
	end := min(f.off+f.size, len(taken))
	for i := f.off; i < end; i++ {
		if taken[i] {
			return true
		}
	}
	for i := f.off; i < end; i++ {
		taken[i] = true
	}
	return false
}

// member adds a field to the struct that it is part of.
func (b *builder) member(out *blob, s *factStruct, f *factField, v values) {
	at := f.off
	if f.size == 0 {
		at = len(out.data)
	}
	part := b.content(s, f, v)
	if part.data == nil {
		return
	}
	if at+len(part.data) > len(out.data) {
		out.data = append(out.data, make([]byte, at+len(part.data)-len(out.data))...)
	}
	copy(out.data[at:], part.data)
	for _, w := range part.wants {
		w.off += at
		if w.fact == "" {
			w.fact = s.name + "." + f.name
		}
		w.path = under(f.name[strings.LastIndexByte(f.name, '.')+1:], w.path)
		out.wants = append(out.wants, w)
	}
}

// content is what fills a field.
func (b *builder) content(s *factStruct, f *factField, v values) blob {
	given, ok := v[f.name]
	if !ok && v["+"+f.name] != nil {
		given, ok = v["+"+f.name], true
	}
	if !ok {
		given, ok = b.usual(s.name + "." + f.name)
	}
	if ok {
		switch x := given.(type) {
		case blob:
			return x
		case func(*builder) blob:
			return x(b)
		case string:
			p := make([]byte, max(f.size, len(x)))
			copy(p, x)
			return raw(p)
		case []byte:
			return raw(x)
		case int:
			return b.number(uint64(x), f.size)
		case uint64:
			return b.number(x, f.size)
		}
		panic(fmt.Sprintf("%s.%s: %T", s.name, f.name, given))
	}
	name, isStruct := strings.CutPrefix(f.kind, "struct ")
	if !isStruct {
		name, isStruct = strings.CutPrefix(f.kind, "union ")
	}
	switch {
	case f.size <= 0 || f.kind == "struct" || f.kind == "union":
		return blob{}
	case isStruct && atoms[name] != nil:
		return atoms[name](b)
	case isStruct:
		return b.record(name, v.inside(f.name))
	case f.kind == "char" || f.kind == "unsigned char":
		p := make([]byte, f.size)
		copy(p[:f.size-1], b.text("t"))
		return raw(p)
	case f.count > 0 && f.size == f.count:
		p := make([]byte, f.size)
		for i := range p {
			p[i] = byte(b.value(1))
		}
		return raw(p)
	case f.count > 0:
		return b.numbers(f.count, f.size/f.count)
	}
	return b.number(b.value(f.size), f.size)
}

// atoms are the structs that a tree shows as one value.
var atoms = map[string]func(*builder) blob{
	"lu_fid": func(b *builder) blob {
		p := append(encode(b.value(8), 8, b.big), encode(b.value(4), 4, b.big)...)
		return blob{append(p, encode(b.value(4), 4, b.big)...), nil}.whole(b.big)
	},
	"ost_id": func(b *builder) blob {
		return blob{append(encode(b.value(8), 8, b.big), encode(b.value(8), 8, b.big)...), nil}.whole(b.big)
	},
	"lnet_nid": func(b *builder) blob {
		p := append([]byte{12, 2}, encode(b.value(2), 2, true)...)
		p = append(p, encode(b.value(8), 8, true)...)
		return blob{append(p, encode(b.value(8), 8, true)...), nil}.whole(b.big)
	},
	"lustre_handle": func(b *builder) blob { return blob{encode(b.value(8), 8, false), nil}.whole(b.big) },
	"obd_uuid": func(b *builder) blob {
		p := make([]byte, 40)
		copy(p, b.text("uuid"))
		return blob{p, nil}.whole(b.big)
	},
}

func (b blob) whole(big bool) blob {
	b.wants = []want{{bytes: b.data, big: big}}
	return b
}
