package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// TargetKind is a kind of target.
type TargetKind uint8

// The kinds of targets.
const (
	AnyTarget TargetKind = iota // unknown
	MGSTarget
	MDTTarget
	OSTTarget
)

// portalKinds are the kinds of targets by the portals of their requests. The
// portals that several kinds have are left out.
var portalKinds = func() (kinds [64]TargetKind) {
	for kind, names := range map[TargetKind][]string{
		MGSTarget: {"MGS_REQUEST_PORTAL"},
		MDTTarget: {"MDS_REQUEST_PORTAL", "MDS_IO_PORTAL", "MDS_SETATTR_PORTAL", "MDS_READPAGE_PORTAL", "SEQ_METADATA_PORTAL",
			"SEQ_CONTROLLER_PORTAL"},
		OSTTarget: {"OST_IO_PORTAL", "OST_CREATE_PORTAL", "OST_REQUEST_PORTAL", "SEQ_DATA_PORTAL"},
	} {
		for _, name := range names {
			kinds[Portal.Number(name)] = kind
		}
	}
	return kinds
}()

// TargetKindOf returns which kind of target has the requests to a portal.
func TargetKindOf(portal uint32) TargetKind {
	if portal >= uint32(len(portalKinds)) {
		return AnyTarget
	}
	return portalKinds[portal]
}

// IsFirstMDT reports whether only MDT0000 can have served a request that
// succeeded: those for the root of the file system, for ranges of sequences to
// hand out, and for global quota.
func IsFirstMDT(m *Msg, portal uint32) bool {
	switch m.Opcode {
	case MDS_GET_ROOT, QUOTA_DQACQ:
		return true
	case SEQ_QUERY:
		return portal == sequenceController
	case LDLM_ENQUEUE:
		return requestLock(m.Buf(1), m.Big).nameWord(0) == seqQuotaGlobal
	case OBD_IDX_READ:
		fid := iiFid.Bytes(m.Buf(1))
		return len(fid) == fidSize && ReadUint(fid[:8], m.Big) == seqQuotaGlobal
	}
	return false
}

var sequenceController = uint32(Portal.Number("SEQ_CONTROLLER_PORTAL"))

// TargetObject returns the FID of an object that is on the target of a request
// if the request succeeds, nil when it names none: parents of names are on
// other targets at times, and old object ids have no FID. Callbacks come from
// the target.
func TargetObject(m *Msg) (fid []byte) {
	switch m.Opcode {
	case LDLM_ENQUEUE, LDLM_BL_CALLBACK, LDLM_CP_CALLBACK, LDLM_GL_CALLBACK:
		fid = lockedObject(m)
	case MDS_GETATTR, MDS_GETXATTR, MDS_READPAGE, MDS_SYNC, MDS_HSM_STATE_GET, MDS_HSM_STATE_SET:
		fid = mboFid1.Bytes(m.Named("mdt_body"))
	case MDS_GETATTR_NAME:
		fid = directory(m)
	case MDS_CLOSE:
		fid = saFid.Bytes(m.Named("rec_reint"))
	case MDS_REINT:
		fid = reintObject(m)
	case OST_GETATTR, OST_SETATTR, OST_READ, OST_WRITE, OST_CREATE, OST_DESTROY, OST_PUNCH, OST_SYNC, OST_FALLOCATE, OST_SEEK:
		if a := attrsOf(m, 1); a.valid(validID) {
			fid = oOi.Bytes(a.b)
		}
	case OUT_UPDATE:
		fid = firstUpdated(m)
	}
	if len(fid) < 16 || !IsFID(fid, m.Big) {
		return nil
	}
	return fid
}

// lockedObject is the object of a lock. A lock of the entry of a directory is on
// another MDT than the object when that is remote: it covers the name only.
func lockedObject(m *Msg) []byte {
	if m.Opcode == LDLM_ENQUEUE && len(m.Bufs) > 2 {
		if m.Variant == intentGetattr || m.Variant == intentLookup {
			return directory(m)
		}
		return nil // the lock may be on another object; see RepliedObject
	}
	k := requestLock(m.Buf(1), m.Big)
	switch k.kind() {
	case InodeLock:
		if k.bits()&^LdlmInodebits.Bit("LOOKUP") == 0 {
			return nil
		}
	case ExtentLock, FlockLock:
	default:
		return nil
	}
	return k.fid()
}

// directory is the directory in which a name is looked up, which an MDT does only in
// directories of its own.
func directory(m *Msg) []byte {
	if len(TrimNUL(m.Named("name"))) == 0 {
		return nil
	}
	return mboFid1.Bytes(m.Named("mdt_body"))
}

