package opcodes

// LovMagic is the group lov_magic.
var LovMagic = Enum("lov_magic", "LOV_", "", []Value{
	{Name: "MAGIC_MAGIC", Value: 0xbd0},
	{Name: "MAGIC_MASK", Value: 0xffff},
	{Name: "MAGIC_BAD", Value: 0xbad0bd0, Since: "2.16"},
	{Name: "USER_MAGIC", Value: 0xbd10bd0},
	{Name: "USER_MAGIC_V1", Value: 0xbd10bd0, Alias: true},
	{Name: "MAGIC_V1", Value: 0xbd10bd0, Alias: true},
	{Name: "MAGIC", Value: 0xbd10bd0, Alias: true},
	{Name: "USER_MAGIC_JOIN_V1", Value: 0xbd20bd0},
	{Name: "MAGIC_JOIN_V1", Value: 0xbd20bd0, Alias: true},
	{Name: "MAGIC_V3", Value: 0xbd30bd0},
	{Name: "USER_MAGIC_V3", Value: 0xbd30bd0, Alias: true},
	{Name: "MAGIC_MIGRATE", Value: 0xbd40bd0},
	{Name: "USER_MAGIC_SPECIFIC", Value: 0xbd50bd0},
	{Name: "MAGIC_SPECIFIC", Value: 0xbd50bd0, Doc: "user request naming OSTs (v3 shape)", Alias: true},
	{Name: "USER_MAGIC_COMP_V1", Value: 0xbd60bd0},
	{Name: "MAGIC_COMP_V1", Value: 0xbd60bd0, Doc: "composite (PFL/FLR) layout", Alias: true},
	{Name: "MAGIC_FOREIGN", Value: 0xbd70bd0, Since: "2.15", Doc: "foreign layout"},
	{Name: "USER_MAGIC_FOREIGN", Value: 0xbd70bd0, Since: "2.15", Alias: true},
	{Name: "USER_MAGIC_SEL", Value: 0xbd80bd0, Since: "2.15"},
	{Name: "MAGIC_SEL", Value: 0xbd80bd0, Since: "2.15", Doc: "self-extending layout marker in user API", Alias: true},
	{Name: "MAGIC_DEFINED", Value: 0x10000000, Doc: "server-internal bit, never on wire"},
	{Name: "MAGIC_V1_DEFINED", Value: 0x1bd10bd0},
	{Name: "MAGIC_V3_DEFINED", Value: 0x1bd30bd0},
	{Name: "MAGIC_COMP_V1_DEFINED", Value: 0x1bd60bd0},
})

// LovPattern is the group lov_pattern.
var LovPattern = Bits("lov_pattern", "LOV_PATTERN_", "", []Value{
	{Name: "NONE", Value: 0x0},
	{Name: "RAID0", Value: 0x1},
	{Name: "RAID1", Value: 0x2},
	{Name: "PARITY", Value: 0x4, Since: "2.17"},
	{Name: "MDT", Value: 0x100},
	{Name: "OVERSTRIPING", Value: 0x200, Since: "2.15"},
	{Name: "FOREIGN", Value: 0x400, Since: "2.15"},
	{Name: "COMPRESS", Value: 0x800, Since: "2.16"},
	{Name: "BAD", Value: 0x502, Since: "2.16", Alias: true},
	{Name: "F_MASK", Value: 0xffff0000, Alias: true},
	{Name: "F_HOLE", Value: 0x40000000},
	{Name: "F_RELEASED", Value: 0x80000000},
	{Name: "DEFAULT", Value: 0xffffffff, Alias: true},
	{Name: "CMOBD", Value: 0x200, Doc: "not defined after 2.12", Alias: true},
})

