package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var mdtRecSetattr = &Struct{Name: "mdt_rec_setattr", Doc: "changes attributes; also travels with every close", Fields: []*Field{
	U32("sa_opcode", &MdsReintOp, "the operation"),
	U32("sa_cap", Harmless, Hex, "capabilities of the user, one bit each"),
	U32("sa_fsuid", UserID, "user on whose behalf it is done"),
	Pad("sa_padding_1_h", 4),
	U32("sa_fsgid", UserID, "group on whose behalf it is done"),
	Pad("sa_padding_2_h", 4, Since("2.18"), "upper half of the preceding id up to 2.17, unused"),
	U32("sa_suppgid", UserID, remarkNobody, "a group that the user is in beside its own; 0xffffffff: none"),
	Pad("sa_padding_3_h", 4, Since("2.18"), "upper half of the preceding id up to 2.17, unused"),
	Pad("sa_padding_1", 4),
	Pad("sa_padding_2", 4, Since("2.18")),
	Sub("sa_fid", &LuFid, "the object"),
	U64("sa_valid", &MdsAttrFlags, "attributes to change"),
	U32("sa_uid", UserID, When{"sa_valid", "UID"}, "new owner"),
	U32("sa_gid", UserID, When{"sa_valid", "GID"}, "new group"),
	U64("sa_size", Size, When{"sa_valid", "SIZE", "LSIZE"}, "new size; lazy size with LSIZE"),
	U64("sa_blocks", Harmless, When{"sa_valid", "BLOCKS", "LBLOCKS"}, "new block count"),
	S64("sa_mtime", Time, When{"sa_valid", "MTIME", "MTIME_SET"}, "modification time"),
	S64("sa_atime", Time, When{"sa_valid", "ATIME", "ATIME_SET"}, "access time"),
	S64("sa_ctime", Time, When{"sa_valid", "CTIME", "CTIME_SET"}, "change time"),
	U32("sa_attr_flags", &InodeFlags, When{"sa_valid", "ATTR_FLAG"}, "inode flags"),
	U32("sa_mode", Octal, When{"sa_valid", "MODE"}, "file type and permissions"),
	U32("sa_bias", &MdsOpBias, "what is special about it"),
	U32("sa_projid", UserID, When{"sa_valid", "PROJID"}, "project id"),
	Padding("sa_padding_", 4, 4, 4),
}}

var mdtRecCreate = &Struct{Name: "mdt_rec_create", Doc: "creates or opens", Fields: []*Field{
	U32("cr_opcode", &MdsReintOp, "the operation"),
	U32("cr_cap", Harmless, Hex, "capabilities of the user, one bit each"),
	U32("cr_fsuid", UserID, "user on whose behalf it is done"),
	U32("cr_layout_ver", Harmless, Since("2.18"), "layout version the client knows; upper half of cr_fsuid, unused, up to 2.17"),
	U32("cr_fsgid", UserID, "group on whose behalf it is done"),
	Pad("cr_padding_2_h", 4, Since("2.18"), "upper half of the preceding id up to 2.17, unused"),
	U32("cr_suppgid1", UserID, remarkNobody, "a group of the user that the first object belongs to; 0xffffffff: none"),
	Pad("cr_padding_3_h", 4, Since("2.18"), "upper half of the preceding id up to 2.17, unused"),
	U32("cr_suppgid2", UserID, remarkNobody, "a group of the user that the second object belongs to; 0xffffffff: none"),
	Pad("cr_padding_4_h", 4, Since("2.18"), "upper half of the preceding id up to 2.17, unused"),
	Sub("cr_fid1", &LuFid, "the directory; open by FID: the file"),
	Sub("cr_fid2", &LuFid, "FID that the client gives the new object, or that it knows of an old one"),
	Sub("cr_open_handle_old", &lustreHandle, "replay of an open: the handle it had before"),
	S64("cr_time", Time, "time to set, by the clock of the client"),
	U64("cr_rdev", Harmless, Hex, IfNot(opensPCC), "device number of a device node"),
	U32("cr_archive_id", Harmless, Over("cr_rdev"), Since("2.15"), If(opensPCC), "the client cache that the file is opened for"),
	U64("cr_ioepoch", Harmless, "unused"),
	Pad("cr_padding_1", 8),
	U32("cr_mode", Octal, "file type and permissions"),
	U32("cr_bias", &MdsOpBias, "what is special about it"),
	U32("cr_flags_l", &MdsOpenFlags, IfNot(isCreate), "open flags, low 32 bits"),
	U32("cr_flags_l", &MdsCreateFlags, Over("cr_flags_l"), If(isCreate), "flags of a create, low 32 bits"),
	U32("cr_flags_h", &mdsOpenFlagsHigh, IfNot(isCreate), "open flags, high 32 bits"),
	U32("cr_flags_h", &mdsCreateFlagsHigh, Over("cr_flags_h"), If(isCreate), "flags of a create, high 32 bits"),
	U32("cr_umask", Octal, "umask of the process"),
	Pad("cr_padding_4", 4),
}}

