package opcodes

// fiemapExtent is struct fiemap_extent.
var fiemapExtent = Define("fiemap_extent",
	U64("fe_logical"),
	U64("fe_physical"),
	U64("fe_length"),
	Pad("fe_reserved64", 16),
	U32("fe_flags"),
	Pad("fe_reserved", 12),
)

// fiemapHdr is struct fiemap.
var fiemapHdr = Define("fiemap",
	U64("fm_start"),
	U64("fm_length"),
	U32("fm_flags"),
	U32("fm_mapped_extents"),
	U32("fm_extent_count"),
	Pad("fm_reserved", 4),
	Arr("fm_extents", -1, Sub("", fiemapExtent)),
)

// ostLayout is struct ost_layout.
var ostLayout = Define("ost_layout",
	U32("ol_stripe_size"),
	U32("ol_stripe_count"),
	U64("ol_comp_start"),
	U64("ol_comp_end"),
	U32("ol_comp_id"),
)

// filterFid1823 is struct filter_fid_18_23.
var filterFid1823 = Define("filter_fid_18_23",
	Little,
	Sub("ff_parent", luFid),
	U64("ff_objid"),
	U64("ff_seq"),
)

// filterFid2429 is struct filter_fid_24_29.
var filterFid2429 = Define("filter_fid_24_29",
	Little,
	Sub("ff_parent", luFid),
)

// filterFid210 is struct filter_fid_210.
var filterFid210 = Define("filter_fid_210",
	Little,
	Sub("ff_parent", luFid),
	Sub("ff_layout", ostLayout),
)

// filterFid is struct filter_fid.
var filterFid = Define("filter_fid",
	Little,
	Sub("ff_parent", luFid),
	Sub("ff_layout", ostLayout),
	U32("ff_layout_version"),
	U32("ff_range"),
)

// obdIoobj is struct obd_ioobj.
var obdIoobj = Define("obd_ioobj",
	Sub("ioo_oid", ostId),
	U32("ioo_max_brw", "high 16 bits: max bulk count minus 1; low 4 bits: page offset for unaligned direct I/O"),
	U32("ioo_bufcnt", "niobufs belonging to this object"),
)

// niobufRemote is struct niobuf_remote.
var niobufRemote = Define("niobuf_remote",
	U64("rnb_offset"),
	U32("rnb_len"),
	U32("rnb_flags", "OBD_BRW_*"),
)

// obdo is struct obdo.
var obdo = Define("obdo",
	U64("o_valid"),
	Sub("o_oi", ostId),
	U64("o_parent_seq"),
	U64("o_size", "PUNCH: start offset; SEEK: offset"),
	S64("o_mtime"),
	S64("o_atime"),
	S64("o_ctime"),
	U64("o_blocks", "BRW: dirty bytes of client"),
	U64("o_grant", "OBD_MD_FLGRANT"),
	U32("o_blksize"),
	U32("o_mode", "BRW: undirty, grant wanted"),
	U32("o_uid"),
	U32("o_gid"),
	U32("o_flags"),
	U32("o_nlink", "BRW: checksum (OBD_MD_FLCKSUM); fallocate: mode"),
	U32("o_parent_oid"),
	U32("o_misc", "BRW: dropped grant"),
	U64("o_ioepoch"),
	U32("o_stripe_idx"),
	U32("o_parent_ver"),
	Sub("o_handle", lustreHandle, "OBD_MD_FLHANDLE: lock handle"),
	Sub("o_layout", ostLayout),
	U32("o_layout_version"),
	U32("o_uid_h"),
	U32("o_gid_h"),
	U64("o_data_version", "BRW: grant consumed"),
	U32("o_projid"),
	Pad("o_padding_4", 4),
	Pad("o_padding_5", 8),
	Pad("o_padding_6", 8),
)

// ostBody is struct ost_body.
var ostBody = Define("ost_body",
	Sub("oa", obdo),
)

// llFiemapInfoKey is struct ll_fiemap_info_key.
var llFiemapInfoKey = Define("ll_fiemap_info_key",
	Str("lfik_name", 8),
	Sub("lfik_oa", obdo),
	Sub("lfik_fiemap", fiemapHdr),
)

// luLadvise is struct lu_ladvise.
var luLadvise = Define("lu_ladvise",
	U16("lla_advice"),
	U16("lla_value1"),
	U32("lla_value2"),
	U64("lla_start"),
	U64("lla_end"),
	U32("lla_value3"),
	U32("lla_value4"),
)

// ladviseHdr is struct ladvise_hdr.
var ladviseHdr = Define("ladvise_hdr",
	U32("lah_magic"),
	U32("lah_count"),
	U64("lah_flags"),
	U32("lah_value1"),
	U32("lah_value2"),
	U64("lah_value3"),
	Arr("lah_advise", -1, Sub("", luLadvise)),
)
