package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var LmvHashType = Enum("lmv_hash_type", "LMV_HASH_TYPE_", "how names are spread over the stripes of a directory", []Value{
	{Name: "UNKNOWN", Value: 0x0, Doc: "not set"},
	{Name: "ALL_CHARS", Value: 0x1, Doc: "sum of all characters"},
	{Name: "FNV_1A_64", Value: 0x2, Doc: "Fowler-Noll-Vo hash"},
	{Name: "CRUSH", Value: 0x3, Since: "2.15", Doc: "consistent hash"},
	{Name: "CRUSH2", Value: 0x4, Since: "2.16", Doc: "consistent hash, second edition"},
	{Name: "MAX", Value: 0x5},
	{Name: "DEFAULT", Value: 0x2, Since: "2.15", Alias: true},
})

var LmvHashFlags = Bits("lmv_hash_flags", "LMV_HASH_FLAG_", "state of a striped directory, in the high half of its hash type", []Value{
	{Name: "LMV_HASH_TYPE_MASK", Value: 0xffff, Alias: true, NoPrefix: true},
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
	return LmvHashFlags.Form(append(word, LmvHashFlags.Values...))
}()

var LmvType = Enum("lmv_type", "LMV_TYPE_", "where the layout of a directory comes from", []Value{
	{Name: "DEFAULT", Value: 0x0, Since: "2.15", Doc: "inherited from the parent"},
	{Name: "RAW", Value: 0x1, Since: "2.16", Doc: "as set on the directory itself"},
})

var LmvLimits = Enum("lmv_limits", "LMV_", "limits of directory layouts", []Value{
	{Name: "MAX_STRIPES_PER_MDT", Value: 0x5, Since: "2.16", Doc: "most stripes on an MDT"},
	{Name: "MAX_STRIPE_COUNT", Value: 0x7d0, Doc: "most stripes"},
	{Name: "CRUSH_PG_COUNT", Value: 0x1000, Since: "2.15", Doc: "placement groups of the CRUSH hash"},
	{Name: "OFFSET_DEFAULT", Value: 0xffffffff, Since: "2.15", Doc: "any MDT"},
	{Name: "OVERSTRIPE_COUNT_MAX", Value: 1<<64 - 5, Since: "2.17", Doc: "five stripes on each MDT"},
	{Name: "OVERSTRIPE_COUNT_MIN", Value: 1<<64 - 1, Since: "2.17", Doc: "one stripe on each MDT"},
}).WithSign()

var lmvUserMdsData = &Struct{Name: "lmv_user_mds_data", Doc: "a stripe of a directory, or an MDT for one", Fields: []*Field{
	Sub("lum_fid", &LuFid, "the stripe"),
	Pad("lum_padding", 4),
	U32("lum_mds", Harmless, "index of the MDT"),
}}

var lmvUserMdV1 = &Struct{Name: "lmv_user_md_v1", Detect: littleLayout, Summarize: briefUserLmv,
	Doc: "stripes of a directory as users ask for them, and as directories have them for new subdirectories", Fields: []*Field{
		U32("lum_magic", Hex, &LmvMagic, "kind of layout"),
		S32("lum_stripe_count", Harmless, "number of stripes; -1: on all MDTs"),
		U32("lum_stripe_offset", Harmless, remarkOf(0xffffffff, "any MDT"), "MDT of the first stripe; 0xffffffff: any"),
		U32("lum_hash_type", &lmvHashWord, "how names are spread"),
		U32("lum_type", &LmvType, "where the layout comes from"),
		U8("lum_max_inherit", Harmless, Since("2.15"), If(isDefaultLmv), Remark(func(v *View, dst []byte) []byte {
			switch v.Value {
			case 0:
				return append(dst, "unlimited"...)
			case 1:
				return append(dst, "end"...)
			case 0xff:
				return append(dst, "none"...)
			}
			return dst
		}),
			"of a default layout: levels of subdirectories that inherit it"),
		U8("lum_max_inherit_rr", Harmless, Since("2.15"), If(isDefaultLmv), "of a default layout: levels that are spread over the MDTs in turn"),
		Padding("lum_padding", 1, 2, 4, 4),
		Str("lum_pool_name", 16, PlainName, "MDT pool"),
		Subs("lum_objects", -1, &lmvUserMdsData, CountOf(func(v *View) int {
			return min(int(uint32(v.Uint(v.Type.Field("lum_stripe_count")))), len(v.Rest)/lmvUserMdsData.Size)
		}), "the MDTs to use, or the stripes"),
	}}

var lmvDesc = &Struct{Name: "lmv_desc", Doc: "the MDTs of a file system", Fields: []*Field{
	U32("ld_tgt_count", Harmless, "number of MDTs"),
	U32("ld_active_tgt_count", Harmless, "those in use"),
	U32("ld_default_stripe_count", Harmless, "default number of stripes of a directory"),
	U32("ld_pattern", Harmless, "default pattern"),
	U64("ld_default_hash_size", Harmless, "unused"),
	Padding("ld_padding_", 1, 8, 4),
	U32("ld_qos_maxage", TimeSpan, "age at which space figures are read again"),
	Padding("ld_padding_", 3, 4, 4),
	Sub("ld_uuid", &obdUuid, "name of the LMV"),
}}

var lmvMdsMdV1 = &Struct{Name: "lmv_mds_md_v1", Detect: littleLayout, Summarize: briefLmv, Doc: "stripes of a directory", Fields: []*Field{
	U32("lmv_magic", Hex, &lmvServerMagic, "kind of layout"),
	U32("lmv_stripe_count", Harmless, "number of stripes"),
	U32("lmv_master_mdt_index", Harmless, "MDT of the directory itself; in a stripe: its index"),
	U32("lmv_hash_type", &lmvHashWord, "how names are spread"),
	U32("lmv_layout_version", Harmless, "generation of the layout"),
	U32("lmv_migrate_offset", Harmless, "while it is migrated: the first of the old stripes; while it is split or merged: the smaller number of stripes"),
	U32("lmv_migrate_hash", &lmvHashWord, "how names were spread before"),
	Padding("lmv_padding", 2, 4, 8),
	Str("lmv_pool_name", 16, PlainName, "MDT pool"),
	Subs("lmv_stripe_fids", -1, &LuFid, CountOf(lmvStripes), "the stripes"),
}}

var lmvForeignMd = &Struct{Name: "lmv_foreign_md", Since: "2.15", Detect: littleLayout, Summarize: briefForeign,
	Doc: "layout of a directory that belongs to another system", Fields: []*Field{
		U32("lfm_magic", Hex, &LmvMagic, "kind of layout"),
		U32("lfm_length", Size, "bytes of lfm_value"),
		U32("lfm_type", &ForeignType, "the other system"),
		U32("lfm_flags", Harmless, Hex, "flags of that system"),
		Str("lfm_value", 0, FilePath, CountBy("lfm_length"), "what the other system needs to find the directory"),
	}}

var lmvMdsMd = &Struct{Name: "lmv_mds_md", Detect: littleLayout, Doc: "layout of a directory, by its magic", Fields: []*Field{
	U32("lmv_magic", Hex, &LmvMagic, "kind of layout"),
	Sub("lmv_md_v1", &lmvMdsMdV1, Over("lmv_magic"), "stripes of a directory"),
	Sub("lmv_user_md_v1", &lmvUserMdV1, Over("lmv_magic"), "stripes asked for, or the default"),
	Sub("lmv_foreign_md", &lmvForeignMd, Over("lmv_magic"), Since("2.15"), "a foreign directory"),
}}

// isDefaultLmv reports whether a lmv_user_md is, as far as the message shows, the
// default layout of a directory, and not what a mkdir or a migration asks for.
func isDefaultLmv(v *View) bool {
	if v.Msg == nil {
		return true
	}
	rec := v.Msg.Named("rec_reint")
	switch rrOpcode.Uint(rec, v.Msg.Big) {
	case reintCreate:
		return crBias.Uint(rec, v.Msg.Big)&MdsOpBias.Bit("CREATE_DEFAULT_LMV") != 0
	case reintMigrate:
		return false
	}
	return true
}

// lmvStripes is how many FIDs follow a lmv_mds_md_v1: none in that of a
// stripe.
func lmvStripes(v *View) int {
	if v.Uint(v.Type.Field("lmv_magic")) != lmvMagicV1 {
		return 0
	}
	return int(uint32(v.Uint(v.Type.Field("lmv_stripe_count"))))
}

func briefUserLmv(v *View, dst []byte) []byte {
	dst = briefCount(dst, "stripe", int32(v.Uint(v.Type.Field("lum_stripe_count"))))
	dst = append(dst, " from MDT "...)
	dst = briefIndex(dst, uint32(v.Uint(v.Type.Field("lum_stripe_offset"))))
	if hash := v.Uint(v.Type.Field("lum_hash_type")); hash != 0 {
		dst = briefFlags(append(dst, ", "...), lmvHashWord, hash)
	}
	return briefPool(v, dst, "lum_pool_name")
}

func briefLmv(v *View, dst []byte) []byte {
	if v.Uint(v.Type.Field("lmv_magic")) == lmvMagicSpecific {
		dst = append(dst, "stripe "...)
		dst = briefIndex(dst, uint32(v.Uint(v.Type.Field("lmv_master_mdt_index"))))
		dst = append(dst, " of "...)
	}
	dst = briefCount(dst, "stripe", int32(v.Uint(v.Type.Field("lmv_stripe_count"))))
	dst = append(dst, ", "...)
	dst = briefFlags(dst, lmvHashWord, v.Uint(v.Type.Field("lmv_hash_type")))
	return briefPool(v, dst, "lmv_pool_name")
}
