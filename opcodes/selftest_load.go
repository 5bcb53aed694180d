package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// The tests of LNet selftest, and what they count.

var srpcStatReqst = &Struct{Name: "srpc_stat_reqst", Doc: "asks a node for its counters", Fields: []*Field{
	U64("str_rpyid", Cookie, rpyidDoc),
	Sub("str_sid", &lstSid, sidDoc),
	U32("str_type", Harmless, Hex, "which counters"),
}}

var srpcStatReply = &Struct{Name: "srpc_stat_reply", Doc: "the counters of a node", Fields: []*Field{
	S32("str_status", Errno, shownStatus, statusDoc),
	Sub("str_sid", &lstSid, sidDoc),
	Sub("str_fw", &sfwCounters, "of the tests"),
	Sub("str_rpc", &srpcCounters, "of the messages"),
	Sub("str_lnet", &lnetCountersCommon, "of LNet"),
}}

var sfwCounters = &Struct{Name: "sfw_counters", Doc: "counts of the tests of a session", Fields: []*Field{
	U32("running_ms", Harmless, "milliseconds since the session began"),
	U32("active_batches", Harmless, "batches that run"),
	U32("zombie_sessions", Harmless, "ended sessions that are still being cleaned up"),
	U32("brw_errors", Harmless, Shown{Label: "brw errors ", Role: Number}, "bulk tests that failed"),
	U32("ping_errors", Harmless, Shown{Label: "ping errors ", Role: Number}, "pings that failed"),
}}

var srpcCounters = &Struct{Name: "srpc_counters", Doc: "counts of selftest messages", Fields: []*Field{
	U32("errors", Harmless, "failures"),
	U32("rpcs_sent", Harmless, "requests sent"),
	U32("rpcs_rcvd", Harmless, "requests received"),
	U32("rpcs_dropped", Harmless, "requests dropped"),
	U32("rpcs_expired", Harmless, "requests that timed out"),
	U64("bulk_get", Size, "bytes of bulk data fetched"),
	U64("bulk_put", Size, "bytes of bulk data sent"),
}}

var lnetCountersCommon = &Struct{Name: "lnet_counters_common", Doc: "counts of LNet messages", Fields: []*Field{
	U32("lcc_msgs_alloc", Harmless, "messages that exist now"),
	U32("lcc_msgs_max", Harmless, "most messages that ever existed"),
	U32("lcc_errors", Harmless, "failures"),
	U32("lcc_send_count", Harmless, "messages sent"),
	U32("lcc_recv_count", Harmless, "messages received"),
	U32("lcc_route_count", Harmless, "messages routed for others"),
	U32("lcc_drop_count", Harmless, "messages dropped"),
	U64("lcc_send_length", Size, "bytes sent"),
	U64("lcc_recv_length", Size, "bytes received"),
	U64("lcc_route_length", Size, "bytes routed for others"),
	U64("lcc_drop_length", Size, "bytes dropped"),
}}

var testBulkReq = &Struct{Name: "test_bulk_req", Doc: "parameters of a bulk test, in pages", Fields: []*Field{
	U32("blk_opc", &LstBulkOp, Shown{Role: Flag}, "read or write"),
	U32("blk_npg", Harmless, "pages of one transfer"),
	U32("blk_flags", &LstBulkCheck, "how the data are checked"),
}}

var testBulkReqV1 = &Struct{Name: "test_bulk_req_v1", Doc: "parameters of a bulk test, in bytes", Fields: []*Field{
	U16("blk_opc", &LstBulkOp, Shown{Role: Flag}, "read or write"),
	U16("blk_flags", &LstBulkCheck, "how the data are checked"),
	U32("blk_len", Size, Shown{Label: "bytes ", Role: Number}, "bytes of one transfer"),
	U32("blk_offset", Size, "where in the first page the data begin"),
}}

var testPingReq = &Struct{Name: "test_ping_req", Doc: "parameters of a ping test", Fields: []*Field{
	U32("png_size", Size, "bytes of a ping"),
	U32("png_flags", Harmless, Hex, "not in use"),
}}

