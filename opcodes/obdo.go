package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// ObdoFlags are the flags of an obdo. The type of the checksum is a number in bits 12 to 15.
var ObdoFlags = Bits("obdo_flags", "OBD_FL_", "what is special about the operation, and the type of the checksum", []Value{
	{Name: "INLINEDATA", Value: 0x1, Doc: "data is inline, long ago"},
	{Name: "OBDMDEXISTS", Value: 0x2, Doc: "attributes are known"},
	{Name: "DELORPHAN", Value: 0x4, Doc: "OST_CREATE: destroy the precreated objects above this id"},
	{Name: "NORPC", Value: 0x8, Doc: "nothing to send"},
	{Name: "IDONLY", Value: 0x10, Doc: "id only"},
	{Name: "RECREATE_OBJS", Value: 0x20, Doc: "make lost objects again"},
	{Name: "DEBUG_CHECK", Value: 0x40, Doc: "check the data"},
	{Name: "NO_PRJQUOTA", Value: 0x80, Doc: "the project is out of quota"},
	{Name: "NO_USRQUOTA", Value: 0x100, Doc: "the user is out of quota"},
	{Name: "NO_GRPQUOTA", Value: 0x200, Doc: "the group is out of quota"},
	{Name: "NO_QUOTA_ALL", Value: 0x380, Doc: "out of any quota", Alias: true},
	{Name: "CREATE_CROW", Value: 0x400, Doc: "create the object when it is written"},
	{Name: "SRVLOCK", Value: 0x800, Doc: "the server takes the lock; the bit also marks objects of encrypted files"},
	{Name: "CKSUM_CRC32", Value: 0x1000, Mask: 0xf000, Doc: "checksum is a CRC32"},
	{Name: "CKSUM_ADLER", Value: 0x2000, Mask: 0xf000, Doc: "checksum is Adler-32"},
	{Name: "CKSUM_CRC32C", Value: 0x4000, Mask: 0xf000, Doc: "checksum is a CRC32C"},
	{Name: "CKSUM_T10IP512", Value: 0x5000, Mask: 0xf000, Doc: "checksum of T10 IP guards of 512 bytes"},
	{Name: "CKSUM_T10IP4K", Value: 0x6000, Mask: 0xf000, Doc: "checksum of T10 IP guards of 4096 bytes"},
	{Name: "CKSUM_T10CRC512", Value: 0x7000, Mask: 0xf000, Doc: "checksum of T10 CRC guards of 512 bytes"},
	{Name: "CKSUM_T10CRC4K", Value: 0x8000, Mask: 0xf000, Doc: "checksum of T10 CRC guards of 4096 bytes"},
	{Name: "CKSUM_ALL", Value: 0xf000, Doc: "where the type of the checksum is", Alias: true},
	{Name: "CKSUM_RSVD3", Value: 0x10000, Doc: "unused"},
	{Name: "SHRINK_GRANT", Value: 0x20000, Doc: "the client gives grant back"},
	{Name: "MMAP", Value: 0x40000, Doc: "pages of a mapped file"},
	{Name: "RECOV_RESEND", Value: 0x80000, Doc: "sent again after recovery"},
	{Name: "NOSPC_BLK", Value: 0x100000, Doc: "the target is short of blocks"},
	{Name: "FLUSH", Value: 0x200000, Doc: "flush the pages first"},
	{Name: "SHORT_IO", Value: 0x400000, Doc: "the data is in the message, there is no bulk"},
	{Name: "ROOT_SQUASH", Value: 0x800000, Since: "2.15", Doc: "root is squashed"},
	{Name: "ROOT_PRJQUOTA", Value: 0x1000000, Since: "2.16", Doc: "project quota holds for root too"},
})

var oValid = U64("o_valid", &ObdMdValid, "which fields mean something")

