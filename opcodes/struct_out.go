package opcodes

// objectUpdateParam is struct object_update_param.
var objectUpdateParam = Define("object_update_param",
	U16("oup_len"),
	Pad("oup_padding", 2),
	Pad("oup_padding2", 4),
	Str("oup_buf", 0),
)

// objectUpdate is struct object_update.
var objectUpdate = Define("object_update",
	U16("ou_type", "OUT_*"),
	U16("ou_params_count"),
	U32("ou_result_size"),
	U32("ou_flags", "UPDATE_FL_*"),
	Pad("ou_padding1", 4),
	U64("ou_batchid"),
	Sub("ou_fid", luFid),
	Arr("ou_params", -1, Sub("", objectUpdateParam)),
)

// objectUpdateRequest is struct object_update_request.
var objectUpdateRequest = Define("object_update_request",
	U32("ourq_magic"),
	U16("ourq_count"),
	Pad("ourq_padding", 2),
	Arr("ourq_updates", -1, Sub("", objectUpdate)),
)

// outUpdateHeader is struct out_update_header.
var outUpdateHeader = Define("out_update_header",
	U32("ouh_magic"),
	U32("ouh_count"),
	U32("ouh_inline_length"),
	U32("ouh_reply_size"),
	Arr("ouh_inline_data", -1, U32("")),
)

// outUpdateBuffer is struct out_update_buffer.
var outUpdateBuffer = Define("out_update_buffer",
	U32("oub_size"),
	Pad("oub_padding", 4),
)

// objectUpdateResult is struct object_update_result.
var objectUpdateResult = Define("object_update_result",
	U32("our_rc"),
	U16("our_datalen"),
	Pad("our_padding", 2),
	Arr("our_data", -1, U32("")),
)

// objectUpdateReply is struct object_update_reply.
var objectUpdateReply = Define("object_update_reply",
	U32("ourp_magic"),
	U16("ourp_count"),
	Pad("ourp_padding", 2),
	Arr("ourp_lens", -1, U16("")),
)

// outReadReply is struct out_read_reply.
var outReadReply = Define("out_read_reply",
	U32("orr_size"),
	Pad("orr_padding", 4),
	U64("orr_offset"),
	Str("orr_data", 0),
)

// batchUpdateRequest is struct batch_update_request.
var batchUpdateRequest = Define("batch_update_request",
	Since("2.16"),
	U32("burq_magic"),
	U16("burq_count"),
	Pad("burq_padding", 2),
	Arr("burq_reqmsg", -1, Sub("", lustreMsgV2)),
)

// butUpdateHeader is struct but_update_header.
var butUpdateHeader = Define("but_update_header",
	Since("2.16"),
	U32("buh_magic"),
	U32("buh_count"),
	U32("buh_inline_length"),
	U32("buh_reply_size"),
	U32("buh_update_count"),
	Pad("buh_padding", 4),
	Arr("buh_inline_data", -1, U32("")),
)

// butUpdateBuffer is struct but_update_buffer.
var butUpdateBuffer = Define("but_update_buffer",
	Since("2.16"),
	U32("bub_size"),
	Pad("bub_padding", 4),
)

// batchUpdateReply is struct batch_update_reply.
var batchUpdateReply = Define("batch_update_reply",
	Since("2.16"),
	U32("burp_magic"),
	U16("burp_count"),
	Pad("burp_padding", 2),
	Arr("burp_repmsg", -1, Sub("", lustreMsgV2)),
)

// updateOp is struct update_op.
var updateOp = Define("update_op",
	Sub("uop_fid", luFid),
	U16("uop_type"),
	U16("uop_param_count"),
	Arr("uop_params_off", -1, U16("")),
)

// updateOps is struct update_ops.
var updateOps = Define("update_ops",
	Arr("uops_op", -1, Sub("", updateOp)),
)

// updateParams is struct update_params.
var updateParams = Define("update_params",
	Arr("up_params", -1, Sub("", objectUpdateParam)),
)

// updateRecords is struct update_records.
var updateRecords = Define("update_records",
	U64("ur_master_transno"),
	U64("ur_batchid"),
	U32("ur_flags"),
	U32("ur_index"),
	U32("ur_update_count"),
	U32("ur_param_count"),
	Sub("ur_ops", updateOps),
)
