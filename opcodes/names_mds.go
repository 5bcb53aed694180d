package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// ObdMdValid is the group obd_md_valid.
var ObdMdValid = Bits("obd_md_valid", "OBD_MD_", "which fields of an mdt_body or obdo mean something; in requests also what the client wants to know", []Value{
	{Name: "FLID", Value: 0x1, Doc: "the FID or object id"},
	{Name: "FLATIME", Value: 0x2, Doc: "access time"},
	{Name: "FLMTIME", Value: 0x4, Doc: "modification time"},
	{Name: "FLCTIME", Value: 0x8, Doc: "change time"},
	{Name: "FLSIZE", Value: 0x10, Doc: "exact size"},
	{Name: "FLBLOCKS", Value: 0x20, Doc: "blocks of 512 bytes"},
	{Name: "FLBLKSZ", Value: 0x40, Doc: "preferred block size"},
	{Name: "FLMODE", Value: 0x80, Doc: "permission bits"},
	{Name: "FLTYPE", Value: 0x100, Doc: "file type bits of the mode"},
	{Name: "FLUID", Value: 0x200, Doc: "owner"},
	{Name: "FLGID", Value: 0x400, Doc: "group"},
	{Name: "FLFLAGS", Value: 0x800, Doc: "inode flags, or OBD_FL_* of an obdo"},
	{Name: "DOM_SIZE", Value: 0x1000, Doc: "size and blocks of the part that lies on the MDT"},
	{Name: "FLNLINK", Value: 0x2000, Doc: "number of links"},
	{Name: "FLPARENT", Value: 0x4000, Doc: "FID of the parent"},
	{Name: "LAYOUT_VERSION", Value: 0x8000, Doc: "version of the layout"},
	{Name: "FLRDEV", Value: 0x10000, Doc: "device number"},
	{Name: "FLEASIZE", Value: 0x20000, Doc: "size of the layout"},
	{Name: "LINKNAME", Value: 0x40000, Doc: "target of a symbolic link"},
	{Name: "FLHANDLE", Value: 0x80000, Doc: "a lock or open handle"},
	{Name: "FLCKSUM", Value: 0x100000, Doc: "checksum of the data"},
	{Name: "FLPRJQUOTA", Value: 0x400000, Doc: "project quota is judged"},
	{Name: "FLGROUP", Value: 0x1000000, Doc: "sequence of the object id"},
	{Name: "FLFID", Value: 0x2000000, Doc: "FID of the file that the object belongs to"},
	{Name: "FLGRANT", Value: 0x8000000, Doc: "grant: promised space"},
	{Name: "FLDIREA", Value: 0x10000000, Doc: "layout or stripes of a directory"},
	{Name: "FLUSRQUOTA", Value: 0x20000000, Doc: "user quota is judged"},
	{Name: "FLGRPQUOTA", Value: 0x40000000, Doc: "group quota is judged"},
	{Name: "FLALLQUOTA", Value: 0x60400000, Doc: "all kinds of quota", Alias: true},
	{Name: "FLMODEASIZE", Value: 0x80000000, Doc: "largest layout there is"},
	{Name: "MDS", Value: 0x100000000, Doc: "the object lives on another MDT"},
	{Name: "MEA", Value: 0x400000000, Doc: "stripes of a directory (LMV)"},
	{Name: "TSTATE", Value: 0x800000000, Doc: "transient state: being restored"},
	{Name: "FLXATTR", Value: 0x1000000000, Doc: "one extended attribute"},
	{Name: "FLXATTRLS", Value: 0x2000000000, Doc: "names of extended attributes"},
	{Name: "FLXATTRALL", Value: 0x3000000000, Doc: "attributes and their names", Alias: true},
	{Name: "FLXATTRRM", Value: 0x4000000000, Doc: "remove an extended attribute"},
	{Name: "FLACL", Value: 0x8000000000, Doc: "POSIX ACL"},
	{Name: "FLAGSTATFS", Value: 0x10000000000, Doc: "statfs of the whole file system"},
	{Name: "FLCROSSREF", Value: 0x100000000000, Doc: "the name points to another MDT"},
	{Name: "FLGETATTRLOCK", Value: 0x200000000000, Doc: "attributes under a lock, ask the OSTs too"},
	{Name: "FLOBJCOUNT", Value: 0x400000000000, Doc: "several objects at once"},
	{Name: "FLDATAVERSION", Value: 0x10000000000000, Doc: "data version"},
	{Name: "CLOSE_INTENT_EXECED", Value: 0x20000000000000, Doc: "what the close asked for was done"},
	{Name: "DEFAULT_MEA", Value: 0x40000000000000, Doc: "default stripes for new directories (LMV)"},
	{Name: "FLOSTLAYOUT", Value: 0x80000000000000, Doc: "stripe parameters of an OST object"},
	{Name: "FLPROJID", Value: 0x100000000000000, Doc: "project id"},
	{Name: "SECCTX", Value: 0x200000000000000, Doc: "security context"},
	{Name: "FLLAZYSIZE", Value: 0x400000000000000, Doc: "size that may be out of date"},
	{Name: "FLLAZYBLOCKS", Value: 0x800000000000000, Doc: "blocks that may be out of date"},
	{Name: "FLBTIME", Value: 0x1000000000000000, Since: "2.15", Doc: "birth time"},
	{Name: "FLGETATTR", Value: 0x1100000001016fdf, Doc: "all that a getattr wants", Alias: true},
	{Name: "ENCCTX", Value: 0x2000000000000000, Since: "2.15", Doc: "encryption context"},
	{Name: "NAMEHASH", Value: 0x4000000000000000, Since: "2.15", Doc: "the name is the hash of an encrypted one"},
})

