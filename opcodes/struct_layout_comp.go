package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// lovCompMdEntryV1 is struct lov_comp_md_entry_v1.
var lovCompMdEntryV1 = Define("lov_comp_md_entry_v1",
	"a component: a range of the file with a layout of its own",
	Brief(briefComponent),
	U32("lcme_id", Remark(remarkMirror), "its number; the high half is that of the mirror"),
	U32("lcme_flags", LovCompEntryFlags, "its state"),
	Sub("lcme_extent", luExtent, "the range"),
	U32("lcme_offset", "where its layout begins, from the start of lov_comp_md_v1"),
	U32("lcme_size", Size, "bytes of its layout"),
	U32("lcme_layout_gen", "generation of its layout"),
	U64("lcme_time_and_id", Since("2.18"), If(never), "the time and the mirror link id in one word"),
	U48("lcme_timestamp", Over("lcme_time_and_id"), Seconds, "when it went stale; 8 bytes before 2.18"),
	U16("lcme_mirror_link_id", At(42), Since("2.18"), "mirror that a parity mirror belongs to, or the other way round"),
	U8("lcme_dstripe_count", Since("2.16"), "erasure coding: data stripes in a group"),
	U8("lcme_cstripe_count", Since("2.16"), "erasure coding: parity stripes in a group"),
	U8("lcme_compr_type", Since("2.16"), "compression: algorithm"),
	U8("lcme_compr_lvl", Since("2.16"), Remark(remarkCompression), "compression: level in the low nibble, chunk size in the high one"),
	U8("lcme_compr_chunk_lum_bits", Over("lcme_compr_lvl"), Since("2.18"), If(never), "compression: chunk size, 64 KiB shifted left by the high nibble; named lcme_compr_chunk_log_bits up to 2.17"),
	componentLayout(),
)

// componentLayout is the layout of a component. It lies behind all entries.
func componentLayout() *Field {
	return OneOf("layout", chooseComponentLayout, componentForms, Tagged(true), Elsewhere(layoutOfEntry),
		"its layout, which lies at lcme_offset").Rest()
}

const compEntrySize = 48

// Offsets in lov_comp_md_entry_v1 and lov_comp_md_v1 that funcs need before
// those structs are declared.
const (
	atCompFlags  = 4
	atCompStart  = 8
	atCompOffset = 24
	atCompSize   = 28
	atCompCount  = 14
	compHdrSize  = 32
)

// layoutOfEntry says where the layout of a component lies. Layouts stand in
// the order of their entries; one that reaches back over others is none.
func layoutOfEntry(v *View) (off, size int) {
	if v.Up == nil || len(v.Struct) < compEntrySize || len(v.Up.Struct) < compHdrSize {
		return 0, 0
	}
	off, size = layoutRange(v.Struct, v.Big)
	least := compHdrSize + int(le16or(v.Up.Struct[atCompCount:], v.Up.Big))*compEntrySize
	if before := v.Off - v.Up.Off - compEntrySize; before >= compHdrSize && before+compEntrySize <= len(v.Up.Struct) {
		at, n := layoutRange(v.Up.Struct[before:], v.Up.Big)
		least = max(least, at+n)
	}
	// What was read of the others ends at Reach; an empty one between two may
	// not hide the first.
	if off < max(least, v.Up.Reach-v.Up.Off) {
		return 0, 0
	}
	return v.Up.Off + off, size
}

func layoutRange(entry []byte, big bool) (off, size int) {
	return int(ReadUint(entry[atCompOffset:atCompOffset+4], big)), int(ReadUint(entry[atCompSize:atCompSize+4], big))
}

func le16or(b []byte, big bool) uint64 { return ReadUint(b[:2], big) }

// lovCompMdV1 is struct lov_comp_md_v1.
var lovCompMdV1 = Define("lov_comp_md_v1",
	"composite layout: components for ranges of the file, perhaps in several mirrors",
	Detect(littleLayout), Brief(briefComposite),
	U32("lcm_magic", Hex, LovMagic, "kind of layout"),
	U32("lcm_size", Size, "bytes of the whole"),
	U32("lcm_layout_gen", "generation of the layout"),
	U16("lcm_flags", LovCompMdFlags, "state of the mirrors"),
	U16("lcm_entry_count", "number of components"),
	U16("lcm_mirror_count", Remark(remarkMirrors), "number of mirrors less one"),
	U8("lcm_ec_count", Since("2.16"), "number of parity mirrors"),
	Pad("lcm_padding3", 1, Since("2.16")),
	Pads("lcm_padding1", 2, 2),
	Pad("lcm_padding2", 8),
	Arr("lcm_entries", -1, Sub("", lovCompMdEntryV1), CountBy("lcm_entry_count"), "the components"),
)