// reintObject is the object of an MDS_REINT that is on its MDT: one that
// exists, or a new one, whose FID is made in a sequence of the MDT.
func reintObject(m *Msg) []byte {
	rec := m.Named("rec_reint")
	switch rrOpcode.Uint(rec, m.Big) {
	case reintSetattr:
		return saFid.Bytes(rec)
	case reintSetxattr:
		return rrFid1.Bytes(rec)
	case reintCreate:
		return rrFid2.Bytes(rec)
	}
	return nil
}

// firstUpdated is the first object of an OUT_UPDATE whose updates are in the
// request.
func firstUpdated(m *Msg) []byte {
	b := m.Buf(1)
	at := outHeaderSize + updateRequestHeader + ouFid.Off
	if ouhInline.Uint(b, m.Big) == 0 || len(b) < at+ouFid.Size {
		return nil
	}
	return b[at : at+ouFid.Size]
}

// SequenceRange is a range of FID sequences, and the target that has it.
type SequenceRange struct {
	First, End uint64 // End is behind the last
	Kind       TargetKind
	Index      uint32
}

// SequenceRangeOf returns the range that a reply to FLD_QUERY or SEQ_QUERY names. In
// replies with one sequence (meta) the index is not set: the sequence belongs
// to the target that replies, and Kind is AnyTarget.
func SequenceRangeOf(m *Msg) (r SequenceRange, ok bool) {
	b := m.Buf(1)
	if m.Opcode != FLD_QUERY && m.Opcode != SEQ_QUERY || len(b) < luSeqRange.Size {
		return r, false
	}
	r = SequenceRange{First: lsrStart.Uint(b, m.Big), End: lsrEnd.Uint(b, m.Big), Index: uint32(lsrIndex.Uint(b, m.Big))}
	switch {
	case m.Opcode == SEQ_QUERY && r.End-r.First == 1:
		r.Index = 0
	case lsrFlags.Uint(b, m.Big) == SeqRangeType.Number("MDT"):
		r.Kind = MDTTarget
	case lsrFlags.Uint(b, m.Big) == SeqRangeType.Number("OST"):
		r.Kind = OSTTarget
	default:
		return r, false
	}
	return r, r.First >= FidSeq.Number("START") && r.First < r.End
}

// GrantingMDT returns the index of the MDT in a lock that it granted, by the reply
// to an LDLM_ENQUEUE; ok is false when there is no such lock. The field is zero also
// in releases before 2.16. The request must have an intent, as those of clients do: an
// MDT asks another one without, and names itself, which the reply repeats.
func GrantingMDT(reply *Msg) (index uint32, ok bool) {
	b := reply.Buf(1)
	k := requestLock(b, reply.Big)
	if len(b) < lockDesc.Off+keptOfLock || k.kind() != InodeLock || lockFlags.Uint(b, reply.Big)&LdlmFlags.Bit("LOCK_CHANGED") == 0 {
		return 0, false
	}
	return uint32(k.policyWord(ldlmInodebits.Field("li_initiator_id"))), true
}

// RepliedObject returns the FID of the object whose attributes a reply of an MDT
// has, nil when it has none; remote reports that the object is on another MDT,
// from which the client has to ask for the attributes.
func RepliedObject(reply *Msg) (fid []byte, remote bool) {
	switch reply.Opcode {
	case LDLM_ENQUEUE, MDS_GETATTR, MDS_GETATTR_NAME:
	default:
		return nil, false
	}
	b := reply.Named("mdt_body")
	valid := mboValid.Uint(b, reply.Big)
	if remote = valid&bodyMoved != 0; valid&bodyFID == 0 || !remote && valid&bodyMode == 0 {
		return nil, false
	}
	if fid = mboFid1.Bytes(b); len(fid) < 16 || allZero(fid) {
		return nil, false
	}
	return fid, remote
}

// Targets keep what they need for recovery in files of their own. Operations over
// several MDTs write to them, so that their records appear in update logs.

var ReplyDataMagic = Enum("reply_data_magic", "LRH_MAGIC_", "form of the records of reply_data", []Value{
	{Name: "V1", Value: 0xbdabda01, Doc: "records of 32 bytes"},
	{Name: "LRH_MAGIC", Value: 0xbdabda01, Doc: "the form that servers write", NoPrefix: true, Alias: true},
	{Name: "V2", Value: 0xbdabda02, Since: "2.16", Doc: "records of 64 bytes"},
})

