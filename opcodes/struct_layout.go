package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// lovUserOstDataV1 is struct lov_user_ost_data_v1.
var lovUserOstDataV1 = Define("lov_user_ost_data_v1",
	"an object, or just an OST, that a user names in a layout",
	Brief(briefObject),
	Sub("l_ost_oi", ostId, "the object"),
	U32("l_ost_type", Since("2.17"), If(never), "another name of l_ost_gen"),
	U32("l_ost_gen", Over("l_ost_type"), "generation of the OST's index"),
	U32("l_ost_idx", "index of the OST"),
)

// lovUserMdV1 is struct lov_user_md_v1.
var lovUserMdV1 = Define("lov_user_md_v1",
	"layout as users ask for it, and as directories have it for new files",
	Detect(littleLayout), Brief(briefUserLov),
	U32("lmm_magic", Hex, LovMagic, "kind of layout"),
	U32("lmm_pattern", LovPattern, "how the data is laid out"),
	Sub("lmm_oi", ostId, OSTIDPlain, "the file: number and sequence of its FID"),
	U32("lmm_stripe_size", Size, "bytes on one object before the next; 0: default"),
	U16("lmm_stripe_count", Remark(remarkStripeCount), "number of objects; 0: default, 0xffff: on all OSTs"),
	U16("lmm_stripe_offset", Remark(remarkStripeOffset), "OST of the first object; 0xffff: any"),
	U16("lmm_layout_gen", Over("lmm_stripe_offset"), If(never), "generation of the layout, in answers"),
	Arr("lmm_objects", -1, Sub("", lovUserOstDataV1), CountOf(userObjects), "the objects"),
)

// lovUserMdV3 is struct lov_user_md_v3.
var lovUserMdV3 = Define("lov_user_md_v3",
	"layout in a pool, as users ask for it, and as directories have it for new files",
	Detect(littleLayout), Brief(briefUserLov),
	U32("lmm_magic", Hex, LovMagic, "kind of layout"),
	U32("lmm_pattern", LovPattern, "how the data is laid out"),
	Sub("lmm_oi", ostId, OSTIDPlain, "the file: number and sequence of its FID"),
	U32("lmm_stripe_size", Size, "bytes on one object before the next; 0: default"),
	U16("lmm_stripe_count", Remark(remarkStripeCount), "number of objects; 0: default, 0xffff: on all OSTs"),
	U16("lmm_stripe_offset", Remark(remarkStripeOffset), "OST of the first object; 0xffff: any"),
	U16("lmm_layout_gen", Over("lmm_stripe_offset"), If(never), "generation of the layout, in answers"),
	Str("lmm_pool_name", 16, "OST pool"),
	Arr("lmm_objects", -1, Sub("", lovUserOstDataV1), CountOf(userObjects), "the objects, or the OSTs to use"),
)

// lovForeignMd is struct lov_foreign_md.
var lovForeignMd = Define("lov_foreign_md",
	Since("2.15"),
	"layout of a file that belongs to another system",
	Detect(littleLayout), Brief(briefForeign),
	U32("lfm_magic", Hex, LovMagic, "kind of layout"),
	U32("lfm_length", Size, "bytes of lfm_value"),
	U32("lfm_type", ForeignType, "the other system"),
	U32("lfm_flags", Hex, "flags of that system"),
	Str("lfm_value", 0, CountBy("lfm_length"), "what the other system needs to find the file"),
)

// luExtent is struct lu_extent.
var luExtent = Define("lu_extent",
	"a range of a file",
	U64("e_start", Size, "its first byte"),
	U64("e_end", Size, "the byte behind it"),
)

// lovHsmBase is struct lov_hsm_base.
var lovHsmBase = Define("lov_hsm_base",
	Since("2.16"),
	"where in the archive the data of an HSM layout is",
	U64("lhb_archive_id", "number of the archive"),
	U64("lhb_archive_ver", Cookie, "data version of the copy"),
	Str("lhb_uuid", 40, "name of the copy in the archive"),
)

