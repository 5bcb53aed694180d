package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// obdDqinfo is struct obd_dqinfo.
var obdDqinfo = Define("obd_dqinfo", "grace times of a kind of quota",
	U64("dqi_bgrace", Duration, "how long blocks may be above the soft limit"),
	U64("dqi_igrace", Duration, "how long inodes may be above the soft limit"),
	U32("dqi_flags", "flags of the kind of quota"),
	U32("dqi_valid", "which grace times are meant: 1 blocks, 2 inodes, 4 the flags"),
)

// obdDqblk is struct obd_dqblk.
var obdDqblk = Define("obd_dqblk", "limits and usage of an id; block limits count KiB, the usage bytes",
	U64("dqb_bhardlimit", When("dqb_valid", "BLIMITS"), Anyway(listsIDs), Remark(iterMeans("continue here: metadata offset")), "hard limit of blocks, KiB"),
	U64("dqb_bsoftlimit", When("dqb_valid", "BLIMITS", "BSOFTLIMIT"), Anyway(listsIDs), Remark(iterMeans("bytes used in the first half of quota_iter")), "soft limit of blocks, KiB"),
	U64("dqb_curspace", When("dqb_valid", "SPACE"), Size, Unless(listsIDs), "bytes in use"),
	U64("dqb_ihardlimit", When("dqb_valid", "ILIMITS"), Anyway(listsIDs), Remark(iterMeans("continue here: data offset")), "hard limit of inodes"),
	U64("dqb_isoftlimit", When("dqb_valid", "ILIMITS", "ISOFTLIMIT"), Anyway(listsIDs), Remark(iterMeans("bytes used in the second half of quota_iter")), "soft limit of inodes"),
	U64("dqb_curinodes", When("dqb_valid", "INODES"), Anyway(listsIDs), Remark(iterMeans("first id")), "inodes in use"),
	U64("dqb_btime", When("dqb_valid", "BTIME"), Anyway(listsIDs), Seconds, Remark(graceText), "end of the grace time of blocks; the top 16 bits are flags"),
	U64("dqb_itime", When("dqb_valid", "ITIME"), Anyway(listsIDs), Seconds, Remark(graceText), "end of the grace time of inodes; the top 16 bits are flags"),
	dqbValid,
	Pad("dqb_padding", 4),
)

var dqbValid = U32("dqb_valid", QuotaValid, "which limits, usage and times are meant")

var _ = Define("lqa_id_range", "ids that a quota allocation area holds",
	Since("2.18"),
	U32("lir_start", "first id"),
	U32("lir_end", "last id"),
)

// lquotaId is union lquota_id. The kind of quota is not in it.
var lquotaId = Define("lquota_id", "whose quota: an id, or a FID",
	Sub("qid_fid", luFid, If(func(v *View) bool { return quotaIDForm(v) == "" })),
	U64("qid_uid", Over("qid_fid"), If(func(v *View) bool { return quotaIDForm(v) == "uid" }), "user"),
	U64("qid_gid", Over("qid_fid"), If(func(v *View) bool { return quotaIDForm(v) == "gid" }), "group"),
	U64("qid_projid", Over("qid_fid"), If(func(v *View) bool { return quotaIDForm(v) == "projid" }), "project"),
)

var (
	qcCmd    = U32("qc_cmd", QuotaCmd, "what to do")
	qcType   = U32("qc_type", QuotaType, "user, group or project quota")
	qcID     = U32("qc_id", "the user, group or project; of some commands the index of a target")
	qcDqinfo = Sub("qc_dqinfo", obdDqinfo, "grace times, for the INFO commands")
	qcDqblk  = Sub("qc_dqblk", obdDqblk, "limits and usage; ITERQUOTA uses the fields for other things")
)

// obdQuotactl is struct obd_quotactl.
var obdQuotactl = Define("obd_quotactl", "a quota command and its answer",
	qcCmd, qcType, qcID,
	U32("qc_stat", "which kinds of quota are on"),
	qcDqinfo, qcDqblk,
	Str("qc_poolname", 0, Since("2.15"), "pool or area the command is for, 16 bytes when it is there"),
)

// quotaIterGlb is an item of a quota_iter buffer: limits.
var quotaIterGlb = Define("quota_iter_glb", "limits of one id",
	U64("id", "user, group or project"),
	Sub("rec", lquotaGlbRec),
)

