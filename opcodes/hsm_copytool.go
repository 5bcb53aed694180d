package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var HsmCopytoolAction = Enum("hsm_copytool_action", "HSMA_", "action of a copytool", []Value{
	{Name: "NONE", Value: 0xa, Doc: "nothing"},
	{Name: "ARCHIVE", Value: 0x14, Doc: "copy to the archive"},
	{Name: "RESTORE", Value: 0x15, Doc: "copy back"},
	{Name: "REMOVE", Value: 0x16, Doc: "remove the copy"},
	{Name: "CANCEL", Value: 0x17, Doc: "cancel what is under way"},
})

var HsmAgentReqStatus = Enum("hsm_agent_req_status", "ARS_", "state of an action in the log of the coordinator", []Value{
	{Name: "WAITING", Value: 0x0, Doc: "not sent yet"},
	{Name: "STARTED", Value: 0x1, Doc: "a copytool has it"},
	{Name: "FAILED", Value: 0x2, Doc: "it failed"},
	{Name: "CANCELED", Value: 0x3, Doc: "it was cancelled"},
	{Name: "SUCCEED", Value: 0x4, Doc: "it is done"},
})

var KucTransport = Enum("kuc_transport", "KUC_TRANSPORT_", "who a message to user space is for", []Value{
	{Name: "GENERIC", Value: 0x1, Doc: "all"},
	{Name: "HSM", Value: 0x2, Doc: "copytools"},
})

var KucMsgType = Enum("kuc_msg_type", "", "what a message to user space is", []Value{
	{Name: "HMT_ACTION_LIST", Value: 0x64, Doc: "an hsm_action_list"},
	{Name: "KUC_MSG_SHUTDOWN", Value: 0x1, Doc: "stop"},
})

var KucMagic = Enum("kuc_magic", "", "magic of messages to user space", []Value{
	{Name: "KUC_MAGIC", Value: 0x191c, Doc: "begins a message to user space; its byte order is that of the message"},
})

// haiLen is read to find the length of hai_data.
var haiLen = U32("hai_len", Size, "bytes of the item, with its data")

var hsmActionItem = &Struct{Name: "hsm_action_item", Doc: "an action of a copytool on a file", Fields: []*Field{
	haiLen,
	U32("hai_action", &HsmCopytoolAction, "what to do"),
	Sub("hai_fid", &LuFid, "the file"),
	Sub("hai_dfid", &LuFid, "the file that holds the data while it is restored"),
	Sub("hai_extent", &hsmExtent, "the range"),
	U64("hai_cookie", Cookie, "names the action in the coordinator"),
	U64("hai_gid", Harmless, "group lock to use; 0: none"),
	Str("hai_data", 0, Removed, CountOf(func(v *View) int { return max(0, hsmItemLen(v.Struct, v.Big)-v.Type.Size) }), "data for the copytool"),
}}

// hsmItemLen is the length that the item at b claims.
func hsmItemLen(b []byte, big bool) int {
	return int(haiLen.Uint(b, big) & 0xffffff)
}

// halCount is read to find the end of the items.
var halCount = U32("hal_count", Harmless, "number of items")

var hsmActionList = &Struct{Name: "hsm_action_list", Summarize: appendActionsSummary, Doc: "work for a copytool", Fields: []*Field{
	U32("hal_version", Harmless, "version of the list, 1"),
	halCount,
	U64("hal_compound_id", Harmless, "unused"),
	U64("hal_flags", &HsmRequestFlags, "how it is done"),
	U32("hal_archive_id", Harmless, "the archive"),
	Pad("padding1", 4),
	Str("hal_fsname", 0, TargetName, CountOf(hsmNameRoom), "name of the file system"),
	Records("items", func(v *View) (*Field, int) {
		n := hsmItemLen(v.Rest, v.Big)
		if n < hsmActionItem.Size || v.Index >= int(v.Uint(halCount)) {
			return nil, 0
		}
		return formAction, (n + 7) &^ 7
	}, formAction, "the items, each on a multiple of 8 bytes"),
}}

var formAction = Sub("", &hsmActionItem)

// hsmNameRoom is the name of the file system with its NUL, rounded up to 8.
func hsmNameRoom(v *View) int {
	n := (len(TrimNUL(v.Rest)) + 1 + 7) &^ 7
	return min(n, len(v.Rest))
}

// appendActionsSummary appends the number of items, and action and FID of the
// first.
func appendActionsSummary(v *View, dst []byte) []byte {
	b := v.Struct
	if len(b) < halCount.Off+halCount.Size {
		return dst
	}
	dst = briefCount(dst, "item", int32(v.Uint(halCount)))
	if len(b) < hsmActionListSize {
		return dst
	}
	b = b[hsmActionListSize:]
	if b = b[hsmNameRoom(&View{Rest: b}):]; len(b) < hsmActionItem.Size {
		return dst
	}
	dst = append(append(dst, ", "...), HsmCopytoolAction.Name(hsmActionItem.Field("hai_action").Uint(b, v.Big))...)
	return AppendFIDBytes(append(dst, ' '), hsmActionItem.Field("hai_fid").Bytes(b), v.Big)
}

var kucHdr = &Struct{Name: "kuc_hdr", Doc: "header of a message from the kernel to user space", Fields: []*Field{
	U16("kuc_magic", Hex, &KucMagic, "begins the message"),
	U8("kuc_transport", &KucTransport, "who it is for"),
	U8("kuc_flags", Harmless, Hex, "unused"),
	U16("kuc_msgtype", &KucMsgType, "what it is"),
	U16("kuc_msglen", Size, "its bytes, with this header"),
}}

// kucMessage is the value of the key hsm_send: a message that the client hands
// on to its copytool.
var kucMessage = &Struct{Name: "kuc_message", Detect: func(b []byte, _ bool) bool { return len(b) > 0 && b[0] == kucMagicHigh },
	Doc: "message of the coordinator for a copytool", Fields: []*Field{
		Sub("kuc_hdr", &kucHdr, "who it is for and what it is"),
		Sub("hsm_action_list", &hsmActionList, If(isActionList), "work for the copytool"),
	}}

const (
	kucMagicHigh      = 0x19
	kucMsgActionList  = 0x64
	hsmActionListSize = 32
)

func isActionList(v *View) bool {
	return len(v.Struct) >= 8+hsmActionListSize && ReadUint(v.Struct[4:6], v.Big) == kucMsgActionList
}

var _ = DefineRPC(&RPC{Opcode: LDLM_SET_INFO, Name: "LDLM_SET_INFO", Does: CallsBack,
	Doc: "An MDT hands HSM actions to the copytool of a client.",
	Variants: []*Variant{{Name: "hsm_send",
		Request:          Bufs(bufPtlrpcBody, bufSetinfoKey, Sub("setinfo_val", &kucMessage, "message for the copytool")),
		SummarizeRequest: summarizeHsmSend,
	}}})

// summarizeHsmSend writes the number of actions and the first of them.
func summarizeHsmSend(m *Msg, l *Line) {
	b := m.Buf(2)
	v := View{Struct: b, Rest: b, Big: kucMessage.Big(b, m.Big)}
	if isActionList(&v) {
		l.Key("")
		v.Struct = b[kucHdr.Size:]
		l.Text = appendActionsSummary(&v, l.Text)
		l.Mark(Number)
	}
}
