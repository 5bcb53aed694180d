package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const MDS_BATCH = 63

var BatchOpc = Enum("batch_opc", "BUT_", "operation of a message inside an MDS_BATCH, lm_opc", []Value{
	{Name: "GETATTR", Value: 0x1, Since: "2.16", Doc: "Attributes of a file by its name, and a lock on them, for statahead. Its buffers " +
		"are those of " +
		"the variant BUT_GETATTR of MDS_BATCH"},
})

var BatchMagic = Enum("batch_magic", "", "magic of batches", []Value{
	{Name: "BUT_REPLY_MAGIC", Value: 0xad0001, Since: "2.16", Doc: "batch reply"},
	{Name: "BUT_REQUEST_MAGIC", Value: 0xbade0001, Since: "2.16", Doc: "batch body"},
	{Name: "BUT_HEADER_MAGIC", Value: 0xbadf0001, Since: "2.16", Doc: "first buffer of MDS_BATCH"},
})

var batchUpdateRequest = &Struct{Name: "batch_update_request", Since: "2.16", Doc: "requests that travel together", Fields: []*Field{
	U32("burq_magic", &BatchMagic),
	batchCount,
	Pad("burq_padding", 2),
	Subs("burq_reqmsg", -1, &LustreMsg, If(never), "the requests; shown as `messages`"),
	Records("messages", nextBatched, []*Field{batched}, "the requests, each a message with buffers of its own"),
}}

var (
	batched    = Msgs("", "message inside a batch; lm_opc has its operation, lm_result its result")
	batchCount = U16("burq_count", Harmless, "number of requests") // burp_count lies at the same offset
)

// nextBatched returns the field of the next message in a batch; its length is in
// its header. The count of a reply with an error status does not include the
// request that failed, although the reply contains its message.
func nextBatched(v *View) (*Field, int) {
	n := int(batchCount.Uint(v.Struct, v.Big))
	if v.Msg != nil && v.Msg.Reply && v.Msg.Status < 0 {
		n++
	}
	if v.Index >= n || len(v.Rest) < 32 {
		return nil, 0
	}
	return batched, 0
}

var butUpdateHeader = &Struct{Name: "but_update_header", Since: "2.16", Doc: "where the requests of a batch are", Fields: []*Field{
	U32("buh_magic", &BatchMagic),
	U32("buh_count", Harmless, "number of buffers with requests"),
	buhInline,
	U32("buh_reply_size", Size, "room for the answers"),
	U32("buh_update_count", Harmless, "number of requests"),
	Pad("buh_padding", 4),
	OneOf("buh_inline_data", func(v *View) *Field { return formBatch }, []*Field{formBatch},
		If(func(v *View) bool { return buhInline.Uint(v.Struct, v.Big) != 0 }), "the requests"),
}}

var (
	formBatch = Sub("", &batchUpdateRequest)
	buhInline = U32("buh_inline_length", Size, "bytes of the requests that follow; 0: they come as bulk data")
)

var butUpdateBuffer = &Struct{Name: "but_update_buffer", Since: "2.16",
	Doc: "size of a buffer with requests that is to be fetched", Fields: []*Field{
		U32("bub_size", Size, "its bytes"),
		Pad("bub_padding", 4),
	}}

var batchBulk = &Struct{Name: "but_update_bulk", Since: "2.16", Doc: "requests of a batch that came as bulk data", Fields: []*Field{
	Records("requests", func(v *View) (*Field, int) {
		f, n := nextUpdates(v)
		if f != nil {
			f = formBatch
		}
		return f, n
	}, []*Field{formBatch}),
}}

var batchUpdateReply = &Struct{Name: "batch_update_reply", Since: "2.16", Doc: "answers to the requests of a batch", Fields: []*Field{
	U32("burp_magic", &BatchMagic),
	U16("burp_count", Harmless, "number of answers"),
	Pad("burp_padding", 2),
	Subs("burp_repmsg", -1, &LustreMsg, If(never), "the answers; shown as `messages`"),
	Records("messages", nextBatched, []*Field{batched}, "the answers, each a message with buffers of its own"),
}}

var (
	bufButUpdateHeader  = Sub("but_update_header", &butUpdateHeader)
	bufButUpdateBuffer  = Subs("but_update_buffer", -1, &butUpdateBuffer)
	bufBatchUpdateReply = Sub("batch_update_reply", &batchUpdateReply)
)

