package opcodes

// ObdMdValid is the group obd_md_valid.
var ObdMdValid = Bits("obd_md_valid", "OBD_MD_", "", []Value{
	{Name: "FLID", Value: 0x1},
	{Name: "FLATIME", Value: 0x2},
	{Name: "FLMTIME", Value: 0x4},
	{Name: "FLCTIME", Value: 0x8},
	{Name: "FLSIZE", Value: 0x10},
	{Name: "FLBLOCKS", Value: 0x20},
	{Name: "FLBLKSZ", Value: 0x40},
	{Name: "FLMODE", Value: 0x80},
	{Name: "FLTYPE", Value: 0x100},
	{Name: "FLUID", Value: 0x200},
	{Name: "FLGID", Value: 0x400},
	{Name: "FLFLAGS", Value: 0x800},
	{Name: "DOM_SIZE", Value: 0x1000},
	{Name: "FLNLINK", Value: 0x2000},
	{Name: "FLPARENT", Value: 0x4000},
	{Name: "LAYOUT_VERSION", Value: 0x8000},
	{Name: "FLRDEV", Value: 0x10000},
	{Name: "FLEASIZE", Value: 0x20000},
	{Name: "LINKNAME", Value: 0x40000},
	{Name: "FLHANDLE", Value: 0x80000},
	{Name: "FLCKSUM", Value: 0x100000},
	{Name: "FLPRJQUOTA", Value: 0x400000},
	{Name: "FLGROUP", Value: 0x1000000},
	{Name: "FLFID", Value: 0x2000000},
	{Name: "FLGRANT", Value: 0x8000000},
	{Name: "FLDIREA", Value: 0x10000000},
	{Name: "FLUSRQUOTA", Value: 0x20000000},
	{Name: "FLGRPQUOTA", Value: 0x40000000},
	{Name: "FLALLQUOTA", Value: 0x60400000, Alias: true},
	{Name: "FLMODEASIZE", Value: 0x80000000},
	{Name: "MDS", Value: 0x100000000},
	{Name: "MEA", Value: 0x400000000},
	{Name: "TSTATE", Value: 0x800000000},
	{Name: "FLXATTR", Value: 0x1000000000},
	{Name: "FLXATTRLS", Value: 0x2000000000},
	{Name: "FLXATTRALL", Value: 0x3000000000, Alias: true},
	{Name: "FLXATTRRM", Value: 0x4000000000},
	{Name: "FLACL", Value: 0x8000000000},
	{Name: "FLAGSTATFS", Value: 0x10000000000},
	{Name: "FLCROSSREF", Value: 0x100000000000},
	{Name: "FLGETATTRLOCK", Value: 0x200000000000},
	{Name: "FLOBJCOUNT", Value: 0x400000000000},
	{Name: "FLDATAVERSION", Value: 0x10000000000000},
	{Name: "CLOSE_INTENT_EXECED", Value: 0x20000000000000},
	{Name: "DEFAULT_MEA", Value: 0x40000000000000},
	{Name: "FLOSTLAYOUT", Value: 0x80000000000000},
	{Name: "FLPROJID", Value: 0x100000000000000},
	{Name: "SECCTX", Value: 0x200000000000000},
	{Name: "FLLAZYSIZE", Value: 0x400000000000000},
	{Name: "FLLAZYBLOCKS", Value: 0x800000000000000},
	{Name: "FLBTIME", Value: 0x1000000000000000, Since: "2.15"},
	{Name: "FLGETATTR", Value: 0x1100000001016fdf, Doc: "value changed: <=2.12=0x100000001016fdf, 2.15=0x1100000001016fdf, 2.16=0x1100000001016fdf, 2.17=0x1100000001016fdf, 2.18=0x1100000001016fdf", Alias: true},
	{Name: "ENCCTX", Value: 0x2000000000000000, Since: "2.15"},
	{Name: "NAMEHASH", Value: 0x4000000000000000, Since: "2.15"},
})

