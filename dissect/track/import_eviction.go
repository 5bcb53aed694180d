package track

import (
	"bytes"
	"slices"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// firstToKeepUncached is the first release whose clients are not evicted from
// a connection over which they have cached nothing: 2.15.59.
const firstToKeepUncached = 2<<24 | 15<<16 | 59<<8

// stateAfterConnect returns the state that follows from the reply to a connect, without an error, by the rules by which a
// client decides: StateRecover where the server still has the connection or it is a lightweight one, which has nothing
// to lose. ok is false where too little was captured.
func (i *Import) stateAfterConnect(r *RPC, m *dissect.Message) (s ImportState, ok bool) {
	if !r.HasRequest {
		return StateUnknown, false
	}
	if !r.Has(opcodes.PbOpFlags) {
		if r.Handle != 0 && r.Handle == m.RPC.Handle && !i.deactivated {
			return StateRecover, true
		}
		return StateUnknown, true
	}
	recovering, reconnected := m.RPC.OpFlags&opcodes.ConnectRecovering != 0, m.RPC.OpFlags&opcodes.ConnectReconnect != 0
	switch {
	case i.connectIsInitial && recovering:
		return StateReplayLocks, true
	case i.connectIsInitial:
		return StateFull, true
	case reconnected && m.RPC.Handle == 0: // the client tries again
		return StateDiscon, true
	case reconnected && !recovering && r.Handle != m.RPC.Handle, reconnected && i.deactivated:
		return StateEvicted, true
	case reconnected && recovering && i.stateBefore != StateUnknown: // the connection was lost during the recovery
		return i.stateBefore, true
	case reconnected && !recovering:
		return StateRecover, true
	case recovering && !i.deactivated: // the server restarted
		i.transactions.replaying = true
		return StateReplay, true
	}
	// The server neither knows the connection nor is in recovery.
	flags := i.Granted.Flags
	if !i.HasGranted {
		flags = i.Asked.Flags
	}
	switch {
	case !i.HasGranted && !i.HasAsked:
		return StateUnknown, false // whether the connection is lightweight
	case flags&flagLightweight != 0:
		return StateRecover, true
	case i.nothingCached && (i.Asked.Version == 0 || i.Asked.Version >= firstToKeepUncached):
		return StateFull, true
	}
	return StateEvicted, true
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
