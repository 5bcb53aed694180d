package opcodes

var rpcLlogOriginHandleCreate = &RPC{Opcode: LLOG_ORIGIN_HANDLE_CREATE, Name: "LLOG_ORIGIN_HANDLE_CREATE", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufLlogdBody, bufName, bufMdtBody),
		Reply:   Bufs(bufPtlrpcBody, bufLlogdBody),
	},
}}

var rpcLlogOriginHandleNextBlock = &RPC{Opcode: LLOG_ORIGIN_HANDLE_NEXT_BLOCK, Name: "LLOG_ORIGIN_HANDLE_NEXT_BLOCK", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufLlogdBody),
		Reply:   Bufs(bufPtlrpcBody, bufLlogdBody, bufEadata5),
	},
}}

var rpcLlogOriginHandleReadHeader = &RPC{Opcode: LLOG_ORIGIN_HANDLE_READ_HEADER, Name: "LLOG_ORIGIN_HANDLE_READ_HEADER", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufLlogdBody),
		Reply:   Bufs(bufPtlrpcBody, bufLlogLogHdr),
	},
}}

var rpcLlogOriginHandlePrevBlock = &RPC{Opcode: LLOG_ORIGIN_HANDLE_PREV_BLOCK, Name: "LLOG_ORIGIN_HANDLE_PREV_BLOCK", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufLlogdBody),
		Reply:   Bufs(bufPtlrpcBody, bufLlogdBody, bufEadata5),
	},
}}

var rpcLlogOriginHandleDestroy = &RPC{Opcode: LLOG_ORIGIN_HANDLE_DESTROY, Name: "LLOG_ORIGIN_HANDLE_DESTROY", Retired: true}
