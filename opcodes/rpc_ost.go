package opcodes

var rpcOstReply = &RPC{Opcode: OST_REPLY, Name: "OST_REPLY", Retired: true}

var rpcOstGetattr = &RPC{Opcode: OST_GETATTR, Name: "OST_GETATTR", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
	},
}}

var rpcOstSetattr = &RPC{Opcode: OST_SETATTR, Name: "OST_SETATTR", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
	},
}}

var rpcOstRead = &RPC{Opcode: OST_READ, Name: "OST_READ", Variants: []*Variant{
	{Name: "bulk",
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufObdIoobj, bufNiobufRemote, bufCapa1, bufShortIo),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody, bufShortIo),
		// bulk: server PUTs file data to OST_BULK_PORTAL(8) of the client, match bits from pb_mbits (or xid); one PUT per 1 MiB
	},
	{Name: "short-io",
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufObdIoobj, bufNiobufRemote, bufCapa1, bufShortIo),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody, bufShortIo),
	},
}}

var rpcOstWrite = &RPC{Opcode: OST_WRITE, Name: "OST_WRITE", Variants: []*Variant{
	{Name: "bulk",
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufObdIoobj, bufNiobufRemote, bufCapa1, bufShortIo),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody, bufRcs),
		// bulk: server GETs file data from OST_BULK_PORTAL(8) of the client, match bits from pb_mbits (or xid)
	},
	{Name: "short-io",
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufObdIoobj, bufNiobufRemote, bufCapa1, bufShortIo),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody, bufRcs),
	},
}}

var rpcOstCreate = &RPC{Opcode: OST_CREATE, Name: "OST_CREATE", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufOstBody),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
	},
}}

var rpcOstDestroy = &RPC{Opcode: OST_DESTROY, Name: "OST_DESTROY", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufDlmReq, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
	},
}}

var rpcOstGetInfo = &RPC{Opcode: OST_GET_INFO, Name: "OST_GET_INFO", Variants: []*Variant{
	{Name: "last_id",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKey),
		Reply:   Bufs(bufPtlrpcBody, bufLastId),
	},
	{Name: "last_fid",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKey, bufFid),
		Reply:   Bufs(bufPtlrpcBody, bufFid),
	},
	{Name: "fiemap",
		Request: Bufs(bufPtlrpcBody, bufFiemapKey, bufFiemap),
		Reply:   Bufs(bufPtlrpcBody, bufFiemap),
	},
	{Name: "fid2path",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKeyGetinfoFid2path, bufGetinfoVallen),
		Reply:   Bufs(bufPtlrpcBody, bufGetinfoVal),
	},
	{Name: "other",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKey),
		Reply:   Bufs(bufPtlrpcBody, bufGenericData),
	},
}}

var rpcOstPunch = &RPC{Opcode: OST_PUNCH, Name: "OST_PUNCH", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
	},
}}

var rpcOstOpen = &RPC{Opcode: OST_OPEN, Name: "OST_OPEN", Retired: true}

var rpcOstClose = &RPC{Opcode: OST_CLOSE, Name: "OST_CLOSE", Retired: true}

var rpcOstSync = &RPC{Opcode: OST_SYNC, Name: "OST_SYNC", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
	},
}}

var rpcOstSetInfo = &RPC{Opcode: OST_SET_INFO, Name: "OST_SET_INFO", Variants: []*Variant{
	{Name: "grant_shrink",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufOstBody),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
	},
	{Name: "other",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufSetinfoVal),
		Reply:   Bufs(bufPtlrpcBody),
	},
	{Name: "last_fid",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufSetinfoVal),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcOstQuotacheck = &RPC{Opcode: OST_QUOTACHECK, Name: "OST_QUOTACHECK", Retired: true}

var rpcOstQuotactl = &RPC{Opcode: OST_QUOTACTL, Name: "OST_QUOTACTL", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufObdQuotactl),
		Reply:   Bufs(bufPtlrpcBody, bufObdQuotactl, bufQuotaIter),
	},
}}

var rpcOstQuotaAdjustQunit = &RPC{Opcode: OST_QUOTA_ADJUST_QUNIT, Name: "OST_QUOTA_ADJUST_QUNIT", Retired: true}

var rpcOstLadvise = &RPC{Opcode: OST_LADVISE, Name: "OST_LADVISE", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufLadviseHdr, bufLadvise),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
	},
}}

var rpcOstFallocate = &RPC{Opcode: OST_FALLOCATE, Name: "OST_FALLOCATE", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
	},
}}

var rpcOstSeek = &RPC{Opcode: OST_SEEK, Name: "OST_SEEK", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufOstBody),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
	},
}}
