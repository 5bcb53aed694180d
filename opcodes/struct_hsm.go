package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// hsmExtent is struct hsm_extent.
var hsmExtent = Define("hsm_extent",
	"a range of a file",
	U64("offset", Size, "its first byte"),
	U64("length", Size, "its length; all ones: up to the end"),
)

// hsmUserState is struct hsm_user_state.
var hsmUserState = Define("hsm_user_state",
	"HSM state of a file, and what is being done to it",
	U32("hus_states", HsmStates, "the state"),
	U32("hus_archive_id", "the archive it is in"),
	U32("hus_in_progress_state", HsmProgressStates, "how far what is being done is"),
	U32("hus_in_progress_action", HsmUserAction, "what is being done"),
	Sub("hus_in_progress_location", hsmExtent, "to which range"),
	Str("hus_extended_info", 0, "more about it"),
)

// hsmCurrentAction is struct hsm_current_action.
var hsmCurrentAction = Define("hsm_current_action",
	"what is being done to a file",
	U32("hca_state", HsmProgressStates, "how far it is"),
	U32("hca_action", HsmUserAction, "what it is"),
	Sub("hca_location", hsmExtent, "to which range"),
)

// hsmRequest is struct hsm_request.
var hsmRequest = Define("hsm_request",
	"what a user wants done to files; the files follow",
	U32("hr_action", HsmUserAction, "what to do"),
	U32("hr_archive_id", "in which archive; 0: the default one"),
	U64("hr_flags", HsmRequestFlags, "how"),
	U32("hr_itemcount", "number of files"),
	U32("hr_data_len", Size, "bytes of data for the copytool"),
)

// hsmUserItem is struct hsm_user_item.
var hsmUserItem = Define("hsm_user_item",
	"a file in an HSM request",
	Sub("hui_fid", luFid, "the file"),
	Sub("hui_extent", hsmExtent, "the range"),
)

// hsmActionItem is struct hsm_action_item.
var hsmActionItem = Define("hsm_action_item",
	"what a copytool shall do to a file",
	U32("hai_len", Size, "bytes of the item, with its data"),
	U32("hai_action", HsmCopytoolAction, "what to do"),
	Sub("hai_fid", luFid, "the file"),
	Sub("hai_dfid", luFid, "the file that holds the data while it is restored"),
	Sub("hai_extent", hsmExtent, "the range"),
	U64("hai_cookie", Cookie, "names the action in the coordinator"),
	U64("hai_gid", "group lock to use; 0: none"),
	Str("hai_data", 0, CountOf(hsmItemData), "data for the copytool"),
)

const hsmItemSize = 72

// hsmItemData is the number of bytes behind the fixed part of an item.
func hsmItemData(v *View) int { return max(0, hsmItemLen(v.Struct, v.Big)-hsmItemSize) }

// hsmItemLen is the length that the item at b claims.
func hsmItemLen(b []byte, big bool) int {
	if len(b) < 4 {
		return 0
	}
	return int(ReadUint(b[:4], big) & 0xffffff)
}

// hsmActionList is struct hsm_action_list.
var hsmActionList = Define("hsm_action_list",
	"work for a copytool",
	Brief(briefActions),
	U32("hal_version", "version of the list, 1"),
	U32("hal_count", "number of items"),
	U64("hal_compound_id", "unused"),
	U64("hal_flags", HsmRequestFlags, "how it is done"),
	U32("hal_archive_id", "the archive"),
	Pad("padding1", 4),
	Str("hal_fsname", 0, CountOf(hsmNameRoom), "name of the file system"),
	Records("items", stepAction, "the items, each on a multiple of 8 bytes"),
)

var formAction = Sub("", hsmActionItem)

// hsmNameRoom is the name of the file system with its NUL, rounded up to 8.
func hsmNameRoom(v *View) int {
	n := (len(TrimNUL(v.Rest)) + 1 + 7) &^ 7
	return min(n, len(v.Rest))
}

func stepAction(v *View) (*Field, int) {
	n := hsmItemLen(v.Rest, v.Big)
	if n < hsmItemSize || v.Index >= int(ReadUint(v.Struct[4:8], v.Big)) {
		return nil, 0
	}
	return formAction, (n + 7) &^ 7
}

// briefActions tells how many items there are, and what the first is.
func briefActions(v *View, dst []byte) []byte {
	b := v.Struct
	if len(b) < 8 {
		return dst
	}
	dst = briefCount(dst, "item", int32(ReadUint(b[4:8], v.Big)))
	if len(b) < hsmActionListSize {
		return dst
	}
	b = b[hsmActionListSize:]
	if b = b[hsmNameRoom(&View{Rest: b}):]; len(b) < hsmItemSize {
		return dst
	}
	dst = append(append(dst, ", "...), HsmCopytoolAction.Name(haiAction.Uint(b, v.Big))...)
	return AppendFIDBytes(append(dst, ' '), haiFid.Bytes(b), v.Big)
}

var (
	haiAction = hsmActionItem.Field("hai_action")
	haiFid    = hsmActionItem.Field("hai_fid")
)

// hsmStateSet is struct hsm_state_set.
var hsmStateSet = Define("hsm_state_set",
	"changes the HSM state of a file",
	U32("hss_valid", HsmStateSetValid, "the fields that mean something"),
	U32("hss_archive_id", When("hss_valid", "ARCHIVE_ID"), "the archive"),
	U64("hss_setmask", HsmStates, When("hss_valid", "SETMASK"), "states to set"),
	U64("hss_clearmask", HsmStates, When("hss_valid", "CLEARMASK"), "states to clear"),
)

// hsmProgressKernel is struct hsm_progress_kernel.
var hsmProgressKernel = Define("hsm_progress_kernel",
	"how far a copytool is with an action",
	Sub("hpk_fid", luFid, "the file"),
	U64("hpk_cookie", Cookie, "names the action in the coordinator; 0: the copytool began it by itself"),
	Sub("hpk_extent", hsmExtent, "the range done"),
	U16("hpk_flags", HsmProgressFlags, "whether it has ended"),
	U16("hpk_errval", Errno, "how it ended, 0 or a positive errno"),
	Pad("hpk_padding1", 4),
	U64("hpk_data_version", Cookie, "data version of what was copied"),
	Pad("hpk_padding2", 8),
)

// kucHdr is struct kuc_hdr.
var kucHdr = Define("kuc_hdr",
	"header of a message from the kernel to user space",
	U16("kuc_magic", Hex, KucMagic, "begins the message"),
	U8("kuc_transport", KucTransport, "who it is for"),
	U8("kuc_flags", Hex, "unused"),
	U16("kuc_msgtype", KucMsgType, "what it is"),
	U16("kuc_msglen", Size, "its bytes, with this header"),
)

// kucMessage is the value of the key hsm_send: a message that the client hands
// on to its copytool.
var kucMessage = Define("kuc_message",
	"message of the coordinator for a copytool",
	Detect(func(b []byte, _ bool) bool { return len(b) > 0 && b[0] == kucMagicHigh }),
	Sub("kuc_hdr", kucHdr, "who it is for and what it is"),
	Sub("hsm_action_list", hsmActionList, If(isActionList), "work for the copytool"),
)

const (
	kucMagicHigh      = 0x19
	kucMsgActionList  = 0x64
	hsmActionListSize = 32
)

func isActionList(v *View) bool {
	return len(v.Struct) >= 8+hsmActionListSize && ReadUint(v.Struct[4:6], v.Big) == kucMsgActionList
}