// MdsReintOp is the group mds_reint_op.
var MdsReintOp = Enum("mds_reint_op", "REINT_", "what an MDS_REINT (reintegration) does", []Value{
	{Name: "SETATTR", Value: 0x1, Doc: "change attributes"},
	{Name: "CREATE", Value: 0x2, Doc: "create a file, directory, link or node"},
	{Name: "LINK", Value: 0x3, Doc: "make a hard link"},
	{Name: "UNLINK", Value: 0x4, Doc: "remove a name"},
	{Name: "RENAME", Value: 0x5, Doc: "rename"},
	{Name: "OPEN", Value: 0x6, Doc: "open, perhaps create"},
	{Name: "SETXATTR", Value: 0x7, Doc: "set or remove an extended attribute"},
	{Name: "RMENTRY", Value: 0x8, Doc: "remove just the directory entry"},
	{Name: "MIGRATE", Value: 0x9, Doc: "move a directory to other MDTs"},
	{Name: "RESYNC", Value: 0xa, Doc: "begin to bring mirrors up to date"},
})

// MdsAttrFlags is the group mds_attr_flags.
var MdsAttrFlags = Bits("mds_attr_flags", "MDS_ATTR_", "which attributes a setattr changes", []Value{
	{Name: "MODE", Value: 0x1, Doc: "permission bits"},
	{Name: "UID", Value: 0x2, Doc: "owner"},
	{Name: "GID", Value: 0x4, Doc: "group"},
	{Name: "SIZE", Value: 0x8, Doc: "size: a truncate"},
	{Name: "ATIME", Value: 0x10, Doc: "access time"},
	{Name: "MTIME", Value: 0x20, Doc: "modification time"},
	{Name: "CTIME", Value: 0x40, Doc: "change time"},
	{Name: "ATIME_SET", Value: 0x80, Doc: "access time as given, not now"},
	{Name: "MTIME_SET", Value: 0x100, Doc: "modification time as given, not now"},
	{Name: "FORCE", Value: 0x200, Doc: "without permission checks"},
	{Name: "ATTR_FLAG", Value: 0x400, Doc: "inode flags"},
	{Name: "KILL_SUID", Value: 0x800, Doc: "clear the set-user-id bit"},
	{Name: "KILL_SGID", Value: 0x1000, Doc: "clear the set-group-id bit"},
	{Name: "CTIME_SET", Value: 0x2000, Doc: "change time as given"},
	{Name: "FROM_OPEN", Value: 0x4000, Doc: "truncate of an open"},
	{Name: "BLOCKS", Value: 0x8000, Doc: "block count"},
	{Name: "PROJID", Value: 0x10000, Doc: "project id"},
	{Name: "LSIZE", Value: 0x20000, Doc: "lazy size (SOM)"},
	{Name: "LBLOCKS", Value: 0x40000, Doc: "lazy block count (SOM)"},
	{Name: "OVERRIDE", Value: 0x2000000, Doc: "owner may do it in spite of the mode"},
})

