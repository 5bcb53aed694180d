package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var LmaCompat = Bits("lma_compat", "LMAC_", "what an object is, for software that may ignore it", []Value{
	{Name: "HSM", Value: 0x1, Doc: "has HSM state"},
	{Name: "NOT_IN_OI", Value: 0x4, Doc: "not in the object index"},
	{Name: "FID_ON_OST", Value: 0x8, Doc: "an object on an OST"},
	{Name: "STRIPE_INFO", Value: 0x10, Doc: "has the size and index of its stripe"},
	{Name: "COMP_INFO", Value: 0x20, Doc: "has the id and range of its component"},
	{Name: "IDX_BACKUP", Value: 0x40, Doc: "index has a backup"},
})

var LmaIncompat = Bits("lma_incompat", "LMAI_", "what an object is, for software that must know", []Value{
	{Name: "RELEASED", Value: 0x1, Doc: "data is in the archive only"},
	{Name: "AGENT", Value: 0x2, Doc: "stands for an object of another MDT"},
	{Name: "REMOTE_PARENT", Value: 0x4, Doc: "parent of objects of other MDTs"},
	{Name: "STRIPED", Value: 0x8, Doc: "stripe of a directory"},
	{Name: "ORPHAN", Value: 0x10, Doc: "without a name"},
	{Name: "ENCRYPT", Value: 0x20, Since: "2.15", Doc: "encrypted"},
	{Name: "LMA_INCOMPAT_SUPP", Value: 0x3e, Alias: true, NoPrefix: true},
})

var SomFlags = Bits("som_flags", "SOM_FL_", "how far the size on the MDT can be trusted", []Value{
	{Name: "UNKNOWN", Value: 0x0, Doc: "not known"},
	{Name: "STRICT", Value: 0x1, Doc: "exact"},
	{Name: "STALE", Value: 0x2, Doc: "was exact once"},
	{Name: "LAZY", Value: 0x4, Doc: "approximate"},
})

var Linkea = Enum("linkea", "", "magic of trusted.link", []Value{
	{Name: "LINK_EA_MAGIC", Value: 0x11eaf1df, Doc: "begins the list of names and parents in trusted.link"},
})

var lustreMdtAttrs = &Struct{Name: "lustre_mdt_attrs", Order: Little,
	Doc: "what an object is and which FID it has: trusted.lma", Fields: []*Field{
		U32("lma_compat", &LmaCompat, "what it is, for software that may ignore it"),
		U32("lma_incompat", &LmaIncompat, "what it is, for software that must know"),
		Sub("lma_self_fid", &LuFid, "its FID"),
	}}

var lustreOstAttrs = &Struct{Name: "lustre_ost_attrs", Order: Little,
	Doc: "trusted.lma of an object on an OST: its file and stripe too", Fields: []*Field{
		Sub("loa_lma", &lustreMdtAttrs, "what it is"),
		Sub("loa_parent_fid", &LuFid, "the file; the stripe number is in the version"),
		U32("loa_stripe_size", Size, "stripe size"),
		U32("loa_comp_id", Harmless, "its component"),
		U64("loa_comp_start", Size, "first byte of the component"),
		U64("loa_comp_end", Size, "the byte behind the component"),
	}}

var lustreSomAttrs = &Struct{Name: "lustre_som_attrs", Order: Little,
	Doc: "size of a file as the MDT knows it: trusted.som", Fields: []*Field{
		U16("lsa_valid", &SomFlags, "how far it can be trusted"),
		Pads("lsa_reserved", 3, 2),
		U64("lsa_size", Size, "size in bytes"),
		U64("lsa_blocks", Harmless, "blocks of 512 bytes"),
	}}

var hsmAttrs = &Struct{Name: "hsm_attrs", Order: Little, Doc: "HSM state of a file: trusted.hsm", Fields: []*Field{
	U32("hsm_compat", Harmless, Hex, "unused"),
	U32("hsm_flags", &HsmStates, "the state"),
	U64("hsm_arch_id", Harmless, "the archive"),
	U64("hsm_arch_ver", Cookie, "data version of the copy"),
}}

