package codec

import (
	"encoding/binary"
	"fmt"
	"net/netip"
	"reflect"
	"unsafe"
)

// kind is how fields of a type are kept. write appends a value, unless it is zero; read sets it,
// to zero if nothing was written.
type kind struct {
	write func(w *writer, p unsafe.Pointer) (has bool)
	read  func(r *reader, p unsafe.Pointer, has bool)
}

// numbers has the kinds of numbers by their size, of those without a sign, too: the bits are the same.
var numbers = map[uintptr]kind{1: number[int8](), 2: number[int16](), 4: number[int32](), 8: number[int64]()}

// kindOf returns the kind of a field. Structs and arrays, whose fields are kept one by one, have none.
func kindOf(t reflect.Type, name, tag string) (k kind, ok bool) {
	switch isPointer := t.Kind() == reflect.Pointer; {
	case tag == "shared" && isPointer:
		return value(writeShared, readShared), true
	case tag != "":
		panic(fmt.Sprintf("codec: %s: a %v cannot be %q", name, t, tag))
	case isPointer:
		return pointer(t.Elem(), appendFields(nil, t.Elem(), 0, name, "")), true
	case t.Kind() == reflect.Bool:
		return value(func(*writer, bool) {}, func(*reader) bool { return true }), true
	case t.Kind() >= reflect.Int && t.Kind() <= reflect.Uint64:
		return numbers[t.Size()], true
	case t.Kind() == reflect.String:
		return value((*writer).text, (*reader).text), true
	case t == reflect.TypeFor[netip.Addr]():
		return value(writeAddr, readAddr), true
	case t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8:
		return kind{writeBytes, readBytes}, true
	case t.Kind() == reflect.Slice:
		return slice(t, appendFields(nil, t.Elem(), 0, name, "")), true
	case t.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		return array(t.Len()), true
	}
	return kind{}, false
}

// value is the kind of a type, with what is kept of a value that is not zero.
func value[T comparable](write func(*writer, T), read func(*reader) T) kind {
	return kind{
		func(w *writer, p unsafe.Pointer) (has bool) {
			var zero T
			v := *(*T)(p)
			if v != zero {
				write(w, v)
			}
			return v != zero
		},
		func(r *reader, p unsafe.Pointer, has bool) {
			var v T
			if has {
				v = read(r)
			}
			*(*T)(p) = v
		},
	}
}

func number[T int8 | int16 | int32 | int64]() kind {
	return value(func(w *writer, v T) { w.buf = binary.AppendVarint(w.buf, int64(v)) }, func(r *reader) T {
		u := r.uint()
		return T(int64(u>>1) ^ -int64(u&1))
	})
}

// An address has no zone.
func writeAddr(w *writer, a netip.Addr) {
	w.uint(uint64(a.BitLen() / 8))
	w.buf, _ = a.AppendBinary(w.buf)
}

func readAddr(r *reader) netip.Addr {
	a, _ := netip.AddrFromSlice(r.bytes())
	return a
}

// Of a shared pointer its place in a table is kept.
func writeShared(w *writer, p unsafe.Pointer) { w.uint(w.tables.pointers.place(p)) }

func readShared(r *reader) unsafe.Pointer { return lookUp(r, &r.tables.pointers, r.uint()) }

// A []byte that was read is a slice of the input, not a copy; nil stays nil.
func writeBytes(w *writer, p unsafe.Pointer) (has bool) {
	v := *(*[]byte)(p)
	if v != nil {
		w.bytes(v)
	}
	return v != nil
}

func readBytes(r *reader, p unsafe.Pointer, has bool) {
	var v []byte
	if has {
		v = r.bytes()
	}
	*(*[]byte)(p) = v
}

// array is the kind of n bytes, without the zeros at their end.
func array(n int) kind {
	return kind{
		func(w *writer, p unsafe.Pointer) (has bool) {
			v := unsafe.Slice((*byte)(p), n)
			for len(v) > 0 && v[len(v)-1] == 0 {
				v = v[:len(v)-1]
			}
			if len(v) > 0 {
				w.bytes(v)
			}
			return len(v) > 0
		},
		func(r *reader, p unsafe.Pointer, has bool) {
			v := unsafe.Slice((*byte)(p), n)
			if has {
				v = v[copy(v, r.bytes()):]
			}
			clear(v)
		},
	}
}

// sliceHeader is how a slice lies in memory.
type sliceHeader struct {
	data     unsafe.Pointer
	len, cap int
}

func slice(t reflect.Type, elem []field) kind {
	size := t.Elem().Size()
	return kind{
		func(w *writer, p unsafe.Pointer) (has bool) {
			v := (*sliceHeader)(p)
			if v.len > 0 {
				w.uint(uint64(v.len))
			}
			for i := range v.len {
				w.fields(elem, unsafe.Add(v.data, uintptr(i)*size))
			}
			return v.len > 0
		},
		func(r *reader, p unsafe.Pointer, has bool) {
			n := 0
			if has {
				n = r.length()
			}
			v := (*sliceHeader)(p)
			if v.cap < n {
				v.data, v.cap = reflect.MakeSlice(t, n, n).UnsafePointer(), n
			}
			v.len = n
			for i := range n {
				r.fields(elem, unsafe.Add(v.data, uintptr(i)*size))
			}
		},
	}
}

// pointer is the kind of pointers to a struct.
func pointer(t reflect.Type, fields []field) kind {
	return kind{
		func(w *writer, p unsafe.Pointer) (has bool) {
			to := *(*unsafe.Pointer)(p)
			if to != nil {
				w.fields(fields, to)
			}
			return to != nil
		},
		func(r *reader, p unsafe.Pointer, has bool) {
			to := (*unsafe.Pointer)(p)
			switch {
			case !has:
				*to = nil
				return
			case *to == nil:
				*to = reflect.New(t).UnsafePointer()
			}
			r.fields(fields, *to)
		},
	}
}
