package opcodes

// obdDqinfo is struct obd_dqinfo.
var obdDqinfo = Define("obd_dqinfo",
	U64("dqi_bgrace"),
	U64("dqi_igrace"),
	U32("dqi_flags"),
	U32("dqi_valid"),
)

// obdDqblk is struct obd_dqblk.
var obdDqblk = Define("obd_dqblk",
	U64("dqb_bhardlimit"),
	U64("dqb_bsoftlimit"),
	U64("dqb_curspace"),
	U64("dqb_ihardlimit"),
	U64("dqb_isoftlimit"),
	U64("dqb_curinodes"),
	U64("dqb_btime"),
	U64("dqb_itime"),
	U32("dqb_valid"),
	Pad("dqb_padding", 4),
)

// lqaIdRange is struct lqa_id_range.
var lqaIdRange = Define("lqa_id_range",
	Since("2.18"),
	U32("lir_start"),
	U32("lir_end"),
)

// lquotaId is union lquota_id.
var lquotaId = Define("lquota_id",
	Sub("qid_fid", luFid),
	U64("qid_uid", Over("qid_fid")),
	U64("qid_gid", Over("qid_fid")),
	U64("qid_projid", Over("qid_fid")),
)

// obdQuotactl is struct obd_quotactl.
var obdQuotactl = Define("obd_quotactl",
	U32("qc_cmd", "LUSTRE_Q_* or Q_GETOINFO/Q_GETOQUOTA"),
	U32("qc_type"),
	U32("qc_id"),
	U32("qc_stat"),
	Sub("qc_dqinfo", obdDqinfo),
	Sub("qc_dqblk", obdDqblk),
	Str("qc_poolname", 0, Since("2.15"), "16 bytes when present (pool or LQA name)"),
)

// quotaBody is struct quota_body.
var quotaBody = Define("quota_body",
	Sub("qb_fid", luFid, "request: global index FID; IT_QUOTA_CONN reply: slave index FID"),
	Sub("qb_id", lquotaId),
	U32("qb_flags", "QUOTA_DQACQ_FL_*"),
	Pad("qb_padding", 4),
	U64("qb_count"),
	U64("qb_usage", "reply: qunit"),
	U64("qb_slv_ver"),
	Sub("qb_lockh", lustreHandle),
	Sub("qb_glb_lockh", lustreHandle),
	U64("qb_glb_ver", Since("2.18")),
	Pad("qb_padding1", 24, "offset 80 in <=2.12"),
)

// lquotaAcctRec is struct lquota_acct_rec.
var lquotaAcctRec = Define("lquota_acct_rec",
	U64("bspace"),
	U64("ispace"),
)

// lquotaGlbRec is struct lquota_glb_rec.
var lquotaGlbRec = Define("lquota_glb_rec",
	U64("qbr_hardlimit"),
	U64("qbr_softlimit"),
	U64("qbr_time"),
	U64("qbr_granted"),
)

// lquotaSlvRec is struct lquota_slv_rec.
var lquotaSlvRec = Define("lquota_slv_rec",
	U64("qsr_granted"),
)

// ldlmGlLquotaDesc is struct ldlm_gl_lquota_desc.
var ldlmGlLquotaDesc = Define("ldlm_gl_lquota_desc",
	Sub("gl_id", lquotaId),
	U64("gl_flags"),
	U64("gl_ver"),
	U64("gl_hardlimit"),
	U64("gl_softlimit"),
	U64("gl_time"),
	Pad("gl_pad2", 8),
)

// lquotaLvb is struct lquota_lvb.
var lquotaLvb = Define("lquota_lvb",
	U64("lvb_flags"),
	U64("lvb_id_may_rel"),
	U64("lvb_id_rel"),
	U64("lvb_id_qunit"),
	Pad("lvb_pad1", 8),
)
