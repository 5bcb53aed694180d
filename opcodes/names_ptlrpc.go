package opcodes

// MsgType is the group msg_type.
var MsgType = Enum("msg_type", "PTL_RPC_MSG_", "", []Value{
	{Name: "REQUEST", Value: 0x1267},
	{Name: "ERR", Value: 0x1268, Doc: "reply type when the request could not be processed"},
	{Name: "REPLY", Value: 0x1269},
})

// MsgMagic is the group msg_magic.
var MsgMagic = Enum("msg_magic", "LUSTRE_MSG_", "", []Value{
	{Name: "MAGIC_V2", Value: 0xbd00bd3},
	{Name: "MAGIC_V2_SWABBED", Value: 0xd30bd00b, Doc: "receiver must byte-swap header and body"},
	{Name: "MAGIC", Value: 0xbd00bd3, Alias: true},
})

// MsghdrFlags is the group msghdr_flags.
var MsghdrFlags = Bits("msghdr_flags", "MSGHDR_", "", []Value{
	{Name: "AT_SUPPORT", Value: 0x1, Doc: "lm_cksum covers ptlrpc_body in early replies"},
	{Name: "CKSUM_INCOMPAT18", Value: 0x2, Doc: "checksum over the full body rather than the 1.8 size"},
})

// MsgVersion is the group msg_version.
var MsgVersion = Enum("msg_version", "", "", []Value{
	{Name: "PTLRPC_MSG_VERSION", Value: 0x3},
	{Name: "LUSTRE_VERSION_MASK", Value: 0xffff0000},
	{Name: "LUSTRE_OBD_VERSION", Value: 0x10000},
	{Name: "LUSTRE_MDS_VERSION", Value: 0x20000},
	{Name: "LUSTRE_OST_VERSION", Value: 0x30000},
	{Name: "LUSTRE_DLM_VERSION", Value: 0x40000},
	{Name: "LUSTRE_LOG_VERSION", Value: 0x50000},
	{Name: "LUSTRE_MGS_VERSION", Value: 0x60000},
})

// MsgFlags is the group pb_flags.
var MsgFlags = Bits("pb_flags", "MSG_", "", []Value{
	{Name: "RESENT", Value: 0x2, Doc: "request sent again because no reply was seen"},
	{Name: "REPLAY", Value: 0x4, Doc: "request replayed in recovery; transno is set by client"},
	{Name: "REQ_REPLAY_DONE", Value: 0x40, Doc: "client finished replaying requests"},
	{Name: "LOCK_REPLAY_DONE", Value: 0x80, Doc: "client finished replaying locks (final ping)"},
	{Name: "CLIENT_BANNED", Value: 0x100, Since: "2.17", Doc: "nodemap ban notice"},
	{Name: "PACK_UID_GID", Value: 0x200, Since: "2.16", Doc: "pb_uid/pb_gid are valid"},
	{Name: "PACK_PROJID", Value: 0x400, Since: "2.17", Doc: "pb_projid is valid"},
})

// MsgConnectFlags is the group pb_op_flags.
var MsgConnectFlags = Bits("pb_op_flags", "MSG_CONNECT_", "", []Value{
	{Name: "RECOVERING", Value: 0x1, Doc: "reply: target in recovery"},
	{Name: "RECONNECT", Value: 0x2, Doc: "reply: server already knew this client"},
	{Name: "REPLAYABLE", Value: 0x4, Doc: "reply: replay supported"},
	{Name: "LIBCLIENT", Value: 0x10, Doc: "liblustre client, gone in 2.6"},
	{Name: "INITIAL", Value: 0x20, Doc: "request: first ever connect"},
	{Name: "NEXT_VER", Value: 0x80, Doc: "request: next message format acceptable"},
	{Name: "TRANSNO", Value: 0x100, Doc: "request: client reports transno for replay"},
})

// MsgOffsets is the group msg_offsets.
var MsgOffsets = Enum("msg_offsets", "", "", []Value{
	{Name: "MSG_PTLRPC_BODY_OFF", Value: 0x0},
	{Name: "LDLM_ENQUEUE_CANCEL_OFF", Value: 0x1},
	{Name: "REQ_REC_OFF", Value: 0x1, Alias: true},
	{Name: "DLM_LOCKREQ_OFF", Value: 0x1, Alias: true},
	{Name: "REPLY_REC_OFF", Value: 0x1, Alias: true},
	{Name: "DLM_LOCKREPLY_OFF", Value: 0x1, Alias: true},
	{Name: "LDLM_LOCKREQ_HANDLES", Value: 0x2},
	{Name: "DLM_INTENT_IT_OFF", Value: 0x2, Alias: true},
	{Name: "DLM_REPLY_REC_OFF", Value: 0x2, Alias: true},
	{Name: "DLM_REQ_REC_OFF", Value: 0x2, Alias: true},
	{Name: "DLM_INTENT_REC_OFF", Value: 0x3},
	{Name: "RES_NAME_SIZE", Value: 0x4},
	{Name: "PTLRPC_NUM_VERSIONS", Value: 0x4, Alias: true},
	{Name: "LUSTRE_JOBID_SIZE", Value: 0x20},
})