// The parts of the FID of the file that are separate from its sequence.
var (
	oParentOid = U32("o_parent_oid", Harmless, When{"o_valid", "FLFID"}, "object id of the FID of the file")
	oParentVer = U32("o_parent_ver", Harmless, When{"o_valid", "FLFID"}, "version of the FID of the file")
)

// obdo is struct obdo. Several slots have a second meaning, depending on the
// operation; the names of those are the ones in Lustre's sources.
var obdo = &Struct{Name: "obdo", Doc: "attributes of an object, and what goes with reads and writes", Fields: []*Field{
	oValid,
	Sub("o_oi", &ostId, When{"o_valid", "FLID", "FLGROUP"}, "the object; with FLGROUP alone its sequence, and in a create the id too"),
	U64("o_parent_seq", Harmless, Hex, When{"o_valid", "FLFID"}, Remark(parentText), "sequence of the FID of the file on the MDT"),
	U64("o_size", Size, When{"o_valid", "FLSIZE"}, ValidIf(inSeek), Remark(remarkSize), "size; for punch, sync and fallocate the start, for "+
		"seek the offset; in the reply to a create the width of the sequence"),
	S64("o_mtime", Time, When{"o_valid", "FLMTIME"}, "modification time"),
	S64("o_atime", Time, When{"o_valid", "FLATIME"}, "access time"),
	S64("o_ctime", Time, When{"o_valid", "FLCTIME"}, "change time"),
	U64("o_blocks", Size, When{"o_valid", "FLBLOCKS", "FLGRANT"}, ValidIf(inFallocate), Remark(remarkBlocks),
		"512-byte blocks; for punch, sync and fallocate the end; with grants the client's dirty bytes"),
	U64("o_grant", Size, When{"o_valid", "FLGRANT"}, "grant in bytes: what the client has, in the reply what it gets on top"),
	U32("o_blksize", Size, When{"o_valid", "FLBLKSZ"}, "block size"),
	U32("o_mode", Octal, When{"o_valid", "FLMODE", "FLTYPE"}, If(hasMode), "file type and mode"),
	U32("o_undirty", Size, Over("o_mode"), If(asksGrant), "grant in bytes that the client would like"),
	U32("o_whence", &SeekWhence, Over("o_mode"), If(inSeek), "what a seek looks for"),
	U32("o_uid", UserID, When{"o_valid", "FLUID"}, "owner; filled for reads and writes without the bit too"),
	U32("o_gid", UserID, When{"o_valid", "FLGID"}, "group; filled for reads and writes without the bit too"),
	U32("o_flags", &ObdoFlags, When{"o_valid", "FLFLAGS"}, "what is special, and the type of the checksum"),
	U32("o_nlink", Harmless, When{"o_valid", "FLNLINK"}, If(hasLinks), "links"),
	U32("o_cksum", DataSum, Hex, Over("o_nlink"), If(withChecksum), "checksum of the data"),
	U32("o_falloc_mode", &FallocMode, Over("o_nlink"), If(inFallocate), "mode of a fallocate"),
	oParentOid,
	U32("o_misc", Harmless, When{"o_valid", "FLGRANT", "FLOBJCOUNT"}, Remark(func(v *View, dst []byte) []byte {
		switch valid := v.Uint(oValid); {
		case asksGrant(v):
			return append(dst, "grant in bytes that the client dropped"...)
		case valid&validCount != 0:
			return append(dst, "objects"...)
		}
		return dst
	}), "with grants the bytes that the client dropped; for a "+
		"destroy the number of objects"),
	U64("o_ioepoch", Harmless, "no longer used"),
	U32("o_stripe_idx", Harmless, When{"o_valid", "FLFID"}, "stripe of the file that the object is"),
	oParentVer,
	Sub("o_handle", &lustreHandle, When{"o_valid", "FLHANDLE"}, "lock under which the client does it"),
	Sub("o_layout", &ostLayout, When{"o_valid", "FLOSTLAYOUT"}, "place of the object in the layout"),
	U32("o_layout_version", Harmless, When{"o_valid", "LAYOUT_VERSION"}, "version of the layout that the client knows"),
	U32("o_uid_h", Removed, "no longer used"),
	U32("o_gid_h", Removed, "no longer used"),
	U64("o_data_version", Cookie, When{"o_valid", "FLDATAVERSION"}, IfNot(usesGrant), "data version of the object"),
	U64("o_grant_used", Size, Over("o_data_version"), If(usesGrant), "grant in bytes that the client used up"),
	U32("o_projid", UserID, When{"o_valid", "FLPROJID"}, "project"),
	Padding("o_padding_", 4, 4, 8, 8),
}}

