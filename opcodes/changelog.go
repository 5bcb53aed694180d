package opcodes

import (
	"bytes"
	"strconv"
	"time"

	. "github.com/lshark/lshark/opcodes/schema"
)

var ChangelogType = Enum("changelog_type", "CL_", "kinds of changes in a changelog", []Value{
	{Name: "NONE", Value: 0xffffffffffffffff},
	{Name: "MARK", Value: 0x0, Doc: "the changelog itself was switched"},
	{Name: "CREATE", Value: 0x1},
	{Name: "MKDIR", Value: 0x2},
	{Name: "HARDLINK", Value: 0x3, Doc: "another name"},
	{Name: "SOFTLINK", Value: 0x4, Doc: "symbolic link"},
	{Name: "MKNOD", Value: 0x5},
	{Name: "UNLINK", Value: clUnlink},
	{Name: "RMDIR", Value: clRmdir},
	{Name: "RENAME", Value: clRename},
	{Name: "EXT", Value: 0x9, Doc: "target of a rename; old"},
	{Name: "OPEN", Value: clOpen},
	{Name: "CLOSE", Value: clClose},
	{Name: "LAYOUT", Value: 0xc, Doc: "layout changed"},
	{Name: "TRUNC", Value: clTrunc, Doc: "truncated"},
	{Name: "SETATTR", Value: clSetattr},
	{Name: "SETXATTR", Value: 0xf},
	{Name: "XATTR", Value: 0xf, Alias: true},
	{Name: "HSM", Value: clHSM, Doc: "HSM event"},
	{Name: "MTIME", Value: clMtime},
	{Name: "CTIME", Value: clCtime},
	{Name: "ATIME", Value: clAtime},
	{Name: "MIGRATE", Value: 0x14, Doc: "moved to another MDT"},
	{Name: "FLRW", Value: 0x15, Doc: "first write to a mirror"},
	{Name: "RESYNC", Value: 0x16, Doc: "mirrors brought up to date"},
	{Name: "GETXATTR", Value: 0x17},
	{Name: "DN_OPEN", Value: 0x18, Doc: "open that was denied"},
	{Name: "LAST", Value: 0x19},
})

var ChangelogFlags = Bits("changelog_flags", "CLF_", "parts that follow in a changelog record; the lower 12 bits mean something else "+
	"for each type", []Value{
	{Name: "HSM_ERR_L", Value: 0x0},
	{Name: "HSM_SUCCESS", Value: 0x0, Alias: true},
	{Name: "HSM_DIRTY", Value: 0x1, Alias: true},
	{Name: "RENAME_LAST", Value: 0x1, Alias: true},
	{Name: "UNLINK_LAST", Value: 0x1, Alias: true},
	{Name: "UNLINK_HSM_EXISTS", Value: 0x2, Alias: true},
	{Name: "RENAME_LAST_EXISTS", Value: 0x2, Alias: true},
	{Name: "HSM_ERR_H", Value: 0x6, Alias: true},
	{Name: "HSM_EVENT_L", Value: 0x7, Alias: true},
	{Name: "HSM_EVENT_H", Value: 0x9, Alias: true},
	{Name: "HSM_FLAG_L", Value: 0xa, Alias: true},
	{Name: "HSM_FLAG_H", Value: 0xb, Alias: true},
	{Name: "HSM_SPARE_L", Value: 0xc, Alias: true},
	{Name: "FLAGSHIFT", Value: 0xc, Alias: true},
	{Name: "HSM_LAST", Value: 0xf, Alias: true},
	{Name: "HSM_SPARE_H", Value: 0xf, Alias: true},
	{Name: "HSM_MAXERROR", Value: 0x7e, Alias: true},
	{Name: "HSM_ERROVERFLOW", Value: 0x7f, Alias: true},
	{Name: "FLAGMASK", Value: clfTypeful, Alias: true},
	{Name: "VERSION", Value: 0x1000, Doc: "record of this form"},
	{Name: "RENAME", Value: clfRename, Doc: "old parent and name follow"},
	{Name: "JOBID", Value: clfJobid, Doc: "job id follows"},
	{Name: "EXTRA_FLAGS", Value: clfExtra, Doc: "extra flags follow"},
	{Name: "SUPPORTED", Value: 0xf000, Alias: true},
	{Name: "VERMASK", Value: 0xfffffffffffff000, Alias: true},
})

