package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const MDS_REINT = 36

var MdsReintOp = Enum("mds_reint_op", "REINT_", "what an MDS_REINT (reintegration) does", []Value{
	{Name: "SETATTR", Value: reintSetattr, Doc: "change attributes"},
	{Name: "CREATE", Value: reintCreate, Doc: "create a file, directory, link or node"},
	{Name: "LINK", Value: reintLink, Doc: "make a hard link"},
	{Name: "UNLINK", Value: reintUnlink, Doc: "remove a name"},
	{Name: "RENAME", Value: reintRename, Doc: "rename"},
	{Name: "OPEN", Value: reintOpen, Doc: "open, perhaps create"},
	{Name: "SETXATTR", Value: reintSetxattr, Doc: "set or remove an extended attribute"},
	{Name: "RMENTRY", Value: reintRmentry, Doc: "remove just the directory entry"},
	{Name: "MIGRATE", Value: reintMigrate, Doc: "move a directory to other MDTs"},
	{Name: "RESYNC", Value: reintResync, Doc: "begin to bring mirrors up to date"},
})

// The operations of MDS_REINT.
const (
	reintSetattr  = 1
	reintCreate   = 2
	reintLink     = 3
	reintUnlink   = 4
	reintRename   = 5
	reintOpen     = 6
	reintSetxattr = 7
	reintRmentry  = 8
	reintMigrate  = 9
	reintResync   = 10
)

var MdsAttrFlags = Bits("mds_attr_flags", "MDS_ATTR_", "which attributes a setattr changes", []Value{
	{Name: "MODE", Value: 0x1, Doc: "permission bits"},
	{Name: "UID", Value: 0x2, Doc: "owner"},
	{Name: "GID", Value: 0x4, Doc: "group"},
	{Name: "SIZE", Value: 0x8, Doc: "size: a truncate"},
	{Name: "ATIME", Value: 0x10, Doc: "access time"},
	{Name: "MTIME", Value: 0x20, Doc: "modification time"},
	{Name: "CTIME", Value: 0x40, Doc: "change time"},
	{Name: "ATIME_SET", Value: 0x80, Doc: "access time as given, not now"},
	{Name: "MTIME_SET", Value: 0x100, Doc: "modification time as given, not now"},
	{Name: "FORCE", Value: 0x200, Doc: "without permission checks"},
	{Name: "ATTR_FLAG", Value: 0x400, Doc: "inode flags"},
	{Name: "KILL_SUID", Value: 0x800, Doc: "clear the set-user-id bit"},
	{Name: "KILL_SGID", Value: 0x1000, Doc: "clear the set-group-id bit"},
	{Name: "CTIME_SET", Value: 0x2000, Doc: "change time as given"},
	{Name: "FROM_OPEN", Value: 0x4000, Doc: "truncate of an open"},
	{Name: "BLOCKS", Value: 0x8000, Doc: "block count"},
	{Name: "PROJID", Value: 0x10000, Doc: "project id"},
	{Name: "LSIZE", Value: 0x20000, Doc: "lazy size (SOM)"},
	{Name: "LBLOCKS", Value: 0x40000, Doc: "lazy block count (SOM)"},
	{Name: "OVERRIDE", Value: 0x2000000, Doc: "owner may do it in spite of the mode"},
})

