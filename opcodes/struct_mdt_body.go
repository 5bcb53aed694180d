package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// mdtBody is struct mdt_body.
var mdtBody = Define("mdt_body",
	"the attributes of a file or directory, and in requests what is asked for and by whom",
	Sub("mbo_fid1", luFid, When("mbo_valid", "FLID", "MDS", "FLCROSSREF"), "the object; requests by name: the directory"),
	Sub("mbo_fid2", luFid, "the second object: of a getattr by name the object if the client knows it, of a swap the other file"),
	Sub("mbo_open_handle", lustreHandle, When("mbo_valid", "FLHANDLE"), "open handle; named mbo_handle in older releases"),
	U64("mbo_valid", ObdMdValid, "the fields that mean something; request: what is asked for"),
	U64("mbo_size", Size, When("mbo_valid", "FLSIZE", "FLLAZYSIZE"), "size in bytes; only approximate with FLLAZYSIZE"),
	S64("mbo_mtime", Seconds, When("mbo_valid", "FLMTIME"), "modification time"),
	S64("mbo_atime", Seconds, When("mbo_valid", "FLATIME"), "access time"),
	S64("mbo_ctime", Seconds, When("mbo_valid", "FLCTIME"), "change time"),
	U64("mbo_blocks", When("mbo_valid", "FLBLOCKS", "FLLAZYBLOCKS"), "blocks of 512 bytes"),
	U64("mbo_version", Cookie, When("mbo_valid", "FLDATAVERSION"), "data version"),
	U64("mbo_t_state", MdTransientState, When("mbo_valid", "TSTATE"), "what is being done to the file"),
	U32("mbo_fsuid", "user on whose behalf the request is made"),
	U32("mbo_fsgid", "group on whose behalf the request is made"),
	U32("mbo_capability", Hex, "capabilities of the user, one bit each"),
	U32("mbo_mode", Octal, When("mbo_valid", "FLMODE", "FLTYPE"), "file type and permissions"),
	U32("mbo_uid", When("mbo_valid", "FLUID"), "owner"),
	U32("mbo_gid", When("mbo_valid", "FLGID"), "group"),
	U32("mbo_flags", InodeFlags, When("mbo_valid", "FLFLAGS"), "inode flags"),
	U32("mbo_rdev", Hex, When("mbo_valid", "FLRDEV"), "device number"),
	U32("mbo_nlink", When("mbo_valid", "FLNLINK"), "number of links"),
	U32("mbo_layout_gen", "generation of the layout"),
	U32("mbo_suppgid", Remark(remarkNoGroup), "a group that the user is in beside its own; 0xffffffff: none"),
	U32("mbo_eadatasize", Size, When("mbo_valid", "FLEASIZE", "LINKNAME", "FLDIREA", "MEA", "DEFAULT_MEA", "FLXATTR", "FLXATTRLS"), "bytes of layout, link target or attribute; request: room for them"),
	U32("mbo_aclsize", Size, When("mbo_valid", "FLACL", "FLXATTR", "FLXATTRLS"), "bytes of ACL; getxattr intent: of all values"),
	U32("mbo_max_mdsize", When("mbo_valid", "FLMODEASIZE", "FLXATTR", "FLXATTRLS"), "size of the largest layout; getxattr intent: number of values"),
	Pad("mbo_unused3", 4),
	U32("mbo_uid_h", "upper half of the owner, unused"),
	U32("mbo_gid_h", "upper half of the group, unused"),
	U32("mbo_projid", When("mbo_valid", "FLPROJID"), "project id"),
	U64("mbo_dom_size", Size, When("mbo_valid", "DOM_SIZE"), "bytes of the file that lie on the MDT"),
	U64("mbo_dom_blocks", When("mbo_valid", "DOM_SIZE"), "blocks of the part on the MDT"),
	U64("mbo_btime", Since("2.15"), Seconds, When("mbo_valid", "FLBTIME"), "birth time; padding up to 2.12"),
	U64("mbo_xattr_absent", Since("2.18"), xattrAbsent, "security attributes that are known not to exist; padding up to 2.17"),
	Pad("mbo_padding_10", 8),
)

// mdtBodyReadpage is the mdt_body in the request of a MDS_READPAGE, which uses
// some fields for other things.
var mdtBodyReadpage = mdtBody.With("the directory to read, and from where on",
	U64("mbo_size", Cookie, "hash of the name to begin at"),
	U32("mbo_mode", DirentAttrs, "what each entry shall hold"),
	U32("mbo_nlink", Size, "bytes wanted"),
)

// mdtBodyXattr is the mdt_body in the request of a MDS_GETXATTR.
var mdtBodyXattr = mdtBody.With("the object whose extended attributes are wanted",
	U32("mbo_flags", xattrSetFlags, "how the attribute is set"),
)

// The fields that funcs read.
var (
	mboFid1       = mdtBody.Field("mbo_fid1")
	mboFid2       = mdtBody.Field("mbo_fid2")
	mboValid      = mdtBody.Field("mbo_valid")
	mboSize       = mdtBody.Field("mbo_size")
	mboMode       = mdtBody.Field("mbo_mode")
	mboNlink      = mdtBody.Field("mbo_nlink")
	mboVersion    = mdtBody.Field("mbo_version")
	mboEadatasize = mdtBody.Field("mbo_eadatasize")
)

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func remarkNoGroup(v *View, dst []byte) []byte {
	if len(v.Rest) >= 4 && ReadUint(v.Rest[:4], v.Big) == 0xffffffff {
		return append(dst, "none"...)
	}
	return dst
}