// Portal is the group portal.
var Portal = Enum("portal", "", "", []Value{
	{Name: "LNET_RESERVED_PORTAL", Value: 0x0, Doc: "ping / discovery portal"},
	{Name: "CONNMGR_REQUEST_PORTAL", Value: 0x1, Doc: "not used by current code"},
	{Name: "CONNMGR_REPLY_PORTAL", Value: 0x2, Doc: "not used by current code"},
	{Name: "OSC_REPLY_PORTAL", Value: 0x4, Doc: "replies to OST requests"},
	{Name: "OST_IO_PORTAL", Value: 0x6, Doc: "OST_READ/WRITE/PUNCH/... requests"},
	{Name: "OST_CREATE_PORTAL", Value: 0x7, Doc: "OST_CREATE requests from MDS"},
	{Name: "OST_BULK_PORTAL", Value: 0x8, Doc: "bulk for OST and also llog/out where noted"},
	{Name: "MDC_REPLY_PORTAL", Value: 0xa, Doc: "replies to MDS/SEQ/FLD/OUT requests"},
	{Name: "MDS_REQUEST_PORTAL", Value: 0xc, Doc: "MDS requests incl. LDLM enqueue to MDS"},
	{Name: "MDS_IO_PORTAL", Value: 0xd, Doc: "Data-on-MDT read/write"},
	{Name: "MDS_BULK_PORTAL", Value: 0xe, Doc: "readdir pages, OUT/batch bulk, DoM bulk, index read"},
	{Name: "LDLM_CB_REQUEST_PORTAL", Value: 0xf, Doc: "BL/CP/GL callbacks to clients"},
	{Name: "LDLM_CB_REPLY_PORTAL", Value: 0x10, Doc: "replies to callbacks"},
	{Name: "LDLM_CANCEL_REQUEST_PORTAL", Value: 0x11, Doc: "LDLM_CANCEL to servers"},
	{Name: "LDLM_CANCEL_REPLY_PORTAL", Value: 0x12, Doc: "replies to cancel"},
	{Name: "MDS_SETATTR_PORTAL", Value: 0x16, Doc: "MDS_REINT setattr queue; dropped after 2.13; not defined after 2.12", Alias: true},
	{Name: "MDS_READPAGE_PORTAL", Value: 0x17, Doc: "MDS_READPAGE, MDS_CLOSE(+intents)"},
	{Name: "OUT_PORTAL", Value: 0x18, Doc: "object updates between targets"},
	{Name: "MGC_REPLY_PORTAL", Value: 0x19, Doc: "replies to MGS requests"},
	{Name: "MGS_REQUEST_PORTAL", Value: 0x1a, Doc: "MGS requests"},
	{Name: "MGS_REPLY_PORTAL", Value: 0x1b, Doc: "defined"},
	{Name: "OST_REQUEST_PORTAL", Value: 0x1c, Doc: "all other OST requests"},
	{Name: "FLD_REQUEST_PORTAL", Value: 0x1d, Doc: "FLD lookups"},
	{Name: "SEQ_METADATA_PORTAL", Value: 0x1e, Doc: "meta sequence allocation"},
	{Name: "SEQ_DATA_PORTAL", Value: 0x1f, Doc: "data sequence allocation"},
	{Name: "SEQ_CONTROLLER_PORTAL", Value: 0x20, Doc: "super sequence allocation"},
	{Name: "MGS_BULK_PORTAL", Value: 0x21, Doc: "MGS_CONFIG_READ bulk"},
})

// Handles is the group handle.
var Handles = Enum("handle", "", "", []Value{
	{Name: "DEAD_HANDLE_MAGIC", Value: 0xdeadbeefcafebabe},
})

// PtlrpcLimits is the group ptlrpc_limits.
var PtlrpcLimits = Enum("ptlrpc_limits", "", "", []Value{
	{Name: "PTLRPC_BULK_OPS_BITS", Value: 0x6, Doc: "log2-ish limit on MDs per bulk: 6 since 2.12-era 64 MiB RPCs"},
	{Name: "PTLRPC_MAX_BRW_BITS", Value: 0x1a},
	{Name: "OST_MIN_PRECREATE", Value: 0x20},
	{Name: "PTLRPC_BULK_OPS_LIMIT", Value: 0x41, Since: "2.16"},
	{Name: "PTLRPC_BULK_OPS_COUNT", Value: 0x80, Doc: "power of two used as alignment of bulk match bits; value changed: <=2.12=0x40, 2.15=0x40, 2.16=0x80, 2.17=0x80, 2.18=0x80"},
	{Name: "OBD_MAX_FIDS_IN_ARRAY", Value: 0x1000},
	{Name: "OST_MAX_PRECREATE", Value: 0x4e20},
	{Name: "PTLRPC_MAX_BRW_SIZE", Value: 0x4000000},
	{Name: "OBD_MAX_GRANT", Value: 0x7fffffff},
	{Name: "PTLRPC_BULK_OPS_MASK", Value: 0xffffffffffffff80, Doc: "and-mask giving the first match bits of a bulk; value changed: <=2.12=0xffffffffffffffc0, 2.15=0xffffffffffffffc0, 2.16=0xffffffffffffff80, 2.17=0xffffffffffffff80, 2.18=0xffffffffffffff80"},
})

// PbFlagsRetired is the group pb_flags_retired.
var PbFlagsRetired = Bits("pb_flags_retired", "MSG_", "", []Value{
	{Name: "LAST_REPLAY", Value: 0x1, Doc: "gone since 2.0"},
	{Name: "AT_SUPPORT", Value: 0x8, Doc: "gone since 1.5"},
	{Name: "DELAY_REPLAY", Value: 0x10, Doc: "gone since 2.0"},
	{Name: "VERSION_REPLAY", Value: 0x20, Doc: "gone since 1.8.2"},
})

// PbOpFlagsRetired is the group pb_op_flags_retired.
var PbOpFlagsRetired = Bits("pb_op_flags_retired", "MSG_CONNECT_", "", []Value{
	{Name: "PEER", Value: 0x8, Doc: "gone since 1.2"},
	{Name: "ASYNC", Value: 0x40, Doc: "gone since 1.5"},
})
