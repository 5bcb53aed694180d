package track

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
)

// findRequest finds the record of a request that was seen before: sent again,
// forwarded, or seen by another capture point. A replay is another RPC than
// the one it repeats.
func (t *RPCs) findRequest(m *dissect.Message) *RPC {
	q := &m.RPC
	replay := q.Flags&dissect.FlagReplay != 0
	for r := t.byXID[q.XID]; r != nil; r = r.next {
		if !agrees(r, q) || r.HasRequest && replay != r.Replay() {
			continue
		}
		if r.Client != m.LNet.Src && (r.Handle == 0 || r.Handle != q.Handle) {
			continue // another client with the same xid, unless it is another rail
		}
		if r.state == spent && q.Flags&dissect.FlagResent != 0 && r.Flags&dissect.FlagResent == 0 {
			return nil // sent again after all this time
		}
		return r
	}
	return nil
}

// findReply finds the record that an answer belongs to: one that waits rather
// than one that has its reply, the newest of them.
func (t *RPCs) findReply(m *dissect.Message) *RPC {
	q := &m.RPC
	var second *RPC
	for r := t.byXID[q.XID]; r != nil; r = r.next {
		if !agrees(r, q) || !answers(m, r) {
			continue
		}
		if r.state == open {
			return r
		}
		if second == nil {
			second = r
		}
	}
	return second
}

// agrees compares the opcodes, as far as they are known. An error reply to a
// request that could not be read has none.
func agrees(r *RPC, q *dissect.RPC) bool {
	return !r.HasOpcode || !q.HasOpcode || q.Opcode == 0 || r.Opcode == q.Opcode
}

// answers says whether a message goes to, or comes from, the client of an RPC.
func answers(m *dissect.Message, r *RPC) bool {
	if m.Kind == lnet.GetReply {
		if r.Client == m.LNet.Src {
			return true
		}
	} else if r.Client == m.LNet.Dst || m.Kind == lnet.Ack && r.Client == m.LNet.Src {
		return true
	}
	if m.Req != nil && m.Req.XID == r.XID && m.Req.Client == r.Client {
		return true
	}
	return r.Handle != 0 && r.Handle == m.RPC.Handle
}

// Replay says whether the request was replayed after a recovery.
func (r *RPC) Replay() bool { return r.Flags&dissect.FlagReplay != 0 }
