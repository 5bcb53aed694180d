package opcodes

// lnetCountersCommon is struct lnet_counters_common.
var lnetCountersCommon = Define("lnet_counters_common",
	U32("lcc_msgs_alloc"),
	U32("lcc_msgs_max"),
	U32("lcc_errors"),
	U32("lcc_send_count"),
	U32("lcc_recv_count"),
	U32("lcc_route_count"),
	U32("lcc_drop_count"),
	U64("lcc_send_length"),
	U64("lcc_recv_length"),
	U64("lcc_route_length"),
	U64("lcc_drop_length"),
)

// lstSid is struct lst_sid.
var lstSid = Define("lst_sid",
	U64("ses_nid", NID4),
	S64("ses_stamp"),
)

// lstBid is struct lst_bid.
var lstBid = Define("lst_bid",
	U64("bat_id"),
)

// srpcCounters is struct srpc_counters.
var srpcCounters = Define("srpc_counters",
	U32("errors"),
	U32("rpcs_sent"),
	U32("rpcs_rcvd"),
	U32("rpcs_dropped"),
	U32("rpcs_expired"),
	U64("bulk_get"),
	U64("bulk_put"),
)

// sfwCounters is struct sfw_counters.
var sfwCounters = Define("sfw_counters",
	U32("running_ms"),
	U32("active_batches"),
	U32("zombie_sessions"),
	U32("brw_errors"),
	U32("ping_errors"),
)

// srpcGenericReqst is struct srpc_generic_reqst.
var srpcGenericReqst = Define("srpc_generic_reqst",
	U64("rpyid"),
	U64("bulkid"),
)

// srpcGenericReply is struct srpc_generic_reply.
var srpcGenericReply = Define("srpc_generic_reply",
	U32("status"),
	Sub("sid", lstSid),
)

// srpcMksnReqst is struct srpc_mksn_reqst.
var srpcMksnReqst = Define("srpc_mksn_reqst",
	U64("mksn_rpyid"),
	Sub("mksn_sid", lstSid),
	U32("mksn_force"),
	Str("mksn_name", 32),
)

// srpcMksnReply is struct srpc_mksn_reply.
var srpcMksnReply = Define("srpc_mksn_reply",
	U32("mksn_status"),
	Sub("mksn_sid", lstSid),
	U32("mksn_timeout"),
	Str("mksn_name", 32),
)

// srpcRmsnReqst is struct srpc_rmsn_reqst.
var srpcRmsnReqst = Define("srpc_rmsn_reqst",
	U64("rmsn_rpyid"),
	Sub("rmsn_sid", lstSid),
)

// srpcRmsnReply is struct srpc_rmsn_reply.
var srpcRmsnReply = Define("srpc_rmsn_reply",
	U32("rmsn_status"),
	Sub("rmsn_sid", lstSid),
)

// srpcJoinReqst is struct srpc_join_reqst.
var srpcJoinReqst = Define("srpc_join_reqst",
	U64("join_rpyid"),
	Sub("join_sid", lstSid),
	Str("join_group", 32),
)

// srpcJoinReply is struct srpc_join_reply.
var srpcJoinReply = Define("srpc_join_reply",
	U32("join_status"),
	Sub("join_sid", lstSid),
	U32("join_timeout"),
	Str("join_session", 32),
)

// srpcDebugReqst is struct srpc_debug_reqst.
var srpcDebugReqst = Define("srpc_debug_reqst",
	U64("dbg_rpyid"),
	Sub("dbg_sid", lstSid),
	U32("dbg_flags"),
)

// srpcDebugReply is struct srpc_debug_reply.
var srpcDebugReply = Define("srpc_debug_reply",
	U32("dbg_status"),
	Sub("dbg_sid", lstSid),
	U32("dbg_timeout"),
	U32("dbg_nbatch"),
	Str("dbg_name", 32),
)

// srpcBatchReqst is struct srpc_batch_reqst.
var srpcBatchReqst = Define("srpc_batch_reqst",
	U64("bar_rpyid"),
	Sub("bar_sid", lstSid),
	Sub("bar_bid", lstBid),
	U32("bar_opc"),
	U32("bar_testidx"),
	U32("bar_arg"),
)

// srpcBatchReply is struct srpc_batch_reply.
var srpcBatchReply = Define("srpc_batch_reply",
	U32("bar_status"),
	Sub("bar_sid", lstSid),
	U32("bar_active"),
	U32("bar_time"),
)

// srpcStatReqst is struct srpc_stat_reqst.
var srpcStatReqst = Define("srpc_stat_reqst",
	U64("str_rpyid"),
	Sub("str_sid", lstSid),
	U32("str_type"),
)

// srpcStatReply is struct srpc_stat_reply.
var srpcStatReply = Define("srpc_stat_reply",
	U32("str_status"),
	Sub("str_sid", lstSid),
	Sub("str_fw", sfwCounters),
	Sub("str_rpc", srpcCounters),
	Sub("str_lnet", lnetCountersCommon),
)