// MdsOpBias is the group mds_op_bias.
var MdsOpBias = Bits("mds_op_bias", "MDS_", "what is special about an operation", []Value{
	{Name: "CROSS_REF", Value: 0x2, Doc: "the object is on another MDT than its name"},
	{Name: "PERM_BYPASS", Value: 0x8, Doc: "no permission check"},
	{Name: "QUOTA_IGNORE", Value: 0x20, Doc: "no quota check"},
	{Name: "KEEP_ORPHAN", Value: 0x80, Doc: "keep the object when its last name goes"},
	{Name: "RECOV_OPEN", Value: 0x100, Doc: "open again in recovery"},
	{Name: "DATA_MODIFIED", Value: 0x200, Doc: "data changed while the file was open"},
	{Name: "CREATE_VOLATILE", Value: 0x400, Doc: "temporary file without a name"},
	{Name: "OWNEROVERRIDE", Value: 0x800, Doc: "owner may do it in spite of the mode"},
	{Name: "HSM_RELEASE", Value: 0x1000, Doc: "close releases the data, a copy is archived"},
	{Name: "CLOSE_MIGRATE", Value: 0x2000, Doc: "close ends a migration"},
	{Name: "CLOSE_LAYOUT_SWAP", Value: 0x4000, Doc: "close swaps the layouts of two files"},
	{Name: "CLOSE_LAYOUT_MERGE", Value: 0x8000, Doc: "close adds the layout of another file as a mirror"},
	{Name: "CLOSE_RESYNC_DONE", Value: 0x10000, Doc: "close ends a resync of mirrors"},
	{Name: "CLOSE_LAYOUT_SPLIT", Value: 0x20000, Doc: "close splits a mirror off"},
	{Name: "TRUNC_KEEP_LEASE", Value: 0x40000, Doc: "truncate without breaking the lease"},
	{Name: "PCC_ATTACH", Value: 0x80000, Since: "2.15", Doc: "close hands the data to a client cache"},
	{Name: "CLOSE_UPDATE_TIMES", Value: 0x100000, Doc: "close brings new times"},
	{Name: "SETSTRIPE_CREATE", Value: 0x200000, Since: "2.15", Doc: "create by setstripe"},
	{Name: "FID_OP", Value: 0x400000, Since: "2.15", Doc: "by FID, the name does not matter"},
	{Name: "MIGRATE_NSONLY", Value: 0x800000, Since: "2.15", Doc: "migrate names only, data stays"},
	{Name: "CREATE_DEFAULT_LMV", Value: 0x1000000, Since: "2.16", Doc: "create with the default stripes of the parent"},
	{Name: "CLOSE_LAYOUT_SWAP_HSM", Value: 0x2000000, Since: "2.16", Doc: "swap layouts and HSM state"},
	{Name: "RENAME_AGAIN", Value: 0x4000000, Since: "2.18", Doc: "rename tried again"},
	{Name: "NAMEHASH", Value: 0x8000000, Since: "2.18", Doc: "the name is the hash of an encrypted one"},
	{Name: "CLOSE_INTENT", Value: 0x3d000, Doc: "any of what a close can do beside closing", Alias: true},
})

