package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// LovMagic is the group lov_magic.
var LovMagic = Enum("lov_magic", "", "kinds of file layouts", []Value{
	{Name: "LOV_MAGIC_MAGIC", Value: 0xbd0, Alias: true},
	{Name: "LOV_MAGIC_MASK", Value: 0xffff, Alias: true},
	{Name: "LOV_MAGIC_BAD", Value: 0xbad0bd0, Since: "2.16", Doc: "layout that was found damaged"},
	{Name: "LOV_USER_MAGIC", Value: 0xbd10bd0, Alias: true},
	{Name: "LOV_USER_MAGIC_V1", Value: 0xbd10bd0, Alias: true},
	{Name: "LOV_MAGIC_V1", Value: 0xbd10bd0, Doc: "plain layout"},
	{Name: "LOV_MAGIC", Value: 0xbd10bd0, Alias: true},
	{Name: "LOV_USER_MAGIC_JOIN_V1", Value: 0xbd20bd0, Alias: true},
	{Name: "LOV_MAGIC_JOIN_V1", Value: 0xbd20bd0},
	{Name: "LOV_MAGIC_V3", Value: 0xbd30bd0, Doc: "plain layout in a pool"},
	{Name: "LOV_USER_MAGIC_V3", Value: 0xbd30bd0, Alias: true},
	{Name: "LOV_MAGIC_MIGRATE", Value: 0xbd40bd0, Doc: "layout of a migration"},
	{Name: "LOV_USER_MAGIC_SPECIFIC", Value: 0xbd50bd0, Alias: true},
	{Name: "LOV_MAGIC_SPECIFIC", Value: 0xbd50bd0, Doc: "user request naming OSTs (v3 shape)"},
	{Name: "LOV_USER_MAGIC_COMP_V1", Value: 0xbd60bd0, Alias: true},
	{Name: "LOV_MAGIC_COMP_V1", Value: 0xbd60bd0, Doc: "composite (PFL/FLR) layout"},
	{Name: "LOV_MAGIC_FOREIGN", Value: 0xbd70bd0, Since: "2.15", Doc: "foreign layout"},
	{Name: "LOV_USER_MAGIC_FOREIGN", Value: 0xbd70bd0, Since: "2.15", Alias: true},
	{Name: "LOV_USER_MAGIC_SEL", Value: 0xbd80bd0, Since: "2.15", Alias: true},
	{Name: "LOV_MAGIC_SEL", Value: 0xbd80bd0, Since: "2.15", Doc: "self-extending layout marker in user API"},
	{Name: "LOV_MAGIC_DEFINED", Value: 0x10000000, Doc: "server-internal bit, never on wire"},
	{Name: "LOV_MAGIC_V1_DEFINED", Value: 0x1bd10bd0},
	{Name: "LOV_MAGIC_V3_DEFINED", Value: 0x1bd30bd0},
	{Name: "LOV_MAGIC_COMP_V1_DEFINED", Value: 0x1bd60bd0},
})

// LovPattern is the group lov_pattern.
var LovPattern = Bits("lov_pattern", "LOV_PATTERN_", "how the data lies on its objects", []Value{
	{Name: "NONE", Value: 0x0, Doc: "not set"},
	{Name: "RAID0", Value: 0x1, Doc: "striped"},
	{Name: "RAID1", Value: 0x2, Doc: "mirrored"},
	{Name: "PARITY", Value: 0x4, Since: "2.17", Doc: "erasure coded"},
	{Name: "MDT", Value: 0x100, Doc: "data on the MDT (DoM), no objects"},
	{Name: "OVERSTRIPING", Value: 0x200, Since: "2.15", Doc: "several stripes on an OST"},
	{Name: "FOREIGN", Value: 0x400, Since: "2.15", Doc: "belongs to another system"},
	{Name: "COMPRESS", Value: 0x800, Since: "2.16", Doc: "compressed"},
	{Name: "BAD", Value: 0x502, Since: "2.16", Alias: true},
	{Name: "F_MASK", Value: 0xffff0000, Alias: true},
	{Name: "F_HOLE", Value: 0x40000000, Doc: "objects are missing"},
	{Name: "F_RELEASED", Value: 0x80000000, Doc: "data is in the archive only, no objects"},
	{Name: "DEFAULT", Value: 0xffffffff, Alias: true},
	{Name: "CMOBD", Value: 0x200, Doc: "gone after 2.12", Alias: true},
})