var ostBody = &Struct{Name: "ost_body", Doc: "attributes of an object", Fields: []*Field{
	Sub("oa", &obdo),
}}

var bufOstBody = Sub("ost_body", &ostBody, "attributes of the object")

var (
	validGrant    = ObdMdValid.Bit("FLGRANT")
	validChecksum = ObdMdValid.Bit("FLCKSUM")
	validCount    = ObdMdValid.Bit("FLOBJCOUNT")
)

// asksGrant: a client reports its part of the grants, in fields that mean
// something else in all other messages. Servers return what they have no attributes
// for as it was: all of the obdo after a read or a release of grants.
func asksGrant(v *View) bool {
	return v.Uint(oValid)&validGrant != 0 && v.Msg != nil && (!v.Msg.Reply || v.Uint(oValid)&ObdMdValid.Bit("FLMODE") == 0)
}

// usesGrant: o_data_version holds the grant that the client used up, also in the
// reply to a write, which has attributes of the object but no data version.
func usesGrant(v *View) bool {
	valid := v.Uint(oValid)
	return asksGrant(v) || v.Msg != nil && v.Msg.Reply && opcodeOf(v) == OST_WRITE && valid&ObdMdValid.Bit("FLDATAVERSION") == 0
}

func withChecksum(v *View) bool { return v.Uint(oValid)&validChecksum != 0 }

// hasMode and hasLinks report whether no other member of the union is in use.
func hasMode(v *View) bool  { return !asksGrant(v) && !inSeek(v) }
func hasLinks(v *View) bool { return !withChecksum(v) && !inFallocate(v) }

func inSeek(v *View) bool { return opcodeOf(v) == OST_SEEK }

func inFallocate(v *View) bool { return opcodeOf(v) == OST_FALLOCATE }

// remarkSize describes o_size in a request about a range, and in the reply to a create.
func remarkSize(v *View, dst []byte) []byte {
	if v.Msg == nil {
		return dst
	}
	if v.Msg.Reply {
		if opcodeOf(v) == OST_CREATE && v.Uint(oValid)&validSize != 0 {
			dst = append(dst, "width of the sequence: its number of object ids"...)
		}
		return dst
	}
	switch opcodeOf(v) {
	case OST_PUNCH, OST_SYNC, OST_FALLOCATE:
		return append(dst, "start of the range"...)
	case OST_SEEK:
		return append(dst, "offset"...)
	}
	return dst
}

// remarkBlocks describes o_blocks where it is not a number of blocks.
func remarkBlocks(v *View, dst []byte) []byte {
	if asksGrant(v) {
		return append(dst, "dirty bytes on the client"...)
	}
	switch opcodeOf(v) {
	case OST_PUNCH, OST_SYNC, OST_FALLOCATE:
		if !v.Msg.Reply {
			dst = append(dst, "end of the range"...)
		}
	}
	return dst
}

// parentText is the FID of the file, whose parts are separate fields of an obdo.
func parentText(v *View, dst []byte) []byte {
	if len(v.Struct) < oParentVer.Off+oParentVer.Size {
		return dst
	}
	return AppendFID(append(dst, "file "...), v.Value, uint32(v.Uint(oParentOid)), uint32(v.Uint(oParentVer)))
}

