package opcodes

import (
	"strconv"
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

var LovPattern = Bits("lov_pattern", "LOV_PATTERN_", "how the data is distributed over its objects", []Value{
	{Name: "NONE", Value: 0x0, Doc: "not set"},
	{Name: "RAID0", Value: 0x1, Doc: "striped"},
	{Name: "RAID1", Value: 0x2, Doc: "mirrored"},
	{Name: "PARITY", Value: 0x4, Since: "2.17", Doc: "erasure coded"},
	{Name: "MDT", Value: 0x100, Doc: "data on the MDT (DoM), no objects"},
	{Name: "OVERSTRIPING", Value: 0x200, Since: "2.15", Doc: "several stripes on an OST"},
	{Name: "CMOBD", Value: 0x200, Doc: "gone after 2.12", Alias: true},
	{Name: "FOREIGN", Value: 0x400, Since: "2.15", Doc: "belongs to another system"},
	{Name: "BAD", Value: 0x502, Since: "2.16", Alias: true},
	{Name: "COMPRESS", Value: 0x800, Since: "2.16", Doc: "compressed"},
	{Name: "F_HOLE", Value: 0x40000000, Doc: "objects are missing"},
	{Name: "F_RELEASED", Value: 0x80000000, Doc: "data is in the archive only, no objects"},
	{Name: "F_MASK", Value: 0xffff0000, Alias: true},
	{Name: "DEFAULT", Value: 0xffffffff, Alias: true},
})

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
	{Name: "LOV_ALL_STRIPES_WIDE", Value: 0xffe0, Since: "2.16", Doc: "first of the counts that give the number of stripes on each OST"},
	{Name: "LOV_ALL_STRIPES", Value: 0xffff, Doc: "on all OSTs"},
	{Name: "LOV_OFFSET_DEFAULT", Value: 0xffff, Alias: true},
	{Name: "LOV_MIN_STRIPE_SIZE", Value: 0x10000, Doc: "smallest stripe size"},
	{Name: "LOV_DESC_MAGIC", Value: lovDescMagic, Doc: "magic of a LOV description"},
})

// lOstIdx is part of lov_user_ost_data_v1 and of lov_ost_data_v1.
var lOstIdx = U32("l_ost_idx", Harmless, "index of the OST")

var lovUserOstDataV1 = &Struct{Name: "lov_user_ost_data_v1", Summarize: briefObject,
	Doc: "an object, or just an OST, that a user names in a layout", Fields: []*Field{
		Sub("l_ost_oi", &ostId, "the object"),
		U32("l_ost_type", Harmless, Since("2.17"), If(never), "another name of l_ost_gen"),
		U32("l_ost_gen", Harmless, Over("l_ost_type"), "generation of the OST's index"),
		lOstIdx,
	}}

var lovUserMdV1 = &Struct{Name: "lov_user_md_v1", Detect: littleLayout, Summarize: briefUserLov,
	Doc: "layout as users ask for it, and as directories have it for new files", Fields: []*Field{
		U32("lmm_magic", Hex, &LovMagic, "kind of layout"),
		U32("lmm_pattern", &LovPattern, "how the data is laid out"),
		Sub("lmm_oi", &ostId, OSTIDPlain, "the file: number and sequence of its FID"),
		U32("lmm_stripe_size", Size, "bytes on one object before the next; 0: default"),
		U16("lmm_stripe_count", Harmless, Remark(remarkStripeCount), "number of objects; 0: default, 0xffff: on all OSTs"),
		U16("lmm_stripe_offset", Harmless, remarkOf(0xffff, "any OST"), "OST of the first object; 0xffff: any"),
		U16("lmm_layout_gen", Harmless, Over("lmm_stripe_offset"), If(never), "generation of the layout, in answers"),
		Subs("lmm_objects", -1, &lovUserOstDataV1, CountOf(userObjects), "the objects"),
	}}