// LovCompEntryFlags is the group lov_comp_entry_flags.
var LovCompEntryFlags = Bits("lov_comp_entry_flags", "LCME_FL_", "state of a component", []Value{
	{Name: "STALE", Value: 0x1, Doc: "its data is out of date"},
	{Name: "PREF_RD", Value: 0x2, Doc: "preferred for reading"},
	{Name: "PREF_WR", Value: 0x4, Doc: "preferred for writing"},
	{Name: "PREF_RW", Value: 0x6, Alias: true},
	{Name: "OFFLINE", Value: 0x8, Doc: "cannot be reached"},
	{Name: "INIT", Value: 0x10, Doc: "has its objects"},
	{Name: "NOSYNC", Value: 0x20, Doc: "a resync leaves it out"},
	{Name: "EXTENSION", Value: 0x40, Since: "2.15", Doc: "space that the component before it may grow into"},
	{Name: "PARITY", Value: 0x80, Since: "2.16", Doc: "holds parity"},
	{Name: "COMPRESS", Value: 0x100, Since: "2.16", Doc: "compressed"},
	{Name: "PARTIAL", Value: 0x200, Since: "2.16", Doc: "parts of it are compressed"},
	{Name: "NOCOMPR", Value: 0x400, Since: "2.16", Doc: "never compressed"},
	{Name: "IS_LINK_ID", Value: 0x40000000, Since: "2.18", Doc: "the mirror link id is valid"},
	{Name: "NEG", Value: 0x80000000, Doc: "clear the flags named"},
	{Name: "LCME_MIRROR_FLAGS", Value: 0x20, Alias: true},
	{Name: "LCME_USER_COMP_FLAGS", Value: 0xe6, Since: "2.15", Alias: true},
	{Name: "LCME_USER_MIRROR_FLAGS", Value: 0x406, Since: "2.15", Alias: true},
	{Name: "LCME_TEMPLATE_FLAGS", Value: 0x4e6, Alias: true},
	{Name: "LCME_CL_COMP_FLAGS", Value: 0x400004c6, Since: "2.15", Alias: true},
	{Name: "LCME_KNOWN_FLAGS", Value: 0xc00004f7, Alias: true},
})

// LovCompEntryId is the group lov_comp_entry_id.
var LovCompEntryId = Enum("lov_comp_entry_id", "LCME_", "numbers of components", []Value{
	{Name: "ID_INVAL", Value: 0x0, Doc: "none yet"},
	{Name: "ID_MAX", Value: 0x7fffffff, Doc: "largest number"},
	{Name: "ID_ALL", Value: 0xffffffff, Doc: "all components"},
	{Name: "ID_NOT_ID", Value: 0x80000000, Doc: "the number stands for flags to look for"},
	{Name: "TIMESTAMP_ID_SHIFT", Value: 0x30, Since: "2.18", Doc: "where the mirror link id begins"},
	{Name: "TIMESTAMP_ID_MASK", Value: 0xffff, Since: "2.18", Doc: "bits of the mirror link id"},
	{Name: "ID_MASK", Value: 0x7fffffff, Alias: true},
	{Name: "TIMESTAMP_TIME_MASK", Value: 0xffffffffffff, Since: "2.18", Doc: "bits of the time"},
})

// LovCompMdFlags is the group lov_comp_md_flags.
var LovCompMdFlags = Enum("lov_comp_md_flags", "LCM_FL_", "state of the mirrors of a file", []Value{
	{Name: "NONE", Value: 0x0, Doc: "no mirrors"},
	{Name: "RDONLY", Value: 0x1, Doc: "all mirrors are the same"},
	{Name: "WRITE_PENDING", Value: 0x2, Doc: "written to: others go stale"},
	{Name: "SYNC_PENDING", Value: 0x3, Doc: "stale mirrors are being brought up to date"},
	{Name: "PCC_RDONLY", Value: 0x8, Since: "2.15", Doc: "cached read-only on clients"},
	{Name: "FLR_MASK", Value: 0xb, Doc: "the bits of the state", Alias: true},
})