// LovCompEntryFlags is the group lov_comp_entry_flags.
var LovCompEntryFlags = Bits("lov_comp_entry_flags", "LCME_", "", []Value{
	{Name: "FL_STALE", Value: 0x1},
	{Name: "FL_PREF_RD", Value: 0x2},
	{Name: "FL_PREF_WR", Value: 0x4},
	{Name: "FL_PREF_RW", Value: 0x6, Alias: true},
	{Name: "FL_OFFLINE", Value: 0x8},
	{Name: "FL_INIT", Value: 0x10},
	{Name: "FL_NOSYNC", Value: 0x20},
	{Name: "FL_EXTENSION", Value: 0x40, Since: "2.15"},
	{Name: "FL_PARITY", Value: 0x80, Since: "2.16"},
	{Name: "FL_COMPRESS", Value: 0x100, Since: "2.16"},
	{Name: "FL_PARTIAL", Value: 0x200, Since: "2.16"},
	{Name: "FL_NOCOMPR", Value: 0x400, Since: "2.16"},
	{Name: "FL_IS_LINK_ID", Value: 0x40000000, Since: "2.18"},
	{Name: "FL_NEG", Value: 0x80000000},
	{Name: "MIRROR_FLAGS", Value: 0x20, Alias: true},
	{Name: "USER_COMP_FLAGS", Value: 0xe6, Since: "2.15", Doc: "value changed: 2.15=0x66, 2.16=0x66, 2.17=0xe6, 2.18=0xe6", Alias: true},
	{Name: "USER_MIRROR_FLAGS", Value: 0x406, Since: "2.15", Doc: "value changed: 2.15=0x6, 2.16=0x406, 2.17=0x406, 2.18=0x406", Alias: true},
	{Name: "TEMPLATE_FLAGS", Value: 0x4e6, Doc: "value changed: <=2.12=0x26, 2.15=0x66, 2.16=0x66, 2.17=0x66, 2.18=0x4e6", Alias: true},
	{Name: "CL_COMP_FLAGS", Value: 0x400004c6, Since: "2.15", Doc: "value changed: 2.15=0x46, 2.16=0x446, 2.17=0x4c6, 2.18=0x400004c6", Alias: true},
	{Name: "KNOWN_FLAGS", Value: 0xc00004f7, Doc: "value changed: <=2.12=0x80000037, 2.15=0x80000077, 2.16=0x80000077, 2.17=0x800000f7, 2.18=0xc00004f7", Alias: true},
})

// LovCompEntryId is the group lov_comp_entry_id.
var LovCompEntryId = Enum("lov_comp_entry_id", "LCME_", "", []Value{
	{Name: "ID_INVAL", Value: 0x0},
	{Name: "ID_MAX", Value: 0x7fffffff},
	{Name: "ID_ALL", Value: 0xffffffff},
	{Name: "ID_NOT_ID", Value: 0x80000000},
	{Name: "TIMESTAMP_ID_SHIFT", Value: 0x30, Since: "2.18"},
	{Name: "TIMESTAMP_ID_MASK", Value: 0xffff, Since: "2.18"},
	{Name: "ID_MASK", Value: 0x7fffffff, Alias: true},
	{Name: "TIMESTAMP_TIME_MASK", Value: 0xffffffffffff, Since: "2.18"},
})

// LovCompMdFlags is the group lov_comp_md_flags.
var LovCompMdFlags = Enum("lov_comp_md_flags", "LCM_FL_", "", []Value{
	{Name: "NONE", Value: 0x0},
	{Name: "RDONLY", Value: 0x1},
	{Name: "WRITE_PENDING", Value: 0x2},
	{Name: "SYNC_PENDING", Value: 0x3},
	{Name: "PCC_RDONLY", Value: 0x8, Since: "2.15"},
	{Name: "FLR_MASK", Value: 0xb, Doc: "value changed: <=2.12=0x3, 2.15=0xb, 2.16=0xb, 2.17=0xb, 2.18=0xb"},
})

// LayoutVersion is the group layout_version.
var LayoutVersion = Enum("layout_version", "LU_LAYOUT_", "", []Value{
	{Name: "HIGEN", Value: 0x40000000, Since: "2.16"},
	{Name: "RESYNC", Value: 0x80000000},
})

