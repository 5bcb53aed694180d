package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

var LovMagic = Enum("lov_magic", "", "kinds of file layouts", []Value{
	{Name: "LOV_MAGIC_MAGIC", Value: 0xbd0, Alias: true},
	{Name: "LOV_MAGIC_MASK", Value: 0xffff, Alias: true},
	{Name: "LOV_MAGIC_BAD", Value: 0xbad0bd0, Since: "2.16", Doc: "layout that was found damaged"},
	{Name: "LOV_USER_MAGIC", Value: lovMagicV1, Alias: true},
	{Name: "LOV_USER_MAGIC_V1", Value: lovMagicV1, Alias: true},
	{Name: "LOV_MAGIC_V1", Value: lovMagicV1, Doc: "plain layout"},
	{Name: "LOV_MAGIC", Value: lovMagicV1, Alias: true},
	{Name: "LOV_USER_MAGIC_JOIN_V1", Value: 0xbd20bd0, Alias: true},
	{Name: "LOV_MAGIC_JOIN_V1", Value: 0xbd20bd0},
	{Name: "LOV_MAGIC_V3", Value: lovMagicV3, Doc: "plain layout in a pool"},
	{Name: "LOV_USER_MAGIC_V3", Value: lovMagicV3, Alias: true},
	{Name: "LOV_MAGIC_MIGRATE", Value: 0xbd40bd0, Doc: "layout of a migration"},
	{Name: "LOV_USER_MAGIC_SPECIFIC", Value: lovMagicSpecific, Alias: true},
	{Name: "LOV_MAGIC_SPECIFIC", Value: lovMagicSpecific, Doc: "request of a user that names OSTs; same fields as V3"},
	{Name: "LOV_USER_MAGIC_COMP_V1", Value: lovMagicComp, Alias: true},
	{Name: "LOV_MAGIC_COMP_V1", Value: lovMagicComp, Doc: "composite (PFL/FLR) layout"},
	{Name: "LOV_MAGIC_FOREIGN", Value: lovMagicForeign, Since: "2.15", Doc: "foreign layout"},
	{Name: "LOV_USER_MAGIC_FOREIGN", Value: lovMagicForeign, Since: "2.15", Alias: true},
	{Name: "LOV_USER_MAGIC_SEL", Value: 0xbd80bd0, Since: "2.15", Alias: true},
	{Name: "LOV_MAGIC_SEL", Value: 0xbd80bd0, Since: "2.15", Doc: "request of a user for a self-extending layout"},
	{Name: "LOV_MAGIC_DEFINED", Value: 0x10000000, Doc: "server-internal bit, never on wire"},
	{Name: "LOV_MAGIC_V1_DEFINED", Value: 0x1bd10bd0},
	{Name: "LOV_MAGIC_V3_DEFINED", Value: 0x1bd30bd0},
	{Name: "LOV_MAGIC_COMP_V1_DEFINED", Value: 0x1bd60bd0},
})

var LmvMagic = Enum("lmv_magic", "", "kinds of directory layouts", []Value{
	{Name: "LMV_USER_MAGIC_V0", Value: lmvMagicV1, Alias: true},
	{Name: "LMV_MAGIC_V1", Value: lmvMagicV1, Doc: "striped directory master EA"},
	{Name: "LMV_MAGIC", Value: lmvMagicV1, Alias: true},
	{Name: "LMV_USER_MAGIC", Value: lmvMagicUser, Doc: "default layout of a directory (LMV_USER_MAGIC)"},
	{Name: "LMV_USER_MAGIC_SPECIFIC", Value: lmvMagicSpecific, Doc: "layout in a request of a user that names MDTs"},
	{Name: "LMV_MAGIC_STRIPE", Value: lmvMagicSpecific, Doc: "slave stripe object", Alias: true},
	{Name: "LMV_MAGIC_FOREIGN", Value: lmvMagicForeign, Since: "2.15", Doc: "foreign directory"},
})

// lmvServerMagic are the magics as servers use them: the number that in a
// request names MDTs is a stripe there.
var lmvServerMagic = func() *Names {
	values := append([]Value(nil), LmvMagic.Values...)
	for i := range values {
		switch values[i].Name {
		case "LMV_MAGIC_STRIPE":
			values[i].Alias = false
		case "LMV_USER_MAGIC_SPECIFIC":
			values[i].Alias = true
		}
	}
	return LmvMagic.Form(values)
}()

// The magic numbers of the kinds of layouts.
const (
	lovMagicV1       = 0x0bd10bd0
	lovMagicV3       = 0x0bd30bd0
	lovMagicSpecific = 0x0bd50bd0
	lovMagicComp     = 0x0bd60bd0
	lovMagicForeign  = 0x0bd70bd0
)

