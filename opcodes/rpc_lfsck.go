package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: LFSCK_NOTIFY, Name: "LFSCK_NOTIFY", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufLfsckRequest),
	Reply:   Bufs(bufPtlrpcBody),
	Ask:     askLfsck,
	Subject: func(m *Msg) (fid, name []byte) { return lrFid.Bytes(m.Buf(1)), nil },
}},
	Doc: "Tells the LFSCK (file system check) of another server to start, stop or act on an object, or that a phase is done."})

var _ = DefineRPC(&RPC{Opcode: LFSCK_QUERY, Name: "LFSCK_QUERY", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufLfsckRequest),
	Reply:   Bufs(bufPtlrpcBody, bufLfsckReply),
	Ask:     askLfsck,
	Answer: func(m *Msg, l *Line) {
		if b := m.Buf(1); len(b) >= lfsckReply.Size {
			l.Key("")
			l.Value(Flag, LfsckStatus, lfsckReply.Fields[0].Uint(b, m.Big))
			l.Key("repaired ")
			l.Num(lrRepaired.Uint(b, m.Big))
		}
	},
}},
	Doc: "Asks the LFSCK of another server how far it is."})

var (
	lrActive   = lfsckRequest.Field("lr_active")
	lrFid      = lfsckRequest.Field("lr_fid")
	lrRepaired = lfsckReply.Field("lr_repaired")
)

// askLfsck: the event, the kinds of check, and the object if there is one.
func askLfsck(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < 8 {
		return
	}
	l.Value(Flag, LfsckEvent, lrEvent.Uint(b, m.Big))
	if active := lrActive.Uint(b, m.Big); active != 0 {
		l.Key("")
		l.Flags(LfsckType, active)
	}
	if fid := lrFid.Bytes(b); len(fid) >= 16 && !zeroBytes(fid) {
		l.Key("")
		l.FID(fid, m.Big)
	}
}
