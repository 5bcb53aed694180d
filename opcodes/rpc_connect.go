package opcodes

var rpcOstConnect = &RPC{Opcode: OST_CONNECT, Name: "OST_CONNECT", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufTargetUuid, bufClientUuid, bufConn, bufConnectData, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufConnectData),
	},
}}

var rpcOstDisconnect = &RPC{Opcode: OST_DISCONNECT, Name: "OST_DISCONNECT", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcOstStatfs = &RPC{Opcode: OST_STATFS, Name: "OST_STATFS", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody, bufObdStatfs),
	},
}}

var rpcMdsConnect = &RPC{Opcode: MDS_CONNECT, Name: "MDS_CONNECT", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufTargetUuid, bufClientUuid, bufConn, bufConnectData, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufConnectData),
	},
}}

var rpcMdsDisconnect = &RPC{Opcode: MDS_DISCONNECT, Name: "MDS_DISCONNECT", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcMdsGetRoot = &RPC{Opcode: MDS_GET_ROOT, Name: "MDS_GET_ROOT", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufName),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
	},
}}

var rpcMdsStatfs = &RPC{Opcode: MDS_STATFS, Name: "MDS_STATFS", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody, bufObdStatfs),
	},
	{Name: "aggregate",
		Request: Bufs(bufPtlrpcBody, bufMdtBody),
		Reply:   Bufs(bufPtlrpcBody, bufObdStatfs),
	},
}}

var rpcMgsConnect = &RPC{Opcode: MGS_CONNECT, Name: "MGS_CONNECT", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufTargetUuid, bufClientUuid, bufConn, bufConnectData, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufConnectData),
	},
}}

var rpcMgsDisconnect = &RPC{Opcode: MGS_DISCONNECT, Name: "MGS_DISCONNECT", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcObdPing = &RPC{Opcode: OBD_PING, Name: "OBD_PING", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
	{Name: "final(recovery)",
		Request: Bufs(bufPtlrpcBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}
