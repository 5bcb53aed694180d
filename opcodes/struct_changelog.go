package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// changelogRec is struct changelog_rec.
var changelogRec = Define("changelog_rec", "a change of the namespace",
	U16("cr_namelen", Size, "bytes of the name, and of the old one behind it"),
	U16("cr_flags", ChangelogFlags, "parts that follow; the lower 12 bits depend on the type"),
	U32("cr_type", ChangelogType, "kind of change"),
	U64("cr_index", "number of the record"),
	U64("cr_prev", "number of the record before it for the same object"),
	U64("cr_time", Hex, Remark(changelogTimeRemark), "seconds since the epoch in the upper 34 bits, nanoseconds in the lower 30"),
	Sub("cr_tfid", luFid, "object that changed", If(func(v *View) bool { return !isChangelogMark(v) })),
	U32("cr_markerflags", Over("cr_tfid"), Hex, "of a mark: what was switched", If(isChangelogMark)),
	Sub("cr_pfid", luFid, "directory"),
)

var (
	crNamelen = changelogRec.Field("cr_namelen")
	crFlags   = changelogRec.Field("cr_flags")
	crIndex   = changelogRec.Field("cr_index")
	crTfid    = changelogRec.Field("cr_tfid")
	crPfid    = changelogRec.Field("cr_pfid")

	crType = Field{Off: 4, Size: 4}
	crTime = Field{Off: 24, Size: 8}
)

func isChangelogMark(v *View) bool { return crType.Uint(v.Struct, v.Big) == 0 }

// changelogExtRename is struct changelog_ext_rename.
var changelogExtRename = Define("changelog_ext_rename", "where a renamed object was",
	Sub("cr_sfid", luFid, "the object"),
	Sub("cr_spfid", luFid, "directory it was in"),
)

// changelogExtJobid is struct changelog_ext_jobid.
var changelogExtJobid = Define("changelog_ext_jobid", "job that made the change",
	Str("cr_jobid", 32, "job id"),
)

// changelogExtExtraFlags is struct changelog_ext_extra_flags.
var changelogExtExtraFlags = Define("changelog_ext_extra_flags", "which more parts follow",
	U64("cr_extra_flags", ChangelogExtraFlags, "parts that follow"),
)

// changelogExtUidgid is struct changelog_ext_uidgid.
var changelogExtUidgid = Define("changelog_ext_uidgid", "user that made the change",
	U64("cr_uid"),
	U64("cr_gid"),
)

// changelogExtNid is struct changelog_ext_nid.
var changelogExtNid = Define("changelog_ext_nid", "node that made the change",
	U64("cr_nid", NID4, If(func(v *View) bool { return !hasLargeNid(v) })),
	Sub("cr_nid_be", lnetNid, Over("cr_nid"), If(hasLargeNid), Since("2.16"), "the node, with NID_BE among the extra flags"),
	U64("extra", At(8), Hex, If(func(v *View) bool { return !hasLargeNid(v) })),
	Pad("padding", 4, At(16), If(func(v *View) bool { return !hasLargeNid(v) })),
	Pad("hole", 4, At(20)),
)

// changelogExtOpenmode is struct changelog_ext_openmode.
var changelogExtOpenmode = Define("changelog_ext_openmode", "how a file was opened",
	U32("cr_openflags", MdsOpenFlags, "open flags"),
)

// changelogExtXattr is struct changelog_ext_xattr.
var changelogExtXattr = Define("changelog_ext_xattr", "extended attribute that was changed or read",
	Str("cr_xattr", 256, "its name"),
)

// changelogSetinfo is struct changelog_setinfo.
var changelogSetinfo = Define("changelog_setinfo", "changelog records that a reader is done with",
	U64("cs_recno", "the last of them; 0: all"),
	U32("cs_id", "the reader: cl1, cl2, …"),
)

// llogChangelogRec is struct llog_changelog_rec. Between its parts of fixed
// size and the tail lie the extensions that the flags name, and the name.
var llogChangelogRec = Define("llog_changelog_rec", "record of a changelog", Detect(llogBig),
	Says("text", changelogText, "the record as `lfs changelog` prints it, times in UTC"),
	Sub("cr_hdr", llogRecHdr),
	Sub("cr", changelogRec),
	Sub("rename", changelogExtRename, Floats(true), If(func(v *View) bool { return hasChangelogFlag(v, clfRename) })),
	Sub("jobid", changelogExtJobid, Floats(true), If(func(v *View) bool { return hasChangelogFlag(v, clfJobid) })),
	Sub("extra_flags", changelogExtExtraFlags, Floats(true), If(func(v *View) bool { return hasChangelogFlag(v, clfExtra) })),
	Sub("uidgid", changelogExtUidgid, Floats(true), If(func(v *View) bool { return changelogExtra(v)&clfeUidgid != 0 })),
	Sub("nid", changelogExtNid, Floats(true), If(func(v *View) bool { return changelogExtra(v)&clfeNid != 0 })),
	Sub("openmode", changelogExtOpenmode, Floats(true), If(func(v *View) bool { return changelogExtra(v)&clfeOpen != 0 })),
	Sub("xattr", changelogExtXattr, Floats(true), If(func(v *View) bool { return changelogExtra(v)&clfeXattr != 0 })),
	Str("cr_name", 0, Floats(true), CountOf(changelogNameSize), "name in the directory"),
	Str("cr_sname", 0, Floats(true), CountOf(changelogOldNameSize), "name that a renamed object had"),
	Pad("cr_padding", 0, CountOf(beforeTail), Floats(true)),
	Sub("cr_do_not_use", llogRecTail, Floats(true), "tail of the record"),
)

// llogChangelogUserRec is struct llog_changelog_user_rec.
var llogChangelogUserRec = Define("llog_changelog_user_rec", "reader of a changelog", Detect(llogBig),
	Sub("cur_hdr", llogRecHdr),
	U32("cur_id", "the reader: cl1, cl2, …"),
	U32("cur_time", Seconds, "when it last cleared records"),
	U64("cur_endrec", "last record it is done with"),
	Sub("cur_tail", llogRecTail),
)

// llogChangelogUserRec2 is struct llog_changelog_user_rec2.
var llogChangelogUserRec2 = Define("llog_changelog_user_rec2", "reader of a changelog, with a name and a mask", Since("2.15"),
	Detect(llogBig),
	Sub("cur_hdr", llogRecHdr),
	U32("cur_id", "the reader: cl1, cl2, …"),
	U32("cur_time", Seconds, "when it last cleared records"),
	U64("cur_endrec", "last record it is done with"),
	U32("cur_mask", Hex, "kinds of changes it wants, a bit each by number; 0: those of the device"),
	Pad("cur_padding1", 4),
	Str("cur_name", 16, "name, behind the id"),
	Pad("cur_padding2", 8),
	Pad("cur_padding3", 8),
	Sub("cur_tail", llogRecTail),
)
