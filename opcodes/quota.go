package opcodes

import (
	"strconv"
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

const MDS_QUOTACTL = 48

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
	{Name: "Q_GETOINFO", Value: 0x800102, Doc: "whether quota is on at this target"},
	{Name: "Q_GETOQUOTA", Value: 0x800103, Doc: "get the usage of an id on one target"},
	{Name: "Q_FINVALIDATE", Value: 0x800104, Doc: "drop the quota files, long ago"},
})

// QuotaCtlIdKind is what a quota request of a user refers to; it stays on the client.
var QuotaCtlIdKind = Enum("quota_ctl_id_kind", "QC_", "what an lfs quota call asks; not on the wire", []Value{
	{Name: "GENERAL", Value: 0x0},
	{Name: "MDTIDX", Value: 0x1},
	{Name: "OSTIDX", Value: 0x2},
	{Name: "UUID", Value: 0x3},
})

var QuotaType = Enum("quota_type", "", "whose quota", []Value{
	{Name: "LQUOTA_TYPE_USR", Value: 0x0, Doc: "user"},
	{Name: "LQUOTA_TYPE_GRP", Value: 0x1, Doc: "group"},
	{Name: "LQUOTA_TYPE_PRJ", Value: 0x2, Doc: "project"},
	{Name: "LQUOTA_TYPE_MAX", Value: 0x3, Doc: "number of kinds", Alias: true},
	{Name: "ALLQUOTA", Value: 0xff, Doc: "all kinds"},
})

