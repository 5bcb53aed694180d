package store

import (
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/internal/codec"
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// fill sets all fields of a struct but Msg, each to a value of its own.
func fill(t *testing.T, v reflect.Value, path string, n *uint64) {
	t.Helper()
	*n += 3
	switch p := v.Addr().Interface().(type) {
	case **schema.Msg:
		return
	case *netip.AddrPort:
		*p = netip.AddrPortFrom(netip.AddrFrom16([16]byte{0x20, 1, byte(*n)}), uint16(*n))
		return
	case *lnet.NID:
		*p = lnet.NID{Addr: [16]byte{10, 0, byte(*n >> 8), byte(*n)}, Len: 4, Type: 2, Num: uint16(*n)}
		return
	case **schema.Variant:
		*p = &schema.Variant{Name: fmt.Sprint(*n)}
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), path+"."+v.Type().Field(i).Name, n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), path, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 3, 3))
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), path, n)
		}
	case reflect.String:
		v.SetString(fmt.Sprint("text ", *n))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(int64(*n % 100))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(*n % 256)
	default:
		t.Fatalf("%s: fill has no case for %v", path, v.Kind())
	}
}

// TestMessageKeepsAllFields checks that a message is read as it was written, whether its
// fields are set or not, and that any part of its bytes is refused.
func TestMessageKeepsAllFields(t *testing.T) {
	var x messageCodec
	var n uint64
	var full dissect.Message
	fill(t, reflect.ValueOf(&full).Elem(), "", &n)
	ofItself := full
	ofItself.PayloadOff = 1
	ofItself.Req = &dissect.RequestInfo{Data: ofItself.Data[1:]}
	for _, want := range []*dissect.Message{&full, {}, &ofItself} {
		w := codec.Writer(nil)
		x.message(&w, want)
		b := w.Written()
		var got dissect.Message
		r := codec.Reader(b)
		if x.message(&r, &got); r.Failed() || len(r.Rest()) > 0 {
			t.Fatalf("failed: %v, %d bytes are left", r.Failed(), len(r.Rest()))
		}
		empty(&got)
		if !reflect.DeepEqual(&got, want) {
			t.Errorf("read\n%+v\nwant\n%+v", &got, want)
		}
		for i := range b {
			r := codec.Reader(b[:i])
			if x.message(&r, new(dissect.Message)); !r.Failed() {
				t.Fatalf("the first %d of %d bytes are read without an error", i, len(b))
			}
		}
	}
}

// TestLongMessage checks that of a message which is too long for the spool its beginning is
// kept, and the rest is marked as missing.
func TestLongMessage(t *testing.T) {
	s := New(Options{})
	m := &dissect.Message{}
	m.Data = make([]byte, 2*segmentSize)
	m.Size = len(m.Data)
	if err := s.AddMessage(m, nil); err != nil {
		t.Fatal(err)
	}
	row, err := s.NewReader().Message(0)
	if err != nil || len(row.Message.Data) != maxData || row.Message.Size != m.Size || row.Message.Missing(maxData, 1) != lnet.Skipped {
		t.Errorf("%d bytes of %d: %v", len(row.Message.Data), row.Message.Size, err)
	}
}
