package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var rpcLdlmGlCallback = DefineRPC(&RPC{Opcode: LDLM_GL_CALLBACK, Name: "LDLM_GL_CALLBACK",
	Doc: "The server asks the holder of a lock what it knows: size and times of an object. " +
		"To quota slaves it tells new limits with it, to MDTs the state of a write barrier.",
	Variants: []*Variant{glimpseObject, glimpseQuota, glimpseBarrier},
	Picks:    []int{lockDescAt + lockNameAt + 8, 1},
	Pick: func(m *Msg) *Variant {
		switch {
		case len(m.Buf(2)) == 0:
			return glimpseObject
		case requestLock(m.Buf(1), m.Big).isQuota():
			return glimpseQuota
		}
		return glimpseBarrier
	},
	Guess: func(m *Msg) *Variant {
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
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmLvb),
		Ask:     askGlimpse,
		Answer:  func(m *Msg, l *Line) { sayLvbSize(m.Buf(1), m.Big, l) },
		Subject: lockSubject,
	}
	glimpseQuota = &Variant{Name: "quota",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufDlmGlDesc),
		Reply:   Bufs(bufPtlrpcBody, bufDlmLvbLquotaLvb),
		Ask: func(m *Msg, l *Line) {
			askGlimpse(m, l)
			if b := m.Buf(2); len(b) >= ldlmGlLquotaDesc.Size {
				l.Key("id ")
				l.Num(ReadUint(b[:8], m.Big))
				l.Key("hard ")
				l.Num(glHard.Uint(b, m.Big))
				l.Key("soft ")
				l.Num(glSoft.Uint(b, m.Big))
				if flags := glFlags.Uint(b, m.Big); flags != 0 {
					l.Key("")
					l.Flags(QuotaGlimpseFlags, flags)
				}
			}
		},
	}
	glimpseBarrier = &Variant{Name: "barrier",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufDlmGlDescLdlmGlBarrierDesc),
		Reply:   Bufs(bufPtlrpcBody, bufDlmLvbBarrierLvb),
		Ask: func(m *Msg, l *Line) {
			askGlimpse(m, l)
			l.Key("")
			l.Value(Flag, BarrierStatus, lgbdStatus.Uint(m.Buf(2), m.Big))
		},
		Answer: func(m *Msg, l *Line) {
			if b := m.Buf(1); len(b) >= barrierLvb.Size {
				l.Value(Flag, BarrierStatus, barrierState.Uint(b, m.Big))
			}
		},
	}
)

var (
	glHard       = ldlmGlLquotaDesc.Field("gl_hardlimit")
	glSoft       = ldlmGlLquotaDesc.Field("gl_softlimit")
	glFlags      = ldlmGlLquotaDesc.Field("gl_flags")
	lgbdStatus   = ldlmGlBarrierDesc.Field("lgbd_status")
	barrierState = barrierLvb.Field("lvb_status")
)

// askGlimpse says whose lock it is, and on what.
func askGlimpse(m *Msg, l *Line) {
	b := m.Buf(1)
	requestLock(b, m.Big).resource(l)
	sayHandle(b, 0, l)
}