// MdsOpenFlags is the group mds_open_flags.
var MdsOpenFlags = Bits("mds_open_flags", "MDS_", "how a file is opened; the low half travels in cr_flags_l, the high half in cr_flags_h", []Value{
	{Name: "FMODE_CLOSED", Value: 0x0, Doc: "not open"},
	{Name: "FMODE_READ", Value: 0x1, Doc: "for reading"},
	{Name: "FMODE_WRITE", Value: 0x2, Doc: "for writing"},
	{Name: "FMODE_EXEC", Value: 0x4, Doc: "to execute it"},
	{Name: "OPEN_CREATED", Value: 0x8, Doc: "the client has just created it"},
	{Name: "FMODE_EXECUTE", Value: 0x10, Since: "2.17", Doc: "to execute it"},
	{Name: "OPEN_CREAT", Value: 0x40, Doc: "create it when it is not there"},
	{Name: "OPEN_EXCL", Value: 0x80, Doc: "fail when it is there"},
	{Name: "OPEN_NOCTTY", Value: 0x100, Since: "2.17", Doc: "O_NOCTTY"},
	{Name: "OPEN_TRUNC", Value: 0x200, Doc: "truncate it"},
	{Name: "OPEN_APPEND", Value: 0x400, Doc: "append"},
	{Name: "OPEN_NONBLOCK", Value: 0x800, Since: "2.17", Doc: "O_NONBLOCK"},
	{Name: "OPEN_SYNC", Value: 0x1000, Doc: "synchronous writes"},
	{Name: "OPEN_FASYNC", Value: 0x2000, Since: "2.17", Doc: "O_ASYNC"},
	{Name: "OPEN_LARGEFILE", Value: 0x8000, Since: "2.17", Doc: "O_LARGEFILE"},
	{Name: "OPEN_DIRECTORY", Value: 0x10000, Doc: "it must be a directory"},
	{Name: "OPEN_NOFOLLOW", Value: 0x20000, Since: "2.17", Doc: "not through a symbolic link"},
	{Name: "OPEN_BY_FID", Value: 0x800000, Doc: "by FID, not by name"},
	{Name: "OPEN_DELAY_CREATE", Value: 0x1000000, Doc: "make no objects yet"},
	{Name: "OPEN_OWNEROVERRIDE", Value: 0x2000000, Doc: "owner may do it in spite of the mode"},
	{Name: "OPEN_LOCK", Value: 0x20000000, Doc: "wants the open lock"},
	{Name: "OPEN_HAS_EA", Value: 0x40000000, Doc: "the request brings a layout"},
	{Name: "OPEN_HAS_OBJS", Value: 0x80000000, Doc: "the request brings a layout with objects"},
	{Name: "OPEN_NORESTORE", Value: 0x200000000, Doc: "do not restore released data"},
	{Name: "OPEN_NEWSTRIPE", Value: 0x400000000, Doc: "a new layout is set"},
	{Name: "OPEN_VOLATILE", Value: 0x800000000, Doc: "temporary file without a name"},
	{Name: "OPEN_LEASE", Value: 0x1000000000, Doc: "wants a lease"},
	{Name: "OPEN_RELEASE", Value: 0x2000000000, Doc: "to release it to the archive"},
	{Name: "OPEN_RESYNC", Value: 0x4000000000, Doc: "to bring mirrors up to date"},
	{Name: "OPEN_PCC", Value: 0x8000000000, Since: "2.15", Doc: "to cache it on the client"},
	{Name: "OP_WITH_FID", Value: 0x10000000000, Since: "2.15", Doc: "the client gives the FID"},
	{Name: "OPEN_DEFAULT_LMV", Value: 0x20000000000, Since: "2.16", Doc: "wants the default stripes of the directory"},
	{Name: "OPEN_FL_INTERNAL", Value: 0x3f0e2800000, Doc: "flags that users cannot set", Alias: true},
	{Name: "OPEN_JOIN_FILE", Value: 0x4000000, Doc: "gone after 2.15", Alias: true},
	{Name: "MKDIR_LMV", Value: 0x4000000000, Since: "2.16", Doc: "mkdir with stripes", Alias: true},
})

// MdTransientState is the group md_transient_state.
var MdTransientState = Bits("md_transient_state", "MS_", "what is being done to a file", []Value{
	{Name: "RESTORE", Value: 0x1, Doc: "restored from the archive"},
})

// MboXattrAbsentBit is the group mbo_xattr_absent_bit.
var MboXattrAbsentBit = Enum("mbo_xattr_absent_bit", "MBO_XA_SEC_", "numbers of the bits of mbo_xattr_absent: security attributes that are known not to exist", []Value{
	{Name: "SELINUX", Value: 0x0, Since: "2.18", Doc: "no security.selinux"},
	{Name: "SMACK", Value: 0x1, Since: "2.18", Doc: "no security.SMACK64"},
})

