// Package codec writes structs as bytes and reads them back. A Plan is made from a type when
// it is first used, so a field that is added to a struct is kept without a change elsewhere.
//
// A struct is a bit for each of its fields, which is set when the field is not zero, and
// behind the bits the values of these fields. The fields of structs and arrays in it count
// as its own. Tags say what is different:
//
//	Msg     *schema.Msg     `codec:"-"`      // not kept
//	Variant *schema.Variant `codec:"shared"` // the pointer is kept, not what it points to
//
// The bytes are for the process that wrote them only: they refer to Tables in memory, and
// their form has no version.
package codec

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"net/netip"
	"reflect"
	"sync"
	"unsafe"
)

// Plan says how values of a type are written. The zero Plan is ready for use, by any number
// of goroutines.
type Plan[T any] struct {
	once   sync.Once
	fields []field
}

// field is a field of the struct that its bit belongs to.
type field struct {
	kind   kind
	off    uintptr
	name   string       // with its path, for errors
	typ    reflect.Type // of a slice, of what a pointer points to, of an array of bytes
	fields []field      // of an element of a slice, of what a pointer points to
}

// kind is how fields of a type are kept. Structs and arrays, whose fields are kept one by one, have none.
type kind uint8

const (
	boolKind kind = iota
	int8Kind      // a number without a sign, too: the bits are the same
	int16Kind
	int32Kind
	int64Kind
	textKind
	addrKind
	bytesKind
	arrayKind // of bytes
	sliceKind
	pointerKind
	sharedKind
)

func (p *Plan[T]) make() {
	t := reflect.TypeFor[T]()
	p.fields = appendFields(nil, t, 0, t.Name(), "")
}

// numbers has the kinds of numbers by their size.
var numbers = map[uintptr]kind{1: int8Kind, 2: int16Kind, 4: int32Kind, 8: int64Kind}

// appendFields appends a field, or those of a struct or an array.
func appendFields(list []field, t reflect.Type, off uintptr, name, tag string) []field {
	f := field{off: off, name: name, typ: t}
	switch k := t.Kind(); {
	case tag == "shared" && k == reflect.Pointer:
		f.kind = sharedKind
	case tag != "":
		panic(fmt.Sprintf("codec: %s: a %v cannot be %q", name, t, tag))
	case k == reflect.Pointer:
		f.kind, f.typ, f.fields = pointerKind, t.Elem(), appendFields(nil, t.Elem(), 0, name, "")
	case k == reflect.Bool:
		f.kind = boolKind
	case k >= reflect.Int && k <= reflect.Uint64:
		f.kind = numbers[t.Size()]
	case k == reflect.String:
		f.kind = textKind
	case t == reflect.TypeFor[netip.Addr]():
		f.kind = addrKind
	case k == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		f.kind = bytesKind
	case k == reflect.Slice:
		f.kind, f.fields = sliceKind, appendFields(nil, t.Elem(), 0, name, "")
	case k == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		f.kind = arrayKind
	case k == reflect.Array:
		for i := range t.Len() {
			list = appendFields(list, t.Elem(), off+uintptr(i)*t.Elem().Size(), fmt.Sprintf("%s[%d]", name, i), "")
		}
		return list
	case k == reflect.Struct:
		for part := range t.Fields() {
			if tag := part.Tag.Get("codec"); tag != "-" {
				list = appendFields(list, part.Type, off+part.Offset, name+"."+part.Name, tag)
			}
		}
		return list
	default:
		panic(fmt.Sprintf("codec: %s: a %v cannot be kept", name, t))
	}
	return append(list, f)
}

// Append appends a value to dst.
func (p *Plan[T]) Append(dst []byte, t *Tables, v *T) []byte {
	p.once.Do(p.make)
	w := &t.writer
	w.buf, w.tables = dst, t
	w.fields(p.fields, unsafe.Pointer(v))
	w.buf, dst = nil, w.buf
	return dst
}

type writer struct {
	buf    []byte
	tables *Tables
}

func (w *writer) fields(fields []field, base unsafe.Pointer) {
	bits := len(w.buf)
	w.buf = append(w.buf, make([]byte, (len(fields)+7)/8)...)
	for i := range fields {
		if f := &fields[i]; w.field(f, unsafe.Add(base, f.off)) {
			w.buf[bits+i/8] |= 1 << (i % 8)
		}
	}
}

// field appends a value unless it is zero, and reports whether it is not.
func (w *writer) field(f *field, p unsafe.Pointer) (has bool) {
	switch f.kind {
	case boolKind:
		return *(*bool)(p)
	case int8Kind:
		return w.int(int64(*(*int8)(p)))
	case int16Kind:
		return w.int(int64(*(*int16)(p)))
	case int32Kind:
		return w.int(int64(*(*int32)(p)))
	case int64Kind:
		return w.int(*(*int64)(p))
	case textKind:
		v := *(*string)(p)
		if v != "" {
			w.text(v)
		}
		return v != ""
	case addrKind: // it has no zone
		v := *(*netip.Addr)(p)
		if v.IsValid() {
			w.uint(uint64(v.BitLen() / 8))
			w.buf, _ = v.AppendBinary(w.buf)
		}
		return v.IsValid()
	case bytesKind: // nil stays nil
		v := *(*[]byte)(p)
		if v != nil {
			w.bytes(v)
		}
		return v != nil
	case arrayKind: // without the zeros at its end
		v := bytes.TrimRight(f.array(p), "\x00")
		if len(v) > 0 {
			w.bytes(v)
		}
		return len(v) > 0
	case sliceKind:
		v, size := (*sliceHeader)(p), f.typ.Elem().Size()
		if v.len > 0 {
			w.uint(uint64(v.len))
		}
		for i := range v.len {
			w.fields(f.fields, unsafe.Add(v.data, uintptr(i)*size))
		}
		return v.len > 0
	case pointerKind:
		to := *(*unsafe.Pointer)(p)
		if to != nil {
			w.fields(f.fields, to)
		}
		return to != nil
	case sharedKind:
		to := *(*unsafe.Pointer)(p)
		if to != nil {
			w.uint(w.tables.pointers.place(to))
		}
		return to != nil
	default:
		panic(f.kind)
	}
}

