package opcodes

var rpcMdsGetattr = &RPC{Opcode: MDS_GETATTR, Name: "MDS_GETATTR", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2, bufFileEncctx),
	},
}}

var rpcMdsGetattrName = &RPC{Opcode: MDS_GETATTR_NAME, Name: "MDS_GETATTR_NAME", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, bufName),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2, bufFileEncctx),
	},
}}

var rpcMdsClose = &RPC{Opcode: MDS_CLOSE, Name: "MDS_CLOSE", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtIoepoch, bufRecReint, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2),
	},
	{Name: "intent:hsm_release",
		Request: Bufs(bufPtlrpcBody, bufMdtIoepoch, bufRecReint, bufCapa1, bufCloseData, bufU32Array),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2),
	},
	{Name: "intent:layout_swap",
		Request: Bufs(bufPtlrpcBody, bufMdtIoepoch, bufRecReint, bufCapa1, bufCloseData, bufU32Array),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2),
	},
	{Name: "intent:layout_merge",
		Request: Bufs(bufPtlrpcBody, bufMdtIoepoch, bufRecReint, bufCapa1, bufCloseData, bufU32Array),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2),
	},
	{Name: "intent:layout_split",
		Request: Bufs(bufPtlrpcBody, bufMdtIoepoch, bufRecReint, bufCapa1, bufCloseData, bufU32Array),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2),
	},
	{Name: "intent:resync_done",
		Request: Bufs(bufPtlrpcBody, bufMdtIoepoch, bufRecReint, bufCapa1, bufCloseData, bufU32Array),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2),
	},
}}

var rpcMdsReadpage = &RPC{Opcode: MDS_READPAGE, Name: "MDS_READPAGE", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody),
		// bulk: server PUTs lu_dirpage pages (4096 each) to MDS_BULK_PORTAL(14); mdt_body: mbo_size=start hash, mbo_nlink=bytes wanted
	},
}}

var rpcMdsPin = &RPC{Opcode: MDS_PIN, Name: "MDS_PIN", Retired: true}

var rpcMdsUnpin = &RPC{Opcode: MDS_UNPIN, Name: "MDS_UNPIN", Retired: true}

var rpcMdsSync = &RPC{Opcode: MDS_SYNC, Name: "MDS_SYNC", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody),
	},
}}

var rpcMdsDoneWriting = &RPC{Opcode: MDS_DONE_WRITING, Name: "MDS_DONE_WRITING", Retired: true}

var rpcMdsSetInfo = &RPC{Opcode: MDS_SET_INFO, Name: "MDS_SET_INFO", Variants: []*Variant{
	{Name: "changelog_clear",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufSetinfoValChangelogSetinfo, bufMdtBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
	{Name: "other",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufSetinfoVal2),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcMdsQuotacheck = &RPC{Opcode: MDS_QUOTACHECK, Name: "MDS_QUOTACHECK", Retired: true}

var rpcMdsQuotactl = &RPC{Opcode: MDS_QUOTACTL, Name: "MDS_QUOTACTL", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufObdQuotactl),
		Reply:   Bufs(bufPtlrpcBody, bufObdQuotactl, bufQuotaIter),
	},
}}

var rpcMdsGetxattr = &RPC{Opcode: MDS_GETXATTR, Name: "MDS_GETXATTR", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, bufName, bufEadata4, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufEadata4),
	},
}}

var rpcMdsSetxattr = &RPC{Opcode: MDS_SETXATTR, Name: "MDS_SETXATTR", Retired: true}

var rpcMdsWritepage = &RPC{Opcode: MDS_WRITEPAGE, Name: "MDS_WRITEPAGE", Retired: true}

var rpcMdsIsSubdir = &RPC{Opcode: MDS_IS_SUBDIR, Name: "MDS_IS_SUBDIR", Retired: true}

var rpcMdsGetInfo = &RPC{Opcode: MDS_GET_INFO, Name: "MDS_GET_INFO", Variants: []*Variant{
	{Name: "fid2path",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKeyGetinfoFid2path, bufGetinfoVallen),
		Reply:   Bufs(bufPtlrpcBody, bufGetinfoVal),
	},
	{Name: "fiemap",
		Request: Bufs(bufPtlrpcBody, bufFiemapKey, bufFiemap),
		Reply:   Bufs(bufPtlrpcBody, bufFiemap),
	},
	{Name: "changelog_user",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKey, bufGetinfoValChangelogFilter),
		Reply:   Bufs(bufPtlrpcBody, bufGetinfoValChangelogFilter),
	},
}}

var rpcMdsSwapLayouts = &RPC{Opcode: MDS_SWAP_LAYOUTS, Name: "MDS_SWAP_LAYOUTS", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufSwapLayouts, bufCapa1, bufCapa2, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcMdsRmfid = &RPC{Opcode: MDS_RMFID, Name: "MDS_RMFID", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufFidArray, bufCapa1, bufCapa2),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufFidArray, bufRcs),
	},
}}