var lsdReplyDataV1 = &Struct{Name: "lsd_reply_data_v1", Order: Little,
	Doc: "reply that a client may not have got, in the file reply_data; lsd_reply_data through 2.15", Fields: []*Field{
		U64("lrd_transno", ID, "transaction number of the reply"),
		U64("lrd_xid", ID, "xid of the request"),
		U64("lrd_data", Harmless, Hex, "what the operation found, as an intent disposition"),
		S32("lrd_result", Errno, "status of the reply"),
		U32("lrd_client_gen", Harmless, "which client: lcd_generation of its lsd_client_data"),
	}}

var lsdReplyDataV2 = &Struct{Name: "lsd_reply_data_v2", Since: "2.16", Order: Little,
	Doc: "reply that a client may not have got, in the file reply_data; lsd_reply_data from 2.16 on", Fields: []*Field{
		U64("lrd_transno", ID, "transaction number of the reply"),
		U64("lrd_xid", ID, "xid of the request"),
		U64("lrd_data", Harmless, Hex, "what the operation found, as an intent disposition"),
		S32("lrd_result", Errno, "status of the reply"),
		U32("lrd_client_gen", Harmless, "which client: lcd_generation of its lsd_client_data"),
		U32("lrd_batch_idx", Harmless, "which request of a batch"),
		Pads("lrd_padding", 7, 4),
	}}

var lsdReplyHeader = &Struct{Name: "lsd_reply_header", Order: Little, Doc: "begins the file reply_data", Fields: []*Field{
	U32("lrh_magic", Hex, &ReplyDataMagic, "form of the records"),
	U32("lrh_header_size", Size, "bytes of this header"),
	U32("lrh_reply_size", Size, "bytes of a record"),
	Pads("lrh_pad", 20, 1),
}}

var lsdClientData = &Struct{Name: "lsd_client_data", Order: Little, Doc: "client of a target, in the file last_rcvd", Fields: []*Field{
	Str("lcd_uuid", 40, TargetName, "UUID of the client"),
	U64("lcd_last_transno", ID, "transaction number of its last request"),
	U64("lcd_last_xid", ID, "xid of its last request"),
	S32("lcd_last_result", Errno, "status of the reply"),
	U32("lcd_last_data", Harmless, Hex, "what the operation found, as an intent disposition"),
	U64("lcd_last_close_transno", ID, "transaction number of its last close"),
	U64("lcd_last_close_xid", ID, "xid of its last close"),
	S32("lcd_last_close_result", Errno, "status of the reply to it"),
	U32("lcd_last_close_data", Harmless, Hex, "what the close found"),
	Arr("lcd_pre_versions", 4, U64("", Cookie), "versions of the objects before the last request"),
	U32("lcd_last_epoch", Harmless, "recovery epoch of the last request"),
	U32("lcd_generation", Harmless, "number that reply_data has for the client"),
}}

var (
	formReplyV1     = Sub("", &lsdReplyDataV1)
	formReplyV2     = Sub("", &lsdReplyDataV2)
	formReplyHeader = Sub("", &lsdReplyHeader)
	formClientData  = Sub("", &lsdClientData)
	targetFileForms = []*Field{formReplyV1, formReplyV2, formReplyHeader, formClientData}

	oidReplyData = LocalOid.Number("REPLY_DATA_OID")
)

// targetFileForm returns the form of data that is written to or read from
// reply_data or last_rcvd; nil for other objects and for lengths that are not
// those of one record.
func targetFileForm(fid, data []byte, big bool) *Field {
	if len(fid) < LuFid.Size || ReadUint(fid[:8], big) != FidSeq.Number("LOCAL_FILE") {
		return nil
	}
	switch oid := fidOid.Uint(fid, big); {
	case oid == oidReplyData && len(data) == lsdReplyDataV2.Size:
		return formReplyV2
	case oid == oidReplyData && len(data) == lsdReplyDataV1.Size && isReplyHeader(data):
		return formReplyHeader
	case oid == oidReplyData && len(data) == lsdReplyDataV1.Size:
		return formReplyV1
	case oid == LocalOid.Number("LAST_RECV_OID") && len(data) == lsdClientData.Size:
		return formClientData
	}
	return nil
}

// isReplyHeader reports whether 32 bytes of reply_data are its header. The same
// bytes of a record would be a transaction number of recovery epoch 32.
func isReplyHeader(b []byte) bool {
	return ReplyDataMagic.Name(lsdReplyHeader.Field("lrh_magic").Uint(b, false)) != "" &&
		lsdReplyHeader.Field("lrh_header_size").Uint(b, false) == uint64(lsdReplyHeader.Size)
}