var mdtRecLink = &Struct{Name: "mdt_rec_link", Doc: "makes a hard link", Fields: []*Field{
	Like(&mdtRecReint, 10, "rr_", "lk_"),
	Sub("lk_fid1", &LuFid, "the object that gets another name"),
	Sub("lk_fid2", &LuFid, "the directory of the new name"),
	S64("lk_time", Time, "time to set, by the clock of the client"),
	Padding("lk_padding_", 1, 8, 8, 8, 8),
	U32("lk_bias", &MdsOpBias, "what is special about it"),
	Padding("lk_padding_", 5, 4, 4, 4, 4, 4),
}}

var mdtRecUnlink = &Struct{Name: "mdt_rec_unlink", Doc: "removes a name", Fields: []*Field{
	Like(&mdtRecReint, 10, "rr_", "ul_"),
	Sub("ul_fid1", &LuFid, "the directory"),
	Sub("ul_fid2", &LuFid, "the object, as far as the client knows it"),
	S64("ul_time", Time, "time to set, by the clock of the client"),
	Padding("ul_padding_", 2, 8, 8, 8, 8),
	U32("ul_bias", &MdsOpBias, "what is special about it"),
	U32("ul_mode", Octal, "file type: a directory is removed, or another object"),
	Padding("ul_padding_", 6, 4, 4, 4, 4),
}}

var mdtRecRename = &Struct{Name: "mdt_rec_rename", Doc: "renames, or migrates a directory", Fields: []*Field{
	Like(&mdtRecReint, 10, "rr_", "rn_"),
	Sub("rn_fid1", &LuFid, "the directory it moves from"),
	Sub("rn_fid2", &LuFid, "the directory it moves to"),
	S64("rn_time", Time, "time to set, by the clock of the client"),
	Padding("rn_padding_", 1, 8, 8, 8, 8),
	U32("rn_bias", &MdsOpBias, "what is special about it"),
	U32("rn_mode", Octal, "file type of the object"),
	Padding("rn_padding_", 5, 4, 4, 4, 4),
}}

var mdtRecSetxattr = &Struct{Name: "mdt_rec_setxattr", Doc: "sets or removes an extended attribute", Fields: []*Field{
	Like(&mdtRecReint, 10, "rr_", "sx_"),
	Sub("sx_fid", &LuFid, "the object"),
	Padding("sx_padding_", 1, 8, 4, 4),
	U64("sx_valid", &ObdMdValid, "FLXATTR to set it, FLXATTRRM to remove it"),
	S64("sx_time", Time, "time to set, by the clock of the client"),
	Padding("sx_padding_", 5, 8, 8, 8),
	U32("sx_size", Size, "bytes of the value"),
	U32("sx_flags", &xattrSetFlags, "fail when it is there, or is not there"),
	Padding("sx_padding_", 8, 4, 4, 4, 4),
}}

