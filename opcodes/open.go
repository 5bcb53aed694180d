package opcodes

import (
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

var MdsOpenFlags = Bits("mds_open_flags", "MDS_", "how a file is opened; the low half travels in cr_flags_l, the high half in cr_flags_h",
	[]Value{
		{Name: "FMODE_CLOSED", Value: 0x0, Doc: "not open"},
		{Name: "FMODE_READ", Value: 0x1, Doc: "for reading"},
		{Name: "FMODE_WRITE", Value: 0x2, Doc: "for writing"},
		{Name: "FMODE_EXEC", Value: 0x4, Doc: "to execute it"},
		{Name: "OPEN_CREATED", Value: 0x8, Doc: "the client has just created it"},
		{Name: "FMODE_EXECUTE", Value: 0x10, Since: "2.17", Doc: "to execute it"},
		{Name: "OPEN_CREAT", Value: 0x40, Doc: "create it when it is not there"},
		{Name: "OPEN_EXCL", Value: 0x80, Doc: "fail when it is there"},
		{Name: "OPEN_NOCTTY", Value: 0x100, Since: "2.17", Doc: "O_NOCTTY"},
		{Name: "OPEN_TRUNC", Value: 0x200, Doc: "truncate it"},
		{Name: "OPEN_APPEND", Value: 0x400, Doc: "append"},
		{Name: "OPEN_NONBLOCK", Value: 0x800, Since: "2.17", Doc: "O_NONBLOCK"},
		{Name: "OPEN_SYNC", Value: 0x1000, Doc: "synchronous writes"},
		{Name: "OPEN_FASYNC", Value: 0x2000, Since: "2.17", Doc: "O_ASYNC"},
		{Name: "OPEN_LARGEFILE", Value: 0x8000, Since: "2.17", Doc: "O_LARGEFILE"},
		{Name: "OPEN_DIRECTORY", Value: 0x10000, Doc: "it must be a directory"},
		{Name: "OPEN_NOFOLLOW", Value: 0x20000, Since: "2.17", Doc: "not through a symbolic link"},
		{Name: "OPEN_BY_FID", Value: 0x800000, Doc: "by FID, not by name"},
		{Name: "OPEN_DELAY_CREATE", Value: 0x1000000, Doc: "make no objects yet"},
		{Name: "OPEN_OWNEROVERRIDE", Value: 0x2000000, Doc: "owner may do it in spite of the mode"},
		{Name: "OPEN_JOIN_FILE", Value: 0x4000000, Doc: "gone after 2.15", Alias: true},
		{Name: "OPEN_LOCK", Value: 0x20000000, Doc: "requests the open lock"},
		{Name: "OPEN_HAS_EA", Value: 0x40000000, Doc: "the request brings a layout"},
		{Name: "OPEN_HAS_OBJS", Value: 0x80000000, Doc: "the request brings a layout with objects"},
		{Name: "OPEN_NORESTORE", Value: 0x200000000, Doc: "do not restore released data"},
		{Name: "OPEN_NEWSTRIPE", Value: 0x400000000, Doc: "a new layout is set"},
		{Name: "OPEN_VOLATILE", Value: 0x800000000, Doc: "temporary file without a name"},
		{Name: "OPEN_LEASE", Value: 0x1000000000, Doc: "requests a lease"},
		{Name: "OPEN_RELEASE", Value: 0x2000000000, Doc: "to release it to the archive"},
		{Name: "OPEN_RESYNC", Value: 0x4000000000, Doc: "to bring mirrors up to date"},
		{Name: "MKDIR_LMV", Value: 0x4000000000, Since: "2.16", Doc: "mkdir with stripes", Alias: true},
		{Name: "OPEN_PCC", Value: 0x8000000000, Since: "2.15", Doc: "to cache it on the client"},
		{Name: "OP_WITH_FID", Value: 0x10000000000, Since: "2.15", Doc: "the client gives the FID"},
		{Name: "OPEN_DEFAULT_LMV", Value: 0x20000000000, Since: "2.16", Doc: "requests the default stripes of the directory"},
		{Name: "OPEN_FL_INTERNAL", Value: 0x3f0e2800000, Doc: "flags that users cannot set", Alias: true},
	})

// MdsCreateFlags are the flags of a REINT_CREATE: the words are those of an open,
// their bits have other meanings.
var MdsCreateFlags = Bits("mds_create_flags", "MDS_", "flags of a create, in the words of open flags", []Value{
	{Name: "SETSTRIPE_CREATE", Value: 0x40, Since: "2.15", Doc: "set stripes of a new directory; one that exists stays as it is"},
	{Name: "OPEN_VOLATILE", Value: 0x800000000, Doc: "temporary file without a name"},
	{Name: "MKDIR_LMV", Value: 0x4000000000, Since: "2.16", Doc: "return the LMV of the new directory"},
	{Name: "OPEN_DEFAULT_LMV", Value: 0x20000000000, Since: "2.16", Doc: "the request carries a default LMV"},
})

// mdsCreateFlagsHigh are the bits of the high half, as cr_flags_h has them.
var mdsCreateFlagsHigh = MdsCreateFlags.HighHalf()

// isCreate reports whether an mdt_rec_create creates without opening.
func isCreate(v *View) bool { return rrOpcode.Uint(v.Struct, v.Big) == reintCreate }

// mdsOpenFlagsHigh are the bits of the high half, as cr_flags_h has them.
var mdsOpenFlagsHigh = MdsOpenFlags.HighHalf()

func openFlags(rec []byte, big bool) uint64 {
	return mdtRecCreate.Field("cr_flags_l").Uint(rec, big) | mdtRecCreate.Field("cr_flags_h").Uint(rec, big)<<32
}

func opensPCC(v *View) bool {
	return v.Uint(v.Type.Field("cr_flags_h"))<<32&MdsOpenFlags.Bit("OPEN_PCC") != 0
}

// openFlagsShown are the open flags worth a place in a summary.
var openFlagsShown = MdsOpenFlags.Bit("FMODE_READ", "FMODE_WRITE", "FMODE_EXEC", "OPEN_CREAT", "OPEN_EXCL", "OPEN_TRUNC",
	"OPEN_APPEND", "OPEN_SYNC", "OPEN_DIRECTORY", "OPEN_LEASE", "OPEN_RELEASE", "OPEN_RESYNC", "OPEN_VOLATILE", "OPEN_PCC")

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

// summarizeOpenRequest appends the name or FID of the file, and how it is opened.
func summarizeOpenRequest(m *Msg, l *Line) {
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
	if flags&MdsOpenFlags.Bit("OPEN_CREAT") != 0 {
		l.Key("")
		addMode(l, r.word(crMode)&modePerm)
	}
	addLayout(l, m.Named("eadata"), true)
}