const (
	lmvMagicV1       = 0x0cd20cd0
	lmvMagicUser     = 0x0cd30cd0
	lmvMagicSpecific = 0x0cd40cd0 // of a request: names MDTs; of a server: a stripe
	lmvMagicForeign  = 0x0cd50cd0
)

var ForeignType = Enum("foreign_type", "LU_FOREIGN_TYPE_", "system that a foreign file or directory belongs to", []Value{
	{Name: "NONE", Value: 0x0, Since: "2.15", Doc: "not said"},
	{Name: "POSIX", Value: 0x1, Since: "2.16", Doc: "HSM archive, POSIX"},
	{Name: "PCCRW", Value: 0x2, Since: "2.16", Doc: "client cache, read-write"},
	{Name: "PCCRO", Value: 0x3, Since: "2.16", Doc: "client cache, read-only"},
	{Name: "S3", Value: 0x4, Since: "2.16", Doc: "HSM archive, S3"},
	{Name: "SYMLINK", Value: 0xda05, Since: "2.15", Doc: "reads as a symbolic link"},
	{Name: "UNKNOWN", Value: 0xffffffff, Since: "2.15", Doc: "not known"},
})

// The forms of a layout. Those that users write begin with an OST index where the
// others have a generation, and need no objects.
var (
	formLovV1      = Sub("lov_mds_md_v1", &lovMdsMdV1)
	formLovV3      = Sub("lov_mds_md_v3", &lovMdsMdV3)
	formUserV1     = Sub("lov_user_md_v1", &lovUserMdV1)
	formUserV3     = Sub("lov_user_md_v3", &lovUserMdV3)
	formComp       = Sub("lov_comp_md_v1", &lovCompMdV1)
	formForeign    = Sub("lov_foreign_md", &lovForeignMd)
	formHsm        = Sub("lov_hsm_md", &lovHsmMd)
	formLmv        = Sub("lmv_mds_md_v1", &lmvMdsMdV1)
	formUserLmv    = Sub("lmv_user_md_v1", &lmvUserMdV1)
	formLmvForeign = Sub("lmv_foreign_md", &lmvForeignMd)
	formLinkname   = Str("linkname", 0, FilePath, "target of the symbolic link")
	componentForms = []*Field{formLovV1, formLovV3, formUserV1, formUserV3, formForeign, formHsm}
	layoutForms    = append([]*Field{formComp}, componentForms...)
	mdForms        = append([]*Field{formLmv, formUserLmv, formLmvForeign, formLinkname}, layoutForms...)
)

var layoutFormsUser = []*Field{formUserV1, formUserV3, formComp, formForeign, formHsm, formUserLmv, formLmvForeign,
	formLovV1, formLovV3, formLmv}

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

// layoutForm is the form of a layout by its magic; user reports that a user
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

// holdsHSM reports whether a foreign layout is one of HSM: it has the type of an
// archive or client cache, and the size.
func holdsHSM(b []byte) bool {
	big := littleLayout(b, false)
	kind := lovHsmMd.Field("lhm_type").Uint(b, big)
	return len(b) >= lovHsmMd.Size && lovHsmMd.Field("lhm_length").Uint(b, big) == uint64(lovHsmMd.Size-lhmCopy.Off) &&
		kind >= firstArchive && kind <= ForeignType.Number("S3")
}

var (
	lhmCopy = lovHsmMd.Field("lhm_hsm")

	firstArchive = ForeignType.Number("POSIX")
)

// chooseLayout is the form of a buffer that holds the layout of a file.
func chooseLayout(v *View) *Field { return layoutForm(v.Rest, false) }

func chooseUserLayout(v *View) *Field { return layoutForm(v.Rest, userWrote(v.Msg)) }

// chooseMd is the form of a mdt_md buffer: selected by mbo_valid,
// and by its magic.
func chooseMd(v *View) *Field {
	if mdValid(v.Msg)&mdLinkname != 0 {
		return formLinkname
	}
	return layoutForm(v.Rest, userWrote(v.Msg))
}

// chooseDefaultMd is the form of the default stripes of a directory.
func chooseDefaultMd(v *View) *Field {
	switch layoutMagic(v.Rest) {
	case lmvMagicV1:
		return formLmv
	case lmvMagicForeign:
		return formLmvForeign
	case lmvMagicUser, lmvMagicSpecific:
		return formUserLmv
	}
	return nil
}

var (
	mdLinkname = ObdMdValid.Bit("LINKNAME")
	mdDirEA    = ObdMdValid.Bit("FLDIREA")
	mdMEA      = ObdMdValid.Bit("MEA")
)

// mdValid is the mbo_valid of the message's mdt_body.
func mdValid(m *Msg) uint64 {
	if m == nil {
		return 0
	}
	return mboValid.Uint(m.Named("mdt_body"), m.Big)
}

