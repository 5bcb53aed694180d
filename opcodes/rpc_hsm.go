package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: MDS_HSM_STATE_GET, Name: "MDS_HSM_STATE_GET",
	Doc: "Asks for the HSM state of a file: whether the archive has a copy, whether the data is released.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufHsmUserState),
		Ask:     askBody, Subject: bodySubject,
		Answer: func(m *Msg, l *Line) {
			state := m.Named("hsm_user_state")
			if len(state) == 0 {
				return
			}
			l.Key("state ")
			set := husStates.Uint(state, m.Big)
			if set == 0 {
				l.Add(Flag, "NONE")
				return
			}
			l.Flags(HsmStates, set)
			l.Key("archive ")
			l.Num(husArchive.Uint(state, m.Big))
		},
	}}})

var (
	husStates  = hsmUserState.Field("hus_states")
	husArchive = hsmUserState.Field("hus_archive_id")
)

var _ = DefineRPC(&RPC{Opcode: MDS_HSM_STATE_SET, Name: "MDS_HSM_STATE_SET",
	Doc: "Sets or clears HSM states of a file by hand, or the archive it belongs to.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, bufHsmStateSet),
		Reply:   Bufs(bufPtlrpcBody),
		Ask: func(m *Msg, l *Line) {
			askBody(m, l)
			set := m.Named("hsm_state_set")
			if n := hssSet.Uint(set, m.Big); n != 0 {
				l.Key("set ")
				l.Flags(HsmStates, n)
			}
			if n := hssClear.Uint(set, m.Big); n != 0 {
				l.Key("clear ")
				l.Flags(HsmStates, n)
			}
		},
		Subject: bodySubject,
	}}})

var (
	hssSet   = hsmStateSet.Field("hss_setmask")
	hssClear = hsmStateSet.Field("hss_clearmask")
)

var _ = DefineRPC(&RPC{Opcode: MDS_HSM_ACTION, Name: "MDS_HSM_ACTION",
	Doc: "Asks what is being done to a file by HSM at the moment.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufHsmCurrentAction),
		Ask:     askBody, Subject: bodySubject,
		Answer: func(m *Msg, l *Line) {
			if now := m.Named("hsm_current_action"); len(now) >= 8 {
				l.Key("")
				l.Value(Flag, HsmUserAction, ReadUint(now[4:8], m.Big))
				l.Key("")
				l.Value(Flag, HsmProgressStates, ReadUint(now[:4], m.Big))
			}
		},
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_HSM_PROGRESS, Name: "MDS_HSM_PROGRESS",
	Doc: "A copytool reports how far it is with an action, or that it has ended.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufHsmProgress),
		Reply:   Bufs(bufPtlrpcBody),
		Ask: func(m *Msg, l *Line) {
			p := m.Named("hsm_progress")
			l.FID(p[:min(16, len(p))], m.Big)
			l.Key("cookie ")
			l.Hex(Object, hpkCookie.Uint(p, m.Big))
			if flags := hpkFlags.Uint(p, m.Big); flags != 0 {
				l.Key("")
				l.Flags(HsmProgressFlags, flags)
			}
			if errval := hpkErrval.Uint(p, m.Big); errval != 0 {
				l.Key("error ")
				l.Value(Bad, Errnos, errval)
			}
		},
		Subject: func(m *Msg) (fid, name []byte) { return firstFID(m.Named("hsm_progress")), nil },
	}}})

var (
	hpkCookie = hsmProgressKernel.Field("hpk_cookie")
	hpkFlags  = hsmProgressKernel.Field("hpk_flags")
	hpkErrval = hsmProgressKernel.Field("hpk_errval")
)

var _ = DefineRPC(&RPC{Opcode: MDS_HSM_REQUEST, Name: "MDS_HSM_REQUEST",
	Doc: "A user wants files archived, restored, released or removed from the archive, or wants that cancelled.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufHsmRequest, bufHsmUserItem, bufCopytoolData),
		Reply:   Bufs(bufPtlrpcBody),
		Ask: func(m *Msg, l *Line) {
			req, items := m.Named("hsm_request"), m.Named("hsm_user_item")
			l.Value(Flag, HsmUserAction, hrAction.Uint(req, m.Big))
			if len(items) >= 16 {
				l.Key("")
				l.FID(items[:16], m.Big)
			}
			if n := hrItems.Uint(req, m.Big); n > 1 {
				l.Key("files ")
				l.Num(n)
			}
			if id := hrArchive.Uint(req, m.Big); id != 0 {
				l.Key("archive ")
				l.Num(id)
			}
		},
		Subject: func(m *Msg) (fid, name []byte) { return firstFID(m.Named("hsm_user_item")), nil },
	}}})

var (
	hrAction  = hsmRequest.Field("hr_action")
	hrArchive = hsmRequest.Field("hr_archive_id")
	hrItems   = hsmRequest.Field("hr_itemcount")
)

var _ = DefineRPC(&RPC{Opcode: MDS_HSM_CT_REGISTER, Name: "MDS_HSM_CT_REGISTER",
	Doc: "A client announces a copytool and the archives it serves; actions are then sent to it.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody, bufHsmArchive),
		Reply:   Bufs(bufPtlrpcBody),
		Ask: func(m *Msg, l *Line) {
			ids := m.Named("hsm_archive")
			if len(ids) < 4 {
				l.Key("all archives")
				return
			}
			l.Key("archives ")
			for i := 0; i+4 <= min(len(ids), 32); i += 4 {
				if i > 0 {
					l.Add(Dim, ",")
				}
				l.Num(ReadUint(ids[i:i+4], m.Big))
			}
		},
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_HSM_CT_UNREGISTER, Name: "MDS_HSM_CT_UNREGISTER",
	Doc: "A client says that its copytool has ended.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody),
		Reply:   Bufs(bufPtlrpcBody),
	}}})

var _ = DefineRPC(&RPC{Opcode: MDS_HSM_DATA_VERSION, Name: "MDS_HSM_DATA_VERSION",
	Doc: "Sets the data version that the archive's copy of a file has.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufMdtBody),
		Reply:   Bufs(bufPtlrpcBody),
		Ask: func(m *Msg, l *Line) {
			askBody(m, l)
			if o := bodyOf(m); o.has(bodyVersion) {
				l.Key("version ")
				l.Hex(Object, o.word(mboVersion))
			}
		},
		Subject: bodySubject,
	}}})