// The lower 12 bits of cr_flags, by the type of the record.
var (
	changelogOpenWord = changelogWord(MdsOpenFlags.Values)
	changelogAttrWord = changelogWord(LaValid.Values)
	changelogHsmWord  = changelogWord(changelogHsmValues())

	changelogUnlinkWord = changelogWord([]Value{
		{Name: "UNLINK_LAST", Value: 0x1, Doc: "that was the last link"},
		{Name: "UNLINK_HSM_EXISTS", Value: 0x2, Doc: "an archive has a copy"},
	})
	changelogRenameWord = changelogWord([]Value{
		{Name: "RENAME_LAST", Value: 0x1, Doc: "that was the last link to the overwritten file"},
		{Name: "RENAME_LAST_EXISTS", Value: 0x2, Doc: "an archive has a copy of the overwritten file"},
	})
)

// changelogWord returns the names of a word whose low 12 bits have the values
// given, and whose high bits are those of cr_flags.
func changelogWord(low []Value) *Names {
	var word []Value
	for _, v := range low {
		if v.Value&^clfTypeful == 0 && v.Value != 0 && !v.Alias {
			word = append(word, v)
		}
	}
	for _, v := range ChangelogFlags.Values {
		if v.Value&clfTypeful == 0 && v.Value != 0 && !v.Alias {
			word = append(word, v)
		}
	}
	return ChangelogFlags.Form(word)
}

// changelogHsmValues returns the values of cr_flags of an HSM event: an errno
// in bits 0 to 6, the event in bits 7 to 9, flags above. Archived is event 0,
// which has no bits.
func changelogHsmValues() []Value {
	const event, mask = 7, 0x380
	values := []Value{
		{Name: "HSM_ERROVERFLOW", Value: 0x7f, Mask: 0x7f, Doc: "the errno is larger than the field"},
		{Name: "HSM_DIRTY", Value: 0x400, Doc: "the archived copy is out of date"},
	}
	for _, v := range HsmEvent.Values {
		v.Value, v.Mask = v.Value<<event, mask
		values = append(values, v)
	}
	return values
}

var ChangelogExtraFlags = Bits("changelog_extra_flags", "CLFE_", "further parts that follow in a changelog record", []Value{
	{Name: "INVALID", Value: 0x0},
	{Name: "UIDGID", Value: clfeUidgid, Doc: "user and group follow"},
	{Name: "NID", Value: clfeNid, Doc: "NID follows"},
	{Name: "OPEN", Value: clfeOpen, Doc: "open mode follows"},
	{Name: "XATTR", Value: clfeXattr, Doc: "name of an xattr follows"},
	{Name: "NID_BE", Value: clfeNidBE, Since: "2.16", Doc: "the NID is a large one"},
	{Name: "SUPPORTED", Value: 0x1f, Doc: "all that are known", Alias: true},
})

var changelogRec = &Struct{Name: "changelog_rec", Doc: "a change of the namespace", Fields: []*Field{
	U16("cr_namelen", Size, "bytes of the name, and of the old one behind it"),
	U16("cr_flags", &ChangelogFlags, If(hasNoTypedFlags), "parts that follow; the lower 12 bits depend on the type"),
	U16("cr_flags", &changelogOpenWord, Over("cr_flags"), IfValue{"cr_type", "OPEN", "CLOSE", "DN_OPEN"},
		"parts that follow, and in the lower 12 bits open flags"),
	U16("cr_flags", &changelogAttrWord, Over("cr_flags"), IfValue{"cr_type", "SETATTR", "TRUNC", "MTIME", "CTIME", "ATIME"},
		"parts that follow, and in the lower 12 bits the attributes that changed"),
	U16("cr_flags", &changelogUnlinkWord, Over("cr_flags"), IfValue{"cr_type", "UNLINK", "RMDIR"},
		"parts that follow, and what became of the object"),
	U16("cr_flags", &changelogRenameWord, Over("cr_flags"), IfValue{"cr_type", "RENAME"}, "parts that follow, and what became of an "+
		"overwritten file"),
	U16("cr_flags", &changelogHsmWord, Over("cr_flags"), IfValue{"cr_type", "HSM"}, "parts that follow, the HSM event, and in the lowest 7 "+
		"bits its errno"),
	crType,
	U64("cr_index", Harmless, "number of the record"),
	U64("cr_prev", Harmless, "number of the record before it for the same object"),
	crTime,
	Sub("cr_tfid", &LuFid, "object that changed", IfNot(isChangelogMark)),
	U32("cr_markerflags", Harmless, Over("cr_tfid"), Hex, "of a mark: what was switched", If(isChangelogMark)),
	Sub("cr_pfid", &LuFid, "directory"),
}}