// quotaIterAcct is an item of a quota_iter buffer: usage.
var quotaIterAcct = Define("quota_iter_acct", "usage of one id",
	U64("id", "user, group or project"),
	Sub("rec", lquotaAcctRec),
)

// quotaIterLimits is a buffer quota_iter with limits: inodes in the first
// half, blocks in the second.
var quotaIterLimits = Define("quota_iter_limits", "limits of many ids",
	Arr("metadata", -1, Sub("", quotaIterGlb), CountOf(iterMetadata), "limits of inodes"),
	unused("unused", func(v *View) int { return iterHalf(v) - iterMetadata(v)*iterGlbSize }),
	Arr("data", -1, Sub("", quotaIterGlb), CountOf(iterData), "limits of blocks"),
	unused("unused2", nil),
)

// quotaIterUsage is a buffer quota_iter with usage.
var quotaIterUsage = Define("quota_iter_usage", "usage of many ids",
	Arr("entries", -1, Sub("", quotaIterAcct), CountOf(iterUsage), "space and inodes in use"),
	unused("unused", nil),
)

// unused is a part of a buffer behind what is meant.
func unused(name string, size CountOf) *Field {
	f := Opaque(name, 0, size)
	f.Pad = true
	return f
}

// qbFid comes before the id in a quota_body and says which kind of quota the
// id is of.
var qbFid = Sub("qb_fid", luFid, "request: the global index; answer to a QUOTA_CONN: the slave's index")

// quotaBody is struct quota_body.
var quotaBody = Define("quota_body", "what a quota slave asks of the master, and gets",
	qbFid,
	Sub("qb_id", lquotaId, "whose quota"),
	U32("qb_flags", QuotaDqacqFlags, "acquire, release or report"),
	Pad("qb_padding", 4),
	U64("qb_count", "how much to acquire or release, KiB or inodes; in the answer how much was"),
	U64("qb_usage", "what is in use now; in the answer the unit in which quota is handed out"),
	U64("qb_slv_ver", Cookie, "version of the slave's index"),
	Sub("qb_lockh", lustreHandle, "the slave's lock of the id"),
	Sub("qb_glb_lockh", lustreHandle, "the slave's lock of the global index"),
	U64("qb_glb_ver", Cookie, Since("2.18"), "version of the global index"),
	Pads("qb_padding1", 3, 8, "at offset 80 in 2.12"),
)

// lquotaAcctRec is struct lquota_acct_rec.
var lquotaAcctRec = Define("lquota_acct_rec", "usage of an id",
	U64("bspace", Size, "bytes"),
	U64("ispace", "inodes"),
)

// lquotaGlbRec is struct lquota_glb_rec.
var lquotaGlbRec = Define("lquota_glb_rec", "limits of an id, in KiB or inodes",
	U64("qbr_hardlimit", "hard limit"),
	U64("qbr_softlimit", "soft limit"),
	U64("qbr_time", Remark(graceText), "end of the grace time, or its length in the record of id 0; the top 16 bits are flags"),
	U64("qbr_granted", "handed out to slaves"),
)

// lquotaSlvRec is struct lquota_slv_rec.
var lquotaSlvRec = Define("lquota_slv_rec", "what a slave has of an id",
	U64("qsr_granted", "handed out to the slave, in KiB or inodes"),
)

// ldlmGlLquotaDesc is struct ldlm_gl_lquota_desc.
var ldlmGlLquotaDesc = Define("ldlm_gl_lquota_desc", "what the quota master tells a slave: new limits, or an id's state",
	Sub("gl_id", lquotaId, "whose quota"),
	U64("gl_flags", QuotaGlimpseFlags, "state of the id"),
	U64("gl_ver", Cookie, "version of the global index"),
	U64("gl_hardlimit", "hard limit, KiB or inodes; in the lock of an id its unit"),
	U64("gl_softlimit", "soft limit, KiB or inodes"),
	U64("gl_time", Remark(graceText), "end of the grace time; the top 16 bits are flags"),
	Pad("gl_pad2", 8),
)

// lquotaLvb is struct lquota_lvb.
var lquotaLvb = Define("lquota_lvb", "state of an id's quota, in its lock",
	U64("lvb_flags", QuotaGlimpseFlags, "state of the id"),
	U64("lvb_id_may_rel", "what the slave could give back"),
	U64("lvb_id_rel", "what the slave gives back"),
	U64("lvb_id_qunit", "unit in which quota is handed out"),
	Pad("lvb_pad1", 8),
)
