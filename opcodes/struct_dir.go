package opcodes

// luOrphanRec is struct lu_orphan_rec.
var luOrphanRec = Define("lu_orphan_rec",
	Sub("lor_fid", luFid),
	U32("lor_uid"),
	U32("lor_gid"),
)

// luOrphanEnt is struct lu_orphan_ent.
var luOrphanEnt = Define("lu_orphan_ent",
	Sub("loe_key", luFid),
	Sub("loe_rec", luOrphanRec),
)

// luOrphanRecV2 is struct lu_orphan_rec_v2.
var luOrphanRecV2 = Define("lu_orphan_rec_v2",
	Sub("lor_rec", luOrphanRec),
	Sub("lor_layout", ostLayout),
	Pad("lor_padding", 4),
)

// luOrphanEntV2 is struct lu_orphan_ent_v2.
var luOrphanEntV2 = Define("lu_orphan_ent_v2",
	Sub("loe_key", luFid),
	Sub("loe_rec", luOrphanRecV2),
)

// luOrphanRecV3 is struct lu_orphan_rec_v3.
var luOrphanRecV3 = Define("lu_orphan_rec_v3",
	Sub("lor_rec", luOrphanRec),
	Sub("lor_layout", ostLayout),
	U32("lor_layout_version"),
	U32("lor_range"),
	Pad("lor_padding_1", 4),
	Pad("lor_padding_2", 8),
)

// luOrphanEntV3 is struct lu_orphan_ent_v3.
var luOrphanEntV3 = Define("lu_orphan_ent_v3",
	Sub("loe_key", luFid),
	Sub("loe_rec", luOrphanRecV3),
)

// luDirent is struct lu_dirent.
var luDirent = Define("lu_dirent",
	Little,
	Sub("lde_fid", luFid),
	U64("lde_hash"),
	U16("lde_reclen", "0 in the last entry of a page"),
	U16("lde_namelen"),
	U32("lde_attrs", "LUDA_*"),
	Str("lde_name", 0),
)

// ludaType is struct luda_type.
var ludaType = Define("luda_type",
	Little,
	U16("lt_type"),
)

// luDirpage is struct lu_dirpage.
var luDirpage = Define("lu_dirpage",
	Little,
	U64("ldp_hash_start"),
	U64("ldp_hash_end"),
	U32("ldp_flags", "LDF_*"),
	Pad("ldp_pad0", 4),
	Arr("ldp_entries", -1, Sub("", luDirent)),
)

// idxInfo is struct idx_info.
var idxInfo = Define("idx_info",
	U32("ii_magic"),
	U32("ii_flags"),
	U16("ii_count", "number of 4 KiB pages"),
	Pad("ii_pad0", 2),
	U32("ii_attrs"),
	Sub("ii_fid", luFid),
	U64("ii_version"),
	U64("ii_hash_start"),
	U64("ii_hash_end"),
	U16("ii_keysize"),
	U16("ii_recsize"),
	Pad("ii_pad1", 4),
	Pad("ii_pad2", 8),
	Pad("ii_pad3", 8),
)

// luIdxpage is struct lu_idxpage.
var luIdxpage = Define("lu_idxpage",
	U32("lip_magic"),
	U16("lip_flags"),
	U16("lip_nr"),
	Pad("lip_pad0", 8),
	Str("lip_entries", 0),
)

// luPage is union lu_page.
var luPage = Define("lu_page",
	Sub("lp_dir", luDirpage),
	Sub("lp_idx", luIdxpage, Over("lp_dir")),
	Str("lp_array", 4096, Over("lp_dir")),
)

// idxpageQuotaEntry is struct idxpage_quota_entry.
var idxpageQuotaEntry = Define("idxpage_quota_entry",
	U64("key", "uid/gid/projid"),
	Sub("rec", lquotaGlbRec, "slave index: 8-byte struct lquota_slv_rec instead"),
)

// idxpageNodemapEntry is struct idxpage_nodemap_entry.
var idxpageNodemapEntry = Define("idxpage_nodemap_entry",
	Sub("key", nodemapKey),
	Sub("rec", nodemapRec, "member chosen by index type in the top 4 bits of nk_nodemap_id"),
)
