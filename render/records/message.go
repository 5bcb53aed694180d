package records

import (
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes"
	"github.com/lshark/lshark/opcodes/schema"
)

// Message is a message as a record: with the time of the capture's first frame
// and its tree.
type Message struct {
	*dissect.Message
	First int64 // nanoseconds since the epoch

	tree  dissect.Tree
	built bool

	fidList  []track.FID
	fidsRead bool
	value    Value // of a node, while FIDs are read
}

// Set makes m the record of a message. The time of the capture's first frame is
// in nanoseconds since the epoch.
func (m *Message) Set(msg *dissect.Message, first int64) {
	m.Message, m.First, m.built, m.fidsRead = msg, first, false, false
}

// Tree returns the tree of the message. It is built at the first call.
func (m *Message) Tree() *dissect.Tree {
	if !m.built {
		m.tree.Build(m.Message)
		m.built = true
	}
	return &m.tree
}

// Messages are the keys of a message, and its sections, which hold the fields of
// the wire.
var Messages = Table[*Message]{Record: "record", Name: "messages", InFilters: true, Keys: sync.OnceValue(func() []*Key[*Message] {
	type request = dissect.RequestInfo
	return slices.Concat([]*Key[*Message]{
		TextKey("file", "file of the frame, when several are read: the end of its path, long enough to distinguish it from the others",
			func(m *Message) string { return m.File }).omit(),
		NumberKey("frame", "number of the frame that completed the message, from 1, in its file", func(m *Message) int64 { return m.Frame }),
		TimeKey("time", "time of that frame", func(m *Message) int64 { return m.Time }),
		NumberKey("rel", "time since the first frame of the capture", func(m *Message) int64 { return m.Time - m.First }).as(Duration),
		NumberKey("conn", "number of the connection, from 0 in order of appearance", func(m *Message) int { return m.Conn }),
		address("src", "IP address and port of the sender", func(m *Message) netip.AddrPort { return m.Src }),
		address("dst", "IP address and port of the receiver", func(m *Message) netip.AddrPort { return m.Dst }),
	}, inside(transfer,
		NumberKey("src_qp", "number of the sender's InfiniBand queue pair, if it is known",
			func(x *lnet.IB) uint32 { return x.SrcQP }).as(Hex).nonzero(),
		NumberKey("dst_qp", "number of the receiver's InfiniBand queue pair", func(x *lnet.IB) uint32 { return x.DestQP }).as(Hex).nonzero(),
	), []*Key[*Message]{
		enum("kind", kinds, "what the message is", func(m *Message) lnet.Kind { return m.Kind }),
	}, sections(dissect.TransportSections()), []*Key[*Message]{
		TextKey("reject", "why an InfiniBand connection was refused: the reason of o2iblnd, or that of the connection manager", refusal).omit(),
		enum("opcode", opcodes.Opcodes, "operation, also of bulk messages", func(m *Message) uint32 { return m.RPC.Opcode }).omit().
			when(func(m *Message) bool { return m.RPC.HasOpcode }),
		enum("opcode_inferred", opcodes.Opcodes, inferredDoc, func(m *Message) uint32 { return m.RPC.Inferred }).nonzero(),
		TextKey("variant", variantDoc, func(m *Message) string { return m.RPC.Variant.String() }).omit(),
		NumberKey("xid", "number of the RPC, also of its bulk messages", func(m *Message) uint64 { return m.RPC.XID }).as(Decimal).omit().
			when(func(m *Message) bool { return m.RPC.HasXID }),
		errno("error", "name of the error of a reply: its status when that is negative, else the first error inside it, such as that of an intent", func(m *Message) int32 {
			if errno := m.RPC.GSS.Errno(); errno != 0 {
				return errno
			}
			if m.RPC.Status >= 0 {
				return m.tree.InnerError(m.Message)
			}
			return m.RPC.Status
		}).omit().when(func(m *Message) bool { return m.Kind == lnet.Reply }),
		{Name: "status", Type: Status, Names: opcodes.LdlmError, JSON: Hidden, Doc: "result of a reply", Get: func(m *Message, _ int, v *Value) bool {
			v.SetStatus(m.RPC.Opcode, m.RPC.Status)
			return m.Kind == lnet.Reply && m.RPC.HasOpcode && m.RPC.Type != 0
		}},
		DurationKey("latency", "time from the request to this reply", func(m *Message) (int64, bool) {
			if m.Kind != lnet.Reply || m.Req == nil || m.Req.Frame == 0 {
				return 0, false
			}
			return m.Time - m.Req.Time, true
		}).omit(),
		TextKey("target", "target of the connection, without \"_UUID\", as far as connects before the message tell",
			func(m *Message) string { return m.Target }).omit(),
	}, inside(func(m *Message) *request { return m.Req },
		rawText("job", "job id of the request", (*request).Job).omit(),
	), inside(func(m *Message) *request {
		if m.Kind == lnet.Request {
			return nil
		}
		return m.Req
	},
		NumberKey("request_frame", "frame of the request, of the messages that follow it", func(q *request) int64 { return q.Frame }).nonzero(),
		TextKey("request_file", "file of that frame, when several are read", func(q *request) string { return q.File }).omit(),
	), inside(func(m *Message) *request {
		if m.Req == nil || m.Req.ReplyOrder == m.Order {
			return nil
		}
		return m.Req
	},
		NumberKey("reply_frame", "frame of the first reply, of the messages that follow it", func(q *request) int64 { return q.ReplyFrame }).nonzero(),
		TextKey("reply_file", "file of that frame, when several are read", func(q *request) string { return q.ReplyFile }).omit(),
	), []*Key[*Message]{
		{Name: "fid", Type: FID, JSON: Hidden, Doc: "FIDs in all fields of the message, names of locks included; in a filter, one that is " +
			"equal is enough",
			Len: func(m *Message) int { return len(m.fids()) }, Get: func(m *Message, i int, v *Value) bool {
				v.SetFID(m.fids()[i])
				return true
			}},
	}, sections(dissect.MessageSections()), []*Key[*Message]{
		NumberKey("bytes", "bytes of bulk data", func(m *Message) int { return m.RPC.Bytes }).inBytes().omit().when(carriesBulk),
	}, inside(transfer, object("rdma", "RDMA transfer that carried the payload", transferKeys()...).omit().when(hasTransfer)), []*Key[*Message]{
		notes(),
	})
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

func notes() *Key[*Message] {
	k := list("notes", "damage, repetitions and guesses; filters and -e have only the codes",
		func(m *Message) []lnet.Note { return m.Tree().Notes },
		anyText("code", "a word for scripts", func(n *lnet.Note) string { return n.Code }),
		anyText("text", "a sentence for people", func(n *lnet.Note) string { return n.Text })).as(Text).omit()
	k.Get = k.Parts[0].Get
	return k
}

func address(name, doc string, get func(m *Message) netip.AddrPort) *Key[*Message] {
	return &Key[*Message]{Name: name, Type: Address, Doc: doc, Get: func(m *Message, _ int, v *Value) bool {
		v.Addr = get(m)
		return v.Addr.IsValid()
	}}
}

func refusal(m *Message) string {
	if m.IB == nil || m.Kind != lnet.Connrej {
		return ""
	}
	name, _ := opcodes.Refusal(m.IB.Reject, m.Data)
	return name
}

func carriesBulk(m *Message) bool {
	switch m.Kind {
	case lnet.Bulk, lnet.Get, lnet.GetReply, lnet.Ack:
		return true
	}
	return false
}

// SetStatus sets the status of a reply. Of operations on locks, those that are
// not negative have names.
func (v *Value) SetStatus(opcode uint32, status int32) {
	v.U = uint64(int64(status))
	if status < 0 || !opcodes.IsLockOpcode(opcode) {
		v.Names = nil
	}
}

func sections(list []*schema.Field) []*Key[*Message] {
	keys := make([]*Key[*Message], len(list))
	for i, f := range list {
		keys[i] = &Key[*Message]{Name: f.Name, Type: Section, JSON: Omit, Doc: f.Doc}
	}
	return keys
}

func transfer(m *Message) *lnet.IB { return m.IB }

// hasTransfer reports whether RDMA writes carried the payload of a message, or were to.
func hasTransfer(x *lnet.IB) bool { return len(x.Parts) > 1 || x.Writes.Packets > 0 }

func transferKeys() []*Key[*lnet.IB] {
	wrote := func(x *lnet.IB) bool { return x.Writes.Packets > 0 }
	return []*Key[*lnet.IB]{
		NumberKey("packets", "number of packets of RDMA writes", func(x *lnet.IB) int { return x.Writes.Packets }).when(wrote),
		NumberKey("bytes", "bytes in them", func(x *lnet.IB) int { return x.Writes.Bytes }).inBytes().when(wrote),
		NumberKey("first_frame", "number of the frame with the first of them", func(x *lnet.IB) int64 { return x.Writes.First.Number }).when(wrote),
		NumberKey("last_frame", "number of the frame with the last of them", func(x *lnet.IB) int64 { return x.Writes.Last.Number }).when(wrote),
		NumberKey("time", "time from the first to the last of them", func(x *lnet.IB) int64 { return x.Writes.Last.Time - x.Writes.First.Time }).
			as(Duration).when(wrote),
		NumberKey("status", "negative errno of a transfer that failed", func(x *lnet.IB) int32 { return x.Status }).as(Int).omit().
			when(func(x *lnet.IB) bool { return x.Status < 0 }),
		list("messages", "messages of o2iblnd that the transfer consists of", func(x *lnet.IB) []lnet.IBPart {
			if !hasTransfer(x) {
				return nil
			}
			return x.Parts
		},
			enum("type", opcodes.IblndMsgType, "type of the message", func(p *lnet.IBPart) uint64 { return opcodes.IbmType.Uint(p.Data, false) }).
				when(func(p *lnet.IBPart) bool { return len(p.Data) > opcodes.IbmType.Off }),
			NumberKey("frame", frameDoc, func(p *lnet.IBPart) int64 { return p.Frame.Number }),
			TimeKey("time", timeDoc, func(p *lnet.IBPart) int64 { return p.Frame.Time })).omit(),
	}
}