var LaValid = Bits("la_valid", "LA_", "which attributes are set, inside a server", []Value{
	{Name: "ATIME", Value: 0x1, Doc: "access time"},
	{Name: "MTIME", Value: 0x2, Doc: "modification time"},
	{Name: "CTIME", Value: 0x4, Doc: "change time"},
	{Name: "SIZE", Value: 0x8, Doc: "size"},
	{Name: "MODE", Value: 0x10, Doc: "permission bits"},
	{Name: "UID", Value: 0x20, Doc: "owner"},
	{Name: "GID", Value: 0x40, Doc: "group"},
	{Name: "BLOCKS", Value: 0x80, Doc: "block count"},
	{Name: "TYPE", Value: 0x100, Doc: "file type"},
	{Name: "FLAGS", Value: 0x200, Doc: "inode flags"},
	{Name: "NLINK", Value: 0x400, Doc: "number of links"},
	{Name: "RDEV", Value: 0x800, Doc: "device number"},
	{Name: "BLKSIZE", Value: 0x1000, Doc: "preferred block size"},
	{Name: "KILL_SUID", Value: 0x2000, Doc: "clear the set-user-id bit"},
	{Name: "KILL_SGID", Value: 0x4000, Doc: "clear the set-group-id bit"},
	{Name: "PROJID", Value: 0x8000, Doc: "project id"},
	{Name: "LAYOUT_VERSION", Value: 0x10000, Doc: "version of the layout"},
	{Name: "REMOTE_ATTR_SET", Value: 0x18060, Alias: true},
	{Name: "LSIZE", Value: 0x20000, Doc: "lazy size"},
	{Name: "LBLOCKS", Value: 0x40000, Doc: "lazy block count"},
	{Name: "BTIME", Value: 0x80000, Since: "2.15", Doc: "birth time"},
	{Name: "DIRENT_CNT", Value: 0x100000, Since: "2.16", Doc: "number of directory entries"},
})

var (
	bufRecReintSetattr  = Sub("rec_reint", &mdtRecSetattr, Tagged(true), "attributes to set")
	bufRecReintCreate   = Sub("rec_reint", &mdtRecCreate, Tagged(true), "the record that creates or opens")
	bufRecReintRename   = Sub("rec_reint", &mdtRecRename, Tagged(true), "the record that renames")
	bufRecReintSetxattr = Sub("rec_reint", &mdtRecSetxattr, Tagged(true), "the record that sets an attribute")
	bufRecReintIgnored  = Sub("rec_reint", &mdtRecReint, Tagged(true), "a record that nobody reads")
	bufSymtgt           = Str("symtgt", 0, FilePath, "target of the symbolic link; may be encrypted")
	bufTargetName       = Str("target_name", 0, FileName, "new name")
	bufLogcookies       = Subs("logcookies", -1, &llogCookie)
	bufFileSecctxName   = Str("file_secctx_name", 0, XattrName, "extended attribute that the security context goes to")
	bufFileSecctx       = Str("file_secctx", 0, JobName, "security context")
)

var _ = DefineRPC(&RPC{Opcode: MDS_REINT, Name: "MDS_REINT",
	Doc: "Changes the namespace or attributes: the operation is the first word of the record rec_reint. The client keeps the request " +
		"until the change is on disk, to replay it (\"reintegrate\") when the server fails.",
	PickBytes: []int{4}, // a link is as good as another CREATE
	Pick:      pickReint, PickReply: guessReint, Context: true,
	Variants: []*Variant{
		variantSetattr, variantCreate, variantSymlink, variantLink, variantUnlink, variantRmentry,
		variantRename, variantMigrate, variantOpen, variantSetxattr, variantResync,
	}})

