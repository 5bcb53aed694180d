// Package codec writes structs as bytes and reads them back. A Plan is made from a type when
// it is first used, so a field that is added to a struct is kept without a change elsewhere.
//
// A struct is a bit for each of its fields, which is set when the field is not zero, and
// behind the bits the values of these fields. The fields of structs and arrays in it count
// as its own. Tags say what is different:
//
//	Msg     *schema.Msg     `codec:"-"`      // not kept
//	Variant *schema.Variant `codec:"shared"` // the pointer is kept, not what it points to
//	Peer    *Peer           `codec:"table"`  // many records have the same Peer: its place in a table is kept
//
// The bytes are for the process that wrote them only: they refer to Tables in memory, and
// their form has no version.
package codec

import (
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
	once  sync.Once
	steps []step
}

// step is a field.
type step struct {
	op   op
	off  uintptr // in the struct that its bits belong to
	len  int     // of an array of bytes
	size uintptr // of an element of a slice
	name string  // with its path, for errors
	typ  reflect.Type
	elem []step // of what a pointer points to, or an element of a slice
}

type op uint8

const (
	boolean op = iota
	number8    // also without a sign: the bits are the same
	number16
	number32
	number64
	text    // its place in a table
	bytes   // read as a part of the bytes that are read; nil stays nil
	array   // of bytes, without the zeros at its end
	address // netip.Addr without a zone
	slice
	pointer
	shared
	table
)

// numbers has the op of a number, by its size.
var numbers = map[uintptr]op{1: number8, 2: number16, 4: number32, 8: number64}

func (p *Plan[T]) make() {
	t := reflect.TypeFor[T]()
	p.steps = appendSteps(nil, t, 0, t.Name(), "")
}

// appendSteps appends the steps of a field, or of a whole struct.
func appendSteps(steps []step, t reflect.Type, off uintptr, name, tag string) []step {
	s := step{off: off, name: name, typ: t}
	switch kind := t.Kind(); {
	case tag == "shared" && kind == reflect.Pointer:
		s.op = shared
	case kind == reflect.Pointer:
		s.op, s.typ = pointer, t.Elem()
		if tag == "table" {
			s.op = table
		}
		s.elem = appendSteps(nil, s.typ, 0, name, "")
	case tag != "":
		panic(fmt.Sprintf("codec: %s: a %v cannot be %q", name, t, tag))
	case t == reflect.TypeFor[netip.Addr]():
		s.op = address
	case kind == reflect.Bool:
		s.op = boolean
	case kind >= reflect.Int && kind <= reflect.Uint64:
		s.op = numbers[t.Size()]
	case kind == reflect.String:
		s.op = text
	case kind == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		s.op = bytes
	case kind == reflect.Slice:
		s.op, s.size, s.elem = slice, t.Elem().Size(), appendSteps(nil, t.Elem(), 0, name, "")
	case kind == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		s.op, s.len = array, t.Len()
	case kind == reflect.Array:
		for i := range t.Len() {
			steps = appendSteps(steps, t.Elem(), off+uintptr(i)*t.Elem().Size(), fmt.Sprintf("%s[%d]", name, i), "")
		}
		return steps
	case kind == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if tag := f.Tag.Get("codec"); tag != "-" {
				steps = appendSteps(steps, f.Type, off+f.Offset, name+"."+f.Name, tag)
			}
		}
		return steps
	default:
		panic(fmt.Sprintf("codec: %s: a %v cannot be kept", name, t))
	}
	return append(steps, s)
}

// Append appends a value to dst.
func (p *Plan[T]) Append(dst []byte, t *Tables, v *T) []byte {
	p.once.Do(p.make)
	w := writer{dst, t}
	w.fields(p.steps, unsafe.Pointer(v))
	return w.buf
}

type writer struct {
	buf    []byte
	tables *Tables
}