// InodeFlags is the group inode_flags.
var InodeFlags = Bits("inode_flags", "LUSTRE_", "inode flags as chattr sets them", []Value{
	{Name: "UNRM_FL", Value: 0x2, Since: "2.17", Doc: "undelete"},
	{Name: "COMPR_FL", Value: 0x4, Since: "2.17", Doc: "compressed"},
	{Name: "SYNC_FL", Value: 0x8, Doc: "synchronous updates"},
	{Name: "IMMUTABLE_FL", Value: 0x10, Doc: "cannot be changed"},
	{Name: "APPEND_FL", Value: 0x20, Doc: "append only"},
	{Name: "NODUMP_FL", Value: 0x40, Doc: "not dumped"},
	{Name: "NOATIME_FL", Value: 0x80, Doc: "no access times"},
	{Name: "NOCOMPR_FL", Value: 0x400, Since: "2.17", Doc: "not compressed"},
	{Name: "COMPAT_ENCRYPT_FL", Value: 0x800, Since: "2.17", Doc: "encrypted, as the kernel writes it"},
	{Name: "INDEX_FL", Value: 0x1000, Doc: "hashed directory"},
	{Name: "EXTENTS_FL", Value: 0x80000, Since: "2.17", Doc: "mapped by extents"},
	{Name: "JOURNAL_DATA_FL", Value: 0x4000, Since: "2.17", Doc: "data journalled"},
	{Name: "DIRSYNC_FL", Value: 0x10000, Doc: "synchronous directory"},
	{Name: "TOPDIR_FL", Value: 0x20000, Doc: "top of a hierarchy"},
	{Name: "VERITY_FL", Value: 0x100000, Since: "2.17", Doc: "verity protected"},
	{Name: "INLINE_DATA_FL", Value: 0x10000000, Doc: "data in the inode"},
	{Name: "PROJINHERIT_FL", Value: 0x20000000, Doc: "project id is inherited"},
	{Name: "CASEFOLD_FL", Value: 0x40000000, Since: "2.17", Doc: "names of either case are the same"},
	{Name: "ORPHAN_FL", Value: 0x2000, Doc: "without a name, to be removed"},
	{Name: "SET_SYNC_FL", Value: 0x40000, Doc: "synchronous setattr"},
	{Name: "ENCRYPT_FL", Value: 0x800000, Since: "2.15", Doc: "encrypted"},
	{Name: "LMA_FL_MASKS", Value: 0x802000, Alias: true},
	{Name: "DIRECTIO_FL", Value: 0x100000, Doc: "gone after 2.12", Alias: true},
	{Name: "FL_USER_MODIFIABLE", Value: 0x200304f8, Since: "2.17", Alias: true},
	{Name: "FL_USER_VISIBLE", Value: 0x709b5cfe, Since: "2.17", Alias: true},
})

// FsXflag is the group fs_xflag.
var FsXflag = Bits("fs_xflag", "FS_XFLAG_", "inode flags as FS_IOC_FSSETXATTR has them", []Value{
	{Name: "IMMUTABLE", Value: 0x8, Doc: "cannot be changed"},
	{Name: "APPEND", Value: 0x10, Doc: "append only"},
	{Name: "SYNC", Value: 0x20, Doc: "synchronous updates"},
	{Name: "NOATIME", Value: 0x40, Doc: "no access times"},
	{Name: "PROJINHERIT", Value: 0x200, Doc: "project id is inherited"},
})

// LaValid is the group la_valid.
var LaValid = Bits("la_valid", "LA_", "which attributes are set, inside a server", []Value{
	{Name: "ATIME", Value: 0x1, Doc: "access time"},
	{Name: "MTIME", Value: 0x2, Doc: "modification time"},
	{Name: "CTIME", Value: 0x4, Doc: "change time"},
	{Name: "SIZE", Value: 0x8, Doc: "size"},
	{Name: "MODE", Value: 0x10, Doc: "permission bits"},
	{Name: "UID", Value: 0x20, Doc: "owner"},
	{Name: "GID", Value: 0x40, Doc: "group"},
	{Name: "BLOCKS", Value: 0x80, Doc: "block count"},
	{Name: "TYPE", Value: 0x100, Doc: "file type"},
	{Name: "FLAGS", Value: 0x200, Doc: "inode flags"},
	{Name: "NLINK", Value: 0x400, Doc: "number of links"},
	{Name: "RDEV", Value: 0x800, Doc: "device number"},
	{Name: "BLKSIZE", Value: 0x1000, Doc: "preferred block size"},
	{Name: "KILL_SUID", Value: 0x2000, Doc: "clear the set-user-id bit"},
	{Name: "KILL_SGID", Value: 0x4000, Doc: "clear the set-group-id bit"},
	{Name: "PROJID", Value: 0x8000, Doc: "project id"},
	{Name: "LAYOUT_VERSION", Value: 0x10000, Doc: "version of the layout"},
	{Name: "LSIZE", Value: 0x20000, Doc: "lazy size"},
	{Name: "LBLOCKS", Value: 0x40000, Doc: "lazy block count"},
	{Name: "BTIME", Value: 0x80000, Since: "2.15", Doc: "birth time"},
	{Name: "DIRENT_CNT", Value: 0x100000, Since: "2.16", Doc: "number of directory entries"},
	{Name: "REMOTE_ATTR_SET", Value: 0x18060, Alias: true},
})

