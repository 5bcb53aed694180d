package opcodes

// obdUuid is struct obd_uuid.
var obdUuid = Define("obd_uuid",
	UUID,
	Str("uuid", 40),
)

// lustreHandle is struct lustre_handle.
var lustreHandle = Define("lustre_handle",
	Handle,
	U64("cookie"),
)

// lustreMsgV2 is struct lustre_msg_v2.
var lustreMsgV2 = Define("lustre_msg_v2",
	U32("lm_bufcount", "number of buffers"),
	U32("lm_secflvr", "security flavour; bits 24-31 hold the sender part with null policy"),
	U32("lm_magic", "0x0BD00BD3; swapped value means other byte order"),
	U32("lm_repsize", "reply buffer size offered by client; 0 when not given"),
	U32("lm_cksum", "CRC32 of buffer 0 (null) or buffer 1 (plain) in early replies only"),
	U32("lm_flags", "MSGHDR_*"),
	U32("lm_opc", Since("2.16"), "sub-request opcode, or sub-reply result, inside MDS_BATCH; else 0; named lm_padding_2 through 2.15"),
	Pad("lm_padding_3", 4),
	Arr("lm_buflens", -1, U32(""), "unpadded length of each buffer"),
)

// ptlrpcBodyV3 is struct ptlrpc_body_v3.
var ptlrpcBodyV3 = Define("ptlrpc_body_v3",
	Sub("pb_handle", lustreHandle, "request: export handle given by server (0 in first connect); reply to connect: new export handle"),
	U32("pb_type", "PTL_RPC_MSG_*"),
	U32("pb_version", "service version in the high half, 3 in the low half"),
	U32("pb_opc", "opcode; same in reply"),
	U32("pb_status", "reply: 0, negative errno (asm-generic numbers), positive for some; request: process id of the sender"),
	U64("pb_last_xid", "request: highest xid with all lower xids answered"),
	U16("pb_tag", "request: slot of modifying RPC, 0 = none"),
	Pad("pb_padding0", 2),
	U32("pb_projid", Since("2.17"), "valid with MSG_PACK_PROJID; named pb_padding1 through 2.16"),
	U64("pb_last_committed", "reply: highest committed transno"),
	U64("pb_transno", "reply: transno of this change; request: only in replay"),
	U32("pb_flags", "MSG_*"),
	U32("pb_op_flags", "MSG_CONNECT_* on connect opcodes"),
	U32("pb_conn_cnt", "connection era of the client"),
	U32("pb_timeout", "request: seconds the client waits; reply: service estimate"),
	U32("pb_service_time", "reply: seconds spent; connect request: client service estimate"),
	U32("pb_limit", "reply: lock LRU limit"),
	U64("pb_slv", "reply: server lock volume"),
	Arr("pb_pre_versions", 4, U64(""), "reply: versions before the change (VBR), up to 4; request in replay"),
	U64("pb_mbits", "request: last match bits of bulk, and reply match bits with OBD_CONNECT2_REP_MBITS"),
	Pad("pb_padding64_0", 8),
	Pad("pb_padding64_1", 8),
	U32("pb_uid", Since("2.16"), "valid with MSG_PACK_UID_GID"),
	U32("pb_gid", Since("2.16"), "valid with MSG_PACK_UID_GID"),
	Str("pb_jobid", 32, "NUL-padded text"),
)

// ptlrpcBodyV2 is struct ptlrpc_body_v2.
var ptlrpcBodyV2 = Define("ptlrpc_body_v2",
	Sub("pb_handle", lustreHandle, "request: export handle given by server (0 in first connect); reply to connect: new export handle"),
	U32("pb_type", "PTL_RPC_MSG_*"),
	U32("pb_version", "service version in the high half, 3 in the low half"),
	U32("pb_opc", "opcode; same in reply"),
	U32("pb_status", "reply: 0, negative errno (asm-generic numbers), positive for some; request: process id of the sender"),
	U64("pb_last_xid", "request: highest xid with all lower xids answered"),
	U16("pb_tag", "request: slot of modifying RPC, 0 = none"),
	Pad("pb_padding0", 2),
	U32("pb_projid", Since("2.17"), "valid with MSG_PACK_PROJID; named pb_padding1 through 2.16"),
	U64("pb_last_committed", "reply: highest committed transno"),
	U64("pb_transno", "reply: transno of this change; request: only in replay"),
	U32("pb_flags", "MSG_*"),
	U32("pb_op_flags", "MSG_CONNECT_* on connect opcodes"),
	U32("pb_conn_cnt", "connection era of the client"),
	U32("pb_timeout", "request: seconds the client waits; reply: service estimate"),
	U32("pb_service_time", "reply: seconds spent; connect request: client service estimate"),
	U32("pb_limit", "reply: lock LRU limit"),
	U64("pb_slv", "reply: server lock volume"),
	Arr("pb_pre_versions", 4, U64(""), "reply: versions before the change (VBR), up to 4; request in replay"),
	U64("pb_mbits", "request: last match bits of bulk, and reply match bits with OBD_CONNECT2_REP_MBITS"),
	Pad("pb_padding64_0", 8),
	Pad("pb_padding64_1", 8),
	U32("pb_uid", Since("2.16"), "valid with MSG_PACK_UID_GID"),
	U32("pb_gid", Since("2.16"), "valid with MSG_PACK_UID_GID"),
)
