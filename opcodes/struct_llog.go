package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// llogLogid is struct llog_logid.
var llogLogid = Define("llog_logid", "name of a log: the object that holds it",
	Sub("lgl_oi", ostId, OSTIDPlain, "object id and sequence; never a FID, whatever the numbers"),
	U32("lgl_ogen", "generation of the object; zero but for very old logs"),
)

// llogCatid is struct llog_catid.
var llogCatid = Define("llog_catid", "entry of a target's list of catalogs",
	Sub("lci_logid", llogLogid, "the catalog"),
	Pad("lci_padding1", 4),
	Pad("lci_padding2", 4),
	Pad("lci_padding3", 4),
)

// llogRecHdr is struct llog_rec_hdr.
var llogRecHdr = Define("llog_rec_hdr", "what each record of a log begins with", Detect(llogBig),
	U32("lrh_len", Size, "bytes of the record with header and tail"),
	U32("lrh_index", "number of the record in its log"),
	U32("lrh_type", LlogRecType, "kind of record; tells the byte order of the log too"),
	U32("lrh_id", "for the record's own use"),
)

// llogRecTail is struct llog_rec_tail.
var llogRecTail = Define("llog_rec_tail", "what each record of a log ends with: the header's words again",
	U32("lrt_len", Size, "bytes of the record"),
	U32("lrt_index", "number of the record in its log"),
)

var (
	lrhLen  = llogRecHdr.Field("lrh_len")
	lrhType = llogRecHdr.Field("lrh_type")
)

// llogLogidRec is struct llog_logid_rec.
var llogLogidRec = Define("llog_logid_rec", "record of a catalog: names a plain log", Detect(llogBig),
	Sub("lid_hdr", llogRecHdr),
	Sub("lid_id", llogLogid, "the plain log"),
	Pad("lid_padding1", 4),
	Pad("lid_padding2", 8),
	Pad("lid_padding3", 8),
	Sub("lid_tail", llogRecTail),
)

// llogUnlinkRec is struct llog_unlink_rec.
var llogUnlinkRec = Define("llog_unlink_rec", "OST object to destroy, as old releases logged it", Detect(llogBig),
	Sub("lur_hdr", llogRecHdr),
	U64("lur_oid", "object id"),
	U32("lur_oseq", "sequence of the object"),
	U32("lur_count", "objects that follow it"),
	Sub("lur_tail", llogRecTail),
)

// llogUnlink64Rec is struct llog_unlink64_rec.
var llogUnlink64Rec = Define("llog_unlink64_rec", "OST object to destroy", Detect(llogBig),
	Sub("lur_hdr", llogRecHdr),
	Sub("lur_fid", luFid, "the object"),
	U32("lur_count", "objects that follow it"),
	Pad("lur_padding1", 4),
	Pad("lur_padding2", 8),
	Pad("lur_padding3", 8),
	Sub("lur_tail", llogRecTail),
)

// llogSetattr64Rec is struct llog_setattr64_rec.
var llogSetattr64Rec = Define("llog_setattr64_rec", "new owner of an OST object", Detect(llogBig),
	Sub("lsr_hdr", llogRecHdr),
	Sub("lsr_oi", ostId, "the object"),
	U32("lsr_uid"),
	U32("lsr_uid_h", "unused upper half"),
	U32("lsr_gid"),
	U32("lsr_gid_h", "unused upper half"),
	U64("lsr_valid", ObdMdValid, "which attributes change"),
	Sub("lsr_tail", llogRecTail),
)

// llogSetattr64RecV2 is struct llog_setattr64_rec_v2.
var llogSetattr64RecV2 = Define("llog_setattr64_rec_v2", "new owner, project or layout version of an OST object",
	Detect(llogBig),
	Sub("lsr_hdr", llogRecHdr),
	Sub("lsr_oi", ostId, "the object"),
	U32("lsr_uid"),
	U32("lsr_uid_h", "unused upper half"),
	U32("lsr_gid"),
	U32("lsr_gid_h", "unused upper half"),
	U64("lsr_valid", ObdMdValid, "which attributes change"),
	U32("lsr_projid", "project"),
	U32("lsr_layout_version", "layout version that later writes must have"),
	Pad("lsr_padding2", 8),
	Pad("lsr_padding3", 8),
	Sub("lsr_tail", llogRecTail),
)

// llogSizeChangeRec is struct llog_size_change_rec.
var llogSizeChangeRec = Define("llog_size_change_rec", "file whose size changed without the MDT; old releases",
	Detect(llogBig),
	Sub("lsc_hdr", llogRecHdr),
	Sub("lsc_fid", llFid, "the file"),
	U32("lsc_ioepoch", "epoch of the writes"),
	Pad("lsc_padding1", 4),
	Pad("lsc_padding2", 8),
	Pad("lsc_padding3", 8),
	Sub("lsc_tail", llogRecTail),
)

