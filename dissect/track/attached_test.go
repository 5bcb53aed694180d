package track

import (
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
)

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
