package opcodes

// ObdoFlags is the group obdo_flags.
var ObdoFlags = Bits("obdo_flags", "OBD_FL_", "", []Value{
	{Name: "INLINEDATA", Value: 0x1},
	{Name: "OBDMDEXISTS", Value: 0x2},
	{Name: "DELORPHAN", Value: 0x4, Doc: "OST_CREATE used to destroy orphans"},
	{Name: "NORPC", Value: 0x8},
	{Name: "IDONLY", Value: 0x10},
	{Name: "RECREATE_OBJS", Value: 0x20},
	{Name: "DEBUG_CHECK", Value: 0x40},
	{Name: "NO_PRJQUOTA", Value: 0x80},
	{Name: "NO_USRQUOTA", Value: 0x100},
	{Name: "NO_GRPQUOTA", Value: 0x200},
	{Name: "CREATE_CROW", Value: 0x400},
	{Name: "SRVLOCK", Value: 0x800, Doc: "server takes the lock"},
	{Name: "CKSUM_CRC32", Value: 0x1000},
	{Name: "CKSUM_ADLER", Value: 0x2000},
	{Name: "CKSUM_CRC32C", Value: 0x4000},
	{Name: "CKSUM_T10IP512", Value: 0x5000, Doc: "value 5<<12 - not a single bit"},
	{Name: "CKSUM_T10IP4K", Value: 0x6000, Doc: "value 6<<12 - not a single bit"},
	{Name: "CKSUM_T10CRC512", Value: 0x7000, Doc: "value 7<<12 - not a single bit"},
	{Name: "CKSUM_T10CRC4K", Value: 0x8000, Doc: "value 8<<12"},
	{Name: "CKSUM_RSVD3", Value: 0x10000},
	{Name: "SHRINK_GRANT", Value: 0x20000},
	{Name: "MMAP", Value: 0x40000},
	{Name: "RECOV_RESEND", Value: 0x80000},
	{Name: "NOSPC_BLK", Value: 0x100000},
	{Name: "FLUSH", Value: 0x200000},
	{Name: "SHORT_IO", Value: 0x400000, Doc: "data inline in the RPC"},
	{Name: "ROOT_SQUASH", Value: 0x800000, Since: "2.15"},
	{Name: "ROOT_PRJQUOTA", Value: 0x1000000, Since: "2.16"},
	{Name: "CKSUM_ALL", Value: 0xf000, Alias: true},
	{Name: "NO_QUOTA_ALL", Value: 0x380, Alias: true},
})

// ObdBrwFlags is the group obd_brw_flags.
var ObdBrwFlags = Bits("obd_brw_flags", "OBD_BRW_", "", []Value{
	{Name: "READ", Value: 0x1},
	{Name: "WRITE", Value: 0x2},
	{Name: "RWMASK", Value: 0x3, Alias: true},
	{Name: "NDELAY", Value: 0x4},
	{Name: "SYNC", Value: 0x8},
	{Name: "CHECK", Value: 0x10},
	{Name: "FROM_GRANT", Value: 0x20},
	{Name: "GRANTED", Value: 0x40},
	{Name: "NOCACHE", Value: 0x80},
	{Name: "NOQUOTA", Value: 0x100},
	{Name: "SRVLOCK", Value: 0x200},
	{Name: "ASYNC", Value: 0x400},
	{Name: "MEMALLOC", Value: 0x800},
	{Name: "OVER_USRQUOTA", Value: 0x1000},
	{Name: "OVER_GRPQUOTA", Value: 0x2000},
	{Name: "SOFT_SYNC", Value: 0x4000},
	{Name: "OVER_PRJQUOTA", Value: 0x8000},
	{Name: "OVER_ALLQUOTA", Value: 0xb000, Alias: true},
	{Name: "ROOT_PRJQUOTA", Value: 0x10000, Since: "2.16"},
	{Name: "RDMA_ONLY", Value: 0x20000, Since: "2.15"},
	{Name: "SYS_RESOURCE", Value: 0x40000, Since: "2.15"},
	{Name: "COMPRESSED", Value: 0x80000, Since: "2.16"},
	{Name: "SPECULATIVE_COMPR", Value: 0x100000, Since: "2.16"},
	{Name: "DONE", Value: 0x40000000, Since: "2.15"},
	{Name: "LOCAL1", Value: 0x80000000},
	{Name: "LOCALS", Value: 0xc0000000, Doc: "value changed: <=2.12=0x80000000, 2.15=0xc0000000, 2.16=0xc0000000, 2.17=0xc0000000, 2.18=0xc0000000", Alias: true},
})

// Ioobj is the group ioobj.
var Ioobj = Enum("ioobj", "IOOBJ_", "", []Value{
	{Name: "OFFSET_BITS", Value: 0x4, Since: "2.16"},
	{Name: "OFFSET_MASK", Value: 0xf, Since: "2.16"},
	{Name: "MAX_BRW_BITS", Value: 0x10},
})

