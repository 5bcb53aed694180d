package track

import (
	"cmp"
	"strings"
	"time"

	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// use is what the messages of a connection, pings aside, prove about its ends.
type use struct {
	fromBefore    bool  // the connection was made before the capture began
	last          int64 // time of the last message, 0 for none
	ofOST         bool  // the target is an OST
	ofServer      bool  // the client is a server
	disconnectOST bool  // the last disconnect was from an OST
	recent        bool  // the connection was used shortly before the disconnect
	silence       int64 // before the last disconnect, as far as captured, in nanoseconds
	disconnected  int64 // time of it
}

func (u *use) note(r *RPC, p Point) {
	if !r.HasOpcode {
		u.last = p.Time
		return
	}
	switch opc := r.Opcode; {
	case opc == opcodes.OBD_PING:
		return
	case opc <= opcodes.OST_SEEK:
		u.ofOST = true
		u.ofServer = u.ofServer || opc == opcodes.OST_CREATE
	case opc == opcodes.OUT_UPDATE, opc == opcodes.QUOTA_DQACQ:
		u.ofServer = true
	}
	u.last = p.Time
}

// disconnect notes a disconnect request, and the time since the last use; since
// the begin of the capture where the connection was not used in it.
func (i *Import) disconnect(opcode uint32, p Point, captureBegin int64) {
	u := &i.use
	since := cmp.Or(u.last, captureBegin)
	u.disconnectOST, u.disconnected, u.silence = opcode == opcodes.OST_DISCONNECT, p.Time, p.Time-since
	u.recent = u.last != 0 && u.silence < minIdle
	i.add(Event{Point: p, Kind: EventDisconnect, Silence: u.silence})
	i.setState(StateDisconnecting, p)
}

// Clients disconnect from OSTs that they do not use: after 20 seconds by
// default, set by osc.*.idle_timeout. An unmount disconnects whatever was used
// last.
const (
	minIdle  = int64(4 * time.Second)
	afterEnd = int64(2 * time.Second) // an unmount has disconnected the other targets by then
)

// mayIdle reports whether the last disconnect can be one for want of work: of a
// client from an OST.
func (i *Import) mayIdle() bool {
	k := i.Kind()
	return i.use.disconnectOST && (k == "client" || k == "" && !i.use.ofServer)
}

// correctToIdle changes the state CLOSED to IDLE.
func (i *Import) correctToIdle() {
	i.State = StateIdle
	if n := len(i.History); n > 0 {
		i.History[n-1].State = StateIdle
	}
}

// Close decides which closed connections are idle: those that a client did not
// use, while it went on with others. One that was used again is known to be
// idle already.
func (t *Imports) Close() {
	t.joinLogged()
	clients := make(map[string]*clientUse) // by UUID
	nodes := make(map[lnet.NID]*clientUse) // of connections from before the capture, some of unknown UUID
	for _, i := range t.list {
		noteUse(clients, i.ClientUUID, i)
		if i.use.fromBefore {
			noteUse(nodes, i.Client, i)
		}
	}
	for _, i := range t.list {
		c, u := clients[i.ClientUUID], &i.use
		if i.ClientUUID == "" {
			if c = nodes[i.Client]; c == nil || c.isServer {
				continue
			}
		}
		if i.State == StateClosed && i.mayIdle() && !u.recent &&
			(c.last >= u.disconnected+afterEnd || c.connected && u.silence >= minIdle) {
			i.correctToIdle()
		}
	}
}

// clientUse is what the open connections of a client have in common.
type clientUse struct {
	connected bool  // to an MDT
	last      int64 // time of the last message
	isServer  bool
}

// OfServer reports whether messages prove that the client is a server.
func (i *Import) OfServer() bool {
	kind := i.Kind()
	return i.use.ofServer || kind == "lwp" || kind == "mdt-mdt" || kind == "mdt-ost"
}

func noteUse[K comparable](clients map[K]*clientUse, key K, i *Import) {
	c := clients[key]
	if c == nil {
		c = &clientUse{}
		clients[key] = c
	}
	c.isServer = c.isServer || i.OfServer()
	switch i.State {
	case StateUnknown, StateClosed, StateDisconnecting, StateIdle:
		return
	}
	if i.Kind() != "mgc" {
		c.connected = c.connected || !i.use.ofOST && !strings.Contains(i.Target, "-OST")
		c.last = max(c.last, i.Last.Time)
	}
}
