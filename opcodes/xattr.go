package opcodes

import (
	"bytes"
	"slices"
	"unicode/utf8"

	. "github.com/lshark/lshark/opcodes/schema"
)

const MDS_GETXATTR = 49

var (
	bufEadataGetxattr = OneOf("eadata", chooseGetxattr, getxattrForms, Tagged(true), "value of the attribute, or names of all")
	bufEadataSetxattr = OneOf("eadata", func(v *View) *Field {
		return xattrForm(TrimNUL(v.Msg.Named("name")), v.Rest, true)
	}, xattrForms, Tagged(true), "value of the attribute")
	bufEavals     = Records("eavals", stepXattrValue, formXattrValue, "the values of the attributes")
	bufEavalsLens = Arr("eavals_lens", -1, U32(""), Harmless, "length of each value")
)

var _ = DefineRPC(&RPC{Opcode: MDS_GETXATTR, Name: "MDS_GETXATTR", Does: Xattrs | OfFile,
	Doc:     "Asks for the value of an extended attribute, or for the names of all. Room of zero bytes asks for the size only.",
	Context: true,
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, Sub("mdt_body", &mdtBodyXattr, "the object"), bufCapa1, bufName, Opaque("eadata", 0, "unused"), bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufEadataGetxattr),
		SummarizeRequest: func(m *Msg, l *Line) {
			o := bodyOf(m)
			l.FID(mboFid1.Bytes(o.b), o.big)
			l.Key("")
			if name := TrimNUL(m.Named("name")); len(name) > 0 {
				l.Label(Name, name)
			} else {
				l.Add(Flag, "all names")
			}
			l.Key("room ").Num(o.word(mboEadatasize))
		},
		SummarizeReply: func(m *Msg, l *Line) {
			o := bodyOf(m)
			if len(o.b) > 0 {
				l.Key("bytes ").Num(o.word(mboEadatasize))
			}
			addLayout(l, m.Named("eadata"), false)
		},
		Subject: bodySubject,
	}}})

// The forms of the values of extended attributes.
var (
	formText    = Str("text", 0, Removed, "text")
	formBytes   = Opaque("bytes", 0, "bytes")
	formVersion = U64("version", Cookie, Little, "version of the object")
	formLma     = Sub("lustre_mdt_attrs", &lustreMdtAttrs)
	formLoa     = Sub("lustre_ost_attrs", &lustreOstAttrs)
	formSom     = Sub("lustre_som_attrs", &lustreSomAttrs)
	formHsmEA   = Sub("hsm_attrs", &hsmAttrs)
	formLinkea  = Sub("link_ea_header", &linkEaHeader)
	xattrForms  = slices.Concat([]*Field{formText, formBytes, formVersion, formLma, formLoa, formSom, formHsmEA, formLinkea,
		formACL, formFscryptV1, formFscryptV2}, filterForms, mdForms)
)

// XattrForm returns the form in which an extended attribute is stored, by its name and
// its value.
func XattrForm(name string, value []byte) *Field {
	switch layoutMagic(value) {
	case lovMagicV1, lovMagicV3:
		// The default layout of a directory is of no object and has none.
		if user := layoutForm(value, true); len(value) == user.Size && allZero(lovUserMdV1.Field("lmm_oi").Bytes(value)) {
			return user
		}
	}
	return xattrForm([]byte(name), value, false)
}

// xattrForm is the form of the value of an extended attribute, by its name.
// user reports that a user wrote it.
func xattrForm(name, value []byte, user bool) *Field {
	// Parts of a layout are added, set and deleted as lustre.lov.add and such.
	if part, found := bytes.CutPrefix(name, []byte("lustre.lov.")); found && len(part) > 0 {
		name = name[:len("lustre.lov")]
	}
	switch string(name) {
	case "trusted.lov", "lustre.lov", "trusted.lmv", "lustre.lmv", "trusted.dmv", "lustre.dmv":
		if f := layoutForm(value, user); f != nil {
			return f
		}
		return formBytes
	case "trusted.lma":
		if len(value) >= lustreOstAttrs.Size {
			return formLoa
		}
		return formLma
	case "trusted.som":
		return formSom
	case "trusted.hsm":
		return formHsmEA
	case "trusted.link":
		return formLinkea
	case "trusted.fid":
		return filterForm(value)
	case "trusted.version", "trusted.dataver":
		return formVersion
	case "system.posix_acl_access", "system.posix_acl_default", "trusted.posix_acl_access", "trusted.posix_acl_default":
		return formACL
	case "security.c", "encryption.c", "trusted.c":
		if f := chooseFscrypt(&View{Rest: value}); f != nil {
			return f
		}
	}
	return textOrBytes(value)
}