var (
	crTfid = changelogRec.Field("cr_tfid")
	crPfid = changelogRec.Field("cr_pfid")

	crType = U32("cr_type", &ChangelogType, "kind of change")
	crTime = U64("cr_time", Harmless, Hex, Remark(func(v *View, dst []byte) []byte {
		return changelogTime(v.Value).AppendFormat(dst, "2006-01-02 15:04:05.000000000 UTC")
	}), "seconds since the epoch in the upper 34 bits, nanoseconds in the lower 30")
)

// hasNoTypedFlags reports whether the lower 12 bits of cr_flags have no names for
// the type of the record.
func hasNoTypedFlags(v *View) bool {
	switch crType.Uint(v.Struct, v.Big) {
	case clOpen, clClose, clDenied, clSetattr, clTrunc, clMtime, clCtime, clAtime, clUnlink, clRmdir, clRename, clHSM:
		return false
	}
	return true
}

// Types of records, cr_type.
const (
	clUnlink  = 6
	clRmdir   = 7
	clRename  = 8
	clOpen    = 10
	clClose   = 11
	clTrunc   = 13
	clSetattr = 14
	clHSM     = 16
	clMtime   = 17
	clCtime   = 18
	clAtime   = 19
	clDenied  = 24
)

func isChangelogMark(v *View) bool { return crType.Uint(v.Struct, v.Big) == 0 }

var changelogExtRename = &Struct{Name: "changelog_ext_rename", Doc: "where a renamed object was", Fields: []*Field{
	Sub("cr_sfid", &LuFid, "the object"),
	Sub("cr_spfid", &LuFid, "directory it was in"),
}}

var changelogExtJobid = &Struct{Name: "changelog_ext_jobid", Doc: "job that made the change", Fields: []*Field{
	Str("cr_jobid", 32, JobName, "job id"),
}}

var changelogExtExtraFlags = &Struct{Name: "changelog_ext_extra_flags", Doc: "which more parts follow", Fields: []*Field{
	U64("cr_extra_flags", &ChangelogExtraFlags, "parts that follow"),
}}

var changelogExtUidgid = &Struct{Name: "changelog_ext_uidgid", Doc: "user that made the change", Fields: []*Field{
	U64("cr_uid", UserID, "user"),
	U64("cr_gid", UserID, "its group"),
}}

var changelogExtNid = &Struct{Name: "changelog_ext_nid", Doc: "node that made the change", Fields: []*Field{
	U64("cr_nid", NID4, IfNot(hasLargeNid), "the node"),
	Sub("cr_nid_be", &LnetNid, Over("cr_nid"), If(hasLargeNid), Since("2.16"), "the node, with NID_BE among the extra flags"),
	U64("extra", Harmless, At(8), Hex, IfNot(hasLargeNid), "unused"),
	Pad("padding", 4, At(16), IfNot(hasLargeNid)),
	Pad("hole", 4, At(20)),
}}

var changelogExtOpenmode = &Struct{Name: "changelog_ext_openmode", Doc: "how a file was opened", Fields: []*Field{
	U32("cr_openflags", &changelogOpenWord, "cr_flags of the record again: in the lower 12 bits open flags"),
}}

var changelogExtXattr = &Struct{Name: "changelog_ext_xattr", Doc: "extended attribute that was changed or read", Fields: []*Field{
	Str("cr_xattr", 256, XattrName, "its name"),
}}