// LayoutVersion is the group layout_version.
var LayoutVersion = Enum("layout_version", "LU_LAYOUT_", "bits of a layout version", []Value{
	{Name: "HIGEN", Value: 0x40000000, Since: "2.16", Doc: "generation has grown beyond its bits"},
	{Name: "RESYNC", Value: 0x80000000, Doc: "during a resync"},
})

// LovLimits is the group lov_limits.
var LovLimits = Enum("lov_limits", "", "limits of file layouts", []Value{
	{Name: "LOV_EC_MAX_CODING_STRIPES", Value: 0xf, Since: "2.18", Doc: "most parity stripes"},
	{Name: "LOV_MAXPOOLNAME", Value: 0xf, Alias: true},
	{Name: "LOV_MIN_STRIPE_BITS", Value: 0x10, Doc: "smallest stripe size as a power of two"},
	{Name: "LOV_MAX_STRIPE_COUNT_OLD", Value: 0xa0, Doc: "most stripes before wide striping"},
	{Name: "LOV_EC_MAX_DATA_STRIPES", Value: 0xff, Since: "2.18", Doc: "most data stripes"},
	{Name: "LOV_EC_MAX_TOTAL_STRIPES", Value: 0x100, Since: "2.18", Doc: "most stripes in an erasure coded group"},
	{Name: "SEL_UNIT_SIZE", Value: 0x400, Since: "2.15", Doc: "unit of an extension size"},
	{Name: "LOV_MAX_STRIPE_COUNT", Value: 0x7d0, Doc: "most stripes of a file"},
	{Name: "LOV_V1_INSANE_STRIPE_COUNT", Value: 0xffdf, Doc: "larger counts are not counts"},
	{Name: "LOV_V1_INSANE_STRIPE_INDEX", Value: 0xffdf, Since: "2.16", Alias: true},
	{Name: "LOV_ALL_STRIPES_WIDE", Value: 0xffe0, Since: "2.16", Doc: "first of the counts that say how many stripes on each OST"},
	{Name: "LOV_ALL_STRIPES", Value: 0xffff, Doc: "on all OSTs"},
	{Name: "LOV_OFFSET_DEFAULT", Value: 0xffff, Alias: true},
	{Name: "LOV_MIN_STRIPE_SIZE", Value: 0x10000, Doc: "smallest stripe size"},
	{Name: "LOV_DESC_MAGIC", Value: 0xb0ccde5c, Doc: "magic of a LOV description"},
})

// LmvMagic is the group lmv_magic.
var LmvMagic = Enum("lmv_magic", "", "kinds of directory layouts", []Value{
	{Name: "LMV_USER_MAGIC_V0", Value: 0xcd20cd0, Alias: true},
	{Name: "LMV_MAGIC_V1", Value: 0xcd20cd0, Doc: "striped directory master EA"},
	{Name: "LMV_MAGIC", Value: 0xcd20cd0, Alias: true},
	{Name: "LMV_USER_MAGIC", Value: 0xcd30cd0, Doc: "default layout of a directory (LMV_USER_MAGIC)"},
	{Name: "LMV_USER_MAGIC_SPECIFIC", Value: 0xcd40cd0, Doc: "user layout naming MDTs"},
	{Name: "LMV_MAGIC_STRIPE", Value: 0xcd40cd0, Doc: "slave stripe object", Alias: true},
	{Name: "LMV_MAGIC_FOREIGN", Value: 0xcd50cd0, Since: "2.15", Doc: "foreign directory"},
})

