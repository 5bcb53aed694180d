package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// ObdoFlags are the flags of an obdo. The type of the checksum is a number in bits 12 to 15.
var ObdoFlags = Bits("obdo_flags", "OBD_FL_", "what is special about the operation, and the type of the checksum", []Value{
	{Name: "INLINEDATA", Value: 0x1, Doc: "data is inline, long ago"},
	{Name: "OBDMDEXISTS", Value: 0x2, Doc: "attributes are known"},
	{Name: "DELORPHAN", Value: 0x4, Doc: "OST_CREATE: destroy the precreated objects above this id"},
	{Name: "NORPC", Value: 0x8, Doc: "nothing to send"},
	{Name: "IDONLY", Value: 0x10, Doc: "id only"},
	{Name: "RECREATE_OBJS", Value: 0x20, Doc: "make lost objects again"},
	{Name: "DEBUG_CHECK", Value: 0x40, Doc: "check the data"},
	{Name: "NO_PRJQUOTA", Value: 0x80, Doc: "the project is out of quota"},
	{Name: "NO_USRQUOTA", Value: 0x100, Doc: "the user is out of quota"},
	{Name: "NO_GRPQUOTA", Value: 0x200, Doc: "the group is out of quota"},
	{Name: "CREATE_CROW", Value: 0x400, Doc: "create the object when it is written"},
	{Name: "SRVLOCK", Value: 0x800, Doc: "the server takes the lock; the bit also marks objects of encrypted files"},
	{Name: "CKSUM_CRC32", Value: 0x1000, Mask: 0xf000, Doc: "checksum is a CRC32"},
	{Name: "CKSUM_ADLER", Value: 0x2000, Mask: 0xf000, Doc: "checksum is Adler-32"},
	{Name: "CKSUM_CRC32C", Value: 0x4000, Mask: 0xf000, Doc: "checksum is a CRC32C"},
	{Name: "CKSUM_T10IP512", Value: 0x5000, Mask: 0xf000, Doc: "checksum of T10 IP guards of 512 bytes"},
	{Name: "CKSUM_T10IP4K", Value: 0x6000, Mask: 0xf000, Doc: "checksum of T10 IP guards of 4096 bytes"},
	{Name: "CKSUM_T10CRC512", Value: 0x7000, Mask: 0xf000, Doc: "checksum of T10 CRC guards of 512 bytes"},
	{Name: "CKSUM_T10CRC4K", Value: 0x8000, Mask: 0xf000, Doc: "checksum of T10 CRC guards of 4096 bytes"},
	{Name: "CKSUM_RSVD3", Value: 0x10000, Doc: "unused"},
	{Name: "SHRINK_GRANT", Value: 0x20000, Doc: "the client gives grant back"},
	{Name: "MMAP", Value: 0x40000, Doc: "pages of a mapped file"},
	{Name: "RECOV_RESEND", Value: 0x80000, Doc: "sent again after recovery"},
	{Name: "NOSPC_BLK", Value: 0x100000, Doc: "the target is short of blocks"},
	{Name: "FLUSH", Value: 0x200000, Doc: "flush the pages first"},
	{Name: "SHORT_IO", Value: 0x400000, Doc: "the data is in the message, there is no bulk"},
	{Name: "ROOT_SQUASH", Value: 0x800000, Since: "2.15", Doc: "root is squashed"},
	{Name: "ROOT_PRJQUOTA", Value: 0x1000000, Since: "2.16", Doc: "project quota holds for root too"},
	{Name: "CKSUM_ALL", Value: 0xf000, Doc: "where the type of the checksum is", Alias: true},
	{Name: "NO_QUOTA_ALL", Value: 0x380, Doc: "out of any quota", Alias: true},
})

