package opcodes

var rpcSecCtxInit = &RPC{Opcode: SEC_CTX_INIT, Name: "SEC_CTX_INIT", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcSecCtxInitCont = &RPC{Opcode: SEC_CTX_INIT_CONT, Name: "SEC_CTX_INIT_CONT", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcSecCtxFini = &RPC{Opcode: SEC_CTX_FINI, Name: "SEC_CTX_FINI", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}
