package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// QuotaLimits are limits and usage of a user, group or project.
type QuotaLimits struct {
	Kind uint64 // of QuotaType
	ID   uint32

	SpaceSoft, SpaceHard     uint64 // bytes, 0: no limit
	ObjectsSoft, ObjectsHard uint64
	HasSpace, HasObjects     bool // which limits are known
}

var (
	qGetQuota = QuotaCmd.Number("LUSTRE_Q_GETQUOTA")
	qSetQuota = QuotaCmd.Number("LUSTRE_Q_SETQUOTA")
)

// QuotaLimitsOf reads the reply to an MDS_QUOTACTL that gets or sets the limits of an
// id in the whole file system; ok is false for other commands.
func QuotaLimitsOf(m *Msg) (q QuotaLimits, ok bool) {
	b := m.Buf(1)
	if m.Status < 0 || len(b) < obdQuotactl.Size || len(TrimNUL(b[obdQuotactl.Size:])) > 0 {
		return q, false
	}
	if cmd := qcCmd.Uint(b, m.Big); cmd != qGetQuota && cmd != qSetQuota {
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
