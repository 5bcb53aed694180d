package opcodes

// LdlmType is the group ldlm_type.
var LdlmType = Enum("ldlm_type", "LDLM_", "", []Value{
	{Name: "PLAIN", Value: 0xa},
	{Name: "EXTENT", Value: 0xb},
	{Name: "FLOCK", Value: 0xc},
	{Name: "IBITS", Value: 0xd},
	{Name: "MAX_TYPE", Value: 0xe, Doc: "not defined after 2.16", Alias: true},
})

// LdlmMode is the group ldlm_mode.
var LdlmMode = Bits("ldlm_mode", "LCK_", "", []Value{
	{Name: "EX", Value: 0x1},
	{Name: "PW", Value: 0x2},
	{Name: "PR", Value: 0x4},
	{Name: "CW", Value: 0x8},
	{Name: "CR", Value: 0x10},
	{Name: "NL", Value: 0x20},
	{Name: "GROUP", Value: 0x40},
	{Name: "COS", Value: 0x80},
	{Name: "TXN", Value: 0x100, Since: "2.16"},
	{Name: "MINMODE", Value: 0x0, Doc: "not defined after 2.16", Alias: true},
	{Name: "MAXMODE", Value: 0x101, Doc: "not defined after 2.16; value changed: <=2.12=0x81, 2.15=0x81, 2.16=0x101", Alias: true},
})

// LdlmFlags is the group ldlm_flags.
var LdlmFlags = Bits("ldlm_flags", "LDLM_FL_", "", []Value{
	{Name: "LOCK_CHANGED", Value: 0x1, Doc: "reply: granted lock differs from the request"},
	{Name: "BLOCK_GRANTED", Value: 0x2, Doc: "reply: blocked by granted locks"},
	{Name: "BLOCK_CONV", Value: 0x4, Doc: "not defined after 2.16", Alias: true},
	{Name: "BLOCK_WAIT", Value: 0x8, Doc: "reply: blocked by waiting locks"},
	{Name: "BLOCKED_MASK", Value: 0xa, Alias: true},
	{Name: "SPECULATIVE", Value: 0x10, Doc: "request: speculative (lockahead/AGL)"},
	{Name: "AST_SENT", Value: 0x20, Doc: "blocking AST already sent / piggybacked on completion"},
	{Name: "CONTENTION", Value: 0x40, Since: "2.18", Doc: "resource is contended"},
	{Name: "REPLAY", Value: 0x100, Doc: "lock being replayed in recovery"},
	{Name: "INTENT_ONLY", Value: 0x200, Doc: "do not grant, execute intent only"},
	{Name: "HAS_INTENT", Value: 0x1000, Doc: "intent buffer follows the lock request"},
	{Name: "FLOCK_DEADLOCK", Value: 0x8000, Doc: "flock deadlock found"},
	{Name: "DISCARD_DATA", Value: 0x10000, Doc: "discard dirty data on cancel"},
	{Name: "AST_MASK", Value: 0x18000, Alias: true},
	{Name: "WIRE_AST_FLAGS_MASK", Value: 0x18020, Since: "2.17", Alias: true},
	{Name: "NO_TIMEOUT", Value: 0x20000, Doc: "grant wait is unbounded (group lock)"},
	{Name: "SRV_ENQ_MASK", Value: 0x2000b, Alias: true},
	{Name: "BLOCK_NOWAIT", Value: 0x40000, Doc: "fail instead of waiting"},
	{Name: "TEST_LOCK", Value: 0x80000, Doc: "test only (flock F_GETLK)"},
	{Name: "MATCH_LOCK", Value: 0x100000, Doc: "match a lock"},
	{Name: "CANCEL_ON_BLOCK", Value: 0x800000, Doc: "cancel as soon as a blocking AST arrives"},
	{Name: "COS_INCOMPAT", Value: 0x1000000, Doc: "not defined after 2.15", Alias: true},
	{Name: "CONVERTING", Value: 0x2000000, Doc: "local state: lock downgrade in progress"},
	{Name: "LOCKAHEAD_OLD_RESERVED", Value: 0x10000000, Doc: "not defined after 2.12", Alias: true},
	{Name: "NO_EXPANSION", Value: 0x20000000, Doc: "server must not grow the extent"},
	{Name: "INHERIT_MASK", Value: 0x208a0000, Alias: true},
	{Name: "DENY_ON_CONTENTION", Value: 0x40000000, Doc: "refuse when contended"},
	{Name: "AST_DISCARD_DATA", Value: 0x80000000, Doc: "in AST: discard data"},
	{Name: "WIRE_REQ_FLAGS_MASK", Value: 0xe08c131a, Since: "2.17", Alias: true},
	{Name: "FAIL_LOC", Value: 0x100000000},
	{Name: "CBPENDING", Value: 0x400000000},
	{Name: "WAIT_NOREPROC", Value: 0x800000000},
	{Name: "CANCEL", Value: 0x1000000000},
	{Name: "LOCAL_ONLY", Value: 0x2000000000},
	{Name: "FAILED", Value: 0x4000000000},
	{Name: "CANCELING", Value: 0x8000000000},
	{Name: "LOCAL", Value: 0x10000000000},
	{Name: "LVB_READY", Value: 0x20000000000},
	{Name: "KMS_IGNORE", Value: 0x40000000000},
	{Name: "CP_REQD", Value: 0x80000000000},
	{Name: "CLEANED", Value: 0x100000000000},
	{Name: "ATOMIC_CB", Value: 0x200000000000},
	{Name: "BL_AST", Value: 0x400000000000},
	{Name: "BL_DONE", Value: 0x800000000000},
	{Name: "NO_LRU", Value: 0x1000000000000},
	{Name: "FAIL_NOTIFIED", Value: 0x2000000000000},
	{Name: "DESTROYED", Value: 0x4000000000000},
	{Name: "GONE_MASK", Value: 0x4004000000000, Alias: true},
	{Name: "SERVER_LOCK", Value: 0x8000000000000, Doc: "not defined after 2.15", Alias: true},
	{Name: "RES_LOCKED", Value: 0x10000000000000},
	{Name: "WAITED", Value: 0x20000000000000},
	{Name: "NS_SRV", Value: 0x40000000000000},
	{Name: "EXCL", Value: 0x80000000000000},
	{Name: "ALL_FLAGS_MASK", Value: 0xffffffc28f932f, Doc: "not defined after 2.16", Alias: true},
	{Name: "RESENT", Value: 0x100000000000000},
	{Name: "COS_ENABLED", Value: 0x200000000000000, Doc: "not defined after 2.15", Alias: true},
	{Name: "NDELAY", Value: 0x400000000000000},
	{Name: "LVB_CACHED", Value: 0x800000000000000},
})

