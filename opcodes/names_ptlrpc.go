package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// MsgType is the group msg_type.
var MsgType = Enum("msg_type", "PTL_RPC_MSG_", "whether a message is a request or a reply, pb_type", []Value{
	{Name: "REQUEST", Value: 0x1267, Doc: "asks for something"},
	{Name: "ERR", Value: 0x1268, Doc: "the server could not even begin to handle the request; just the status is there"},
	{Name: "REPLY", Value: 0x1269, Doc: "answers a request, also when it failed"},
})

// MsgMagic is the group msg_magic.
var MsgMagic = Enum("msg_magic", "", "magic number of a message, as the receiver reads it", []Value{
	{Name: "LUSTRE_MSG_MAGIC_V2", Value: 0xbd00bd3, Doc: "sender and receiver have the same byte order"},
	{Name: "LUSTRE_MSG_MAGIC_V2_SWABBED", Value: 0xd30bd00b, Doc: "sender and receiver have opposite byte orders"},
	{Name: "LUSTRE_MSG_MAGIC", Value: 0xbd00bd3, Alias: true},
})

// MsghdrFlags is the group msghdr_flags.
var MsghdrFlags = Bits("msghdr_flags", "MSGHDR_", "what the sender can do with early replies", []Value{
	{Name: "AT_SUPPORT", Value: 0x1, Doc: "the sender understands early replies"},
	{Name: "CKSUM_INCOMPAT18", Value: 0x2, Doc: "the checksum of an early reply covers the whole body, not just what release 1.8 had of it"},
})

// MsgVersion is the group msg_version.
var MsgVersion = Enum("msg_version", "", "parts of pb_version: the service and the version of the ptlrpc_body", []Value{
	{Name: "PTLRPC_MSG_VERSION", Value: 0x3, Doc: "version of the ptlrpc_body, low half"},
	{Name: "LUSTRE_VERSION_MASK", Value: 0xffff0000, Doc: "the half that names the service"},
	{Name: "LUSTRE_OBD_VERSION", Value: 0x10000, Doc: "connects, disconnects, pings"},
	{Name: "LUSTRE_MDS_VERSION", Value: 0x20000, Doc: "metadata service"},
	{Name: "LUSTRE_OST_VERSION", Value: 0x30000, Doc: "object service"},
	{Name: "LUSTRE_DLM_VERSION", Value: 0x40000, Doc: "lock service"},
	{Name: "LUSTRE_LOG_VERSION", Value: 0x50000, Doc: "log service"},
	{Name: "LUSTRE_MGS_VERSION", Value: 0x60000, Doc: "management service"},
})

// MsgFlags is the group pb_flags.
var MsgFlags = Bits("pb_flags", "MSG_", "flags of any message", []Value{
	{Name: "RESENT", Value: 0x2, Doc: "Sent again under the same xid, since no reply came. The server must not do the work twice."},
	{Name: "REPLAY", Value: 0x4, Doc: "Done before, but lost by a server that went down. The client brings the transaction number along."},
	{Name: "REQ_REPLAY_DONE", Value: 0x40, Doc: "The client has replayed all its requests."},
	{Name: "LOCK_REPLAY_DONE", Value: 0x80, Doc: "The client has replayed all its locks."},
	{Name: "CLIENT_BANNED", Value: 0x100, Since: "2.17", Doc: "The node map of the server bans the client."},
	{Name: "PACK_UID_GID", Value: 0x200, Since: "2.16", Doc: "pb_uid and pb_gid are filled in."},
	{Name: "PACK_PROJID", Value: 0x400, Since: "2.17", Doc: "pb_projid is filled in."},
})

