package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: OBD_PING, Name: "OBD_PING",
	Doc:  "Shows that client and server are alive, and tells the client what is on disk. The last ping of a recovery says that the client has replayed all it had.",
	Pick: pickPing,
	Variants: []*Variant{
		{
			Request: Bufs(bufPtlrpcBody),
			Reply:   Bufs(bufPtlrpcBody),
		},
		{Name: "final(recovery)",
			Request: Bufs(bufPtlrpcBody),
			Reply:   Bufs(bufPtlrpcBody),
			Ask: func(_ *Msg, l *Line) {
				l.Key("")
				l.Add(Flag, "end of replay")
			},
		},
	}})

// pickPing knows the last ping of a recovery by its flags.
func pickPing(m *Msg) *Variant {
	if len(m.Buf(0)) < PbFlags.Off+PbFlags.Size {
		return m.RPC.Common
	}
	done := MsgFlags.Bit("REQ_REPLAY_DONE") | MsgFlags.Bit("LOCK_REPLAY_DONE")
	if PbFlags.Uint(m.Buf(0), m.Big)&done == done {
		return m.RPC.Variants[1]
	}
	return m.RPC.Variants[0]
}