// LdlmIntent is the group ldlm_intent.
var LdlmIntent = Bits("ldlm_intent", "IT_", "", []Value{
	{Name: "OPEN", Value: 0x1},
	{Name: "CREAT", Value: 0x2},
	{Name: "OPEN_CREAT", Value: 0x3, Alias: true},
	{Name: "READDIR", Value: 0x4},
	{Name: "GETATTR", Value: 0x8},
	{Name: "LOOKUP", Value: 0x10},
	{Name: "GETXATTR", Value: 0x80},
	{Name: "LAYOUT", Value: 0x400},
	{Name: "QUOTA_DQACQ", Value: 0x800},
	{Name: "QUOTA_CONN", Value: 0x1000},
	{Name: "GLIMPSE", Value: 0x4000},
	{Name: "BRW", Value: 0x8000},
})

// LdlmInodebits is the group ldlm_inodebits.
var LdlmInodebits = Bits("ldlm_inodebits", "MDS_", "", []Value{
	{Name: "INODELOCK_NONE", Value: 0x0, Since: "2.17"},
	{Name: "INODELOCK_LOOKUP", Value: 0x1},
	{Name: "INODELOCK_UPDATE", Value: 0x2},
	{Name: "INODELOCK_OPEN", Value: 0x4},
	{Name: "INODELOCK_LAYOUT", Value: 0x8},
	{Name: "INODELOCK_PERM", Value: 0x10},
	{Name: "INODELOCK_XATTR", Value: 0x20},
	{Name: "INODELOCK_DOM", Value: 0x40},
	{Name: "INODELOCK_64BIT", Value: 0x100000000, Since: "2.17"},
	{Name: "INODELOCK_NUMBITS", Value: 0x7},
	{Name: "INODELOCK_ELC", Value: 0x3f, Alias: true},
	{Name: "INODELOCK_FULL", Value: 0x7f, Alias: true},
})

// LdlmError is the group ldlm_error.
var LdlmError = Enum("ldlm_error", "ELDLM_", "", []Value{
	{Name: "OK", Value: 0x0},
	{Name: "LOCK_MATCHED", Value: 0x1},
	{Name: "LOCK_CHANGED", Value: 0x12c, Doc: "status >= 300 are not errnos"},
	{Name: "LOCK_ABORTED", Value: 0x12d, Doc: "intent executed, no lock"},
	{Name: "LOCK_REPLACED", Value: 0x12e, Doc: "another lock returned"},
	{Name: "NO_LOCK_DATA", Value: 0x12f, Doc: "no lock data"},
	{Name: "LOCK_WOULDBLOCK", Value: 0x130, Doc: "would block"},
	{Name: "NAMESPACE_EXISTS", Value: 0x190},
	{Name: "BAD_NAMESPACE", Value: 0x191},
})

