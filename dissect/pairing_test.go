package dissect

import (
	"testing"

	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes"
)

// crowd makes requests and replies of a crowd of clients.
type crowd struct {
	e   *requestTable
	m   Message
	p   rpcMsg
	now int64
}

func newCrowd(opc uint32, size int) *crowd {
	c := &crowd{e: newRequestTable()}
	c.p.RPC = opcodes.ByOpcode(opc)
	c.m = Message{Message: lnet.Message{Data: make([]byte, size), Size: size}}
	c.m.RPC = RPC{HasXID: true, HasOpcode: true, Opcode: opc}
	return c
}

// ask sends a request.
func (c *crowd) ask(client uint64, xid uint64) *request {
	c.m.Time = c.now
	c.m.RPC.XID = xid
	c.m.LNet.Src, c.m.LNet.Dst = lnet.NID4(2<<48|client), lnet.NID4(2<<48)
	return c.e.add(&c.m, &c.p)
}

// check compares what is kept with what may be.
func (c *crowd) check(t *testing.T) {
	t.Helper()
	e, b := c.e, c.e.bounds
	if e.open.Len() > b.open || e.answered.Len() > b.answered || e.held > b.held {
		t.Fatalf("%d open, %d answered, %d bytes", e.open.Len(), e.answered.Len(), e.held)
	}
	if n := e.open.Len() + e.answered.Len(); len(e.byBits) > 3*n || e.handles.Len() > maxHandles {
		t.Fatalf("%d keys of %d, %d handles", len(e.byBits), n, e.handles.Len())
	}
}

// TestAnsweredRequestsAreForgotten plays an hour of RPCs: what is kept
// depends on how many are open, not on how many there were.
func TestAnsweredRequestsAreForgotten(t *testing.T) {
	c := newCrowd(opcodes.MDS_REINT, 600)
	const second = int64(1e9)
	lost := c.ask(1, 64)
	for i := range uint64(100_000) {
		c.now += second / 28
		ex := c.ask(i%50, (i+2)<<keyShift)
		c.e.expectHandle([16]byte{byte(i), byte(i >> 8), byte(i >> 16)}, ex, ex.info.XID)
		c.e.replied(ex, c.now)
		if i%1000 == 0 {
			c.check(t)
		}
	}
	if n := c.e.answered.Len(); n > 28*61 {
		t.Error(n, "answered requests after a minute")
	}
	if found := c.e.find(64, lnet.NID4(2<<48|1), lnet.NID4(2<<48), 0, false); found != lost {
		t.Error("a request that waits for an hour was forgotten")
	}
	if c.e.held > 600*28*61+600 {
		t.Error(c.e.held, "bytes held")
	}
}

// TestWaitingRequestsAreBounded never answers.
func TestWaitingRequestsAreBounded(t *testing.T) {
	c := newCrowd(opcodes.MDS_REINT, 1000)
	c.e.bounds.open, c.e.bounds.held = 1000, 500_000
	for i := range uint64(5000) {
		c.now++
		c.ask(i%7, (i+1)<<keyShift)
	}
	c.check(t)
	if c.e.open.Len() != 500 {
		t.Error(c.e.open.Len(), "kept of 500 that there is room for")
	}
	c = newCrowd(opcodes.OST_WRITE, 1000)
	c.e.bounds.open = 1000
	for i := range uint64(5000) {
		c.ask(i%7, (i+1)<<keyShift)
	}
	c.check(t)
	if c.e.open.Len() != 1000 || c.e.held != 0 {
		t.Error(c.e.open.Len(), "kept of 1000,", c.e.held, "bytes")
	}
}

// TestRequestsOfOneNumberAreBounded has all clients use the same xid: looking
// one up must not mean to look at all.
func TestRequestsOfOneNumberAreBounded(t *testing.T) {
	c := newCrowd(opcodes.OST_WRITE, 0)
	for i := range uint64(10_000) {
		c.ask(i, 64)
	}
	n := 0
	for p := c.e.byBits[1]; p != nil; p = p.next {
		n++
	}
	if n != maxSameKey || c.e.open.Len() != maxSameKey {
		t.Errorf("%d under one key, %d in all", n, c.e.open.Len())
	}
	if ex := c.e.find(64, lnet.NID4(2<<48|9999), lnet.NID4(2<<48), 0, false); ex == nil || ex.info.Client != lnet.NID4(2<<48|9999) {
		t.Error("the newest is not found")
	}
}

// TestPartsOfBulkAreBounded starts transfers and completes none.
func TestPartsOfBulkAreBounded(t *testing.T) {
	c := newCrowd(opcodes.OST_WRITE, 0)
	c.e.bounds.held = 1 << 20
	for i := range uint64(1000) {
		c.m.RPC.Mbits = (i+1)<<keyShift + 3
		ex := c.ask(1, (i+1)<<keyShift)
		for k := range uint64(3) {
			c.e.addPart(ex, ex.first+k, make([]byte, 8<<10))
		}
		if c.e.held > 3<<20 {
			t.Fatal(c.e.held, "bytes held")
		}
	}
	c.ask(1, 5000<<keyShift)
	c.check(t)
}

// TestAnswersFindForgottenRequestsNot takes an answer by its handle after its
// request was forgotten and the record used for another.
func TestAnswersFindForgottenRequestsNot(t *testing.T) {
	c := newCrowd(opcodes.OST_WRITE, 0)
	c.e.bounds.open = 1
	old := c.ask(1, 64)
	c.e.expectHandle([16]byte{1}, old, 64)
	if ex, bits := c.e.byHandle([16]byte{1}); ex != old || bits != 64 {
		t.Error("the handle is not known")
	}
	c.ask(1, 128) // old is forgotten
	if again := c.ask(1, 192); again != old {
		t.Error("records are not used again")
	}
	if ex, _ := c.e.byHandle([16]byte{1}); ex != nil {
		t.Errorf("the answer is taken for that to %d", ex.info.XID)
	}
}

// TestExchangesAllocateNothing pairs in a steady state.
func TestExchangesAllocateNothing(t *testing.T) {
	c := newCrowd(opcodes.OST_WRITE, 0)
	c.e.bounds.open, c.e.bounds.answered = 100, 100
	i := uint64(0)
	pair := func() {
		i++
		c.now++
		ex := c.ask(i%3, i<<keyShift)
		c.e.expectHandle([16]byte{byte(i)}, ex, ex.info.XID)
		c.e.replied(ex, c.now)
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
	c := newCrowd(opcodes.OBD_PING, 300)
	for _, step := range []struct {
		source      int
		after, want int64
	}{{1, 0, 1000}, {2, 5, 1000}, {1, 2000, 3005}, {2, 5, 3005}} {
		if step.after == 0 {
			c.now = 1000
		}
		c.now += step.after
		c.m.Source = step.source
		if ex := c.ask(7, 64); ex.info.Time != step.want {
			t.Errorf("point %d at %d: sent at %d, not %d", step.source, c.now, ex.info.Time, step.want)
		}
	}
}
