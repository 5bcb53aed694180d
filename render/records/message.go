package records

import (
	"slices"
	"strings"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Message is a message as a record: with the time of the capture's first frame
// and its tree.
type Message struct {
	*dissect.Message
	First int64 // nanoseconds since the epoch

	tree  *dissect.Tree
	built bool

	fidList  []messageFID
	fidsRead bool
}

// Set makes m the record of a message. The time of the capture's first frame is
// in nanoseconds since the epoch.
func (m *Message) Set(msg *dissect.Message, first int64) {
	m.Message, m.First, m.built, m.fidsRead = msg, first, false, false
}

// Tree returns the tree of the message. It is built at the first call.
func (m *Message) Tree() *dissect.Tree {
	if m.tree == nil {
		m.tree = &dissect.Tree{}
	}
	if !m.built {
		m.tree.Build(m.Message)
		m.built = true
	}
	return m.tree
}

// kinds are the names of the kinds of messages.
var kinds = func() *schema.Names {
	var values []schema.Value
	for i, name := range lnet.KindNames() {
		values = append(values, schema.Value{Name: name, Value: uint64(i)})
	}
	return schema.NewEnum("kind", "", "what a message is", values)
}()

// Messages are the keys of a message, and its sections, which hold the fields of
// the wire.
var Messages = Table[*Message]{Record: "record", InFilters: true, Keys: slices.Concat(
	[]Key[*Message]{
		{Name: "file", Type: Text, JSON: Omit, Doc: "file of the frame, when several are read: the end of its path, long enough to distinguish it from the others", Get: func(m *Message, v *Value) bool { return v.setFile(m.File) }},
		{Name: "frame", Doc: "number of the frame that completed the message, from 1, in its file", Get: func(m *Message, v *Value) bool {
			v.U = uint64(m.Frame)
			return true
		}},
		{Name: "time", Type: Time, Doc: "time of that frame", Get: func(m *Message, v *Value) bool {
			v.U = uint64(m.Time)
			return true
		}},
		{Name: "rel", Type: Duration, Doc: "time since the first frame of the capture", Get: func(m *Message, v *Value) bool {
			v.U = uint64(m.Time - m.First)
			return true
		}},
		{Name: "conn", Doc: "number of the connection, from 0 in order of appearance", Get: func(m *Message, v *Value) bool {
			v.U = uint64(m.Conn)
			return true
		}},
		{Name: "src", Type: Address, Doc: "IP address and port of the sender", Get: func(m *Message, v *Value) bool {
			v.Addr = m.Src
			return v.Addr.IsValid()
		}},
		{Name: "dst", Type: Address, Doc: "IP address and port of the receiver", Get: func(m *Message, v *Value) bool {
			v.Addr = m.Dst
			return v.Addr.IsValid()
		}},
		queuePair("src_qp", "number of the sender's InfiniBand queue pair, if it is known", func(x *lnet.IB) uint32 { return x.SrcQP }),
		queuePair("dst_qp", "number of the receiver's InfiniBand queue pair", func(x *lnet.IB) uint32 { return x.DestQP }),
		{Name: "kind", Type: Enum, Names: kinds, Doc: "what the message is", Get: func(m *Message, v *Value) bool {
			v.U = uint64(m.Kind)
			return true
		}},
	},
	sections(dissect.TransportSections()),
	[]Key[*Message]{
		{Name: "reject", Type: Text, JSON: Omit, Doc: "why an InfiniBand connection was refused: the reason of o2iblnd, or that of the connection manager", Get: func(m *Message, v *Value) bool {
			if m.IB == nil || m.Kind != lnet.Connrej {
				return false
			}
			name, _ := opcodes.Refusal(m.IB.Reject, m.Data)
			v.SetString(name)
			return name != ""
		}},
		{Name: "opcode", Type: Enum, Names: opcodes.Opcodes, JSON: Omit, Doc: "operation, also of bulk messages", Get: func(m *Message, v *Value) bool {
			v.U = uint64(m.RPC.Opcode)
			return m.RPC.HasOpcode
		}},
		{Name: "variant", Type: Text, JSON: Omit, Doc: "form of the operation, such as the intent of a lock request", Get: func(m *Message, v *Value) bool {
			if m.RPC.Variant == nil || m.RPC.Variant.Name == "" {
				return false
			}
			v.SetString(m.RPC.Variant.Name)
			return true
		}},
		{Name: "xid", Type: Decimal, JSON: Omit, Doc: "number of the RPC, also of its bulk messages", Get: func(m *Message, v *Value) bool {
			v.U = m.RPC.XID
			return m.RPC.HasXID
		}},
		{Name: "error", Type: Text, JSON: Omit, Doc: "name of the error of a reply whose status is negative", Get: func(m *Message, v *Value) bool {
			if errno := m.RPC.GSS.Errno(); m.Kind == lnet.Reply && errno != 0 {
				v.SetErrno(errno)
				return true
			}
			if m.Kind != lnet.Reply || m.RPC.Status >= 0 {
				return false
			}
			v.SetErrno(m.RPC.Status)
			return true
		}},
		{Name: "status", Type: Status, Names: opcodes.LdlmError, JSON: Hidden, Doc: "result of a reply", Get: func(m *Message, v *Value) bool {
			v.SetStatus(m.RPC.Opcode, m.RPC.Status)
			return m.Kind == lnet.Reply && m.RPC.HasOpcode && m.RPC.Type != 0
		}},
		{Name: "latency", Type: Duration, JSON: Hidden, Doc: "time from the request to this reply", Get: func(m *Message, v *Value) bool {
			if m.Kind != lnet.Reply || m.Req == nil || m.Req.Frame == 0 {
				return false
			}
			v.U = uint64(m.Time - m.Req.Time)
			return true
		}},
		{Name: "fid", Type: FID, JSON: Hidden, Doc: "FIDs in all fields of the message, names of locks included; in a filter, one that is equal is enough",
			Len: func(m *Message) int { return len(m.fids()) }, At: func(m *Message, i int, v *Value) bool {
				f := m.fids()[i]
				v.U, v.OID, v.Ver = f.seq, f.oid, f.ver
				return true
			}},
	},
	sections(dissect.MessageSections()),
	[]Key[*Message]{
		{Name: "bytes", Unit: Bytes, JSON: Omit, Doc: "bytes of bulk data", Get: func(m *Message, v *Value) bool {
			v.U = uint64(m.RPC.Bytes)
			switch m.Kind {
			case lnet.Bulk, lnet.Get, lnet.GetReply, lnet.Ack:
				return true
			}
			return false
		}},
		{Name: "rdma", Type: Object, JSON: Omit, Doc: "RDMA transfer that carried the payload", Parts: rdma, Get: func(m *Message, _ *Value) bool { return isTransfer(m) }},
		{Name: "notes", Type: Text, JSON: Omit, Doc: "damage, repetitions and guesses; filters and -e have only the codes",
			Len: func(m *Message) int { return len(m.Tree().Notes) }, At: noteCode,
			Parts: []Key[*Message]{
				{Name: "code", Type: Text, Doc: "a word for scripts", At: noteCode},
				{Name: "text", Type: Text, Doc: "a sentence for people", At: func(m *Message, i int, v *Value) bool {
					v.SetString(m.Tree().Notes[i].Text)
					return true
				}},
			}},
	})}

// MessageKey finds a key of messages by its path. A key that messages and RPCs
// both have is also found with the prefix of RPCs: rpc.latency. One that messages
// have several of is not the same key: rpc.fid is only that of RPCs.
func MessageKey(path string) (p Path[*Message], ok bool) {
	name, ofRPC := strings.CutPrefix(path, RPCs.Prefix)
	if ofRPC {
		if _, ok := RPCs.Find(name); !ok {
			return p, false
		}
	}
	p, ok = Messages.Find(name)
	return p, ok && !(ofRPC && p.IsList())
}

func noteCode(m *Message, i int, v *Value) bool {
	v.SetString(m.Tree().Notes[i].Code)
	return true
}

// SetStatus sets the status of a reply. Of operations on locks, those that are
// not negative have names.
func (v *Value) SetStatus(opcode uint32, status int32) {
	v.U = uint64(int64(status))
	if status < 0 || !opcodes.IsLockOpcode(opcode) {
		v.Names = nil
	}
}

// sections makes keys of the sections of messages.
func sections(list []*schema.Field) []Key[*Message] {
	keys := make([]Key[*Message], len(list))
	for i, f := range list {
		keys[i] = Key[*Message]{Name: f.Name, Type: Section, JSON: Omit, Doc: f.Doc}
	}
	return keys
}