// ResNameSlots is the group res_name_slots.
var ResNameSlots = Enum("res_name_slots", "LUSTRE_RES_ID_", "", []Value{
	{Name: "SEQ_OFF", Value: 0x0},
	{Name: "VER_OID_OFF", Value: 0x1},
	{Name: "WAS_VER_OFF", Value: 0x2},
	{Name: "QUOTA_SEQ_OFF", Value: 0x2, Alias: true},
	{Name: "QUOTA_VER_OID_OFF", Value: 0x3},
	{Name: "HSH_OFF", Value: 0x3, Alias: true},
})

// Disposition is the group disposition.
var Disposition = Bits("disposition", "DISP_", "", []Value{
	{Name: "NONE", Value: 0x0, Since: "2.18"},
	{Name: "IT_EXECD", Value: 0x1, Doc: "intent was executed"},
	{Name: "LOOKUP_EXECD", Value: 0x2, Doc: "lookup done"},
	{Name: "LOOKUP_NEG", Value: 0x4, Doc: "name absent"},
	{Name: "LOOKUP_POS", Value: 0x8, Doc: "name present"},
	{Name: "OPEN_CREATE", Value: 0x10, Doc: "file created"},
	{Name: "OPEN_OPEN", Value: 0x20, Doc: "open attempted"},
	{Name: "ENQ_OPEN_REF", Value: 0x800000, Doc: "open reference taken"},
	{Name: "ENQ_CREATE_REF", Value: 0x1000000, Doc: "create reference taken"},
	{Name: "OPEN_LOCK", Value: 0x2000000, Doc: "open lock granted"},
	{Name: "OPEN_LEASE", Value: 0x4000000, Doc: "lease granted"},
	{Name: "OPEN_STRIPE", Value: 0x8000000, Doc: "layout created"},
	{Name: "OPEN_DENY", Value: 0x10000000, Doc: "open refused"},
	{Name: "ALL", Value: 0xffffffff, Since: "2.18", Alias: true},
	{Name: "ENQ_COMPLETE", Value: 0x400000, Doc: "not defined after 2.17", Alias: true},
})

// BarrierStatus is the group barrier_status.
var BarrierStatus = Enum("barrier_status", "BS_", "", []Value{
	{Name: "INIT", Value: 0x0},
	{Name: "FREEZING_P1", Value: 0x1},
	{Name: "FREEZING_P2", Value: 0x2},
	{Name: "FROZEN", Value: 0x3},
	{Name: "THAWING", Value: 0x4},
	{Name: "THAWED", Value: 0x5},
	{Name: "FAILED", Value: 0x6},
	{Name: "EXPIRED", Value: 0x7},
	{Name: "RESCAN", Value: 0x8},
})

// BarrierCmd is the group barrier_cmd.
var BarrierCmd = Enum("barrier_cmd", "BC_", "", []Value{
	{Name: "FREEZE", Value: 0x1},
	{Name: "THAW", Value: 0x2},
	{Name: "STAT", Value: 0x3},
	{Name: "RESCAN", Value: 0x4},
})

// LockaheadMode is the group lockahead_mode.
var LockaheadMode = Enum("lockahead_mode", "", "", []Value{
	{Name: "LU_AH_MODE_NONE", Value: 0x0, Since: "2.16"},
	{Name: "LU_AH_NAME_INDEX", Value: 0x1, Since: "2.16"},
	{Name: "LU_AH_NAME_ARRAY", Value: 0x2, Since: "2.16"},
	{Name: "LU_AH_NAME_READDIR", Value: 0x3, Since: "2.16"},
	{Name: "LU_AH_MODE_MAX", Value: 0x4, Since: "2.16"},
	{Name: "MODE_READ_USER", Value: 0x1, Alias: true},
	{Name: "MODE_WRITE_USER", Value: 0x2, Alias: true},
	{Name: "MODE_MAX_USER", Value: 0x3, Alias: true},
})

// LockaheadResult is the group lockahead_result.
var LockaheadResult = Enum("lockahead_result", "LLA_RESULT_", "", []Value{
	{Name: "SENT", Value: 0x0},
	{Name: "DIFFERENT", Value: 0x1},
	{Name: "SAME", Value: 0x2},
})
