package track

import (
	"fmt"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
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
		if k := r.Key([]Dimension{ByError}); opcodes.GSSErrorName(int32(k.Error)) != "GSS_S_FAILURE" {
			t.Errorf("grouped by %d", k.Error)
		}
	}
	i := imports.List()[0]
	if got := life(i); got != "CONNECTING DISCONN CONNECTING DISCONN" || i.ClientUUID != "" {
		t.Errorf("history %q, client %q", got, i.ClientUUID)
	}
	if got := events(i); got != "gss_init gss_failed gss_init gss_failed" {
		t.Errorf("events %q", got)
	}
	if i.Failures[opcodes.GSSErrno(failure)] != 2 {
		t.Errorf("failures %v", i.Failures)
	}
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
	if n := len(imports.List()); n != 1 {
		t.Errorf("%d connections", n)
	}
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
		if r.TargetFrom() != TargetFromConnect {
			t.Errorf("target of %d from %q", r.Opcode, r.TargetFrom())
		}
	}
	if n := len(imports.List()); n != 2 {
		t.Fatalf("%d connections", n)
	}
	for n, want := range []string{"first", "second"} {
		if i := imports.List()[n]; i.ClientUUID != want || i.State != StateFull {
			t.Errorf("client %q is %v, want %q", i.ClientUUID, i.State, want)
		}
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
	if l.request(r, m); r.Target() != "lustre-MDT0000" {
		t.Errorf("target %q", r.Target())
	}
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
	c.connects.Close()
	c.connects.Close()
	if got, want := fmt.Sprint(c.pairs), "[4:8 5:9 0:10 1:0 2:0 3:0 6:0 11:0]"; got != want {
		t.Errorf("pairs %s, want %s", got, want)
	}
}

func TestConnectsAreBounded(t *testing.T) {
	c := newConnectMessages()
	c.send(lnet.Request, 1<<40, 1<<20)
	if got := fmt.Sprint(c.pairs); got != "[1:0]" || c.connects.pending.Len() != 0 {
		t.Errorf("a connect of a megabyte is kept: pairs %s", got)
	}
	for xid := range uint64(maxPendingConnects + 2) {
		c.send(lnet.Request, xid, 100)
	}
	if got := fmt.Sprint(c.pairs); got != "[1:0 2:0 3:0]" || c.connects.pending.Len() != maxPendingConnects {
		t.Errorf("%d pending, pairs %s", c.connects.pending.Len(), got)
	}
}