// ObdStatfsState is the group obd_statfs_state.
var ObdStatfsState = Bits("obd_statfs_state", "OS_STATFS_", "", []Value{
	{Name: "DEGRADED", Value: 0x1, Since: "2.15"},
	{Name: "READONLY", Value: 0x2, Since: "2.15"},
	{Name: "NOCREATE", Value: 0x4, Since: "2.16"},
	{Name: "UNUSED1", Value: 0x8, Since: "2.15"},
	{Name: "UNUSED2", Value: 0x10, Since: "2.15"},
	{Name: "ENOSPC", Value: 0x20, Since: "2.15"},
	{Name: "ENOINO", Value: 0x40, Since: "2.15"},
	{Name: "SUM", Value: 0x100, Since: "2.15"},
	{Name: "NONROT", Value: 0x200, Since: "2.15"},
	{Name: "DOWNGRADE", Value: 0x67, Since: "2.17", Alias: true},
	{Name: "UPGRADE", Value: 0x200, Since: "2.17", Alias: true},
	{Name: "NOPRECREATE", Value: 0x4, Since: "2.15", Doc: "not defined after 2.15", Alias: true},
	{Name: "OS_STATE_DEGRADED", Value: 0x1, Doc: "not defined after 2.12", Alias: true},
	{Name: "OS_STATE_READONLY", Value: 0x2, Doc: "not defined after 2.12", Alias: true},
	{Name: "OS_STATE_NOPRECREATE", Value: 0x4, Doc: "not defined after 2.12", Alias: true},
	{Name: "OS_STATE_UNUSED1", Value: 0x8, Doc: "not defined after 2.12", Alias: true},
	{Name: "OS_STATE_UNUSED2", Value: 0x10, Doc: "not defined after 2.12", Alias: true},
	{Name: "OS_STATE_ENOSPC", Value: 0x20, Doc: "not defined after 2.12", Alias: true},
	{Name: "OS_STATE_ENOINO", Value: 0x40, Doc: "not defined after 2.12", Alias: true},
	{Name: "OS_STATE_SUM", Value: 0x100, Doc: "not defined after 2.12", Alias: true},
	{Name: "OS_STATE_NONROT", Value: 0x200, Doc: "not defined after 2.12", Alias: true},
})

// Ladvise is the group ladvise.
var Ladvise = Enum("ladvise", "", "", []Value{
	{Name: "LU_LADVISE_INVALID", Value: 0x0},
	{Name: "LU_LADVISE_WILLREAD", Value: 0x1},
	{Name: "LU_LADVISE_DONTNEED", Value: 0x2},
	{Name: "LU_LADVISE_LOCKNOEXPAND", Value: 0x3},
	{Name: "LU_LADVISE_LOCKAHEAD", Value: 0x4},
	{Name: "LU_LADVISE_AHEAD", Value: 0x5, Since: "2.16"},
	{Name: "LU_LADVISE_MAX", Value: 0x6, Doc: "value changed: <=2.12=0x5, 2.15=0x5, 2.16=0x6, 2.17=0x6, 2.18=0x6"},
	{Name: "LAH_COUNT_MAX", Value: 0x400},
	{Name: "LADVISE_MAGIC", Value: 0x1adf1ce0},
})

// LadviseFlags is the group ladvise_flags.
var LadviseFlags = Bits("ladvise_flags", "LF_", "", []Value{
	{Name: "ASYNC", Value: 0x1},
	{Name: "UNSET", Value: 0x2},
})

// FiemapFlags is the group fiemap_flags.
var FiemapFlags = Bits("fiemap_flags", "FIEMAP_FLAG_", "", []Value{
	{Name: "SYNC", Value: 0x1},
	{Name: "XATTR", Value: 0x2},
	{Name: "CACHE", Value: 0x4},
	{Name: "DEVICE_ORDER", Value: 0x40000000},
	{Name: "LUSTRE_FIEMAP_FLAGS_COMPAT", Value: 0x40000001, Alias: true},
})

// FiemapExtentFlags is the group fiemap_extent_flags.
var FiemapExtentFlags = Bits("fiemap_extent_flags", "FIEMAP_EXTENT_", "", []Value{
	{Name: "LAST", Value: 0x1},
	{Name: "UNKNOWN", Value: 0x2},
	{Name: "DELALLOC", Value: 0x4},
	{Name: "ENCODED", Value: 0x8},
	{Name: "DATA_ENCRYPTED", Value: 0x80},
	{Name: "NOT_ALIGNED", Value: 0x100},
	{Name: "DATA_INLINE", Value: 0x200},
	{Name: "DATA_TAIL", Value: 0x400},
	{Name: "UNWRITTEN", Value: 0x800},
	{Name: "MERGED", Value: 0x1000},
	{Name: "SHARED", Value: 0x2000},
	{Name: "NO_DIRECT", Value: 0x40000000, Doc: "not defined after 2.12", Alias: true},
	{Name: "NET", Value: 0x80000000},
})

// OstId is the group ost_id.
var OstId = Enum("ost_id", "", "", []Value{
	{Name: "OBIF_OID_MAX_BITS", Value: 0x20},
	{Name: "IDIF_OID_MAX_BITS", Value: 0x30},
	{Name: "OBIF_MAX_OID", Value: 0xffffffff, Doc: "value changed: <=2.12=0x100000000, 2.15=0x100000000, 2.16=0xffffffff, 2.17=0xffffffff, 2.18=0xffffffff"},
	{Name: "OBIF_OID_MASK", Value: 0xffffffff, Doc: "not defined after 2.15", Alias: true},
	{Name: "IDIF_MAX_OID", Value: 0xffffffffffff, Doc: "value changed: <=2.12=0x1000000000000, 2.15=0x1000000000000, 2.16=0xffffffffffff, 2.17=0xffffffffffff, 2.18=0xffffffffffff"},
	{Name: "IDIF_OID_MASK", Value: 0xffffffffffff, Doc: "not defined after 2.15", Alias: true},
})

// OstLvb is the group ost_lvb.
var OstLvb = Enum("ost_lvb", "OST_LVB_ERR_", "", []Value{
	{Name: "MASK", Value: 0xffbadbad00000000},
	{Name: "INIT", Value: 0xffbadbad80000000, Doc: "lvb_blocks carries an errno when its top half matches the mask"},
})
