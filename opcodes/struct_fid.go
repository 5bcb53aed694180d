package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// luFid is struct lu_fid.
var luFid = Define("lu_fid", "file identifier, unique in a file system for all time",
	FID,
	U64("f_seq", Cookie, "sequence: who may hand the FID out; small ones are special (group fid_seq)"),
	U32("f_oid", Hex, "number in the sequence"),
	U32("f_ver", Hex, "version; zero"),
)

// ostId is struct ost_id.
var ostId = Define("ost_id", "OST object: an id and a sequence, or a FID",
	OSTID,
	U64("oi_id", "object id"),
	U64("oi_seq", Cookie, "sequence"),
	Sub("oi_fid", luFid, Over("oi_id"), "the same bytes as a FID"),
)

// llFid is struct ll_fid.
var llFid = Define("ll_fid", "file by inode number, before there were FIDs",
	U64("id", "inode number"),
	U32("generation", "inode generation"),
	U32("f_type", Octal, "file type"),
)

var _ = Define("fid_array", "list of FIDs",
	U32("fa_nr", "number of FIDs"),
	Pad("fa_padding0", 4),
	Pad("fa_padding1", 8),
	Arr("fa_fids", -1, Sub("", luFid), CountBy("fa_nr")),
)

// luSeqRange is struct lu_seq_range.
var luSeqRange = Define("lu_seq_range", "range of FID sequences and the target they belong to",
	U64("lsr_start", Cookie, Remark(sequenceRemark), "first sequence"),
	U64("lsr_end", Cookie, "sequence behind the last"),
	U32("lsr_index", "index of the MDT or OST"),
	U32("lsr_flags", SeqRangeType, "what kind of target"),
)

// sequenceRemark names a sequence that is special.
func sequenceRemark(v *View, dst []byte) []byte {
	if len(v.Rest) < 8 {
		return dst
	}
	return append(dst, FidSeq.Name(ReadUint(v.Rest[:8], v.Big))...)
}

// luSeqRangeArray is struct lu_seq_range_array.
var luSeqRangeArray = Define("lu_seq_range_array", "ranges of the FID location database, in little-endian order always",
	Little,
	U32("lsra_count", "number of ranges"),
	Pad("lsra_padding", 4),
	Arr("lsra_lsr", -1, Sub("", luSeqRange), CountBy("lsra_count")),
)

// lustreCapa is struct lustre_capa.
var lustreCapa = Define("lustre_capa", "capability: leave to touch an object; gone since 2.7, its buffers are empty",
	Sub("lc_fid", luFid, "the object"),
	U64("lc_opc", Hex, "operations allowed"),
	U64("lc_uid"),
	U64("lc_gid"),
	U32("lc_flags", Hex),
	U32("lc_keyid", "key it is signed with"),
	U32("lc_timeout", Duration, "how long it is valid"),
	U32("lc_expiry", Seconds, "when it ends"),
	Opaque("lc_hmac", 64, "signature"),
)
