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
	"encoding/binary"
	"fmt"
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
	kind
	off  uintptr
	name string  // with its path, for errors
	size uintptr // of a number, which most fields are; 0: it is none
}

// isZero reports whether a number is 0, without a call of its kind.
func (f *field) isZero(p unsafe.Pointer) bool {
	switch f.size {
	case 1:
		return *(*int8)(p) == 0
	case 2:
		return *(*int16)(p) == 0
	case 4:
		return *(*int32)(p) == 0
	case 8:
		return *(*int64)(p) == 0
	}
	return false
}

func (p *Plan[T]) make() {
	t := reflect.TypeFor[T]()
	p.fields = appendFields(nil, t, 0, t.Name(), "")
}

// appendFields appends a field, or those of a struct or an array.
func appendFields(list []field, t reflect.Type, off uintptr, name, tag string) []field {
	if k, ok := kindOf(t, name, tag); ok {
		f := field{kind: k, off: off, name: name}
		if t.Kind() <= reflect.Uint64 {
			f.size = t.Size()
		}
		return append(list, f)
	}
	switch t.Kind() {
	case reflect.Array:
		for i := range t.Len() {
			list = appendFields(list, t.Elem(), off+uintptr(i)*t.Elem().Size(), fmt.Sprintf("%s[%d]", name, i), "")
		}
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if tag := f.Tag.Get("codec"); tag != "-" {
				list = appendFields(list, f.Type, off+f.Offset, name+"."+f.Name, tag)
			}
		}
	default:
		panic(fmt.Sprintf("codec: %s: a %v cannot be kept", name, t))
	}
	return list
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
		f := &fields[i]
		if p := unsafe.Add(base, f.off); !f.isZero(p) && f.write(w, p) {
			w.buf[bits+i/8] |= 1 << (i % 8)
		}
	}
}

func (w *writer) uint(v uint64) { w.buf = binary.AppendUvarint(w.buf, v) }

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
		p, has := unsafe.Add(base, f.off), !r.failed && bits[i/8]>>(i%8)&1 != 0
		if !has && f.isZero(p) {
			continue
		}
		f.read(r, p, has)
		if r.failed && r.at == "" {
			r.at = f.name
		}
	}
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
	return lookUp(r, &r.tables.texts, i)
}

// lookUp returns the value at a place in a table.
func lookUp[T comparable](r *reader, t *interned[T], i uint64) T {
	v, ok := t.value(i)
	if !ok {
		r.fail()
	}
	return v
}
