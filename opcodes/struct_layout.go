package opcodes

// lovUserOstDataV1 is struct lov_user_ost_data_v1.
var lovUserOstDataV1 = Define("lov_user_ost_data_v1",
	Sub("l_ost_oi", ostId),
	U32("l_ost_type", Since("2.17")),
	U32("l_ost_gen", Over("l_ost_type")),
	U32("l_ost_idx"),
)

// lovUserMdV1 is struct lov_user_md_v1.
var lovUserMdV1 = Define("lov_user_md_v1",
	U32("lmm_magic"),
	U32("lmm_pattern"),
	Sub("lmm_oi", ostId),
	U32("lmm_stripe_size"),
	U16("lmm_stripe_count"),
	U16("lmm_stripe_offset"),
	U16("lmm_layout_gen", Over("lmm_stripe_offset")),
	Arr("lmm_objects", -1, Sub("", lovUserOstDataV1)),
)

// lovUserMdV3 is struct lov_user_md_v3.
var lovUserMdV3 = Define("lov_user_md_v3",
	U32("lmm_magic"),
	U32("lmm_pattern"),
	Sub("lmm_oi", ostId),
	U32("lmm_stripe_size"),
	U16("lmm_stripe_count"),
	U16("lmm_stripe_offset"),
	U16("lmm_layout_gen", Over("lmm_stripe_offset")),
	Str("lmm_pool_name", 16),
	Arr("lmm_objects", -1, Sub("", lovUserOstDataV1)),
)

// lovForeignMd is struct lov_foreign_md.
var lovForeignMd = Define("lov_foreign_md",
	Since("2.15"),
	Little,
	U32("lfm_magic"),
	U32("lfm_length"),
	U32("lfm_type"),
	U32("lfm_flags"),
	Str("lfm_value", 0),
)

// luExtent is struct lu_extent.
var luExtent = Define("lu_extent",
	U64("e_start"),
	U64("e_end"),
)

// lovCompMdEntryV1 is struct lov_comp_md_entry_v1.
var lovCompMdEntryV1 = Define("lov_comp_md_entry_v1",
	Little,
	U32("lcme_id"),
	U32("lcme_flags", "LCME_FL_*"),
	Sub("lcme_extent", luExtent),
	U32("lcme_offset", "from the start of lov_comp_md_v1"),
	U32("lcme_size"),
	U32("lcme_layout_gen"),
	U64("lcme_time_and_id", Since("2.18")),
	U48("lcme_timestamp", Over("lcme_time_and_id"), "low 48 bits of the u64 at 36; plain seconds before 2.18; bit-field 48 bits"),
	U16("lcme_mirror_link_id", At(42), Since("2.18"), "high 16 bits of the same u64"),
	U8("lcme_dstripe_count", Since("2.16")),
	U8("lcme_cstripe_count", Since("2.16")),
	U8("lcme_compr_type", Since("2.16")),
	U8("lcme_compr_lvl", Since("2.16"), "low nibble; bit-field 4 bits"),
	U8("lcme_compr_chunk_lum_bits", Over("lcme_compr_lvl"), Since("2.18"), "high nibble; bit-field 4 bits; named lcme_compr_chunk_log_bits through 2.17"),
)

// lovCompMdV1 is struct lov_comp_md_v1.
var lovCompMdV1 = Define("lov_comp_md_v1",
	Little,
	U32("lcm_magic"),
	U32("lcm_size"),
	U32("lcm_layout_gen"),
	U16("lcm_flags", "LCM_FL_*"),
	U16("lcm_entry_count"),
	U16("lcm_mirror_count", "stored minus 1"),
	U8("lcm_ec_count", Since("2.16")),
	Pad("lcm_padding3", 1, Since("2.16")),
	Pad("lcm_padding1", 4, "offset 18 in <=2.12"),
	Pad("lcm_padding2", 8),
	Arr("lcm_entries", -1, Sub("", lovCompMdEntryV1)),
)

// lmvUserMdsData is struct lmv_user_mds_data.
var lmvUserMdsData = Define("lmv_user_mds_data",
	Sub("lum_fid", luFid),
	Pad("lum_padding", 4),
	U32("lum_mds"),
)

// lmvUserMdV1 is struct lmv_user_md_v1.
var lmvUserMdV1 = Define("lmv_user_md_v1",
	U32("lum_magic"),
	S32("lum_stripe_count"),
	U32("lum_stripe_offset"),
	U32("lum_hash_type"),
	U32("lum_type"),
	U8("lum_max_inherit", Since("2.15")),
	U8("lum_max_inherit_rr", Since("2.15")),
	Pad("lum_padding1", 2, "offset 20 in <=2.12"),
	Pad("lum_padding2", 4),
	Pad("lum_padding3", 4),
	Str("lum_pool_name", 16),
	Arr("lum_objects", -1, Sub("", lmvUserMdsData)),
)

