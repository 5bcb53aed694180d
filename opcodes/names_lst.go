package opcodes

// SrpcMsgType is the group srpc_msg_type.
var SrpcMsgType = Enum("srpc_msg_type", "SRPC_MSG_", "", []Value{
	{Name: "MKSN_REQST", Value: 0x0},
	{Name: "MKSN_REPLY", Value: 0x1},
	{Name: "RMSN_REQST", Value: 0x2},
	{Name: "RMSN_REPLY", Value: 0x3},
	{Name: "BATCH_REQST", Value: 0x4},
	{Name: "BATCH_REPLY", Value: 0x5},
	{Name: "STAT_REQST", Value: 0x6},
	{Name: "STAT_REPLY", Value: 0x7},
	{Name: "TEST_REQST", Value: 0x8},
	{Name: "TEST_REPLY", Value: 0x9},
	{Name: "DEBUG_REQST", Value: 0xa},
	{Name: "DEBUG_REPLY", Value: 0xb},
	{Name: "BRW_REQST", Value: 0xc},
	{Name: "BRW_REPLY", Value: 0xd},
	{Name: "PING_REQST", Value: 0xe},
	{Name: "PING_REPLY", Value: 0xf},
	{Name: "JOIN_REQST", Value: 0x10},
	{Name: "JOIN_REPLY", Value: 0x11},
	{Name: "INVALID", Value: 0x12, Since: "2.17"},
})

// SrpcService is the group srpc_service.
var SrpcService = Enum("srpc_service", "SRPC_", "", []Value{
	{Name: "SERVICE_DEBUG", Value: 0x0},
	{Name: "SERVICE_MAKE_SESSION", Value: 0x1},
	{Name: "SERVICE_REMOVE_SESSION", Value: 0x2},
	{Name: "SERVICE_BATCH", Value: 0x3},
	{Name: "SERVICE_TEST", Value: 0x4},
	{Name: "SERVICE_QUERY_STAT", Value: 0x5},
	{Name: "SERVICE_JOIN", Value: 0x6},
	{Name: "FRAMEWORK_SERVICE_MAX_ID", Value: 0xa},
	{Name: "SERVICE_BRW", Value: 0xb},
	{Name: "SERVICE_PING", Value: 0xc},
	{Name: "SERVICE_MAX_ID", Value: 0xd},
})

// SrpcMisc is the group srpc_misc.
var SrpcMisc = Enum("srpc_misc", "SRPC_", "", []Value{
	{Name: "BATCH_OPC_RUN", Value: 0x1},
	{Name: "MSG_VERSION", Value: 0x1, Alias: true},
	{Name: "BATCH_OPC_STOP", Value: 0x2},
	{Name: "BATCH_OPC_QUERY", Value: 0x3},
	{Name: "MSG_MAGIC", Value: 0xeeb0f00d},
})

// LstBrw is the group lst_brw.
var LstBrw = Enum("lst_brw", "LST_", "", []Value{
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
var LstFeatures = Bits("lst_features", "LST_", "", []Value{
	{Name: "FEAT_NONE", Value: 0x0},
	{Name: "FEATS_EMPTY", Value: 0x0, Alias: true},
	{Name: "FEATS_MASK", Value: 0x1},
	{Name: "FEAT_BULK_LEN", Value: 0x1, Alias: true},
})

// SrpcPortal is the group srpc_portal.
var SrpcPortal = Enum("srpc_portal", "SRPC_", "", []Value{
	{Name: "REQUEST_PORTAL", Value: 0x32, Doc: "selftest request portal 50"},
	{Name: "FRAMEWORK_REQUEST_PORTAL", Value: 0x33, Doc: "selftest framework portal 51"},
	{Name: "RDMA_PORTAL", Value: 0x34, Doc: "selftest reply and bulk portal 52"},
})
