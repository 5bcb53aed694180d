package opcodes

var rpcMgsException = &RPC{Opcode: MGS_EXCEPTION, Name: "MGS_EXCEPTION", Retired: true}

var rpcMgsTargetDel = &RPC{Opcode: MGS_TARGET_DEL, Name: "MGS_TARGET_DEL", Retired: true}

var rpcMgsTargetReg = &RPC{Opcode: MGS_TARGET_REG, Name: "MGS_TARGET_REG", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMgsTargetInfo),
		Reply:   Bufs(bufPtlrpcBody, bufMgsTargetInfo),
	},
	{Name: "nidlist",
		Request: Bufs(bufPtlrpcBody, bufMgsTargetInfo, bufMgsTargetNidlist),
		Reply:   Bufs(bufPtlrpcBody, bufMgsTargetInfo),
		// bulk: only with NIDLIST_IN_BULK: MGS GETs mtn_nids*64 bytes of NID strings from MGS_BULK_PORTAL(33)
	},
}}

var rpcMgsSetInfo = &RPC{Opcode: MGS_SET_INFO, Name: "MGS_SET_INFO", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMgsSendParam),
		Reply:   Bufs(bufPtlrpcBody, bufMgsSendParam),
	},
}}

var rpcMgsConfigRead = &RPC{Opcode: MGS_CONFIG_READ, Name: "MGS_CONFIG_READ", Variants: []*Variant{
	{Name: "recover",
		Request: Bufs(bufPtlrpcBody, bufMgsConfigBody),
		Reply:   Bufs(bufPtlrpcBody, bufMgsConfigRes),
		// bulk: server PUTs a sequence of struct mgs_nidtbl_entry (imperative recovery table) to MGS_BULK_PORTAL(33)
	},
	{Name: "nodemap",
		Request: Bufs(bufPtlrpcBody, bufMgsConfigBody),
		Reply:   Bufs(bufPtlrpcBody, bufMgsConfigRes),
		// bulk: server PUTs lu_idxpage pages with nodemap_key/nodemap_rec pairs to MGS_BULK_PORTAL(33)
	},
}}
