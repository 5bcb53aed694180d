package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// fiemapExtent is struct fiemap_extent.
var fiemapExtent = Define("fiemap_extent", "where a part of a file lies",
	U64("fe_logical", Size, "offset in the file or object"),
	U64("fe_physical", Size, "offset on the device"),
	U64("fe_length", Size, "bytes"),
	Pads("fe_reserved64", 2, 8),
	U32("fe_flags", FiemapExtentFlags, "what is special about the extent"),
	Pads("fe_reserved", 3, 4),
)

var (
	fmStart  = U64("fm_start", Size, "first byte asked about")
	fmLength = U64("fm_length", Size, "bytes asked about")
	fmMapped = U32("fm_mapped_extents", "extents that the answer has, or would have")
)

// fiemapHdr is struct fiemap.
var fiemapHdr = Define("fiemap", "where the parts of a file lie",
	fmStart, fmLength,
	U32("fm_flags", FiemapFlags, "how to map"),
	fmMapped,
	U32("fm_extent_count", "room for that many extents"),
	Pad("fm_reserved", 4),
	Arr("fm_extents", -1, Sub("", fiemapExtent), CountOf(fiemapExtents), "the extents"),
)

// fiemapExtents: a request has room for the answer behind its header, with
// nothing in it yet.
func fiemapExtents(v *View) int {
	room := (len(v.Struct) - 32) / 56
	return max(0, min(int(v.Uint(fmMapped)), room))
}

// llFiemapInfoKey is struct ll_fiemap_info_key.
var llFiemapInfoKey = Define("ll_fiemap_info_key", "asks where the parts of an object lie",
	Str("lfik_name", 8, "the key, \"fiemap\""),
	Sub("lfik_oa", obdo, "the object"),
	Sub("lfik_fiemap", fiemapHdr, "the range asked about"),
)