// DirentAttrs is the group dirent_attrs.
var DirentAttrs = Bits("dirent_attrs", "LUDA_", "what a directory entry holds", []Value{
	{Name: "FID", Value: 0x1, Doc: "its FID"},
	{Name: "TYPE", Value: 0x2, Doc: "its file type"},
	{Name: "LUDA_64BITHASH", Value: 0x4, Doc: "a hash of 64 bits"},
	{Name: "UNKNOWN", Value: 0x400, Doc: "LFSCK could not judge it"},
	{Name: "IGNORE", Value: 0x800, Doc: "LFSCK left it alone"},
	{Name: "UPGRADE", Value: 0x1000, Doc: "LFSCK upgraded it"},
	{Name: "REPAIR", Value: 0x2000, Doc: "LFSCK repaired it"},
	{Name: "VERIFY_DRYRUN", Value: 0x4000, Doc: "for LFSCK, changing nothing"},
	{Name: "VERIFY", Value: 0x8000, Doc: "for LFSCK"},
	{Name: "LU_DIRENT_ATTRS_MASK", Value: 0xff00, Alias: true},
})

// DirpageFlags is the group dirpage_flags.
var DirpageFlags = Bits("dirpage_flags", "LDF_", "what is special about a page of a directory", []Value{
	{Name: "EMPTY", Value: 0x1, Doc: "page without entries"},
	{Name: "COLLIDE", Value: 0x2, Doc: "last entry hash equals ldp_hash_end"},
})

// ReaddirMisc is the group readdir_misc.
var ReaddirMisc = Enum("readdir_misc", "", "special hashes of directory entries", []Value{
	{Name: "MDS_DIR_END_OFF", Value: 0xfffffffffffffffe, Doc: "hash behind the last entry of a directory"},
})

// SwapLayoutsFlags is the group swap_layouts_flags.
var SwapLayoutsFlags = Bits("swap_layouts_flags", "SWAP_LAYOUTS_", "how layouts are swapped", []Value{
	{Name: "CHECK_DV1", Value: 0x1, Doc: "only if the data version of the first is as given"},
	{Name: "CHECK_DV2", Value: 0x2, Doc: "only if the data version of the second is as given"},
	{Name: "KEEP_MTIME", Value: 0x4, Doc: "keep modification times"},
	{Name: "KEEP_ATIME", Value: 0x8, Doc: "keep access times"},
	{Name: "CLOSE", Value: 0x10, Doc: "as part of a close"},
	{Name: "WITH_DV12", Value: 0x20, Since: "2.18", Doc: "the request brings data versions"},
	{Name: "MDS_RELEASE", Value: 0x80000000, Since: "2.16", Doc: "swap HSM state too"},
	{Name: "MDS_HSM", Value: 0xffffffff80000000, Doc: "swap HSM state too, sign-extended", Alias: true},
})

// DataVersionFlags is the group data_version_flags.
var DataVersionFlags = Bits("data_version_flags", "LL_DV_", "what is flushed before a data version is read", []Value{
	{Name: "RD_FLUSH", Value: 0x1, Doc: "clients write their data"},
	{Name: "WR_FLUSH", Value: 0x2, Doc: "clients write and drop their data"},
	{Name: "SZ_UPDATE", Value: 0x4, Since: "2.15", Doc: "bring the size on the MDT up to date"},
})

// CfsPerm is the group cfs_perm.
var CfsPerm = Bits("cfs_perm", "CFS_", "what a user may do", []Value{
	{Name: "SETUID_PERM", Value: 0x1, Doc: "change its user id"},
	{Name: "SETGID_PERM", Value: 0x2, Doc: "change its group id"},
	{Name: "SETGRP_PERM", Value: 0x4, Doc: "change its groups"},
})

// mdsOpenFlagsHigh are the bits of the high half, as cr_flags_h has them.
var mdsOpenFlagsHigh = MdsOpenFlags.HighHalf()

// xattrAbsent are the bits whose numbers the group mbo_xattr_absent_bit gives.
var xattrAbsent = func() *Names {
	bits := make([]Value, len(MboXattrAbsentBit.Values))
	for i, v := range MboXattrAbsentBit.Values {
		bits[i] = Value{Name: v.Name, Value: 1 << v.Value, Since: v.Since, Doc: v.Doc}
	}
	return NewBits(MboXattrAbsentBit.Group, MboXattrAbsentBit.Prefix, MboXattrAbsentBit.Doc, bits)
}()
