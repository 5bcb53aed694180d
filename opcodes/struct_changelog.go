package opcodes

// changelogRec is struct changelog_rec.
var changelogRec = Define("changelog_rec",
	U16("cr_namelen"),
	U16("cr_flags", "CLF_*"),
	U32("cr_type", "CL_*"),
	U64("cr_index"),
	U64("cr_prev"),
	U64("cr_time"),
	Sub("cr_tfid", luFid),
	U32("cr_markerflags", Over("cr_tfid")),
	Sub("cr_pfid", luFid),
)

// changelogExtRename is struct changelog_ext_rename.
var changelogExtRename = Define("changelog_ext_rename",
	Sub("cr_sfid", luFid),
	Sub("cr_spfid", luFid),
)

// changelogExtJobid is struct changelog_ext_jobid.
var changelogExtJobid = Define("changelog_ext_jobid",
	Str("cr_jobid", 32),
)

// changelogExtExtraFlags is struct changelog_ext_extra_flags.
var changelogExtExtraFlags = Define("changelog_ext_extra_flags",
	U64("cr_extra_flags"),
)

// changelogExtUidgid is struct changelog_ext_uidgid.
var changelogExtUidgid = Define("changelog_ext_uidgid",
	U64("cr_uid"),
	U64("cr_gid"),
)

// changelogExtNid is struct changelog_ext_nid.
var changelogExtNid = Define("changelog_ext_nid",
	U64("cr_nid"),
	U64("extra"),
	Pad("padding", 4),
)

// changelogExtOpenmode is struct changelog_ext_openmode.
var changelogExtOpenmode = Define("changelog_ext_openmode",
	U32("cr_openflags"),
)

// changelogExtXattr is struct changelog_ext_xattr.
var changelogExtXattr = Define("changelog_ext_xattr",
	Str("cr_xattr", 256),
)

// changelogSetinfo is struct changelog_setinfo.
var changelogSetinfo = Define("changelog_setinfo",
	U64("cs_recno"),
	U32("cs_id"),
)
