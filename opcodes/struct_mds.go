package opcodes

// lustreSwapLayouts is struct lustre_swap_layouts.
var lustreSwapLayouts = Define("lustre_swap_layouts",
	U64("sl_flags"),
	U32("sl_fd"),
	U32("sl_gid"),
	U64("sl_dv1"),
	U64("sl_dv2"),
)

// changelogFilter is struct changelog_filter.
var changelogFilter = Define("changelog_filter",
	Since("2.17"),
	U64("cf_mask"),
	U32("cf_user_id"),
	Pad("cf_padding", 4),
	Str("cf_username", 30),
)

// mdtBody is struct mdt_body.
var mdtBody = Define("mdt_body",
	Sub("mbo_fid1", luFid, "OBD_MD_FLID in replies"),
	Sub("mbo_fid2", luFid, "parent or second object by opcode"),
	Sub("mbo_open_handle", lustreHandle, "open handle; mbo_handle in old docs"),
	U64("mbo_valid"),
	U64("mbo_size", "OBD_MD_FLSIZE; READPAGE request: start hash"),
	S64("mbo_mtime"),
	S64("mbo_atime"),
	S64("mbo_ctime"),
	U64("mbo_blocks", "OBD_MD_FLBLOCKS"),
	U64("mbo_version", "data version with OBD_MD_FLDATAVERSION"),
	U64("mbo_t_state", "OBD_MD_TSTATE"),
	U32("mbo_fsuid"),
	U32("mbo_fsgid"),
	U32("mbo_capability"),
	U32("mbo_mode"),
	U32("mbo_uid"),
	U32("mbo_gid"),
	U32("mbo_flags", "LUSTRE_*_FL in replies; OBD_FL_* for data version; xattr flags in xattr requests"),
	U32("mbo_rdev"),
	U32("mbo_nlink", "OBD_MD_FLNLINK; READPAGE: bytes"),
	U32("mbo_layout_gen"),
	U32("mbo_suppgid"),
	U32("mbo_eadatasize", "size of mdt_md/eadata data"),
	U32("mbo_aclsize", "size of ACL; xattr intent: total size of values"),
	U32("mbo_max_mdsize", "largest layout; xattr intent: number of values"),
	Pad("mbo_unused3", 4),
	U32("mbo_uid_h"),
	U32("mbo_gid_h"),
	U32("mbo_projid", "OBD_MD_FLPROJID"),
	U64("mbo_dom_size", "OBD_MD_DOM_SIZE"),
	U64("mbo_dom_blocks", "OBD_MD_DOM_SIZE"),
	U64("mbo_btime", Since("2.15"), "OBD_MD_FLBTIME; named mbo_padding_8 through 2.12"),
	U64("mbo_xattr_absent", Since("2.18"), "bit n set: that system xattr is absent; named mbo_padding_9 through 2.17"),
	Pad("mbo_padding_10", 8),
)

// mdtIoepoch is struct mdt_ioepoch.
var mdtIoepoch = Define("mdt_ioepoch",
	Sub("mio_open_handle", lustreHandle),
	Pad("mio_unused1", 8),
	Pad("mio_unused2", 4),
	Pad("mio_padding", 4),
)

// getinfoFid2path is struct getinfo_fid2path.
var getinfoFid2path = Define("getinfo_fid2path",
	Sub("gf_fid", luFid),
	U64("gf_recno"),
	U32("gf_linkno"),
	U32("gf_pathlen"),
	Str("gf_u.gf_path", 0),
	Arr("gf_u.gf_root_fid", -1, Sub("", luFid)),
)

// getparent is struct getparent.
var getparent = Define("getparent",
	Sub("gp_fid", luFid),
	U32("gp_linkno"),
	U32("gp_name_size"),
	Str("gp_name", 0),
)

// mdcSwapLayouts is struct mdc_swap_layouts.
var mdcSwapLayouts = Define("mdc_swap_layouts",
	U64("msl_flags"),
	U64("msl_dv1", Since("2.18")),
	U64("msl_dv2", Since("2.18")),
)

// mdcSwapLayouts217 is struct mdc_swap_layouts_217.
var mdcSwapLayouts217 = Define("mdc_swap_layouts_217",
	Since("2.18"),
	U64("msl_flags"),
)

// closeDataResyncDone is struct close_data_resync_done.
var closeDataResyncDone = Define("close_data_resync_done",
	U32("resync_count"),
	Arr("resync_ids_inline", 15, U32("")),
)

// closeData is struct close_data.
var closeData = Define("close_data",
	Sub("cd_handle", lustreHandle),
	Sub("cd_fid", luFid),
	U64("cd_data_version"),
	Pad("cd_reserved", 64),
	Sub("cd_resync", closeDataResyncDone, Over("cd_reserved")),
	U16("cd_mirror_id", Over("cd_reserved")),
	U32("cd_archive_id", Over("cd_reserved"), Since("2.15")),
	U64("cd_data_version2", Over("cd_reserved"), Since("2.16")),
)
