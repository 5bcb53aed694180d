package track

import (
	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/lnet"
)

// findRequest returns the record of a request that was seen before: sent
// again, forwarded, or seen by another capture point. A replay is another RPC
// than the one it repeats.
func (t *Pairing) findRequest(m *dissect.Message) *RPC {
	q := &m.RPC
	replay := q.Flags&dissect.FlagReplay != 0
	for r := t.byXID[q.XID]; r != nil; r = r.next {
		if !sameOpcode(r, q) || r.HasRequest && replay != r.Replay() {
			continue
		}
		if r.Client != m.LNet.Src && (r.Handle == 0 || r.Handle != q.Handle) {
			continue // another client with the same xid, unless it is another rail
		}
		if r.state == ended && q.Flags&dissect.FlagResent != 0 && r.Flags&dissect.FlagResent == 0 {
			return nil // resent after the end of the RPC
		}
		return r
	}
	return nil
}

// findReply returns the record that a reply or bulk belongs to: one that waits
// for its reply rather than one that has it, the newest of them.
func (t *Pairing) findReply(m *dissect.Message) *RPC {
	q := &m.RPC
	var replied *RPC
	for r := t.byXID[q.XID]; r != nil; r = r.next {
		if !sameOpcode(r, q) || !samePeer(m, r) {
			continue
		}
		if r.state == waiting {
			return r
		}
		if replied == nil {
			replied = r
		}
	}
	return replied
}

// sameOpcode reports whether the opcodes agree; an unknown one agrees with any. An
// error reply to a request that could not be read has none.
func sameOpcode(r *RPC, q *dissect.RPC) bool {
	return !r.HasOpcode || !q.HasOpcode || q.Opcode == 0 || r.Opcode == q.Opcode
}

// samePeer reports whether a message goes to, or comes from, the client of an
// RPC.
func samePeer(m *dissect.Message, r *RPC) bool {
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
