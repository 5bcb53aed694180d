package opcodes

var rpcMdsBatch = &RPC{Opcode: MDS_BATCH, Name: "MDS_BATCH",
	Doc: "Carries several requests of the same kind in one message: the attributes of the files that a client " +
		"expects to need next (statahead). Each request has buffers of its own, and so has each answer.",
	Variants: []*Variant{
		{Name: "inline",
			Request: Bufs(bufPtlrpcBody, bufButUpdateHeader, bufButUpdateBuffer),
			Reply:   Bufs(bufPtlrpcBody, bufBatchUpdateReply),
			Ask:     askBatch, Answer: answerBatch,
		},
		{Name: "bulk",
			Request: Bufs(bufPtlrpcBody, bufButUpdateHeader, bufButUpdateBuffer),
			Reply:   Bufs(bufPtlrpcBody, bufBatchUpdateReply),
			Bulk:    &BulkData{Portal: portalMDSBulk, Get: true, Type: batchBulk},
			Ask:     askBatch, Answer: answerBatch,
		},
		{Name: "BUT_GETATTR",
			Request: Bufs(bufDlmReq, bufLdlmIntent, bufMdtBody, bufCapa1, bufName, bufFileSecctxName),
			Reply:   Bufs(bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufFileSecctx, bufDefaultMdtMd, bufFileEncctx),
		},
	},
	Pick: func(m *Msg) *Variant {
		if ouhInline.Uint(m.Buf(1), m.Big) == 0 {
			return m.RPC.Variants[1]
		}
		return m.RPC.Variants[0]
	},
	Guess:   func(m *Msg) *Variant { return m.RPC.Variants[0] },
	Sub:     func(m *Msg) *Variant { return m.RPC.Variants[2] },
	Context: true,
}

var (
	buhUpdateCount = butUpdateHeader.Field("buh_update_count")
	buhBuffers     = butUpdateHeader.Field("buh_count")
)

// askBatch: how many requests, and for bulk data in how many buffers.
func askBatch(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < butUpdateHeader.Size {
		return
	}
	l.Num(buhUpdateCount.Uint(b, m.Big))
	l.Add(Dim, " requests")
	if ouhInline.Uint(b, m.Big) == 0 {
		l.Key("in ")
		l.Num(buhBuffers.Uint(b, m.Big))
		l.Add(Dim, " bulk buffers")
	}
}

func answerBatch(m *Msg, l *Line) {
	if b := m.Buf(1); len(b) >= batchUpdateReply.Size {
		l.Key("")
		l.Num(batchCount.Uint(b, m.Big))
		l.Add(Dim, " answers")
	}
}