// attrs reads the obdo of an ost_body.
type attrs struct {
	b   []byte
	big bool
}

var (
	oOi        = obdo.Field("o_oi")
	oParentSeq = obdo.Field("o_parent_seq")
	oSize      = obdo.Field("o_size")
	oBlocks    = obdo.Field("o_blocks")
	oGrant     = obdo.Field("o_grant")
	oMode      = obdo.Field("o_mode")
	oFlags     = obdo.Resolve().Field("o_flags")
	oFallocM   = obdo.Field("o_falloc_mode")
)

var (
	validID     = ObdMdValid.Bit("FLID")
	validSize   = ObdMdValid.Bit("FLSIZE")
	validFlags  = ObdMdValid.Bit("FLFLAGS")
	validParent = ObdMdValid.Bit("FLFID")
)

// settable are the attributes that a setattr may set.
var settable = []struct {
	bits uint64
	name string
}{
	{validSize, "size"},
	{ObdMdValid.Bit("FLATIME", "FLMTIME", "FLCTIME"), "times"},
	{ObdMdValid.Bit("FLMODE"), "mode"},
	{ObdMdValid.Bit("FLUID"), "uid"},
	{ObdMdValid.Bit("FLGID"), "gid"},
	{ObdMdValid.Bit("FLPROJID"), "projid"},
	{ObdMdValid.Bit("FLOSTLAYOUT", "LAYOUT_VERSION"), "layout"},
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

var flagShortIO = ObdoFlags.Bit("SHORT_IO")

func attrsOf(m *Msg, buf int) attrs {
	if m == nil {
		return attrs{}
	}
	return attrs{m.Buf(buf), m.Big}
}

func (a attrs) word(f *Field) uint64 { return f.Uint(a.b, a.big) }

// reach reports whether the field was captured.
func (a attrs) reach(f *Field) bool { return len(a.b) >= f.Off+f.Size }

func (a attrs) valid(bits uint64) bool { return a.word(oValid)&bits == bits }

func (a attrs) flag(bit uint64) bool { return a.valid(validFlags) && a.word(oFlags)&bit != 0 }

func (a attrs) object(l *Line) {
	if a.word(oValid)&(validID|ObdMdValid.Bit("FLGROUP")) != 0 {
		l.ObjectID(oOi.Bytes(a.b), a.big)
	}
}

// span appends the range of a punch, sync or fallocate.
func (a attrs) span(l *Line) {
	if !a.reach(oBlocks) {
		return
	}
	l.Key("from ").Offset(a.word(oSize))
	l.Key("to ").Offset(a.word(oBlocks))
}

func (a attrs) grant(l *Line) {
	if a.valid(validGrant) && a.reach(oGrant) {
		l.Key("grant ").Num(a.word(oGrant))
	}
}

// size appends size and blocks of the object.
func (a attrs) size(l *Line) {
	if a.valid(validSize) && a.reach(oSize) {
		l.Key("size ").Offset(a.word(oSize))
	}
	if a.valid(ObdMdValid.Bit("FLBLOCKS")) && a.reach(oBlocks) {
		l.Key("blocks ").Num(a.word(oBlocks))
	}
}

// file is the FID of the file that the object belongs to, else of the object
// itself, when it has one. The parts of the former are separate fields of an obdo; they
// are put together in fid.
func (a attrs) file(fid []byte) []byte {
	if len(a.b) < obdo.Size {
		return nil
	}
	if a.valid(validParent) {
		fid = append(fid[:0], oParentSeq.Bytes(a.b)...)
		fid = append(fid, oParentOid.Bytes(a.b)...)
		return append(fid, oParentVer.Bytes(a.b)...)
	}
	if id := oOi.Bytes(a.b); a.valid(validID) && oiSeq.Uint(id, a.big) != 0 {
		return id
	}
	return nil
}