var linkEaHeader = &Struct{Name: "link_ea_header", Detect: func(b []byte, _ bool) bool { return len(b) > 0 && b[0] == linkMagicHigh },
	Doc: "the names of an object and the directories they are in: trusted.link", Fields: []*Field{
		U32("leh_magic", Hex, &Linkea, "begins the list"),
		U32("leh_reccount", Harmless, "number of names"),
		U64("leh_len", Size, "bytes of the whole"),
		U32("leh_overflow_time", Time, "when a name did not fit; 0: never"),
		Pad("leh_padding", 4),
		Records("entries", stepLink, formLinkEntry, "the names"),
	}}

var linkEaEntry = &Struct{Name: "link_ea_entry", Order: Big, Doc: "a name of an object", Fields: []*Field{
	U16("lee_reclen", Size, "bytes of the entry"),
	Sub("lee_parent_fid", &LuFid, "the directory"),
	Str("lee_name", 0, FileName, CountOf(func(v *View) int {
		if len(v.Struct) < 2 {
			return 0
		}
		return max(0, int(ReadUint(v.Struct[:2], true))-linkEntrySize)
	}), "the name"),
}}

const (
	linkMagicHigh = 0x11
	linkEntrySize = 18
)

var formLinkEntry = Sub("", &linkEaEntry)

// stepLink finds the next name; the length of an entry is big-endian.
func stepLink(v *View) (*Field, int) {
	if len(v.Rest) < linkEntrySize || v.Index >= int(ReadUint(v.Struct[4:8], v.Big)) {
		return nil, 0
	}
	n := int(ReadUint(v.Rest[:2], true))
	if n < linkEntrySize {
		return nil, 0
	}
	return formLinkEntry, n
}

var ostLayout = &Struct{Name: "ost_layout", Doc: "where in a file's layout an object belongs", Fields: []*Field{
	U32("ol_stripe_size", Size, "bytes of a stripe"),
	U32("ol_stripe_count", Harmless, "stripes of the file or component"),
	U64("ol_comp_start", Size, "first byte of the component"),
	U64("ol_comp_end", Size, "end of the component"),
	U32("ol_comp_id", Harmless, "id of the component, 0 without components"),
}}

var filterFid18 = &Struct{Name: "filter_fid_18_23", Order: Little,
	Doc: "to which file an object belongs, as releases up to 2.3 stored it", Fields: []*Field{
		Sub("ff_parent", &LuFid, "the file; the version is the stripe"),
		U64("ff_objid", Harmless, "object id"),
		U64("ff_seq", Harmless, Hex, "object sequence"),
	}}

var filterFid24 = &Struct{Name: "filter_fid_24_29", Order: Little,
	Doc: "to which file an object belongs, as releases from 2.4 to 2.9 stored it", Fields: []*Field{
		Sub("ff_parent", &LuFid, "the file; the version is the stripe"),
	}}

var filterFid210 = &Struct{Name: "filter_fid_210", Order: Little,
	Doc: "to which file an object belongs, as release 2.10 stored it", Fields: []*Field{
		Sub("ff_parent", &LuFid, "the file; the version is the stripe"),
		Sub("ff_layout", &ostLayout, "place in the layout"),
	}}

var filterFid = &Struct{Name: "filter_fid", Order: Little, Doc: "to which file an object belongs", Fields: []*Field{
	Sub("ff_parent", &LuFid, "the file; the version is the stripe"),
	Sub("ff_layout", &ostLayout, "place in the layout"),
	U32("ff_layout_version", Harmless, "version of the layout"),
	U32("ff_range", Harmless, "versions of the layout with which the object may be written"),
}}

var (
	formFilter    = Sub("filter_fid", &filterFid)
	formFilter18  = Sub("filter_fid_18_23", &filterFid18)
	formFilter24  = Sub("filter_fid_24_29", &filterFid24)
	formFilter210 = Sub("filter_fid_210", &filterFid210)
	filterForms   = []*Field{formFilter, formFilter18, formFilter24, formFilter210}
)

// filterForm returns the form of trusted.fid, by its length.
func filterForm(value []byte) *Field {
	for _, f := range filterForms {
		if len(value) == f.Size {
			return f
		}
	}
	return formFilter
}
