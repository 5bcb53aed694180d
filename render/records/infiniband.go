package records

import (
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/opcodes"
)

func transfer(m *Message) *lnet.IB { return m.IB }

// hasTransfer reports whether RDMA writes carried the payload of a message, or were to.
func hasTransfer(x *lnet.IB) bool { return len(x.Parts) > 1 || x.Writes.Packets > 0 }

func transferKeys() []*Key[*lnet.IB] {
	wrote := func(x *lnet.IB) bool { return x.Writes.Packets > 0 }
	return []*Key[*lnet.IB]{
		number("packets", "number of packets of RDMA writes", func(x *lnet.IB) int { return x.Writes.Packets }).when(wrote),
		number("bytes", "bytes in them", func(x *lnet.IB) int { return x.Writes.Bytes }).inBytes().when(wrote),
		number("first_frame", "number of the frame with the first of them", func(x *lnet.IB) int64 { return x.Writes.First.Number }).when(wrote),
		number("last_frame", "number of the frame with the last of them", func(x *lnet.IB) int64 { return x.Writes.Last.Number }).when(wrote),
		number("time", "time from the first to the last of them", func(x *lnet.IB) int64 { return x.Writes.Last.Time - x.Writes.First.Time }).
			as(Duration).when(wrote),
		number("status", "negative errno of a transfer that failed", func(x *lnet.IB) int32 { return x.Status }).as(Int).omit().
			when(func(x *lnet.IB) bool { return x.Status < 0 }),
		list("messages", "messages of o2iblnd that the transfer consists of", func(x *lnet.IB) []lnet.IBPart {
			if !hasTransfer(x) {
				return nil
			}
			return x.Parts
		},
			enum("type", opcodes.IblndMsgType, "type of the message", func(p *lnet.IBPart) uint64 { return opcodes.IbmType.Uint(p.Data, false) }).
				when(func(p *lnet.IBPart) bool { return len(p.Data) > opcodes.IbmType.Off }),
			number("frame", frameDoc, func(p *lnet.IBPart) int64 { return p.Frame.Number }),
			moment("time", timeDoc, func(p *lnet.IBPart) int64 { return p.Frame.Time })).omit(),
	}
}
