package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// The forms of a lock's value block.
var (
	formOstLvb     = Sub("ost_lvb", ostLvb)
	formOstLvbV1   = Sub("ost_lvb_v1", ostLvbV1)
	formQuotaLvb   = Sub("lquota_lvb", lquotaLvb)
	formBarrierLvb = Sub("barrier_lvb", barrierLvb)

	lvbForms = append([]*Field{formOstLvb, formOstLvbV1, formQuotaLvb, formBarrierLvb}, layoutForms...)
)

// chooseLvb is the form of a value block: by the kind of the lock, which is in
// the same message, or in the request when this is a glimpse's answer.
func chooseLvb(v *View) *Field {
	m := v.Msg
	if m != nil && m.Opcode == LDLM_GL_CALLBACK && m.Reply {
		m = m.Req
	}
	if m == nil || len(m.Buf(1)) < handlesAt {
		return lvbBySize(v)
	}
	switch k := requestLock(m.Buf(1), m.Big); k.kind() {
	case ldlmExtentType:
		return ostLvbForm(v)
	case ldlmIbitsType:
		if f := layoutForm(v.Rest, false); f != nil {
			return f
		}
		return ostLvbForm(v)
	case ldlmPlainType:
		if k.isQuota() {
			return formQuotaLvb
		}
	}
	return lvbBySize(v)
}

// ostLvbForm tells the old form by its size, which a cut does not change.
func ostLvbForm(v *View) *Field {
	if max(v.Len, len(v.Rest)) == ostLvbV1.Size {
		return formOstLvbV1
	}
	return formOstLvb
}

func lvbBySize(v *View) *Field {
	switch max(v.Len, len(v.Rest)) {
	case ostLvb.Size:
		return formOstLvb
	case ostLvbV1.Size:
		return formOstLvbV1
	case barrierLvb.Size:
		return formBarrierLvb
	}
	return layoutForm(v.Rest, false)
}