// lovHsmMd is struct lov_hsm_md.
var lovHsmMd = Define("lov_hsm_md",
	Since("2.16"),
	"layout of a file, or mirror, whose data is in an HSM archive",
	Detect(littleLayout), Brief(briefForeign),
	U32("lhm_magic", Hex, LovMagic, "kind of layout"),
	U32("lhm_length", Size, "bytes behind lhm_flags"),
	U32("lhm_type", ForeignType, "kind of archive"),
	U32("lhm_flags", HsmStates, "HSM state"),
	Sub("lhm_hsm", lovHsmBase, "the copy"),
)

// lovOstDataV1 is struct lov_ost_data_v1.
var lovOstDataV1 = Define("lov_ost_data_v1",
	"an object of a file",
	Brief(briefObject),
	Sub("l_ost_oi", ostId, "the object"),
	U32("l_ost_type", Since("2.17"), If(never), "another name of l_ost_gen"),
	U32("l_ost_gen", Over("l_ost_type"), "generation of the OST's index"),
	U32("l_ost_idx", "index of the OST"),
)

// lovMdsMdV1 is struct lov_mds_md_v1.
var lovMdsMdV1 = Define("lov_mds_md_v1",
	"layout of a file or of a component",
	Detect(littleLayout), Brief(briefLov),
	U32("lmm_magic", Hex, LovMagic, "kind of layout"),
	U32("lmm_pattern", LovPattern, "how the data is laid out"),
	Sub("lmm_oi", ostId, OSTIDPlain, Remark(remarkFileFID), "the file: number and sequence of its FID"),
	U32("lmm_stripe_size", Size, Remark(remarkExtensionSize), "bytes on one object before the next"),
	U16("lmm_stripe_count", Remark(remarkStripeCount), "number of objects"),
	U16("lmm_layout_gen", Remark(remarkLayoutGen), "generation of the layout"),
	Arr("lmm_objects", -1, Sub("", lovOstDataV1), CountOf(lovObjects), "the objects"),
	spareObjects(),
)

// lovMdsMdV3 is struct lov_mds_md_v3.
var lovMdsMdV3 = Define("lov_mds_md_v3",
	"layout of a file or of a component that lies in a pool",
	Detect(littleLayout), Brief(briefLov),
	U32("lmm_magic", Hex, LovMagic, "kind of layout"),
	U32("lmm_pattern", LovPattern, "how the data is laid out"),
	Sub("lmm_oi", ostId, OSTIDPlain, Remark(remarkFileFID), "the file: number and sequence of its FID"),
	U32("lmm_stripe_size", Size, Remark(remarkExtensionSize), "bytes on one object before the next"),
	U16("lmm_stripe_count", Remark(remarkStripeCount), "number of objects"),
	U16("lmm_layout_gen", Remark(remarkLayoutGen), "generation of the layout"),
	Str("lmm_pool_name", 16, "OST pool"),
	Arr("lmm_objects", -1, Sub("", lovOstDataV1), CountOf(lovObjects), "the objects"),
	spareObjects(),
)

// spareObjects is the room that a component keeps for objects it does not have
// yet. What is left there means nothing.
func spareObjects() *Field {
	f := Opaque("lmm_spare", 0, If(noObjectsYet), "room for objects that are not made yet")
	f.Pad = true
	return f
}

// lovDesc is struct lov_desc.
var lovDesc = Define("lov_desc",
	"the OSTs of a file system and the default layout",
	U32("ld_tgt_count", "number of OSTs"),
	U32("ld_active_tgt_count", "those in use"),
	S32("ld_default_stripe_count", "default number of objects"),
	U32("ld_pattern", LovPattern, "default pattern"),
	U64("ld_default_stripe_size", Size, "default stripe size"),
	S64("ld_default_stripe_offset", "default OST of the first object; -1: any"),
	Pad("ld_padding_0", 4),
	U32("ld_qos_maxage", Duration, "age at which space figures are read again"),
	Pad("ld_padding_1", 4),
	Pad("ld_padding_2", 4),
	Sub("ld_uuid", obdUuid, "name of the LOV"),
)

// layoutIntent is struct layout_intent.
var layoutIntent = Define("layout_intent",
	"what a client is about to do with a range of a file, for which it needs the layout",
	U32("lai_opc", Since("2.16"), LayoutIntent, "what; named li_opc up to 2.15"),
	U32("lai_flags", Since("2.16"), LayoutIntentFlags, "what else it knows; named li_flags up to 2.15"),
	Sub("lai_extent", luExtent, Since("2.16"), "the range; named li_extent up to 2.15"),
)
