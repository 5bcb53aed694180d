package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// The messages of LNet selftest. Requests have even types, replies odd ones.

var (
	srpcMsgType = U32("msg_type", SrpcMsgType, "request or reply of which service")
	srpcFeats   = U32("msg_ses_feats", LstFeatures, "features of the session")
)

// isSrpc says of the message that it is of the type named.
func isSrpc(name string) If {
	want, ok := SrpcMsgType.Find(name)
	if !ok {
		panic("no selftest message " + name)
	}
	return func(v *View) bool { return v.Uint(srpcMsgType) == want.Value }
}

// isUnknownSrpc is for messages of types that have no body of their own here.
func isUnknownSrpc(odd uint64) If {
	return func(v *View) bool {
		t := v.Uint(srpcMsgType)
		name := SrpcMsgType.Name(t)
		return (name == "" || name == "INVALID") && t&1 == odd
	}
}

// srpcMsg is struct srpc_msg.
var srpcMsg = Define("srpc_msg",
	Detect(func(b []byte, big bool) bool { return magicAt(b, 0, 0xeeb0f00d, big) }),
	"a message of LNet selftest",
	U32("msg_magic", Hex, "marks the message and the byte order of the sender"),
	U32("msg_version", "1"),
	srpcMsgType,
	Pad("msg_reserved0", 4),
	Pad("msg_reserved1", 4),
	srpcFeats,
	Sub("reqst", srpcGenericReqst, If(isUnknownSrpc(0)), "what all requests begin with"),
	Sub("reply", srpcGenericReply, Over("reqst"), If(isUnknownSrpc(1)), "what all replies begin with"),
	Sub("mksn_reqst", srpcMksnReqst, Over("reqst"), If(isSrpc("MKSN_REQST"))),
	Sub("mksn_reply", srpcMksnReply, Over("reqst"), If(isSrpc("MKSN_REPLY"))),
	Sub("rmsn_reqst", srpcRmsnReqst, Over("reqst"), If(isSrpc("RMSN_REQST"))),
	Sub("rmsn_reply", srpcRmsnReply, Over("reqst"), If(isSrpc("RMSN_REPLY"))),
	Sub("dbg_reqst", srpcDebugReqst, Over("reqst"), If(isSrpc("DEBUG_REQST"))),
	Sub("dbg_reply", srpcDebugReply, Over("reqst"), If(isSrpc("DEBUG_REPLY"))),
	Sub("bat_reqst", srpcBatchReqst, Over("reqst"), If(isSrpc("BATCH_REQST"))),
	Sub("bat_reply", srpcBatchReply, Over("reqst"), If(isSrpc("BATCH_REPLY"))),
	Sub("stat_reqst", srpcStatReqst, Over("reqst"), If(isSrpc("STAT_REQST"))),
	Sub("stat_reply", srpcStatReply, Over("reqst"), If(isSrpc("STAT_REPLY"))),
	Sub("tes_reqst", srpcTestReqst, Over("reqst"), If(isSrpc("TEST_REQST"))),
	Sub("tes_reply", srpcTestReply, Over("reqst"), If(isSrpc("TEST_REPLY"))),
	Sub("join_reqst", srpcJoinReqst, Over("reqst"), If(isSrpc("JOIN_REQST"))),
	Sub("join_reply", srpcJoinReply, Over("reqst"), If(isSrpc("JOIN_REPLY"))),
	Sub("ping_reqst", srpcPingReqst, Over("reqst"), If(isSrpc("PING_REQST"))),
	Sub("ping_reply", srpcPingReply, Over("reqst"), If(isSrpc("PING_REPLY"))),
	Sub("brw_reqst", srpcBrwReqst, Over("reqst"), If(isSrpc("BRW_REQST"))),
	Sub("brw_reply", srpcBrwReply, Over("reqst"), If(isSrpc("BRW_REPLY"))),
)

const (
	rpyidDoc  = "match bits that the reply is to have"
	bulkidDoc = "match bits that bulk data are to have"
	statusDoc = "0 or an errno"
	sidDoc    = "the session"
)

// lstSid is struct lst_sid.
var lstSid = Define("lst_sid",
	"names a session: the console that made it, and when",
	U64("ses_nid", NID4, "NID of the console"),
	S64("ses_stamp", "when the session was made, by the console's clock"),
)

// lstBid is struct lst_bid.
var lstBid = Define("lst_bid",
	"names a batch of tests in a session",
	U64("bat_id", Cookie, "number of the batch"),
)