var tsrService = U32("tsr_service", &SrpcService, Shown{Role: Flag}, "which test")

var srpcTestReqst = &Struct{Name: "srpc_test_reqst",
	Doc: "adds a test to a batch; its bulk lists the nodes that the test runs against", Fields: []*Field{
		U64("tsr_rpyid", Cookie, rpyidDoc),
		U64("tsr_bulkid", Cookie, bulkidDoc),
		Sub("tsr_sid", &lstSid, sidDoc),
		Sub("tsr_bid", &lstBid, "the batch"),
		tsrService,
		U32("tsr_loop", Harmless, Shown{Label: "loops ", Role: Number}, "how many times to run"),
		U32("tsr_concur", Harmless, Shown{Label: "at once ", Role: Number}, "how many at once"),
		U8("tsr_is_client", Harmless, "1: the node begins the test, 0: it is tested"),
		U8("tsr_stop_onerr", Harmless, "1: the first failure ends the test"),
		U32("tsr_ndest", Harmless, "nodes to test against"),
		Sub("ping", &testPingReq, If(isTest("SERVICE_PING", nil)), "parameters of a ping test"),
		Sub("bulk_v0", &testBulkReq, Over("ping"), If(isTest("SERVICE_BRW", func(v *View) bool {
			return !inBytes(v)
		})), "parameters of a bulk test, in pages"),
		Sub("bulk_v1", &testBulkReqV1, Over("ping"), If(isTest("SERVICE_BRW", inBytes)), "parameters of a bulk test, in bytes"),
	}}

func isTest(service string, and If) If {
	want, ok := SrpcService.Find(service)
	if !ok {
		panic("no selftest service " + service)
	}
	return func(v *View) bool { return v.Uint(tsrService) == want.Value && (and == nil || and(v)) }
}

// inBytes reports whether the session gives lengths in bytes; in releases long
// gone they were in pages.
func inBytes(v *View) bool {
	return v.Up != nil && v.Up.Uint(srpcFeats)&LstFeatures.Bit("FEAT_BULK_LEN") != 0
}

var srpcTestReply = &Struct{Name: "srpc_test_reply", Doc: "answers a test that was to be added", Fields: []*Field{
	S32("tsr_status", Errno, shownStatus, statusDoc),
	Sub("tsr_sid", &lstSid, sidDoc),
}}

var srpcPingReqst = &Struct{Name: "srpc_ping_reqst", Doc: "a ping of a test", Fields: []*Field{
	U64("pnr_rpyid", Cookie, rpyidDoc),
	U32("pnr_magic", Harmless, Hex, "marks a ping"),
	U32("pnr_seq", Harmless, Shown{Label: "number ", Role: Number}, "number of the ping"),
	U64("pnr_time_sec", Time, "when it was sent"),
	U64("pnr_time_nsec", Harmless, "nanoseconds or microseconds of that"),
}}

var srpcPingReply = &Struct{Name: "srpc_ping_reply", Doc: "the answer to a ping of a test", Fields: []*Field{
	S32("pnr_status", Errno, shownStatus, statusDoc),
	U32("pnr_magic", Harmless, Hex, "marks a ping"),
	U32("pnr_seq", Harmless, Shown{Label: "number ", Role: Number}, "number of the ping"),
}}

var srpcBrwReqst = &Struct{Name: "srpc_brw_reqst", Doc: "a bulk transfer of a test", Fields: []*Field{
	U64("brw_rpyid", Cookie, rpyidDoc),
	U64("brw_bulkid", Cookie, bulkidDoc),
	U32("brw_rw", &LstBulkOp, Shown{Role: Flag}, "read or write"),
	U32("brw_len", Size, Shown{Label: "bytes ", Role: Number}, "bytes"),
	U32("brw_flags", &LstBulkCheck, "how the data are checked"),
}}

var srpcBrwReply = &Struct{Name: "srpc_brw_reply", Doc: "the end of a bulk transfer of a test", Fields: []*Field{
	S32("brw_status", Errno, shownStatus, statusDoc),
}}
