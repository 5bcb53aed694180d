package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const QUOTA_DQACQ = 601

var QuotaDqacqFlags = Bits("quota_dqacq_flags", "QUOTA_DQACQ_FL_", "what a slave asks of the quota master", []Value{
	{Name: "ACQ", Value: 0x1, Doc: "acquire: a change waits for it"},
	{Name: "PREACQ", Value: 0x2, Doc: "acquire ahead of need"},
	{Name: "REL", Value: 0x4, Doc: "give back"},
	{Name: "REPORT", Value: 0x8, Doc: "report the usage after recovery"},
})

var QuotaGlimpseFlags = Bits("quota_glimpse_flags", "", "state of an id", []Value{
	{Name: "LQUOTA_FL_EDQUOT", Value: 0x1, Doc: "the id is out of quota"},
})

// lquotaId is union lquota_id. The kind of quota is not in it.
var lquotaId = &Struct{Name: "lquota_id", Doc: "whose quota: an id, or a FID", Fields: []*Field{
	Sub("qid_fid", &LuFid, If(func(v *View) bool { return quotaIDForm(v) == "" })),
	U64("qid_uid", UserID, Over("qid_fid"), If(func(v *View) bool { return quotaIDForm(v) == "uid" }), "user"),
	U64("qid_gid", UserID, Over("qid_fid"), If(func(v *View) bool { return quotaIDForm(v) == "gid" }), "group"),
	U64("qid_projid", UserID, Over("qid_fid"), If(func(v *View) bool { return quotaIDForm(v) == "projid" }), "project"),
}}

// qbFid precedes the id in a quota_body and selects the kind of quota the
// id is of.
var qbFid = Sub("qb_fid", &LuFid, "request: the global index; answer to a QUOTA_CONN: the slave's index")

var quotaBody = &Struct{Name: "quota_body", Doc: "what a quota slave asks of the master, and gets", Fields: []*Field{
	qbFid,
	Sub("qb_id", &lquotaId, "whose quota"),
	U32("qb_flags", &QuotaDqacqFlags, "acquire, release or report"),
	Pad("qb_padding", 4),
	U64("qb_count", Harmless, "how much to acquire or release, KiB or inodes; in the answer how much was"),
	U64("qb_usage", Harmless, "what is in use now; in the answer the unit in which quota is handed out"),
	U64("qb_slv_ver", Cookie, "version of the slave's index"),
	Sub("qb_lockh", &lustreHandle, "the slave's lock of the id"),
	Sub("qb_glb_lockh", &lustreHandle, "the slave's lock of the global index"),
	U64("qb_glb_ver", Cookie, Since("2.18"), "version of the global index"),
	Pads("qb_padding1", 3, 8, "at offset 80 in 2.12"),
}}

var lquotaAcctRec = &Struct{Name: "lquota_acct_rec", Doc: "usage of an id", Fields: []*Field{
	U64("bspace", Size, "bytes"),
	U64("ispace", Harmless, "inodes"),
}}

var lquotaGlbRec = &Struct{Name: "lquota_glb_rec", Doc: "limits of an id, in KiB or inodes", Fields: []*Field{
	U64("qbr_hardlimit", Harmless, "hard limit"),
	U64("qbr_softlimit", Harmless, "soft limit"),
	U64("qbr_time", Harmless, Remark(graceText), "end of the grace time, or its length in the record of id 0; the top 16 bits are flags"),
	U64("qbr_granted", Harmless, "handed out to slaves"),
}}

var lquotaSlvRec = &Struct{Name: "lquota_slv_rec", Doc: "what a slave has of an id", Fields: []*Field{
	U64("qsr_granted", Harmless, "handed out to the slave, in KiB or inodes"),
}}

var lquotaLvb = &Struct{Name: "lquota_lvb", Doc: "state of an id's quota, in its lock", Fields: []*Field{
	U64("lvb_flags", &QuotaGlimpseFlags, "state of the id"),
	U64("lvb_id_may_rel", Harmless, IfNot(ofQuotaIndex), "what the slave could give back"),
	U64("lvb_glb_ver", Cookie, Over("lvb_id_may_rel"), If(ofQuotaIndex), "of the lock of a global index: the index's version"),
	U64("lvb_id_rel", Harmless, "what the slave gives back"),
	U64("lvb_id_qunit", Harmless, "unit in which quota is handed out"),
	Pad("lvb_pad1", 8),
}}

// ofQuotaIndex reports whether the lock of a lquota_lvb is that of a whole index,
// and not that of an id in it.
func ofQuotaIndex(v *View) bool {
	k := lvbLock(v.Msg)
	return k.isQuota() && k.nameWord(2) == 0 && k.nameWord(3) == 0
}

// quotaIDForm is the kind of id in a lquota_id: by the index that goes with
// it, empty when it is a FID, or shown as one because the index is not known.
func quotaIDForm(v *View) string {
	oid, ok := quotaIndexOID(v)
	if !ok || len(v.Struct) >= 16 && ReadUint(v.Struct[8:16], v.Big) != 0 {
		return ""
	}
	return quotaIDKind(oid)
}

// quotaIndexOID is the object id of the quota index that an id belongs to: it
// stands before the id in the quota_body of a request, and in the name of the lock
// that goes with a glimpse or an intent. A reply to a QUOTA_DQACQ has the slave's
// index instead, whose number does not tell the kind.
func quotaIndexOID(v *View) (oid uint64, ok bool) {
	up, m := v.Up, v.Msg
	if up == nil || up.Type == nil {
		return 0, false
	}
	if k := requestLock(m.Buf(1), v.Big); m != nil && m.Opcode != QUOTA_DQACQ && k.isQuota() {
		return k.nameWord(1), true
	}
	body, big := up.Struct, up.Big
	if m != nil && m.Reply {
		if m.Req == nil {
			return 0, false
		}
		body, big = m.Req.Buf(1), m.Req.Big
	}
	index := qbFid.Bytes(body)
	return fidOid.Uint(index, big), index != nil
}

