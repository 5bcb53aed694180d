package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var ObdMdValid = Bits("obd_md_valid", "OBD_MD_", "which fields of an mdt_body or obdo mean something; in requests also what the client "+
	"wants to know", []Value{
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
	{Name: "DOM_SIZE", Value: 0x1000, Doc: "size and blocks of the part on the MDT (DoM)"},
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

var MdTransientState = Bits("md_transient_state", "MS_", "what is being done to a file", []Value{
	{Name: "RESTORE", Value: 0x1, Doc: "restored from the archive"},
})

var MboXattrAbsent = Bits("mbo_xattr_absent", "MBO_XA_", "security attributes that are known not to exist", []Value{
	{Name: "SEC_SELINUX", Value: 0x1, Since: "2.18", Doc: "no security.selinux"},
	{Name: "SEC_SMACK", Value: 0x2, Since: "2.18", Doc: "no security.SMACK64"},
	{Name: "KNOWN", Value: 0x3, Since: "2.18", Alias: true, Doc: "all bits that are in use"},
})

var InodeFlags = Bits("inode_flags", "LUSTRE_", "inode flags as chattr sets them", []Value{
	{Name: "UNRM_FL", Value: 0x2, Since: "2.17", Doc: "undelete"},
	{Name: "COMPR_FL", Value: 0x4, Since: "2.17", Doc: "compressed"},
	{Name: "SYNC_FL", Value: 0x8, Doc: "synchronous updates"},
	{Name: "IMMUTABLE_FL", Value: 0x10, Doc: "cannot be changed"},
	{Name: "APPEND_FL", Value: 0x20, Doc: "append only"},
	{Name: "NODUMP_FL", Value: 0x40, Doc: "not dumped"},
	{Name: "NOATIME_FL", Value: 0x80, Doc: "no access times"},
	{Name: "NOCOMPR_FL", Value: 0x400, Since: "2.17", Doc: "not compressed"},
	{Name: "COMPAT_ENCRYPT_FL", Value: 0x800, Since: "2.17", Doc: "encrypted, as the kernel writes it", NoPrefix: true},
	{Name: "INDEX_FL", Value: 0x1000, Doc: "hashed directory"},
	{Name: "ORPHAN_FL", Value: 0x2000, Doc: "without a name, to be removed"},
	{Name: "JOURNAL_DATA_FL", Value: 0x4000, Since: "2.17", Doc: "data journalled"},
	{Name: "DIRSYNC_FL", Value: 0x10000, Doc: "synchronous directory"},
	{Name: "TOPDIR_FL", Value: 0x20000, Doc: "top of a hierarchy"},
	{Name: "SET_SYNC_FL", Value: 0x40000, Doc: "synchronous setattr"},
	{Name: "EXTENTS_FL", Value: 0x80000, Since: "2.17", Doc: "mapped by extents"},
	{Name: "VERITY_FL", Value: 0x100000, Since: "2.17", Doc: "verity protected"},
	{Name: "DIRECTIO_FL", Value: 0x100000, Doc: "gone after 2.12", Alias: true},
	{Name: "ENCRYPT_FL", Value: 0x800000, Since: "2.15", Doc: "encrypted"},
	{Name: "LMA_FL_MASKS", Value: 0x802000, Alias: true},
	{Name: "INLINE_DATA_FL", Value: 0x10000000, Doc: "data in the inode"},
	{Name: "PROJINHERIT_FL", Value: 0x20000000, Doc: "project id is inherited"},
	{Name: "FL_USER_MODIFIABLE", Value: 0x200304f8, Since: "2.17", Alias: true},
	{Name: "CASEFOLD_FL", Value: 0x40000000, Since: "2.17", Doc: "names of either case are the same"},
	{Name: "FL_USER_VISIBLE", Value: 0x709b5cfe, Since: "2.17", Alias: true},
})

var mdtBody = &Struct{Name: "mdt_body",
	Doc: "the attributes of a file or directory, and in requests what is asked for and by whom", Fields: []*Field{
		Sub("mbo_fid1", &LuFid, When{"mbo_valid", "FLID", "MDS", "FLCROSSREF"}, "the object; requests by name: the directory"),
		Sub("mbo_fid2", &LuFid, "the second object: of a getattr by name the object if the client knows it, of a swap the other file"),
		Sub("mbo_open_handle", &lustreHandle, "open handle, in the reply to an open; named mbo_handle in older releases"),
		U64("mbo_valid", &ObdMdValid, "the fields that mean something; request: what is asked for"),
		U64("mbo_size", Size, When{"mbo_valid", "FLSIZE", "FLLAZYSIZE"}, "size in bytes; only approximate with FLLAZYSIZE"),
		S64("mbo_mtime", Time, When{"mbo_valid", "FLMTIME"}, "modification time"),
		S64("mbo_atime", Time, When{"mbo_valid", "FLATIME"}, "access time"),
		S64("mbo_ctime", Time, When{"mbo_valid", "FLCTIME"}, "change time"),
		U64("mbo_blocks", Harmless, When{"mbo_valid", "FLBLOCKS", "FLLAZYBLOCKS"}, "blocks of 512 bytes"),
		U64("mbo_version", Cookie, When{"mbo_valid", "FLDATAVERSION"}, "data version"),
		U64("mbo_t_state", &MdTransientState, When{"mbo_valid", "TSTATE"}, "what is being done to the file"),
		U32("mbo_fsuid", UserID, "user on whose behalf the request is made"),
		U32("mbo_fsgid", UserID, "group on whose behalf the request is made"),
		U32("mbo_capability", Harmless, Hex, "capabilities of the user, one bit each"),
		U32("mbo_mode", Octal, When{"mbo_valid", "FLMODE", "FLTYPE"}, "file type and permissions"),
		U32("mbo_uid", UserID, When{"mbo_valid", "FLUID"}, "owner"),
		U32("mbo_gid", UserID, When{"mbo_valid", "FLGID"}, "group"),
		U32("mbo_flags", &InodeFlags, When{"mbo_valid", "FLFLAGS"}, "inode flags"),
		U32("mbo_rdev", Harmless, Hex, When{"mbo_valid", "FLRDEV"}, "device number"),
		U32("mbo_nlink", Harmless, When{"mbo_valid", "FLNLINK"}, "number of links"),
		U32("mbo_layout_gen", Harmless, When{"mbo_valid", "LAYOUT_VERSION"}, "generation of the layout"),
		U32("mbo_suppgid", UserID, remarkNobody, "a group that the user is in beside its own; 0xffffffff: none"),
		U32("mbo_eadatasize", Size, When{"mbo_valid", "FLEASIZE", "LINKNAME", "FLDIREA", "MEA", "DEFAULT_MEA", "FLXATTR", "FLXATTRLS"},
			"bytes of layout, link target or attribute; request: room for them"),
		U32("mbo_aclsize", Size, When{"mbo_valid", "FLACL", "FLXATTR", "FLXATTRLS"}, "bytes of ACL; getxattr intent: of all values"),
		U32("mbo_max_mdsize", Harmless, When{"mbo_valid", "FLMODEASIZE", "FLXATTR", "FLXATTRLS"},
			"size of the largest layout; getxattr intent: number of values"),
		Pad("mbo_unused3", 4),
		U32("mbo_uid_h", Removed, "upper half of the owner, unused"),
		U32("mbo_gid_h", Removed, "upper half of the group, unused"),
		U32("mbo_projid", UserID, When{"mbo_valid", "FLPROJID"}, "project id"),
		U64("mbo_dom_size", Size, When{"mbo_valid", "DOM_SIZE"}, "bytes of the file that are on the MDT (DoM)"),
		U64("mbo_dom_blocks", Harmless, When{"mbo_valid", "DOM_SIZE"}, "blocks of the part on the MDT"),
		U64("mbo_btime", Since("2.15"), Time, When{"mbo_valid", "FLBTIME"}, "birth time; padding up to 2.12"),
		U64("mbo_xattr_absent", Since("2.18"), &MboXattrAbsent, "security attributes that are known not to exist; padding up to 2.17"),
		Pad("mbo_padding_10", 8),
	}}

// mdtBodyReadpage is the mdt_body in the request of a MDS_READPAGE, which uses
// some fields for other things.
var mdtBodyReadpage = mdtBody.With("the directory to read, and from where on",
	U64("mbo_size", Cookie, "hash of the name to begin at"),
	U32("mbo_mode", &DirentAttrs, "what each entry shall hold"),
	U32("mbo_nlink", Harmless, Size, "bytes wanted"),
)

// mdtBodyXattr is the mdt_body in the request of a MDS_GETXATTR.
var mdtBodyXattr = mdtBody.With("the object whose extended attributes are wanted",
	U32("mbo_flags", &xattrSetFlags, "how the attribute is set"),
)

// mdtBodyXattrs is the mdt_body in the reply to a GETXATTR intent, which has the sizes of the
// buffers behind it.
var mdtBodyXattrs = mdtBody.With("the sizes of the attributes in the reply",
	U32("mbo_eadatasize", Size, Remark(remarkAs("list of names")), "bytes of the list of names"),
	U32("mbo_aclsize", Size, Remark(remarkAs("values")), "bytes of all values"),
	U32("mbo_max_mdsize", Harmless, Remark(remarkAs("count")), "number of values"),
)

// The fields that funcs read.
var (
	mboFid1       = mdtBody.Field("mbo_fid1")
	mboFid2       = mdtBody.Field("mbo_fid2")
	mboValid      = mdtBody.Field("mbo_valid")
	mboSize       = mdtBody.Field("mbo_size")
	mboMode       = mdtBody.Field("mbo_mode")
	mboNlink      = mdtBody.Field("mbo_nlink")
	mboEadatasize = mdtBody.Field("mbo_eadatasize")
)

var (
	bufMdtBody       = Sub("mdt_body", &mdtBody)
	bufMdtBodyXattrs = Sub("mdt_body", &mdtBodyXattrs, "sizes of the attributes")
)

// mdtBodyOf is the mdt_body of a message with what is needed to read it.
type mdtBodyOf struct {
	b   []byte
	big bool
}

func bodyOf(m *Msg) mdtBodyOf {
	if m == nil {
		return mdtBodyOf{}
	}
	return mdtBodyOf{m.Named("mdt_body"), m.Big}
}

func (o mdtBodyOf) word(f *Field) uint64 { return f.Uint(o.b, o.big) }

func (o mdtBodyOf) has(bits uint64) bool { return o.word(mboValid)&bits != 0 }

var (
	bodyFID   = ObdMdValid.Bit("FLID", "MDS")
	bodyMode  = ObdMdValid.Bit("FLMODE", "FLTYPE")
	bodySize  = ObdMdValid.Bit("FLSIZE", "FLLAZYSIZE")
	bodyMoved = ObdMdValid.Bit("MDS")
)

const (
	modeType    = 0o170000
	modeDir     = 0o040000
	modeSymlink = 0o120000
	modePerm    = 0o7777
)

func isDir(mode uint64) bool { return mode&modeType == modeDir }
