package opcodes

// lfsckRequest is struct lfsck_request.
var lfsckRequest = Define("lfsck_request",
	U32("lr_event", "LE_*"),
	U32("lr_index"),
	U32("lr_flags", "LEF_*"),
	U32("lr_valid"),
	U32("lr_speed"),
	U32("lr_status", Over("lr_speed")),
	U16("lr_version"),
	U16("lr_active"),
	U16("lr_param"),
	U16("lr_async_windows"),
	U32("lr_flags2"),
	Sub("lr_fid", luFid),
	Sub("lr_fid2", luFid),
	U32("lr_comp_id"),
	Pad("lr_padding_0", 4),
	Pad("lr_padding_1", 8),
	Pad("lr_padding_2", 8),
	Pad("lr_padding_3", 8),
)

// lfsckReply is struct lfsck_reply.
var lfsckReply = Define("lfsck_reply",
	U32("lr_status"),
	Pad("lr_padding_1", 4),
	U64("lr_repaired"),
)