// MdsReintOp is the group mds_reint_op.
var MdsReintOp = Enum("mds_reint_op", "REINT_", "", []Value{
	{Name: "SETATTR", Value: 0x1},
	{Name: "CREATE", Value: 0x2},
	{Name: "LINK", Value: 0x3},
	{Name: "UNLINK", Value: 0x4},
	{Name: "RENAME", Value: 0x5},
	{Name: "OPEN", Value: 0x6},
	{Name: "SETXATTR", Value: 0x7},
	{Name: "RMENTRY", Value: 0x8},
	{Name: "MIGRATE", Value: 0x9},
	{Name: "RESYNC", Value: 0xa},
})

// MdsAttrFlags is the group mds_attr_flags.
var MdsAttrFlags = Bits("mds_attr_flags", "MDS_ATTR_", "", []Value{
	{Name: "MODE", Value: 0x1},
	{Name: "UID", Value: 0x2},
	{Name: "GID", Value: 0x4},
	{Name: "SIZE", Value: 0x8},
	{Name: "ATIME", Value: 0x10},
	{Name: "MTIME", Value: 0x20},
	{Name: "CTIME", Value: 0x40},
	{Name: "ATIME_SET", Value: 0x80},
	{Name: "MTIME_SET", Value: 0x100},
	{Name: "FORCE", Value: 0x200},
	{Name: "ATTR_FLAG", Value: 0x400},
	{Name: "KILL_SUID", Value: 0x800},
	{Name: "KILL_SGID", Value: 0x1000},
	{Name: "CTIME_SET", Value: 0x2000},
	{Name: "FROM_OPEN", Value: 0x4000},
	{Name: "BLOCKS", Value: 0x8000},
	{Name: "PROJID", Value: 0x10000},
	{Name: "LSIZE", Value: 0x20000},
	{Name: "LBLOCKS", Value: 0x40000},
	{Name: "OVERRIDE", Value: 0x2000000},
})

// MdsOpBias is the group mds_op_bias.
var MdsOpBias = Bits("mds_op_bias", "MDS_", "", []Value{
	{Name: "CROSS_REF", Value: 0x2},
	{Name: "PERM_BYPASS", Value: 0x8},
	{Name: "QUOTA_IGNORE", Value: 0x20},
	{Name: "KEEP_ORPHAN", Value: 0x80},
	{Name: "RECOV_OPEN", Value: 0x100},
	{Name: "DATA_MODIFIED", Value: 0x200},
	{Name: "CREATE_VOLATILE", Value: 0x400},
	{Name: "OWNEROVERRIDE", Value: 0x800},
	{Name: "HSM_RELEASE", Value: 0x1000},
	{Name: "CLOSE_MIGRATE", Value: 0x2000},
	{Name: "CLOSE_LAYOUT_SWAP", Value: 0x4000},
	{Name: "CLOSE_LAYOUT_MERGE", Value: 0x8000},
	{Name: "CLOSE_RESYNC_DONE", Value: 0x10000},
	{Name: "CLOSE_LAYOUT_SPLIT", Value: 0x20000},
	{Name: "TRUNC_KEEP_LEASE", Value: 0x40000},
	{Name: "PCC_ATTACH", Value: 0x80000, Since: "2.15"},
	{Name: "CLOSE_UPDATE_TIMES", Value: 0x100000},
	{Name: "SETSTRIPE_CREATE", Value: 0x200000, Since: "2.15"},
	{Name: "FID_OP", Value: 0x400000, Since: "2.15"},
	{Name: "MIGRATE_NSONLY", Value: 0x800000, Since: "2.15"},
	{Name: "CREATE_DEFAULT_LMV", Value: 0x1000000, Since: "2.16"},
	{Name: "CLOSE_LAYOUT_SWAP_HSM", Value: 0x2000000, Since: "2.16"},
	{Name: "RENAME_AGAIN", Value: 0x4000000, Since: "2.18"},
	{Name: "NAMEHASH", Value: 0x8000000, Since: "2.18"},
	{Name: "CLOSE_INTENT", Value: 0x3d000, Alias: true},
})

