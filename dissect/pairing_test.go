package dissect

import (
	"testing"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes"
)

// clients makes requests and replies of many clients.
type clients struct {
	table *requestTable
	m     Message
	p     rpcMsg
	now   int64
}

func newClients(opc uint32, size int) *clients {
	c := &clients{table: newRequestTable(0)}
	c.p.RPC = opcodes.ByOpcode(opc)
	c.m = Message{Message: lnet.Message{Data: make([]byte, size), Size: size}}
	c.m.RPC = RPC{HasXID: true, HasOpcode: true, Opcode: opc}
	return c
}

// send adds a request of a client.
func (c *clients) send(client uint64, xid uint64) *request {
	c.m.Time = c.now
	c.m.RPC.XID = xid
	c.m.LNet.Src, c.m.LNet.Dst = lnet.NID4(2<<48|client), lnet.NID4(2<<48)
	return c.table.add(&c.m, &c.p)
}

// check fails if more is kept than the bounds allow.
func (c *clients) check(t *testing.T) {
	t.Helper()
	e, b := c.table, c.table.bounds
	if e.open.Len() > b.open || e.answered.Len() > b.answered || e.held > b.held {
		t.Fatalf("%d open, %d answered, %d bytes", e.open.Len(), e.answered.Len(), e.held)
	}
	n := e.open.Len() + e.answered.Len()
	must.That(t, e.byBits.Len() <= 3*n && fifo.Len(e.handles) <= maxHandles, "%d keys of %d, %d handles", e.byBits.Len(), n, fifo.Len(e.handles))
}

// TestAnsweredRequestsAreRemoved plays an hour of RPCs: what is kept
// depends on how many are open, not on how many there were.
func TestAnsweredRequestsAreRemoved(t *testing.T) {
	c := newClients(opcodes.MDS_REINT, 600)
	const second = int64(1e9)
	lost := c.send(1, 64)
	for i := range uint64(100_000) {
		c.now += second / 28
		q := c.send(i%50, (i+2)<<keyShift)
		c.table.expectHandle([16]byte{byte(i), byte(i >> 8), byte(i >> 16)}, q, q.info.XID)
		c.table.replied(q, &Message{Message: lnet.Message{Time: c.now}})
		if i%1000 == 0 {
			c.check(t)
		}
	}
	if n := c.table.answered.Len(); n > 28*61 {
		t.Error(n, "answered requests after a minute")
	}
	found := c.table.find(64, lnet.NID4(2<<48|1), lnet.NID4(2<<48), 0, false)
	assert.That(t, found == lost, "a request that has been open for an hour was removed")
	if c.table.held > 600*28*61+600 {
		t.Error(c.table.held, "bytes held")
	}
}

// TestOpenRequestsAreBounded sends no replies.
func TestOpenRequestsAreBounded(t *testing.T) {
	c := newClients(opcodes.MDS_REINT, 1000)
	c.table.bounds.open, c.table.bounds.held = 1000, 500_000
	for i := range uint64(5000) {
		c.now++
		c.send(i%7, (i+1)<<keyShift)
	}
	c.check(t)
	assert.Equal(t, c.table.open.Len(), 500, "kept of 500 that there is room for")
	c = newClients(opcodes.OST_WRITE, 1000)
	c.table.bounds.open = 1000
	for i := range uint64(5000) {
		c.send(i%7, (i+1)<<keyShift)
	}
	c.check(t)
	if c.table.open.Len() != 1000 || c.table.held != 0 {
		t.Error(c.table.open.Len(), "kept of 1000,", c.table.held, "bytes")
	}
}

// TestRequestsOfOneXIDAreBounded has all clients use the same xid: finding
// one must not mean checking all.
func TestRequestsOfOneXIDAreBounded(t *testing.T) {
	c := newClients(opcodes.OST_WRITE, 0)
	for i := range uint64(10_000) {
		c.send(i, 64)
	}
	n := 0
	for p := c.table.byBits.First(1); p != nil; p = p.Next() {
		n++
	}
	assert.That(t, n == fifo.MaxSameKey && c.table.open.Len() == fifo.MaxSameKey, "%d under one key, %d in all", n, c.table.open.Len())
	q := c.table.find(64, lnet.NID4(2<<48|9999), lnet.NID4(2<<48), 0, false)
	assert.That(t, q != nil && q.info.Client == lnet.NID4(2<<48|9999), "the newest is not found")
}

// TestPartsOfBulkAreBounded begins transfers and completes none.
func TestPartsOfBulkAreBounded(t *testing.T) {
	c := newClients(opcodes.OST_WRITE, 0)
	c.table.bounds.held = 1 << 20
	for i := range uint64(1000) {
		c.m.RPC.Mbits = (i+1)<<keyShift + 3
		q := c.send(1, (i+1)<<keyShift)
		for k := range uint64(3) {
			c.table.addPart(q, q.first+k, make([]byte, 8<<10))
		}
		if c.table.held > 3<<20 {
			t.Fatal(c.table.held, "bytes held")
		}
	}
	c.send(1, 5000<<keyShift)
	c.check(t)
}

// TestHandleOfRemovedRequest looks for a request by its handle after it was
// removed and its struct used for another.
func TestHandleOfRemovedRequest(t *testing.T) {
	c := newClients(opcodes.OST_WRITE, 0)
	c.table.bounds.open = 1
	old := c.send(1, 64)
	c.table.expectHandle([16]byte{1}, old, 64)
	q, bits := c.table.byHandle([16]byte{1})
	assert.That(t, q == old && bits == 64, "the handle is unknown")
	c.send(1, 128) // old is removed
	assert.Equal(t, c.send(1, 192), old, "requests are not reused")
	if q, _ := c.table.byHandle([16]byte{1}); q != nil {
		t.Errorf("the request found is %d", q.info.XID)
	}
}

// TestPairingAllocatesNothing pairs in a steady state.
func TestPairingAllocatesNothing(t *testing.T) {
	c := newClients(opcodes.OST_WRITE, 0)
	c.table.bounds.open, c.table.bounds.answered = 100, 100
	i := uint64(0)
	pair := func() {
		i++
		c.now++
		q := c.send(i%3, i<<keyShift)
		c.table.expectHandle([16]byte{byte(i)}, q, q.info.XID)
		c.table.replied(q, &Message{Message: lnet.Message{Time: c.now}})
	}
	for range 100_000 {
		pair()
	}
	if n := testing.AllocsPerRun(1000, pair); n > 0 {
		t.Error(n, "allocations for an RPC")
	}
}

// TestRequestSeenTwice: the time of a request is that of the point that saw it
// first; sent again, it has a new one.
func TestRequestSeenTwice(t *testing.T) {
	c := newClients(opcodes.OBD_PING, 300)
	for _, step := range []struct {
		source      int
		after, want int64
	}{{1, 0, 1000}, {2, 5, 1000}, {1, 2000, 3005}, {2, 5, 3005}} {
		if step.after == 0 {
			c.now = 1000
		}
		c.now += step.after
		c.m.Source = step.source
		c.m.Order++
		assert.Equal(t, c.send(7, 64).info.Time, step.want, "point", step.source, c.now, "sent at")
	}
}
