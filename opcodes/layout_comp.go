package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

var LovCompEntryFlags = Bits("lov_comp_entry_flags", "LCME_FL_", "state of a component", []Value{
	{Name: "STALE", Value: 0x1, Doc: "its data is out of date"},
	{Name: "PREF_RD", Value: 0x2, Doc: "preferred for reading"},
	{Name: "PREF_WR", Value: 0x4, Doc: "preferred for writing"},
	{Name: "PREF_RW", Value: 0x6, Alias: true},
	{Name: "OFFLINE", Value: 0x8, Doc: "cannot be reached"},
	{Name: "INIT", Value: 0x10, Doc: "has its objects"},
	{Name: "NOSYNC", Value: 0x20, Doc: "a resync leaves it out"},
	{Name: "LCME_MIRROR_FLAGS", Value: 0x20, Alias: true, NoPrefix: true},
	{Name: "EXTENSION", Value: 0x40, Since: "2.15", Doc: "space that the component before it may grow into"},
	{Name: "PARITY", Value: 0x80, Since: "2.16", Doc: "holds parity"},
	{Name: "LCME_USER_COMP_FLAGS", Value: 0xe6, Since: "2.15", Alias: true, NoPrefix: true},
	{Name: "COMPRESS", Value: 0x100, Since: "2.16", Doc: "compressed"},
	{Name: "PARTIAL", Value: 0x200, Since: "2.16", Doc: "parts of it are compressed"},
	{Name: "NOCOMPR", Value: 0x400, Since: "2.16", Doc: "never compressed"},
	{Name: "LCME_USER_MIRROR_FLAGS", Value: 0x406, Since: "2.15", Alias: true, NoPrefix: true},
	{Name: "LCME_TEMPLATE_FLAGS", Value: 0x4e6, Alias: true, NoPrefix: true},
	{Name: "IS_LINK_ID", Value: 0x40000000, Since: "2.18", Doc: "the mirror link id is valid"},
	{Name: "LCME_CL_COMP_FLAGS", Value: 0x400004c6, Since: "2.15", Alias: true, NoPrefix: true},
	{Name: "NEG", Value: 0x80000000, Doc: "clear the flags named"},
	{Name: "LCME_KNOWN_FLAGS", Value: 0xc00004f7, Alias: true, NoPrefix: true},
})

var LovCompMdFlags = Enum("lov_comp_md_flags", "LCM_FL_", "state of the mirrors of a file", []Value{
	{Name: "NONE", Value: 0x0, Doc: "no mirrors"},
	{Name: "RDONLY", Value: 0x1, Doc: "all mirrors are the same"},
	{Name: "WRITE_PENDING", Value: 0x2, Doc: "written to: others go stale"},
	{Name: "SYNC_PENDING", Value: 0x3, Doc: "stale mirrors are being brought up to date"},
	{Name: "PCC_RDONLY", Value: 0x8, Since: "2.15", Doc: "cached read-only on clients"},
	{Name: "FLR_MASK", Value: 0xb, Doc: "the bits of the state", Alias: true},
})

var luExtent = &Struct{Name: "lu_extent", Doc: "a range of a file", Fields: []*Field{
	U64("e_start", Size, "its first byte"),
	U64("e_end", Size, "the byte behind it"),
}}

var (
	extentStart = luExtent.Field("e_start")
	extentEnd   = luExtent.Field("e_end")
)

// The fields of a component that functions in its declaration read.
var (
	lcmeFlags  = U32("lcme_flags", &LovCompEntryFlags, "its state")
	lcmeExtent = Sub("lcme_extent", &luExtent, "the range")
	lcmeOffset = U32("lcme_offset", Harmless, "where its layout begins, from the start of lov_comp_md_v1")
	lcmeSize   = U32("lcme_size", Size, "bytes of its layout")
)

var lovCompMdEntryV1 = &Struct{Name: "lov_comp_md_entry_v1", Summarize: briefComponent,
	Doc: "a component: a range of the file with a layout of its own", Fields: []*Field{
		U32("lcme_id", Harmless, Remark(func(v *View, dst []byte) []byte {
			if v.Value != 0 && v.Value < 0x80000000 {
				return strconv.AppendUint(append(dst, "mirror "...), v.Value>>16, 10)
			}
			return dst
		}), "its number; the high half is that of the mirror"),
		lcmeFlags,
		lcmeExtent,
		lcmeOffset,
		lcmeSize,
		U32("lcme_layout_gen", Harmless, "generation of its layout"),
		U64("lcme_time_and_id", Harmless, Since("2.18"), If(never), "the time and the mirror link id in one word"),
		U48("lcme_timestamp", Over("lcme_time_and_id"), Time, "when it went stale; 8 bytes before 2.18"),
		U16("lcme_mirror_link_id", Harmless, At(42), Since("2.18"), "mirror that a parity mirror belongs to, or the other way round"),
		U8("lcme_dstripe_count", Harmless, Since("2.16"), "erasure coding: data stripes in a group"),
		U8("lcme_cstripe_count", Harmless, Since("2.16"), "erasure coding: parity stripes in a group"),
		U8("lcme_compr_type", Harmless, Since("2.16"), "compression: algorithm"),
		U8("lcme_compr_lvl", Harmless, Since("2.16"), Remark(func(v *View, dst []byte) []byte {
			n := v.Value
			if n == 0 {
				return dst
			}
			dst = strconv.AppendUint(append(dst, "level "...), n&15, 10)
			return strconv.AppendUint(append(dst, ", chunks of "...), 65536<<(n>>4), 10)
		}), "compression: level in the low nibble, chunk size in the high one"),
		U8("lcme_compr_chunk_lum_bits", Harmless, Over("lcme_compr_lvl"), Since("2.18"), If(never), "compression: chunk size, 64 KiB shifted left by "+
			"the high nibble; named lcme_compr_chunk_log_bits up to 2.17"),
		OneOf("layout", func(v *View) *Field { return plainForm(v.Rest, userWrote(v.Msg)) }, componentForms, Tagged(true), Locate(layoutOfEntry),
			"its layout, at lcme_offset"),
	}}