func (w *writer) fields(steps []step, base unsafe.Pointer) {
	bits := len(w.buf)
	w.buf = append(w.buf, make([]byte, (len(steps)+7)/8)...)
	for i := range steps {
		if w.field(&steps[i], unsafe.Add(base, steps[i].off)) {
			w.buf[bits+i/8] |= 1 << (i % 8)
		}
	}
}

// field appends a field, unless it is zero.
func (w *writer) field(s *step, p unsafe.Pointer) (has bool) {
	var number int64
	switch s.op {
	case boolean:
		return *(*bool)(p)
	case number8:
		number = int64(*(*int8)(p))
	case number16:
		number = int64(*(*int16)(p))
	case number32:
		number = int64(*(*int32)(p))
	case number64:
		number = *(*int64)(p)
	default:
		return w.compound(s, p)
	}
	if number == 0 {
		return false
	}
	w.buf = binary.AppendVarint(w.buf, number)
	return true
}

func (w *writer) compound(s *step, p unsafe.Pointer) (has bool) {
	switch s.op {
	case text:
		v := *(*string)(p)
		if v != "" {
			w.text(v)
		}
		return v != ""
	case bytes:
		v := *(*[]byte)(p)
		if v != nil {
			w.bytes(v)
		}
		return v != nil
	case array:
		v := unsafe.Slice((*byte)(p), s.len)
		for len(v) > 0 && v[len(v)-1] == 0 {
			v = v[:len(v)-1]
		}
		if len(v) > 0 {
			w.bytes(v)
		}
		return len(v) > 0
	case address:
		v := *(*netip.Addr)(p)
		switch {
		case v.Is4():
			b := v.As4()
			w.bytes(b[:])
		case v.Is6():
			b := v.As16()
			w.bytes(b[:])
		}
		return v.IsValid()
	case slice:
		v := (*sliceHeader)(p)
		if v.len > 0 {
			w.buf = binary.AppendUvarint(w.buf, uint64(v.len))
		}
		for i := range v.len {
			w.fields(s.elem, unsafe.Add(v.data, uintptr(i)*s.size))
		}
		return v.len > 0
	}
	to := *(*unsafe.Pointer)(p)
	if to == nil {
		return false
	}
	switch s.op {
	case pointer:
		w.fields(s.elem, to)
	case shared:
		w.buf = binary.AppendUvarint(w.buf, w.tables.pointers.place(to))
	case table:
		w.entry(s, to)
	}
	return true
}

func (w *writer) bytes(v []byte) {
	w.buf = append(binary.AppendUvarint(w.buf, uint64(len(v))), v...)
}

// text appends the place of a text in its table or, when that is full, 0 and the text.
func (w *writer) text(v string) {
	i := w.tables.texts.place(v)
	w.buf = binary.AppendUvarint(w.buf, i)
	if i == 0 {
		w.buf = append(binary.AppendUvarint(w.buf, uint64(len(v))), v...)
	}
}

// entry appends a struct as a text.
func (w *writer) entry(s *step, p unsafe.Pointer) {
	begin := len(w.buf)
	w.fields(s.elem, p)
	v := w.buf[begin:]
	i := w.tables.texts.find(unsafe.String(unsafe.SliceData(v), len(v)))
	if i == 0 {
		w.buf = w.buf[:begin]
		w.text(string(v))
		return
	}
	w.buf = binary.AppendUvarint(w.buf[:begin], i)
}

// Read reads a value and returns the bytes behind it. It sets all fields that are kept. What
// it reads refers to b and, where there are any, uses the arrays of slices and what pointers
// point to.
func (p *Plan[T]) Read(b []byte, t *Tables, v *T) (rest []byte, err error) {
	p.once.Do(p.make)
	r := reader{buf: b, tables: t}
	r.fields(p.steps, unsafe.Pointer(v))
	if r.failed != nil {
		return nil, fmt.Errorf("%s: the bytes end too early", r.failed.name)
	}
	return r.buf, nil
}

type reader struct {
	buf    []byte
	tables *Tables
	failed *step // the first field that could not be read; from it on, all are zero
}

