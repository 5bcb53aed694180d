package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var MsgType = Enum("msg_type", "PTL_RPC_MSG_", "whether a message is a request or a reply, pb_type", []Value{
	{Name: "REQUEST", Value: 0x1267, Doc: "a request"},
	{Name: "ERR", Value: 0x1268, Doc: "the server refused the request before handling it; only the status is valid"},
	{Name: "REPLY", Value: 0x1269, Doc: "a reply, also to a request that failed"},
})

var MsgMagic = Enum("msg_magic", "", "magic number of a message, as the receiver reads it", []Value{
	{Name: "LUSTRE_MSG_MAGIC_V2", Value: 0xbd00bd3, Doc: "sender and receiver have the same byte order"},
	{Name: "LUSTRE_MSG_MAGIC_V2_SWABBED", Value: 0xd30bd00b, Doc: "sender and receiver have opposite byte orders"},
	{Name: "LUSTRE_MSG_MAGIC", Value: 0xbd00bd3, Alias: true},
})

var MsghdrFlags = Bits("msghdr_flags", "MSGHDR_", "what the sender can do with early replies", []Value{
	{Name: "AT_SUPPORT", Value: 0x1, Doc: "the sender understands early replies"},
	{Name: "CKSUM_INCOMPAT18", Value: 0x2, Doc: "the checksum of an early reply covers the whole body, not just what release 1.8 had of it"},
})

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

var MsgFlags = Bits("pb_flags", "MSG_", "flags of any message", []Value{
	{Name: "RESENT", Value: 0x2, Doc: "Sent again under the same xid, since no reply came. The server must not do the work twice."},
	{Name: "REPLAY", Value: 0x4, Doc: "Done before, but lost by a server that went down. The client brings the transaction number along."},
	{Name: "REQ_REPLAY_DONE", Value: 0x40, Doc: "The client has replayed all its requests."},
	{Name: "LOCK_REPLAY_DONE", Value: 0x80, Doc: "The client has replayed all its locks."},
	{Name: "CLIENT_BANNED", Value: 0x100, Since: "2.17", Doc: "The node map of the server bans the client."},
	{Name: "PACK_UID_GID", Value: 0x200, Since: "2.16", Doc: "pb_uid and pb_gid are filled in."},
	{Name: "PACK_PROJID", Value: 0x400, Since: "2.17", Doc: "pb_projid is filled in."},
})

var MsgConnectFlags = Bits("pb_op_flags", "MSG_CONNECT_", "flags of connects", []Value{
	{Name: "RECOVERING", Value: 0x1, Doc: "Reply: the target is in recovery, and the client should replay."},
	{Name: "RECONNECT", Value: 0x2, Doc: "Reply: the server still knew the client."},
	{Name: "REPLAYABLE", Value: 0x4, Doc: "Reply: the target can replay what it lost."},
	{Name: "LIBCLIENT", Value: 0x10, Doc: "Request: a client in user space, without threads of its own; gone since 2.6."},
	{Name: "INITIAL", Value: 0x20, Doc: "Request: the client does not know the target yet. The server must not know the client either."},
	{Name: "NEXT_VER", Value: 0x80, Doc: "Request: the client would take the next message format."},
	{Name: "TRANSNO", Value: 0x100, Doc: "Request: ocd_transno is filled in."},
})

// Bits of pb_op_flags in connects.
var (
	ConnectRecovering = uint32(MsgConnectFlags.Bit("RECOVERING"))
	ConnectReconnect  = uint32(MsgConnectFlags.Bit("RECONNECT"))
	ConnectInitial    = uint32(MsgConnectFlags.Bit("INITIAL"))
	ConnectReplayable = uint32(MsgConnectFlags.Bit("REPLAYABLE"))
)