// LmvHashType is the group lmv_hash_type.
var LmvHashType = Enum("lmv_hash_type", "LMV_HASH_TYPE_", "how names are spread over the stripes of a directory", []Value{
	{Name: "UNKNOWN", Value: 0x0, Doc: "not set"},
	{Name: "ALL_CHARS", Value: 0x1, Doc: "sum of all characters"},
	{Name: "FNV_1A_64", Value: 0x2, Doc: "Fowler-Noll-Vo hash"},
	{Name: "CRUSH", Value: 0x3, Since: "2.15", Doc: "consistent hash"},
	{Name: "CRUSH2", Value: 0x4, Since: "2.16", Doc: "consistent hash, second edition"},
	{Name: "MAX", Value: 0x5},
	{Name: "DEFAULT", Value: 0x2, Since: "2.15", Alias: true},
})

// LmvHashFlags is the group lmv_hash_flags.
var LmvHashFlags = Bits("lmv_hash_flags", "LMV_HASH_FLAG_", "state of a striped directory, in the high half of its hash type", []Value{
	{Name: "LMV_HASH_TYPE_MASK", Value: 0xffff, Alias: true},
	{Name: "OVERSTRIPED", Value: 0x1000000, Since: "2.16", Doc: "several stripes on an MDT"},
	{Name: "FIXED", Value: 0x2000000, Since: "2.15", Doc: "the hash type must stay"},
	{Name: "MERGE", Value: 0x4000000, Since: "2.15", Doc: "stripes are being merged"},
	{Name: "SPLIT", Value: 0x8000000, Since: "2.15", Doc: "stripes are being added"},
	{Name: "LOST_LMV", Value: 0x10000000, Doc: "stripes were lost"},
	{Name: "BAD_TYPE", Value: 0x20000000, Doc: "hash type is wrong"},
	{Name: "DEAD", Value: 0x40000000, Doc: "a stripe is gone; until 2.12", Alias: true},
	{Name: "MIGRATION", Value: 0x80000000, Doc: "is being migrated"},
	{Name: "LAYOUT_CHANGE", Value: 0x8c000000, Since: "2.15", Alias: true},
	{Name: "KNOWN", Value: 0xbf000000, Since: "2.15", Alias: true},
})

// LmvType is the group lmv_type.
var LmvType = Enum("lmv_type", "LMV_TYPE_", "where the layout of a directory comes from", []Value{
	{Name: "DEFAULT", Value: 0x0, Since: "2.15", Doc: "as the parent has it"},
	{Name: "RAW", Value: 0x1, Since: "2.16", Doc: "as set on the directory itself"},
})

// LmvInherit is the group lmv_inherit.
var LmvInherit = Enum("lmv_inherit", "LMV_INHERIT_", "how many levels of subdirectories inherit the default layout", []Value{
	{Name: "UNLIMITED", Value: 0x0, Since: "2.15", Doc: "all levels"},
	{Name: "DEFAULT_PLAIN", Value: 0x0, Since: "2.15", Alias: true},
	{Name: "END", Value: 0x1, Since: "2.15", Doc: "no further"},
	{Name: "DEFAULT_OVERSTRIPED", Value: 0x2, Since: "2.16", Doc: "usual value for overstriped directories"},
	{Name: "DEFAULT_STRIPED", Value: 0x3, Since: "2.15", Doc: "usual value for striped directories"},
	{Name: "MAX", Value: 0xfa, Since: "2.15", Doc: "most levels"},
	{Name: "NONE", Value: 0xff, Since: "2.15", Doc: "not inherited"},
	{Name: "RR_NONE", Value: 0x0, Since: "2.15", Alias: true},
	{Name: "RR_DEFAULT", Value: 0x0, Since: "2.15", Alias: true},
	{Name: "RR_END", Value: 0x1, Since: "2.15", Alias: true},
	{Name: "RR_ROOT", Value: 0x3, Since: "2.15", Alias: true},
	{Name: "RR_MAX", Value: 0xfa, Since: "2.15", Alias: true},
	{Name: "RR_UNLIMITED", Value: 0xff, Since: "2.15", Alias: true},
})