var changelogSetinfo = &Struct{Name: "changelog_setinfo", Doc: "changelog records that a reader is done with", Fields: []*Field{
	U64("cs_recno", Harmless, "the last of them; 0: all"),
	U32("cs_id", Harmless, "the reader: cl1, cl2, …"),
}}

// llogChangelogRec is struct llog_changelog_rec. Between its parts of fixed
// size and the tail lie the extensions that the flags name, and the name.
var llogChangelogRec = &Struct{Name: "llog_changelog_rec", Detect: llogBig, Doc: "record of a changelog", Fields: []*Field{
	Derived("text", changelogText, "the record as `lfs changelog` prints it, times in UTC"),
	Sub("cr_hdr", &llogRecHdr),
	Sub("cr", &changelogRec),
	Sub("rename", &changelogExtRename, AfterPrevious(true), If(func(v *View) bool { return hasChangelogFlag(v, clfRename) })),
	Sub("jobid", &changelogExtJobid, AfterPrevious(true), If(func(v *View) bool { return hasChangelogFlag(v, clfJobid) })),
	Sub("extra_flags", &changelogExtExtraFlags, AfterPrevious(true), If(func(v *View) bool { return hasChangelogFlag(v, clfExtra) })),
	Sub("uidgid", &changelogExtUidgid, AfterPrevious(true), If(func(v *View) bool { return changelogExtra(v)&clfeUidgid != 0 })),
	Sub("nid", &changelogExtNid, AfterPrevious(true), If(func(v *View) bool { return changelogExtra(v)&clfeNid != 0 })),
	Sub("openmode", &changelogExtOpenmode, AfterPrevious(true), If(func(v *View) bool { return changelogExtra(v)&clfeOpen != 0 })),
	Sub("xattr", &changelogExtXattr, AfterPrevious(true), If(func(v *View) bool { return changelogExtra(v)&clfeXattr != 0 })),
	Str("cr_name", 0, FileName, AfterPrevious(true), CountOf(changelogNameSize), "name in the directory"),
	Str("cr_sname", 0, FileName, AfterPrevious(true), CountOf(changelogOldNameSize), "name that a renamed object had"),
	Pad("cr_padding", 0, CountOf(beforeTail), AfterPrevious(true)),
	Sub("cr_do_not_use", &llogRecTail, AfterPrevious(true), "tail of the record"),
}}

var llogChangelogUserRec = &Struct{Name: "llog_changelog_user_rec", Detect: llogBig, Doc: "reader of a changelog", Fields: []*Field{
	Sub("cur_hdr", &llogRecHdr),
	U32("cur_id", Harmless, "the reader: cl1, cl2, …"),
	U32("cur_time", Time, "when it last cleared records"),
	U64("cur_endrec", Harmless, "last record it is done with"),
	Sub("cur_tail", &llogRecTail),
}}

var llogChangelogUserRec2 = &Struct{Name: "llog_changelog_user_rec2", Since: "2.15", Detect: llogBig,
	Doc: "reader of a changelog, with a name and a mask", Fields: []*Field{
		Sub("cur_hdr", &llogRecHdr),
		U32("cur_id", Harmless, "the reader: cl1, cl2, …"),
		U32("cur_time", Time, "when it last cleared records"),
		U64("cur_endrec", Harmless, "last record it is done with"),
		U32("cur_mask", Harmless, Hex, "kinds of changes it wants, a bit each by number; 0: those of the device"),
		Pad("cur_padding1", 4),
		Str("cur_name", 16, JobName, "name, behind the id"),
		Padding("cur_padding", 2, 8, 8),
		Sub("cur_tail", &llogRecTail),
	}}

var changelogFilter = &Struct{Name: "changelog_filter", Since: "2.17",
	Doc: "which changelog records a user wants, and who that user is", Fields: []*Field{
		U64("cf_mask", Harmless, Hex, "record types, one bit each"),
		U32("cf_user_id", Harmless, "number of the changelog user: 3 is cl3"),
		Pad("cf_padding", 4),
		Str("cf_username", 30, PlainName, "name of the changelog user"),
		Pad("cf_tail", 2, "rounds the size up"),
	}}