// LovLimits is the group lov_limits.
var LovLimits = Enum("lov_limits", "", "", []Value{
	{Name: "LOV_EC_MAX_CODING_STRIPES", Value: 0xf, Since: "2.18"},
	{Name: "LOV_MAXPOOLNAME", Value: 0xf, Alias: true},
	{Name: "LOV_MIN_STRIPE_BITS", Value: 0x10},
	{Name: "LOV_MAX_STRIPE_COUNT_OLD", Value: 0xa0},
	{Name: "LOV_EC_MAX_DATA_STRIPES", Value: 0xff, Since: "2.18"},
	{Name: "LOV_EC_MAX_TOTAL_STRIPES", Value: 0x100, Since: "2.18"},
	{Name: "SEL_UNIT_SIZE", Value: 0x400, Since: "2.15"},
	{Name: "LOV_MAX_STRIPE_COUNT", Value: 0x7d0},
	{Name: "LOV_V1_INSANE_STRIPE_COUNT", Value: 0xffdf, Doc: "value changed: <=2.12=0xfffc, 2.15=0xfffc, 2.16=0xffdf, 2.17=0xffdf, 2.18=0xffdf"},
	{Name: "LOV_V1_INSANE_STRIPE_INDEX", Value: 0xffdf, Since: "2.16", Alias: true},
	{Name: "LOV_ALL_STRIPES_WIDE", Value: 0xffe0, Since: "2.16"},
	{Name: "LOV_ALL_STRIPES", Value: 0xffff},
	{Name: "LOV_OFFSET_DEFAULT", Value: 0xffff, Alias: true},
	{Name: "LOV_MIN_STRIPE_SIZE", Value: 0x10000},
	{Name: "LOV_DESC_MAGIC", Value: 0xb0ccde5c},
})

// LmvMagic is the group lmv_magic.
var LmvMagic = Enum("lmv_magic", "LMV_", "", []Value{
	{Name: "USER_MAGIC_V0", Value: 0xcd20cd0},
	{Name: "MAGIC_V1", Value: 0xcd20cd0, Doc: "striped directory master EA", Alias: true},
	{Name: "MAGIC", Value: 0xcd20cd0, Alias: true},
	{Name: "USER_MAGIC", Value: 0xcd30cd0, Doc: "default layout of a directory (LMV_USER_MAGIC)"},
	{Name: "USER_MAGIC_SPECIFIC", Value: 0xcd40cd0, Doc: "user layout naming MDTs"},
	{Name: "MAGIC_STRIPE", Value: 0xcd40cd0, Doc: "slave stripe object", Alias: true},
	{Name: "MAGIC_FOREIGN", Value: 0xcd50cd0, Since: "2.15", Doc: "foreign directory"},
})

// LmvHashType is the group lmv_hash_type.
var LmvHashType = Enum("lmv_hash_type", "LMV_HASH_TYPE_", "", []Value{
	{Name: "UNKNOWN", Value: 0x0},
	{Name: "ALL_CHARS", Value: 0x1},
	{Name: "FNV_1A_64", Value: 0x2},
	{Name: "CRUSH", Value: 0x3, Since: "2.15"},
	{Name: "CRUSH2", Value: 0x4, Since: "2.16"},
	{Name: "MAX", Value: 0x5, Doc: "value changed: <=2.12=0x3, 2.15=0x4, 2.16=0x5, 2.17=0x5, 2.18=0x5"},
	{Name: "DEFAULT", Value: 0x2, Since: "2.15", Alias: true},
})

// LmvHashFlags is the group lmv_hash_flags.
var LmvHashFlags = Bits("lmv_hash_flags", "LMV_HASH_FLAG_", "", []Value{
	{Name: "LMV_HASH_TYPE_MASK", Value: 0xffff, Alias: true},
	{Name: "OVERSTRIPED", Value: 0x1000000, Since: "2.16"},
	{Name: "FIXED", Value: 0x2000000, Since: "2.15"},
	{Name: "MERGE", Value: 0x4000000, Since: "2.15"},
	{Name: "SPLIT", Value: 0x8000000, Since: "2.15"},
	{Name: "LOST_LMV", Value: 0x10000000},
	{Name: "BAD_TYPE", Value: 0x20000000},
	{Name: "DEAD", Value: 0x40000000, Doc: "not defined after 2.12", Alias: true},
	{Name: "MIGRATION", Value: 0x80000000},
	{Name: "LAYOUT_CHANGE", Value: 0x8c000000, Since: "2.15", Alias: true},
	{Name: "KNOWN", Value: 0xbf000000, Since: "2.15", Doc: "value changed: 2.15=0xbe000000, 2.16=0xbf000000, 2.17=0xbf000000, 2.18=0xbf000000", Alias: true},
})