var lovUserMdV3 = &Struct{Name: "lov_user_md_v3", Detect: littleLayout, Summarize: briefUserLov,
	Doc: "layout in a pool, as users ask for it, and as directories have it for new files", Fields: []*Field{
		U32("lmm_magic", Hex, &LovMagic, "kind of layout"),
		U32("lmm_pattern", &LovPattern, "how the data is laid out"),
		Sub("lmm_oi", &ostId, OSTIDPlain, "the file: number and sequence of its FID"),
		U32("lmm_stripe_size", Size, "bytes on one object before the next; 0: default"),
		U16("lmm_stripe_count", Harmless, Remark(remarkStripeCount), "number of objects; 0: default, 0xffff: on all OSTs"),
		U16("lmm_stripe_offset", Harmless, remarkOf(0xffff, "any OST"), "OST of the first object; 0xffff: any"),
		U16("lmm_layout_gen", Harmless, Over("lmm_stripe_offset"), If(never), "generation of the layout, in answers"),
		Str("lmm_pool_name", 16, PlainName, "OST pool"),
		Subs("lmm_objects", -1, &lovUserOstDataV1, CountOf(userObjects), "the objects, or the OSTs to use"),
	}}

// lfmType is at the same offset in lov_hsm_md and lmv_foreign_md.
var lfmType = U32("lfm_type", &ForeignType, "the other system")

var lovForeignMd = &Struct{Name: "lov_foreign_md", Since: "2.15", Detect: littleLayout, Summarize: briefForeign,
	Doc: "layout of a file that belongs to another system", Fields: []*Field{
		U32("lfm_magic", Hex, &LovMagic, "kind of layout"),
		U32("lfm_length", Size, "bytes of lfm_value"),
		lfmType,
		U32("lfm_flags", Harmless, Hex, "flags of that system"),
		Str("lfm_value", 0, FilePath, CountBy("lfm_length"), "what the other system needs to find the file"),
	}}

var lovHsmBase = &Struct{Name: "lov_hsm_base", Since: "2.16", Doc: "where in the archive the data of an HSM layout is", Fields: []*Field{
	U64("lhb_archive_id", Harmless, "number of the archive"),
	U64("lhb_archive_ver", Cookie, "data version of the copy"),
	Str("lhb_uuid", 40, TargetName, "name of the copy in the archive"),
}}

var lovHsmMd = &Struct{Name: "lov_hsm_md", Since: "2.16", Detect: littleLayout, Summarize: briefForeign,
	Doc: "layout of a file, or mirror, whose data is in an HSM archive", Fields: []*Field{
		U32("lhm_magic", Hex, &LovMagic, "kind of layout"),
		U32("lhm_length", Size, "bytes behind lhm_flags"),
		U32("lhm_type", &ForeignType, "kind of archive"),
		U32("lhm_flags", &HsmStates, "HSM state"),
		Sub("lhm_hsm", &lovHsmBase, "the copy"),
	}}

var lovOstDataV1 = &Struct{Name: "lov_ost_data_v1", Summarize: briefObject, Doc: "an object of a file", Fields: []*Field{
	Sub("l_ost_oi", &ostId, "the object"),
	U32("l_ost_type", Harmless, Since("2.17"), If(never), "another name of l_ost_gen"),
	U32("l_ost_gen", Harmless, Over("l_ost_type"), "generation of the OST's index"),
	lOstIdx,
}}

var lovMdsMdV1 = &Struct{Name: "lov_mds_md_v1", Detect: littleLayout, Summarize: briefLov,
	Doc: "layout of a file or of a component", Fields: []*Field{
		U32("lmm_magic", Hex, &LovMagic, "kind of layout"),
		U32("lmm_pattern", &LovPattern, "how the data is laid out"),
		Sub("lmm_oi", &ostId, OSTIDPlain, Remark(remarkFileFID), "the file: number and sequence of its FID"),
		U32("lmm_stripe_size", Size, Remark(remarkExtensionSize), "bytes on one object before the next"),
		U16("lmm_stripe_count", Harmless, Remark(remarkStripeCount), "number of objects"),
		U16("lmm_layout_gen", Harmless, Remark(remarkLayoutGen), "generation of the layout"),
		Subs("lmm_objects", -1, &lovOstDataV1, CountOf(lovObjects), "the objects"),
		spareObjects(),
	}}

