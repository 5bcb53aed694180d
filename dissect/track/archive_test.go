package track

import (
	"reflect"
	"slices"
	"testing"
	"unsafe"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/codec/codectest"
	"github.com/lshark/lshark/internal/must"
)

// notArchived lists the fields that an Archive does not keep: those that a Pairing needs
// to find and end an RPC.
var notArchived = []string{
	"record.state", "record.place", "record.byXID", "record.slot", "record.use", "record.deadline", "record.lock.older",
	"Identity.Connection.ahead", "Identity.Connection.imp", "Identity.Connection.clients", "Identity.Connection.servers", "Identity.Connection.handles", "Identity.Connection.connCnt",
	"Identity.Connection.upCnt", "Identity.Connection.up",
}

// TestArchiveKeepsAllFields checks that an RPC is read as it was written, in a record
// that had another one before, and that any part of its bytes is refused.
func TestArchiveKeepsAllFields(t *testing.T) {
	var n uint64
	full := func() *RPC {
		var r RPC
		codectest.Fill(t, &r, &n, func(path string, field any, _ uint64) bool {
			if p, ok := field.(*uint8); ok { // jobLen
				*p = 32
				return true
			}
			return slices.Contains(notArchived, path)
		})
		return &r
	}
	var a Archive
	var got RPC
	for _, want := range []*RPC{full(), {}, full(), {Identity: Identity{Connection: &Connection{}}}} {
		b := a.Append([]byte("before"), want)[len("before"):]
		must.NoError(t, a.Read(b, &got))
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

// TestAttached counts the messages of each RPC, while records are used again.
func TestAttached(t *testing.T) {
	var counts Attached[int]
	ended := 0
	w := newWire(t, Options{Linger: 1, Done: func(r *RPC) {
		n := counts.Of(r)
		if *n != 2 {
			t.Fatalf("RPC %d has %d messages", r.XID, *n)
		}
		*n = 0
		ended++
	}})
	note := func(r *RPC) {
		if r != nil {
			*counts.Of(r)++
		}
	}
	const rpcs = 3000
	for n := range uint64(rpcs) {
		w.pass(1e9)
		note(w.request(n<<6, getter))
		w.pass(1e9)
		note(w.reply(n<<6, getter))
		w.pass(1e9)
		note(w.reply(n<<6, getter)) // a duplicate, after Done
	}
	w.end()
	if ended != rpcs {
		t.Errorf("%d RPCs ended", ended)
	}
	if len(counts.values) > 200 {
		t.Errorf("%d values for RPCs that came one by one", len(counts.values))
	}
}

// TestNoMessageAfterDone checks that Message returns no RPC that has ended.
func TestNoMessageAfterDone(t *testing.T) {
	w := newWire(t, Options{Linger: 1})
	if w.request(xid, getter) == nil || w.reply(xid, getter) == nil {
		t.Fatal("a message belongs to no RPC")
	}
	w.pass(ms)
	for _, r := range []*RPC{w.reply(xid, getter), w.request(xid, getter), w.send(lnet.Bulk, server, client, rpc(xid, getter))} {
		if r != nil {
			t.Errorf("a late message belongs to %+v", r)
		}
	}
}
