package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// HsmStates is the group hsm_states.
var HsmStates = Bits("hsm_states", "HS_", "HSM state of a file", []Value{
	{Name: "NONE", Value: 0x0, Doc: "not in the archive"},
	{Name: "EXISTS", Value: 0x1, Doc: "archiving has begun"},
	{Name: "DIRTY", Value: 0x2, Doc: "changed since it was archived"},
	{Name: "RELEASED", Value: 0x4, Doc: "data is in the archive only"},
	{Name: "ARCHIVED", Value: 0x8, Doc: "the archive has a copy"},
	{Name: "NORELEASE", Value: 0x10, Doc: "must not be released"},
	{Name: "NOARCHIVE", Value: 0x20, Doc: "must not be archived"},
	{Name: "LOST", Value: 0x40, Doc: "the copy is lost"},
	{Name: "PCCRW", Value: 0x80, Since: "2.16", Doc: "cached read-write on a client"},
	{Name: "PCCRO", Value: 0x100, Since: "2.16", Doc: "cached read-only on a client"},
})

// HsmMasks is the group hsm_masks.
var HsmMasks = Enum("hsm_masks", "HSM_", "groups of HSM states", []Value{
	{Name: "USER_MASK", Value: 0x32, Doc: "states that users may set"},
	{Name: "STATUS_MASK", Value: 0x1cd, Doc: "states that show what happened"},
	{Name: "FLAGS_MASK", Value: 0x1ff, Doc: "all states"},
})

// HsmProgressStates is the group hsm_progress_states.
var HsmProgressStates = Enum("hsm_progress_states", "HPS_", "how far an action is", []Value{
	{Name: "NONE", Value: 0x0, Doc: "none"},
	{Name: "WAITING", Value: 0x1, Doc: "not begun"},
	{Name: "RUNNING", Value: 0x2, Doc: "under way"},
	{Name: "DONE", Value: 0x3, Doc: "done"},
})

// HsmUserAction is the group hsm_user_action.
var HsmUserAction = Enum("hsm_user_action", "HUA_", "what a user asks for", []Value{
	{Name: "NONE", Value: 0x1, Doc: "nothing"},
	{Name: "ARCHIVE", Value: 0xa, Doc: "copy to the archive"},
	{Name: "RESTORE", Value: 0xb, Doc: "copy back"},
	{Name: "RELEASE", Value: 0xc, Doc: "free the space of the data"},
	{Name: "REMOVE", Value: 0xd, Doc: "remove the copy"},
	{Name: "CANCEL", Value: 0xe, Doc: "cancel what is under way"},
})

// HsmCopytoolAction is the group hsm_copytool_action.
var HsmCopytoolAction = Enum("hsm_copytool_action", "HSMA_", "what a copytool shall do", []Value{
	{Name: "NONE", Value: 0xa, Doc: "nothing"},
	{Name: "ARCHIVE", Value: 0x14, Doc: "copy to the archive"},
	{Name: "RESTORE", Value: 0x15, Doc: "copy back"},
	{Name: "REMOVE", Value: 0x16, Doc: "remove the copy"},
	{Name: "CANCEL", Value: 0x17, Doc: "cancel what is under way"},
})

// HsmRequestFlags is the group hsm_request_flags.
var HsmRequestFlags = Bits("hsm_request_flags", "HSM_", "how a request is done", []Value{
	{Name: "FORCE_ACTION", Value: 0x1, Doc: "even if it is not needed"},
	{Name: "GHOST_COPY", Value: 0x2, Doc: "no copy is kept"},
	{Name: "REQ_BLOCKING", Value: 0x4, Since: "2.17", Doc: "wait for the end"},
})

// HsmProgressFlags is the group hsm_progress_flags.
var HsmProgressFlags = Bits("hsm_progress_flags", "HP_FLAG_", "what a progress report means", []Value{
	{Name: "COMPLETED", Value: 0x1, Doc: "the action has ended"},
	{Name: "RETRY", Value: 0x2, Doc: "it may be tried again"},
})

// HsmAgentReqStatus is the group hsm_agent_req_status.
var HsmAgentReqStatus = Enum("hsm_agent_req_status", "ARS_", "state of an action in the log of the coordinator", []Value{
	{Name: "WAITING", Value: 0x0, Doc: "not sent yet"},
	{Name: "STARTED", Value: 0x1, Doc: "a copytool has it"},
	{Name: "FAILED", Value: 0x2, Doc: "it failed"},
	{Name: "CANCELED", Value: 0x3, Doc: "it was cancelled"},
	{Name: "SUCCEED", Value: 0x4, Doc: "it is done"},
})

// HsmStateSetValid is the group hsm_state_set_valid.
var HsmStateSetValid = Bits("hsm_state_set_valid", "HSS_", "which members of an hsm_state_set mean something", []Value{
	{Name: "SETMASK", Value: 0x1, Doc: "states to set"},
	{Name: "CLEARMASK", Value: 0x2, Doc: "states to clear"},
	{Name: "ARCHIVE_ID", Value: 0x4, Doc: "the archive"},
})

// HsmMisc is the group hsm_misc.
var HsmMisc = Enum("hsm_misc", "", "limits of HSM", []Value{
	{Name: "HAL_VERSION", Value: 0x1, Doc: "version of action lists"},
	{Name: "LL_HSM_ORIGIN_MAX_ARCHIVE", Value: 0x20, Doc: "archives that fit into the bitmap of older clients"},
	{Name: "LL_HSM_MAX_ARCHIVES_PER_AGENT", Value: 0x400, Doc: "most archives a copytool may serve"},
	{Name: "HAL_MAXSIZE", Value: 0x100000, Doc: "most bytes of an action list"},
})

// HsmEvent is the group hsm_event.
var HsmEvent = Enum("hsm_event", "HE_", "HSM events in the changelog", []Value{
	{Name: "ARCHIVE", Value: 0x0, Doc: "archived"},
	{Name: "RESTORE", Value: 0x1, Doc: "restored"},
	{Name: "CANCEL", Value: 0x2, Doc: "an action was cancelled"},
	{Name: "RELEASE", Value: 0x3, Doc: "released"},
	{Name: "REMOVE", Value: 0x4, Doc: "copy removed"},
	{Name: "STATE", Value: 0x5, Doc: "state changed"},
	{Name: "SPARE1", Value: 0x6, Doc: "unused"},
	{Name: "SPARE2", Value: 0x7, Doc: "unused"},
})

// KucTransport is the group kuc_transport.
var KucTransport = Enum("kuc_transport", "KUC_TRANSPORT_", "who a message to user space is for", []Value{
	{Name: "GENERIC", Value: 0x1, Doc: "all"},
	{Name: "HSM", Value: 0x2, Doc: "copytools"},
})

// KucMsgType is the group kuc_msg_type.
var KucMsgType = Enum("kuc_msg_type", "", "what a message to user space is", []Value{
	{Name: "HMT_ACTION_LIST", Value: 0x64, Doc: "an hsm_action_list"},
	{Name: "KUC_MSG_SHUTDOWN", Value: 0x1, Doc: "stop"},
})

// KucMagic is the group kuc_magic.
var KucMagic = Enum("kuc_magic", "", "magic of messages to user space", []Value{
	{Name: "KUC_MAGIC", Value: 0x191c, Doc: "begins a message to user space; its byte order is that of the message"},
})
