package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// The structs that stand on their own on the wire, for those who take the
// transport and the message headers apart.
var (
	LNetHdr4  = lnetHdrNid4
	LNetHdr16 = lnetHdrNid16
	PingInfo  = lnetPingInfo

	ConnreqV1 = lnetAcceptorConnreq
	ConnreqV2 = lnetAcceptorConnreqV2
	HelloV1   = ksockHelloV1
	HelloV2   = ksockHelloMsgNid4 // and version 3
	HelloV4   = ksockHelloMsg
	KsockHdr  = ksockMsgHdr

	SelftestMsg = srpcMsg

	LustreMsg    = lustreMsgV2
	PtlrpcBody   = ptlrpcBodyV3
	PtlrpcBodyV2 = ptlrpcBodyV2

	GSSHeader    = gssHeader
	GSSRepHeader = gssRepHeader
	GSSErrHeader = gssErrHeader
	GSSInit      = gssCtxInitPayload
	PlainHeader  = plainHeader
	UserDesc     = ptlrpcUserDesc
	BulkSecDesc  = ptlrpcBulkSecDesc
	Krb5Header   = krb5Header
	SKHeader     = skHdr
)

// The fields of lustre_msg_v2.
var (
	LmBufcount = lustreMsgV2.Field("lm_bufcount")
	LmSecflvr  = lustreMsgV2.Field("lm_secflvr")
	LmMagic    = lustreMsgV2.Field("lm_magic")
	LmRepsize  = lustreMsgV2.Field("lm_repsize")
	LmCksum    = lustreMsgV2.Field("lm_cksum")
	LmFlags    = lustreMsgV2.Field("lm_flags")
	LmOpc      = lustreMsgV2.Field("lm_opc")
	LmBuflens  = lustreMsgV2.Field("lm_buflens")
)

// The fields of ptlrpc_body. Version 2 has them in the same places, all but the
// job id.
var (
	PbHandle        = ptlrpcBodyV3.Field("pb_handle")
	PbType          = ptlrpcBodyV3.Field("pb_type")
	PbVersion       = ptlrpcBodyV3.Field("pb_version")
	PbOpc           = ptlrpcBodyV3.Field("pb_opc")
	PbStatus        = ptlrpcBodyV3.Field("pb_status")
	PbLastXid       = ptlrpcBodyV3.Field("pb_last_xid")
	PbTag           = ptlrpcBodyV3.Field("pb_tag")
	PbProjid        = ptlrpcBodyV3.Field("pb_projid")
	PbLastCommitted = ptlrpcBodyV3.Field("pb_last_committed")
	PbTransno       = ptlrpcBodyV3.Field("pb_transno")
	PbFlags         = ptlrpcBodyV3.Field("pb_flags")
	PbOpFlags       = ptlrpcBodyV3.Field("pb_op_flags")
	PbConnCnt       = ptlrpcBodyV3.Field("pb_conn_cnt")
	PbTimeout       = ptlrpcBodyV3.Field("pb_timeout")
	PbServiceTime   = ptlrpcBodyV3.Field("pb_service_time")
	PbLimit         = ptlrpcBodyV3.Field("pb_limit")
	PbSlv           = ptlrpcBodyV3.Field("pb_slv")
	PbPreVersions   = ptlrpcBodyV3.Field("pb_pre_versions")
	PbMbits         = ptlrpcBodyV3.Field("pb_mbits")
	PbUid           = ptlrpcBodyV3.Field("pb_uid")
	PbGid           = ptlrpcBodyV3.Field("pb_gid")
	PbJobid         = ptlrpcBodyV3.Field("pb_jobid")
)

// IsSelftest says whether b begins with the magic of LNet selftest, in either
// byte order.
func IsSelftest(b []byte) bool {
	const magic = 0xeeb0f00d
	return len(b) >= 4 && (ReadUint(b[:4], false) == magic || ReadUint(b[:4], true) == magic)
}