var lovMdsMdV3 = &Struct{Name: "lov_mds_md_v3", Detect: littleLayout, Summarize: briefLov,
	Doc: "layout of a file or of a component in an OST pool", Fields: []*Field{
		U32("lmm_magic", Hex, &LovMagic, "kind of layout"),
		U32("lmm_pattern", &LovPattern, "how the data is laid out"),
		Sub("lmm_oi", &ostId, OSTIDPlain, Remark(remarkFileFID), "the file: number and sequence of its FID"),
		U32("lmm_stripe_size", Size, Remark(remarkExtensionSize), "bytes on one object before the next"),
		U16("lmm_stripe_count", Harmless, Remark(remarkStripeCount), "number of objects"),
		U16("lmm_layout_gen", Harmless, Remark(remarkLayoutGen), "generation of the layout"),
		Str("lmm_pool_name", 16, PlainName, "OST pool"),
		Subs("lmm_objects", -1, &lovOstDataV1, CountOf(lovObjects), "the objects"),
		spareObjects(),
	}}

// spareObjects is the room that a component keeps for objects it does not have
// yet. What is left there means nothing.
func spareObjects() *Field {
	f := Opaque("lmm_spare", 0, If(noObjectsYet), "room for objects that are not made yet")
	f.Pad = true
	return f
}

var lovDesc = &Struct{Name: "lov_desc", Doc: "the OSTs of a file system and the default layout", Fields: []*Field{
	U32("ld_tgt_count", Harmless, "number of OSTs"),
	U32("ld_active_tgt_count", Harmless, "those in use"),
	S32("ld_default_stripe_count", Harmless, "default number of objects"),
	U32("ld_pattern", &LovPattern, "default pattern"),
	U64("ld_default_stripe_size", Size, "default stripe size"),
	S64("ld_default_stripe_offset", Harmless, "default OST of the first object; -1: any"),
	Pad("ld_padding_0", 4),
	U32("ld_qos_maxage", TimeSpan, "age at which space figures are read again"),
	Padding("ld_padding_", 1, 4, 4),
	Sub("ld_uuid", &obdUuid, "name of the LOV"),
}}

var (
	lovManyStripes = LovLimits.Number("LOV_ALL_STRIPES_WIDE") // from here on: a number of stripes an OST, not objects
	lovNoObjects   = LovPattern.Bit("MDT", "FOREIGN", "F_RELEASED")
)

// lovObjects is how many objects a layout has. A released file, a part on the
// MDT and a component that is not in use yet have none, whatever the stripe
// count says.
func lovObjects(v *View) int {
	n := v.Uint(v.Type.Field("lmm_stripe_count"))
	if v.Uint(v.Type.Field("lmm_pattern"))&lovNoObjects != 0 || n >= lovManyStripes || noObjectsYet(v) {
		return 0
	}
	return int(n)
}

// userObjects is how many objects or OSTs follow the layout that a user
// wrote: as many as there is room for, as most come without.
func userObjects(v *View) int {
	n := v.Uint(v.Type.Field("lmm_stripe_count"))
	if n >= lovManyStripes {
		return 0
	}
	return min(int(n), len(v.Rest)/lovUserOstDataV1.Size)
}

func briefLov(v *View, dst []byte) []byte {
	dst = briefStripes(v, dst)
	if n := lovObjects(v); n > 0 {
		at := v.Type.Field("lmm_objects").Off
		if at >= 0 && len(v.Struct) >= at+lovOstDataV1.Size {
			dst = append(dst, ", stripe_offset "...)
			dst = strconv.AppendUint(dst, lOstIdx.Uint(v.Struct[at:], v.Big), 10)
		}
	} else if noObjectsYet(v) {
		dst = append(dst, ", no objects yet"...)
	}
	return briefPool(v, dst, "lmm_pool_name")
}

