// Package codectest helps to test that a codec keeps all fields of a struct.
package codectest

import (
	"fmt"
	"net/netip"
	"reflect"
	"testing"
	"unsafe"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// Fill sets all fields of a struct, unexported ones too, each to a value of its own, made
// from a number that n counts on. special gets each field first, with its path such as
// LNet.Src, a pointer to it, and the number; it returns true for a field that it has set,
// or that is to stay as it is.
func Fill[T any](t testing.TB, p *T, n *uint64, special func(path string, field any, n uint64) bool) {
	t.Helper()
	f := filler{t: t, n: *n, special: special}
	f.fill(reflect.ValueOf(p).Elem(), "")
	*n = f.n
}

type filler struct {
	t       testing.TB
	special func(path string, field any, n uint64) bool
	n       uint64
}

func (f *filler) fill(v reflect.Value, path string) {
	f.t.Helper()
	v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // also unexported fields
	f.n += 3
	n, field := f.n, v.Addr().Interface()
	if f.special(path, field, n) {
		return
	}
	switch p := field.(type) {
	case *netip.Addr:
		*p = netip.AddrFrom4([4]byte{10, 0, 0, byte(n)})
		return
	case *netip.AddrPort:
		*p = netip.AddrPortFrom(netip.AddrFrom16([16]byte{0x20, 1, byte(n)}), uint16(n))
		return
	case *lnet.NID:
		*p = lnet.NID{Addr: [16]byte{10, 0, byte(n >> 8), byte(n)}, Len: 4, Type: 2, Num: uint16(n)}
		return
	case **schema.Variant:
		*p = &schema.Variant{Name: fmt.Sprint(n)}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			f.fill(v.Field(i), name)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		f.fill(v.Elem(), path)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			f.fill(v.Index(i), path)
		}
	case reflect.String:
		v.SetString(fmt.Sprint("text ", n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(-int64(n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(n)
	default:
		f.t.Fatalf("%s: Fill has no case for %v", path, v.Kind())
	}
}
