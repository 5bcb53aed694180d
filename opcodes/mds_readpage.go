package opcodes

import (
	"bytes"

	. "github.com/lshark/lshark/opcodes/schema"
)

const MDS_READPAGE = 37

var DirentAttrs = Bits("dirent_attrs", "LUDA_", "what a directory entry holds", []Value{
	{Name: "FID", Value: 0x1, Doc: "its FID"},
	{Name: "TYPE", Value: ludaHasType, Doc: "its file type"},
	{Name: "LUDA_64BITHASH", Value: 0x4, Doc: "a hash of 64 bits", NoPrefix: true},
	{Name: "UNKNOWN", Value: 0x400, Doc: "LFSCK could not judge it"},
	{Name: "IGNORE", Value: 0x800, Doc: "LFSCK left it alone"},
	{Name: "UPGRADE", Value: 0x1000, Doc: "LFSCK upgraded it"},
	{Name: "REPAIR", Value: 0x2000, Doc: "LFSCK repaired it"},
	{Name: "VERIFY_DRYRUN", Value: 0x4000, Doc: "for LFSCK, changing nothing"},
	{Name: "VERIFY", Value: 0x8000, Doc: "for LFSCK"},
	{Name: "LU_DIRENT_ATTRS_MASK", Value: 0xff00, Alias: true, NoPrefix: true},
})

var DirpageFlags = Bits("dirpage_flags", "LDF_", "what is special about a page of a directory", []Value{
	{Name: "EMPTY", Value: dirPageEmpty, Doc: "page without entries"},
	{Name: "COLLIDE", Value: 0x2, Doc: "last entry hash equals ldp_hash_end"},
})

var luDirent = &Struct{Name: "lu_dirent", Order: Little, Doc: "entry of a directory", Fields: []*Field{
	Sub("lde_fid", &LuFid, "what it names"),
	U64("lde_hash", Cookie, "hash of the name: entries come in its order"),
	ldeReclen,
	ldeNamelen,
	ldeAttrs,
	Str("lde_name", 0, FileName, CountBy("lde_namelen"), Counted("name"), "the name; no NUL ends it"),
	Pad("lde_pad", 0, CountOf(func(v *View) int { return int(ldeNamelen.Uint(v.Struct, false) & 1) }),
		If(func(v *View) bool { return ldeAttrs.Uint(v.Struct, false)&ludaHasType != 0 })),
	U16("lt_type", Octal, If(func(v *View) bool { return ldeAttrs.Uint(v.Struct, false)&ludaHasType != 0 }),
		Remark(func(v *View, dst []byte) []byte { return append(dst, fileTypeNames[v.Value>>12&15]...) }), "file type, as in the upper bits of a mode"),
	Pad("slack", 0, AfterPrevious(true), CountOf(toLastByte), "up to lde_reclen: padding, with what is left of an entry that was removed"),
}}

// toLastByte counts the bytes up to the last one that is not zero.
func toLastByte(v *View) int { return len(bytes.TrimRight(v.Rest, "\x00")) }

const (
	ludaHasType  = 2
	pageSize     = 4096
	dirHashEnd   = 0xfffffffffffffffe
	dirPageEmpty = 1

	dirPageHeader = 24
	direntHeader  = 32
)

var (
	ldeReclen  = U16("lde_reclen", Size, "bytes of the entry; 0 in the last one of a page")
	ldeNamelen = U16("lde_namelen", Size, "bytes of the name")
	ldeAttrs   = U32("lde_attrs", &DirentAttrs, "what follows the name")
)

var fileTypeNames = [16]string{1: "fifo", 2: "character device", 4: "directory", 6: "block device", 8: "file", 10: "symlink", 12: "socket"}

var ludaType = &Struct{Name: "luda_type", Order: Little, Doc: "type of a directory entry, behind its name", Fields: []*Field{
	U16("lt_type", Octal, "file type, as in the upper bits of a mode"),
}}

