package track

import (
	"bytes"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// callback is a lock callback that the client has not obeyed yet: not
// answered, or the lock is not given up.
type callback struct {
	at      Point
	xid     uint64
	opcode  uint32
	client  uint64 // the lock's cookie there
	server  [8]byte
	replied bool
}

const maxCalls = 256

// IsCallback says whether an operation goes from a server to a client.
func IsCallback(opc uint32) bool {
	return opc >= opcodes.LDLM_BL_CALLBACK && opc <= opcodes.LDLM_SET_INFO
}

// called takes a callback from the server.
func (i *Import) called(r *RPC, m *dissect.Message, p Point) {
	if r.Sends > 1 || m.Msg == nil {
		return
	}
	b := opcodes.LockHandles.Bytes(m.Msg.Buf(1))
	if r.Opcode == opcodes.LDLM_SET_INFO || len(b) < 16 {
		return
	}
	if len(i.calls) == maxCalls {
		i.calls = append(i.calls[:0], i.calls[maxCalls/2:]...)
	}
	i.calls = append(i.calls, callback{at: p, xid: r.XID, opcode: r.Opcode,
		client: schema.ReadUint(b[:8], false), server: [8]byte(b[8:16])})
}

// obeyed takes the answer to a callback. A blocking callback is not done with
// before the lock is given up, unless the client says it has none.
func (i *Import) obeyed(r *RPC) {
	for k := range i.calls {
		c := &i.calls[k]
		if c.xid != r.XID {
			continue
		}
		if c.replied = true; r.Opcode != opcodes.LDLM_BL_CALLBACK || r.Status != 0 {
			i.calls = append(i.calls[:k], i.calls[k+1:]...)
		}
		return
	}
}

// surrender looks for the locks that a request of the client gives up: those
// of a cancel, a convert, or a list that rides on another request.
func (i *Import) surrender(m *dissect.Message) {
	if len(i.calls) == 0 {
		return
	}
	body := m.Payload()
	keep := i.calls[:0]
	for _, c := range i.calls {
		if !bytes.Contains(body, c.server[:]) {
			keep = append(keep, c)
		}
	}
	i.calls = keep
}
