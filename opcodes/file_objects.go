package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// FileID is a FID as numbers. The zero FileID is none.
type FileID struct {
	Seq      uint64
	OID, Ver uint32
}

// fileID reads a struct lu_fid, the zero FileID when it was not captured.
func fileID(b []byte, big bool) (f FileID) {
	if len(b) >= fidSize {
		f.Seq = ReadUint(b[:8], big)
		f.OID, f.Ver = uint32(ReadUint(b[8:12], big)), uint32(ReadUint(b[12:16], big))
	}
	return f
}

// RootDirectory is the FID of the root of a file system.
var RootDirectory = FileID{Seq: FidSeq.Number("ROOT"), OID: 1}

// FilesByFID is the FID of the directory .lustre/fid, in which any file can be looked
// up by its FID.
var FilesByFID = FileID{Seq: FidSeq.Number("DOT_LUSTRE"), OID: uint32(FidOid.Number("FID_OID_DOT_LUSTRE_OBF"))}

// ObjectID is the id of an OST object: a FID, or a number of the old form, which
// each OST assigns on its own.
type ObjectID struct {
	FID    FileID // zero for the old form
	Number uint64 // of the old form
}

// objectID reads a struct ost_id.
func objectID(b []byte, big bool) (o ObjectID) {
	switch {
	case len(b) < fidSize:
	case IsFID(b, big):
		o.FID = fileID(b, big)
	default:
		o.Number = oiID.Uint(b, big)
	}
	return o
}

// On returns the FID of the object, for one of the old form that of the OST with an
// index: a FID of the sequences that stand for such objects.
func (o ObjectID) On(ost uint32) FileID {
	if o.FID != (FileID{}) || o.Number == 0 {
		return o.FID
	}
	const high = 1<<16 - 1 // bits 32 to 47 of the number
	return FileID{Seq: FidSeq.Number("IDIF") | uint64(ost&high)<<16 | o.Number>>32&high, OID: uint32(o.Number)}
}

// Striping is how the bytes of a file, or of a component, are laid out over
// objects.
type Striping struct {
	Size      uint32 // bytes on an object before the next, 0: unknown
	Count     uint32 // objects
	Index     uint32 // of the object
	Component uint32 // its id, 0 without components
	Start     uint64 // first byte of the file that is in the component
}

// FileOffset returns which byte of the file is the byte of the object at an offset.
func (s *Striping) FileOffset(off uint64) (at uint64, ok bool) {
	if s.Size == 0 || s.Count == 0 || s.Index >= s.Count {
		return 0, false
	}
	size := uint64(s.Size)
	stripe := off / size
	if stripe > 1<<62/size/uint64(s.Count) {
		return 0, false
	}
	return (stripe*uint64(s.Count)+uint64(s.Index))*size + off%size, true
}

// ObjectRequest is what the ost_body of a request or reply says about an object.
type ObjectRequest struct {
	Object    ObjectID
	Parent    FileID // the file that it belongs to
	HasParent bool
	Striping  Striping
	Size      uint64 // of the object
	HasSize   bool
}

// ObjectRequestOf reads the ost_body of a message that is about one object; ok is
// false when it is about none, or was not captured.
func ObjectRequestOf(m *Msg) (o ObjectRequest, ok bool) {
	a := attrsOf(m, 1)
	if !a.reach(oParentVer) || !a.valid(validID) {
		return o, false
	}
	o.Object = objectID(oOi.Bytes(a.b), a.big)
	if a.valid(validParent) {
		o.Parent = FileID{a.word(oParentSeq), uint32(a.word(oParentOid)), 0}
		o.HasParent = o.Parent != FileID{}
		if b := obdo.Field("o_layout").Bytes(a.b); b != nil && a.valid(ObdMdValid.Bit("FLOSTLAYOUT")) {
			word := func(name string) uint64 { return ostLayout.Field(name).Uint(b, a.big) }
			o.Striping = Striping{uint32(word("ol_stripe_size")), uint32(word("ol_stripe_count")), uint32(a.word(obdo.Field("o_stripe_idx"))),
				uint32(word("ol_comp_id")), word("ol_comp_start")}
		}
	}
	if m.Reply && a.valid(validSize) {
		o.Size, o.HasSize = a.word(oSize), true
	}
	return o, o.Object != ObjectID{}
}

// Ranges calls f with each range that an OST_READ or OST_WRITE asks for, in order:
// offset and length in the object, in bytes.
func Ranges(m *Msg, f func(off uint64, size uint32)) {
	for b := m.Buf(3); len(b) >= niobufRemote.Size; b = b[niobufRemote.Size:] {
		f(rnbOffset.Uint(b, m.Big), uint32(rnbLen.Uint(b, m.Big)))
	}
}

// WrittenRange returns the result of range i in the reply to an OST_WRITE: 0 or a
// negative errno.
func WrittenRange(m *Msg, i int) (errno int32, ok bool) {
	b := m.Buf(2)
	if len(b) < 4*i+4 {
		return 0, false
	}
	return int32(ReadUint(b[4*i:4*i+4], m.Big)), true
}

// ObjectSize returns the size of an object in the value block of an extent lock, in
// the reply to an LDLM_ENQUEUE.
func ObjectSize(m *Msg) (size uint64, ok bool) {
	b := m.Buf(2)
	if len(b) < ostLvbV1.Size || requestLock(m.Buf(1), m.Big).kind() != ExtentLock || lvbBlocksField.Uint(b, m.Big)>>32 == lvbError {
		return 0, false
	}
	return lvbSize.Uint(b, m.Big), true
}

// ExtentObject returns the object that an extent lock is on.
func (d *LockDesc) ExtentObject() (o ObjectID, ok bool) {
	switch {
	case d.Kind != ExtentLock || d.Name == [4]uint64{}:
		return o, false
	case d.Name[1] == 0:
		return ObjectID{Number: d.Name[0]}, true
	}
	return ObjectID{FID: FileID{d.Name[0], uint32(d.Name[1]), uint32(d.Name[1] >> 32)}}, true
}

// mdsIOPortal is where MDTs get requests to read and write the data of files.
var mdsIOPortal = uint32(Portal.Number("MDS_IO_PORTAL"))

// IsDataOnMDT reports whether a request to read or write goes to an MDT, where the
// object is the file itself.
func IsDataOnMDT(portal uint32) bool { return portal == mdsIOPortal }
