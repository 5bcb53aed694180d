package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// LayoutOSTs calls f with each object that the layout of a file in a reply or
// completion callback names by a FID, and the index of its OST.
func LayoutOSTs(m *Msg, f func(fid []byte, big bool, ost uint32)) {
	if !m.Reply && m.Opcode != LDLM_CP_CALLBACK {
		return
	}
	for i := 1; i < len(m.Bufs); i++ {
		b := m.Bufs[i]
		switch layoutMagic(b) {
		case lovMagicV1, lovMagicV3:
			if !userWrote(m) {
				objectOSTs(b, f)
			}
		case lovMagicComp:
			componentOSTs(b, f)
		}
	}
}

// componentOSTs is LayoutOSTs for a layout with components. Those without objects
// yet are left out.
func componentOSTs(b []byte, f func(fid []byte, big bool, ost uint32)) {
	if len(b) < lovCompMdV1.Size {
		return
	}
	big := littleLayout(b, false)
	for entry := b[lovCompMdV1.Size:]; len(entry) >= lovCompMdEntryV1.Size; entry = entry[lovCompMdEntryV1.Size:] {
		b, entries := b, int(lcmEntryCount.Uint(b, big))
		if len(b)-len(entry) >= lovCompMdV1.Size+entries*lovCompMdEntryV1.Size {
			return
		}
		if off, size := layoutRange(entry, big); lcmeFlags.Uint(entry, big)&compInit != 0 && off <= len(b) && size <= len(b)-off {
			objectOSTs(b[off:off+size], f)
		}
	}
}

// objectOSTs is LayoutOSTs for a layout without components.
func objectOSTs(b []byte, f func(fid []byte, big bool, ost uint32)) {
	form := plainForm(b, false)
	if form != formLovV1 && form != formLovV3 || len(b) < form.Type.Size {
		return
	}
	big := littleLayout(b, false)
	n := form.Type.Field("lmm_stripe_count").Uint(b, big)
	if form.Type.Field("lmm_pattern").Uint(b, big)&lovNoObjects != 0 || n >= lovManyStripes {
		return
	}
	b = b[form.Type.Field("lmm_objects").Off:]
	for range n {
		if len(b) < lovOstDataV1.Size {
			return
		}
		if IsFID(b, big) {
			f(b[:16], big, uint32(lOstIdx.Uint(b, big)))
		}
		b = b[lovOstDataV1.Size:]
	}
}
