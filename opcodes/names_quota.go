package opcodes

// QuotaCmd is the group quota_cmd.
var QuotaCmd = Enum("quota_cmd", "", "", []Value{
	{Name: "LUSTRE_Q_QUOTAON", Value: 0x800002},
	{Name: "LUSTRE_Q_QUOTAOFF", Value: 0x800003},
	{Name: "LUSTRE_Q_GETINFO", Value: 0x800005},
	{Name: "LUSTRE_Q_SETINFO", Value: 0x800006},
	{Name: "LUSTRE_Q_GETQUOTA", Value: 0x800007},
	{Name: "LUSTRE_Q_SETQUOTA", Value: 0x800008},
	{Name: "LUSTRE_Q_INVALIDATE", Value: 0x80000b},
	{Name: "LUSTRE_Q_FINVALIDATE", Value: 0x80000c},
	{Name: "LUSTRE_Q_GETDEFAULT", Value: 0x80000d},
	{Name: "LUSTRE_Q_SETDEFAULT", Value: 0x80000e},
	{Name: "LUSTRE_Q_GETQUOTAPOOL", Value: 0x80000f, Since: "2.15"},
	{Name: "LUSTRE_Q_SETQUOTAPOOL", Value: 0x800010, Since: "2.15"},
	{Name: "LUSTRE_Q_GETINFOPOOL", Value: 0x800011, Since: "2.15"},
	{Name: "LUSTRE_Q_SETINFOPOOL", Value: 0x800012, Since: "2.15"},
	{Name: "LUSTRE_Q_GETDEFAULT_POOL", Value: 0x800013, Since: "2.15"},
	{Name: "LUSTRE_Q_SETDEFAULT_POOL", Value: 0x800014, Since: "2.15"},
	{Name: "LUSTRE_Q_DELETEQID", Value: 0x800015, Since: "2.15"},
	{Name: "LUSTRE_Q_RESETQID", Value: 0x800016, Since: "2.16"},
	{Name: "LUSTRE_Q_ITERQUOTA", Value: 0x800017, Since: "2.16"},
	{Name: "LUSTRE_Q_ITEROQUOTA", Value: 0x800018, Since: "2.16"},
	{Name: "LUSTRE_Q_GETALLQUOTA", Value: 0x800019, Since: "2.16"},
	{Name: "LUSTRE_Q_GETQUOTALQA", Value: 0x80001a, Since: "2.18"},
	{Name: "LUSTRE_Q_SETQUOTALQA", Value: 0x80001b, Since: "2.18"},
	{Name: "LUSTRE_Q_GETINFOLQA", Value: 0x80001c, Since: "2.18"},
	{Name: "LUSTRE_Q_SETINFOLQA", Value: 0x80001d, Since: "2.18"},
	{Name: "Q_QUOTACHECK", Value: 0x800100},
	{Name: "Q_INITQUOTA", Value: 0x800101},
	{Name: "Q_GETOINFO", Value: 0x800102},
	{Name: "Q_GETOQUOTA", Value: 0x800103},
	{Name: "Q_FINVALIDATE", Value: 0x800104},
})

// QuotaCtlIdKind is the group quota_ctl_id_kind.
var QuotaCtlIdKind = Enum("quota_ctl_id_kind", "QC_", "", []Value{
	{Name: "GENERAL", Value: 0x0},
	{Name: "MDTIDX", Value: 0x1},
	{Name: "OSTIDX", Value: 0x2},
	{Name: "UUID", Value: 0x3},
})

// QuotaDqacqFlags is the group quota_dqacq_flags.
var QuotaDqacqFlags = Bits("quota_dqacq_flags", "QUOTA_DQACQ_FL_", "", []Value{
	{Name: "ACQ", Value: 0x1, Doc: "acquire"},
	{Name: "PREACQ", Value: 0x2, Doc: "pre-acquire"},
	{Name: "REL", Value: 0x4, Doc: "release"},
	{Name: "REPORT", Value: 0x8, Doc: "report usage"},
})

// QuotaGlimpseFlags is the group quota_glimpse_flags.
var QuotaGlimpseFlags = Bits("quota_glimpse_flags", "", "", []Value{
	{Name: "LQUOTA_FL_EDQUOT", Value: 0x1, Doc: "id is out of quota"},
})

// QuotaGraceFlags is the group quota_grace_flags.
var QuotaGraceFlags = Bits("quota_grace_flags", "LQUOTA_FLAG_", "", []Value{
	{Name: "DEFAULT", Value: 0x1},
	{Name: "DELETED", Value: 0x2, Since: "2.15"},
	{Name: "RESET", Value: 0x4, Since: "2.16"},
	{Name: "REVOKE", Value: 0x8, Since: "2.16"},
})

// QuotaGrace is the group quota_grace.
var QuotaGrace = Enum("quota_grace", "LQUOTA_GRACE_", "", []Value{
	{Name: "BITS", Value: 0x30},
	{Name: "MAX", Value: 0xffffffffffff},
	{Name: "MASK", Value: 0xffffffffffff, Alias: true},
})

// QuotaType is the group quota_type.
var QuotaType = Enum("quota_type", "", "", []Value{
	{Name: "LQUOTA_TYPE_USR", Value: 0x0},
	{Name: "LQUOTA_TYPE_GRP", Value: 0x1},
	{Name: "LQUOTA_TYPE_PRJ", Value: 0x2},
	{Name: "LQUOTA_TYPE_MAX", Value: 0x3},
	{Name: "ALLQUOTA", Value: 0xff},
})

// QuotaResType is the group quota_res_type.
var QuotaResType = Enum("quota_res_type", "LQUOTA_", "", []Value{
	{Name: "RES_MD", Value: 0x1},
	{Name: "RES_DT", Value: 0x2},
	{Name: "LAST_RES", Value: 0x3},
	{Name: "FIRST_RES", Value: 0x1, Alias: true},
})

// QuotaValid is the group quota_valid.
var QuotaValid = Bits("quota_valid", "QIF_", "", []Value{
	{Name: "BLIMITS", Value: 0x1},
	{Name: "BHARDLIMIT", Value: 0x1, Since: "2.17", Alias: true},
	{Name: "SPACE", Value: 0x2},
	{Name: "IHARDLIMIT", Value: 0x4, Since: "2.17"},
	{Name: "ILIMITS", Value: 0x4, Alias: true},
	{Name: "LIMITS", Value: 0x5, Alias: true},
	{Name: "INODES", Value: 0x8},
	{Name: "USAGE", Value: 0xa, Alias: true},
	{Name: "BTIME", Value: 0x10},
	{Name: "ITIME", Value: 0x20},
	{Name: "TIMES", Value: 0x30, Alias: true},
	{Name: "ALL", Value: 0x3f, Alias: true},
	{Name: "BSOFTLIMIT", Value: 0x400, Since: "2.17"},
	{Name: "ISOFTLIMIT", Value: 0x800, Since: "2.17"},
	{Name: "FILESYSTEM", Value: 0x1000, Since: "2.17"},
	{Name: "ALL_DETAIL", Value: 0x1c3f, Since: "2.17", Alias: true},
})

// LqaCmd is the group lqa_cmd.
var LqaCmd = Enum("lqa_cmd", "LQA_", "", []Value{
	{Name: "NEW", Value: 0x1, Since: "2.18"},
	{Name: "ADD", Value: 0x2, Since: "2.18"},
	{Name: "REM", Value: 0x3, Since: "2.18"},
	{Name: "DEL", Value: 0x4, Since: "2.18"},
	{Name: "LIST", Value: 0x5, Since: "2.18"},
})