// ObdBrwFlags are the flags of a range to read or write.
var ObdBrwFlags = Bits("obd_brw_flags", "OBD_BRW_", "how the pages of a range are to be treated", []Value{
	{Name: "READ", Value: 0x1, Doc: "read"},
	{Name: "WRITE", Value: 0x2, Doc: "write"},
	{Name: "RWMASK", Value: 0x3, Doc: "read or write", Alias: true},
	{Name: "NDELAY", Value: 0x4, Doc: "do not wait"},
	{Name: "SYNC", Value: 0x8, Doc: "to disk before the reply"},
	{Name: "CHECK", Value: 0x10, Doc: "check only"},
	{Name: "FROM_GRANT", Value: 0x20, Doc: "space comes out of the grant"},
	{Name: "GRANTED", Value: 0x40, Doc: "the grant was accounted"},
	{Name: "NOCACHE", Value: 0x80, Doc: "do not keep in the cache of the server"},
	{Name: "NOQUOTA", Value: 0x100, Doc: "no quota check"},
	{Name: "SRVLOCK", Value: 0x200, Doc: "the server takes the lock"},
	{Name: "ASYNC", Value: 0x400, Doc: "the server may answer before the data is on disk"},
	{Name: "MEMALLOC", Value: 0x800, Doc: "written to free memory"},
	{Name: "OVER_USRQUOTA", Value: 0x1000, Doc: "the user is over quota"},
	{Name: "OVER_GRPQUOTA", Value: 0x2000, Doc: "the group is over quota"},
	{Name: "SOFT_SYNC", Value: 0x4000, Doc: "please commit soon"},
	{Name: "OVER_PRJQUOTA", Value: 0x8000, Doc: "the project is over quota"},
	{Name: "OVER_ALLQUOTA", Value: 0xb000, Doc: "over any quota", Alias: true},
	{Name: "ROOT_PRJQUOTA", Value: 0x10000, Since: "2.16", Doc: "project quota holds for root too"},
	{Name: "RDMA_ONLY", Value: 0x20000, Since: "2.15", Doc: "pages of a device, for RDMA only"},
	{Name: "SYS_RESOURCE", Value: 0x40000, Since: "2.15", Doc: "may use reserved space"},
	{Name: "COMPRESSED", Value: 0x80000, Since: "2.16", Doc: "compressed"},
	{Name: "SPECULATIVE_COMPR", Value: 0x100000, Since: "2.16", Doc: "compressed if it pays"},
	{Name: "DONE", Value: 0x40000000, Since: "2.15", Doc: "local state: done"},
	{Name: "LOCAL1", Value: 0x80000000, Doc: "local state"},
	{Name: "LOCALS", Value: 0xc0000000, Doc: "local states; 0x80000000 in 2.12", Alias: true},
})

// Ioobj are the parts of ioo_max_brw.
var Ioobj = Enum("ioobj", "IOOBJ_", "parts of ioo_max_brw", []Value{
	{Name: "OFFSET_BITS", Value: 0x4, Since: "2.16", Doc: "bits of the page offset"},
	{Name: "OFFSET_MASK", Value: 0xf, Since: "2.16", Doc: "the page offset"},
	{Name: "MAX_BRW_BITS", Value: 0x10, Doc: "where the number of bulk transfers starts"},
})

// ObdStatfsState are the states of a target.
var ObdStatfsState = Bits("obd_statfs_state", "OS_STATFS_", "state of a target", []Value{
	{Name: "DEGRADED", Value: 0x1, Since: "2.15", Doc: "its RAID is degraded"},
	{Name: "READONLY", Value: 0x2, Since: "2.15", Doc: "read-only"},
	{Name: "NOCREATE", Value: 0x4, Since: "2.16", Doc: "takes no new objects"},
	{Name: "UNUSED1", Value: 0x8, Since: "2.15", Doc: "unused"},
	{Name: "UNUSED2", Value: 0x10, Since: "2.15", Doc: "unused"},
	{Name: "ENOSPC", Value: 0x20, Since: "2.15", Doc: "out of space"},
	{Name: "ENOINO", Value: 0x40, Since: "2.15", Doc: "out of inodes"},
	{Name: "SUM", Value: 0x100, Since: "2.15", Doc: "the numbers are sums over all targets"},
	{Name: "NONROT", Value: 0x200, Since: "2.15", Doc: "flash"},
	{Name: "DOWNGRADE", Value: 0x67, Since: "2.17", Doc: "states that make a target less welcome", Alias: true},
	{Name: "UPGRADE", Value: 0x200, Since: "2.17", Doc: "states that make it more welcome", Alias: true},
	{Name: "NOPRECREATE", Value: 0x4, Since: "2.15", Doc: "takes no new objects, in 2.15", Alias: true},
	{Name: "OS_STATE_DEGRADED", Value: 0x1, Doc: "name in 2.12", Alias: true},
	{Name: "OS_STATE_READONLY", Value: 0x2, Doc: "name in 2.12", Alias: true},
	{Name: "OS_STATE_NOPRECREATE", Value: 0x4, Doc: "name in 2.12", Alias: true},
	{Name: "OS_STATE_UNUSED1", Value: 0x8, Doc: "name in 2.12", Alias: true},
	{Name: "OS_STATE_UNUSED2", Value: 0x10, Doc: "name in 2.12", Alias: true},
	{Name: "OS_STATE_ENOSPC", Value: 0x20, Doc: "name in 2.12", Alias: true},
	{Name: "OS_STATE_ENOINO", Value: 0x40, Doc: "name in 2.12", Alias: true},
	{Name: "OS_STATE_SUM", Value: 0x100, Doc: "name in 2.12", Alias: true},
	{Name: "OS_STATE_NONROT", Value: 0x200, Doc: "name in 2.12", Alias: true},
})