var (
	variantSetattr = &Variant{Name: "SETATTR", Does: SetsAttrs,
		Request: Bufs(bufPtlrpcBody, bufRecReintSetattr, bufCapa1, bufMdtIoepoch, bufEadataSetattr, bufLogcookies, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2),
		SummarizeRequest: func(m *Msg, l *Line) {
			r := recOf(m)
			r.fid1(l, nil)
			r.changes(l)
			addLayout(l, m.Named("eadata"), true)
		}, SummarizeReply: summarizeAttrsReply, Subject: setattrSubject,
	}
	variantCreate = reint("CREATE", Creates, summarizeCreateRequest,
		Bufs(bufPtlrpcBody, bufRecReintCreate, bufCapa1, bufName, bufEadataCreate, bufDlmReq, bufFileSecctxName,
			bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, bufMdtMd))
	variantSymlink = reint("CREATE", Creates, summarizeCreateRequest,
		Bufs(bufPtlrpcBody, bufRecReintCreate, bufCapa1, bufName, bufSymtgt, bufDlmReq, bufFileSecctxName, bufFileSecctx,
			bufSelinuxPol, bufFileEncctx),
		Bufs(bufPtlrpcBody, bufMdtBody, bufCapa1, bufMdtMd))
	variantLink = reint("LINK", Links, func(m *Msg, l *Line) {
		r := recOf(m)
		r.fid1(l, nil)
		l.Key("as ")
		r.fid2(l, m.Named("name"))
	},
		Bufs(bufPtlrpcBody, Sub("rec_reint", &mdtRecLink, Tagged(true), "the record that makes a link"), bufCapa1, bufCapa2, bufName, bufDlmReq, bufSelinuxPol),
		Bufs(bufPtlrpcBody, bufMdtBody))
	variantUnlink = reint("UNLINK", Removes, summarizeUnlinkRequest,
		Bufs(bufPtlrpcBody, Sub("rec_reint", &mdtRecUnlink, Tagged(true), "the record that removes a name"), bufCapa1, bufName, bufDlmReq, bufSelinuxPol),
		Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2))
	variantRmentry = variantUnlink.As("RMENTRY")
	variantRename  = reint("RENAME", Renames, summarizeRenameRequest,
		Bufs(bufPtlrpcBody, bufRecReintRename, bufCapa1, bufCapa2, bufName, bufTargetName, bufDlmReq, bufSelinuxPol),
		Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2))
	variantMigrate = reint("MIGRATE", Migrates, func(m *Msg, l *Line) {
		r := recOf(m)
		r.fid1(l, m.Named("name"))
		addLayout(l, m.Named("eadata"), true)
	},
		Bufs(bufPtlrpcBody, bufRecReintRename, bufCapa1, bufCapa2, bufName, bufTargetName, bufDlmReq, bufSelinuxPol,
			bufMdtIoepoch, bufCloseData, OneOf("eadata", chooseUserLayout, layoutFormsUser, Tagged(true), "stripes to migrate to")),
		Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufLogcookies, bufCapa1, bufCapa2))
	variantOpen = reint("OPEN", Opens, summarizeOpenRequest,
		Bufs(bufPtlrpcBody, bufRecReintCreate, bufCapa1, bufCapa2, bufName, bufEadataOpen, bufFileSecctxName, bufFileSecctx,
			bufSelinuxPol, bufFileEncctx),
		Bufs(bufPtlrpcBody, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2))
	variantSetxattr = reint("SETXATTR", Xattrs, summarizeSetxattrRequest,
		Bufs(bufPtlrpcBody, bufRecReintSetxattr, bufCapa1, bufName, bufEadataSetxattr, bufDlmReq, bufSelinuxPol),
		Bufs(bufPtlrpcBody, bufMdtBody))
	variantResync = reint("RESYNC", 0, func(m *Msg, l *Line) {
		r := recOf(m)
		r.fid1(l, nil)
		l.NumIfSet("mirror ", r.word(mdtRecResync.Field("rs_mirror_id_new"))|r.word(mdtRecResync.Field("rs_mirror_id_old")))
	},
		Bufs(bufPtlrpcBody, Sub("rec_reint", &mdtRecResync, Tagged(true), "the record that resyncs mirrors"), bufDlmReq),
		Bufs(bufPtlrpcBody, bufMdtBody))
)

// reint is an operation of MDS_REINT whose reply brings attributes.
func reint(name string, does Actions, summarize func(m *Msg, l *Line), request, reply []*Field) *Variant {
	return &Variant{Name: name, Does: does, Request: request, Reply: reply,
		SummarizeRequest: summarize, SummarizeReply: summarizeAttrsReply, Subject: reintSubject}
}

var reintVariants = [...]*Variant{
	reintSetattr: variantSetattr, reintCreate: variantCreate, reintLink: variantLink, reintUnlink: variantUnlink,
	reintRename: variantRename, reintOpen: variantOpen, reintSetxattr: variantSetxattr, reintRmentry: variantRmentry,
	reintMigrate: variantMigrate, reintResync: variantResync,
}

// pickReint selects the variant by the first word of the record; a new
// symbolic link has its target where others have a layout.
func pickReint(m *Msg) *Variant {
	rec := m.Buf(1)
	op := rrOpcode.Uint(rec, m.Big)
	switch {
	case op == reintCreate && crMode.Uint(rec, m.Big)&modeType == modeSymlink:
		return variantSymlink
	case op < uint64(len(reintVariants)) && reintVariants[op] != nil:
		return reintVariants[op]
	}
	return nil
}