// LmvLimits is the group lmv_limits.
var LmvLimits = Enum("lmv_limits", "LMV_", "limits of directory layouts", []Value{
	{Name: "MAX_STRIPES_PER_MDT", Value: 0x5, Since: "2.16", Doc: "most stripes on an MDT"},
	{Name: "MAX_STRIPE_COUNT", Value: 0x7d0, Doc: "most stripes"},
	{Name: "CRUSH_PG_COUNT", Value: 0x1000, Since: "2.15", Doc: "placement groups of the CRUSH hash"},
	{Name: "OFFSET_DEFAULT", Value: 0xffffffff, Since: "2.15", Doc: "any MDT"},
	{Name: "OVERSTRIPE_COUNT_MAX", Value: 0xfffb, Since: "2.17", Doc: "-5: five stripes on each MDT"},
	{Name: "OVERSTRIPE_COUNT_MIN", Value: 0xffff, Since: "2.17", Doc: "-1: one stripe on each MDT"},
})

// ForeignType is the group foreign_type.
var ForeignType = Enum("foreign_type", "LU_FOREIGN_TYPE_", "system that a foreign file or directory belongs to", []Value{
	{Name: "NONE", Value: 0x0, Since: "2.15", Doc: "not said"},
	{Name: "POSIX", Value: 0x1, Since: "2.16", Doc: "HSM archive, POSIX"},
	{Name: "PCCRW", Value: 0x2, Since: "2.16", Doc: "client cache, read-write"},
	{Name: "PCCRO", Value: 0x3, Since: "2.16", Doc: "client cache, read-only"},
	{Name: "S3", Value: 0x4, Since: "2.16", Doc: "HSM archive, S3"},
	{Name: "SYMLINK", Value: 0xda05, Since: "2.15", Doc: "reads as a symbolic link"},
	{Name: "UNKNOWN", Value: 0xffffffff, Since: "2.15", Doc: "not known"},
})

// LayoutIntent is the group layout_intent.
var LayoutIntent = Enum("layout_intent", "LAYOUT_INTENT_", "what a client is about to do with a file, for which it needs the layout", []Value{
	{Name: "ACCESS", Value: 0x0, Doc: "get the layout as it is"},
	{Name: "READ", Value: 0x1, Doc: "read"},
	{Name: "WRITE", Value: 0x2, Doc: "write: make the components of the range"},
	{Name: "GLIMPSE", Value: 0x3, Doc: "get the size"},
	{Name: "TRUNC", Value: 0x4, Doc: "truncate"},
	{Name: "RELEASE", Value: 0x5, Doc: "release to the archive"},
	{Name: "RESTORE", Value: 0x6, Doc: "restore from the archive"},
	{Name: "PCCRO_SET", Value: 0x7, Since: "2.16", Doc: "cache it read-only"},
	{Name: "PCCRO_CLEAR", Value: 0x8, Since: "2.16", Doc: "end the read-only cache"},
	{Name: "CHANGE", Value: 0x9, Since: "2.17", Doc: "change the layout"},
})

// LayoutIntentFlags is the group layout_intent_flags.
var LayoutIntentFlags = Bits("layout_intent_flags", "LAIF_", "what else the client knows", []Value{
	{Name: "INCOMPRESSIBLE", Value: 0x1, Since: "2.17", Doc: "the data cannot be compressed"},
})

// lmvHashWord are the values of a hash type word: the type in its low half,
// flags in its high half.
var lmvHashWord = func() *Names {
	var word []Value
	for _, v := range LmvHashType.Values {
		if v.Value != 0 && v.Name != "MAX" {
			v.Mask = 0xffff
			word = append(word, v)
		}
	}
	return NewBits(LmvHashFlags.Group, LmvHashFlags.Prefix, LmvHashFlags.Doc, append(word, LmvHashFlags.Values...))
}()

// lmvServerMagic are the magics as servers use them: the number that in a
// request names MDTs is a stripe there.
var lmvServerMagic = func() *Names {
	values := append([]Value(nil), LmvMagic.Values...)
	for i := range values {
		switch values[i].Name {
		case "MAGIC_STRIPE":
			values[i].Alias = false
		case "USER_MAGIC_SPECIFIC":
			values[i].Alias = true
		}
	}
	return NewEnum(LmvMagic.Group, LmvMagic.Prefix, LmvMagic.Doc, values)
}()