var mdtRecResync = &Struct{Name: "mdt_rec_resync", Doc: "begins to bring mirrors up to date", Fields: []*Field{
	Like(&mdtRecReint, 10, "rr_", "rs_"),
	Sub("rs_fid", &LuFid, "the file whose mirrors are to be brought up to date"),
	Pad("rs_padding0", 16),
	Sub("rs_lease_handle", &lustreHandle, "lease that keeps others from writing"),
	Padding("rs_padding", 1, 8, 8, 8, 8),
	U32("rs_bias", &MdsOpBias, "what is special about it"),
	Padding("rs_padding", 5, 4, 4, 4),
	U32("rs_mirror_id_new", Harmless, Since("2.16"), "mirror to bring up to date, 0: all; padding up to 2.15"),
	U16("rs_mirror_id_old", Harmless, Since("2.16"), "mirror to bring up to date, in requests of older clients"),
	Pad("rs_padding9", 2),
}}

var mdtRecReint = &Struct{Name: "mdt_rec_reint",
	Doc: "what all records of MDS_REINT have in common: the same sizes at the same places", Fields: []*Field{
		U32("rr_opcode", &MdsReintOp, "the operation"),
		U32("rr_cap", Harmless, Hex, "capabilities of the user, one bit each"),
		U32("rr_fsuid", UserID, "user on whose behalf it is done"),
		Pad("rr_padding_1_h", 4, Since("2.18"), "upper half of the preceding id up to 2.17, unused"),
		U32("rr_fsgid", UserID, "group on whose behalf it is done"),
		Pad("rr_padding_2_h", 4, Since("2.18"), "upper half of the preceding id up to 2.17, unused"),
		U32("rr_suppgid1", UserID, remarkNobody, "a group of the user that the first object belongs to; 0xffffffff: none"),
		Pad("rr_padding_3_h", 4, Since("2.18"), "upper half of the preceding id up to 2.17, unused"),
		U32("rr_suppgid2", UserID, remarkNobody, "a group of the user that the second object belongs to; 0xffffffff: none"),
		Pad("rr_padding_4_h", 4, Since("2.18"), "upper half of the preceding id up to 2.17, unused"),
		Sub("rr_fid1", &LuFid, "first object, by operation"),
		Sub("rr_fid2", &LuFid, "second object, by operation"),
		S64("rr_mtime", Time, "modification time"),
		S64("rr_atime", Time, "access time"),
		S64("rr_ctime", Time, "change time"),
		U64("rr_size", Size, "size in bytes"),
		U64("rr_blocks", Harmless, "blocks of 512 bytes"),
		U32("rr_bias", &MdsOpBias, "what is special about it"),
		U32("rr_mode", Octal, "file type and permissions"),
		U32("rr_flags", &MdsOpenFlags, "flags, low 32 bits"),
		U32("rr_flags_h", &mdsOpenFlagsHigh, "flags, high 32 bits"),
		U32("rr_umask", Octal, "umask of the process"),
		U16("rr_mirror_id_old", Harmless, Since("2.16"), "mirror to bring up to date, in requests of older clients"),
		Pad("rr_padding_4", 2),
	}}

var (
	rrOpcode = mdtRecReint.Field("rr_opcode")
	rrFid1   = mdtRecReint.Field("rr_fid1")
	rrFid2   = mdtRecReint.Field("rr_fid2")
	saFid    = mdtRecSetattr.Field("sa_fid")
	saValid  = mdtRecSetattr.Field("sa_valid")
	saBias   = mdtRecSetattr.Resolve().Field("sa_bias")
	saSize   = mdtRecSetattr.Field("sa_size")
	crMode   = mdtRecCreate.Field("cr_mode")
	crBias   = mdtRecCreate.Field("cr_bias")
)
