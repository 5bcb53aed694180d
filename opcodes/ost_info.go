package opcodes

import (
	"bytes"

	. "github.com/lshark/lshark/opcodes/schema"
)

const (
	OST_GET_INFO = 7
	OST_SET_INFO = 17
)

var FiemapFlags = Bits("fiemap_flags", "FIEMAP_FLAG_", "how to map extents", []Value{
	{Name: "SYNC", Value: 0x1, Doc: "write the file back first"},
	{Name: "XATTR", Value: 0x2, Doc: "map the extended attributes"},
	{Name: "CACHE", Value: 0x4, Doc: "read the extents into the cache"},
	{Name: "DEVICE_ORDER", Value: 0x40000000, Doc: "one target after the other"},
	{Name: "LUSTRE_FIEMAP_FLAGS_COMPAT", Value: 0x40000001, Doc: "what Lustre can do", Alias: true, NoPrefix: true},
})

var FiemapExtentFlags = Bits("fiemap_extent_flags", "FIEMAP_EXTENT_", "what is special about an extent", []Value{
	{Name: "LAST", Value: 0x1, Doc: "the last one"},
	{Name: "UNKNOWN", Value: 0x2, Doc: "where it is is not known"},
	{Name: "DELALLOC", Value: 0x4, Doc: "not allocated yet"},
	{Name: "ENCODED", Value: 0x8, Doc: "encoded"},
	{Name: "DATA_ENCRYPTED", Value: 0x80, Doc: "encrypted"},
	{Name: "NOT_ALIGNED", Value: 0x100, Doc: "not aligned to blocks"},
	{Name: "DATA_INLINE", Value: 0x200, Doc: "with the metadata"},
	{Name: "DATA_TAIL", Value: 0x400, Doc: "several tails share a block"},
	{Name: "UNWRITTEN", Value: 0x800, Doc: "allocated, not written"},
	{Name: "MERGED", Value: 0x1000, Doc: "put together by the file system"},
	{Name: "SHARED", Value: 0x2000, Doc: "shared with other files"},
	{Name: "NO_DIRECT", Value: 0x40000000, Doc: "no direct I/O; gone after 2.12"},
	{Name: "NET", Value: 0x80000000, Doc: "on another node"},
})

var fiemapExtent = &Struct{Name: "fiemap_extent", Doc: "location of one extent of a file", Fields: []*Field{
	U64("fe_logical", Size, "offset in the file or object"),
	U64("fe_physical", Size, "offset on the device"),
	U64("fe_length", Size, "bytes"),
	Pads("fe_reserved64", 2, 8),
	U32("fe_flags", &FiemapExtentFlags, "what is special about the extent"),
	Pads("fe_reserved", 3, 4),
}}

var (
	fmStart  = U64("fm_start", Size, "first byte asked about")
	fmLength = U64("fm_length", Size, "bytes asked about")
	fmMapped = U32("fm_mapped_extents", Harmless, "extents that the answer has, or would have")
)

var fiemapHdr = &Struct{Name: "fiemap", Doc: "locations of the extents of a file", Fields: []*Field{
	fmStart, fmLength,
	U32("fm_flags", &FiemapFlags, "how to map"),
	fmMapped,
	U32("fm_extent_count", Harmless, "room for that many extents"),
	Pad("fm_reserved", 4),
	Subs("fm_extents", -1, &fiemapExtent, CountOf(fiemapExtents), "the extents"),
}}

// fiemapExtents: a request has room for the answer behind its header, with
// nothing in it yet.
func fiemapExtents(v *View) int {
	room := (len(v.Struct) - 32) / 56
	return max(0, min(int(v.Uint(fmMapped)), room))
}

var llFiemapInfoKey = &Struct{Name: "ll_fiemap_info_key", Doc: "requests the locations of the extents of an object", Fields: []*Field{
	Str("lfik_name", 8, Keyword, "the key, \"fiemap\""),
	Sub("lfik_oa", &obdo, "the object"),
	Sub("lfik_fiemap", &fiemapHdr, "the range asked about"),
}}

var (
	bufGetinfoKey = Str("getinfo_key", 0, Keyword, "what is asked for")
	bufFiemap     = Sub("fiemap", &fiemapHdr, "the range, and the extents in the answer")
	bufSetinfoKey = Str("setinfo_key", 0, Keyword, "what is set")
)

var _ = DefineRPC(&RPC{Opcode: OST_GET_INFO, Name: "OST_GET_INFO",
	Doc:       "Asks a target for something by key: the last object id or FID, or the map of an object's extents.",
	Variants:  []*Variant{getLastID, getLastFID, getFiemap, getFid2path, getOther},
	PickBytes: []int{maxKey},
	Pick: func(m *Msg) *Variant {
		key := m.Buf(1)
		switch {
		case hasKey(key, "last_id"):
			return getLastID
		case hasKey(key, "last_fid"):
			return getLastFID
		case hasKey(key, "fiemap"):
			return getFiemap
		case hasKey(key, "fid2path"):
			return getFid2path
		}
		return getOther
	},
	PickReply: func(m *Msg) *Variant {
		switch n := len(m.Buf(1)); {
		case n == 8:
			return getLastID
		case n == 16:
			return getLastFID
		case n >= fiemapHdr.Size && (n-fiemapHdr.Size)%fiemapExtent.Size == 0:
			return getFiemap
		}
		return getOther
	},
})

