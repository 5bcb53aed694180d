package track

import (
	"fmt"
	"net/netip"
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// notArchived lists the fields that an Archive does not keep: those that a Pairing needs
// to find and end an RPC.
var notArchived = []string{
	"record.state", "record.place", "record.next", "record.slot", "record.use", "record.deadline", "record.lock.older",
	"Identity.Connection.imp", "Identity.Connection.clients", "Identity.Connection.servers", "Identity.Connection.handles", "Identity.Connection.connCnt",
}

// fill sets all fields of a struct, each to a value of its own, apart from those that are
// not archived.
func fill(t *testing.T, v reflect.Value, path string, n *uint64) {
	t.Helper()
	if slices.Contains(notArchived, path) {
		return
	}
	v = reflect.NewAt(v.Type(), unsafe.Pointer(v.UnsafeAddr())).Elem() // also unexported fields
	*n += 3
	switch p := v.Addr().Interface().(type) {
	case *netip.Addr:
		*p = netip.AddrFrom4([4]byte{10, 0, 0, byte(*n)})
		return
	case *lnet.NID:
		*p = lnet.NID{Addr: [16]byte{10, 0, byte(*n >> 8), byte(*n)}, Len: 4, Type: 2, Num: uint16(*n)}
		return
	case **schema.Variant:
		*p = &schema.Variant{Name: fmt.Sprint(*n)}
		return
	case *uint8: // jobLen
		*p = 32
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			name := v.Type().Field(i).Name
			if path != "" {
				name = path + "." + name
			}
			fill(t, v.Field(i), name, n)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem(), path, n)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
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
		v.SetInt(-int64(*n))
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(*n)
	default:
		t.Fatalf("%s: fill has no case for %v", path, v.Kind())
	}
}

// TestArchiveKeepsAllFields checks that an RPC is read as it was written, in a record
// that had another one before, and that any part of its bytes is refused.
func TestArchiveKeepsAllFields(t *testing.T) {
	var n uint64
	full := func() *RPC {
		var r RPC
		fill(t, reflect.ValueOf(&r).Elem(), "", &n)
		return &r
	}
	var a Archive
	var got RPC
	for _, want := range []*RPC{full(), {}, full(), {Identity: Identity{Connection: &Connection{}}}} {
		b := a.Append([]byte("before"), want)[len("before"):]
		if err := a.Read(b, &got); err != nil {
			t.Fatal(err)
		}
		if len(got.Seen) == 0 {
			got.Seen = nil
		}
		if len(got.OtherErrors) == 0 {
			got.OtherErrors = nil
		}
		if !reflect.DeepEqual(&got, want) {
			t.Errorf("read\n%+v\nwant\n%+v", &got, want)
		}
		for i := range b {
			if a.Read(b[:i], new(RPC)) == nil {
				t.Fatalf("the first %d of %d bytes are read without an error", i, len(b))
			}
		}
	}
}

// TestArchiveIsCompact checks that an RPC takes a fraction of the memory of a Clone.
func TestArchiveIsCompact(t *testing.T) {
	w := newWire(t, Options{})
	w.send(lnet.Request, client, server)
	w.send(lnet.Reply, server, client)
	w.rpcs.Close()
	if len(w.done) != 1 {
		t.Fatalf("%d RPCs", len(w.done))
	}
	var a Archive
	b := a.Append(nil, w.done[0])
	clone := int(unsafe.Sizeof(RPC{})) + len(w.done[0].Seen)*int(unsafe.Sizeof(Sighting{}))
	if len(b) > clone/4 {
		t.Errorf("%d bytes, a clone has %d", len(b), clone)
	}
}