// testBulkReq is struct test_bulk_req.
var testBulkReq = Define("test_bulk_req",
	U32("blk_opc"),
	U32("blk_npg"),
	U32("blk_flags"),
)

// testBulkReqV1 is struct test_bulk_req_v1.
var testBulkReqV1 = Define("test_bulk_req_v1",
	U16("blk_opc"),
	U16("blk_flags"),
	U32("blk_len"),
	U32("blk_offset"),
)

// testPingReq is struct test_ping_req.
var testPingReq = Define("test_ping_req",
	U32("png_size"),
	U32("png_flags"),
)

// srpcTestReqst is struct srpc_test_reqst.
var srpcTestReqst = Define("srpc_test_reqst",
	U64("tsr_rpyid"),
	U64("tsr_bulkid"),
	Sub("tsr_sid", lstSid),
	Sub("tsr_bid", lstBid),
	U32("tsr_service", SrpcService),
	U32("tsr_loop"),
	U32("tsr_concur"),
	U8("tsr_is_client"),
	U8("tsr_stop_onerr"),
	U32("tsr_ndest"),
	Sub("tsr_u.ping", testPingReq),
	Sub("tsr_u.bulk_v0", testBulkReq, Over("tsr_u.ping")),
	Sub("tsr_u.bulk_v1", testBulkReqV1, Over("tsr_u.ping")),
)

// srpcTestReply is struct srpc_test_reply.
var srpcTestReply = Define("srpc_test_reply",
	U32("tsr_status"),
	Sub("tsr_sid", lstSid),
)

// srpcPingReqst is struct srpc_ping_reqst.
var srpcPingReqst = Define("srpc_ping_reqst",
	U64("pnr_rpyid"),
	U32("pnr_magic"),
	U32("pnr_seq"),
	U64("pnr_time_sec"),
	U64("pnr_time_nsec"),
)

// srpcPingReply is struct srpc_ping_reply.
var srpcPingReply = Define("srpc_ping_reply",
	U32("pnr_status"),
	U32("pnr_magic"),
	U32("pnr_seq"),
)

// srpcBrwReqst is struct srpc_brw_reqst.
var srpcBrwReqst = Define("srpc_brw_reqst",
	U64("brw_rpyid"),
	U64("brw_bulkid"),
	U32("brw_rw"),
	U32("brw_len"),
	U32("brw_flags"),
)

// srpcBrwReply is struct srpc_brw_reply.
var srpcBrwReply = Define("srpc_brw_reply",
	U32("brw_status"),
)

// srpcMsg is struct srpc_msg.
var srpcMsg = Define("srpc_msg",
	U32("msg_magic"),
	U32("msg_version"),
	U32("msg_type", "SRPC_MSG_*"),
	Pad("msg_reserved0", 4),
	Pad("msg_reserved1", 4),
	U32("msg_ses_feats"),
	Sub("msg_body.reqst", srpcGenericReqst),
	Sub("msg_body.reply", srpcGenericReply, Over("msg_body.reqst")),
	Sub("msg_body.mksn_reqst", srpcMksnReqst, Over("msg_body.reqst")),
	Sub("msg_body.mksn_reply", srpcMksnReply, Over("msg_body.reqst")),
	Sub("msg_body.rmsn_reqst", srpcRmsnReqst, Over("msg_body.reqst")),
	Sub("msg_body.rmsn_reply", srpcRmsnReply, Over("msg_body.reqst")),
	Sub("msg_body.dbg_reqst", srpcDebugReqst, Over("msg_body.reqst")),
	Sub("msg_body.dbg_reply", srpcDebugReply, Over("msg_body.reqst")),
	Sub("msg_body.bat_reqst", srpcBatchReqst, Over("msg_body.reqst")),
	Sub("msg_body.bat_reply", srpcBatchReply, Over("msg_body.reqst")),
	Sub("msg_body.stat_reqst", srpcStatReqst, Over("msg_body.reqst")),
	Sub("msg_body.stat_reply", srpcStatReply, Over("msg_body.reqst")),
	Sub("msg_body.tes_reqst", srpcTestReqst, Over("msg_body.reqst")),
	Sub("msg_body.tes_reply", srpcTestReply, Over("msg_body.reqst")),
	Sub("msg_body.join_reqst", srpcJoinReqst, Over("msg_body.reqst")),
	Sub("msg_body.join_reply", srpcJoinReply, Over("msg_body.reqst")),
	Sub("msg_body.ping_reqst", srpcPingReqst, Over("msg_body.reqst")),
	Sub("msg_body.ping_reply", srpcPingReply, Over("msg_body.reqst")),
	Sub("msg_body.brw_reqst", srpcBrwReqst, Over("msg_body.reqst")),
	Sub("msg_body.brw_reply", srpcBrwReply, Over("msg_body.reqst")),
)
