package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var SrpcMsgType = Enum("srpc_msg_type", "SRPC_MSG_", "messages of LNet selftest", []Value{
	{Name: "MKSN_REQST", Value: 0x0, Doc: "make a session"},
	{Name: "MKSN_REPLY", Value: 0x1, Doc: "make a session: the answer"},
	{Name: "RMSN_REQST", Value: 0x2, Doc: "end a session"},
	{Name: "RMSN_REPLY", Value: 0x3, Doc: "end a session: the answer"},
	{Name: "BATCH_REQST", Value: 0x4, Doc: "run, stop or ask after a batch of tests"},
	{Name: "BATCH_REPLY", Value: 0x5, Doc: "run, stop or ask after a batch of tests: the answer"},
	{Name: "STAT_REQST", Value: 0x6, Doc: "fetch counters"},
	{Name: "STAT_REPLY", Value: 0x7, Doc: "fetch counters: the answer"},
	{Name: "TEST_REQST", Value: 0x8, Doc: "add a test to a batch"},
	{Name: "TEST_REPLY", Value: 0x9, Doc: "add a test to a batch: the answer"},
	{Name: "DEBUG_REQST", Value: 0xa, Doc: "ask what session a node is in"},
	{Name: "DEBUG_REPLY", Value: 0xb, Doc: "ask what session a node is in: the answer"},
	{Name: "BRW_REQST", Value: 0xc, Doc: "bulk transfer of a test"},
	{Name: "BRW_REPLY", Value: 0xd, Doc: "bulk transfer of a test: the answer"},
	{Name: "PING_REQST", Value: 0xe, Doc: "ping of a test"},
	{Name: "PING_REPLY", Value: 0xf, Doc: "ping of a test: the answer"},
	{Name: "JOIN_REQST", Value: 0x10, Doc: "join a session"},
	{Name: "JOIN_REPLY", Value: 0x11, Doc: "join a session: the answer"},
	{Name: "INVALID", Value: 0x12, Since: "2.17", Doc: "first invalid number"},
})

var SrpcService = Enum("srpc_service", "SRPC_", "services of LNet selftest; the match bits of a request", []Value{
	{Name: "SERVICE_DEBUG", Value: 0x0, Doc: "queries the session of a node"},
	{Name: "SERVICE_MAKE_SESSION", Value: 0x1, Doc: "makes a session"},
	{Name: "SERVICE_REMOVE_SESSION", Value: 0x2, Doc: "ends a session"},
	{Name: "SERVICE_BATCH", Value: 0x3, Doc: "runs or stops a batch"},
	{Name: "SERVICE_TEST", Value: 0x4, Doc: "adds a test"},
	{Name: "SERVICE_QUERY_STAT", Value: 0x5, Doc: "fetches counters"},
	{Name: "SERVICE_JOIN", Value: 0x6, Doc: "joins a session"},
	{Name: "FRAMEWORK_SERVICE_MAX_ID", Value: 0xa, Doc: "limit of the services on portal 51"},
	{Name: "SERVICE_BRW", Value: 0xb, Doc: "bulk test"},
	{Name: "SERVICE_PING", Value: 0xc, Doc: "ping test"},
	{Name: "SERVICE_MAX_ID", Value: 0xd, Doc: "limit of all services"},
})

var LstFeatures = Bits("lst_features", "LST_", "features of a selftest session", []Value{
	{Name: "FEAT_NONE", Value: 0x0},
	{Name: "FEATS_EMPTY", Value: 0x0, Alias: true},
	{Name: "FEAT_BULK_LEN", Value: 0x1, Doc: "bulk tests give lengths in bytes, not in pages"},
	{Name: "FEATS_MASK", Value: 0x1, Alias: true},
})

var LstBatchOp = Enum("lst_batch_op", "SRPC_BATCH_OPC_", "what to do with a batch of tests", []Value{
	{Name: "RUN", Value: 0x1, Doc: "start it"},
	{Name: "STOP", Value: 0x2, Doc: "stop it"},
	{Name: "QUERY", Value: 0x3, Doc: "ask after its state"},
})

var LstBulkOp = Enum("lst_brw_op", "LST_BRW_", "direction of a bulk test", []Value{
	{Name: "READ", Value: 0x1, Doc: "the tested node sends"},
	{Name: "WRITE", Value: 0x2, Doc: "the tested node receives"},
})

var LstBulkCheck = Enum("lst_brw_check", "LST_BRW_CHECK_", "how a bulk test checks its data", []Value{
	{Name: "NONE", Value: 0x1, Doc: "not at all"},
	{Name: "SIMPLE", Value: 0x2, Doc: "the first and last words of each page"},
	{Name: "FULL", Value: 0x3, Doc: "all words"},
	{Name: "DISCARD", Value: 0x4, Since: "2.18", Doc: "the data are thrown away unseen"},
})

