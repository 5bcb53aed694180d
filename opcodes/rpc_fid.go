package opcodes

var rpcSeqQuery = &RPC{Opcode: SEQ_QUERY, Name: "SEQ_QUERY", Variants: []*Variant{
	{Name: "super",
		Request: Bufs(bufPtlrpcBody, bufSeqOpc, bufSeqRange),
		Reply:   Bufs(bufPtlrpcBody, bufSeqRange),
	},
	{Name: "meta",
		Request: Bufs(bufPtlrpcBody, bufSeqOpc, bufSeqRange),
		Reply:   Bufs(bufPtlrpcBody, bufSeqRange),
	},
}}

var rpcFldQuery = &RPC{Opcode: FLD_QUERY, Name: "FLD_QUERY", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufFldOpc, bufFldRange),
		Reply:   Bufs(bufPtlrpcBody, bufFldRange),
	},
}}

var rpcFldRead = &RPC{Opcode: FLD_READ, Name: "FLD_READ", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufFldRange),
		Reply:   Bufs(bufPtlrpcBody, bufGenericDataLuSeqRangeArray),
	},
}}
