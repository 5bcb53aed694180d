package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// QuotaCmd are the commands of an obd_quotactl.
var QuotaCmd = Enum("quota_cmd", "", "quota command", []Value{
	{Name: "LUSTRE_Q_QUOTAON", Value: 0x800002, Doc: "turn quota on"},
	{Name: "LUSTRE_Q_QUOTAOFF", Value: 0x800003, Doc: "turn quota off"},
	{Name: "LUSTRE_Q_GETINFO", Value: 0x800005, Doc: "get the grace times"},
	{Name: "LUSTRE_Q_SETINFO", Value: 0x800006, Doc: "set the grace times"},
	{Name: "LUSTRE_Q_GETQUOTA", Value: 0x800007, Doc: "get limits and usage of an id"},
	{Name: "LUSTRE_Q_SETQUOTA", Value: 0x800008, Doc: "set the limits of an id"},
	{Name: "LUSTRE_Q_INVALIDATE", Value: 0x80000b, Doc: "drop the limits of all ids, long ago"},
	{Name: "LUSTRE_Q_FINVALIDATE", Value: 0x80000c, Doc: "drop the quota files, long ago"},
	{Name: "LUSTRE_Q_GETDEFAULT", Value: 0x80000d, Doc: "get the limits of ids that have none of their own"},
	{Name: "LUSTRE_Q_SETDEFAULT", Value: 0x80000e, Doc: "set the limits of ids that have none of their own"},
	{Name: "LUSTRE_Q_GETQUOTAPOOL", Value: 0x80000f, Since: "2.15", Doc: "get limits and usage of an id in a pool"},
	{Name: "LUSTRE_Q_SETQUOTAPOOL", Value: 0x800010, Since: "2.15", Doc: "set the limits of an id in a pool"},
	{Name: "LUSTRE_Q_GETINFOPOOL", Value: 0x800011, Since: "2.15", Doc: "get the grace times of a pool"},
	{Name: "LUSTRE_Q_SETINFOPOOL", Value: 0x800012, Since: "2.15", Doc: "set the grace times of a pool"},
	{Name: "LUSTRE_Q_GETDEFAULT_POOL", Value: 0x800013, Since: "2.15", Doc: "get the default limits of a pool"},
	{Name: "LUSTRE_Q_SETDEFAULT_POOL", Value: 0x800014, Since: "2.15", Doc: "set the default limits of a pool"},
	{Name: "LUSTRE_Q_DELETEQID", Value: 0x800015, Since: "2.15", Doc: "forget an id"},
	{Name: "LUSTRE_Q_RESETQID", Value: 0x800016, Since: "2.16", Doc: "reset an id to no limits"},
	{Name: "LUSTRE_Q_ITERQUOTA", Value: 0x800017, Since: "2.16", Doc: "list the limits of a range of ids, from the quota master"},
	{Name: "LUSTRE_Q_ITEROQUOTA", Value: 0x800018, Since: "2.16", Doc: "list the usage of a range of ids, from each target"},
	{Name: "LUSTRE_Q_GETALLQUOTA", Value: 0x800019, Since: "2.16", Doc: "list limits and usage of all ids"},
	{Name: "LUSTRE_Q_GETQUOTALQA", Value: 0x80001a, Since: "2.18", Doc: "get limits and usage of a quota area"},
	{Name: "LUSTRE_Q_SETQUOTALQA", Value: 0x80001b, Since: "2.18", Doc: "set the limits of a quota area"},
	{Name: "LUSTRE_Q_GETINFOLQA", Value: 0x80001c, Since: "2.18", Doc: "get the grace times of a quota area"},
	{Name: "LUSTRE_Q_SETINFOLQA", Value: 0x80001d, Since: "2.18", Doc: "set the grace times of a quota area"},
	{Name: "Q_QUOTACHECK", Value: 0x800100, Doc: "count the usage, long ago"},
	{Name: "Q_INITQUOTA", Value: 0x800101, Doc: "set the usage up, long ago"},
	{Name: "Q_GETOINFO", Value: 0x800102, Doc: "is quota on at this target"},
	{Name: "Q_GETOQUOTA", Value: 0x800103, Doc: "get the usage of an id on one target"},
	{Name: "Q_FINVALIDATE", Value: 0x800104, Doc: "drop the quota files, long ago"},
})

// QuotaCtlIdKind says what a quota request of a user is for; it stays on the client.
var QuotaCtlIdKind = Enum("quota_ctl_id_kind", "QC_", "what an lfs quota call asks; not on the wire", []Value{
	{Name: "GENERAL", Value: 0x0},
	{Name: "MDTIDX", Value: 0x1},
	{Name: "OSTIDX", Value: 0x2},
	{Name: "UUID", Value: 0x3},
})

// QuotaDqacqFlags say what a slave asks of the quota master.
var QuotaDqacqFlags = Bits("quota_dqacq_flags", "QUOTA_DQACQ_FL_", "what a slave asks of the quota master", []Value{
	{Name: "ACQ", Value: 0x1, Doc: "acquire: a change waits for it"},
	{Name: "PREACQ", Value: 0x2, Doc: "acquire ahead of need"},
	{Name: "REL", Value: 0x4, Doc: "give back"},
	{Name: "REPORT", Value: 0x8, Doc: "report the usage after recovery"},
})