// guessReint reads a reply without its request by the number of its buffers.
func guessReint(m *Msg) *Variant {
	switch len(m.Bufs) {
	case 2:
		return variantLink
	case 3, 4:
		return variantCreate
	}
	if acl := m.Buf(3); len(acl) >= 4 && ReadUint(acl[:4], false) == 2 {
		return variantOpen
	}
	return variantUnlink
}

// reintRec is the record of a request with what is needed to read it.
type reintRec struct {
	b   []byte
	big bool
}

func recOf(m *Msg) reintRec { return reintRec{m.Named("rec_reint"), m.Big} }

func (r reintRec) word(f *Field) uint64 { return f.Uint(r.b, r.big) }

func (r reintRec) fid1(l *Line, name []byte) { addEntry(l, rrFid1.Bytes(r.b), r.big, name) }

func (r reintRec) fid2(l *Line, name []byte) { addEntry(l, rrFid2.Bytes(r.b), r.big, name) }

// reintSubject is the first object of the record and the name.
func reintSubject(m *Msg) (fid, name []byte) {
	return rrFid1.Bytes(m.Named("rec_reint")), TrimNUL(m.Named("name"))
}

// setattrSubject is the object of a setattr record: it has its FID where
// others have the first.
func setattrSubject(m *Msg) (fid, name []byte) { return saFid.Bytes(m.Named("rec_reint")), nil }

// changes appends what a setattr record changes.
func (r reintRec) changes(l *Line) {
	set := r.word(saValid)
	has := func(bits uint64) bool {
		was := set
		set &^= bits
		return was&bits != 0
	}
	number := func(bit uint64, label string, f *Field) {
		if has(bit) {
			l.Key(label).Num(r.word(f))
		}
	}
	if has(MdsAttrFlags.Bit("MODE")) {
		l.Key("mode ")
		addMode(l, r.word(mdtRecSetattr.Field("sa_mode"))&modePerm)
	}
	number(MdsAttrFlags.Bit("UID"), "uid ", mdtRecSetattr.Field("sa_uid"))
	number(MdsAttrFlags.Bit("GID"), "gid ", mdtRecSetattr.Field("sa_gid"))
	number(attrSize, "size ", saSize)
	number(MdsAttrFlags.Bit("PROJID"), "projid ", mdtRecSetattr.Field("sa_projid"))
	if has(MdsAttrFlags.Bit("ATTR_FLAG")) {
		l.Key("flags ").Flags(InodeFlags, r.word(mdtRecSetattr.Field("sa_attr_flags")))
	}
	if has(MdsAttrFlags.Bit("ATIME", "MTIME", "ATIME_SET", "MTIME_SET")) {
		l.Key("times")
	}
}

var attrSize = MdsAttrFlags.Bit("SIZE", "LSIZE")

// summarizeCreateRequest appends name, type, mode and layout of a new object, or the target
// of a new link.
func summarizeCreateRequest(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, m.Named("name"))
	mode := r.word(crMode)
	addFileType(l, mode)
	l.Key("")
	addMode(l, mode&modePerm)
	if target := m.Named("symtgt"); len(target) > 0 {
		l.Key("-> ").Label(Name, target)
	}
	addLayout(l, m.Named("eadata"), true)
}

func summarizeUnlinkRequest(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, m.Named("name"))
	if isDir(r.word(mdtRecUnlink.Field("ul_mode"))) {
		addFileType(l, modeDir)
	}
}

// summarizeRenameRequest appends both names, the directory of the second only when it is
// another one.
func summarizeRenameRequest(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, m.Named("name"))
	l.Key("to ")
	if string(rrFid1.Bytes(r.b)) == string(rrFid2.Bytes(r.b)) {
		l.Label(Name, m.Named("target_name"))
		return
	}
	r.fid2(l, m.Named("target_name"))
}

func summarizeSetxattrRequest(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, nil)
	l.Key("").Label(Name, m.Named("name"))
	if r.word(mdtRecSetxattr.Field("sx_valid"))&ObdMdValid.Bit("FLXATTRRM") != 0 {
		l.Key("remove")
		return
	}
	// sx_size is 0 as a rule.
	l.Key("bytes ")
	value := m.Named("eadata")
	l.Num(uint64(len(value)))
	if f := xattrForm(TrimNUL(m.Named("name")), value, true); f != formText && f != formBytes {
		addLayout(l, value, true)
	}
}