var _ = DefineRPC(&RPC{Opcode: MDS_BATCH, Name: "MDS_BATCH", Since: "2.16",
	Doc: "Carries several requests of the same kind in one message: the attributes of the files that a client " +
		"expects to need next (statahead). Each request has buffers of its own, and so has each answer.",
	Variants: []*Variant{
		{Name: "inline",
			Request:          Bufs(bufPtlrpcBody, bufButUpdateHeader, bufButUpdateBuffer),
			Reply:            Bufs(bufPtlrpcBody, bufBatchUpdateReply),
			SummarizeRequest: summarizeBatchRequest, SummarizeReply: summarizeBatchReply, InnerError: batchError, Subject: batchSubject,
		},
		{Name: "bulk",
			Request:          Bufs(bufPtlrpcBody, bufButUpdateHeader, bufButUpdateBuffer),
			Reply:            Bufs(bufPtlrpcBody, bufBatchUpdateReply),
			Bulk:             &BulkData{Portal: portalMDSBulk, Get: true, Type: batchBulk},
			SummarizeRequest: summarizeBatchRequest, SummarizeReply: summarizeBatchReply, InnerError: batchError,
		},
		{Name: "BUT_GETATTR",
			Request:          Bufs(bufDlmReq, bufLdlmIntent, bufMdtBody, bufCapa1, bufName, bufFileSecctxName),
			Reply:            Bufs(bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufFileSecctx, bufDefaultMdtMd, bufFileEncctx),
			SummarizeRequest: NoSummary, SummarizeReply: NoSummary, Subject: NoSubject, // one of many
		},
	},
	Pick: func(m *Msg) *Variant {
		if buhInline.Uint(m.Buf(1), m.Big) == 0 {
			return m.RPC.Variants[1]
		}
		return m.RPC.Variants[0]
	},
	PickBytes: []int{butUpdateHeader.Resolve().Field("buh_inline_length").Off + buhInline.Size},
	Common: &Variant{
		Request: Bufs(bufPtlrpcBody, bufButUpdateHeader, bufButUpdateBuffer),
		Reply:   Bufs(bufPtlrpcBody, bufBatchUpdateReply),
	},
	PickReply: func(m *Msg) *Variant { return m.RPC.Variants[0] },
	Sub:       func(m *Msg) *Variant { return m.RPC.Variants[2] },
	Context:   true,
})

var buhUpdateCount = butUpdateHeader.Field("buh_update_count")

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
	if len(b) < batchData || buhInline.Uint(b, m.Big) == 0 {
		return nil, nil
	}
	b = b[batchData:]
	return messageBuffer(b, batchedBody, m.Big), TrimNUL(messageBuffer(b, batchedName, m.Big))
}

// messageBuffer is buffer i of the lustre_msg at b, nil when it is not all
// there.
func messageBuffer(b []byte, i int, big bool) []byte {
	at := bufferAt(b, i, big)
	if i >= messageBuffers(b, big) || at > len(b) {
		return nil
	}
	if size := int(min(ReadUint(b[lustreMsgFixed+4*i:lustreMsgFixed+4*i+4], big), 1<<20)); at+size <= len(b) {
		return b[at : at+size]
	}
	return nil
}

const lustreMsgFixed = 32 // bytes before the lengths of the buffers

// messageBuffers is the number of buffers of the lustre_msg at b, at most 16.
func messageBuffers(b []byte, big bool) int { return int(min(ReadUint(first4(b), big), 16)) }

// bufferAt is the offset of buffer i of the lustre_msg at b; that of the one behind the last
// is the size of the message.
func bufferAt(b []byte, i int, big bool) int {
	at := pad8(lustreMsgFixed + 4*messageBuffers(b, big))
	for length := lustreMsgFixed; i > 0 && length+4 <= len(b); i, length = i-1, length+4 {
		at += pad8(int(min(ReadUint(b[length:length+4], big), 1<<20)))
	}
	return at
}

// summarizeBatchRequest: how many requests, what the first is about, and for bulk data in
// how many buffers.
func summarizeBatchRequest(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < butUpdateHeader.Size {
		return
	}
	l.Count(buhUpdateCount.Uint(b, m.Big), "request")
	if fid, name := batchSubject(m); len(fid) >= 16 {
		l.Key("from ").FID(fid, m.Big)
		l.Key("").Label(Name, name)
	}
	if buhInline.Uint(b, m.Big) == 0 {
		l.Key("in ").Count(butUpdateHeader.Field("buh_count").Uint(b, m.Big), "bulk buffer")
	}
}

// batchError returns the error of the first sub-request that failed.
func batchError(m *Msg) int32 {
	_, rc := failedInBatch(m)
	return rc
}

// failedInBatch returns the index and the error of the first sub-request that
// failed: as a whole, or the operation of its intent.
func failedInBatch(m *Msg) (index int, rc int32) {
	b := m.Buf(1)
	if len(b) < batchUpdateReply.Size {
		return 0, 0
	}
	count := int(batchCount.Uint(b, m.Big))
	b = b[batchUpdateReply.Size:]
	for i := 0; i < count && len(b) >= LustreMsg.Size; i++ {
		if rc = int32(lmOpc.Uint(b, m.Big)); rc == 0 {
			rc = intentResult(messageBuffer(b, 0, m.Big), m.Big)
		}
		if rc < 0 {
			return i, rc
		}
		b = b[min(len(b), bufferAt(b, messageBuffers(b, m.Big), m.Big)):]
	}
	return 0, 0
}

// summarizeBatchReply: the first sub-request that failed, and how many requests were
// answered. After an error the count leaves out the one that failed.
func summarizeBatchReply(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < batchUpdateReply.Size {
		return
	}
	if n := batchCount.Uint(b, m.Big); n > 0 || m.Status >= 0 {
		l.Key("").Count(n, "answer")
		if i, rc := failedInBatch(m); rc < 0 && rc != m.Status {
			l.Key("request ").Num(uint64(i))
			l.Key("").Errno(rc)
		}
	}
}

// BatchSize returns the number of requests in an MDS_BATCH.
func BatchSize(m *Msg) int64 {
	if b := m.Buf(1); len(b) >= butUpdateHeader.Size {
		return int64(buhUpdateCount.Uint(b, m.Big))
	}
	return 1
}