// layoutOfEntry locates the layout of a component. Layouts follow in
// the order of their entries; one that reaches back over others is none.
func layoutOfEntry(v *View) (off, size int) {
	if v.Up == nil || v.Up.Type == nil || len(v.Struct) < v.Type.Size || len(v.Up.Struct) < v.Up.Type.Size {
		return 0, 0
	}
	header, entry := v.Up.Type.Size, v.Type.Size
	off, size = layoutRange(v.Struct, v.Big)
	least := header + int(v.Up.Uint(lcmEntryCount))*entry
	if before := v.Off - v.Up.Off - entry; before >= header && before+entry <= len(v.Up.Struct) {
		at, n := layoutRange(v.Up.Struct[before:], v.Up.Big)
		least = max(least, at+n)
	}
	// What was read of the others ends at Reach; an empty one between two may
	// not hide the first.
	if off < max(least, v.Up.LocatedEnd-v.Up.Off) {
		return 0, 0
	}
	return v.Up.Off + off, size
}

func layoutRange(entry []byte, big bool) (off, size int) {
	return int(lcmeOffset.Uint(entry, big)), int(lcmeSize.Uint(entry, big))
}

// The fields of a composite layout that functions in its declaration read.
var (
	lcmFlags       = U16("lcm_flags", &LovCompMdFlags, "state of the mirrors")
	lcmEntryCount  = U16("lcm_entry_count", Harmless, "number of components")
	lcmMirrorCount = U16("lcm_mirror_count", Harmless, Remark(func(v *View, dst []byte) []byte {
		return briefCount(dst, "mirror", int32(v.Value)+1)
	}), "number of mirrors less one")
)

var (
	compInit      = LovCompEntryFlags.Bit("INIT")
	compExtension = LovCompEntryFlags.Bit("EXTENSION")
)

var lovCompMdV1 = &Struct{Name: "lov_comp_md_v1", Detect: littleLayout, Summarize: briefComposite,
	Doc: "composite layout: components for ranges of the file, perhaps in several mirrors", Fields: []*Field{
		U32("lcm_magic", Hex, &LovMagic, "kind of layout"),
		U32("lcm_size", Size, "bytes of the whole"),
		U32("lcm_layout_gen", Harmless, "generation of the layout"),
		lcmFlags,
		lcmEntryCount,
		lcmMirrorCount,
		U8("lcm_ec_count", Harmless, Since("2.16"), "number of parity mirrors"),
		Pad("lcm_padding3", 1, Since("2.16")),
		Pads("lcm_padding1", 2, 2),
		Pad("lcm_padding2", 8),
		Subs("lcm_entries", -1, &lovCompMdEntryV1, CountBy("lcm_entry_count"), "the components"),
	}}

func componentFlags(v *View) (flags uint64, ok bool) {
	if v.Up == nil || v.Up.Type == nil || v.Up.Type.Name != "lov_comp_md_entry_v1" || len(v.Up.Struct) < lcmeFlags.Off+lcmeFlags.Size {
		return 0, false
	}
	return v.Up.Uint(lcmeFlags), true
}

func noObjectsYet(v *View) bool {
	flags, ok := componentFlags(v)
	return ok && flags&compInit == 0
}

// appendRange appends [start, end), with EOF for all ones.
func appendRange(dst []byte, start, end uint64) []byte {
	dst = strconv.AppendUint(append(dst, '['), start, 10)
	dst = append(dst, ", "...)
	if end == ^uint64(0) {
		return append(dst, "EOF)"...)
	}
	return append(strconv.AppendUint(dst, end, 10), ')')
}

func briefComponent(v *View, dst []byte) []byte {
	extent := lcmeExtent.Bytes(v.Struct)
	if extent == nil {
		return dst
	}
	dst = appendRange(dst, extentStart.Uint(extent, v.Big), extentEnd.Uint(extent, v.Big))
	if flags := v.Uint(lcmeFlags); flags != 0 {
		dst = append(dst, ", "...)
		dst = briefFlags(dst, LovCompEntryFlags, flags)
	}
	return dst
}

func briefComposite(v *View, dst []byte) []byte {
	if len(v.Struct) < lcmMirrorCount.Off+lcmMirrorCount.Size {
		return dst
	}
	dst = briefCount(dst, "component", int32(v.Uint(lcmEntryCount)))
	if mirrors := v.Uint(lcmMirrorCount) + 1; mirrors > 1 {
		dst = append(dst, ", "...)
		dst = briefCount(dst, "mirror", int32(mirrors))
		if state := LovCompMdFlags.Name(v.Uint(lcmFlags)); state != "" {
			dst = append(append(dst, ", "...), state...)
		}
	}
	return dst
}

// extensionUnit is what the stripe size of an extension counts in.
const extensionUnit = 1024

func remarkExtensionSize(v *View, dst []byte) []byte {
	if flags, ok := componentFlags(v); ok && flags&compExtension != 0 {
		return strconv.AppendUint(append(dst, "extension_size "...), v.Value*extensionUnit, 10)
	}
	return dst
}
