package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// ostLayout is struct ost_layout.
var ostLayout = Define("ost_layout", "where in a file's layout an object belongs",
	U32("ol_stripe_size", Size, "bytes of a stripe"),
	U32("ol_stripe_count", "stripes of the file or component"),
	U64("ol_comp_start", Size, "first byte of the component"),
	U64("ol_comp_end", Size, "end of the component"),
	U32("ol_comp_id", "id of the component, 0 without components"),
)

var _ = Define("filter_fid_18_23", Little, "to which file an object belongs, as releases up to 2.3 stored it",
	Sub("ff_parent", luFid, "the file; the version is the stripe"),
	U64("ff_objid", "object id"),
	U64("ff_seq", Hex, "object sequence"),
)

var _ = Define("filter_fid_24_29", Little, "to which file an object belongs, as releases from 2.4 to 2.9 stored it",
	Sub("ff_parent", luFid, "the file; the version is the stripe"),
)

var _ = Define("filter_fid_210", Little, "to which file an object belongs, as release 2.10 stored it",
	Sub("ff_parent", luFid, "the file; the version is the stripe"),
	Sub("ff_layout", ostLayout, "place in the layout"),
)

// filterFid is struct filter_fid.
var filterFid = Define("filter_fid", Little, "to which file an object belongs",
	Sub("ff_parent", luFid, "the file; the version is the stripe"),
	Sub("ff_layout", ostLayout, "place in the layout"),
	U32("ff_layout_version", "version of the layout"),
	U32("ff_range", "versions of the layout with which the object may be written"),
)

// Ids of objects as summaries show them start here in obd_ioobj and obdo.
const (
	objectInIoobj = 0
	objectInObdo  = 8
)

// obdIoobj is struct obd_ioobj.
var obdIoobj = Define("obd_ioobj", "an object to read or write",
	Sub("ioo_oid", ostId, "the object"),
	U32("ioo_max_brw", Hex, Remark(maxBrwText), "upper half: bulk transfers minus 1; low 4 bits: offset in the page, for direct I/O that is not aligned"),
	iooBufcnt,
)

var iooBufcnt = U32("ioo_bufcnt", "how many of the niobufs are of this object")

// niobufRemote is struct niobuf_remote.
var niobufRemote = Define("niobuf_remote", "a range of an object to read or write",
	rnbOffset, rnbLen,
	U32("rnb_flags", ObdBrwFlags, "how the pages are to be treated"),
)

var (
	rnbOffset = U64("rnb_offset", Size, "first byte")
	rnbLen    = U32("rnb_len", Size, "bytes")
)

// oValid says which fields of an obdo mean something.
var oValid = U64("o_valid", ObdMdValid, "which fields mean something")