// MsgConnectFlags is the group pb_op_flags.
var MsgConnectFlags = Bits("pb_op_flags", "MSG_CONNECT_", "flags of connects", []Value{
	{Name: "RECOVERING", Value: 0x1, Doc: "Reply: the target is in recovery, and the client should replay."},
	{Name: "RECONNECT", Value: 0x2, Doc: "Reply: the server still knew the client."},
	{Name: "REPLAYABLE", Value: 0x4, Doc: "Reply: the target can replay what it lost."},
	{Name: "LIBCLIENT", Value: 0x10, Doc: "Request: a client in user space, without threads of its own; gone since 2.6."},
	{Name: "INITIAL", Value: 0x20, Doc: "Request: the client does not know the target yet. The server must not know the client either."},
	{Name: "NEXT_VER", Value: 0x80, Doc: "Request: the client would take the next message format."},
	{Name: "TRANSNO", Value: 0x100, Doc: "Request: ocd_transno is filled in."},
})

// MsgOffsets is the group msg_offsets.
var MsgOffsets = Enum("msg_offsets", "", "numbers of buffers and lengths that older code knows by name", []Value{
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
var Portal = Enum("portal", "", "LNet portals: which service, which kind of reply or which bulk a message is for", []Value{
	{Name: "LNET_RESERVED_PORTAL", Value: 0x0, Doc: "ping and discovery of LNet itself"},
	{Name: "CONNMGR_REQUEST_PORTAL", Value: 0x1, Doc: "not in use"},
	{Name: "CONNMGR_REPLY_PORTAL", Value: 0x2, Doc: "not in use"},
	{Name: "OSC_REPLY_PORTAL", Value: 0x4, Doc: "replies of OSTs, and to object updates and batches"},
	{Name: "OST_IO_PORTAL", Value: 0x6, Doc: "requests to OSTs about file data"},
	{Name: "OST_CREATE_PORTAL", Value: 0x7, Doc: "requests to OSTs to create objects, and statfs"},
	{Name: "OST_BULK_PORTAL", Value: 0x8, Doc: "file data"},
	{Name: "MDC_REPLY_PORTAL", Value: 0xa, Doc: "replies of metadata, sequence and location services"},
	{Name: "MDS_REQUEST_PORTAL", Value: 0xc, Doc: "requests to MDTs, lock requests included"},
	{Name: "MDS_IO_PORTAL", Value: 0xd, Doc: "file data on MDTs, and renames since 2.16"},
	{Name: "MDS_BULK_PORTAL", Value: 0xe, Doc: "directory pages, index pages, object updates, batches"},
	{Name: "LDLM_CB_REQUEST_PORTAL", Value: 0xf, Doc: "callbacks of the lock service, from server to client"},
	{Name: "LDLM_CB_REPLY_PORTAL", Value: 0x10, Doc: "answers to lock callbacks"},
	{Name: "LDLM_CANCEL_REQUEST_PORTAL", Value: 0x11, Doc: "cancelled and converted locks"},
	{Name: "LDLM_CANCEL_REPLY_PORTAL", Value: 0x12, Doc: "answers to cancels"},
	{Name: "MDS_SETATTR_PORTAL", Value: 0x16, Doc: "requests to MDTs to set attributes; not in use since 2.13"},
	{Name: "MDS_READPAGE_PORTAL", Value: 0x17, Doc: "requests to MDTs to read directories, to close, and for attributes by FID"},
	{Name: "OUT_PORTAL", Value: 0x18, Doc: "object updates between targets"},
	{Name: "MGC_REPLY_PORTAL", Value: 0x19, Doc: "replies of the management service"},
	{Name: "MGS_REQUEST_PORTAL", Value: 0x1a, Doc: "requests to the management service"},
	{Name: "MGS_REPLY_PORTAL", Value: 0x1b, Doc: "not in use"},
	{Name: "OST_REQUEST_PORTAL", Value: 0x1c, Doc: "all other requests to OSTs, lock requests included"},
	{Name: "FLD_REQUEST_PORTAL", Value: 0x1d, Doc: "asks which target holds a FID sequence"},
	{Name: "SEQ_METADATA_PORTAL", Value: 0x1e, Doc: "asks for FID sequences for files"},
	{Name: "SEQ_DATA_PORTAL", Value: 0x1f, Doc: "asks for FID sequences for objects"},
	{Name: "SEQ_CONTROLLER_PORTAL", Value: 0x20, Doc: "asks for ranges of FID sequences, between servers"},
	{Name: "MGS_BULK_PORTAL", Value: 0x21, Doc: "recovery tables, node maps, NID lists"},
	{Name: "SRPC_REQUEST_PORTAL", Value: 0x32, Doc: "requests of LNet selftest"},
	{Name: "SRPC_FRAMEWORK_REQUEST_PORTAL", Value: 0x33, Doc: "requests that steer LNet selftest"},
	{Name: "SRPC_RDMA_PORTAL", Value: 0x34, Doc: "replies and bulk data of LNet selftest"},
})

// Handles is the group handle.
var Handles = Enum("handle", "", "special handles", []Value{
	{Name: "DEAD_HANDLE_MAGIC", Value: 0xdeadbeefcafebabe, Doc: "no longer in use"},
})

// PtlrpcLimits is the group ptlrpc_limits.
var PtlrpcLimits = Enum("ptlrpc_limits", "", "limits of messages and bulk transfers", []Value{
	{Name: "PTLRPC_BULK_OPS_BITS", Value: 0x6, Doc: "log2 of the LNet messages of one bulk transfer"},
	{Name: "PTLRPC_MAX_BRW_BITS", Value: 0x1a, Doc: "log2 of the largest bulk transfer"},
	{Name: "OST_MIN_PRECREATE", Value: 0x20, Doc: "fewest objects made ahead"},
	{Name: "PTLRPC_BULK_OPS_LIMIT", Value: 0x41, Since: "2.16", Doc: "LNet messages of one bulk transfer, and one more"},
	{Name: "PTLRPC_BULK_OPS_COUNT", Value: 0x80, Doc: "Step between the xids of a node, so that the low bits can number bulk parts; 64 up to 2.15."},
	{Name: "OBD_MAX_FIDS_IN_ARRAY", Value: 0x1000, Doc: "FIDs of one MDS_RMFID"},
	{Name: "OST_MAX_PRECREATE", Value: 0x4e20, Doc: "most objects made ahead"},
	{Name: "PTLRPC_MAX_BRW_SIZE", Value: 0x4000000, Doc: "largest bulk transfer"},
	{Name: "OBD_MAX_GRANT", Value: 0x7fffffff, Doc: "most space that can be granted"},
	{Name: "PTLRPC_BULK_OPS_MASK", Value: 0xffffffffffffff80, Doc: "The bits of an xid that do not number bulk parts; clears 6 bits up to 2.15, 7 since 2.16."},
})

// PbFlagsRetired is the group pb_flags_retired.
var PbFlagsRetired = Bits("pb_flags_retired", "MSG_", "flags of messages that no release since 2.12 means", []Value{
	{Name: "LAST_REPLAY", Value: 0x1, Doc: "the last request that is replayed; gone since 2.0"},
	{Name: "AT_SUPPORT", Value: 0x8, Doc: "the sender understands early replies; gone since 1.5"},
	{Name: "DELAY_REPLAY", Value: 0x10, Doc: "replay after the recovery window; gone since 2.0"},
	{Name: "VERSION_REPLAY", Value: 0x20, Doc: "replay by versions; gone since 1.8.2"},
})

// PbOpFlagsRetired is the group pb_op_flags_retired.
var PbOpFlagsRetired = Bits("pb_op_flags_retired", "MSG_CONNECT_", "flags of connects that no release since 2.12 means", []Value{
	{Name: "PEER", Value: 0x8, Doc: "connects without a server; gone since 1.2"},
	{Name: "ASYNC", Value: 0x40, Doc: "does not wait for the answer; gone since 1.5"},
})
