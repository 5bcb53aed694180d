package logs

import (
	"github.com/lshark/lshark/dissect/debuglog"
	"github.com/lshark/lshark/dissect/lnet"
)

// gather sets the RPC of a call to what all logs have about it, and removes the other calls.
func (t *table) gather(c *debuglog.Call) {
	t.rpc = debuglog.RPC{}
	t.side(c)
	for o := t.other(c); o != nil; o = t.other(&t.rpc.Client) { // several, of a request that was sent again
		t.side(&o.Call)
		t.remove(o)
	}
}

// other returns what the log of the other node has about the RPC of a call; of several
// calls of a server, the last.
func (t *table) other(c *debuglog.Call) (best *call) {
	for o := t.byXID[c.XID]; o != nil; o = o.older {
		if t.isOther(c, &o.Call) && (best == nil || o.Begin() > best.Begin()) {
			best = o
		}
	}
	return best
}

// side adds what the log of one node has about an RPC.
func (t *table) side(c *debuglog.Call) {
	if !c.Served {
		t.rpc.Client, t.rpc.HasClient = *c, true
		return
	}
	if t.rpc.Handled++; !t.rpc.HasServer || c.Begin() > t.rpc.Server.Begin() {
		t.rpc.Server, t.rpc.HasServer = *c, true
	}
}

// nodes returns the client and the server of the RPC; one that is unknown is zero.
func (t *table) nodes() (client, server lnet.NID) {
	if c := &t.rpc.Client; t.rpc.HasClient {
		client, server = t.logs[c.Log].self.first(), t.logs[c.Log].peer(c)
	}
	if s := &t.rpc.Server; t.rpc.HasServer {
		client = t.logs[s.Log].peer(s)
		if !t.rpc.HasClient {
			server = t.logs[s.Log].self.first()
		}
	}
	return client, server
}

// peer returns the other node of a call; a node reaches itself by the loopback.
func (l *log) peer(c *debuglog.Call) lnet.NID {
	if self := l.self.first(); c.Peer.IsLoopback() && self.Len > 0 {
		return self
	}
	return c.Peer
}
