package opcodes

var rpcMdsHsmStateGet = &RPC{Opcode: MDS_HSM_STATE_GET, Name: "MDS_HSM_STATE_GET", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufHsmUserState),
	},
}}

var rpcMdsHsmStateSet = &RPC{Opcode: MDS_HSM_STATE_SET, Name: "MDS_HSM_STATE_SET", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, bufHsmStateSet),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcMdsHsmAction = &RPC{Opcode: MDS_HSM_ACTION, Name: "MDS_HSM_ACTION", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufHsmCurrentAction),
	},
}}

var rpcMdsHsmProgress = &RPC{Opcode: MDS_HSM_PROGRESS, Name: "MDS_HSM_PROGRESS", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufHsmProgress),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcMdsHsmRequest = &RPC{Opcode: MDS_HSM_REQUEST, Name: "MDS_HSM_REQUEST", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufHsmRequest, bufHsmUserItem, bufGenericData),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcMdsHsmCtRegister = &RPC{Opcode: MDS_HSM_CT_REGISTER, Name: "MDS_HSM_CT_REGISTER", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufHsmArchive),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcMdsHsmCtUnregister = &RPC{Opcode: MDS_HSM_CT_UNREGISTER, Name: "MDS_HSM_CT_UNREGISTER", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}

var rpcMdsHsmDataVersion = &RPC{Opcode: MDS_HSM_DATA_VERSION, Name: "MDS_HSM_DATA_VERSION", Variants: []*Variant{
	{
		Request: Bufs(bufPtlrpcBody, bufMdtBody),
		Reply:   Bufs(bufPtlrpcBody),
	},
}}