// llogAgentReqRec is struct llog_agent_req_rec.
var llogAgentReqRec = Define("llog_agent_req_rec", "HSM request that the coordinator keeps", Detect(llogBig),
	Sub("arr_hdr", llogRecHdr),
	U32("arr_status", HsmAgentReqStatus, "how far it is"),
	U32("arr_archive_id", "archive it is for; 0: any"),
	U64("arr_flags", HsmRequestFlags, "as asked for"),
	U64("arr_compound_id", Cookie, "requests that came together share it"),
	U64("arr_req_create", Seconds, "when it came"),
	U64("arr_req_change", Seconds, "when its status last changed"),
	Sub("arr_hai", hsmActionItem, "what to do"),
	Pad("arr_padding", 0, CountOf(beforeTail), Floats(true)),
	Sub("arr_tail", llogRecTail),
)

// llogGen is struct llog_gen.
var llogGen = Define("llog_gen", "generation of the connection between log writer and reader",
	U64("mnt_cnt", "mounts"),
	U64("conn_cnt", "connects"),
)

// llogGenRec is struct llog_gen_rec.
var llogGenRec = Define("llog_gen_rec", "marks a generation in a log", Detect(llogBig),
	Sub("lgr_hdr", llogRecHdr),
	Sub("lgr_gen", llogGen),
	Pad("padding1", 8),
	Pad("padding2", 8),
	Pad("padding3", 8),
	Sub("lgr_tail", llogRecTail),
)

// llogPadRec fills a block up: no record may lie across its end.
var llogPadRec = Define("llog_pad_rec", "fills the rest of a block", Detect(llogBig),
	Sub("pad_hdr", llogRecHdr),
	Pad("pad_fill", 0, CountOf(beforeTail)),
	Sub("pad_tail", llogRecTail),
)

// llogOtherRec is a record of a type that is not known.
var llogOtherRec = Define("llog_other_rec", "record of a type that is not known", Detect(llogBig),
	Sub("hdr", llogRecHdr),
	Opaque("body", 0, CountOf(beforeTail)),
	Sub("tail", llogRecTail),
)

// llogLogHdr is struct llog_log_hdr.
var llogLogHdr = Define("llog_log_hdr", "first block of a log", Detect(llogBig),
	Sub("llh_hdr", llogRecHdr),
	S64("llh_timestamp", Seconds, "when the log was made"),
	U32("llh_count", "records in use, this header among them"),
	U32("llh_bitmap_offset", "where the bitmap begins"),
	U32("llh_size", Size, "bytes of a record, where all are alike"),
	U32("llh_flags", LlogFlags, "kind of log, and what its changelog records carry"),
	U32("llh_cat_idx", "of a plain log: its place in the catalog; of a catalog: its first log"),
	Sub("llh_tgtuuid", obdUuid, "target that the log is of"),
	Pads("llh_reserved", 1, 4),
	Says("llh_used", usedIndices, "indices that the bitmap has set"),
	Arr("llh_bitmap", 2024, U32("", Hex), "a bit for each index that is in use"),
	Sub("llh_tail", llogRecTail),
)

// llogCookie is struct llog_cookie.
var llogCookie = Define("llog_cookie", "names a record of a log, so that it can be cancelled",
	Sub("lgc_lgl", llogLogid, "the log"),
	U64("lgc_offset", Over("lgc_lgl"), If(never), "another use of the same bytes"),
	U32("lgc_subsys", At(24), LlogCtxt, "what the log is for"),
	U32("lgc_index", "the record"),
	Pad("lgc_padding", 4),
)

// llogdBody is struct llogd_body.
var llogdBody = Define("llogd_body", "which log, and where in it",
	Sub("lgd_logid", llogLogid, "the log; zero in a request that opens one by name"),
	U32("lgd_ctxt_idx", LlogCtxt, "what the log is for"),
	U32("lgd_llh_flags", LlogFlags, "kind of log"),
	U32("lgd_index", "record that is wanted"),
	U32("lgd_saved_index", "last record before the block; the server moves it on"),
	U32("lgd_len", Size, "bytes of the block"),
	U64("lgd_cur_offset", Size, "where the block begins in the log; the server moves it on"),
)

var _ = Define("llogd_conn_body", "connects the two ends of a log; no longer sent",
	Sub("lgdc_gen", llogGen),
	Sub("lgdc_logid", llogLogid),
	U32("lgdc_ctxt_idx", LlogCtxt),
)

// llogUpdateRecord is struct llog_update_record.
var llogUpdateRecord = Define("llog_update_record", "distributed operation, kept until all MDTs have done their part",
	Detect(llogBig),
	Sub("lur_hdr", llogRecHdr),
	Sub("lur_update_rec", updateRecords),
	Pad("lur_padding", 0, CountOf(beforeTail), Floats(true)),
	Sub("lur_tail", llogRecTail),
)
