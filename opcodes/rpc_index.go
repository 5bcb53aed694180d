package opcodes

var rpcObdIdxRead = &RPC{Opcode: OBD_IDX_READ, Name: "OBD_IDX_READ", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufIdxInfo),
		Reply:   Bufs(bufPtlrpcBody, bufIdxInfo),
		// bulk: server PUTs lu_idxpage pages (4096 each, ii_count of them) to MDS_BULK_PORTAL(14)
	},
}}
