package opcodes

// mgsSendParam is struct mgs_send_param.
var mgsSendParam = Define("mgs_send_param",
	Str("mgs_param", 1024),
)

// mgsTargetInfo is struct mgs_target_info.
var mgsTargetInfo = Define("mgs_target_info",
	U32("mti_lustre_ver"),
	U32("mti_stripe_index"),
	U32("mti_config_ver"),
	U32("mti_flags", "LDD_F_*"),
	U32("mti_nid_count"),
	U32("mti_instance"),
	Str("mti_fsname", 64),
	Str("mti_svname", 64),
	Str("mti_uuid", 40),
	Arr("mti_nids", 32, U64("")),
	Str("mti_params", 4096),
	Str("mti_nidlist", 0, Since("2.16")),
)

// mgsTargetNidlist is struct mgs_target_nidlist.
var mgsTargetNidlist = Define("mgs_target_nidlist",
	Since("2.17"),
	U32("mtn_flags"),
	U32("mtn_nids"),
	Str("mtn_inline_list", 0),
)

// mgsNidtblEntry is struct mgs_nidtbl_entry.
var mgsNidtblEntry = Define("mgs_nidtbl_entry",
	U64("mne_version"),
	U32("mne_instance"),
	U32("mne_index"),
	U32("mne_length", "whole entry length"),
	U8("mne_type"),
	U8("mne_nid_type"),
	U8("mne_nid_size"),
	U8("mne_nid_count"),
	Arr("u.nids", -1, U64("", NID4)),
	Arr("u.nidlist", -1, Sub("", lnetNid), Since("2.16")),
)

// mgsConfigBody is struct mgs_config_body.
var mgsConfigBody = Define("mgs_config_body",
	Str("mcb_name", 64),
	U64("mcb_offset"),
	U16("mcb_type", "MGS_CFG_T_*"),
	U8("mcb_nm_cur_pass"),
	U8("mcb_rec_nid_size", Over("mcb_nm_cur_pass"), Since("2.16")),
	U8("mcb_bits", "log2 of unit"),
	U32("mcb_units", "bulk size in units"),
)

// mgsConfigRes is struct mgs_config_res.
var mgsConfigRes = Define("mgs_config_res",
	U64("mcr_offset"),
	U64("mcr_size"),
	U64("mcr_nm_cur_pass", Over("mcr_size")),
)

// mgsNidtblNids is struct mgs_nidtbl_nids.
var mgsNidtblNids = Define("mgs_nidtbl_nids",
	Arr("nid4", -1, U64("", NID4), "when mne_nid_type==0: lnet_nid_t each"),
	Arr("nid16", -1, Sub("", lnetNid), Over("nid4"), Since("2.16"), "when mne_nid_type!=0 with size mne_nid_size each"),
)