var bufQuotaBody = Sub("quota_body", &quotaBody, "what is asked for, and got")

var (
	qbID     = quotaBody.Field("qb_id")
	qbCount  = quotaBody.Field("qb_count")
	qbUsage  = quotaBody.Field("qb_usage")
	qbSlvVer = quotaBody.Field("qb_slv_ver")

	dqbBhard = obdDqblk.Field("dqb_bhardlimit")
	dqbBsoft = obdDqblk.Field("dqb_bsoftlimit")
	dqbIhard = obdDqblk.Field("dqb_ihardlimit")
	dqbIsoft = obdDqblk.Field("dqb_isoftlimit")
)

var _ = DefineRPC(&RPC{Opcode: QUOTA_DQACQ, Name: "QUOTA_DQACQ", Does: AcquiresQuota, Context: true,
	Doc: "A target asks the quota master for more quota of an id, gives some back, or reports what it uses.",
	Variants: []*Variant{{
		Request:          Bufs(bufPtlrpcBody, bufQuotaBody),
		Reply:            Bufs(bufPtlrpcBody, bufQuotaBody),
		Subject:          NoSubject, // the FID is of a quota index
		SummarizeRequest: func(m *Msg, l *Line) { summarizeAcquireRequest(m.Buf(1), m.Big, l) },
		SummarizeReply:   func(m *Msg, l *Line) { summarizeAcquireReply(m.Buf(1), m.Big, l) },
	}}})

var (
	quotaBlimits = QuotaValid.Bit("BLIMITS", "BSOFTLIMIT")
	quotaIlimits = QuotaValid.Bit("ILIMITS", "ISOFTLIMIT")
)

// summarizeAcquireRequest appends what a quota slave requests, for which id.
func summarizeAcquireRequest(b []byte, big bool, l *Line) {
	if len(b) < qbUsage.Off+8 {
		return
	}
	l.Flags(QuotaDqacqFlags, quotaBody.Field("qb_flags").Uint(b, big))
	appendQuotaID(b, big, l)
	l.Key("count ").Num(qbCount.Uint(b, big))
	l.Key("usage ").Num(qbUsage.Uint(b, big))
}

// appendQuotaID appends the id of a quota_body, by the kind of its index.
func appendQuotaID(b []byte, big bool, l *Line) {
	id, index := qbID.Bytes(b), qbFid.Bytes(b)
	oid := fidOid.Uint(index, big)
	l.Key("")
	switch {
	case ReadUint(id[8:16], big) != 0:
		l.FID(id, big)
	case ReadUint(id[:8], big) == 0:
		l.Text = append(l.Text, quotaIndexName(oid)...)
		l.Mark(Object)
	default:
		l.Add(Dim, quotaIDKind(oid)+" ")
		l.Num(ReadUint(id[:8], big))
		l.Key("").Add(Object, quotaResource(oid))
	}
}

// summarizeAcquireReply appends how much the master gave or took back, and the
// unit in which it gives.
func summarizeAcquireReply(b []byte, big bool, l *Line) {
	if len(b) < qbUsage.Off+8 {
		return
	}
	l.Key("count ").Num(qbCount.Uint(b, big))
	l.NumIfSet("unit ", qbUsage.Uint(b, big))
}

// summarizeQuotaConnectRequest appends the global index that a quota slave
// wants to follow.
func summarizeQuotaConnectRequest(m *Msg, l *Line) {
	if b := m.Buf(3); len(b) >= qbUsage.Off+8 {
		appendQuotaID(b, m.Big, l)
	}
}

// summarizeQuotaConnectReply appends the index of the slave on the master, and
// its version.
func summarizeQuotaConnectReply(m *Msg, l *Line) {
	b := m.Buf(3)
	if len(b) < qbSlvVer.Off+8 {
		return
	}
	l.Key("index ").FID(qbFid.Bytes(b), m.Big)
	l.Key("version ").Num(qbSlvVer.Uint(b, m.Big))
}

// QuotaID is whose quota a message is about.
type QuotaID struct {
	Kind uint64 // of QuotaType
	ID   uint64
	All  bool // the limits of all ids of the kind
}

// QuotaIDOf returns whose quota a request is about: one for quota, for the lock of an id or
// an index of quota, or a quota command.
func QuotaIDOf(m *Msg) (q QuotaID, ok bool) {
	if b := m.Named("obd_quotactl"); len(b) >= qcID.Off+qcID.Size {
		return QuotaID{Kind: qcType.Uint(b, m.Big), ID: qcID.Uint(b, m.Big)}, true
	}
	if m.Opcode == QUOTA_DQACQ {
		b := m.Buf(1)
		if len(b) < qbID.Off+8 {
			return q, false
		}
		return QuotaID{Kind: fidOid.Uint(qbFid.Bytes(b), m.Big) >> 24 & 0xff, ID: ReadUint(b[qbID.Off:qbID.Off+8], m.Big)}, true
	}
	if k := requestLock(m.Buf(1), m.Big); len(m.Buf(1)) >= lockDesc.Off+keptOfLock && k.isQuota() {
		return QuotaID{Kind: k.nameWord(1) >> 24 & 0xff, ID: k.nameWord(2), All: k.nameWord(2) == 0 && k.nameWord(3) == 0}, true
	}
	return q, false
}