// maxKey is longer than any key.
const maxKey = 32

// hasKey: keys are compared as far as they go, a NUL behind them is not
// certain.
func hasKey(b []byte, key string) bool {
	return bytes.HasPrefix(b, []byte(key))
}

var (
	getLastID = &Variant{Name: "last_id",
		Request:          Bufs(bufPtlrpcBody, bufGetinfoKey),
		Reply:            Bufs(bufPtlrpcBody, U64("last_id", Harmless, "id of the last object")),
		SummarizeRequest: summarizeKeyRequest,
		SummarizeReply: func(m *Msg, l *Line) {
			if b := m.Buf(1); len(b) >= 8 {
				l.Num(ReadUint(b[:8], m.Big))
			}
		},
	}
	getLastFID = &Variant{Name: "last_fid",
		Request: Bufs(bufPtlrpcBody, bufGetinfoKey, Sub("fid", &LuFid, Little, "an object of the requested sequence; little-endian for every sender")),
		Reply:   Bufs(bufPtlrpcBody, Sub("fid", &LuFid, "the last object")),
		Subject: NoSubject, // the FID is of a sequence
		SummarizeRequest: func(m *Msg, l *Line) {
			l.FID(m.Buf(2), false)
		},
		SummarizeReply: func(m *Msg, l *Line) { l.FID(m.Buf(1), m.Big) },
	}
	getFiemap = &Variant{Name: "fiemap",
		Request: Bufs(bufPtlrpcBody, Sub("fiemap_key", &llFiemapInfoKey, "the key, the object and the range"), bufFiemap),
		Reply:   Bufs(bufPtlrpcBody, bufFiemap),
		SummarizeRequest: func(m *Msg, l *Line) {
			summarizeKeyRequest(m, l)
			l.Key("")
			fiemapKeyAttrs(m).object(l)
			if b := m.Buf(2); len(b) >= fiemapHdr.Size {
				l.Key("from ").Offset(fmStart.Uint(b, m.Big))
				l.Key("length ").Offset(fmLength.Uint(b, m.Big))
			}
		},
		SummarizeReply: func(m *Msg, l *Line) {
			if b := m.Buf(1); len(b) >= fiemapHdr.Size {
				l.Key("extents ").Num(fmMapped.Uint(b, m.Big))
			}
		},
		Subject: func(m *Msg) (fid, name []byte) { return fiemapKeyAttrs(m).file(m.Scratch[:0]), nil },
	}
	getFid2path = &Variant{Name: "fid2path",
		Request:          Bufs(bufPtlrpcBody, bufGetinfoKeyFid2path, bufGetinfoVallen),
		Reply:            Bufs(bufPtlrpcBody, bufGetinfoValFid2path),
		SummarizeRequest: summarizeKeyRequest, SummarizeReply: NoSummary, Subject: fid2pathSubject,
	}
	getOther = &Variant{Name: "other",
		Request:          Bufs(bufPtlrpcBody, bufGetinfoKey),
		Reply:            Bufs(bufPtlrpcBody, Opaque("generic_data", 0, Removed, "the answer")),
		SummarizeRequest: summarizeKeyRequest, SummarizeReply: NoSummary,
	}
)

// fiemapKeyAttrs is the obdo behind the name in a fiemap key.
func fiemapKeyAttrs(m *Msg) attrs {
	b := m.Buf(1)
	if len(b) < llFiemapInfoKey.Size {
		return attrs{nil, m.Big}
	}
	return attrs{b[8:], m.Big}
}

func summarizeKeyRequest(m *Msg, l *Line) { l.Label(Name, m.Buf(1)) }

var _ = DefineRPC(&RPC{Opcode: OST_SET_INFO, Name: "OST_SET_INFO",
	Doc:       "Sets something by key. With grant_shrink a client gives back grant that it does not use.",
	Variants:  []*Variant{setGrantShrink, setOther, setLastFID},
	PickBytes: []int{maxKey},
	Pick: func(m *Msg) *Variant {
		key := m.Buf(1)
		switch {
		case hasKey(key, "grant_shrink"):
			return setGrantShrink
		case hasKey(key, "last_fid"):
			return setLastFID
		}
		return setOther
	},
	PickReply: func(m *Msg) *Variant {
		if len(m.Buf(1)) == ostBody.Size {
			return setGrantShrink
		}
		return setOther
	},
})

var (
	setGrantShrink = &Variant{Name: "grant_shrink",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufOstBody),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Subject: NoSubject, // clients do not fill in the FID
		SummarizeRequest: func(m *Msg, l *Line) {
			summarizeKeyRequest(m, l)
			l.Key("by ").Num(attrsOf(m, 2).word(oGrant))
		},
		SummarizeReply: func(m *Msg, l *Line) { attrsOf(m, 1).grant(l) },
	}
	setOther = &Variant{Name: "other",
		Request:          Bufs(bufPtlrpcBody, bufSetinfoKey, Opaque("setinfo_val", 0, "the value")),
		SummarizeRequest: summarizeKeyRequest,
	}
	setLastFID = setOther.As("last_fid")
)
