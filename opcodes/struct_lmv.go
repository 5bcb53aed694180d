package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// lmvUserMdsData is struct lmv_user_mds_data.
var lmvUserMdsData = Define("lmv_user_mds_data",
	"a stripe of a directory, or an MDT for one",
	Sub("lum_fid", luFid, "the stripe"),
	Pad("lum_padding", 4),
	U32("lum_mds", "index of the MDT"),
)

// lmvUserMdV1 is struct lmv_user_md_v1.
var lmvUserMdV1 = Define("lmv_user_md_v1",
	"stripes of a directory as users ask for them, and as directories have them for new subdirectories",
	Detect(littleLayout), Brief(briefUserLmv),
	U32("lum_magic", Hex, LmvMagic, "kind of layout"),
	S32("lum_stripe_count", "number of stripes; -1: on all MDTs"),
	U32("lum_stripe_offset", Remark(remarkAnyMDT), "MDT of the first stripe; 0xffffffff: any"),
	U32("lum_hash_type", lmvHashWord, "how names are spread"),
	U32("lum_type", LmvType, "where the layout comes from"),
	U8("lum_max_inherit", Since("2.15"), Remark(remarkInherit), "levels of subdirectories that inherit it"),
	U8("lum_max_inherit_rr", Since("2.15"), "levels that are spread over the MDTs in turn"),
	Pad("lum_padding1", 2),
	Pad("lum_padding2", 4),
	Pad("lum_padding3", 4),
	Str("lum_pool_name", 16, "MDT pool"),
	Arr("lum_objects", -1, Sub("", lmvUserMdsData), CountOf(userStripes), "the MDTs to use, or the stripes"),
)

// lmvDesc is struct lmv_desc.
var lmvDesc = Define("lmv_desc",
	"the MDTs of a file system",
	U32("ld_tgt_count", "number of MDTs"),
	U32("ld_active_tgt_count", "those in use"),
	U32("ld_default_stripe_count", "default number of stripes of a directory"),
	U32("ld_pattern", "default pattern"),
	U64("ld_default_hash_size", "unused"),
	Pad("ld_padding_1", 8),
	Pad("ld_padding_2", 4),
	U32("ld_qos_maxage", Duration, "age at which space figures are read again"),
	Pad("ld_padding_3", 4),
	Pad("ld_padding_4", 4),
	Sub("ld_uuid", obdUuid, "name of the LMV"),
)

// lmvMdsMdV1 is struct lmv_mds_md_v1.
var lmvMdsMdV1 = Define("lmv_mds_md_v1",
	"stripes of a directory",
	Detect(littleLayout), Brief(briefLmv),
	U32("lmv_magic", Hex, lmvServerMagic, "kind of layout"),
	U32("lmv_stripe_count", "number of stripes"),
	U32("lmv_master_mdt_index", "MDT of the directory itself; in a stripe: its index"),
	U32("lmv_hash_type", lmvHashWord, "how names are spread"),
	U32("lmv_layout_version", "generation of the layout"),
	U32("lmv_migrate_offset", "while it is migrated: the first of the old stripes; while it is split or merged: the smaller number of stripes"),
	U32("lmv_migrate_hash", lmvHashWord, "how names were spread before"),
	Pad("lmv_padding2", 4),
	Pad("lmv_padding3", 8),
	Str("lmv_pool_name", 16, "MDT pool"),
	Arr("lmv_stripe_fids", -1, Sub("", luFid), CountOf(lmvStripes), "the stripes"),
)

// lmvForeignMd is struct lmv_foreign_md.
var lmvForeignMd = Define("lmv_foreign_md",
	Since("2.15"),
	"layout of a directory that belongs to another system",
	Detect(littleLayout), Brief(briefForeign),
	U32("lfm_magic", Hex, LmvMagic, "kind of layout"),
	U32("lfm_length", Size, "bytes of lfm_value"),
	U32("lfm_type", ForeignType, "the other system"),
	U32("lfm_flags", Hex, "flags of that system"),
	Str("lfm_value", 0, CountBy("lfm_length"), "what the other system needs to find the directory"),
)

// lmvMdsMd is union lmv_mds_md.
var _ = Define("lmv_mds_md",
	"layout of a directory, by its magic",
	Detect(littleLayout),
	U32("lmv_magic", Hex, LmvMagic, "kind of layout"),
	Sub("lmv_md_v1", lmvMdsMdV1, Over("lmv_magic"), "stripes of a directory"),
	Sub("lmv_user_md_v1", lmvUserMdV1, Over("lmv_magic"), "stripes asked for, or the default"),
	Sub("lmv_foreign_md", lmvForeignMd, Over("lmv_magic"), Since("2.15"), "a foreign directory"),
)

const (
	lmvMagicV1       = 0x0cd20cd0
	lmvMagicUser     = 0x0cd30cd0
	lmvMagicSpecific = 0x0cd40cd0 // of a request: names MDTs; of a server: a stripe
	lmvMagicForeign  = 0x0cd50cd0
	lumObjectSize    = 24
)

// userStripes is how many MDTs or stripes follow a lmv_user_md_v1.
func userStripes(v *View) int {
	return min(int(uint32(v.Uint(v.Type.Field("lum_stripe_count")))), len(v.Rest)/lumObjectSize)
}

// lmvStripes is how many FIDs follow a lmv_mds_md_v1: none in that of a
// stripe.
func lmvStripes(v *View) int {
	if v.Uint(v.Type.Field("lmv_magic")) != lmvMagicV1 {
		return 0
	}
	return int(uint32(v.Uint(v.Type.Field("lmv_stripe_count"))))
}

func remarkAnyMDT(v *View, dst []byte) []byte {
	if len(v.Rest) >= 4 && ReadUint(v.Rest[:4], v.Big) == 0xffffffff {
		return append(dst, "any MDT"...)
	}
	return dst
}

func remarkInherit(v *View, dst []byte) []byte {
	if len(v.Rest) == 0 {
		return dst
	}
	switch v.Rest[0] {
	case 0:
		return append(dst, "unlimited"...)
	case 1:
		return append(dst, "end"...)
	case 0xff:
		return append(dst, "none"...)
	}
	return dst
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
