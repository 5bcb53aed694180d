package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// obdUuid is struct obd_uuid.
var obdUuid = Define("obd_uuid",
	UUID,
	"name of a client, target or node: text, at most 39 characters and a NUL",
	Str("uuid", 40, "the name itself, NUL-terminated"),
)

// lustreHandle is struct lustre_handle.
var lustreHandle = Define("lustre_handle",
	Handle,
	"opaque reference to a lock, open file or export on the node that gave it out",
	U64("cookie", Cookie, "unique in time on the node that made it; 0 is no handle"),
)

// lustreMsgV2 is struct lustre_msg_v2.
var lustreMsgV2 = Define("lustre_msg_v2",
	Detect(func(b []byte, big bool) bool { return magicAt(b, 8, 0x0bd00bd3, big) }),
	"header of every ptlrpc message: how many buffers follow and how long each is; each buffer begins at a multiple of 8 bytes",
	U32("lm_bufcount", "Number of buffers behind the header. The first of a plain message is the ptlrpc_body."),
	U32("lm_secflvr", Hex, SptlrpcFlavor, Remark(remarkFlavor),
		"Security flavour of the message in the low 20 bits. Under the null policy the top byte tells which kind of node sent it."),
	U32("lm_magic", Hex, MsgMagic, "Marks the message format and, by the order of its bytes, the byte order of the sender."),
	U32("lm_repsize", Size, "How much inline data the client has room for in the reply to an open; 0 when it does not say."),
	U32("lm_cksum", "CRC-32 over the ptlrpc_body of an early reply, which has no other protection. 0 elsewhere."),
	U32("lm_flags", MsghdrFlags, "What the sender can do with early replies."),
	U32("lm_opc", Since("2.16"), Remark(remarkLmOpc),
		"Inside an MDS_BATCH the operation of the sub-request, or the result of the sub-reply. 0 elsewhere; padding up to 2.15."),
	Pad("lm_padding_3", 4),
	Arr("lm_buflens", -1, U32(""), CountBy("lm_bufcount"), "Length of each buffer, without the padding behind it."),
)

var ptlrpcBodyDoc = "the part that all requests and replies have in common: who asks, for what, how it ended, and what recovery must know"

// ptlrpcBodyV3 is struct ptlrpc_body_v3.
var ptlrpcBodyV3 = Define("ptlrpc_body_v3", append(ptlrpcBodyFields(), ptlrpcBodyDoc, Shorter{152},
	Str("pb_jobid", 32, "Job that caused the request, as configured on the client (a scheduler's job number, program and user, …). Empty when job ids are off."),
)...)

// ptlrpcBodyV2 is struct ptlrpc_body_v2.
var ptlrpcBodyV2 = Define("ptlrpc_body_v2", append(ptlrpcBodyFields(), ptlrpcBodyDoc+"; the form without a job id")...)