// array returns an array of bytes.
func (f *field) array(p unsafe.Pointer) []byte { return unsafe.Slice((*byte)(p), f.typ.Len()) }

// sliceHeader is how a slice lies in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func (w *writer) uint(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }

func (w *writer) int(v int64) (has bool) {
	if v != 0 {
		w.buf = binary.AppendVarint(w.buf, v)
	}
	return v != 0
}

func (w *writer) bytes(v []byte) {
	w.uint(uint64(len(v)))
	w.buf = append(w.buf, v...)
}

// text appends the place of a text in its table or, when that is full, 0 and the text.
func (w *writer) text(v string) {
	i := w.tables.texts.place(v)
	w.uint(i)
	if i == 0 {
		w.uint(uint64(len(v)))
		w.buf = append(w.buf, v...)
	}
}

// Read reads a value and returns the bytes behind it. It sets all fields that are kept. What
// it reads refers to b and, where there are any, uses the arrays of slices and what pointers
// point to.
func (p *Plan[T]) Read(b []byte, t *Tables, v *T) (rest []byte, err error) {
	p.once.Do(p.make)
	r := reader{buf: b, tables: t}
	r.fields(p.fields, unsafe.Pointer(v))
	if r.failed {
		return nil, fmt.Errorf("%s: the bytes end too early", r.at)
	}
	return r.buf, nil
}

type reader struct {
	buf    []byte
	tables *Tables
	failed bool   // from there on, all values are zero
	at     string // the first field that could not be read
}

func (r *reader) fail() { r.failed, r.buf = true, nil }

func (r *reader) fields(fields []field, base unsafe.Pointer) {
	bits := r.take((len(fields) + 7) / 8)
	for i := range fields {
		f := &fields[i]
		r.field(f, unsafe.Add(base, f.off), !r.failed && bits[i/8]>>(i%8)&1 != 0)
		if r.failed && r.at == "" {
			r.at = f.name
		}
	}
}

// field sets a value, to zero if nothing was written.
func (r *reader) field(f *field, p unsafe.Pointer, has bool) {
	switch f.kind {
	case boolKind:
		*(*bool)(p) = has
	case int8Kind:
		*(*int8)(p) = int8(r.int(has))
	case int16Kind:
		*(*int16)(p) = int16(r.int(has))
	case int32Kind:
		*(*int32)(p) = int32(r.int(has))
	case int64Kind:
		*(*int64)(p) = r.int(has)
	case textKind:
		set(r, p, has, (*reader).text)
	case addrKind:
		set(r, p, has, func(r *reader) netip.Addr {
			a, _ := netip.AddrFromSlice(r.bytes())
			return a
		})
	case bytesKind: // a slice of the input, not a copy
		set(r, p, has, (*reader).bytes)
	case arrayKind:
		v := f.array(p)
		if has {
			v = v[copy(v, r.bytes()):]
		}
		clear(v)
	case sliceKind:
		n := 0
		if has {
			n = r.length()
		}
		v, size := (*sliceHeader)(p), f.typ.Elem().Size()
		if v.cap < n {
			v.data, v.cap = reflect.MakeSlice(f.typ, n, n).UnsafePointer(), n
		}
		v.len = n
		for i := range n {
			r.fields(f.fields, unsafe.Add(v.data, uintptr(i)*size))
		}
	case pointerKind:
		to := (*unsafe.Pointer)(p)
		switch {
		case !has:
			*to = nil
			return
		case *to == nil:
			*to = reflect.New(f.typ).UnsafePointer()
		}
		r.fields(f.fields, *to)
	case sharedKind:
		set(r, p, has, func(r *reader) unsafe.Pointer { return r.tables.pointers.value(r, r.uint()) })
	default:
		panic(f.kind)
	}
}

// set sets a value that is read, or to zero.
func set[T any](r *reader, p unsafe.Pointer, has bool, read func(*reader) T) {
	var v T
	if has {
		v = read(r)
	}
	*(*T)(p) = v
}

func (r *reader) int(has bool) int64 {
	if !has {
		return 0
	}
	u := r.uint()
	return int64(u>>1) ^ -int64(u&1)
}

func (r *reader) uint() uint64 {
	v, n := binary.Uvarint(r.buf)
	if n <= 0 {
		r.fail()
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

func (r *reader) bytes() []byte { return r.take(r.length()) }

// length reads the number of bytes or elements that follow, each of a byte or more.
func (r *reader) length() int {
	n := r.uint()
	if n > uint64(len(r.buf)) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) take(n int) []byte {
	if n > len(r.buf) {
		r.fail()
		return nil
	}
	b := r.buf[:n:n]
	r.buf = r.buf[n:]
	return b
}

func (r *reader) text() string {
	i := r.uint()
	if i == 0 {
		return string(r.bytes())
	}
	return r.tables.texts.value(r, i)
}
