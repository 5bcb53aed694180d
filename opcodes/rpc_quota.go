package opcodes

var rpcQuotaDqacq = &RPC{Opcode: QUOTA_DQACQ, Name: "QUOTA_DQACQ", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufQuotaBody),
		Reply:   Bufs(bufPtlrpcBody, bufQuotaBody),
	},
}}

var rpcQuotaDqrel = &RPC{Opcode: QUOTA_DQREL, Name: "QUOTA_DQREL", Retired: true}