// Ladvise are kinds of advice on a file.
var Ladvise = Enum("ladvise", "", "advice on a range of a file", []Value{
	{Name: "LU_LADVISE_INVALID", Value: 0x0, Doc: "none"},
	{Name: "LU_LADVISE_WILLREAD", Value: 0x1, Doc: "will be read soon"},
	{Name: "LU_LADVISE_DONTNEED", Value: 0x2, Doc: "will not be needed"},
	{Name: "LU_LADVISE_LOCKNOEXPAND", Value: 0x3, Doc: "locks are not to be grown"},
	{Name: "LU_LADVISE_LOCKAHEAD", Value: 0x4, Doc: "take this lock ahead of need"},
	{Name: "LU_LADVISE_AHEAD", Value: 0x5, Since: "2.16", Doc: "read attributes ahead"},
	{Name: "LU_LADVISE_MAX", Value: 0x6, Doc: "number of kinds; 5 through 2.15", Alias: true},
	{Name: "LAH_COUNT_MAX", Value: 0x400, Doc: "most pieces of advice in one message", Alias: true},
	{Name: "LADVISE_MAGIC", Value: 0x1adf1ce0, Doc: "magic of a ladvise_hdr"},
})

// LadviseFlags are the flags of a ladvise_hdr.
var LadviseFlags = Bits("ladvise_flags", "LF_", "how to take advice", []Value{
	{Name: "ASYNC", Value: 0x1, Doc: "do not wait for it"},
	{Name: "UNSET", Value: 0x2, Doc: "take it back"},
})

// FiemapFlags are the flags of a fiemap.
var FiemapFlags = Bits("fiemap_flags", "FIEMAP_FLAG_", "how to map extents", []Value{
	{Name: "SYNC", Value: 0x1, Doc: "write the file back first"},
	{Name: "XATTR", Value: 0x2, Doc: "map the extended attributes"},
	{Name: "CACHE", Value: 0x4, Doc: "read the extents into the cache"},
	{Name: "DEVICE_ORDER", Value: 0x40000000, Doc: "one target after the other"},
	{Name: "LUSTRE_FIEMAP_FLAGS_COMPAT", Value: 0x40000001, Doc: "what Lustre can do", Alias: true},
})

// FiemapExtentFlags are the flags of an extent.
var FiemapExtentFlags = Bits("fiemap_extent_flags", "FIEMAP_EXTENT_", "what is special about an extent", []Value{
	{Name: "LAST", Value: 0x1, Doc: "the last one"},
	{Name: "UNKNOWN", Value: 0x2, Doc: "where it is is not known"},
	{Name: "DELALLOC", Value: 0x4, Doc: "not allocated yet"},
	{Name: "ENCODED", Value: 0x8, Doc: "encoded"},
	{Name: "DATA_ENCRYPTED", Value: 0x80, Doc: "encrypted"},
	{Name: "NOT_ALIGNED", Value: 0x100, Doc: "not aligned to blocks"},
	{Name: "DATA_INLINE", Value: 0x200, Doc: "with the metadata"},
	{Name: "DATA_TAIL", Value: 0x400, Doc: "several tails share a block"},
	{Name: "UNWRITTEN", Value: 0x800, Doc: "allocated, not written"},
	{Name: "MERGED", Value: 0x1000, Doc: "put together by the file system"},
	{Name: "SHARED", Value: 0x2000, Doc: "shared with other files"},
	{Name: "NO_DIRECT", Value: 0x40000000, Doc: "no direct I/O; gone after 2.12"},
	{Name: "NET", Value: 0x80000000, Doc: "on another node"},
})

// OstId are limits of object ids.
var OstId = Enum("ost_id", "", "limits of object ids", []Value{
	{Name: "OBIF_OID_MAX_BITS", Value: 0x20, Doc: "bits of an id in a FID"},
	{Name: "IDIF_OID_MAX_BITS", Value: 0x30, Doc: "bits of an id in the sequences of OST indexes"},
	{Name: "OBIF_MAX_OID", Value: 0xffffffff, Doc: "largest id in a FID; one more through 2.15"},
	{Name: "OBIF_OID_MASK", Value: 0xffffffff, Doc: "id in a FID; gone after 2.15", Alias: true},
	{Name: "IDIF_MAX_OID", Value: 0xffffffffffff, Doc: "largest id in the sequences of OST indexes; one more through 2.15"},
	{Name: "IDIF_OID_MASK", Value: 0xffffffffffff, Doc: "id in the sequences of OST indexes; gone after 2.15", Alias: true},
})

// OstLvb are marks in lvb_blocks.
var OstLvb = Enum("ost_lvb", "OST_LVB_ERR_", "marks in lvb_blocks", []Value{
	{Name: "MASK", Value: 0xffbadbad00000000, Doc: "in the upper half: the lower half is an errno"},
	{Name: "INIT", Value: 0xffbadbad80000000, Doc: "not filled in yet"},
})