// lovHsmBase is struct lov_hsm_base.
var lovHsmBase = Define("lov_hsm_base",
	Since("2.16"),
	Little,
	U64("lhb_archive_id"),
	U64("lhb_archive_ver"),
	Str("lhb_uuid", 40),
)

// lovHsmMd is struct lov_hsm_md.
var lovHsmMd = Define("lov_hsm_md",
	Since("2.16"),
	Little,
	U32("lhm_magic"),
	U32("lhm_length"),
	U32("lhm_type"),
	U32("lhm_flags"),
	Sub("lhm_hsm", lovHsmBase),
)

// lovOstDataV1 is struct lov_ost_data_v1.
var lovOstDataV1 = Define("lov_ost_data_v1",
	Little,
	Sub("l_ost_oi", ostId),
	U32("l_ost_type", Since("2.17")),
	U32("l_ost_gen", Over("l_ost_type")),
	U32("l_ost_idx"),
)

// lovMdsMdV1 is struct lov_mds_md_v1.
var lovMdsMdV1 = Define("lov_mds_md_v1",
	Little,
	U32("lmm_magic"),
	U32("lmm_pattern", LovPattern, "LOV_PATTERN_*"),
	Sub("lmm_oi", ostId),
	U32("lmm_stripe_size"),
	U16("lmm_stripe_count"),
	U16("lmm_layout_gen"),
	Arr("lmm_objects", -1, Sub("", lovOstDataV1)),
)

// lovMdsMdV3 is struct lov_mds_md_v3.
var lovMdsMdV3 = Define("lov_mds_md_v3",
	Little,
	U32("lmm_magic"),
	U32("lmm_pattern", LovPattern, "LOV_PATTERN_*"),
	Sub("lmm_oi", ostId),
	U32("lmm_stripe_size"),
	U16("lmm_stripe_count"),
	U16("lmm_layout_gen"),
	Str("lmm_pool_name", 16),
	Arr("lmm_objects", -1, Sub("", lovOstDataV1)),
)

// lmvDesc is struct lmv_desc.
var lmvDesc = Define("lmv_desc",
	U32("ld_tgt_count"),
	U32("ld_active_tgt_count"),
	U32("ld_default_stripe_count"),
	U32("ld_pattern"),
	U64("ld_default_hash_size"),
	Pad("ld_padding_1", 8),
	Pad("ld_padding_2", 4),
	U32("ld_qos_maxage"),
	Pad("ld_padding_3", 4),
	Pad("ld_padding_4", 4),
	Sub("ld_uuid", obdUuid),
)

// lmvMdsMdV1 is struct lmv_mds_md_v1.
var lmvMdsMdV1 = Define("lmv_mds_md_v1",
	Little,
	U32("lmv_magic"),
	U32("lmv_stripe_count"),
	U32("lmv_master_mdt_index"),
	U32("lmv_hash_type", "low 16 bits LMV_HASH_TYPE_*, high bits LMV_HASH_FLAG_*"),
	U32("lmv_layout_version"),
	U32("lmv_migrate_offset"),
	U32("lmv_migrate_hash"),
	Pad("lmv_padding2", 4),
	Pad("lmv_padding3", 8),
	Str("lmv_pool_name", 16),
	Arr("lmv_stripe_fids", -1, Sub("", luFid)),
)

// lmvForeignMd is struct lmv_foreign_md.
var lmvForeignMd = Define("lmv_foreign_md",
	Since("2.15"),
	Little,
	U32("lfm_magic"),
	U32("lfm_length"),
	U32("lfm_type"),
	U32("lfm_flags"),
	Str("lfm_value", 0),
)

// lmvMdsMd is union lmv_mds_md.
var lmvMdsMd = Define("lmv_mds_md",
	Little,
	U32("lmv_magic"),
	Sub("lmv_md_v1", lmvMdsMdV1, Over("lmv_magic")),
	Sub("lmv_user_md_v1", lmvUserMdV1, Over("lmv_magic")),
	Sub("lmv_foreign_md", lmvForeignMd, Over("lmv_magic"), Since("2.15")),
)

// lovDesc is struct lov_desc.
var lovDesc = Define("lov_desc",
	U32("ld_tgt_count"),
	U32("ld_active_tgt_count"),
	S32("ld_default_stripe_count"),
	U32("ld_pattern", LovPattern),
	U64("ld_default_stripe_size"),
	S64("ld_default_stripe_offset"),
	Pad("ld_padding_0", 4),
	U32("ld_qos_maxage"),
	Pad("ld_padding_1", 4),
	Pad("ld_padding_2", 4),
	Sub("ld_uuid", obdUuid),
)

// layoutIntent is struct layout_intent.
var layoutIntent = Define("layout_intent",
	U32("lai_opc", Since("2.16"), "LAYOUT_INTENT_*; named li_opc through 2.15"),
	U32("lai_flags", Since("2.16"), "named li_flags through 2.15"),
	Sub("lai_extent", luExtent, Since("2.16"), "named li_extent through 2.15"),
)
