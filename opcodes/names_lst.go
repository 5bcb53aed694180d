package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// SrpcMsgType is the group srpc_msg_type.
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
	{Name: "INVALID", Value: 0x12, Since: "2.17", Doc: "the first number that is none"},
})

// SrpcService is the group srpc_service.
var SrpcService = Enum("srpc_service", "SRPC_", "services of LNet selftest; the match bits of a request", []Value{
	{Name: "SERVICE_DEBUG", Value: 0x0, Doc: "asks what session a node is in"},
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

// SrpcMisc is the group srpc_misc.
var SrpcMisc = Enum("srpc_misc", "SRPC_", "numbers of LNet selftest", []Value{
	{Name: "BATCH_OPC_RUN", Value: 0x1},
	{Name: "MSG_VERSION", Value: 0x1, Alias: true},
	{Name: "BATCH_OPC_STOP", Value: 0x2},
	{Name: "BATCH_OPC_QUERY", Value: 0x3},
	{Name: "MSG_MAGIC", Value: 0xeeb0f00d},
})

// LstBrw is the group lst_brw.
var LstBrw = Enum("lst_brw", "LST_", "kinds of test, directions and checks of LNet selftest", []Value{
	{Name: "TEST_BULK", Value: 0x1},
	{Name: "TEST_PING", Value: 0x2},
	{Name: "BRW_READ", Value: 0x1, Alias: true},
	{Name: "BRW_WRITE", Value: 0x2, Alias: true},
	{Name: "BRW_CHECK_NONE", Value: 0x1, Alias: true},
	{Name: "BRW_CHECK_SIMPLE", Value: 0x2, Alias: true},
	{Name: "BRW_CHECK_FULL", Value: 0x3},
	{Name: "BRW_CHECK_DISCARD", Value: 0x4, Since: "2.18"},
})

// LstFeatures is the group lst_features.
var LstFeatures = Bits("lst_features", "LST_", "features of a selftest session", []Value{
	{Name: "FEAT_NONE", Value: 0x0},
	{Name: "FEATS_EMPTY", Value: 0x0, Alias: true},
	{Name: "FEAT_BULK_LEN", Value: 0x1, Doc: "bulk tests give lengths in bytes, not in pages"},
	{Name: "FEATS_MASK", Value: 0x1, Alias: true},
})

// SrpcPortal is the group srpc_portal.
var SrpcPortal = Enum("srpc_portal", "SRPC_", "portals of LNet selftest", []Value{
	{Name: "REQUEST_PORTAL", Value: 0x32, Doc: "requests of tests"},
	{Name: "FRAMEWORK_REQUEST_PORTAL", Value: 0x33, Doc: "requests that steer the tests"},
	{Name: "RDMA_PORTAL", Value: 0x34, Doc: "replies and bulk data"},
})

// LstBatchOp are the operations on a batch among the numbers of srpc_misc.
var LstBatchOp = Enum("lst_batch_op", "SRPC_BATCH_OPC_", "what to do with a batch of tests", []Value{
	{Name: "RUN", Value: 0x1, Doc: "start it"},
	{Name: "STOP", Value: 0x2, Doc: "stop it"},
	{Name: "QUERY", Value: 0x3, Doc: "ask after its state"},
})

// LstBulkOp are the directions of a bulk test among the numbers of lst_brw.
var LstBulkOp = Enum("lst_brw_op", "LST_BRW_", "direction of a bulk test", []Value{
	{Name: "READ", Value: 0x1, Doc: "the tested node sends"},
	{Name: "WRITE", Value: 0x2, Doc: "the tested node receives"},
})

// LstBulkCheck are the checks of a bulk test among the numbers of lst_brw.
var LstBulkCheck = Enum("lst_brw_check", "LST_BRW_CHECK_", "how a bulk test checks its data", []Value{
	{Name: "NONE", Value: 0x1, Doc: "not at all"},
	{Name: "SIMPLE", Value: 0x2, Doc: "the first and last words of each page"},
	{Name: "FULL", Value: 0x3, Doc: "all words"},
	{Name: "DISCARD", Value: 0x4, Since: "2.18", Doc: "the data are thrown away unseen"},
})
