package track

import (
	"bytes"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// outcome is what the reply to a connect, without an error, means for the
// connection.
type outcome uint8

const (
	outcomeUnknown      outcome = iota // not enough was captured
	outcomeNew                         // a new connection
	outcomeLockReplay                  // a new connection to a server in recovery
	outcomeReplay                      // the server restarted: requests are replayed
	outcomeReplayGoesOn                // the connection was lost during the recovery
	outcomeRecovered                   // the server still has the connection, or it has nothing to lose
	outcomeEvicted                     // the server has dropped the state of the client
	outcomeNoHandle                    // the server names no handle: the client tries again
	outcomeCut                         // it was accepted; the flags that say more were not captured
)

// firstToKeepUncached is the first release whose clients are not evicted from
// a connection over which they have cached nothing: 2.15.59.
const firstToKeepUncached = 2<<24 | 15<<16 | 59<<8

// outcome follows the rules by which a client decides.
func (i *Import) outcome(r *RPC, m *dissect.Message) outcome {
	if !r.HasRequest {
		return outcomeUnknown
	}
	if !r.Has(opcodes.PbOpFlags) {
		if r.Handle != 0 && r.Handle == m.RPC.Handle && !i.deactivated {
			return outcomeRecovered
		}
		return outcomeCut
	}
	recovering, reconnected := m.RPC.OpFlags&opcodes.ConnectRecovering != 0, m.RPC.OpFlags&opcodes.ConnectReconnect != 0
	switch {
	case i.connectIsInitial && recovering:
		return outcomeLockReplay
	case i.connectIsInitial:
		return outcomeNew
	case reconnected && m.RPC.Handle == 0:
		return outcomeNoHandle
	case reconnected && !recovering && r.Handle != m.RPC.Handle:
		return outcomeEvicted
	case reconnected && i.deactivated:
		return outcomeEvicted
	case reconnected && recovering && i.stateBefore != StateUnknown:
		return outcomeReplayGoesOn
	case reconnected && !recovering:
		return outcomeRecovered
	case recovering && !i.deactivated:
		return outcomeReplay
	}
	return i.stateLost()
}

// stateLost is the outcome of a connect to a server that neither knows the
// connection nor is in recovery.
func (i *Import) stateLost() outcome {
	flags := i.Granted.Flags
	if !i.HasGranted {
		flags = i.Asked.Flags
	}
	switch {
	case !i.HasGranted && !i.HasAsked:
		return outcomeUnknown // whether the connection is lightweight
	case flags&flagLightweight != 0:
		return outcomeRecovered
	case i.nothingCached && (i.Asked.Version == 0 || i.Asked.Version >= firstToKeepUncached):
		return outcomeNew
	}
	return outcomeEvicted
}

// evict notes an eviction, with the lock callbacks that were pending: one of
// them may be the reason.
func (i *Import) evict(p Point) {
	i.Evictions++
	i.setState(StateEvicted, p)
	i.add(Event{Point: p, Kind: EventEvicted})
	for _, c := range i.callbacks {
		e := i.add(Event{Point: c.sent, Kind: EventCallback, Opcode: c.opcode, From: c.clientCookie, Replied: c.replied})
		e.Until = p
	}
	i.callbacks = i.callbacks[:0]
}

// pendingCallback is a lock callback without a reply, or one whose lock is not
// released yet.
type pendingCallback struct {
	sent         Point
	xid          uint64
	opcode       uint32
	clientCookie uint64  // of the lock
	serverCookie [8]byte // of the lock, as in the message
	replied      bool
}

const maxCallbacks = 256

// callbackSent takes a callback from the server.
func (i *Import) callbackSent(r *RPC, m *dissect.Message, p Point) {
	if r.Sends > 1 || m.Msg == nil {
		return
	}
	b := opcodes.LockHandles.Bytes(m.Msg.Buf(1))
	if r.Opcode == opcodes.LDLM_SET_INFO || len(b) < 16 {
		return
	}
	if len(i.callbacks) == maxCallbacks {
		i.callbacks = append(i.callbacks[:0], i.callbacks[maxCallbacks/2:]...)
	}
	i.callbacks = append(i.callbacks, pendingCallback{sent: p, xid: r.XID, opcode: r.Opcode,
		clientCookie: schema.ReadUint(b[:8], false), serverCookie: [8]byte(b[8:16])})
}

// callbackReplied takes the reply to a callback. A blocking callback stays
// pending until the lock is released, unless the client says it has no such
// lock.
func (i *Import) callbackReplied(r *RPC) {
	k := slices.IndexFunc(i.callbacks, func(c pendingCallback) bool { return c.xid == r.XID })
	switch {
	case k < 0:
	case r.Opcode != opcodes.LDLM_BL_CALLBACK || r.Status != 0:
		i.callbacks = slices.Delete(i.callbacks, k, k+1)
	default:
		i.callbacks[k].replied = true
	}
}

// releaseLocks removes the callbacks for the locks that a request of the client
// releases: those of a cancel, a convert, or a list in another request.
func (i *Import) releaseLocks(m *dissect.Message) {
	if len(i.callbacks) == 0 {
		return
	}
	body := m.Payload()
	i.callbacks = slices.DeleteFunc(i.callbacks, func(c pendingCallback) bool { return bytes.Contains(body, c.serverCookie[:]) })
}