var Portal = Enum("portal", "", "LNet portals: which service, which kind of reply or which bulk a message is for", []Value{
	{Name: "LNET_RESERVED_PORTAL", Value: 0x0, Doc: "ping and discovery of LNet itself"},
	{Name: "CONNMGR_REQUEST_PORTAL", Value: 0x1, Doc: "not in use"},
	{Name: "CONNMGR_REPLY_PORTAL", Value: 0x2, Doc: "not in use"},
	{Name: "OSC_REPLY_PORTAL", Value: 0x4, Doc: "replies of OSTs, and to object updates and batches"},
	{Name: "OST_IO_PORTAL", Value: 0x6, Doc: "requests to OSTs about file data"},
	{Name: "OST_CREATE_PORTAL", Value: 0x7, Doc: "requests to OSTs to create objects, and statfs"},
	{Name: "OST_BULK_PORTAL", Value: OstBulkPortal, Doc: "file data"},
	{Name: "MDC_REPLY_PORTAL", Value: 0xa, Doc: "replies of metadata, sequence and location services"},
	{Name: "MDS_REQUEST_PORTAL", Value: 0xc, Doc: "requests to MDTs, lock requests included"},
	{Name: "MDS_IO_PORTAL", Value: 0xd, Doc: "file data on MDTs, and renames since 2.16"},
	{Name: "MDS_BULK_PORTAL", Value: portalMDSBulk, Doc: "directory pages, index pages, object updates, batches"},
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
	{Name: "FLD_REQUEST_PORTAL", Value: 0x1d, Doc: "queries of the target that has a FID sequence"},
	{Name: "SEQ_METADATA_PORTAL", Value: 0x1e, Doc: "requests of FID sequences for files"},
	{Name: "SEQ_DATA_PORTAL", Value: 0x1f, Doc: "requests of FID sequences for objects"},
	{Name: "SEQ_CONTROLLER_PORTAL", Value: 0x20, Doc: "requests of ranges of FID sequences, between servers"},
	{Name: "MGS_BULK_PORTAL", Value: portalMGSBulk, Doc: "recovery tables, node maps, NID lists"},
	{Name: "SRPC_REQUEST_PORTAL", Value: 0x32, Doc: "requests of LNet selftest"},
	{Name: "SRPC_FRAMEWORK_REQUEST_PORTAL", Value: 0x33, Doc: "requests that steer LNet selftest"},
	{Name: "SRPC_RDMA_PORTAL", Value: 0x34, Doc: "replies and bulk data of LNet selftest"},
})

var LustreMsg = &Struct{Name: "lustre_msg_v2", Detect: func(b []byte, big bool) bool { return magicAt(b, 8, MsgMagic.Number("LUSTRE_MSG_MAGIC_V2"), big) },
	Doc: "header of every ptlrpc message: how many buffers follow and how long each is; each buffer begins at a multiple of 8 bytes",
	Fields: []*Field{
		U32("lm_bufcount", Harmless, "Number of buffers behind the header. The first of a plain message is the ptlrpc_body."),
		U32("lm_secflvr", Hex, &SptlrpcFlavor, Remark(remarkFlavor),
			"Security flavour of the message in the low 20 bits. Under the null policy the top byte is the kind of node that sent it."),
		U32("lm_magic", Hex, &MsgMagic, Counted("request"), "Marks the message format and, by the order of its bytes, the byte order of the sender."),
		U32("lm_repsize", Size, "How much inline data the client has room for in the reply to an open; 0 when not given."),
		U32("lm_cksum", MessageSum, "CRC-32 over the ptlrpc_body of an early reply, which has no other protection. 0 elsewhere."),
		U32("lm_flags", &MsghdrFlags, "What the sender can do with early replies."),
		U32("lm_opc", Harmless, Since("2.16"), Remark(func(v *View, dst []byte) []byte {
			if v.Msg == nil || !v.Msg.Sub || v.Msg.Reply {
				return dst
			}
			if name := BatchOpc.Name(v.Value); name != "" {
				dst = append(append(dst, BatchOpc.Prefix...), name...)
			}
			return dst
		}), IfNot(isSubReply),
			"Inside an MDS_BATCH the operation of the sub-request. 0 elsewhere; padding up to 2.15."),
		S32("lm_result", Over("lm_opc"), Since("2.16"), Errno, Remark(func(v *View, dst []byte) []byte {
			return append(dst, LockStatus(LDLM_ENQUEUE, int32(v.Value))...)
		}), If(isSubReply),
			"Result of a sub-reply inside an MDS_BATCH: 0, a negative errno, or a lock status."),
		Pad("lm_padding_3", 4),
		Arr("lm_buflens", -1, U32(""), Harmless, CountBy("lm_bufcount"), "Length of each buffer, without the padding behind it."),
	}}

