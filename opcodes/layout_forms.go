package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// The magic numbers that tell layouts apart.
const (
	lovMagicV1       = 0x0bd10bd0
	lovMagicV3       = 0x0bd30bd0
	lovMagicSpecific = 0x0bd50bd0
	lovMagicComp     = 0x0bd60bd0
	lovMagicForeign  = 0x0bd70bd0
)

// The forms of a layout. Those that users write have the OST to begin with
// where the others have a generation, and need no objects.
var (
	formLovV1      = Sub("lov_mds_md_v1", lovMdsMdV1)
	formLovV3      = Sub("lov_mds_md_v3", lovMdsMdV3)
	formUserV1     = Sub("lov_user_md_v1", lovUserMdV1)
	formUserV3     = Sub("lov_user_md_v3", lovUserMdV3)
	formComp       = Sub("lov_comp_md_v1", lovCompMdV1)
	formForeign    = Sub("lov_foreign_md", lovForeignMd)
	formHsm        = Sub("lov_hsm_md", lovHsmMd)
	formLmv        = Sub("lmv_mds_md_v1", lmvMdsMdV1)
	formUserLmv    = Sub("lmv_user_md_v1", lmvUserMdV1)
	formLmvForeign = Sub("lmv_foreign_md", lmvForeignMd)
	formLinkname   = Str("linkname", 0, "target of the symbolic link")

	componentForms = []*Field{formLovV1, formLovV3, formUserV1, formUserV3, formForeign, formHsm}
	layoutForms    = append([]*Field{formComp}, componentForms...)
	mdForms        = append([]*Field{formLmv, formUserLmv, formLmvForeign, formLinkname}, layoutForms...)
)

// littleLayout is the byte order of a layout: little-endian, unless a client
// of the other order wrote it.
func littleLayout(b []byte, _ bool) bool {
	return len(b) >= 4 && b[3] == 0xd0 && (b[2] == 0x0b || b[2] == 0x0c)
}

// layoutMagic is the magic of a layout, of either byte order.
func layoutMagic(b []byte) uint32 {
	if len(b) < 4 {
		return 0
	}
	return uint32(ReadUint(b[:4], littleLayout(b, false)))
}

// layoutForm is the form of a layout by its magic; user says that a user
// wrote it, or that it is the default of a directory. nil: not a layout.
func layoutForm(b []byte, user bool) *Field {
	switch magic := layoutMagic(b); magic {
	case lovMagicComp:
		return formComp
	case lmvMagicV1:
		return formLmv
	case lmvMagicSpecific:
		if user {
			return formUserLmv
		}
		return formLmv
	case lmvMagicUser:
		return formUserLmv
	case lmvMagicForeign:
		return formLmvForeign
	}
	return plainForm(b, user)
}

// plainForm is the form of a layout that is not composite.
func plainForm(b []byte, user bool) *Field {
	switch layoutMagic(b) {
	case lovMagicV1:
		if user {
			return formUserV1
		}
		return formLovV1
	case lovMagicV3:
		if user {
			return formUserV3
		}
		return formLovV3
	case lovMagicSpecific:
		return formUserV3
	case lovMagicForeign:
		if holdsHSM(b) {
			return formHsm
		}
		return formForeign
	}
	return nil
}

// holdsHSM says whether a foreign layout is one of HSM: it has the type of an
// archive or client cache, and the size.
func holdsHSM(b []byte) bool {
	const types, size = 4, 72
	if len(b) < size {
		return false
	}
	big := littleLayout(b, false)
	length, kind := ReadUint(b[4:8], big), ReadUint(b[8:12], big)
	return length == size-16 && kind >= 1 && kind <= types
}

// chooseLayout is the form of a buffer that holds the layout of a file.
func chooseLayout(v *View) *Field { return layoutForm(v.Rest, false) }

// chooseUserLayout is the form of a buffer in which a user asks for a layout.
func chooseUserLayout(v *View) *Field { return layoutForm(v.Rest, userWrote(v.Msg)) }

func chooseComponentLayout(v *View) *Field { return plainForm(v.Rest, userWrote(v.Msg)) }

// chooseMd is the form of a mdt_md buffer: by what mbo_valid says about it,
// and by its magic.
func chooseMd(v *View) *Field {
	if mdValid(v.Msg)&mdLinkname != 0 {
		return formLinkname
	}
	return layoutForm(v.Rest, userWrote(v.Msg))
}

const (
	mdLinkname   = 0x40000
	mdDirEA      = 0x10000000
	mdMEA        = 0x400000000
	mdDefaultMEA = 0x40000000000000
	openHasObjs  = 0x80000000
	atMboValid   = 40
	atCrFlags    = 120
)

// mdValid is the mbo_valid of the message's mdt_body.
func mdValid(m *Msg) uint64 {
	body := m.Named("mdt_body")
	if len(body) < atMboValid+8 {
		return 0
	}
	return ReadUint(body[atMboValid:atMboValid+8], m.Big)
}

// userWrote says whether a layout in the message is in the form that users
// write: in requests, but those that bring the objects, and as the default of
// a directory.
func userWrote(m *Msg) bool {
	if m == nil || m.Opcode == LDLM_CP_CALLBACK {
		return false // the callback brings the layout that is
	}
	if m.Reply {
		valid := mdValid(m)
		return valid&mdDirEA != 0 && valid&mdMEA == 0
	}
	rec := m.Named("rec_reint")
	if len(rec) < atCrFlags+4 {
		return true
	}
	return ReadUint(rec[:4], m.Big) != reintOpen || ReadUint(rec[atCrFlags:atCrFlags+4], m.Big)&openHasObjs == 0
}

const (
	lovObjectSize  = 24
	lovManyStripes = 0xffe0 // from here on: a number of stripes an OST, not objects
	lovNoObjects   = 0x100 | 0x400 | 0x80000000
	compInit       = 0x10
	compExtension  = 0x40
	atLovPattern   = 4
)

// lovObjects is how many objects a layout has. A released file, a part on the
// MDT and a component that is not in use yet have none, whatever the stripe
// count says.
func lovObjects(v *View) int {
	n := v.Uint(v.Type.Field("lmm_stripe_count"))
	if v.Uint(v.Type.Field("lmm_pattern"))&lovNoObjects != 0 || n >= lovManyStripes || noObjectsYet(v) {
		return 0
	}
	return int(n)
}

// userObjects is how many objects or OSTs follow the layout that a user
// wrote: as many as there is room for, as most come without.
func userObjects(v *View) int {
	n := v.Uint(v.Type.Field("lmm_stripe_count"))
	if n >= lovManyStripes {
		return 0
	}
	return min(int(n), len(v.Rest)/lovObjectSize)
}

// componentFlags are the flags of the component that the layout is in.
func componentFlags(v *View) (flags uint64, ok bool) {
	if v.Up == nil || v.Up.Type == nil || v.Up.Type.Name != "lov_comp_md_entry_v1" || len(v.Up.Struct) < atCompFlags+4 {
		return 0, false
	}
	return ReadUint(v.Up.Struct[atCompFlags:atCompFlags+4], v.Up.Big), true
}

func noObjectsYet(v *View) bool {
	flags, ok := componentFlags(v)
	return ok && flags&compInit == 0
}
