package opcodes

import (
	"sync"

	. "github.com/lshark/lshark/opcodes/schema"
)

// Protocol holds all declarations of this package: the operations, which DefineRPC adds, and
// what their buffers refer to.
var Protocol Registry

// DefineRPC declares an operation. A variant without buffers of the request, or of the reply,
// has the ptlrpc_body alone.
func DefineRPC(r *RPC) *RPC {
	for _, v := range r.Variants {
		if v.Request == nil {
			v.Request = bodyAlone
		}
		if v.Reply == nil {
			v.Reply = bodyAlone
		}
	}
	return Protocol.AddRPC(r)
}

var bodyAlone = Bufs(bufPtlrpcBody)

// DefineIntent declares an intent of LDLM_ENQUEUE: its bit in ldlm_intent.opc, and
// the messages that have it. The variant is named after the bit.
func DefineIntent(bit Value, v *Variant) *Variant {
	v.Name, v.Select = bit.Name, bit.Value
	LdlmIntent.Add(bit)
	return Protocol.AddVariant(LDLM_ENQUEUE, v)
}

// Opcodes are the operations by number: those that are declared, and those whose
// numbers were given up before 2.12. Those that code names have a constant, too.
var Opcodes = Enum("opcode", "", "operation of an RPC, pb_opc", nil)

// retired are operations that no release since 2.12 sends.
var retired = []RPC{
	{Opcode: OST_REPLY, Name: "OST_REPLY", Doc: "a number that no message has"},
	{Opcode: 11, Name: "OST_OPEN", Doc: "opened an object, long ago"},
	{Opcode: 12, Name: "OST_CLOSE", Doc: "closed an object, long ago"},
	{Opcode: 18, Name: "OST_QUOTACHECK", Doc: "counted the usage for quota, long ago"},
	{Opcode: 20, Name: "OST_QUOTA_ADJUST_QUNIT", Doc: "changed the unit in which quota is handed out, long ago"},
	{Opcode: 42, Name: "MDS_PIN", Doc: "Was to keep an object from being removed; no release has sent it."},
	{Opcode: 43, Name: "MDS_UNPIN", Doc: "Was to undo a MDS_PIN; no release has sent it."},
	{Opcode: 45, Name: "MDS_DONE_WRITING", Doc: "Told the MDT the size of a file when its last writer was done; gone since 2.8."},
	{Opcode: 47, Name: "MDS_QUOTACHECK", Doc: "Had the MDT count the files of all users; gone since 2.4, as accounting is always on."},
	{Opcode: 50, Name: "MDS_SETXATTR", Doc: "Set an extended attribute; MDS_REINT does it now."},
	{Opcode: 51, Name: "MDS_WRITEPAGE", Doc: "A number that was kept for writing directory pages and never used."},
	{Opcode: 52, Name: "MDS_IS_SUBDIR", Doc: "Asks whether one directory is below another; no release has sent it."},
	{Opcode: 252, Name: "MGS_EXCEPTION", Doc: "Reserved for errors that the MGS would report. No release since 2.12 sends it."},
	{Opcode: 254, Name: "MGS_TARGET_DEL", Doc: "Reserved for taking a target out of the configuration. No release since 2.12 sends it."},
	{Opcode: 509, Name: "LLOG_ORIGIN_HANDLE_DESTROY", Doc: "Removes a log on the server. No release since 2.12 sends it."},
	{Opcode: 602, Name: "QUOTA_DQREL", Doc: "gave quota back, long ago"},
}

// init runs when all variables are initialized: when all other operations are added.
func init() {
	for i := range retired {
		retired[i].Retired = true
		DefineRPC(&retired[i])
	}
	Errnos.Fill(errnos)
	Protocol.Opcodes = Opcodes
	Protocol.UnusedOpcodes = []Value{
		{Name: "OBD_LOG_CANCEL", Value: OBD_LOG_CANCEL, Doc: "cancelled llog records by their cookies; gone since 1.5"},
		{Name: "OBD_QC_CALLBACK", Value: 402, Doc: "reported the end of a quota check to a client; removed in 2.4"},
		{Name: "LLOG_ORIGIN_HANDLE_WRITE_REC", Value: 504, Doc: "wrote a llog record from afar; gone since 2.1"},
		{Name: "LLOG_ORIGIN_HANDLE_CLOSE", Value: 505, Doc: "closed a llog; gone since 1.8"},
		{Name: "LLOG_ORIGIN_CONNECT", Value: 506, Doc: "set up llog traffic between servers; gone since 2.4"},
		{Name: "LLOG_CATINFO", Value: 507, Doc: "listed a catalog for debugging; gone since 2.3"},
	}
	Protocol.NumberGroups = []*Names{Opcodes, Portal, Errnos}
	Protocol.Sections = map[string][]*Struct{
		"connreq":    {ConnreqV1, ConnreqV2},
		"hello":      {HelloV1, HelloV2, HelloV4},
		"ib":         {IBPacket},
		"ksock":      {KsockHdr},
		"lnet":       {LNetHdr4, LNetHdr16},
		"lustre_msg": {LustreMsg},
		"o2iblnd":    {KibMsg, KibRej},
		"ping_info":  {PingInfo},
		"selftest":   {SelftestMsg},
	}
	Protocol.FormatBuffers, Protocol.Formats, Protocol.Terms = formatBuffers, requestFormats, terms
	Protocol.HeaderNames, Protocol.Texts = headerNames, xattrNames
	Protocol.OtherFields = append(wrappingPlaces(), infinibandPlaces()...)
	Protocol.OtherStructs = []*Struct{
		kefaMsg, fidArray, kgnMsg, kgnConnreq, kfilndMsg, lmvMdsMd, ldlmGlDesc, llogdConnBody, lnetProcessIdPacked, lnetCmdHdr,
		lnetMagicversion, lustreSwapLayouts, mdcSwapLayouts217, getparent, ludaType, luPage, mgsNidtblNids, lqaIdRange,
		plainBulkToken, ksockMsg, ksockMsgV2v3, ksockMsgV4, lnetNiLargeStatus, kibImmediateMsg, kibPutreqMsg, kibGetMsg, kibMsg,
		PtlrpcBodyV2, xattrValue, linkEaEntry,
	}
	Protocol.OtherGroups = func() []*Names {
		return append(otherGroups(), BatchOpc, ImportState, FidSeq, FidOid, LocalOid, GssTarget, GssMech, HsmEvent, IBReject, LmvHashType, LmvHashFlags,
			LmvLimits, LovLimits, LdlmError, NodemapIdxType, NodemapIdType, MsgVersion, QuotaCtlIdKind, LqaCmd, QuotaGraceFlags,
			LaValid, FailLoc)
	}
	Protocol.Prepare()
}

// FieldIndex returns the index of the declarations of the protocol, which the first call makes.
var FieldIndex = sync.OnceValue(func() *Index {
	loadFailLocs()
	return Protocol.NewIndex()
})

// Resolve computes the offsets of the fields of all operations. A field cannot be read
// before; dissect.New does it, too, and so do ByOpcode and what lists declarations.
func Resolve() { Protocol.RPCs() }

// ByOpcode returns an operation by its number, or nil.
func ByOpcode(opcode uint32) *RPC { return Protocol.ByOpcode(opcode) }

// StructNamed returns a struct by its name, letters of either case, or
// nil.
func StructNamed(name string) *Struct { return Protocol.StructNamed(name) }