func (r *reader) fail(s *step) {
	if r.failed == nil {
		r.failed = s
	}
	r.buf = nil
}

func (r *reader) fields(steps []step, base unsafe.Pointer) {
	bits := r.take(&steps[0], (len(steps)+7)/8)
	for i := range steps {
		has := r.failed == nil && bits[i/8]>>(i%8)&1 != 0
		r.field(&steps[i], unsafe.Add(base, steps[i].off), has)
	}
}

func (r *reader) field(s *step, p unsafe.Pointer, has bool) {
	if s.op == boolean {
		*(*bool)(p) = has
		return
	}
	if s.op > number64 {
		r.compound(s, p, has)
		return
	}
	var number int64
	if has {
		u := r.uint(s)
		number = int64(u>>1) ^ -int64(u&1)
	}
	switch s.op {
	case number8:
		*(*int8)(p) = int8(number)
	case number16:
		*(*int16)(p) = int16(number)
	case number32:
		*(*int32)(p) = int32(number)
	case number64:
		*(*int64)(p) = number
	}
}

func (r *reader) compound(s *step, p unsafe.Pointer, has bool) {
	switch s.op {
	case text:
		*(*string)(p) = ""
		if has {
			*(*string)(p) = r.text(s)
		}
	case bytes:
		*(*[]byte)(p) = nil
		if has {
			*(*[]byte)(p) = r.bytes(s)
		}
	case array:
		v := unsafe.Slice((*byte)(p), s.len)
		n := 0
		if has {
			n = copy(v, r.bytes(s))
		}
		clear(v[n:])
	case address:
		*(*netip.Addr)(p) = netip.Addr{}
		if has {
			*(*netip.Addr)(p), _ = netip.AddrFromSlice(r.bytes(s))
		}
	case slice:
		n := 0
		if has {
			n = r.length(s)
		}
		v := (*sliceHeader)(p)
		if v.cap < n {
			v.data, v.cap = reflect.MakeSlice(s.typ, n, n).UnsafePointer(), n
		}
		v.len = n
		for i := range n {
			r.fields(s.elem, unsafe.Add(v.data, uintptr(i)*s.size))
		}
	default:
		r.pointer(s, (*unsafe.Pointer)(p), has)
	}
}

func (r *reader) pointer(s *step, p *unsafe.Pointer, has bool) {
	switch {
	case !has:
		*p = nil
		return
	case s.op == shared:
		v, ok := r.tables.pointers.value(r.uint(s))
		if *p = v; !ok {
			r.fail(s)
		}
		return
	case *p == nil:
		*p = reflect.New(s.typ).UnsafePointer()
	}
	if s.op == pointer {
		r.fields(s.elem, *p)
		return
	}
	v := r.text(s)
	rest := r.buf
	r.buf = unsafe.Slice(unsafe.StringData(v), len(v))
	if r.fields(s.elem, *p); r.failed == nil {
		r.buf = rest
	}
}

func (r *reader) uint(s *step) uint64 {
	v, n := binary.Uvarint(r.buf)
	if n <= 0 {
		r.fail(s)
		return 0
	}
	r.buf = r.buf[n:]
	return v
}

// length reads the number of bytes or elements that follow, each of a byte or more.
func (r *reader) length(s *step) int {
	n := r.uint(s)
	if n > uint64(len(r.buf)) {
		r.fail(s)
		return 0
	}
	return int(n)
}

func (r *reader) take(s *step, n int) []byte {
	if n > len(r.buf) {
		r.fail(s)
		return nil
	}
	b := r.buf[:n:n]
	r.buf = r.buf[n:]
	return b
}

func (r *reader) bytes(s *step) []byte { return r.take(s, r.length(s)) }

func (r *reader) text(s *step) string {
	i := r.uint(s)
	if i == 0 {
		return string(r.bytes(s))
	}
	v, ok := r.tables.texts.value(i)
	if !ok {
		r.fail(s)
	}
	return v
}

// sliceHeader is how a slice lies in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}
