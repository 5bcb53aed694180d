package opcodes

var rpcMdsBatch = &RPC{Opcode: MDS_BATCH, Name: "MDS_BATCH", Variants: []*Variant{
	{Name: "inline",
		Request: Bufs(bufPtlrpcBody, bufButUpdateHeader, bufButUpdateBuffer),
		Reply:   Bufs(bufPtlrpcBody, bufBatchUpdateReply),
	},
	{Name: "bulk",
		Request: Bufs(bufPtlrpcBody, bufButUpdateHeader, bufButUpdateBuffer),
		Reply:   Bufs(bufPtlrpcBody, bufBatchUpdateReply),
		// bulk: server GETs buh_count buffers, each struct batch_update_request of bub_size bytes, from MDS_BULK_PORTAL(14)
	},
	{Name: "sub:BUT_GETATTR",
		Request: Bufs(bufDlmReq, bufLdlmIntent, bufMdtBody, bufCapa1, bufName, bufFileSecctxName),
		Reply:   Bufs(bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufFileSecctx, bufDefaultMdtMd, bufFileEncctx),
	},
}}

var rpcOutUpdate = &RPC{Opcode: OUT_UPDATE, Name: "OUT_UPDATE", Variants: []*Variant{
	{Name: "inline",
		Request: Bufs(bufPtlrpcBody, bufOutUpdateHeader, bufOutUpdateBuffer),
		Reply:   Bufs(bufPtlrpcBody, bufObjectUpdateReply),
	},
	{Name: "bulk",
		Request: Bufs(bufPtlrpcBody, bufOutUpdateHeader, bufOutUpdateBuffer),
		Reply:   Bufs(bufPtlrpcBody, bufObjectUpdateReply),
		// bulk: server GETs ouh_count buffers, each struct object_update_request of oub_size bytes, from MDS_BULK_PORTAL(14)
	},
	{Name: "read(OUT_READ)",
		Request: Bufs(bufPtlrpcBody, bufOutUpdateHeader, bufOutUpdateBuffer),
		Reply:   Bufs(bufPtlrpcBody, bufObjectUpdateReply),
		// bulk: server PUTs the data read by OUT_READ to MDS_BULK_PORTAL(14); the reply has only out_read_reply
	},
}}