// Bits of cr_flags and cr_extra_flags.
const (
	clfRename  = 0x2000
	clfJobid   = 0x4000
	clfExtra   = 0x8000
	clfTypeful = 0x0fff // the bits whose meaning depends on the type

	clfeUidgid = 0x1
	clfeNid    = 0x2
	clfeOpen   = 0x4
	clfeXattr  = 0x8
	clfeNidBE  = 0x10

	changelogNidSize = 24
)

// changelogMarks are the short names of changes that lfs prints.
var changelogMarks = [...]string{"MARK", "CREAT", "MKDIR", "HLINK", "SLINK", "MKNOD", "UNLNK", "RMDIR", "RENME", "RNMTO",
	"OPEN", "CLOSE", "LYOUT", "TRUNC", "SATTR", "XATTR", "HSM", "MTIME", "CTIME", "ATIME", "MIGRT", "FLRW", "RESYNC", "GXATR",
	"NOPEN"}

// changelog is a changelog record taken apart.
type changelog struct {
	rec    []byte // struct changelog_rec, and what follows it
	big    bool
	flags  uint64
	extra  uint64
	rename []byte
	jobid  []byte
	uidgid []byte
	nid    []byte
	open   []byte
	xattr  []byte
	names  []byte
}

// parse takes the record that starts with its llog header at b apart; parts
// that are not all there are nil.
func (c *changelog) parse(b []byte, big bool) {
	if len(b) < llogRecHdr.Size+changelogRec.Size {
		return
	}
	c.rec, c.big = b[llogRecHdr.Size:], big
	c.flags = changelogRec.Field("cr_flags").Uint(c.rec, big)
	rest := c.rec[changelogRec.Size:]
	part := func(there bool, n int) []byte {
		if !there || len(rest) < n {
			return nil
		}
		p := rest[:n]
		rest = rest[n:]
		return p
	}
	c.rename = part(c.flags&clfRename != 0, changelogExtRename.Size)
	c.jobid = part(c.flags&clfJobid != 0, changelogExtJobid.Size)
	if x := part(c.flags&clfExtra != 0, changelogExtExtraFlags.Size); x != nil {
		c.extra = ReadUint(x, big)
	}
	c.uidgid = part(c.extra&clfeUidgid != 0, changelogExtUidgid.Size)
	c.nid = part(c.extra&clfeNid != 0, changelogNidSize)
	c.open = part(c.extra&clfeOpen != 0, changelogExtOpenmode.Size)
	c.xattr = part(c.extra&clfeXattr != 0, changelogExtXattr.Size)
	c.names = rest[:min(len(rest), int(changelogRec.Field("cr_namelen").Uint(c.rec, big)))]
}

// name is the name of the entry; old is the one a renamed object had.
func (c *changelog) name() (name, old []byte) {
	name = c.names
	if c.rename != nil {
		name, old, _ = bytes.Cut(c.names, []byte{0})
	}
	return name, TrimNUL(old)
}

func hasChangelogFlag(v *View, bit uint64) bool {
	var c changelog
	c.parse(v.Struct, v.Big)
	return c.flags&bit != 0
}

func changelogExtra(v *View) uint64 {
	var c changelog
	c.parse(v.Struct, v.Big)
	return c.extra
}

// hasLargeNid reports whether the NID is a struct lnet_nid; v is the view of the
// part with the NID.
func hasLargeNid(v *View) bool { return v.Up != nil && changelogExtra(v.Up)&clfeNidBE != 0 }

// changelogNameSize includes the NUL that separates two names.
func changelogNameSize(v *View) int {
	var c changelog
	c.parse(v.Struct, v.Big)
	name, _ := c.name()
	if len(name) < len(c.names) {
		return len(name) + 1
	}
	return len(name)
}

func changelogOldNameSize(v *View) int {
	var c changelog
	c.parse(v.Struct, v.Big)
	_, old := c.name()
	return len(old)
}

// changelogTime splits cr_time.
func changelogTime(t uint64) time.Time {
	const bits = 30 // of the nanoseconds
	return time.Unix(int64(t>>bits), int64(t&(1<<bits-1))).UTC()
}

