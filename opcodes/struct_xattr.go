package opcodes

// lustreMdtAttrs is struct lustre_mdt_attrs.
var lustreMdtAttrs = Define("lustre_mdt_attrs",
	Little,
	U32("lma_compat"),
	U32("lma_incompat"),
	Sub("lma_self_fid", luFid),
)

// lustreOstAttrs is struct lustre_ost_attrs.
var lustreOstAttrs = Define("lustre_ost_attrs",
	Little,
	Sub("loa_lma", lustreMdtAttrs),
	Sub("loa_parent_fid", luFid),
	U32("loa_stripe_size"),
	U32("loa_comp_id"),
	U64("loa_comp_start"),
	U64("loa_comp_end"),
)

// lustreSomAttrs is struct lustre_som_attrs.
var lustreSomAttrs = Define("lustre_som_attrs",
	Little,
	U16("lsa_valid"),
	Pad("lsa_reserved", 6),
	U64("lsa_size"),
	U64("lsa_blocks"),
)

// hsmAttrs is struct hsm_attrs.
var hsmAttrs = Define("hsm_attrs",
	Little,
	U32("hsm_compat"),
	U32("hsm_flags"),
	U64("hsm_arch_id"),
	U64("hsm_arch_ver"),
)

// linkEaHeader is struct link_ea_header.
var linkEaHeader = Define("link_ea_header",
	U32("leh_magic"),
	U32("leh_reccount"),
	U64("leh_len"),
	U32("leh_overflow_time"),
	Pad("leh_padding", 4),
)

// linkEaEntry is struct link_ea_entry.
var linkEaEntry = Define("link_ea_entry",
	Big,
	Opaque("lee_reclen", 2),
	Opaque("lee_parent_fid", 16),
	Str("lee_name", 0),
)

// posixAclXattrHeader is struct posix_acl_xattr_header.
var posixAclXattrHeader = Define("posix_acl_xattr_header",
	Little,
	U32("a_version", "2"),
	Arr("a_entries", -1, Sub("", posixAclXattrEntry)),
)

// posixAclXattrEntry is struct posix_acl_xattr_entry.
var posixAclXattrEntry = Define("posix_acl_xattr_entry",
	Little,
	U16("e_tag", "1 user_obj 2 user 4 group_obj 8 group 0x10 mask 0x20 other"),
	U16("e_perm", "rwx bits"),
	U32("e_id"),
)