// MdsOpenFlags is the group mds_open_flags.
var MdsOpenFlags = Bits("mds_open_flags", "MDS_", "", []Value{
	{Name: "FMODE_CLOSED", Value: 0x0},
	{Name: "FMODE_READ", Value: 0x1},
	{Name: "FMODE_WRITE", Value: 0x2},
	{Name: "FMODE_EXEC", Value: 0x4},
	{Name: "OPEN_CREATED", Value: 0x8},
	{Name: "FMODE_EXECUTE", Value: 0x10, Since: "2.17"},
	{Name: "OPEN_CREAT", Value: 0x40},
	{Name: "OPEN_EXCL", Value: 0x80},
	{Name: "OPEN_NOCTTY", Value: 0x100, Since: "2.17"},
	{Name: "OPEN_TRUNC", Value: 0x200},
	{Name: "OPEN_APPEND", Value: 0x400},
	{Name: "OPEN_NONBLOCK", Value: 0x800, Since: "2.17"},
	{Name: "OPEN_SYNC", Value: 0x1000},
	{Name: "OPEN_FASYNC", Value: 0x2000, Since: "2.17"},
	{Name: "OPEN_LARGEFILE", Value: 0x8000, Since: "2.17"},
	{Name: "OPEN_DIRECTORY", Value: 0x10000},
	{Name: "OPEN_NOFOLLOW", Value: 0x20000, Since: "2.17"},
	{Name: "OPEN_BY_FID", Value: 0x800000},
	{Name: "OPEN_DELAY_CREATE", Value: 0x1000000},
	{Name: "OPEN_OWNEROVERRIDE", Value: 0x2000000},
	{Name: "OPEN_LOCK", Value: 0x20000000},
	{Name: "OPEN_HAS_EA", Value: 0x40000000},
	{Name: "OPEN_HAS_OBJS", Value: 0x80000000},
	{Name: "OPEN_NORESTORE", Value: 0x200000000},
	{Name: "OPEN_NEWSTRIPE", Value: 0x400000000},
	{Name: "OPEN_VOLATILE", Value: 0x800000000},
	{Name: "OPEN_LEASE", Value: 0x1000000000},
	{Name: "OPEN_RELEASE", Value: 0x2000000000},
	{Name: "OPEN_RESYNC", Value: 0x4000000000},
	{Name: "OPEN_PCC", Value: 0x8000000000, Since: "2.15"},
	{Name: "OP_WITH_FID", Value: 0x10000000000, Since: "2.15"},
	{Name: "OPEN_DEFAULT_LMV", Value: 0x20000000000, Since: "2.16"},
	{Name: "OPEN_FL_INTERNAL", Value: 0x3f0e2800000, Doc: "value changed: <=2.12=0x70e2800000, 2.15=0x1f0e2800000, 2.16=0x3f0e2800000, 2.17=0x3f0e2800000, 2.18=0x3f0e2800000", Alias: true},
	{Name: "OPEN_JOIN_FILE", Value: 0x4000000, Doc: "not defined after 2.15", Alias: true},
	{Name: "MKDIR_LMV", Value: 0x4000000000, Since: "2.16", Alias: true},
})

// MdTransientState is the group md_transient_state.
var MdTransientState = Bits("md_transient_state", "", "", []Value{
	{Name: "MS_RESTORE", Value: 0x1},
})

// MboXattrAbsentBit is the group mbo_xattr_absent_bit.
var MboXattrAbsentBit = Enum("mbo_xattr_absent_bit", "MBO_XA_SEC_", "", []Value{
	{Name: "SELINUX", Value: 0x0, Since: "2.18"},
	{Name: "SMACK", Value: 0x1, Since: "2.18"},
})

