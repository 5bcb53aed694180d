package opcodes

// nodemapClusterRec is struct nodemap_cluster_rec.
var nodemapClusterRec = Define("nodemap_cluster_rec",
	Little,
	Str("ncr_name", 17),
	U8("ncr_flags", NodemapFlags, "NM_FL_*, one byte; bit-field 8 bits"),
	U8("ncr_flags2", NodemapFlags2, Since("2.16"), "NM_FL2_*, one byte, zero before 2.16; bit-field 8 bits"),
	Pad("ncr_padding1", 1, "offset 18 in <=2.12"),
	U32("ncr_squash_projid", Since("2.15"), "named ncr_padding2 through 2.12"),
	U32("ncr_squash_uid"),
	U32("ncr_squash_gid"),
)

// nodemapRangeRec is struct nodemap_range_rec.
var nodemapRangeRec = Define("nodemap_range_rec",
	Little,
	U64("nrr_start_nid", NID4),
	U64("nrr_end_nid", NID4),
	Pad("nrr_padding1", 8),
	Pad("nrr_padding2", 8),
)

// nodemapRange2Rec is struct nodemap_range2_rec.
var nodemapRange2Rec = Define("nodemap_range2_rec",
	Since("2.16"),
	Little,
	Sub("nrr_nid_prefix", lnetNid),
	Pad("nrr_padding1", 4),
	Pad("nrr_padding2", 4),
	Pad("nrr_padding3", 2),
	Pad("nrr_padding4", 1),
	U8("nrr_netmask"),
)

// nodemapIdRec is struct nodemap_id_rec.
var nodemapIdRec = Define("nodemap_id_rec",
	Little,
	U32("nir_id_fs"),
	Pad("nir_padding1", 4),
	Pad("nir_padding2", 8),
	Pad("nir_padding3", 8),
	Pad("nir_padding4", 8),
)

// nodemapGlobalRec is struct nodemap_global_rec.
var nodemapGlobalRec = Define("nodemap_global_rec",
	Little,
	U8("ngr_is_active"),
	Pad("ngr_padding1", 1),
	Pad("ngr_padding2", 2),
	Pad("ngr_padding3", 4),
	Pad("ngr_padding4", 8),
	Pad("ngr_padding5", 8),
	Pad("ngr_padding6", 8),
)

// nodemapClusterRolesRec is struct nodemap_cluster_roles_rec.
var nodemapClusterRolesRec = Define("nodemap_cluster_roles_rec",
	Since("2.16"),
	Little,
	U64("ncrr_roles"),
	U64("ncrr_privs", Since("2.17"), "named ncrr_padding1 through 2.16"),
	U64("ncrr_roles_raise", Since("2.17"), "named ncrr_padding2 through 2.16"),
	Pad("ncrr_unused1", 8, Since("2.17"), "named ncrr_padding3 through 2.16"),
)

// nodemapOffsetRec is struct nodemap_offset_rec.
var nodemapOffsetRec = Define("nodemap_offset_rec",
	Since("2.17"),
	Little,
	U32("nor_start_uid"),
	U32("nor_limit_uid"),
	U32("nor_start_gid"),
	U32("nor_limit_gid"),
	U32("nor_start_projid"),
	U32("nor_limit_projid"),
	Pad("nor_padding1", 4),
	Pad("nor_padding2", 4),
)

// nodemapFilesetHeaderRec is struct nodemap_fileset_header_rec.
var nodemapFilesetHeaderRec = Define("nodemap_fileset_header_rec",
	Since("2.17"),
	Little,
	U8("nfhr_flags", NodemapFilesetFlags, "bit-field 8 bits"),
	Pad("nfr_padding1", 1),
	Pad("nfr_padding2", 2),
	Pad("nfr_padding3", 4),
	Pad("nfr_padding4", 8),
	Pad("nfr_padding5", 8),
	Pad("nfr_padding6", 8),
)

// nodemapFilesetRec is struct nodemap_fileset_rec.
var nodemapFilesetRec = Define("nodemap_fileset_rec",
	Since("2.17"),
	Little,
	Str("nfr_path_fragment", 28),
	U16("nfr_fragment_id"),
	Pad("nfr_padding1", 2),
)

// nodemapUserCapabilitiesRec is struct nodemap_user_capabilities_rec.
var nodemapUserCapabilitiesRec = Define("nodemap_user_capabilities_rec",
	Since("2.17"),
	Little,
	U64("nucr_caps"),
	U8("nucr_type"),
	Pad("nucr_padding1", 1),
	Pad("nucr_padding2", 2),
	Pad("nucr_padding3", 4),
	Pad("nucr_padding4", 8),
	Pad("nucr_padding5", 8),
)

// nodemapRec is union nodemap_rec.
var nodemapRec = Define("nodemap_rec",
	Little,
	Sub("ncr", nodemapClusterRec),
	Sub("nrr", nodemapRangeRec, Over("ncr")),
	Sub("nrr2", nodemapRange2Rec, Over("ncr"), Since("2.16")),
	Sub("nir", nodemapIdRec, Over("ncr")),
	Sub("ngr", nodemapGlobalRec, Over("ncr")),
	Sub("ncrr", nodemapClusterRolesRec, Over("ncr"), Since("2.16")),
	Sub("nor", nodemapOffsetRec, Over("ncr"), Since("2.17")),
	Sub("nfhr", nodemapFilesetHeaderRec, Over("ncr"), Since("2.17")),
	Sub("nfr", nodemapFilesetRec, Over("ncr"), Since("2.17")),
	Sub("nucr", nodemapUserCapabilitiesRec, Over("ncr"), Since("2.17")),
)

// nodemapKey is struct nodemap_key.
var nodemapKey = Define("nodemap_key",
	Little,
	U32("nk_nodemap_id"),
	U32("nk_cluster_subid", Since("2.16")),
	U32("nk_range_id", Over("nk_cluster_subid")),
	U32("nk_id_client", Over("nk_cluster_subid")),
	Pad("nk_unused", 4, Over("nk_cluster_subid")),
)
