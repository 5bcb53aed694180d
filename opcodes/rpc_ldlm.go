package opcodes

var rpcLdlmEnqueue = &RPC{Opcode: LDLM_ENQUEUE, Name: "LDLM_ENQUEUE", Variants: []*Variant{
	{Name: "extent",
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvb),
	},
	{Name: "glimpse(OST)",
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvb),
	},
	{Name: "flock",
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvb2),
	},
	{Name: "ibits-plain",
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvb),
	},
	{Name: "plain(MGS config)",
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvb2),
	},
	{Name: "intent:IT_OPEN",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintMdtRecCreate, bufCapa1, bufCapa2, bufName, bufEadata3, bufFileSecctxName, bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2, bufNiobufInline, bufFileSecctx, bufFileEncctx, bufDefaultMdtMd),
	},
	{Name: "intent:IT_OPEN|IT_CREAT",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintMdtRecCreate, bufCapa1, bufCapa2, bufName, bufEadata3, bufFileSecctxName, bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2, bufNiobufInline, bufFileSecctx, bufFileEncctx, bufDefaultMdtMd),
	},
	{Name: "intent:IT_CREAT(REINT_CREATE)",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintMdtRecCreate, bufCapa1, bufName, bufEadata3, bufFileSecctxName, bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufFileSecctx, bufDefaultMdtMd, bufFileEncctx),
	},
	{Name: "intent:IT_GETATTR",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufMdtBody, bufCapa1, bufName, bufFileSecctxName),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufFileSecctx, bufDefaultMdtMd, bufFileEncctx),
	},
	{Name: "intent:IT_LOOKUP",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufMdtBody, bufCapa1, bufName, bufFileSecctxName),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufFileSecctx, bufDefaultMdtMd, bufFileEncctx),
	},
	{Name: "intent:IT_GETXATTR",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufMdtBody, bufCapa1, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufEadata4, bufEavals, bufEavalsLens),
	},
	{Name: "intent:IT_LAYOUT",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufLayoutIntent, bufEadataLovCompMdV1),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvb3),
	},
	{Name: "intent:IT_GLIMPSE",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintMdtRecReint),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl),
	},
	{Name: "intent:IT_BRW",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintMdtRecReint),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl),
	},
	{Name: "intent:IT_QUOTA_DQACQ",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufQuotaBody),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvbLquotaLvb, bufQuotaBody),
	},
	{Name: "intent:IT_QUOTA_CONN",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufQuotaBody),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvbLquotaLvb, bufQuotaBody),
	},
}}

var rpcLdlmConvert = &RPC{Opcode: LDLM_CONVERT, Name: "LDLM_CONVERT", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep),
	},
}}

var rpcLdlmCancel = &RPC{Opcode: LDLM_CANCEL, Name: "LDLM_CANCEL", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcLdlmBlCallback = &RPC{Opcode: LDLM_BL_CALLBACK, Name: "LDLM_BL_CALLBACK", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcLdlmCpCallback = &RPC{Opcode: LDLM_CP_CALLBACK, Name: "LDLM_CP_CALLBACK", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufDlmLvb2),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcLdlmGlCallback = &RPC{Opcode: LDLM_GL_CALLBACK, Name: "LDLM_GL_CALLBACK", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmLvb),
	},
	{Name: "desc:quota",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufDlmGlDesc),
		Reply:   Bufs(bufPtlrpcBody, bufDlmLvbLquotaLvb),
	},
	{Name: "desc:barrier",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufDlmGlDescLdlmGlBarrierDesc),
		Reply:   Bufs(bufPtlrpcBody, bufDlmLvbBarrierLvb),
	},
}}

var rpcLdlmSetInfo = &RPC{Opcode: LDLM_SET_INFO, Name: "LDLM_SET_INFO", Variants: []*Variant{
	{Name: "hsm_send",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufSetinfoValKucHdr),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}
