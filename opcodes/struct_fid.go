package opcodes

// luFid is struct lu_fid.
var luFid = Define("lu_fid",
	FID,
	U64("f_seq"),
	U32("f_oid"),
	U32("f_ver"),
)

// ostId is struct ost_id.
var ostId = Define("ost_id",
	OSTID,
	U64("oi.oi_id"),
	U64("oi.oi_seq"),
	Sub("oi_fid", luFid, Over("oi.oi_id")),
)

// llFid is struct ll_fid.
var llFid = Define("ll_fid",
	U64("id"),
	U32("generation"),
	U32("f_type"),
)

// fidArray is struct fid_array.
var fidArray = Define("fid_array",
	U32("fa_nr"),
	Pad("fa_padding0", 4),
	Pad("fa_padding1", 8),
	Arr("fa_fids", -1, Sub("", luFid)),
)

// luSeqRange is struct lu_seq_range.
var luSeqRange = Define("lu_seq_range",
	U64("lsr_start"),
	U64("lsr_end"),
	U32("lsr_index"),
	U32("lsr_flags"),
)

// luSeqRangeArray is struct lu_seq_range_array.
var luSeqRangeArray = Define("lu_seq_range_array",
	Little,
	U32("lsra_count"),
	Pad("lsra_padding", 4),
	Arr("lsra_lsr", -1, Sub("", luSeqRange)),
)

// lustreCapa is struct lustre_capa.
var lustreCapa = Define("lustre_capa",
	Sub("lc_fid", luFid),
	U64("lc_opc"),
	U64("lc_uid"),
	U64("lc_gid"),
	U32("lc_flags"),
	U32("lc_keyid"),
	U32("lc_timeout"),
	U32("lc_expiry"),
	Opaque("lc_hmac", 64),
)