// textOrBytes shows as text what can be read as such.
func textOrBytes(b []byte) *Field {
	text := bytes.TrimRight(b, "\x00")
	if len(text) == 0 || bytes.IndexByte(text, 0) >= 0 || !utf8.Valid(text) {
		return formBytes
	}
	for _, c := range text {
		if c < ' ' && c != '\n' && c != '\t' {
			return formBytes
		}
	}
	return formText
}

var formNames = Strs("names", XattrName, "names of extended attributes")

var getxattrForms = append([]*Field{formNames}, xattrForms...)

// chooseGetxattr is the form of what a getxattr answers: a list of names, or
// the value of the attribute that the request names.
func chooseGetxattr(v *View) *Field {
	if !v.Msg.Reply {
		return formBytes
	}
	req := v.Msg.Req
	if req == nil {
		return guessGetxattr(v.Rest)
	}
	name := TrimNUL(req.Named("name"))
	if len(name) == 0 || mdValid(req)&ObdMdValid.Bit("FLXATTRLS") != 0 {
		return formNames
	}
	return xattrForm(name, v.Rest, false)
}

// guessGetxattr reads an answer whose request is not known.
func guessGetxattr(b []byte) *Field {
	if f := layoutForm(b, false); f != nil {
		return f
	}
	if len(b) > 1 && b[len(b)-1] == 0 && bytes.IndexByte(b[:len(b)-1], '.') > 0 &&
		textOrBytes(bytes.ReplaceAll(b, []byte{0}, []byte{'.'})) == formText {
		return formNames
	}
	return textOrBytes(b)
}

// xattrValue is one of the values in the reply to a getxattr intent. The
// values are contiguous; names and lengths are in other buffers.
var xattrValue = &Struct{Name: "xattr_value", Doc: "an extended attribute", Fields: []*Field{
	Derived("name", xattrNameHere, "its name, from the buffer eadata"),
	OneOf("value", chooseListed, xattrForms, Tagged(true), "its value"),
}}

var formXattrValue = Sub("", &xattrValue)

// stepXattrValue takes the length of the next value from eavals_lens.
func stepXattrValue(v *View) (*Field, int) {
	lens := v.Msg.Named("eavals_lens")
	if 4*v.Index+4 > len(lens) {
		return nil, 0
	}
	n := int(uint32(ReadUint(lens[4*v.Index:4*v.Index+4], v.Msg.Big)))
	if n == 0 {
		return formXattrValue, EmptyRecord
	}
	return formXattrValue, n
}

// nthXattr is the name of attribute n in a list of names. A list of many names
// is walked once for each of them, so only so many get a name.
func nthXattr(m *Msg, n int) []byte {
	const most = 256
	names := m.Named("eadata")
	if n > most {
		return nil
	}
	for ; n > 0; n-- {
		i := bytes.IndexByte(names, 0)
		if i < 0 {
			return nil
		}
		names = names[i+1:]
	}
	return TrimNUL(names)
}

func xattrNameHere(v *View, dst []byte) []byte { return append(dst, nthXattr(v.Msg, v.Index)...) }

func chooseListed(v *View) *Field { return xattrForm(nthXattr(v.Msg, v.Index), v.Rest, false) }

// xattrParam is the form of an attribute's value, with a length of its own.
func xattrParam(name, value []byte) *Field {
	switch f := xattrForm(TrimNUL(name), value, false); f {
	case formText:
		return paramText
	case formBytes:
		return paramBytes
	default:
		return f
	}
}

var xattrSetFlags = Bits("xattr_set_flags", "XATTR_", "flags of setxattr(2)", []Value{
	{Name: "CREATE", Value: 1, Doc: "the attribute must not be there"},
	{Name: "REPLACE", Value: 2, Doc: "the attribute must be there"},
})

// The forms of layouts that files and directories store in extended attributes.
var (
	storedFileLayouts = []*Field{formLovV1, formLovV3, formComp, formForeign, formHsm}
	storedDirLayouts  = []*Field{formLmv, formUserLmv, formLmvForeign}
)