// userWrote reports whether a layout in the message is in the form that users
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
	return rrOpcode.Uint(rec, m.Big) != reintOpen || openFlags(rec, m.Big)&MdsOpenFlags.Bit("OPEN_HAS_OBJS") == 0
}

var (
	bufMdtMd              = OneOf("mdt_md", chooseMd, mdForms, Tagged(true), "layout of the file or directory, or target of the link")
	bufEadataSetattr      = OneOf("eadata", chooseUserLayout, layoutFormsUser, Tagged(true), "layout to set")
	bufEadataCreate       = OneOf("eadata", chooseUserLayout, layoutFormsUser, Tagged(true), "layout of the new object")
	bufEadataOpen         = OneOf("eadata", chooseUserLayout, layoutFormsUser, Tagged(true), "layout of the file")
	bufEadataLayoutIntent = OneOf("eadata", chooseUserLayout, layoutFormsUser, Tagged(true), "layout to set")
	bufDefaultMdtMd       = OneOf("default_mdt_md", chooseDefaultMd, []*Field{formUserLmv, formLmv, formLmvForeign}, Tagged(true),
		"default stripes of the directory")
)

// appendLayoutBrief describes a layout of the form f in one or two words, for
// summary lines.
func appendLayoutBrief(dst []byte, f *Field, b []byte) []byte {
	v := View{Struct: b, Rest: b, Big: f.Type.Big(b, false), Type: f.Type}
	switch f {
	case formComp:
		return briefComposite(&v, dst)
	case formLmv, formUserLmv:
		return appendStripesBrief(&v, dst)
	case formForeign, formHsm, formLmvForeign:
		return append(dst, "foreign"...)
	}
	pattern := v.Uint(v.Type.Field("lmm_pattern"))
	dst = briefPattern(dst, pattern)
	if pattern&lovNoObjects == 0 {
		dst = append(dst, ' ')
		dst = briefStripeCount(dst, v.Uint(v.Type.Field("lmm_stripe_count")))
		dst = append(dst, 'x')
		dst = strconv.AppendUint(dst, v.Uint(v.Type.Field("lmm_stripe_size")), 10)
	}
	return briefPool(&v, dst, "lmm_pool_name")
}

// appendStripesBrief appends the number of stripes of a directory and their hash.
func appendStripesBrief(v *View, dst []byte) []byte {
	count, hash := "lum_stripe_count", "lum_hash_type"
	if v.Type.Name == "lmv_mds_md_v1" {
		count, hash = "lmv_stripe_count", "lmv_hash_type"
	}
	dst = briefCount(dst, "stripe", int32(v.Uint(v.Type.Field(count))))
	if word := v.Uint(v.Type.Field(hash)); word != 0 {
		dst = briefFlags(append(dst, ' '), lmvHashWord, word)
	}
	return dst
}

// remarkLayoutGen describes what the field of the generation contains in a component
// without objects: the OST to begin with.
func remarkLayoutGen(v *View, dst []byte) []byte {
	if noObjectsYet(v) {
		return briefIndex16(append(dst, "stripe_offset "...), v.Value)
	}
	return dst
}

func briefForeign(v *View, dst []byte) []byte {
	kind := v.Uint(lfmType)
	if name := ForeignType.Name(kind); name != "" {
		dst = append(dst, name...)
	} else {
		dst = AppendHex(dst, kind)
	}
	if value, ok := v.Type.Lookup("lfm_value"); ok && len(v.Struct) > value.Off {
		n := min(value.Elements(v), len(v.Struct)-value.Off, maxForeignShown)
		dst = append(dst, ", "...)
		dst = append(dst, v.Struct[value.Off:value.Off+n]...)
	}
	return dst
}

// maxForeignShown is how much of a foreign value a line has room for.
const maxForeignShown = 64

// addLayout appends what kind of layout it is, if b holds one. One stripe of a
// directory is no news.
func addLayout(l *Line, b []byte, user bool) {
	f := layoutForm(b, user)
	if f == nil || len(b) < f.Type.Size || f == formUserLmv && oneStripe(b) {
		return
	}
	l.Key("layout ")
	var brief [64]byte
	l.Text = AppendText(l.Text, appendLayoutBrief(brief[:0], f, b)) // a pool's name may be in it
	l.Mark(Flag)
}

// oneStripe reports whether a lmv_user_md_v1 asks for nothing out of the way.
func oneStripe(b []byte) bool {
	big := littleLayout(b, false)
	return uint32(lmvUserMdV1.Field("lum_stripe_count").Uint(b, big)) <= 1 && lmvUserMdV1.Field("lum_hash_type").Uint(b, big) == 0
}
