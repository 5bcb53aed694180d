package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// The summary lines of MDS_REINT, and of the intents that carry its records.

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

func askSetattr(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, nil)
	r.changes(l)
	addLayout(l, m.Named("eadata"), true)
}

// changes tells what a setattr record changes.
func (r reintRec) changes(l *Line) {
	set := r.word(saValid)
	has := func(bits uint64) bool {
		was := set
		set &^= bits
		return was&bits != 0
	}
	number := func(bit uint64, label string, f *Field) {
		if has(bit) {
			l.Key(label)
			l.Num(r.word(f))
		}
	}
	if has(attrMode) {
		l.Key("mode ")
		addMode(l, r.word(saMode)&modePerm)
	}
	number(attrUID, "uid ", saUID)
	number(attrGID, "gid ", saGID)
	number(attrSize, "size ", saSize)
	number(attrProjid, "projid ", saProjid)
	if has(attrFlags) {
		l.Key("flags ")
		l.Flags(InodeFlags, r.word(saAttrFlags))
	}
	if has(attrTimes) {
		l.Key("times")
	}
}

var (
	attrMode   = MdsAttrFlags.Bit("MODE")
	attrUID    = MdsAttrFlags.Bit("UID")
	attrGID    = MdsAttrFlags.Bit("GID")
	attrSize   = MdsAttrFlags.Bit("SIZE") | MdsAttrFlags.Bit("LSIZE")
	attrProjid = MdsAttrFlags.Bit("PROJID")
	attrFlags  = MdsAttrFlags.Bit("ATTR_FLAG")
	attrTimes  = MdsAttrFlags.Bit("ATIME") | MdsAttrFlags.Bit("MTIME") | MdsAttrFlags.Bit("ATIME_SET") | MdsAttrFlags.Bit("MTIME_SET")
)

// askCreate tells name, type, mode and layout of a new object, or the target
// of a new link.
func askCreate(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, m.Named("name"))
	mode := r.word(crMode)
	addFileType(l, mode)
	l.Key("")
	addMode(l, mode&modePerm)
	if target := m.Named("symtgt"); len(target) > 0 {
		l.Key("-> ")
		l.Label(Name, target)
	}
	addLayout(l, m.Named("eadata"), true)
}

// askOpen tells name or FID of what is opened, and how.
func askOpen(m *Msg, l *Line) {
	r := recOf(m)
	name := m.Named("name")
	fid := rrFid1.Bytes(r.b)
	if len(TrimNUL(name)) == 0 && !allZero(rrFid2.Bytes(r.b)) {
		fid = rrFid2.Bytes(r.b)
	}
	addEntry(l, fid, r.big, name)
	flags := openFlags(r.b, r.big)
	l.Key("")
	addOpenFlags(l, flags)
	if flags&openCreat != 0 {
		l.Key("")
		addMode(l, r.word(crMode)&modePerm)
	}
	addLayout(l, m.Named("eadata"), true)
}

var openCreat = MdsOpenFlags.Bit("OPEN_CREAT")

func askLink(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, nil)
	l.Key("as ")
	r.fid2(l, m.Named("name"))
}

func askUnlink(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, m.Named("name"))
	if isDir(r.word(ulMode)) {
		addFileType(l, modeDir)
	}
}

// askRename tells both names, the directory of the second only when it is
// another one.
func askRename(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, m.Named("name"))
	l.Key("to ")
	if string(rrFid1.Bytes(r.b)) == string(rrFid2.Bytes(r.b)) {
		l.Label(Name, m.Named("target_name"))
		return
	}
	r.fid2(l, m.Named("target_name"))
}

func askMigrate(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, m.Named("name"))
	addLayout(l, m.Named("eadata"), true)
}

func askSetxattr(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, nil)
	l.Key("")
	l.Label(Name, m.Named("name"))
	if r.word(sxValid)&xattrRemove != 0 {
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

var xattrRemove = ObdMdValid.Bit("FLXATTRRM")

func askResync(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, nil)
	if id := r.word(rsMirrorNew) | r.word(rsMirrorOld); id != 0 {
		l.Key("mirror ")
		l.Num(id)
	}
}

// askClose tells the file, its size, and what the close does beside closing.
func askClose(m *Msg, l *Line) {
	r := recOf(m)
	r.fid1(l, nil)
	if r.word(saValid)&attrSize != 0 {
		l.Key("size ")
		l.Num(r.word(saSize))
	}
	bias := r.word(saBias)
	if shown := bias & biasShown; shown != 0 {
		l.Key("")
		l.Flags(MdsOpBias, shown)
	}
	data := m.Named("close_data")
	if other := cdFid.Bytes(data); len(other) > 0 && !allZero(other) {
		l.Key("with ")
		l.FID(other, m.Big)
	}
	switch {
	case bias&biasSplit != 0:
		l.Key("mirror ")
		l.Num(cdMirror.Uint(data, m.Big))
	case bias&biasResyncDone != 0 && len(data) >= cdResync.Off+4:
		l.Key("components ")
		l.Num(resyncCountOf(data[cdResync.Off:], m.Big))
	}
}

var (
	cdFid    = closeData.Field("cd_fid")
	cdMirror = closeData.Field("cd_mirror_id")
	cdResync = closeData.Field("cd_resync")

	// What the variant does not tell.
	biasShown = biasPCC | MdsOpBias.Bit("CLOSE_MIGRATE") | MdsOpBias.Bit("DATA_MODIFIED")
)
