package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// Transfer is what a request of OST_READ or OST_WRITE asks for.
type Transfer struct {
	Object     [2]uint64 // the id, as it is
	Start, End uint64    // first byte of the object, and the one behind the last
	Bytes      uint64
	Ranges     int
	AnyFlags   uint64 // of ObdBrwFlags, that at least one range has
	AllFlags   uint64 // that all ranges have
	IsAgain    bool   // the client sends it once more, after an error or a bad checksum

	Grant    uint64 // bytes of grant that the client has left
	Wanted   uint64 // bytes of grant that it would like
	HasGrant bool   // Grant and Wanted are known
}

var (
	oCksum  = obdo.Field("o_cksum")
	oProjID = obdo.Field("o_projid")
)

// TransferOf reads a request of OST_READ or OST_WRITE; ok reports whether all its
// ranges were captured.
func TransferOf(m *Msg) (t Transfer, ok bool) {
	b, big := m.Buf(3), m.Big
	objects := m.Buf(2)
	if len(objects) < obdIoobj.Size || len(b) < niobufRemote.Size || len(b) < int(iooBufcnt.Uint(objects, big))*niobufRemote.Size {
		return t, false
	}
	t.Object = [2]uint64{ReadUint(objects[:8], big), ReadUint(objects[8:16], big)}
	t.Start, t.AllFlags = ^uint64(0), ^uint64(0)
	rnbFlags := niobufRemote.Field("rnb_flags")
	for ; len(b) >= niobufRemote.Size; b = b[niobufRemote.Size:] {
		at, size, flags := rnbOffset.Uint(b, big), rnbLen.Uint(b, big), rnbFlags.Uint(b, big)
		t.Start, t.End = min(t.Start, at), max(t.End, at+size)
		t.Bytes += size
		t.AnyFlags |= flags
		t.AllFlags &= flags
		t.Ranges++
	}
	a := attrsOf(m, 1)
	t.IsAgain = a.flag(ObdoFlags.Bit("RECOV_RESEND"))
	if a.valid(validGrant) && a.reach(oGrant) {
		t.Grant, t.Wanted, t.HasGrant = a.word(oGrant), a.word(obdo.Field("o_undirty")), true
	}
	return t, true
}

// DataChecksum is a checksum over the data of a read or write.
type DataChecksum struct {
	Kind  uint64 // the number in bits 12 to 15 of ObdoFlags
	Value uint32
}

// DataChecksumOf returns the checksum in the request of a write, or in the reply to a
// read or write; ok is false for a message without a checksum.
func DataChecksumOf(m *Msg) (c DataChecksum, ok bool) {
	a := attrsOf(m, 1)
	if !a.valid(validChecksum|validFlags) || !a.reach(oCksum) {
		return c, false
	}
	c = DataChecksum{a.word(oFlags) & ObdoFlags.Bit("CKSUM_ALL"), uint32(a.word(oCksum))}
	return c, c.Kind != 0
}

// Owner is whom the space of an object is charged to.
type Owner struct {
	User, Group, Project uint32
	HasProject           bool
}

// OwnerOf returns the owner of the object in a request to write, or in the reply to
// it.
func OwnerOf(m *Msg) (o Owner, ok bool) {
	a := attrsOf(m, 1)
	if !a.reach(oProjID) {
		return o, false
	}
	o = Owner{User: uint32(a.word(obdo.Field("o_uid"))), Group: uint32(a.word(obdo.Field("o_gid"))), HasProject: a.valid(ObdMdValid.Bit("FLPROJID"))}
	if o.HasProject {
		o.Project = uint32(a.word(oProjID))
	}
	return o, true
}

// OverQuota reports whose quota is used up, by the flags in the reply to a write.
func OverQuota(m *Msg) (user, group, project bool) {
	a := attrsOf(m, 1)
	return a.flag(ObdoFlags.Bit("NO_USRQUOTA")), a.flag(ObdoFlags.Bit("NO_GRPQUOTA")), a.flag(ObdoFlags.Bit("NO_PRJQUOTA"))
}

// LargestTransfer returns how many bytes a read or write may have, by the reply to a
// connect; ok is false when it does not say.
func LargestTransfer(m *Msg) (bytes uint64, ok bool) {
	b := m.Buf(1)
	if ObdConnectData.Field("ocd_connect_flags").Uint(b, m.Big)&ObdConnectFlags.Bit("BRW_SIZE") == 0 {
		return 0, false
	}
	bytes = ObdConnectData.Field("ocd_brw_size").Uint(b, m.Big)
	return bytes, bytes != 0
}

// Flags of ranges in Transfer.AnyFlags and Transfer.AllFlags.
var (
	BrwSync      = ObdBrwFlags.Bit("SYNC")       // to disk before the reply
	BrwFromGrant = ObdBrwFlags.Bit("FROM_GRANT") // space comes out of the grant
	BrwLocked    = ObdBrwFlags.Bit("SRVLOCK")    // the server takes the lock, for direct I/O
)
