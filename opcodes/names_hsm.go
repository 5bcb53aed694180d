package opcodes

// HsmStates is the group hsm_states.
var HsmStates = Bits("hsm_states", "HS_", "", []Value{
	{Name: "NONE", Value: 0x0},
	{Name: "EXISTS", Value: 0x1},
	{Name: "DIRTY", Value: 0x2},
	{Name: "RELEASED", Value: 0x4},
	{Name: "ARCHIVED", Value: 0x8},
	{Name: "NORELEASE", Value: 0x10},
	{Name: "NOARCHIVE", Value: 0x20},
	{Name: "LOST", Value: 0x40},
	{Name: "PCCRW", Value: 0x80, Since: "2.16"},
	{Name: "PCCRO", Value: 0x100, Since: "2.16"},
})

// HsmMasks is the group hsm_masks.
var HsmMasks = Enum("hsm_masks", "HSM_", "", []Value{
	{Name: "USER_MASK", Value: 0x32},
	{Name: "STATUS_MASK", Value: 0x1cd, Doc: "value changed: <=2.12=0x4d, 2.15=0x4d, 2.16=0x1cd, 2.17=0x1cd, 2.18=0x1cd"},
	{Name: "FLAGS_MASK", Value: 0x1ff, Doc: "value changed: <=2.12=0x7f, 2.15=0x7f, 2.16=0x1ff, 2.17=0x1ff, 2.18=0x1ff"},
})

// HsmProgressStates is the group hsm_progress_states.
var HsmProgressStates = Enum("hsm_progress_states", "HPS_", "", []Value{
	{Name: "NONE", Value: 0x0},
	{Name: "WAITING", Value: 0x1},
	{Name: "RUNNING", Value: 0x2},
	{Name: "DONE", Value: 0x3},
})

// HsmUserAction is the group hsm_user_action.
var HsmUserAction = Enum("hsm_user_action", "HUA_", "", []Value{
	{Name: "NONE", Value: 0x1},
	{Name: "ARCHIVE", Value: 0xa},
	{Name: "RESTORE", Value: 0xb},
	{Name: "RELEASE", Value: 0xc},
	{Name: "REMOVE", Value: 0xd},
	{Name: "CANCEL", Value: 0xe},
})

// HsmCopytoolAction is the group hsm_copytool_action.
var HsmCopytoolAction = Enum("hsm_copytool_action", "HSMA_", "", []Value{
	{Name: "NONE", Value: 0xa},
	{Name: "ARCHIVE", Value: 0x14},
	{Name: "RESTORE", Value: 0x15},
	{Name: "REMOVE", Value: 0x16},
	{Name: "CANCEL", Value: 0x17},
})

// HsmRequestFlags is the group hsm_request_flags.
var HsmRequestFlags = Bits("hsm_request_flags", "HSM_", "", []Value{
	{Name: "FORCE_ACTION", Value: 0x1},
	{Name: "GHOST_COPY", Value: 0x2},
	{Name: "REQ_BLOCKING", Value: 0x4, Since: "2.17"},
})

// HsmProgressFlags is the group hsm_progress_flags.
var HsmProgressFlags = Bits("hsm_progress_flags", "HP_FLAG_", "", []Value{
	{Name: "COMPLETED", Value: 0x1, Doc: "HSM progress final"},
	{Name: "RETRY", Value: 0x2, Doc: "HSM progress: can be retried"},
})

// HsmAgentReqStatus is the group hsm_agent_req_status.
var HsmAgentReqStatus = Enum("hsm_agent_req_status", "ARS_", "", []Value{
	{Name: "WAITING", Value: 0x0},
	{Name: "STARTED", Value: 0x1},
	{Name: "FAILED", Value: 0x2},
	{Name: "CANCELED", Value: 0x3},
	{Name: "SUCCEED", Value: 0x4},
})

// HsmStateSetValid is the group hsm_state_set_valid.
var HsmStateSetValid = Bits("hsm_state_set_valid", "HSS_", "", []Value{
	{Name: "SETMASK", Value: 0x1},
	{Name: "CLEARMASK", Value: 0x2},
	{Name: "ARCHIVE_ID", Value: 0x4},
})

// HsmMisc is the group hsm_misc.
var HsmMisc = Enum("hsm_misc", "", "", []Value{
	{Name: "HAL_VERSION", Value: 0x1},
	{Name: "LL_HSM_ORIGIN_MAX_ARCHIVE", Value: 0x20},
	{Name: "LL_HSM_MAX_ARCHIVES_PER_AGENT", Value: 0x400},
	{Name: "HAL_MAXSIZE", Value: 0x100000},
})

// HsmEvent is the group hsm_event.
var HsmEvent = Enum("hsm_event", "HE_", "", []Value{
	{Name: "ARCHIVE", Value: 0x0},
	{Name: "RESTORE", Value: 0x1},
	{Name: "CANCEL", Value: 0x2},
	{Name: "RELEASE", Value: 0x3},
	{Name: "REMOVE", Value: 0x4},
	{Name: "STATE", Value: 0x5},
	{Name: "SPARE1", Value: 0x6},
	{Name: "SPARE2", Value: 0x7},
})

// KucTransport is the group kuc_transport.
var KucTransport = Enum("kuc_transport", "KUC_TRANSPORT_", "", []Value{
	{Name: "GENERIC", Value: 0x1},
	{Name: "HSM", Value: 0x2},
})

// KucMsgType is the group kuc_msg_type.
var KucMsgType = Enum("kuc_msg_type", "", "", []Value{
	{Name: "HMT_ACTION_LIST", Value: 0x64},
	{Name: "KUC_MSG_SHUTDOWN", Value: 0x1},
})

// KucMagic is the group kuc_magic.
var KucMagic = Enum("kuc_magic", "", "", []Value{
	{Name: "KUC_MAGIC", Value: 0x191c, Doc: "u16; byte order detector of kuc_hdr"},
})
