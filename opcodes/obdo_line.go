package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// attrs reads the obdo of an ost_body.
type attrs struct {
	b   []byte
	big bool
}

var (
	oOi      = obdo.Field("o_oi")
	oSize    = obdo.Field("o_size")
	oBlocks  = obdo.Field("o_blocks")
	oGrant   = obdo.Field("o_grant")
	oMode    = obdo.Field("o_mode")
	oFlags   = obdo.Field("o_flags")
	oMisc    = obdo.Field("o_misc")
	oFallocM = obdo.Field("o_falloc_mode")
)

// Bits of o_valid.
var (
	validID     = ObdMdValid.Bit("FLID")
	validObject = validID | ObdMdValid.Bit("FLGROUP")
	validSize   = ObdMdValid.Bit("FLSIZE")
	validBlocks = ObdMdValid.Bit("FLBLOCKS")
	validFlags  = ObdMdValid.Bit("FLFLAGS")
	validParent = ObdMdValid.Bit("FLFID")
)

// settable are the attributes that a setattr may set.
var settable = []struct {
	bits uint64
	name string
}{
	{validSize, "size"},
	{ObdMdValid.Bit("FLATIME") | ObdMdValid.Bit("FLMTIME") | ObdMdValid.Bit("FLCTIME"), "times"},
	{ObdMdValid.Bit("FLMODE"), "mode"},
	{ObdMdValid.Bit("FLUID"), "uid"},
	{ObdMdValid.Bit("FLGID"), "gid"},
	{ObdMdValid.Bit("FLPROJID"), "projid"},
	{ObdMdValid.Bit("FLOSTLAYOUT") | ObdMdValid.Bit("LAYOUT_VERSION"), "layout"},
}

// sets appends what a setattr sets: set uid,gid.
func (a attrs) sets(l *Line) {
	label := "set "
	for _, s := range settable {
		if a.word(oValid)&s.bits == 0 {
			continue
		}
		if label == "," {
			l.Add(Dim, ",")
		} else {
			l.Key(label)
		}
		l.Add(Flag, s.name)
		label = ","
	}
}

var (
	flagShortIO   = ObdoFlags.Bit("SHORT_IO")
	flagDelOrphan = ObdoFlags.Bit("DELORPHAN")
)

func attrsOf(m *Msg, buf int) attrs {
	if m == nil {
		return attrs{}
	}
	return attrs{m.Buf(buf), m.Big}
}

func (a attrs) word(f *Field) uint64 { return f.Uint(a.b, a.big) }

// reach says whether the field was captured.
func (a attrs) reach(f *Field) bool { return len(a.b) >= f.Off+f.Size }

func (a attrs) valid(bits uint64) bool { return a.word(oValid)&bits == bits }

func (a attrs) flag(bit uint64) bool { return a.valid(validFlags) && a.word(oFlags)&bit != 0 }

// object appends the id of the object.
func (a attrs) object(l *Line) {
	if a.word(oValid)&validObject != 0 {
		l.ObjectID(oOi.Bytes(a.b), a.big)
	}
}

// span appends the range of a punch, sync or fallocate.
func (a attrs) span(l *Line) {
	if !a.reach(oBlocks) {
		return
	}
	l.Key("from ")
	l.Offset(a.word(oSize))
	l.Key("to ")
	l.Offset(a.word(oBlocks))
}

// grant appends the bytes granted.
func (a attrs) grant(l *Line) {
	if a.valid(validGrant) && a.reach(oGrant) {
		l.Key("grant ")
		l.Num(a.word(oGrant))
	}
}

// size appends size and blocks of the object.
func (a attrs) size(l *Line) {
	if a.valid(validSize) && a.reach(oSize) {
		l.Key("size ")
		l.Offset(a.word(oSize))
	}
	if a.valid(validBlocks) && a.reach(oBlocks) {
		l.Key("blocks ")
		l.Num(a.word(oBlocks))
	}
}

// file is the FID of the file that the object belongs to, else of the object
// itself, when it has one. The parts of the former lie apart in an obdo; they
// are put together in fid.
func (a attrs) file(fid []byte) []byte {
	if len(a.b) < obdo.Size {
		return nil
	}
	if a.valid(validParent) {
		fid = append(fid[:0], a.b[24:32]...)
		fid = append(fid, a.b[104:108]...)
		return append(fid, a.b[124:128]...)
	}
	if id := oOi.Bytes(a.b); a.valid(validID) && ReadUint(id[8:16], a.big) != 0 {
		return id
	}
	return nil
}

func objectSubject(m *Msg) (fid, name []byte) { return attrsOf(m, 1).file(m.Scratch[:0]), nil }

func askObject(m *Msg, l *Line) { attrsOf(m, 1).object(l) }

func answerSize(m *Msg, l *Line) { attrsOf(m, 1).size(l) }

// askSpan is the request of an operation on a range of an object.
func askSpan(m *Msg, l *Line) {
	a := attrsOf(m, 1)
	a.object(l)
	a.span(l)
}
