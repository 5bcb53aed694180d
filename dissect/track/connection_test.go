package track

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/internal/assert"
	"github.com/lshark/lshark/internal/fifo"
	"github.com/lshark/lshark/internal/must"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

const (
	context = 0xc0de
	reverse = 0x4e5e
	failure = 0xd0000 // GSS_S_FAILURE
)

// setsUp fills in a request for a security context.
func setsUp(m *dissect.Message) {
	m.RPC.GSS.Proc = 1
	m.RPC.GSS.Setup = opcodes.GSSSetup{Target: []byte(target), Reverse: reverse}
}

// secured puts a message into a security context.
func secured(context uint64) change {
	return func(m *dissect.Message) { m.RPC.GSS.Handle = context }
}

func gssMajor(major uint32) change { return func(m *dissect.Message) { m.RPC.GSS.Major = major } }

func encrypted(m *dissect.Message) {
	m.RPC.Encrypted, m.RPC.HasOpcode, m.RPC.Opcode = true, false, 0
}

func TestFailedContext(t *testing.T) {
	w, imports := connected(t)
	var row Row
	s := &script{w, xid}
	for range 2 {
		s.ask(opcodes.SEC_CTX_INIT, []change{setsUp}, []change{gssMajor(failure)})
	}
	for _, r := range s.end() {
		if len(r.OtherErrors) != 1 || opcodes.GSSErrorName(r.OtherErrors[0]) != "GSS_S_FAILURE" || r.Has(opcodes.PbStatus) || r.Target() != "lustre-MDT0000" {
			t.Errorf("errors %v, has a status: %v, target %q", r.OtherErrors, r.Has(opcodes.PbStatus), r.Target())
		}
		row.add(r, 0)
		k := r.Key([]Dimension{ByError})
		assert.That(t, opcodes.GSSErrorName(int32(k.Error)) == "GSS_S_FAILURE", "grouped by %d", k.Error)
	}
	i := imports.List()[0]
	got := life(i)
	assert.That(t, got == "CONNECTING DISCONN CONNECTING DISCONN" && i.ClientUUID == "", "history %q, client %q", got, i.ClientUUID)
	assert.Equal(t, events(i), "gss_init gss_failed gss_init gss_failed", "events")
	assert.Equal(t, i.Failures[opcodes.GSSErrno(failure)], 2, "failures", i.Failures)
	if row.Errors[opcodes.GSSErrno(failure)] != 2 || len(row.OtherErrors) != 0 {
		t.Errorf("errors %v, others %v", row.Errors, row.OtherErrors)
	}
}

// TestContextsNameTargets checks that RPCs have the target of their security
// context: encrypted ones, callbacks, and the end of the context.
func TestContextsNameTargets(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	s.ask(opcodes.SEC_CTX_INIT, []change{setsUp}, []change{secured(context)})
	s.ask(opcodes.MDS_GETATTR, []change{encrypted, secured(context)}, []change{encrypted})
	s.ask(opcodes.SEC_CTX_FINI, []change{secured(context)}, nil)
	s.xid += 128
	s.send(lnet.Request, server, client, rpc(s.xid, 0), encrypted, secured(reverse))
	for _, r := range s.end() {
		if r.Target() != "lustre-MDT0000" || r.TargetFrom() != TargetFromContext {
			t.Errorf("target of opcode %d is %q, from %q", r.Opcode, r.Target(), r.TargetFrom())
		}
	}
	assert.Equal(t, len(imports.List()), 1, "connections")
}

// A connect in the context makes the connection whole; another mount of the
// client has its own.
func TestConnectInContext(t *testing.T) {
	w, imports := connected(t)
	s := &script{w, xid}
	for n, client := range []string{"first", "second"} {
		s.ask(opcodes.SEC_CTX_INIT, []change{setsUp}, []change{secured(context + uint64(n))})
		s.ask(opcodes.MDS_CONNECT, []change{connectTo(target, client, cookie+uint64(n)), connCnt(1), opFlags(opcodes.ConnectInitial), secured(context + uint64(n))},
			[]change{handle(export + uint64(n))})
	}
	for _, r := range s.end() {
		assert.Equal(t, r.TargetFrom(), TargetFromConnect, "target", r.Opcode)
	}
	must.Equal(t, len(imports.List()), 2, "connections")
	for n, want := range []string{"first", "second"} {
		i := imports.List()[n]
		assert.That(t, i.ClientUUID == want && i.State == StateFull, "client %q is %v, want %q", i.ClientUUID, i.State, want)
	}
}

// A context names a connection from before the capture.
func TestContextNamesHandle(t *testing.T) {
	l := newConnections()
	m := &dissect.Message{Msg: &schema.Msg{}}
	setsUp(m)
	r := &RPC{Identity: Identity{Opcode: opcodes.SEC_CTX_INIT, HasOpcode: true}, HasRequest: true}
	l.request(r, m)
	l.learnContext(context, r.Connection)
	r = &RPC{Identity: Identity{Opcode: opcodes.OBD_PING, HasOpcode: true, Handle: export}}
	l.request(r, &dissect.Message{})
	if r.Target() != "" || r.TargetFrom() != TargetUnknown {
		t.Fatalf("target %q from %q", r.Target(), r.TargetFrom())
	}
	m = &dissect.Message{}
	m.RPC.GSS.Handle = context
	l.request(r, m)
	assert.Equal(t, r.Target(), "lustre-MDT0000", "target")
}

// connectMessages gives connect messages to a Connects and notes the pairs it
// makes, as frame of the request:frame of the reply.
type connectMessages struct {
	connects *Connects
	frame    int64
	pairs    []string
}

