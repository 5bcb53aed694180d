package opcodes

// LfsckEvent is the group lfsck_event.
var LfsckEvent = Enum("lfsck_event", "LE_", "", []Value{
	{Name: "LASTID_REBUILDING", Value: 0x1, Doc: "OST->MDT"},
	{Name: "LASTID_REBUILT", Value: 0x2, Doc: "OST->MDT"},
	{Name: "PHASE1_DONE", Value: 0x3},
	{Name: "PHASE2_DONE", Value: 0x4},
	{Name: "START", Value: 0x5, Doc: "start request to peers"},
	{Name: "STOP", Value: 0x6, Doc: "stop request to peers"},
	{Name: "QUERY", Value: 0x7, Doc: "status query (LFSCK_QUERY opcode)"},
	{Name: "PEER_EXIT", Value: 0x9},
	{Name: "CONDITIONAL_DESTROY", Value: 0xa},
	{Name: "PAIRS_VERIFY", Value: 0xb},
	{Name: "SET_LMV_MASTER", Value: 0xf},
	{Name: "SET_LMV_SLAVE", Value: 0x10},
})

// LfsckEventFlags is the group lfsck_event_flags.
var LfsckEventFlags = Bits("lfsck_event_flags", "LEF_", "", []Value{
	{Name: "TO_OST", Value: 0x1},
	{Name: "FROM_OST", Value: 0x2},
	{Name: "SET_LMV_HASH", Value: 0x4},
	{Name: "SET_LMV_ALL", Value: 0x8},
	{Name: "RECHECK_NAME_HASH", Value: 0x10},
	{Name: "QUERY_ALL", Value: 0x20},
})

// LfsckStatus is the group lfsck_status.
var LfsckStatus = Enum("lfsck_status", "LS_", "", []Value{
	{Name: "INIT", Value: 0x0},
	{Name: "SCANNING_PHASE1", Value: 0x1},
	{Name: "SCANNING_PHASE2", Value: 0x2},
	{Name: "COMPLETED", Value: 0x3},
	{Name: "FAILED", Value: 0x4},
	{Name: "STOPPED", Value: 0x5},
	{Name: "PAUSED", Value: 0x6},
	{Name: "CRASHED", Value: 0x7},
	{Name: "PARTIAL", Value: 0x8},
	{Name: "CO_FAILED", Value: 0x9},
	{Name: "CO_STOPPED", Value: 0xa},
	{Name: "CO_PAUSED", Value: 0xb},
	{Name: "MAX", Value: 0xc, Alias: true},
})

// LfsckParam is the group lfsck_param.
var LfsckParam = Bits("lfsck_param", "LPF_", "", []Value{
	{Name: "RESET", Value: 0x1},
	{Name: "FAILOUT", Value: 0x2},
	{Name: "DRYRUN", Value: 0x4},
	{Name: "ALL_TGT", Value: 0x8},
	{Name: "BROADCAST", Value: 0x10},
	{Name: "OST_ORPHAN", Value: 0x20},
	{Name: "CREATE_OSTOBJ", Value: 0x40},
	{Name: "CREATE_MDTOBJ", Value: 0x80},
	{Name: "WAIT", Value: 0x100},
	{Name: "DELAY_CREATE_OSTOBJ", Value: 0x200},
})

// LfsckType is the group lfsck_type.
var LfsckType = Bits("lfsck_type", "LFSCK_TYPE_", "", []Value{
	{Name: "SCRUB", Value: 0x0},
	{Name: "LAYOUT", Value: 0x1},
	{Name: "NAMESPACE", Value: 0x4},
	{Name: "LFSCK_TYPES_SUPPORTED", Value: 0x5, Alias: true},
	{Name: "LFSCK_TYPES_DEF", Value: 0x5, Alias: true},
	{Name: "LFSCK_TYPES_ALL", Value: 0xffff, Alias: true},
})

// LfsckStartValid is the group lfsck_start_valid.
var LfsckStartValid = Bits("lfsck_start_valid", "LSV_", "", []Value{
	{Name: "SPEED_LIMIT", Value: 0x1},
	{Name: "ERROR_HANDLE", Value: 0x2},
	{Name: "DRYRUN", Value: 0x4},
	{Name: "ASYNC_WINDOWS", Value: 0x8},
	{Name: "CREATE_OSTOBJ", Value: 0x10},
	{Name: "CREATE_MDTOBJ", Value: 0x20},
	{Name: "DELAY_CREATE_OSTOBJ", Value: 0x40},
})
