package track

import (
	"bytes"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// isEviction reports whether the reply to a connect, outside of recovery, shows
// that the server has evicted the client: it does not know the connection, or
// knows it by another handle.
func (i *Import) isEviction(m *dissect.Message) bool {
	if i.connectIsInitial || m.RPC.OpFlags&msgRecovering != 0 {
		return false
	}
	return m.RPC.OpFlags&msgReconnect == 0 || i.handle != 0 && i.handle != m.RPC.Handle
}

// evict notes an eviction, with the lock callbacks that were pending: one of
// them may be the reason.
func (i *Import) evict(p Point) {
	i.Evictions++
	i.setState(Evicted, p)
	i.add(Event{Point: p, Kind: EvEvicted})
	for _, c := range i.callbacks {
		e := i.add(Event{Point: c.sent, Kind: EvCallback, Opcode: c.opcode, From: c.clientCookie, Replied: c.replied})
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
	for k := range i.callbacks {
		c := &i.callbacks[k]
		if c.xid != r.XID {
			continue
		}
		if c.replied = true; r.Opcode != opcodes.LDLM_BL_CALLBACK || r.Status != 0 {
			i.callbacks = append(i.callbacks[:k], i.callbacks[k+1:]...)
		}
		return
	}
}

// releaseLocks removes the callbacks for the locks that a request of the client
// releases: those of a cancel, a convert, or a list in another request.
func (i *Import) releaseLocks(m *dissect.Message) {
	if len(i.callbacks) == 0 {
		return
	}
	body := m.Payload()
	keep := i.callbacks[:0]
	for _, c := range i.callbacks {
		if !bytes.Contains(body, c.serverCookie[:]) {
			keep = append(keep, c)
		}
	}
	i.callbacks = keep
}