// srpcGenericReqst is struct srpc_generic_reqst.
var srpcGenericReqst = Define("srpc_generic_reqst",
	"what all requests begin with",
	U64("rpyid", Cookie, rpyidDoc),
	U64("bulkid", Cookie, bulkidDoc),
)

// srpcGenericReply is struct srpc_generic_reply.
var srpcGenericReply = Define("srpc_generic_reply",
	"what all replies begin with",
	S32("status", Errno, statusDoc),
	Sub("sid", lstSid, sidDoc),
)

// srpcMksnReqst is struct srpc_mksn_reqst.
var srpcMksnReqst = Define("srpc_mksn_reqst",
	"makes a session on a node",
	U64("mksn_rpyid", Cookie, rpyidDoc),
	Sub("mksn_sid", lstSid, sidDoc),
	U32("mksn_force", "1: replaces a session that the node is in"),
	Str("mksn_name", 32, "name of the session"),
)

// srpcMksnReply is struct srpc_mksn_reply.
var srpcMksnReply = Define("srpc_mksn_reply",
	"answers a session that was to be made",
	S32("mksn_status", Errno, statusDoc),
	Sub("mksn_sid", lstSid, "the session that the node is in"),
	U32("mksn_timeout", Duration, "seconds until an idle session ends"),
	Str("mksn_name", 32, "name of the session"),
)

// srpcRmsnReqst is struct srpc_rmsn_reqst.
var srpcRmsnReqst = Define("srpc_rmsn_reqst",
	"ends a session on a node",
	U64("rmsn_rpyid", Cookie, rpyidDoc),
	Sub("rmsn_sid", lstSid, sidDoc),
)

// srpcRmsnReply is struct srpc_rmsn_reply.
var srpcRmsnReply = Define("srpc_rmsn_reply",
	"answers the end of a session",
	S32("rmsn_status", Errno, statusDoc),
	Sub("rmsn_sid", lstSid, sidDoc),
)

// srpcJoinReqst is struct srpc_join_reqst.
var srpcJoinReqst = Define("srpc_join_reqst",
	"lets a node join a session",
	U64("join_rpyid", Cookie, rpyidDoc),
	Sub("join_sid", lstSid, sidDoc),
	Str("join_group", 32, "name of the group of nodes"),
)

// srpcJoinReply is struct srpc_join_reply.
var srpcJoinReply = Define("srpc_join_reply",
	"answers a node that was to join",
	S32("join_status", Errno, statusDoc),
	Sub("join_sid", lstSid, sidDoc),
	U32("join_timeout", Duration, "seconds until an idle session ends"),
	Str("join_session", 32, "name of the session"),
)

// srpcDebugReqst is struct srpc_debug_reqst.
var srpcDebugReqst = Define("srpc_debug_reqst",
	"asks a node what session it is in",
	U64("dbg_rpyid", Cookie, rpyidDoc),
	Sub("dbg_sid", lstSid, sidDoc),
	U32("dbg_flags", Hex, "not in use"),
)

// srpcDebugReply is struct srpc_debug_reply.
var srpcDebugReply = Define("srpc_debug_reply",
	"the session of a node",
	S32("dbg_status", Errno, statusDoc),
	Sub("dbg_sid", lstSid, sidDoc),
	U32("dbg_timeout", Duration, "seconds until an idle session ends"),
	U32("dbg_nbatch", "batches of tests on the node"),
	Str("dbg_name", 32, "name of the session"),
)

// srpcBatchReqst is struct srpc_batch_reqst.
var srpcBatchReqst = Define("srpc_batch_reqst",
	"runs, stops or asks after a batch of tests",
	U64("bar_rpyid", Cookie, rpyidDoc),
	Sub("bar_sid", lstSid, sidDoc),
	Sub("bar_bid", lstBid, "the batch"),
	U32("bar_opc", LstBatchOp, "what to do"),
	U32("bar_testidx", "number of one test of the batch, 0 for all"),
	U32("bar_arg", "how to do it"),
)

// srpcBatchReply is struct srpc_batch_reply.
var srpcBatchReply = Define("srpc_batch_reply",
	"the state of a batch",
	S32("bar_status", Errno, statusDoc),
	Sub("bar_sid", lstSid, sidDoc),
	U32("bar_active", "tests that still run"),
	U32("bar_time", "time left"),
)