var lmOpc = LustreMsg.Field("lm_opc")

var obdUuid = &Struct{Name: "obd_uuid", Atom: UUID,
	Doc: "name of a client, target or node: text, at most 39 characters and a NUL", Fields: []*Field{
		Str("uuid", 40, "the name itself, NUL-terminated"),
	}}

var lustreHandle = &Struct{Name: "lustre_handle", Atom: Handle,
	Doc: "opaque reference to a lock, open file or export on the node that gave it out", Fields: []*Field{
		U64("cookie", Cookie, "unique in time on the node that made it; 0 is no handle"),
	}}

const ptlrpcBodyDoc = "the part that all requests and replies have in common: who asks, for what, how it ended, and what recovery must know"

var PtlrpcBody = &Struct{Name: "ptlrpc_body_v3", Shorter: []int{152}, Doc: ptlrpcBodyDoc, Fields: append(ptlrpcBodyFields(),
	Str("pb_jobid", 32, JobName, "Job that caused the request, as configured on the client (a scheduler's job number, program and user, …). Empty "+
		"when job ids are off."),
)}

var PtlrpcBodyV2 = &Struct{Name: "ptlrpc_body_v2", Doc: ptlrpcBodyDoc + "; the form without a job id", Fields: ptlrpcBodyFields()}

// PbType and PbOpc decide what pb_status means.
var (
	PbType = U32("pb_type", &MsgType, "Request, reply, or an error reply from a server that could not handle the request at all.")
	PbOpc  = U32("pb_opc", &Opcodes, ValidIf(hasPbOpc), "The operation. A reply repeats that of its request; 0 stands in one for which "+
		"the server did not unpack the request, such as that to a SEC_CTX_INIT that failed.")
)

// hasPbOpc reports whether a message has its operation: a reply does not repeat it, and has 0, which no request
// has, where the server did not unpack the request.
func hasPbOpc(v *View) bool {
	opc := v.Type.Field("pb_opc") // PbOpc refers to this func
	return opc.Bytes(v.Struct) == nil || opc.Uint(v.Struct, v.Big) != 0 || v.Uint(PbType) == MsgType.Number("REQUEST")
}