var QuotaValid = Bits("quota_valid", "QIF_", "which limits, usage and times are valid", []Value{
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

var QuotaGraceFlags = Bits("quota_grace_flags", "LQUOTA_FLAG_", "flags in the top 16 bits of a grace time", []Value{
	{Name: "DEFAULT", Value: 0x1, Doc: "the limits are the default ones"},
	{Name: "DELETED", Value: 0x2, Since: "2.15", Doc: "the id is to be forgotten"},
	{Name: "RESET", Value: 0x4, Since: "2.16", Doc: "the limits are to be reset"},
	{Name: "REVOKE", Value: 0x8, Since: "2.16", Doc: "quota is to be taken back"},
})

var obdDqinfo = &Struct{Name: "obd_dqinfo", Doc: "grace times of a kind of quota", Fields: []*Field{
	U64("dqi_bgrace", TimeSpan, "how long blocks may be above the soft limit"),
	U64("dqi_igrace", TimeSpan, "how long inodes may be above the soft limit"),
	U32("dqi_flags", Harmless, "flags of the kind of quota"),
	U32("dqi_valid", Harmless, "which grace times are valid: 1 blocks, 2 inodes, 4 the flags"),
}}

var obdDqblk = &Struct{Name: "obd_dqblk", Doc: "limits and usage of an id; block limits count KiB, the usage bytes", Fields: []*Field{
	U64("dqb_bhardlimit", Harmless, When{"dqb_valid", "BLIMITS"}, ValidIf(listsIDs), Remark(iterMeans("continue here: metadata offset")),
		"hard limit of blocks, KiB"),
	U64("dqb_bsoftlimit", Harmless, When{"dqb_valid", "BLIMITS", "BSOFTLIMIT"}, ValidIf(listsIDs),
		Remark(iterMeans("bytes used in the first half of quota_iter")), "soft limit of blocks, KiB"),
	U64("dqb_curspace", When{"dqb_valid", "SPACE"}, Size, IfNot(listsIDs), "bytes in use"),
	U64("dqb_curspace", Removed, Hex, Over("dqb_curspace"), If(listsIDs), "of commands that list all ids: pointer of the client's kernel, without "+
		"meaning for others"),
	U64("dqb_ihardlimit", Harmless, When{"dqb_valid", "ILIMITS"}, ValidIf(listsIDs), Remark(iterMeans("continue here: data offset")),
		"hard limit of inodes"),
	U64("dqb_isoftlimit", Harmless, When{"dqb_valid", "ILIMITS", "ISOFTLIMIT"}, ValidIf(listsIDs), Remark(iterMeans("bytes used in the second half "+
		"of quota_iter")), "soft limit of inodes"),
	U64("dqb_curinodes", InodesOrID, When{"dqb_valid", "INODES"}, ValidIf(listsIDs), Remark(iterMeans("first id")), "inodes in use"),
	U64("dqb_btime", When{"dqb_valid", "BTIME"}, Time, IfNot(listsIDs), Remark(graceText), "end of the grace time of blocks; the top 16 "+
		"bits are flags"),
	U64("dqb_btime", UserID, Over("dqb_btime"), If(listsIDs), Remark(iterMeans("last id")), "of commands that list all ids: the last id"),
	U64("dqb_itime", When{"dqb_valid", "ITIME"}, ValidIf(listsIDs), Time, Remark(graceText),
		"end of the grace time of inodes; the top 16 bits are flags"),
	dqbValid,
	Pad("dqb_padding", 4),
}}

var dqbValid = U32("dqb_valid", &QuotaValid, "which limits, usage and times are valid")

var lqaIdRange = &Struct{Name: "lqa_id_range", Since: "2.18", Doc: "ids that a quota allocation area holds", Fields: []*Field{
	U32("lir_start", UserID, "first id"),
	U32("lir_end", UserID, "last id"),
}}

var (
	qcCmd    = U32("qc_cmd", &QuotaCmd, "what to do")
	qcType   = U32("qc_type", &QuotaType, "user, group or project quota")
	qcID     = U32("qc_id", UserID, "the user, group or project; of some commands the index of a target")
	qcDqinfo = Sub("qc_dqinfo", &obdDqinfo, "grace times, for the INFO commands")
	qcDqblk  = Sub("qc_dqblk", &obdDqblk, "limits and usage; ITERQUOTA uses the fields for other things")
)

var obdQuotactl = &Struct{Name: "obd_quotactl", Doc: "a quota command and its result", Fields: []*Field{
	qcCmd, qcType, qcID,
	U32("qc_stat", Harmless, "which kinds of quota are on"),
	qcDqinfo, qcDqblk,
	Str("qc_poolname", 0, PlainName, Since("2.15"), "pool or area the command is for, 16 bytes when it is there"),
}}

var quotaIterGlb = &Struct{Name: "quota_iter_glb", Doc: "limits of one id", Fields: []*Field{
	U64("id", UserID, "user, group or project"),
	Sub("rec", &lquotaGlbRec),
}}

var quotaIterAcct = &Struct{Name: "quota_iter_acct", Doc: "usage of one id", Fields: []*Field{
	U64("id", UserID, "user, group or project"),
	Sub("rec", &lquotaAcctRec),
}}

// quotaIterLimits is a buffer quota_iter with limits: inodes in the first
// half, blocks in the second.
var quotaIterLimits = &Struct{Name: "quota_iter_limits", Doc: "limits of many ids", Fields: []*Field{
	Subs("metadata", -1, &quotaIterGlb, CountOf(iterMetadata), "limits of inodes"),
	unused("unused", func(v *View) int { return iterHalf(v) - iterMetadata(v)*quotaIterGlb.Size }),
	Subs("data", -1, &quotaIterGlb, CountOf(iterData), "limits of blocks"),
	unused("unused2", nil),
}}

var quotaIterUsage = &Struct{Name: "quota_iter_usage", Doc: "usage of many ids", Fields: []*Field{
	Subs("entries", -1, &quotaIterAcct, CountOf(iterUsage), "space and inodes in use"),
	unused("unused", nil),
}}

// unused is the unused rest of a buffer.
func unused(name string, size CountOf) *Field {
	f := Opaque(name, 0, size)
	f.Pad = true
	return f
}

// Quota commands that fill the quota_iter buffer.
var (
	qIterQuota  = QuotaCmd.Number("LUSTRE_Q_ITERQUOTA")
	qIterOQuota = QuotaCmd.Number("LUSTRE_Q_ITEROQUOTA")
)

// graceBits are the time in a word whose top bits are flags.
const graceBits = 48

// quotaCommand is the command in the message's obd_quotactl.
func quotaCommand(v *View) uint64 {
	if v.Msg == nil {
		return 0
	}
	return qcCmd.Uint(v.Msg.Buf(1), v.Msg.Big)
}

// listsIDs: the command lists all ids, and uses the limits for other things.
func listsIDs(v *View) bool {
	cmd := quotaCommand(v)
	return cmd == qIterQuota || cmd == qIterOQuota
}

func iterHalf(v *View) int { return len(v.Struct) / 2 }

// iterItems is the number of items of the given size in the bytes that a limit
// in obd_quotactl claims, at most as many as the room holds.
func iterItems(v *View, limit *Field, room, size int) int {
	var used uint64
	if v.Msg != nil {
		b := v.Msg.Buf(1)
		used = limit.Uint(b[min(len(b), qcDqblk.Off):], v.Msg.Big)
	}
	return int(min(used, uint64(room))) / size
}

func iterMetadata(v *View) int { return iterItems(v, dqbBsoft, iterHalf(v), quotaIterGlb.Size) }

func iterData(v *View) int { return iterItems(v, dqbIsoft, iterHalf(v), quotaIterGlb.Size) }

// iterUsage: usage is in one part from the start. MDTs give its size as
// that of the first half, OSTs as that of the second.
func iterUsage(v *View) int {
	room := len(v.Struct)
	return max(iterItems(v, dqbBsoft, room, quotaIterAcct.Size), iterItems(v, dqbIsoft, room, quotaIterAcct.Size))
}

// quotaIter chooses what a quota_iter buffer holds.
func quotaIter(v *View) *Field {
	switch quotaCommand(v) {
	case qIterQuota:
		return quotaIterForms[0]
	case qIterOQuota:
		return quotaIterForms[1]
	}
	return nil
}

var quotaIterForms = []*Field{Sub("", &quotaIterLimits), Sub("", &quotaIterUsage)}

// iterMeans describes what a limit stands for in the commands that list all ids.
func iterMeans(text string) func(*View, []byte) []byte {
	return func(v *View, dst []byte) []byte {
		if listsIDs(v) {
			return append(dst, text...)
		}
		return dst
	}
}

// graceText splits a time with flags in its top bits.
func graceText(v *View, dst []byte) []byte {
	word := v.Value
	if word>>graceBits == 0 {
		return dst
	}
	l := PlainLine(append(dst, "flags "...))
	l.Flags(QuotaGraceFlags, word>>graceBits)
	l.Text = strconv.AppendUint(append(l.Text, ", time "...), word&(1<<graceBits-1), 10)
	return l.Text
}

var (
	bufObdQuotactl = Sub("obd_quotactl", &obdQuotactl, "the command, the id, and what is known of it")
	bufQuotaIter   = OneOf("quota_iter", quotaIter, quotaIterForms, Tagged(true), "limits or usage of many ids")
)

var _ = DefineRPC(&RPC{Opcode: 19, Name: "OST_QUOTACTL", Variants: quotaVariants,
	Doc: "Asks a target what an id uses on it, and other quota commands for one target."})

var _ = DefineRPC(&RPC{Opcode: MDS_QUOTACTL, Name: "MDS_QUOTACTL", Variants: quotaVariants,
	Doc: "Reads or sets limits, usage and grace times of a user, group or project, or of a pool. MDT0000 holds the limits of the file system."})

var quotaVariants = []*Variant{{
	Request:          Bufs(bufPtlrpcBody, bufObdQuotactl),
	Reply:            Bufs(bufPtlrpcBody, bufObdQuotactl, bufQuotaIter),
	SummarizeRequest: summarizeQuotaRequest, SummarizeReply: summarizeQuotaReply,
}}

// summarizeQuotaRequest appends the command, the id and the pool.
func summarizeQuotaRequest(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < obdQuotactl.Size {
		return
	}
	cmd, kind := qcCmd.Uint(b, m.Big), quotaTypeName(qcType.Uint(b, m.Big))
	l.Value(Flag, QuotaCmd, cmd)
	if isQuotaGrace(cmd) {
		l.Key("of all ").Add(Object, kind+"s")
	} else {
		l.Key(kind + " ").Num(qcID.Uint(b, m.Big))
	}
	if pool := TrimNUL(b[obdQuotactl.Size:]); len(pool) > 0 {
		l.Key("pool ").Label(Name, pool)
	}
	if strings.HasPrefix(QuotaCmd.Name(cmd), "LUSTRE_Q_SET") { // the request holds limits or grace times
		summarizeQuotaReply(m, l)
	}
}

func quotaTypeName(t uint64) string {
	names := [...]string{"uid", "gid", "projid", "id"}
	return names[min(t, 3)]
}

// isQuotaGrace reports whether a command is about grace times.
func isQuotaGrace(cmd uint64) bool { return strings.Contains(QuotaCmd.Name(cmd), "INFO") }

// summarizeQuotaReply appends the usage and the limits.
func summarizeQuotaReply(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < obdQuotactl.Size || m.Status < 0 && m.Reply {
		return
	}
	cmd := qcCmd.Uint(b, m.Big)
	switch {
	case cmd == qIterQuota || cmd == qIterOQuota:
		l.Key("quota_iter ").Num(uint64(len(m.Buf(2))))
		l.Add(Dim, " bytes")
		return
	case isQuotaGrace(cmd):
		info := qcDqinfo.Bytes(b)
		l.Key("grace blocks ").Num(obdDqinfo.Field("dqi_bgrace").Uint(info, m.Big))
		l.Key("inodes ").Num(obdDqinfo.Field("dqi_igrace").Uint(info, m.Big))
		return
	}
	appendQuotaBlk(qcDqblk.Bytes(b), m.Big, l)
}

// appendQuotaBlk appends the usage and the limits (soft/hard) that are valid by
// dqb_valid.
func appendQuotaBlk(b []byte, big bool, l *Line) {
	valid := dqbValid.Uint(b, big)
	used := func(bit uint64, key string, f *Field) {
		if valid&bit != 0 {
			l.Key(key).Num(f.Uint(b, big))
		}
	}
	limits := func(bit uint64, key string, soft, hard *Field) {
		if valid&bit != 0 {
			l.Key(key).Num(soft.Uint(b, big))
			l.Add(Dim, "/")
			l.Num(hard.Uint(b, big))
		}
	}
	used(QuotaValid.Bit("SPACE"), "bytes ", obdDqblk.Field("dqb_curspace"))
	used(QuotaValid.Bit("INODES"), "inodes ", obdDqblk.Field("dqb_curinodes"))
	limits(quotaBlimits, "KiB limit ", dqbBsoft, dqbBhard)
	limits(quotaIlimits, "inodes limit ", dqbIsoft, dqbIhard)
}

// QuotaLimits are limits and usage of a user, group or project.
type QuotaLimits struct {
	Kind uint64 // of QuotaType
	ID   uint32

	SpaceSoft, SpaceHard     uint64 // bytes, 0: no limit
	ObjectsSoft, ObjectsHard uint64
	HasSpace, HasObjects     bool // which limits are known
}

// QuotaLimitsOf reads the reply to an MDS_QUOTACTL that gets or sets the limits of an
// id in the whole file system; ok is false for other commands.
func QuotaLimitsOf(m *Msg) (q QuotaLimits, ok bool) {
	b := m.Buf(1)
	if m.Status < 0 || len(b) < obdQuotactl.Size || len(TrimNUL(b[obdQuotactl.Size:])) > 0 {
		return q, false
	}
	if cmd := qcCmd.Uint(b, m.Big); cmd != QuotaCmd.Number("LUSTRE_Q_GETQUOTA") && cmd != QuotaCmd.Number("LUSTRE_Q_SETQUOTA") {
		return q, false
	}
	q.Kind, q.ID = qcType.Uint(b, m.Big), uint32(qcID.Uint(b, m.Big))
	limits := qcDqblk.Bytes(b)
	valid := dqbValid.Uint(limits, m.Big)
	if q.HasSpace = valid&quotaBlimits != 0; q.HasSpace {
		const kib = 1 << 10
		q.SpaceSoft, q.SpaceHard = dqbBsoft.Uint(limits, m.Big)*kib, dqbBhard.Uint(limits, m.Big)*kib
	}
	if q.HasObjects = valid&quotaIlimits != 0; q.HasObjects {
		q.ObjectsSoft, q.ObjectsHard = dqbIsoft.Uint(limits, m.Big), dqbIhard.Uint(limits, m.Big)
	}
	return q, q.HasSpace || q.HasObjects
}
