package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: MDS_BATCH, Name: "MDS_BATCH",
	Doc: "Carries several requests of the same kind in one message: the attributes of the files that a client " +
		"expects to need next (statahead). Each request has buffers of its own, and so has each answer.",
	Variants: []*Variant{
		{Name: "inline",
			Request: Bufs(bufPtlrpcBody, bufButUpdateHeader, bufButUpdateBuffer),
			Reply:   Bufs(bufPtlrpcBody, bufBatchUpdateReply),
			Ask:     askBatch, Answer: answerBatch, Subject: batchSubject,
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
	Picks: []int{ouhInline.Off + ouhInline.Size},
	Common: &Variant{
		Request: Bufs(bufPtlrpcBody, bufButUpdateHeader, bufButUpdateBuffer),
		Reply:   Bufs(bufPtlrpcBody, bufBatchUpdateReply),
	},
	Guess:   func(m *Msg) *Variant { return m.RPC.Variants[0] },
	Sub:     func(m *Msg) *Variant { return m.RPC.Variants[2] },
	Context: true,
})

var (
	buhUpdateCount = butUpdateHeader.Field("buh_update_count")
	buhBuffers     = butUpdateHeader.Field("buh_count")
)

// Where the directory and the name are among the buffers of a BUT_GETATTR.
const (
	batchedBody = 2
	batchedName = 4
	batchData   = 24 + 8 // bytes before the first message
)

// batchSubject is the directory and the name that the first request is about,
// when the requests are in the message itself.
func batchSubject(m *Msg) (fid, name []byte) {
	b := m.Buf(1)
	if len(b) < batchData || ouhInline.Uint(b, m.Big) == 0 {
		return nil, nil
	}
	b = b[batchData:]
	return messageBuffer(b, batchedBody, m.Big), TrimNUL(messageBuffer(b, batchedName, m.Big))
}

// messageBuffer is buffer i of the lustre_msg at b, nil when it is not all
// there.
func messageBuffer(b []byte, i int, big bool) []byte {
	const fixed, most = 32, 16
	n := int(min(ReadUint(first4(b), big), most))
	at := pad8(fixed + 4*n)
	if i >= n || at > len(b) {
		return nil
	}
	for k := 0; ; k++ {
		size := int(min(ReadUint(b[fixed+4*k:fixed+4*k+4], big), 1<<20))
		if at+size > len(b) {
			return nil
		}
		if k == i {
			return b[at : at+size]
		}
		at = min(len(b), at+pad8(size))
	}
}

// askBatch: how many requests, what the first is about, and for bulk data in
// how many buffers.
func askBatch(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < butUpdateHeader.Size {
		return
	}
	l.Count(buhUpdateCount.Uint(b, m.Big), "request")
	if fid, name := batchSubject(m); len(fid) >= 16 {
		l.Key("from ")
		l.FID(fid, m.Big)
		l.Key("")
		l.Label(Name, name)
	}
	if ouhInline.Uint(b, m.Big) == 0 {
		l.Key("in ")
		l.Count(buhBuffers.Uint(b, m.Big), "bulk buffer")
	}
}

// answerBatch: how many requests were answered. After an error the count leaves
// out the one that failed.
func answerBatch(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < batchUpdateReply.Size {
		return
	}
	if n := batchCount.Uint(b, m.Big); n > 0 || m.Status >= 0 {
		l.Key("")
		l.Count(n, "answer")
	}
}