var luDirpage = &Struct{Name: "lu_dirpage", Order: Little, Doc: "page of a directory: 4096 bytes", Fields: []*Field{
	U64("ldp_hash_start", Cookie, "hash that was asked for"),
	U64("ldp_hash_end", Cookie, Remark(func(v *View, dst []byte) []byte {
		if v.Value == dirHashEnd {
			return append(dst, "end of the directory"...)
		}
		return dst
	}), "hash to go on with"),
	ldpFlags,
	Pad("ldp_pad0", 4),
	Subs("ldp_entries", -1, &luDirent, If(never), "the entries; shown as `entries`"),
	Records("entries", nextDirent, []*Field{dirent}, "what is in the directory"),
	Pad("slack", 0, AfterPrevious(true), CountOf(toLastByte),
		"behind the last entry: of no meaning"),
}}

var dirent = Sub("", &luDirent)

var ldpFlags = U32("ldp_flags", &DirpageFlags, "what is special about the page")

// nextDirent finds the entries of a page. The bytes after the last one are
// not zero for certain: servers leave entries there that they do not show.
func nextDirent(v *View) (*Field, int) {
	page := v.Struct[:min(len(v.Struct), pageSize)]
	if len(page) < dirPageHeader || ldpFlags.Uint(page, false)&dirPageEmpty != 0 {
		return nil, 0
	}
	at := dirPageHeader
	for range v.Index {
		n := int(ldeReclen.Uint(page[at:], false))
		if at+n > len(page) || n == 0 {
			return nil, 0
		}
		at += n
	}
	entry := page[at:]
	name := int(ldeNamelen.Uint(entry, false))
	size := direntSize(name, ldeAttrs.Uint(entry, false))
	n := int(ldeReclen.Uint(entry, false))
	switch {
	case name == 0 || n != 0 && n < size:
		return nil, 0
	case n == 0:
		return dirent, size
	}
	return dirent, n
}

// direntSize is the number of bytes of an entry, without padding.
func direntSize(name int, attrs uint64) int {
	if attrs&ludaHasType != 0 {
		return direntHeader + name + name&1 + 2
	}
	return direntHeader + name
}

// dirPages is the bulk data of a readdir.
var dirPages = &Struct{Name: "dir_pages", Doc: "pages of a directory", Fields: []*Field{
	Records("pages", nextPage(dirPage), []*Field{dirPage}),
}}

var dirPage = Sub("", &luDirpage)

// nextPage cuts bulk data into pages, each a page of its own whatever the
// page size of the client.
func nextPage(page *Field) func(*View) (*Field, int) {
	return func(v *View) (*Field, int) {
		if len(v.Rest) == 0 {
			return nil, 0
		}
		return page, pageSize
	}
}

var luPage = &Struct{Name: "lu_page", Doc: "page of a directory or of an index", Fields: []*Field{
	Str("lp_array", pageSize, Removed, If(never), "the page as bytes"),
	Sub("lp_dir", &luDirpage, Over("lp_array")),
	Sub("lp_idx", &luIdxpage, Over("lp_array")),
}}

var formDirPages = Sub("dir_pages", &dirPages)

var _ = DefineRPC(&RPC{Opcode: MDS_READPAGE, Name: "MDS_READPAGE", Does: ReadsDir | OfFile,
	Doc:     "Reads pages of a directory from a hash value on. The pages come as bulk data; the client keeps them under its lock on the directory.",
	Context: true,
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, Sub("mdt_body", &mdtBodyReadpage, "the directory, and what to read of it"), bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufMdtBody),
		Bulk:    &BulkData{Portal: portalMDSBulk, Type: dirPages},
		SummarizeRequest: func(m *Msg, l *Line) {
			summarizeBodyRequest(m, l)
			o := bodyOf(m)
			l.Key("from ").Hex(Number, o.word(mboSize))
			l.Key("bytes ").Num(o.word(mboNlink))
		},
		SummarizeReply: NoSummary, Subject: bodySubject,
	}}})

// ReadsFromStart reports whether a request of MDS_READPAGE begins at the start of the
// directory.
func ReadsFromStart(m *Msg) bool {
	b := m.Buf(1)
	return len(b) >= mboSize.Off+mboSize.Size && mboSize.Uint(b, m.Big) == 0
}