// The extended attributes with a meaning of their own to Lustre.
// xattrForm chooses the form of a value.
var xattrNames = []*TextConstant{
	{Name: "XATTR_NAME_ACL_ACCESS", Value: "system.posix_acl_access", Doc: "POSIX ACL of a file", Forms: []*Field{formACL}},
	{Name: "XATTR_NAME_ACL_DEFAULT", Value: "system.posix_acl_default", Doc: "POSIX ACL that new files in a directory get",
		Forms: []*Field{formACL}},
	{Name: "XATTR_NAME_LOV", Value: "trusted.lov", Doc: "layout of a file: which OST objects have its data",
		Forms: storedFileLayouts},
	{Name: "XATTR_LUSTRE_LOV", Value: "lustre.lov", Doc: "trusted.lov for users without privileges; lustre.lov.add, .set and " +
		"the like change parts of it", Forms: storedFileLayouts},
	{Name: "XATTR_NAME_LMA", Value: "trusted.lma", Doc: "what an object is, and its FID", Forms: []*Field{formLma, formLoa}},
	{Name: "XATTR_NAME_LMV", Value: "trusted.lmv", Doc: "layout of a directory: which MDTs have its stripes",
		Forms: storedDirLayouts},
	{Name: "XATTR_NAME_DEFAULT_LMV", Value: "trusted.dmv", Doc: "layout that new directories in a directory get",
		Forms: storedDirLayouts},
	{Name: "XATTR_NAME_LINK", Value: "trusted.link", Doc: "names of an object and the directories that they are in",
		Forms: []*Field{formLinkea}},
	{Name: "XATTR_NAME_FID", Value: "trusted.fid", Doc: "file that an OST object belongs to, and its place in the layout",
		Forms: filterForms},
	{Name: "XATTR_NAME_VERSION", Value: "trusted.version", Doc: "version of an object: transaction of its last change, for " +
		"version based recovery", Forms: []*Field{formVersion}},
	{Name: "XATTR_NAME_SOM", Value: "trusted.som", Doc: "size and blocks of a file as known to the MDT",
		Forms: []*Field{formSom}},
	{Name: "XATTR_NAME_HSM", Value: "trusted.hsm", Doc: "HSM state of a file", Forms: []*Field{formHsmEA}},
	{Name: "XATTR_NAME_LFSCK_BITMAP", Value: "trusted.lfsck_bitmap",
		Doc: "MDTs whose part of the namespace LFSCK has failed to check"},
	{Name: "XATTR_NAME_LFSCK_NAMESPACE", Value: "trusted.lfsck_ns", Doc: "state of the namespace LFSCK"},
	{Name: "XATTR_NAME_DUMMY", Value: "trusted.dummy", Doc: "never stored: deleting it forces a transaction"},
	{Name: "XATTR_NAME_PROJID", Value: "trusted.projid", Since: "2.15", Doc: "project id of a file"},
	{Name: "XATTR_NAME_DATAVER", Value: "trusted.dataver", Since: "2.16",
		Doc: "data version of a file whose data are on the MDT", Forms: []*Field{formVersion}},
	{Name: "XATTR_NAME_JOB_DEFAULT", Value: "user.job", Since: "2.16", Doc: "job that created the file; the name can be set " +
		"by mdt.*.job_xattr", Forms: []*Field{formText}},
	{Name: "XATTR_NAME_PIN", Value: "trusted.pin", Since: "2.17",
		Doc: "archives of the client cache (PCC) in which the file is pinned"},
	{Name: "XATTR_LUSTRE_PIN", Value: "lustre.pin", Since: "2.17", Doc: "trusted.pin for users without privileges"},
	{Name: "XATTR_NAME_INODEFL", Value: "trusted.inodefl", Since: "2.18", Doc: "inode flags"},
	{Name: "LL_XATTR_NAME_ENCRYPTION_CONTEXT_OLD", Value: "security.c", Since: "2.15",
		Doc: "how a file is encrypted, under its first name", Forms: []*Field{formFscryptV1, formFscryptV2}},
	{Name: "LL_XATTR_NAME_ENCRYPTION_CONTEXT", Value: "encryption.c", Since: "2.15", Doc: "how a file is encrypted",
		Forms: []*Field{formFscryptV1, formFscryptV2}},
}