// obdo is struct obdo. Several slots have a second meaning, depending on the
// operation; the names of those are the ones in Lustre's sources.
var obdo = Define("obdo", "attributes of an object, and what goes with reads and writes",
	oValid,
	Sub("o_oi", ostId, When("o_valid", "FLID", "FLGROUP"), "the object; with FLGROUP alone its sequence, and in a create the id too"),
	U64("o_parent_seq", Hex, When("o_valid", "FLFID"), Remark(parentText), "sequence of the FID of the file on the MDT"),
	U64("o_size", Size, When("o_valid", "FLSIZE"), Anyway(inSeek), Remark(sizeRole), "size; for punch, sync and fallocate the start, for seek the offset"),
	S64("o_mtime", Seconds, When("o_valid", "FLMTIME"), "modification time"),
	S64("o_atime", Seconds, When("o_valid", "FLATIME"), "access time"),
	S64("o_ctime", Seconds, When("o_valid", "FLCTIME"), "change time"),
	U64("o_blocks", Size, When("o_valid", "FLBLOCKS", "FLGRANT"), Anyway(inFallocate), Remark(blocksRole),
		"512-byte blocks; for punch, sync and fallocate the end; with grants the client's dirty bytes"),
	U64("o_grant", Size, When("o_valid", "FLGRANT"), "grant in bytes: what the client has, in the reply what it gets on top"),
	U32("o_blksize", Size, When("o_valid", "FLBLKSZ"), "block size"),
	U32("o_mode", Octal, When("o_valid", "FLMODE", "FLTYPE"), Unless(asksGrant), "file type and mode"),
	U32("o_undirty", Size, Over("o_mode"), If(asksGrant), "grant in bytes that the client would like"),
	U32("o_whence", SeekWhence, Over("o_mode"), If(inSeek), "what a seek looks for"),
	U32("o_uid", When("o_valid", "FLUID"), "owner; filled for reads and writes without the bit too"),
	U32("o_gid", When("o_valid", "FLGID"), "group; filled for reads and writes without the bit too"),
	U32("o_flags", ObdoFlags, When("o_valid", "FLFLAGS"), "what is special, and the type of the checksum"),
	U32("o_nlink", When("o_valid", "FLNLINK"), Unless(withChecksum), "links"),
	U32("o_cksum", Hex, Over("o_nlink"), If(withChecksum), "checksum of the data"),
	U32("o_falloc_mode", FallocMode, Over("o_nlink"), If(inFallocate), "mode of a fallocate"),
	U32("o_parent_oid", When("o_valid", "FLFID"), "object id of the FID of the file"),
	U32("o_misc", When("o_valid", "FLGRANT", "FLOBJCOUNT"), Remark(miscRole), "with grants the bytes that the client dropped; for a destroy the number of objects"),
	U64("o_ioepoch", "no longer used"),
	U32("o_stripe_idx", When("o_valid", "FLFID"), "stripe of the file that the object is"),
	U32("o_parent_ver", When("o_valid", "FLFID"), "version of the FID of the file"),
	Sub("o_handle", lustreHandle, When("o_valid", "FLHANDLE"), "lock under which the client does it"),
	Sub("o_layout", ostLayout, When("o_valid", "FLOSTLAYOUT"), "place of the object in the layout"),
	U32("o_layout_version", When("o_valid", "LAYOUT_VERSION"), "version of the layout that the client knows"),
	U32("o_uid_h", "no longer used"),
	U32("o_gid_h", "no longer used"),
	U64("o_data_version", Cookie, When("o_valid", "FLDATAVERSION"), Unless(asksGrant), "data version of the object"),
	U64("o_grant_used", Size, Over("o_data_version"), If(asksGrant), "grant in bytes that the client used up"),
	U32("o_projid", When("o_valid", "FLPROJID"), "project"),
	Pad("o_padding_4", 4),
	Pad("o_padding_5", 8),
	Pad("o_padding_6", 8),
)

// ostBody is struct ost_body.
var ostBody = Define("ost_body", "attributes of an object",
	Sub("oa", obdo),
)

// luLadvise is struct lu_ladvise.
var luLadvise = Define("lu_ladvise", "advice on a range of a file",
	U16("lla_advice", Ladvise, "the advice"),
	U16("lla_value1", "by advice; for lock-ahead the lock mode"),
	U32("lla_value2", "flags of this piece of advice, as in lah_flags"),
	U64("lla_start", Size, "first byte"),
	U64("lla_end", Size, "end of the range"),
	U32("lla_value3", "by advice; for lock-ahead its result"),
	U32("lla_value4", "unused"),
)

// ladviseHdr is struct ladvise_hdr.
var ladviseHdr = Define("ladvise_hdr", "how much advice follows",
	U32("lah_magic", Ladvise, "LADVISE_MAGIC"),
	U32("lah_count", "pieces of advice"),
	U64("lah_flags", LadviseFlags, "how to take it"),
	U32("lah_value1", "unused"),
	U32("lah_value2", "unused"),
	U64("lah_value3", "unused"),
	Arr("lah_advise", -1, Sub("", luLadvise), "the advice; on the wire it has a buffer of its own"),
)