// LmvType is the group lmv_type.
var LmvType = Enum("lmv_type", "LMV_TYPE_", "", []Value{
	{Name: "DEFAULT", Value: 0x0, Since: "2.15"},
	{Name: "RAW", Value: 0x1, Since: "2.16"},
})

// LmvInherit is the group lmv_inherit.
var LmvInherit = Enum("lmv_inherit", "LMV_INHERIT_", "", []Value{
	{Name: "UNLIMITED", Value: 0x0, Since: "2.15"},
	{Name: "DEFAULT_PLAIN", Value: 0x0, Since: "2.15", Alias: true},
	{Name: "END", Value: 0x1, Since: "2.15"},
	{Name: "DEFAULT_OVERSTRIPED", Value: 0x2, Since: "2.16"},
	{Name: "DEFAULT_STRIPED", Value: 0x3, Since: "2.15"},
	{Name: "MAX", Value: 0xfa, Since: "2.15"},
	{Name: "NONE", Value: 0xff, Since: "2.15"},
	{Name: "RR_NONE", Value: 0x0, Since: "2.15", Alias: true},
	{Name: "RR_DEFAULT", Value: 0x0, Since: "2.15", Alias: true},
	{Name: "RR_END", Value: 0x1, Since: "2.15", Alias: true},
	{Name: "RR_ROOT", Value: 0x3, Since: "2.15", Alias: true},
	{Name: "RR_MAX", Value: 0xfa, Since: "2.15", Alias: true},
	{Name: "RR_UNLIMITED", Value: 0xff, Since: "2.15", Alias: true},
})

// LmvLimits is the group lmv_limits.
var LmvLimits = Enum("lmv_limits", "LMV_", "", []Value{
	{Name: "MAX_STRIPES_PER_MDT", Value: 0x5, Since: "2.16"},
	{Name: "MAX_STRIPE_COUNT", Value: 0x7d0},
	{Name: "CRUSH_PG_COUNT", Value: 0x1000, Since: "2.15"},
	{Name: "OFFSET_DEFAULT", Value: 0xffffffff, Since: "2.15"},
	{Name: "OVERSTRIPE_COUNT_MAX", Value: 0xfffb, Since: "2.17"},
	{Name: "OVERSTRIPE_COUNT_MIN", Value: 0xffff, Since: "2.17"},
})

// ForeignType is the group foreign_type.
var ForeignType = Enum("foreign_type", "LU_FOREIGN_TYPE_", "", []Value{
	{Name: "NONE", Value: 0x0, Since: "2.15"},
	{Name: "POSIX", Value: 0x1, Since: "2.16"},
	{Name: "PCCRW", Value: 0x2, Since: "2.16"},
	{Name: "PCCRO", Value: 0x3, Since: "2.16"},
	{Name: "S3", Value: 0x4, Since: "2.16"},
	{Name: "SYMLINK", Value: 0xda05, Since: "2.15"},
	{Name: "UNKNOWN", Value: 0xffffffff, Since: "2.15"},
})

// LayoutIntent is the group layout_intent.
var LayoutIntent = Enum("layout_intent", "LAYOUT_INTENT_", "", []Value{
	{Name: "ACCESS", Value: 0x0},
	{Name: "READ", Value: 0x1},
	{Name: "WRITE", Value: 0x2},
	{Name: "GLIMPSE", Value: 0x3},
	{Name: "TRUNC", Value: 0x4},
	{Name: "RELEASE", Value: 0x5},
	{Name: "RESTORE", Value: 0x6},
	{Name: "PCCRO_SET", Value: 0x7, Since: "2.16"},
	{Name: "PCCRO_CLEAR", Value: 0x8, Since: "2.16"},
	{Name: "CHANGE", Value: 0x9, Since: "2.17"},
})

// LayoutIntentFlags is the group layout_intent_flags.
var LayoutIntentFlags = Bits("layout_intent_flags", "", "", []Value{
	{Name: "LAIF_INCOMPRESSIBLE", Value: 0x1, Since: "2.17"},
})
