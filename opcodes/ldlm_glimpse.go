package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const LDLM_GL_CALLBACK = 106

var BarrierStatus = Enum("barrier_status", "BS_", "state of a write barrier", []Value{
	{Name: "INIT", Value: 0x0, Doc: "never set"},
	{Name: "FREEZING_P1", Value: 0x1, Doc: "first phase: no new changes on clients"},
	{Name: "FREEZING_P2", Value: 0x2, Doc: "second phase: all changes go to disk"},
	{Name: "FROZEN", Value: 0x3, Doc: "frozen"},
	{Name: "THAWING", Value: 0x4, Doc: "thawing"},
	{Name: "THAWED", Value: 0x5, Doc: "thawed"},
	{Name: "FAILED", Value: 0x6, Doc: "failed"},
	{Name: "EXPIRED", Value: 0x7, Doc: "thawed by its timeout"},
	{Name: "RESCAN", Value: 0x8, Doc: "looking for MDTs"},
})

var ldlmGlDesc = &Struct{Name: "ldlm_gl_desc", Doc: "content of a glimpse callback", Fields: []*Field{
	Sub("lquota_desc", &ldlmGlLquotaDesc),
	Sub("barrier_desc", &ldlmGlBarrierDesc, Over("lquota_desc"), If(never)),
}}

var ldlmGlBarrierDesc = &Struct{Name: "ldlm_gl_barrier_desc", Doc: "request of the MGS to an MDT about its write barrier", Fields: []*Field{
	U32("lgbd_status", &BarrierStatus, "state to go to"),
	U32("lgbd_timeout", TimeSpan, "seconds after which the barrier gives way"),
	Pad("lgbd_padding", 8),
}}

var ldlmGlLquotaDesc = &Struct{Name: "ldlm_gl_lquota_desc",
	Doc: "notification of the quota master to a slave: new limits, or the state of an id", Fields: []*Field{
		Sub("gl_id", &lquotaId, "whose quota"),
		U64("gl_flags", &QuotaGlimpseFlags, "state of the id"),
		U64("gl_ver", Cookie, "version of the global index"),
		U64("gl_hardlimit", Harmless, "hard limit, KiB or inodes; in the lock of an id its unit"),
		U64("gl_softlimit", Harmless, "soft limit, KiB or inodes"),
		U64("gl_time", Harmless, Remark(graceText), "end of the grace time; the top 16 bits are flags"),
		Pad("gl_pad2", 8),
	}}

var _ = DefineRPC(&RPC{Opcode: LDLM_GL_CALLBACK, Name: "LDLM_GL_CALLBACK", Does: CallsBack,
	Doc: "The server requests the size and times of an object from the holder of its lock. " +
		"The quota master notifies its slaves of new limits with it, the MGS the MDTs of a write barrier.",
	Variants:  []*Variant{glimpseObject, glimpseQuota, glimpseBarrier},
	PickBytes: []int{lockDesc.Off + lrName.Off + 8, 1},
	Pick: func(m *Msg) *Variant {
		switch {
		case len(m.Buf(2)) == 0:
			return glimpseObject
		case requestLock(m.Buf(1), m.Big).isQuota():
			return glimpseQuota
		}
		return glimpseBarrier
	},
	PickReply: func(m *Msg) *Variant {
		switch len(m.Buf(1)) {
		case lquotaLvb.Size:
			return glimpseQuota
		case barrierLvb.Size:
			return glimpseBarrier
		}
		return glimpseObject
	},
})

var (
	glimpseObject = &Variant{
		Request:          Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:            Bufs(bufPtlrpcBody, bufDlmLvb),
		SummarizeRequest: summarizeGlimpseRequest,
		SummarizeReply:   func(m *Msg, l *Line) { appendLvbSize(m.Buf(1), m.Big, l) },
		Subject:          lockSubject,
	}
	glimpseQuota = &Variant{Name: "quota",
		Request:        Bufs(bufPtlrpcBody, bufDlmReq, Sub("dlm_gl_desc", &ldlmGlLquotaDesc, "the new limits, or the state of the id")),
		Reply:          Bufs(bufPtlrpcBody, bufDlmLvbQuota),
		Subject:        NoSubject, // the FID is of a quota index
		SummarizeReply: NoSummary,
		SummarizeRequest: func(m *Msg, l *Line) {
			summarizeGlimpseRequest(m, l)
			if b := m.Buf(2); len(b) >= ldlmGlLquotaDesc.Size {
				l.Key("id ").Num(ReadUint(b[:8], m.Big))
				l.Key("hard ").Num(ldlmGlLquotaDesc.Field("gl_hardlimit").Uint(b, m.Big))
				l.Key("soft ").Num(ldlmGlLquotaDesc.Field("gl_softlimit").Uint(b, m.Big))
				l.FlagsIfSet("", QuotaGlimpseFlags, ldlmGlLquotaDesc.Field("gl_flags").Uint(b, m.Big))
			}
		},
	}
	glimpseBarrier = &Variant{Name: "barrier",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, Sub("dlm_gl_desc", &ldlmGlBarrierDesc, "state that the barrier is to have")),
		Reply:   Bufs(bufPtlrpcBody, Sub("dlm_lvb", &barrierLvb, "state of the barrier")),
		SummarizeRequest: func(m *Msg, l *Line) {
			summarizeGlimpseRequest(m, l)
			l.Key("").Value(Flag, BarrierStatus, ldlmGlBarrierDesc.Field("lgbd_status").Uint(m.Buf(2), m.Big))
		},
		SummarizeReply: func(m *Msg, l *Line) {
			if b := m.Buf(1); len(b) >= barrierLvb.Size {
				l.Value(Flag, BarrierStatus, barrierLvb.Field("lvb_status").Uint(b, m.Big))
			}
		},
	}
)

// summarizeGlimpseRequest writes the resource and the client's handle of the lock.
func summarizeGlimpseRequest(m *Msg, l *Line) {
	b := m.Buf(1)
	requestLock(b, m.Big).resource(l)
	appendHandle(b, 0, l)
}
