package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: OBD_IDX_READ, Name: "OBD_IDX_READ", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufIdxInfo),
	Reply:   Bufs(bufPtlrpcBody, bufIdxInfo),
	Bulk:    &BulkData{Portal: portalMDSBulk, Type: indexPages},
	Ask:     askIndex,
	Answer:  answerIndex,
	Subject: func(m *Msg) (fid, name []byte) { return iiFid.Bytes(m.Buf(1)), nil },
}},
	Doc: "Reads an index of a target as pages: quota slaves fetch limits and their shares with it, " +
		"the LFSCK the list of orphans, MDTs the directories of other MDTs.",
	Context: true,
})

var (
	iiHashStart = idxInfo.Field("ii_hash_start")
	iiHashEnd   = idxInfo.Field("ii_hash_end")
)

func askIndex(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < idxInfo.Size {
		return
	}
	l.FID(iiFid.Bytes(b), m.Big)
	l.Key("from ")
	l.Hex(Number, iiHashStart.Uint(b, m.Big))
}

func answerIndex(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < idxInfo.Size {
		return
	}
	l.Key("")
	l.Num(iiCount.Uint(b, m.Big))
	l.Add(Dim, " pages")
	if end := iiHashEnd.Uint(b, m.Big); end == dirHashEnd {
		l.Add(Dim, ", end")
	} else {
		l.Key("to ")
		l.Hex(Number, end)
	}
}
