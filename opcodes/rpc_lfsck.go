package opcodes

var rpcLfsckNotify = &RPC{Opcode: LFSCK_NOTIFY, Name: "LFSCK_NOTIFY", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufLfsckRequest),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcLfsckQuery = &RPC{Opcode: LFSCK_QUERY, Name: "LFSCK_QUERY", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufLfsckRequest),
		Reply:   Bufs(bufPtlrpcBody, bufLfsckReply),
	},
}}
