package opcodes

// hsmExtent is struct hsm_extent.
var hsmExtent = Define("hsm_extent",
	U64("offset"),
	U64("length"),
)

// hsmUserState is struct hsm_user_state.
var hsmUserState = Define("hsm_user_state",
	U32("hus_states", "HS_*"),
	U32("hus_archive_id"),
	U32("hus_in_progress_state"),
	U32("hus_in_progress_action"),
	Sub("hus_in_progress_location", hsmExtent),
	Str("hus_extended_info", 0),
)

// hsmCurrentAction is struct hsm_current_action.
var hsmCurrentAction = Define("hsm_current_action",
	U32("hca_state"),
	U32("hca_action"),
	Sub("hca_location", hsmExtent),
)

// hsmRequest is struct hsm_request.
var hsmRequest = Define("hsm_request",
	U32("hr_action", "HUA_*"),
	U32("hr_archive_id"),
	U64("hr_flags"),
	U32("hr_itemcount"),
	U32("hr_data_len"),
)

// hsmUserItem is struct hsm_user_item.
var hsmUserItem = Define("hsm_user_item",
	Sub("hui_fid", luFid),
	Sub("hui_extent", hsmExtent),
)

// hsmActionItem is struct hsm_action_item.
var hsmActionItem = Define("hsm_action_item",
	U32("hai_len"),
	U32("hai_action", "HSMA_*"),
	Sub("hai_fid", luFid),
	Sub("hai_dfid", luFid),
	Sub("hai_extent", hsmExtent),
	U64("hai_cookie"),
	U64("hai_gid"),
	Str("hai_data", 0),
)

// hsmActionList is struct hsm_action_list.
var hsmActionList = Define("hsm_action_list",
	U32("hal_version"),
	U32("hal_count"),
	U64("hal_compound_id"),
	U64("hal_flags"),
	U32("hal_archive_id"),
	Pad("padding1", 4),
	Str("hal_fsname", 0),
)

// hsmStateSet is struct hsm_state_set.
var hsmStateSet = Define("hsm_state_set",
	U32("hss_valid"),
	U32("hss_archive_id"),
	U64("hss_setmask"),
	U64("hss_clearmask"),
)

// hsmProgressKernel is struct hsm_progress_kernel.
var hsmProgressKernel = Define("hsm_progress_kernel",
	Sub("hpk_fid", luFid),
	U64("hpk_cookie"),
	Sub("hpk_extent", hsmExtent),
	U16("hpk_flags"),
	U16("hpk_errval"),
	Pad("hpk_padding1", 4),
	U64("hpk_data_version"),
	Pad("hpk_padding2", 8),
)

// kucHdr is struct kuc_hdr.
var kucHdr = Define("kuc_hdr",
	U16("kuc_magic"),
	U8("kuc_transport"),
	U8("kuc_flags"),
	U16("kuc_msgtype"),
	U16("kuc_msglen"),
)
