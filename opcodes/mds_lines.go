package opcodes

import (
	"strconv"
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

// What the summary lines of metadata operations are made of. The buffers are
// found by name, so that the lines serve intents too.

// addEntry appends a name and its directory: [0x200000007:0x1:0x0]/name.
func addEntry(l *Line, dir []byte, big bool, name []byte) {
	l.FID(dir, big)
	if len(TrimNUL(name)) > 0 {
		l.Add(Dim, "/")
		l.Label(Name, name)
	}
}

// addMode appends a file mode.
func addMode(l *Line, mode uint64) {
	l.Text = append(l.Text, '0')
	for digit := uint64(0o100); digit > mode && digit > 1; digit >>= 3 {
		l.Text = append(l.Text, '0')
	}
	l.Text = strconv.AppendUint(l.Text, mode, 8)
	l.Mark(Flag)
}

// addLayout appends what kind of layout it is, if b holds one. One stripe of a
// directory is no news.
func addLayout(l *Line, b []byte, user bool) {
	f := layoutForm(b, user)
	if f == nil || len(b) < f.Type.Size || f == formUserLmv && oneStripe(b) {
		return
	}
	l.Key("layout ")
	l.AddEscaped(Flag, func(dst []byte) []byte { return sketchLayout(dst, f, b) }) // a pool's name may be in it
}

// oneStripe says whether a lmv_user_md_v1 asks for nothing out of the way.
func oneStripe(b []byte) bool {
	const count, hash = 4, 12
	return ReadUint(b[count:count+4], littleLayout(b, false)) <= 1 && allZero(b[hash:hash+4])
}

// fileTypes are the types of files by the top bits of the mode.
var fileTypes = [16]string{1: "fifo", 2: "char", 4: "dir", 6: "block", 8: "file", 10: "symlink", 12: "socket"}

// addFileType appends the type in a mode.
func addFileType(l *Line, mode uint64) {
	if t := fileTypes[mode>>12&15]; t != "" {
		l.Key("")
		l.Add(Flag, t)
	}
}

// mdtBodyOf is the mdt_body of a message with what is needed to read it.
type mdtBodyOf struct {
	b   []byte
	big bool
}

func bodyOf(m *Msg) mdtBodyOf {
	if m == nil {
		return mdtBodyOf{}
	}
	return mdtBodyOf{m.Named("mdt_body"), m.Big}
}

func (o mdtBodyOf) word(f *Field) uint64 { return f.Uint(o.b, o.big) }

func (o mdtBodyOf) has(bits uint64) bool { return o.word(mboValid)&bits != 0 }

var (
	bodyFID     = ObdMdValid.Bit("FLID") | ObdMdValid.Bit("MDS")
	bodyMode    = ObdMdValid.Bit("FLMODE") | ObdMdValid.Bit("FLTYPE")
	bodySize    = ObdMdValid.Bit("FLSIZE") | ObdMdValid.Bit("FLLAZYSIZE")
	bodyVersion = ObdMdValid.Bit("FLDATAVERSION")
	bodyMoved   = ObdMdValid.Bit("MDS")
)

// answerAttrs tells what a reply says about an object: its FID, type, mode,
// size and layout.
func answerAttrs(m *Msg, l *Line) {
	o := bodyOf(m)
	if len(o.b) == 0 {
		return
	}
	if o.has(bodyFID) && !allZero(mboFid1.Bytes(o.b)) {
		l.Key("")
		l.FID(mboFid1.Bytes(o.b), o.big)
	}
	if o.has(bodyMoved) {
		l.Key("on another MDT")
	}
	if o.has(bodyMode) {
		mode := o.word(mboMode)
		addFileType(l, mode)
		l.Key("")
		addMode(l, mode&modePerm)
	}
	if o.has(bodySize) {
		l.Key("size ")
		l.Num(o.word(mboSize))
	}
	if o.has(mdLinkname) {
		l.Key("-> ")
		l.Label(Name, m.Named("mdt_md"))
	} else {
		addLayout(l, m.Named("mdt_md"), userWrote(m))
	}
}

// askBody names the object that a request's mdt_body is about.
func askBody(m *Msg, l *Line) {
	o := bodyOf(m)
	addEntry(l, mboFid1.Bytes(o.b), o.big, m.Named("name"))
}

// askGetattr names the object and tells what is asked for beside attributes.
func askGetattr(m *Msg, l *Line) {
	askBody(m, l)
	extra := bodyOf(m).word(mboValid) & interestingAttrs
	if extra != 0 {
		l.Key("want ")
		l.Flags(ObdMdValid, extra)
	}
}

var interestingAttrs = ObdMdValid.Bit("FLEASIZE") | ObdMdValid.Bit("FLDIREA") | ObdMdValid.Bit("LINKNAME") |
	ObdMdValid.Bit("MEA") | ObdMdValid.Bit("DEFAULT_MEA") | ObdMdValid.Bit("FLXATTR") | ObdMdValid.Bit("FLXATTRLS") |
	ObdMdValid.Bit("FLACL")

// bodySubject is the object that a mdt_body is about, and the name.
func bodySubject(m *Msg) (fid, name []byte) {
	return mboFid1.Bytes(m.Named("mdt_body")), TrimNUL(m.Named("name"))
}

// openFlagsShown are the open flags worth a place in a summary.
var openFlagsShown = func() (shown uint64) {
	for _, name := range []string{"FMODE_READ", "FMODE_WRITE", "FMODE_EXEC", "OPEN_CREAT", "OPEN_EXCL", "OPEN_TRUNC",
		"OPEN_APPEND", "OPEN_SYNC", "OPEN_DIRECTORY", "OPEN_LEASE", "OPEN_RELEASE", "OPEN_RESYNC", "OPEN_VOLATILE", "OPEN_PCC"} {
		shown |= MdsOpenFlags.Bit(name)
	}
	return shown
}()

// addOpenFlags appends open flags: READ|WRITE|CREAT.
func addOpenFlags(l *Line, word uint64) {
	first := true
	MdsOpenFlags.Set(word&openFlagsShown, func(v *Value) {
		if !first {
			l.Text = append(l.Text, '|')
		}
		first = false
		name := strings.TrimPrefix(v.Name, "FMODE_")
		l.Text = append(l.Text, strings.TrimPrefix(name, "OPEN_")...)
	})
	l.Mark(Flag)
}