// ptlrpcBodyFields are the fields that versions 2 and 3 share.
func ptlrpcBodyFields() []any {
	return []any{
		Sub("pb_handle", lustreHandle, "Names the connection. A request carries the export handle that the server gave at connect, 0 in the first connect; the reply to a connect brings a new one. In a callback to a client it is the handle from the client's connect."),
		U32("pb_type", MsgType, "Request, reply, or an error reply from a server that could not handle the request at all."),
		U32("pb_version", Hex, Remark(remarkPbVersion), "Service in the high half (1 OBD, 2 MDS, 3 OST, 4 DLM, 5 LOG, 6 MGS), version of the ptlrpc_body in the low half, always 3. Connects, disconnects and pings name OBD whatever the service."),
		U32("pb_opc", Opcodes, "The operation. A reply repeats that of its request."),
		S32("pb_status", Errno, Remark(lockStatusText), "Reply: 0 or a negative errno; some operations answer with a positive count or a lock status. Request: process id of the sender."),
		U64("pb_last_xid", ID, "Request: every request with an xid up to this one has been answered, so the server may forget those replies."),
		U16("pb_tag", "Request: slot among the modifying requests in flight, under which the server keeps the reply. 0 when the request modifies nothing or there is just one slot."),
		Pad("pb_padding0", 2),
		U32("pb_projid", Since("2.17"), When("pb_flags", "PACK_PROJID"), "Request: project id the I/O is accounted to. Padding up to 2.16."),
		U64("pb_last_committed", ID, "Reply: all transactions of the target up to this number are on disk. The client may forget requests it kept for replay up to here."),
		U64("pb_transno", ID, "Reply: number of the transaction that made the change, 0 when nothing changed. A replayed request brings its number back."),
		U32("pb_flags", MsgFlags, "Resent, replayed, end of recovery stages, and which optional fields are filled in."),
		U32("pb_op_flags", MsgConnectFlags, "Connects only. Request: what kind of connect; reply: the state of the target and whether it knew the client."),
		U32("pb_conn_cnt", "Counts the connect attempts of this client to this target. A server drops requests from an earlier attempt."),
		U32("pb_timeout", Duration, "Request: seconds until the client gives up on the reply. Reply: how long the server thinks it needs; in an early reply, the extension."),
		U32("pb_service_time", Duration, "Reply: seconds the server spent on the request. Connect request: the service time that the client expects."),
		U32("pb_limit", "Reply: how many unused locks the client should keep at most (the LRU limit the server advises)."),
		U64("pb_slv", "Reply: the server's lock volume. The product of age and number of unused locks that a client should stay below; small when the server is short of memory."),
		Arr("pb_pre_versions", 4, U64("", Cookie), "Reply: versions that the objects of the operation had before it. A replayed request brings them back, and the server replays only on objects that still have them."),
		U64("pb_mbits", Cookie, "Request: match bits of the last bulk part, and of the reply where OBD_CONNECT2_REP_MBITS was agreed on. A resent request gets new ones while its xid stays."),
		Pad("pb_padding64_0", 8),
		Pad("pb_padding64_1", 8),
		U32("pb_uid", Since("2.16"), When("pb_flags", "PACK_UID_GID"), "Request: user for whom the work is done. Zero bytes up to 2.15."),
		U32("pb_gid", Since("2.16"), When("pb_flags", "PACK_UID_GID"), "Request: group of that user. Zero bytes up to 2.15."),
	}
}

// magicAt says whether the integers around a magic number are big-endian,
// going by which way round the magic stands at off; big when it is not there.
func magicAt(b []byte, off int, magic uint32, big bool) bool {
	if len(b) < off+4 {
		return big
	}
	switch word := b[off : off+4]; uint64(magic) {
	case ReadUint(word, false):
		return false
	case ReadUint(word, true):
		return true
	}
	return big
}

// remarkFlavor takes a flavour apart that has no name of its own.
func remarkFlavor(v *View, dst []byte) []byte {
	if len(v.Rest) < 4 {
		return dst
	}
	word := ReadUint(v.Rest[:4], v.Big)
	const policyBits, rpcBits, bulkShift, senderShift = 0xf, 0xfff, 16, 24
	switch {
	case SptlrpcFlavor.Name(word) != "":
		return dst
	case word&policyBits == 0:
		return append(append(dst, "null, from "...), SptlrpcSecPart.Name(word>>senderShift)...)
	}
	for _, f := range SptlrpcFlavor.Values {
		if f.Value != 0 && f.Value&rpcBits == word&rpcBits {
			dst = append(append(dst, f.Name...), ", bulk "...)
			return append(dst, SptlrpcBulkService.Name(word>>bulkShift&policyBits)...)
		}
	}
	return dst
}

func remarkPbVersion(v *View, dst []byte) []byte {
	if len(v.Rest) < 4 {
		return dst
	}
	return append(dst, MsgVersion.Name(ReadUint(v.Rest[:4], v.Big)&^0xffff)...)
}

// remarkLmOpc names the operation of a message inside a batch.
func remarkLmOpc(v *View, dst []byte) []byte {
	if v.Msg == nil || !v.Msg.Sub || v.Msg.Reply || len(v.Rest) < 4 || ReadUint(v.Rest[:4], v.Big) != BUT_GETATTR {
		return dst
	}
	return append(dst, "BUT_GETATTR"...)
}
