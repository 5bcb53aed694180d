package opcodes

// llogLogid is struct llog_logid.
var llogLogid = Define("llog_logid",
	Sub("lgl_oi", ostId),
	U32("lgl_ogen"),
)

// llogCatid is struct llog_catid.
var llogCatid = Define("llog_catid",
	Sub("lci_logid", llogLogid),
	Pad("lci_padding1", 4),
	Pad("lci_padding2", 4),
	Pad("lci_padding3", 4),
)

// llogRecHdr is struct llog_rec_hdr.
var llogRecHdr = Define("llog_rec_hdr",
	U32("lrh_len"),
	U32("lrh_index"),
	U32("lrh_type", "llog record type; reveals byte order"),
	U32("lrh_id"),
)

// llogRecTail is struct llog_rec_tail.
var llogRecTail = Define("llog_rec_tail",
	U32("lrt_len"),
	U32("lrt_index"),
)

// llogLogidRec is struct llog_logid_rec.
var llogLogidRec = Define("llog_logid_rec",
	Sub("lid_hdr", llogRecHdr),
	Sub("lid_id", llogLogid),
	Pad("lid_padding1", 4),
	Pad("lid_padding2", 8),
	Pad("lid_padding3", 8),
	Sub("lid_tail", llogRecTail),
)

// llogUnlinkRec is struct llog_unlink_rec.
var llogUnlinkRec = Define("llog_unlink_rec",
	Sub("lur_hdr", llogRecHdr),
	U64("lur_oid"),
	U32("lur_oseq"),
	U32("lur_count"),
	Sub("lur_tail", llogRecTail),
)

// llogUnlink64Rec is struct llog_unlink64_rec.
var llogUnlink64Rec = Define("llog_unlink64_rec",
	Sub("lur_hdr", llogRecHdr),
	Sub("lur_fid", luFid),
	U32("lur_count"),
	Pad("lur_padding1", 4),
	Pad("lur_padding2", 8),
	Pad("lur_padding3", 8),
	Sub("lur_tail", llogRecTail),
)

// llogSetattr64Rec is struct llog_setattr64_rec.
var llogSetattr64Rec = Define("llog_setattr64_rec",
	Sub("lsr_hdr", llogRecHdr),
	Sub("lsr_oi", ostId),
	U32("lsr_uid"),
	U32("lsr_uid_h"),
	U32("lsr_gid"),
	U32("lsr_gid_h"),
	U64("lsr_valid"),
	Sub("lsr_tail", llogRecTail),
)

// llogSetattr64RecV2 is struct llog_setattr64_rec_v2.
var llogSetattr64RecV2 = Define("llog_setattr64_rec_v2",
	Sub("lsr_hdr", llogRecHdr),
	Sub("lsr_oi", ostId),
	U32("lsr_uid"),
	U32("lsr_uid_h"),
	U32("lsr_gid"),
	U32("lsr_gid_h"),
	U64("lsr_valid"),
	U32("lsr_projid"),
	U32("lsr_layout_version"),
	Pad("lsr_padding2", 8),
	Pad("lsr_padding3", 8),
	Sub("lsr_tail", llogRecTail),
)

// llogSizeChangeRec is struct llog_size_change_rec.
var llogSizeChangeRec = Define("llog_size_change_rec",
	Sub("lsc_hdr", llogRecHdr),
	Sub("lsc_fid", llFid),
	U32("lsc_ioepoch"),
	Pad("lsc_padding1", 4),
	Pad("lsc_padding2", 8),
	Pad("lsc_padding3", 8),
	Sub("lsc_tail", llogRecTail),
)

// llogChangelogRec is struct llog_changelog_rec.
var llogChangelogRec = Define("llog_changelog_rec",
	Sub("cr_hdr", llogRecHdr),
	Sub("cr", changelogRec),
	Sub("cr_do_not_use", llogRecTail),
)

// llogChangelogUserRec is struct llog_changelog_user_rec.
var llogChangelogUserRec = Define("llog_changelog_user_rec",
	Sub("cur_hdr", llogRecHdr),
	U32("cur_id"),
	U32("cur_time"),
	U64("cur_endrec"),
	Sub("cur_tail", llogRecTail),
)

// llogChangelogUserRec2 is struct llog_changelog_user_rec2.
var llogChangelogUserRec2 = Define("llog_changelog_user_rec2",
	Since("2.15"),
	Sub("cur_hdr", llogRecHdr),
	U32("cur_id"),
	U32("cur_time"),
	U64("cur_endrec"),
	U32("cur_mask"),
	Pad("cur_padding1", 4),
	Str("cur_name", 16),
	Pad("cur_padding2", 8),
	Pad("cur_padding3", 8),
	Sub("cur_tail", llogRecTail),
)

// llogAgentReqRec is struct llog_agent_req_rec.
var llogAgentReqRec = Define("llog_agent_req_rec",
	Sub("arr_hdr", llogRecHdr),
	U32("arr_status"),
	U32("arr_archive_id"),
	U64("arr_flags"),
	U64("arr_compound_id"),
	U64("arr_req_create"),
	U64("arr_req_change"),
	Sub("arr_hai", hsmActionItem),
	Sub("arr_tail", llogRecTail),
)

// llogGen is struct llog_gen.
var llogGen = Define("llog_gen",
	U64("mnt_cnt"),
	U64("conn_cnt"),
)

// llogGenRec is struct llog_gen_rec.
var llogGenRec = Define("llog_gen_rec",
	Sub("lgr_hdr", llogRecHdr),
	Sub("lgr_gen", llogGen),
	Pad("padding1", 8),
	Pad("padding2", 8),
	Pad("padding3", 8),
	Sub("lgr_tail", llogRecTail),
)

// llogLogHdr is struct llog_log_hdr.
var llogLogHdr = Define("llog_log_hdr",
	Sub("llh_hdr", llogRecHdr),
	S64("llh_timestamp"),
	U32("llh_count"),
	U32("llh_bitmap_offset"),
	U32("llh_size"),
	U32("llh_flags", "LLOG_F_*"),
	U32("llh_cat_idx"),
	Sub("llh_tgtuuid", obdUuid),
	Pad("llh_reserved", 4),
	Arr("llh_bitmap", 2024, U32("")),
	Sub("llh_tail", llogRecTail),
)

// llogCookie is struct llog_cookie.
var llogCookie = Define("llog_cookie",
	Sub("lgc_lgl", llogLogid),
	U64("lgc_offset", Over("lgc_lgl")),
	U32("lgc_subsys", At(24)),
	U32("lgc_index"),
	Pad("lgc_padding", 4),
)

// llogdBody is struct llogd_body.
var llogdBody = Define("llogd_body",
	Sub("lgd_logid", llogLogid),
	U32("lgd_ctxt_idx"),
	U32("lgd_llh_flags"),
	U32("lgd_index"),
	U32("lgd_saved_index"),
	U32("lgd_len"),
	U64("lgd_cur_offset"),
)

// llogdConnBody is struct llogd_conn_body.
var llogdConnBody = Define("llogd_conn_body",
	Sub("lgdc_gen", llogGen),
	Sub("lgdc_logid", llogLogid),
	U32("lgdc_ctxt_idx"),
)

// llogUpdateRecord is struct llog_update_record.
var llogUpdateRecord = Define("llog_update_record",
	Sub("lur_hdr", llogRecHdr),
	Sub("lur_update_rec", updateRecords),
)
