package track

import (
	"fmt"
	"testing"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

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