const srpcMagic = 0xeeb0f00d

// IsSelftest reports whether b begins with the magic of LNet selftest, in either
// byte order.
func IsSelftest(b []byte) bool {
	return len(b) >= 4 && (ReadUint(b[:4], false) == srpcMagic || ReadUint(b[:4], true) == srpcMagic)
}

// The messages of LNet selftest. Requests have even types, replies odd ones.

var (
	srpcMsgType = U32("msg_type", &SrpcMsgType, Shown{Role: Flag}, "request or reply of which service")
	srpcFeats   = U32("msg_ses_feats", &LstFeatures, "features of the session")
)

// shownStatus shows the result of an operation in summary lines.
var shownStatus = Shown{Role: Bad, Zero: "ok"}

// isUnknownSrpc is for messages of types that have no body of their own here.
func isUnknownSrpc(odd uint64) If {
	return func(v *View) bool {
		t := v.Uint(srpcMsgType)
		name := SrpcMsgType.Name(t)
		return (name == "" || name == "INVALID") && t&1 == odd
	}
}

var SelftestMsg = &Struct{Name: "srpc_msg", Detect: func(b []byte, big bool) bool { return magicAt(b, 0, srpcMagic, big) },
	Doc: "a message of LNet selftest", Fields: []*Field{
		U32("msg_magic", Harmless, Hex, "marks the message and the byte order of the sender"),
		U32("msg_version", Harmless, "1"),
		srpcMsgType,
		Padding("msg_reserved", 0, 4, 4),
		srpcFeats,
		Sub("reqst", &srpcGenericReqst, If(isUnknownSrpc(0)), "what all requests begin with"),
		Sub("reply", &srpcGenericReply, Over("reqst"), If(isUnknownSrpc(1)), "what all replies begin with"),
		Sub("mksn_reqst", &srpcMksnReqst, Over("reqst"), IfValue{"msg_type", "MKSN_REQST"}),
		Sub("mksn_reply", &srpcMksnReply, Over("reqst"), IfValue{"msg_type", "MKSN_REPLY"}),
		Sub("rmsn_reqst", &srpcRmsnReqst, Over("reqst"), IfValue{"msg_type", "RMSN_REQST"}),
		Sub("rmsn_reply", &srpcRmsnReply, Over("reqst"), IfValue{"msg_type", "RMSN_REPLY"}),
		Sub("dbg_reqst", &srpcDebugReqst, Over("reqst"), IfValue{"msg_type", "DEBUG_REQST"}),
		Sub("dbg_reply", &srpcDebugReply, Over("reqst"), IfValue{"msg_type", "DEBUG_REPLY"}),
		Sub("bat_reqst", &srpcBatchReqst, Over("reqst"), IfValue{"msg_type", "BATCH_REQST"}),
		Sub("bat_reply", &srpcBatchReply, Over("reqst"), IfValue{"msg_type", "BATCH_REPLY"}),
		Sub("stat_reqst", &srpcStatReqst, Over("reqst"), IfValue{"msg_type", "STAT_REQST"}),
		Sub("stat_reply", &srpcStatReply, Over("reqst"), IfValue{"msg_type", "STAT_REPLY"}),
		Sub("tes_reqst", &srpcTestReqst, Over("reqst"), IfValue{"msg_type", "TEST_REQST"}),
		Sub("tes_reply", &srpcTestReply, Over("reqst"), IfValue{"msg_type", "TEST_REPLY"}),
		Sub("join_reqst", &srpcJoinReqst, Over("reqst"), IfValue{"msg_type", "JOIN_REQST"}),
		Sub("join_reply", &srpcJoinReply, Over("reqst"), IfValue{"msg_type", "JOIN_REPLY"}),
		Sub("ping_reqst", &srpcPingReqst, Over("reqst"), IfValue{"msg_type", "PING_REQST"}),
		Sub("ping_reply", &srpcPingReply, Over("reqst"), IfValue{"msg_type", "PING_REPLY"}),
		Sub("brw_reqst", &srpcBrwReqst, Over("reqst"), IfValue{"msg_type", "BRW_REQST"}),
		Sub("brw_reply", &srpcBrwReply, Over("reqst"), IfValue{"msg_type", "BRW_REPLY"}),
	}}

const (
	rpyidDoc  = "match bits that the reply is to have"
	bulkidDoc = "match bits that bulk data are to have"
	statusDoc = "0 or an errno"
	sidDoc    = "the session"
)

var lstSid = &Struct{Name: "lst_sid", Doc: "names a session: the console that made it, and when", Fields: []*Field{
	U64("ses_nid", NID4, "NID of the console"),
	S64("ses_stamp", Harmless, "when the session was made, by the console's clock"),
}}

