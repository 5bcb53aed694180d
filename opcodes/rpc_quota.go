package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: OST_QUOTACTL, Name: "OST_QUOTACTL",
	Doc: "Asks a target what an id uses on it, and other quota commands for one target.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufObdQuotactl),
		Reply:   Bufs(bufPtlrpcBody, bufObdQuotactl, bufQuotaIter),
		Ask:     askQuota, Answer: answerQuota,
	}}})

var _ = DefineRPC(&RPC{Opcode: QUOTA_DQACQ, Name: "QUOTA_DQACQ",
	Doc: "A target asks the quota master for more quota of an id, gives some back, or reports what it uses.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufQuotaBody),
		Reply:   Bufs(bufPtlrpcBody, bufQuotaBody),
		Ask:     func(m *Msg, l *Line) { askAcquire(m.Buf(1), m.Big, l) },
		Answer:  func(m *Msg, l *Line) { answerAcquire(m.Buf(1), m.Big, l) },
	}}})

var _ = DefineRPC(&RPC{Opcode: QUOTA_DQREL, Name: "QUOTA_DQREL", Retired: true, Doc: "gave quota back, long ago"})

var (
	qbID    = quotaBody.Field("qb_id")
	qbFlags = quotaBody.Field("qb_flags")
	qbCount = quotaBody.Field("qb_count")
	qbUsage = quotaBody.Field("qb_usage")

	dqbBhard = obdDqblk.Field("dqb_bhardlimit")
	dqbBsoft = obdDqblk.Field("dqb_bsoftlimit")
	dqbSpace = obdDqblk.Field("dqb_curspace")
	dqbIhard = obdDqblk.Field("dqb_ihardlimit")
	dqbIsoft = obdDqblk.Field("dqb_isoftlimit")
	dqbFiles = obdDqblk.Field("dqb_curinodes")

	dqiBgrace = obdDqinfo.Field("dqi_bgrace")
	dqiIgrace = obdDqinfo.Field("dqi_igrace")
)

// askQuota says which command, for which id, in which pool.
func askQuota(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < obdQuotactl.Size {
		return
	}
	cmd, kind := qcCmd.Uint(b, m.Big), quotaTypeName(qcType.Uint(b, m.Big))
	l.Value(Flag, QuotaCmd, cmd)
	if isQuotaGrace(cmd) {
		l.Key("of all ")
		l.Add(Object, kind+"s")
	} else {
		l.Key(kind + " ")
		l.Num(qcID.Uint(b, m.Big))
	}
	if pool := TrimNUL(b[obdQuotactl.Size:]); len(pool) > 0 {
		l.Key("pool ")
		l.Label(Name, pool)
	}
	if quotaSets(cmd) {
		answerQuota(m, l)
	}
}

func quotaTypeName(t uint64) string {
	switch t {
	case 0:
		return "uid"
	case 1:
		return "gid"
	case 2:
		return "projid"
	}
	return "id"
}

// Commands whose request holds limits or grace times.
var (
	quotaSetLimits = [...]uint64{0x800008, 0x80000e, 0x800010, 0x800014, 0x80001b}
	quotaGraceCmds = [...]uint64{0x800005, 0x800006, 0x800011, 0x800012, 0x80001c, 0x80001d}
)

func quotaSets(cmd uint64) bool {
	for _, c := range quotaSetLimits {
		if c == cmd {
			return true
		}
	}
	return cmd == 0x800006 || cmd == 0x800012 || cmd == 0x80001d
}

func isQuotaGrace(cmd uint64) bool {
	for _, c := range quotaGraceCmds {
		if c == cmd {
			return true
		}
	}
	return false
}

// answerQuota says what is used and what the limits are.
func answerQuota(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < obdQuotactl.Size || m.Status < 0 && m.Reply {
		return
	}
	cmd := qcCmd.Uint(b, m.Big)
	switch {
	case cmd == qIterQuota || cmd == qIterOQuota:
		l.Key("quota_iter ")
		l.Num(uint64(len(m.Buf(2))))
		l.Add(Dim, " bytes")
		return
	case isQuotaGrace(cmd):
		info := qcDqinfo.Bytes(b)
		l.Key("grace blocks ")
		l.Num(dqiBgrace.Uint(info, m.Big))
		l.Key("inodes ")
		l.Num(dqiIgrace.Uint(info, m.Big))
		return
	}
	sayQuotaBlk(qcDqblk.Bytes(b), m.Big, l)
}

// sayQuotaBlk appends the usage, and the limits as soft/hard, of those that
// dqb_valid names.
func sayQuotaBlk(b []byte, big bool, l *Line) {
	valid := dqbValid.Uint(b, big)
	used := func(bit uint64, key string, f *Field) {
		if valid&bit != 0 {
			l.Key(key)
			l.Num(f.Uint(b, big))
		}
	}
	limits := func(bit uint64, key string, soft, hard *Field) {
		if valid&bit != 0 {
			l.Key(key)
			l.Num(soft.Uint(b, big))
			l.Add(Dim, "/")
			l.Num(hard.Uint(b, big))
		}
	}
	used(quotaSpace, "bytes ", dqbSpace)
	used(quotaInodes, "inodes ", dqbFiles)
	limits(quotaBlimits, "KiB limit ", dqbBsoft, dqbBhard)
	limits(quotaIlimits, "inodes limit ", dqbIsoft, dqbIhard)
}

var (
	quotaSpace   = QuotaValid.Bit("SPACE")
	quotaInodes  = QuotaValid.Bit("INODES")
	quotaBlimits = QuotaValid.Bit("BLIMITS") | QuotaValid.Bit("BSOFTLIMIT")
	quotaIlimits = QuotaValid.Bit("ILIMITS") | QuotaValid.Bit("ISOFTLIMIT")
)

// askAcquire says what a quota slave wants, of which id.
func askAcquire(b []byte, big bool, l *Line) {
	if len(b) < qbUsage.Off+8 {
		return
	}
	l.Flags(QuotaDqacqFlags, qbFlags.Uint(b, big))
	sayQuotaID(b, big, l)
	l.Key("count ")
	l.Num(qbCount.Uint(b, big))
	l.Key("usage ")
	l.Num(qbUsage.Uint(b, big))
}

// sayQuotaID appends the id of a quota_body, by the kind of its index.
func sayQuotaID(b []byte, big bool, l *Line) {
	id, index := qbID.Bytes(b), qbFid.Bytes(b)
	oid := ReadUint(index[8:12], big)
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
		l.Key("")
		l.Add(Object, quotaResource(oid))
	}
}

func answerAcquire(b []byte, big bool, l *Line) {
	if len(b) < qbUsage.Off+8 {
		return
	}
	l.Key("got ")
	l.Num(qbCount.Uint(b, big))
	if unit := qbUsage.Uint(b, big); unit != 0 {
		l.Key("unit ")
		l.Num(unit)
	}
}