// ptlrpcBodyFields are the fields that versions 2 and 3 share.
func ptlrpcBodyFields() []*Field {
	return []*Field{
		Sub("pb_handle", &lustreHandle, "Names the connection. A request carries the export handle that the server gave at connect, 0 in the "+
			"first connect; the reply to a connect brings a new one. In a callback to a client it is the handle from the client's connect."),
		PbType,
		U32("pb_version", Harmless, Hex, Remark(func(v *View, dst []byte) []byte {
			return append(dst, MsgVersion.Name(v.Value&^0xffff)...)
		}), "Service in the high half (1 OBD, 2 MDS, 3 OST, 4 DLM, 5 LOG, 6 MGS), version of the "+
			"ptlrpc_body in the low half, always 3. Connects, disconnects and pings name OBD whatever the service."),
		PbOpc,
		S32("pb_status", Errno, Remark(func(v *View, dst []byte) []byte {
			switch status := int32(v.Value); {
			case v.Uint(PbType) == MsgType.Number("REPLY"):
				dst = append(dst, LockStatus(uint32(v.Uint(PbOpc)), status)...)
			case v.Uint(PbType) == MsgType.Number("REQUEST") && status > 0:
				dst = append(dst, "pid"...)
			}
			return dst
		}), "Reply: 0 or a negative errno; some operations answer with a positive count or a lock "+
			"status. Request: process id of the sender."),
		U64("pb_last_xid", ID, "Request: every request with an xid up to this one has been answered, so the server may forget those replies."),
		U16("pb_tag", Harmless, "Request: slot among the modifying requests in flight, under which the server keeps the reply. 0 when the request "+
			"modifies nothing or there is just one slot."),
		Pad("pb_padding0", 2),
		U32("pb_projid", UserID, Since("2.17"), When{"pb_flags", "PACK_PROJID"}, "Request: project id the I/O is accounted to. Padding up to 2.16."),
		U64("pb_last_committed", ID, "Reply: all transactions of the target up to this number are on disk. The client may forget requests it "+
			"kept for replay up to here."),
		U64("pb_transno", ID, "Reply: number of the transaction that made the change, 0 when nothing changed. A replayed request brings its "+
			"number back."),
		U32("pb_flags", &MsgFlags, "Resent, replayed, end of recovery stages, and which optional fields are filled in."),
		U32("pb_op_flags", Negotiated(true), &MsgConnectFlags, "Connects only. Request: what kind of connect; reply: the state of the target "+
			"and whether it knew the client."),
		U32("pb_conn_cnt", Harmless, "Counts the connect attempts of this client to this target. A server drops requests from an earlier attempt."),
		U32("pb_timeout", TimeSpan, "Request: seconds until the client gives up on the reply. Reply: how long the server thinks it needs; in "+
			"an early reply, the extension."),
		U32("pb_service_time", TimeSpan, "Reply: seconds the server spent on the request. Connect request: the service time that the client expects."),
		U32("pb_limit", Harmless, "Reply: how many unused locks the client should keep at most (the LRU limit the server advises)."),
		U64("pb_slv", Harmless, "Reply: the server's lock volume. The product of age and number of unused locks that a client should stay below; small "+
			"when the server is short of memory."),
		Arr("pb_pre_versions", 4, U64("", Cookie), "Reply: versions of the objects before the operation. A replayed request contains them, "+
			"and the server replays only on objects that still have them."),
		U64("pb_mbits", Cookie, "Request: match bits of the last bulk part, and of the reply where OBD_CONNECT2_REP_MBITS was agreed on. A "+
			"resent request gets new ones while its xid stays."),
		Padding("pb_padding64_", 0, 8, 8),
		U32("pb_uid", UserID, Since("2.16"), When{"pb_flags", "PACK_UID_GID"}, "Request: user for whom the work is done. Zero bytes up to 2.15."),
		U32("pb_gid", UserID, Since("2.16"), When{"pb_flags", "PACK_UID_GID"}, "Request: group of that user. Zero bytes up to 2.15."),
	}
}

var bufPtlrpcBody = Sub("ptlrpc_body", &PtlrpcBody, "what all requests and replies have in common")

var bodyOnly = []*Variant{{}}

// The fields of ptlrpc_body. Version 2 has them in the same places, all but the
// job id.
var (
	PbStatus        = PtlrpcBody.Field("pb_status")
	PbLastCommitted = PtlrpcBody.Field("pb_last_committed")
	PbTransno       = PtlrpcBody.Field("pb_transno")
	PbFlags         = PtlrpcBody.Field("pb_flags")
	PbOpFlags       = PtlrpcBody.Field("pb_op_flags")
	PbTimeout       = PtlrpcBody.Field("pb_timeout")
	PbServiceTime   = PtlrpcBody.Field("pb_service_time")
)

// isSubReply reports whether a lustre_msg is a reply inside a batch.
func isSubReply(v *View) bool { return v.Msg != nil && v.Msg.Sub && v.Msg.Reply }

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

// first4 is the first word of a buffer, or what there is of it.
func first4(b []byte) []byte { return b[:min(4, len(b))] }

// remarkOf says what one value stands for.
func remarkOf(value uint64, text string) Remark {
	return func(v *View, dst []byte) []byte {
		if v.Value == value {
			return append(dst, text...)
		}
		return dst
	}
}

var remarkNobody = remarkOf(0xffffffff, "none")

// remarkAs says what a value other than 0 is.
func remarkAs(text string) func(*View, []byte) []byte {
	return func(v *View, dst []byte) []byte {
		if v.Value != 0 {
			return append(dst, text...)
		}
		return dst
	}
}

func isReply(v *View) bool { return v.Msg != nil && v.Msg.Reply }

func isRequest(v *View) bool { return v.Msg != nil && !v.Msg.Reply }

// opcodeOf returns the operation of the message that v is part of, OST_REPLY
// outside of messages.
func opcodeOf(v *View) uint32 {
	if v.Msg == nil {
		return OST_REPLY
	}
	return v.Msg.Opcode
}

func never(*View) bool { return false }