var lstBid = &Struct{Name: "lst_bid", Doc: "names a batch of tests in a session", Fields: []*Field{
	U64("bat_id", Cookie, "number of the batch"),
}}

var srpcGenericReqst = &Struct{Name: "srpc_generic_reqst", Doc: "what all requests begin with", Fields: []*Field{
	U64("rpyid", Cookie, rpyidDoc),
	U64("bulkid", Cookie, bulkidDoc),
}}

var srpcGenericReply = &Struct{Name: "srpc_generic_reply", Doc: "what all replies begin with", Fields: []*Field{
	S32("status", Errno, shownStatus, statusDoc),
	Sub("sid", &lstSid, sidDoc),
}}

var srpcMksnReqst = &Struct{Name: "srpc_mksn_reqst", Doc: "makes a session on a node", Fields: []*Field{
	U64("mksn_rpyid", Cookie, rpyidDoc),
	Sub("mksn_sid", &lstSid, sidDoc),
	U32("mksn_force", Harmless, "1: replaces a session that the node is in"),
	Str("mksn_name", 32, PlainName, Shown{Label: "session ", Role: Name}, "name of the session"),
}}

var srpcMksnReply = &Struct{Name: "srpc_mksn_reply", Doc: "answers a session that was to be made", Fields: []*Field{
	S32("mksn_status", Errno, shownStatus, statusDoc),
	Sub("mksn_sid", &lstSid, "the session that the node is in"),
	U32("mksn_timeout", TimeSpan, "seconds until an idle session ends"),
	Str("mksn_name", 32, PlainName, Shown{Label: "session ", Role: Name}, "name of the session"),
}}

var srpcRmsnReqst = &Struct{Name: "srpc_rmsn_reqst", Doc: "ends a session on a node", Fields: []*Field{
	U64("rmsn_rpyid", Cookie, rpyidDoc),
	Sub("rmsn_sid", &lstSid, sidDoc),
}}

var srpcRmsnReply = &Struct{Name: "srpc_rmsn_reply", Doc: "answers the end of a session", Fields: []*Field{
	S32("rmsn_status", Errno, shownStatus, statusDoc),
	Sub("rmsn_sid", &lstSid, sidDoc),
}}

var srpcJoinReqst = &Struct{Name: "srpc_join_reqst", Doc: "lets a node join a session", Fields: []*Field{
	U64("join_rpyid", Cookie, rpyidDoc),
	Sub("join_sid", &lstSid, sidDoc),
	Str("join_group", 32, PlainName, Shown{Label: "group ", Role: Name}, "name of the group of nodes"),
}}

var srpcJoinReply = &Struct{Name: "srpc_join_reply", Doc: "answers a node that was to join", Fields: []*Field{
	S32("join_status", Errno, shownStatus, statusDoc),
	Sub("join_sid", &lstSid, sidDoc),
	U32("join_timeout", TimeSpan, "seconds until an idle session ends"),
	Str("join_session", 32, PlainName, Shown{Label: "session ", Role: Name}, "name of the session"),
}}

var srpcDebugReqst = &Struct{Name: "srpc_debug_reqst", Doc: "asks a node what session it is in", Fields: []*Field{
	U64("dbg_rpyid", Cookie, rpyidDoc),
	Sub("dbg_sid", &lstSid, sidDoc),
	U32("dbg_flags", Harmless, Hex, "not in use"),
}}

var srpcDebugReply = &Struct{Name: "srpc_debug_reply", Doc: "the session of a node", Fields: []*Field{
	S32("dbg_status", Errno, shownStatus, statusDoc),
	Sub("dbg_sid", &lstSid, sidDoc),
	U32("dbg_timeout", TimeSpan, "seconds until an idle session ends"),
	U32("dbg_nbatch", Harmless, "batches of tests on the node"),
	Str("dbg_name", 32, PlainName, Shown{Label: "session ", Role: Name}, "name of the session"),
}}

var srpcBatchReqst = &Struct{Name: "srpc_batch_reqst", Doc: "runs, stops or asks after a batch of tests", Fields: []*Field{
	U64("bar_rpyid", Cookie, rpyidDoc),
	Sub("bar_sid", &lstSid, sidDoc),
	Sub("bar_bid", &lstBid, "the batch"),
	U32("bar_opc", &LstBatchOp, Shown{Role: Flag}, "what to do"),
	U32("bar_testidx", Harmless, "number of one test of the batch, 0 for all"),
	U32("bar_arg", Harmless, "how to do it"),
}}

var srpcBatchReply = &Struct{Name: "srpc_batch_reply", Doc: "the state of a batch", Fields: []*Field{
	S32("bar_status", Errno, shownStatus, statusDoc),
	Sub("bar_sid", &lstSid, sidDoc),
	U32("bar_active", Harmless, Shown{Label: "active ", Role: Number}, "tests that still run"),
	U32("bar_time", Harmless, "time left"),
}}