// changelogText writes the line that lfs prints for a record.
func changelogText(v *View, dst []byte) []byte {
	var c changelog
	c.parse(v.Struct, v.Big)
	if c.rec == nil {
		return dst
	}
	dst = c.appendHead(dst)
	if c.jobid != nil {
		dst = append(append(dst, " j="...), TrimNUL(c.jobid)...)
	}
	if c.flags&clfExtra != 0 {
		dst = c.appendExtra(dst)
	}
	if !allZero(crPfid.Bytes(c.rec)[:crPfid.Size]) {
		dst = c.appendFID(append(dst, " p="...), crPfid.Bytes(c.rec))
	}
	name, old := c.name()
	if len(name) > 0 {
		dst = append(append(dst, ' '), name...)
	}
	if c.rename != nil && !allZero(c.rename[:16]) {
		dst = c.appendFID(append(dst, " s="...), c.rename)
		dst = c.appendFID(append(dst, " sp="...), c.rename[16:])
		dst = append(append(dst, ' '), old...)
	}
	return dst
}

// appendHead: "5 08RENME 08:26:29.681891870 2026.11.21 0x0 t=[…]".
func (c *changelog) appendHead(dst []byte) []byte {
	dst = strconv.AppendUint(dst, changelogRec.Field("cr_index").Uint(c.rec, c.big), 10)
	kind := crType.Uint(c.rec, c.big)
	dst = append(dst, ' ')
	if kind < 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendUint(dst, kind, 10)
	width := len(dst) + 5
	if kind < uint64(len(changelogMarks)) {
		dst = append(dst, changelogMarks[kind]...)
	}
	for len(dst) < width {
		dst = append(dst, ' ')
	}
	dst = changelogTime(crTime.Uint(c.rec, c.big)).AppendFormat(dst, " 15:04:05.000000000 2006.01.02 ")
	dst = AppendHex(dst, c.flags&clfTypeful)
	if kind == 0 {
		return AppendHex(append(dst, " mark="...), ReadUint(crTfid.Bytes(c.rec)[:4], c.big))
	}
	return c.appendFID(append(dst, " t="...), crTfid.Bytes(c.rec))
}

// appendFID writes a sequence of zero as lfs does, without "0x".
func (c *changelog) appendFID(dst, fid []byte) []byte {
	if ReadUint(fid[:8], c.big) != 0 {
		return AppendFIDBytes(dst, fid, c.big)
	}
	dst = AppendHex(append(dst, "[0:"...), ReadUint(fid[8:12], c.big))
	return append(AppendHex(append(dst, ':'), ReadUint(fid[12:16], c.big)), ']')
}

// appendOpenMode appends how a file was opened, as lfs prints it: execution
// alone, or reading and writing; nothing for an open that did neither.
func appendOpenMode(dst []byte, flags uint64) []byte {
	reads, writes := flags&MdsOpenFlags.Bit("FMODE_READ") != 0, flags&MdsOpenFlags.Bit("FMODE_WRITE", "OPEN_TRUNC", "OPEN_APPEND") != 0
	switch {
	case flags&MdsOpenFlags.Bit("FMODE_EXEC") != 0:
		return append(dst, " m=--x"...)
	case reads && writes:
		return append(dst, " m=rw-"...)
	case reads:
		return append(dst, " m=r--"...)
	case writes:
		return append(dst, " m=-w-"...)
	}
	return dst
}

func (c *changelog) appendExtra(dst []byte) []byte {
	dst = AppendHex(append(dst, " ef="...), c.extra)
	if c.uidgid != nil {
		dst = strconv.AppendUint(append(dst, " u="...), ReadUint(c.uidgid[:8], c.big), 10)
		dst = strconv.AppendUint(append(dst, ':'), ReadUint(c.uidgid[8:16], c.big), 10)
	}
	switch {
	case c.nid == nil:
	case c.extra&clfeNidBE != 0:
		dst = AppendNIDBytes(append(dst, " nid="...), c.nid)
	default:
		dst = AppendNID4(append(dst, " nid="...), ReadUint(c.nid[:8], c.big))
	}
	if c.open != nil {
		dst = appendOpenMode(dst, ReadUint(c.open, c.big))
	}
	if c.xattr != nil {
		dst = append(append(dst, " x="...), TrimNUL(c.xattr)...)
	}
	return dst
}