// QuotaGlimpseFlags are the states of an id.
var QuotaGlimpseFlags = Bits("quota_glimpse_flags", "", "state of an id", []Value{
	{Name: "LQUOTA_FL_EDQUOT", Value: 0x1, Doc: "the id is out of quota"},
})

// QuotaGraceFlags are the flags in the top bits of a grace time.
var QuotaGraceFlags = Bits("quota_grace_flags", "LQUOTA_FLAG_", "flags in the top 16 bits of a grace time", []Value{
	{Name: "DEFAULT", Value: 0x1, Doc: "the limits are the default ones"},
	{Name: "DELETED", Value: 0x2, Since: "2.15", Doc: "the id is to be forgotten"},
	{Name: "RESET", Value: 0x4, Since: "2.16", Doc: "the limits are to be reset"},
	{Name: "REVOKE", Value: 0x8, Since: "2.16", Doc: "quota is to be taken back"},
})

// QuotaGrace splits a grace time.
var QuotaGrace = Enum("quota_grace", "LQUOTA_GRACE_", "how a grace time and its flags share a word", []Value{
	{Name: "BITS", Value: 0x30, Doc: "bits of the time"},
	{Name: "MAX", Value: 0xffffffffffff, Doc: "longest time"},
	{Name: "MASK", Value: 0xffffffffffff, Doc: "the time", Alias: true},
})

// QuotaType are the kinds of ids that have quota.
var QuotaType = Enum("quota_type", "", "whose quota", []Value{
	{Name: "LQUOTA_TYPE_USR", Value: 0x0, Doc: "user"},
	{Name: "LQUOTA_TYPE_GRP", Value: 0x1, Doc: "group"},
	{Name: "LQUOTA_TYPE_PRJ", Value: 0x2, Doc: "project"},
	{Name: "LQUOTA_TYPE_MAX", Value: 0x3, Doc: "number of kinds", Alias: true},
	{Name: "ALLQUOTA", Value: 0xff, Doc: "all kinds"},
})

// QuotaResType are what quota limits.
var QuotaResType = Enum("quota_res_type", "LQUOTA_", "what is limited", []Value{
	{Name: "RES_MD", Value: 0x1, Doc: "inodes"},
	{Name: "RES_DT", Value: 0x2, Doc: "blocks"},
	{Name: "LAST_RES", Value: 0x3, Doc: "end of the list", Alias: true},
	{Name: "FIRST_RES", Value: 0x1, Alias: true},
})

// QuotaValid say which parts of an obd_dqblk are meant.
var QuotaValid = Bits("quota_valid", "QIF_", "which limits, usage and times are meant", []Value{
	{Name: "BLIMITS", Value: 0x1, Doc: "limits of blocks; since 2.17 the hard one"},
	{Name: "BHARDLIMIT", Value: 0x1, Since: "2.17", Alias: true},
	{Name: "SPACE", Value: 0x2, Doc: "bytes in use"},
	{Name: "ILIMITS", Value: 0x4, Doc: "limits of inodes; since 2.17 the hard one"},
	{Name: "IHARDLIMIT", Value: 0x4, Since: "2.17", Alias: true},
	{Name: "LIMITS", Value: 0x5, Alias: true},
	{Name: "INODES", Value: 0x8, Doc: "inodes in use"},
	{Name: "USAGE", Value: 0xa, Alias: true},
	{Name: "BTIME", Value: 0x10, Doc: "grace time of blocks"},
	{Name: "ITIME", Value: 0x20, Doc: "grace time of inodes"},
	{Name: "TIMES", Value: 0x30, Alias: true},
	{Name: "ALL", Value: 0x3f, Alias: true},
	{Name: "BSOFTLIMIT", Value: 0x400, Since: "2.17", Doc: "soft limit of blocks"},
	{Name: "ISOFTLIMIT", Value: 0x800, Since: "2.17", Doc: "soft limit of inodes"},
	{Name: "FILESYSTEM", Value: 0x1000, Since: "2.17", Doc: "usage of the whole file system"},
	{Name: "ALL_DETAIL", Value: 0x1c3f, Since: "2.17", Alias: true},
})

// LqaCmd are the commands on quota areas, on servers.
var LqaCmd = Enum("lqa_cmd", "LQA_", "command on a quota area", []Value{
	{Name: "NEW", Value: 0x1, Since: "2.18", Doc: "make an area"},
	{Name: "ADD", Value: 0x2, Since: "2.18", Doc: "add ids to it"},
	{Name: "REM", Value: 0x3, Since: "2.18", Doc: "take ids out of it"},
	{Name: "DEL", Value: 0x4, Since: "2.18", Doc: "remove it"},
	{Name: "LIST", Value: 0x5, Since: "2.18", Doc: "list it"},
})