// InodeFlags is the group inode_flags.
var InodeFlags = Bits("inode_flags", "", "", []Value{
	{Name: "LUSTRE_UNRM_FL", Value: 0x2, Since: "2.17"},
	{Name: "LUSTRE_COMPR_FL", Value: 0x4, Since: "2.17"},
	{Name: "LUSTRE_SYNC_FL", Value: 0x8},
	{Name: "LUSTRE_IMMUTABLE_FL", Value: 0x10},
	{Name: "LUSTRE_APPEND_FL", Value: 0x20},
	{Name: "LUSTRE_NODUMP_FL", Value: 0x40},
	{Name: "LUSTRE_NOATIME_FL", Value: 0x80},
	{Name: "LUSTRE_NOCOMPR_FL", Value: 0x400, Since: "2.17"},
	{Name: "COMPAT_ENCRYPT_FL", Value: 0x800, Since: "2.17"},
	{Name: "LUSTRE_INDEX_FL", Value: 0x1000},
	{Name: "LUSTRE_EXTENTS_FL", Value: 0x80000, Since: "2.17"},
	{Name: "LUSTRE_JOURNAL_DATA_FL", Value: 0x4000, Since: "2.17"},
	{Name: "LUSTRE_DIRSYNC_FL", Value: 0x10000},
	{Name: "LUSTRE_TOPDIR_FL", Value: 0x20000},
	{Name: "LUSTRE_VERITY_FL", Value: 0x100000, Since: "2.17"},
	{Name: "LUSTRE_INLINE_DATA_FL", Value: 0x10000000},
	{Name: "LUSTRE_PROJINHERIT_FL", Value: 0x20000000},
	{Name: "LUSTRE_CASEFOLD_FL", Value: 0x40000000, Since: "2.17"},
	{Name: "LUSTRE_ORPHAN_FL", Value: 0x2000},
	{Name: "LUSTRE_SET_SYNC_FL", Value: 0x40000},
	{Name: "LUSTRE_ENCRYPT_FL", Value: 0x800000, Since: "2.15"},
	{Name: "LUSTRE_LMA_FL_MASKS", Value: 0x802000, Doc: "value changed: <=2.12=0x2000, 2.15=0x802000, 2.16=0x802000, 2.17=0x802000, 2.18=0x802000", Alias: true},
	{Name: "LUSTRE_DIRECTIO_FL", Value: 0x100000, Doc: "not defined after 2.12", Alias: true},
	{Name: "LUSTRE_FL_USER_MODIFIABLE", Value: 0x200304f8, Since: "2.17", Alias: true},
	{Name: "LUSTRE_FL_USER_VISIBLE", Value: 0x709b5cfe, Since: "2.17", Alias: true},
})

// FsXflag is the group fs_xflag.
var FsXflag = Bits("fs_xflag", "FS_XFLAG_", "", []Value{
	{Name: "IMMUTABLE", Value: 0x8},
	{Name: "APPEND", Value: 0x10},
	{Name: "SYNC", Value: 0x20},
	{Name: "NOATIME", Value: 0x40},
	{Name: "PROJINHERIT", Value: 0x200},
})

// LaValid is the group la_valid.
var LaValid = Bits("la_valid", "LA_", "", []Value{
	{Name: "ATIME", Value: 0x1},
	{Name: "MTIME", Value: 0x2},
	{Name: "CTIME", Value: 0x4},
	{Name: "SIZE", Value: 0x8},
	{Name: "MODE", Value: 0x10},
	{Name: "UID", Value: 0x20},
	{Name: "GID", Value: 0x40},
	{Name: "BLOCKS", Value: 0x80},
	{Name: "TYPE", Value: 0x100},
	{Name: "FLAGS", Value: 0x200},
	{Name: "NLINK", Value: 0x400},
	{Name: "RDEV", Value: 0x800},
	{Name: "BLKSIZE", Value: 0x1000},
	{Name: "KILL_SUID", Value: 0x2000},
	{Name: "KILL_SGID", Value: 0x4000},
	{Name: "PROJID", Value: 0x8000},
	{Name: "LAYOUT_VERSION", Value: 0x10000},
	{Name: "LSIZE", Value: 0x20000},
	{Name: "LBLOCKS", Value: 0x40000},
	{Name: "BTIME", Value: 0x80000, Since: "2.15"},
	{Name: "DIRENT_CNT", Value: 0x100000, Since: "2.16"},
	{Name: "REMOTE_ATTR_SET", Value: 0x18060, Alias: true},
})

// LmaCompat is the group lma_compat.
var LmaCompat = Bits("lma_compat", "LMAC_", "", []Value{
	{Name: "HSM", Value: 0x1},
	{Name: "NOT_IN_OI", Value: 0x4},
	{Name: "FID_ON_OST", Value: 0x8},
	{Name: "STRIPE_INFO", Value: 0x10},
	{Name: "COMP_INFO", Value: 0x20},
	{Name: "IDX_BACKUP", Value: 0x40},
})

