package render

import (
	"strconv"

	"github.com/lshark/lshark/dissect"
	"github.com/lshark/lshark/dissect/lnet"
	"github.com/lshark/lshark/dissect/track"
	"github.com/lshark/lshark/opcodes/schema"
)

// The comments of frames in a file that -w writes.

// AppendMessageComment appends the comment about a message: operation, kind,
// xid, error and nodes, without those that are unknown.
func AppendMessageComment(b []byte, m *dissect.Message) []byte {
	if m.RPC.HasOpcode {
		b = append(appendOpcodeText(b, m.RPC.Opcode), ' ')
	}
	b = append(b, m.Kind.String()...)
	if m.RPC.HasXID {
		b = strconv.AppendUint(append(b, " x"...), m.RPC.XID, 10)
	}
	if m.Kind == lnet.Reply && m.RPC.Status < 0 {
		b = append(append(b, ' '), schema.Errnos.Name(uint64(-int64(m.RPC.Status)))...)
	}
	if m.HasLNet() {
		b = m.LNet.Src.Append(append(b, ' '))
		b = m.LNet.Dst.Append(append(b, " > "...))
	}
	return b
}

// AppendRPCComment appends the comment about the messages of a kind of an RPC:
// operation, kind, xid and target.
func AppendRPCComment(b []byte, r *track.RPC, kind lnet.Kind) []byte {
	if r.HasOpcode {
		b = append(appendOpcodeText(b, r.Opcode), ' ')
	}
	b = strconv.AppendUint(append(append(b, kind.String()...), " x"...), r.XID, 10)
	if t := r.Target(); t != "" {
		b = append(append(b, ' '), t...)
	}
	return b
}
