package records

import (
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

// queuePair makes a key of the number of a queue pair.
func queuePair(name, doc string, get func(x *lnet.IB) uint32) Key[*Message] {
	return Key[*Message]{Name: name, Type: Hex, JSON: Omit, Doc: doc, Get: func(m *Message, v *Value) bool {
		if m.IB == nil {
			return false
		}
		v.U = uint64(get(m.IB))
		return v.U != 0
	}}
}

// rdma are the keys of an RDMA transfer.
var rdma = []Key[*Message]{
	writes("packets", NoUnit, "number of packets of RDMA writes", func(w *lnet.IBWrites) int64 { return int64(w.Packets) }),
	writes("bytes", Bytes, "bytes in them", func(w *lnet.IBWrites) int64 { return int64(w.Bytes) }),
	writes("first_frame", NoUnit, "number of the frame with the first of them", func(w *lnet.IBWrites) int64 { return w.First.Number }),
	writes("last_frame", NoUnit, "number of the frame with the last of them", func(w *lnet.IBWrites) int64 { return w.Last.Number }),
	{Name: "time", Type: Duration, Doc: "time from the first to the last of them", Get: func(m *Message, v *Value) bool {
		if m.IB == nil {
			return false
		}
		w := &m.IB.Writes
		return v.setDuration(w.Last.Time-w.First.Time, w.Packets > 0)
	}},
	{Name: "status", Type: Int, JSON: Omit, Doc: "negative errno of a transfer that failed", Get: func(m *Message, v *Value) bool {
		if m.IB == nil {
			return false
		}
		v.U = uint64(int64(m.IB.Status))
		return m.IB.Status < 0
	}},
	{Name: "messages", Type: Object, JSON: Omit, Doc: "messages of o2iblnd that the transfer consists of",
		Len: func(m *Message) int {
			if !isTransfer(m) {
				return 0
			}
			return len(m.IB.Parts)
		}, At: func(*Message, int, *Value) bool { return true },
		Parts: []Key[*Message]{
			{Name: "type", Type: Enum, Names: opcodes.IblndMsgType, Doc: "type of the message", At: func(m *Message, i int, v *Value) bool {
				b := m.IB.Parts[i].Data
				v.U = opcodes.IbmType.Uint(b, false)
				return len(b) > opcodes.IbmType.Off
			}},
			{Name: "frame", Doc: frameDoc, At: func(m *Message, i int, v *Value) bool {
				v.U = uint64(m.IB.Parts[i].Frame.Number)
				return true
			}},
			{Name: "time", Type: Time, Doc: timeDoc, At: func(m *Message, i int, v *Value) bool {
				v.U = uint64(m.IB.Parts[i].Frame.Time)
				return true
			}},
		}},
}

// isTransfer reports whether RDMA writes carried the payload of a message, or were to.
func isTransfer(m *Message) bool {
	return m.IB != nil && (len(m.IB.Parts) > 1 || m.IB.Writes.Packets > 0)
}

// writes makes a key of the RDMA writes with the payload, null when none was captured.
func writes(name string, u Unit, doc string, get func(w *lnet.IBWrites) int64) Key[*Message] {
	return Key[*Message]{Name: name, Unit: u, Doc: doc, Get: func(m *Message, v *Value) bool {
		if m.IB == nil {
			return false
		}
		v.U = uint64(get(&m.IB.Writes))
		return m.IB.Writes.Packets > 0
	}}
}