// LmaIncompat is the group lma_incompat.
var LmaIncompat = Bits("lma_incompat", "LMAI_", "", []Value{
	{Name: "RELEASED", Value: 0x1},
	{Name: "AGENT", Value: 0x2},
	{Name: "REMOTE_PARENT", Value: 0x4},
	{Name: "STRIPED", Value: 0x8},
	{Name: "ORPHAN", Value: 0x10},
	{Name: "ENCRYPT", Value: 0x20, Since: "2.15"},
	{Name: "LMA_INCOMPAT_SUPP", Value: 0x3e, Doc: "value changed: <=2.12=0x1e, 2.15=0x3e, 2.16=0x3e, 2.17=0x3e, 2.18=0x3e", Alias: true},
})

// SomFlags is the group som_flags.
var SomFlags = Bits("som_flags", "SOM_FL_", "", []Value{
	{Name: "UNKNOWN", Value: 0x0},
	{Name: "STRICT", Value: 0x1},
	{Name: "STALE", Value: 0x2},
	{Name: "LAZY", Value: 0x4},
})

// DirentAttrs is the group dirent_attrs.
var DirentAttrs = Bits("dirent_attrs", "", "", []Value{
	{Name: "LUDA_FID", Value: 0x1},
	{Name: "LUDA_TYPE", Value: 0x2},
	{Name: "LUDA_64BITHASH", Value: 0x4},
	{Name: "LUDA_UNKNOWN", Value: 0x400},
	{Name: "LUDA_IGNORE", Value: 0x800},
	{Name: "LUDA_UPGRADE", Value: 0x1000},
	{Name: "LUDA_REPAIR", Value: 0x2000},
	{Name: "LUDA_VERIFY_DRYRUN", Value: 0x4000},
	{Name: "LUDA_VERIFY", Value: 0x8000},
	{Name: "LU_DIRENT_ATTRS_MASK", Value: 0xff00, Alias: true},
})

// DirpageFlags is the group dirpage_flags.
var DirpageFlags = Bits("dirpage_flags", "LDF_", "", []Value{
	{Name: "EMPTY", Value: 0x1, Doc: "page without entries"},
	{Name: "COLLIDE", Value: 0x2, Doc: "last entry hash equals ldp_hash_end"},
})

// ReaddirMisc is the group readdir_misc.
var ReaddirMisc = Enum("readdir_misc", "", "", []Value{
	{Name: "MDS_DIR_END_OFF", Value: 0xfffffffffffffffe},
})

// SwapLayoutsFlags is the group swap_layouts_flags.
var SwapLayoutsFlags = Bits("swap_layouts_flags", "SWAP_LAYOUTS_", "", []Value{
	{Name: "CHECK_DV1", Value: 0x1},
	{Name: "CHECK_DV2", Value: 0x2},
	{Name: "KEEP_MTIME", Value: 0x4},
	{Name: "KEEP_ATIME", Value: 0x8},
	{Name: "CLOSE", Value: 0x10},
	{Name: "WITH_DV12", Value: 0x20, Since: "2.18"},
	{Name: "MDS_RELEASE", Value: 0x80000000, Since: "2.16", Doc: "value changed: 2.16=0xffffffff80000000, 2.17=0xffffffff80000000, 2.18=0x80000000"},
	{Name: "MDS_HSM", Value: 0xffffffff80000000, Doc: "not defined after 2.15", Alias: true},
})

// DataVersionFlags is the group data_version_flags.
var DataVersionFlags = Bits("data_version_flags", "LL_DV_", "", []Value{
	{Name: "RD_FLUSH", Value: 0x1},
	{Name: "WR_FLUSH", Value: 0x2},
	{Name: "SZ_UPDATE", Value: 0x4, Since: "2.15"},
})

// Linkea is the group linkea.
var Linkea = Enum("linkea", "", "", []Value{
	{Name: "LINK_EA_MAGIC", Value: 0x11eaf1df},
})

// CfsPerm is the group cfs_perm.
var CfsPerm = Bits("cfs_perm", "CFS_", "", []Value{
	{Name: "SETUID_PERM", Value: 0x1},
	{Name: "SETGID_PERM", Value: 0x2},
	{Name: "SETGRP_PERM", Value: 0x4},
})