func briefUserLov(v *View, dst []byte) []byte {
	dst = briefStripes(v, dst)
	dst = append(dst, ", stripe_offset "...)
	dst = briefIndex16(dst, v.Uint(v.Type.Field("lmm_stripe_offset")))
	return briefPool(v, dst, "lmm_pool_name")
}

func briefStripes(v *View, dst []byte) []byte {
	count, size := v.Uint(v.Type.Field("lmm_stripe_count")), v.Uint(v.Type.Field("lmm_stripe_size"))
	what := ", stripe_size "
	if flags, ok := componentFlags(v); ok && flags&compExtension != 0 {
		count, size, what = 0, size*extensionUnit, ", extension_size "
	}
	dst = briefStripeCount(append(dst, "stripe_count "...), count)
	dst = append(dst, what...)
	dst = strconv.AppendUint(dst, size, 10)
	dst = append(dst, ", "...)
	return briefPattern(dst, v.Uint(v.Type.Field("lmm_pattern")))
}

// briefPattern shows patterns as lfs getstripe names them.
func briefPattern(dst []byte, pattern uint64) []byte {
	if pattern == 0 || pattern == 0xffffffff {
		return append(dst, "default"...)
	}
	rest := LovPattern.Set(pattern, func(v *Value) {
		word := strings.TrimPrefix(v.Name, "F_")
		if word == "OVERSTRIPING" {
			word = "overstriped"
		}
		dst = append(appendLower(dst, word), ',')
	})
	if rest != 0 {
		return AppendHex(dst, rest)
	}
	return dst[:len(dst)-1]
}

// briefStripeCount shows the counts from 0xffe0 on as lfs does: -1 is all
// OSTs, -2 to -32 so many stripes on each.
func briefStripeCount(dst []byte, n uint64) []byte {
	if n >= lovManyStripes {
		return strconv.AppendInt(dst, int64(int16(n)), 10)
	}
	return strconv.AppendUint(dst, n, 10)
}

func briefIndex16(dst []byte, n uint64) []byte {
	if n == 0xffff {
		return append(dst, "-1"...)
	}
	return strconv.AppendUint(dst, n, 10)
}

func briefIndex(dst []byte, n uint32) []byte { return strconv.AppendInt(dst, int64(int32(n)), 10) }

// briefCount appends how many there are of what: "1 stripe", "2 stripes".
func briefCount(dst []byte, what string, n int32) []byte {
	dst = strconv.AppendInt(dst, int64(n), 10)
	dst = append(append(dst, ' '), what...)
	if n != 1 {
		dst = append(dst, 's')
	}
	return dst
}

func briefFlags(dst []byte, n *Names, word uint64) []byte {
	first := true
	rest := n.Set(word, func(v *Value) {
		if !first {
			dst = append(dst, ',')
		}
		dst, first = append(dst, v.Name...), false
	})
	if rest != 0 || first {
		if !first {
			dst = append(dst, ',')
		}
		dst = AppendHex(dst, rest)
	}
	return dst
}

func briefPool(v *View, dst []byte, field string) []byte {
	f, ok := v.Type.Lookup(field)
	if !ok {
		return dst
	}
	if pool := TrimNUL(f.Bytes(v.Struct)); len(pool) > 0 {
		dst = append(dst, ", pool "...)
		dst = append(dst, pool...)
	}
	return dst
}

func briefObject(v *View, dst []byte) []byte {
	if len(v.Struct) < lOstIdx.Off+lOstIdx.Size {
		return dst
	}
	dst = append(dst, "l_ost_idx "...)
	dst = strconv.AppendUint(dst, v.Uint(lOstIdx), 10)
	dst = append(dst, ", l_fid "...)
	return AppendOSTID(dst, v.Struct, v.Big, false)
}

func remarkStripeCount(v *View, dst []byte) []byte {
	if v.Value >= lovManyStripes {
		return briefStripeCount(dst, v.Value)
	}
	return dst
}

func remarkFileFID(v *View, dst []byte) []byte {
	return AppendFID(append(dst, "lmm_fid "...), oiSeq.Uint(v.Rest, v.Big), uint32(oiID.Uint(v.Rest, v.Big)), 0)
}