func newConnectMessages() *connectMessages {
	c := &connectMessages{}
	c.connects = NewConnects(func(p *ConnectPair) {
		var request, reply int64
		if p.Request != nil {
			request = p.Request.Frame
		}
		if p.Reply != nil {
			reply = p.Reply.Frame
		}
		c.pairs = append(c.pairs, fmt.Sprintf("%d:%d", request, reply))
	})
	return c
}

func (c *connectMessages) send(kind lnet.Kind, xid uint64, size int) {
	c.frame++
	m := &dissect.Message{Message: lnet.Message{Kind: kind, Frame: c.frame, LNetOff: -1, Data: make([]byte, size)}}
	m.RPC = dissect.RPC{XID: xid, HasXID: true, HasOpcode: true, Opcode: opcodes.OST_CONNECT}
	if !c.connects.Message(m, 0) {
		panic("not a connect")
	}
}

func TestConnects(t *testing.T) {
	c := newConnectMessages()
	for xid := range uint64(6) { // frames 1 to 6
		c.send(lnet.Request, xid, 100)
	}
	c.send(lnet.Request, 1, 100) // sent again
	c.send(lnet.Reply, 3, 100)
	c.send(lnet.Reply, 4, 100)
	c.send(lnet.Reply, 9, 100)
	c.send(lnet.Request, 3, 100) // another RPC, in frame 11
	c.send(lnet.Reply, 4, 100)   // once more, in frame 12
	c.connects.Close()
	c.connects.Close()
	assert.Equal(t, fmt.Sprint(c.pairs), "[4:8 5:9 0:10 0:12 1:0 2:0 3:0 6:0 11:0]", "pairs")
}

func TestConnectsAreBounded(t *testing.T) {
	c := newConnectMessages()
	c.send(lnet.Request, 1<<40, 1<<20)
	got := fmt.Sprint(c.pairs)
	assert.That(t, got == "[1:0]" && fifo.Len(c.connects.pending) == 0, "a connect of a megabyte is kept: pairs %s", got)
	for xid := range uint64(maxPendingConnects + 2) {
		c.send(lnet.Request, xid, 100)
	}
	if got := fmt.Sprint(c.pairs); got != "[1:0 2:0 3:0]" || fifo.Len(c.connects.pending) != maxPendingConnects {
		t.Errorf("%d pending, pairs %s", fifo.Len(c.connects.pending), got)
	}
	c.send(lnet.Request, 1<<41, 100)
	c.send(lnet.Reply, 1<<41, 100)
	request := c.frame - 1
	assert.Equal(t, c.pairs[len(c.pairs)-1], fmt.Sprintf("%d:%d", request, request+1), "a connect after too many without reply")
}

func TestNames(t *testing.T) {
	n := NewNames()
	reconnect := func(target string, h uint64) {
		m := &dissect.Message{Message: lnet.Message{Kind: lnet.Request}}
		rpc(xid, opcodes.OST_CONNECT)(m)
		handle(h)(m)
		connectTo(target, "uuid", 1)(m)
		n.Message(m)
	}
	reconnect("lustre-OST0000_UUID", 1)
	reconnect("lustre-OST0001_UUID", 2)
	reconnect("a target of more than forty characters, not of Lustre_UUID", 3)
	for h, want := range []string{"", "lustre-OST0000", "lustre-OST0001", ""} {
		assert.Equal(t, n.Target(uint64(h)), want, "handle", h)
	}
	assert.Equal(t, string(n.AppendLock([]byte("lock "), 7)), "lock ", "an unknown lock")
	for h := range uint64(maxTargetHandles) {
		reconnect("lustre-MDT0000_UUID", 10+h)
	}
	if fifo.Len(n.targets) != maxTargetHandles || n.Target(1) != "" || n.Target(10) != "lustre-MDT0000" {
		t.Errorf("%d handles, the first is of %q", fifo.Len(n.targets), n.Target(1))
	}
}

// TestArchiveIsCompact checks that an RPC takes a fraction of the memory of a Clone.
func TestArchiveIsCompact(t *testing.T) {
	w := newWire(t, Options{})
	w.send(lnet.Request, client, server)
	w.send(lnet.Reply, server, client)
	w.rpcs.Close()
	must.Equal(t, len(w.done), 1, "RPCs")
	var a Archive
	b := a.Append(nil, w.done[0])
	clone := int(unsafe.Sizeof(RPC{})) + len(w.done[0].Seen)*int(unsafe.Sizeof(Sighting{}))
	assert.That(t, len(b) <= clone/4, "%d bytes, a clone has %d", len(b), clone)
}

// TestAttached counts the messages of each RPC, while records are used again.
func TestAttached(t *testing.T) {
	var counts Attached[int]
	ended := 0
	w := newWire(t, Options{Linger: 1, Done: func(r *RPC) {
		n := counts.Of(r)
		must.Equal(t, *n, 2, "RPC", r.XID, "messages")
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
	assert.Equal(t, ended, rpcs, "RPCs ended")
	assert.Equal(t, len(counts.blocks), 1, "blocks of values for RPCs that came one by one")
}

// TestNoMessageAfterDone checks that Message returns no RPC that has ended.
func TestNoMessageAfterDone(t *testing.T) {
	w := newWire(t, Options{Linger: 1})
	must.That(t, w.request(xid, getter) != nil && w.reply(xid, getter) != nil, "a message belongs to no RPC")
	w.pass(ms)
	for _, r := range []*RPC{w.reply(xid, getter), w.request(xid, getter), w.send(lnet.Bulk, server, client, rpc(xid, getter))} {
		assert.That(t, r == nil, "a late message belongs to %+v", r)
	}
}
