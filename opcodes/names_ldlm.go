package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// LdlmType are the kinds of locks, lr_type.
var LdlmType = Enum("ldlm_type", "LDLM_", "kind of lock", []Value{
	{Name: "PLAIN", Value: 0xa, Doc: "has no range: configuration logs and quota"},
	{Name: "EXTENT", Value: 0xb, Doc: "bytes of an object"},
	{Name: "FLOCK", Value: 0xc, Doc: "flock and fcntl locks of applications"},
	{Name: "IBITS", Value: 0xd, Doc: "parts of an inode"},
	{Name: "MAX_TYPE", Value: 0xe, Doc: "end of the list; gone after 2.16", Alias: true},
})

// LdlmMode are the lock modes. Each is one bit, and a lock has one of them.
var LdlmMode = Enum("ldlm_mode", "LCK_", "lock mode", []Value{
	{Name: "EX", Value: 0x1, Doc: "exclusive"},
	{Name: "PW", Value: 0x2, Doc: "protected write: one writer, no readers"},
	{Name: "PR", Value: 0x4, Doc: "protected read: readers share it"},
	{Name: "CW", Value: 0x8, Doc: "concurrent write"},
	{Name: "CR", Value: 0x10, Doc: "concurrent read"},
	{Name: "NL", Value: 0x20, Doc: "null: conflicts with no other mode"},
	{Name: "GROUP", Value: 0x40, Doc: "group lock: those with the same group id share it"},
	{Name: "COS", Value: 0x80, Doc: "commit on sharing, on servers"},
	{Name: "TXN", Value: 0x100, Since: "2.16", Doc: "held until its transaction is on disk, on servers"},
	{Name: "MINMODE", Value: 0x0, Doc: "no mode; gone after 2.16", Alias: true},
	{Name: "MAXMODE", Value: 0x101, Doc: "all modes; 0x81 through 2.15, gone after 2.16", Alias: true},
})

// LdlmFlags are lock flags. Only the low 32 bits travel.
var LdlmFlags = Bits("ldlm_flags", "LDLM_FL_", "lock flags; the upper half never leaves its node", []Value{
	{Name: "LOCK_CHANGED", Value: 0x1, Doc: "the lock that was granted is not the one asked for"},
	{Name: "BLOCK_GRANTED", Value: 0x2, Doc: "has to wait for granted locks"},
	{Name: "BLOCK_CONV", Value: 0x4, Doc: "has to wait for converting locks; gone after 2.16"},
	{Name: "BLOCK_WAIT", Value: 0x8, Doc: "has to wait behind waiting locks"},
	{Name: "BLOCKED_MASK", Value: 0xa, Alias: true, Doc: "the reasons to wait"},
	{Name: "SPECULATIVE", Value: 0x10, Doc: "asked for ahead of need; not worth waiting or retrying for"},
	{Name: "AST_SENT", Value: 0x20, Doc: "in a completion: the lock is to be cancelled at once, it already blocks somebody"},
	{Name: "CONTENTION", Value: 0x40, Since: "2.18", Doc: "the resource is contended"},
	{Name: "REPLAY", Value: 0x100, Doc: "the client gives the lock back to a restarted server"},
	{Name: "INTENT_ONLY", Value: 0x200, Doc: "do what the intent says, no lock wanted"},
	{Name: "HAS_INTENT", Value: 0x1000, Doc: "an intent comes with it; for an OST lock it means glimpse"},
	{Name: "FLOCK_DEADLOCK", Value: 0x8000, Doc: "waiting would never end"},
	{Name: "DISCARD_DATA", Value: 0x10000, Doc: "drop dirty data instead of writing it"},
	{Name: "AST_MASK", Value: 0x18000, Alias: true, Doc: "what callbacks pass on"},
	{Name: "WIRE_AST_FLAGS_MASK", Value: 0x18020, Since: "2.17", Alias: true, Doc: "what callbacks may carry"},
	{Name: "NO_TIMEOUT", Value: 0x20000, Doc: "may wait without bound"},
	{Name: "SRV_ENQ_MASK", Value: 0x2000b, Alias: true, Doc: "what a server may answer"},
	{Name: "BLOCK_NOWAIT", Value: 0x40000, Doc: "fail rather than wait"},
	{Name: "TEST_LOCK", Value: 0x80000, Doc: "only ask whether it would be granted"},
	{Name: "MATCH_LOCK", Value: 0x100000, Doc: "look for a lock that fits"},
	{Name: "CANCEL_ON_BLOCK", Value: 0x800000, Doc: "cancel at the first blocking callback without asking"},
	{Name: "COS_INCOMPAT", Value: 0x1000000, Doc: "no commit on sharing for this lock; gone after 2.15"},
	{Name: "CONVERTING", Value: 0x2000000, Doc: "being downgraded"},
	{Name: "LOCKAHEAD_OLD_RESERVED", Value: 0x10000000, Doc: "early lock-ahead; gone after 2.12"},
	{Name: "NO_EXPANSION", Value: 0x20000000, Doc: "the server must not grow the extent"},
	{Name: "INHERIT_MASK", Value: 0x208a0000, Alias: true, Doc: "what a lock takes over from its request"},
	{Name: "DENY_ON_CONTENTION", Value: 0x40000000, Doc: "refuse when the resource is contended"},
	{Name: "AST_DISCARD_DATA", Value: 0x80000000, Doc: "in a callback: drop dirty data"},
	{Name: "WIRE_REQ_FLAGS_MASK", Value: 0xe08c131a, Since: "2.17", Alias: true, Doc: "what a request may carry"},
	{Name: "FAIL_LOC", Value: 0x100000000, Doc: "a test makes it fail"},
	{Name: "CBPENDING", Value: 0x400000000, Doc: "to be cancelled when no longer used"},
	{Name: "WAIT_NOREPROC", Value: 0x800000000, Doc: "wait without another look at the queue"},
	{Name: "CANCEL", Value: 0x1000000000, Doc: "the cancel callback was called"},
	{Name: "LOCAL_ONLY", Value: 0x2000000000, Doc: "cancelled here without a message"},
	{Name: "FAILED", Value: 0x4000000000, Doc: "could not be had"},
	{Name: "CANCELING", Value: 0x8000000000, Doc: "a cancel is under way"},
	{Name: "LOCAL", Value: 0x10000000000, Doc: "both ends are on this node"},
	{Name: "LVB_READY", Value: 0x20000000000, Doc: "its value block is filled"},
	{Name: "KMS_IGNORE", Value: 0x40000000000, Doc: "does not count for the known minimum size"},
	{Name: "CP_REQD", Value: 0x80000000000, Doc: "a completion callback is due"},
	{Name: "CLEANED", Value: 0x100000000000, Doc: "cleaned up"},
	{Name: "ATOMIC_CB", Value: 0x200000000000, Doc: "callbacks must not sleep"},
	{Name: "BL_AST", Value: 0x400000000000, Doc: "a blocking callback came"},
	{Name: "BL_DONE", Value: 0x800000000000, Doc: "the blocking callback was handled"},
	{Name: "NO_LRU", Value: 0x1000000000000, Doc: "not on the list of unused locks"},
	{Name: "FAIL_NOTIFIED", Value: 0x2000000000000, Doc: "waiters know that it failed"},
	{Name: "DESTROYED", Value: 0x4000000000000, Doc: "destroyed"},
	{Name: "GONE_MASK", Value: 0x4004000000000, Alias: true, Doc: "the states of a lock that is gone"},
	{Name: "SERVER_LOCK", Value: 0x8000000000000, Doc: "a lock of the server; gone after 2.15"},
	{Name: "RES_LOCKED", Value: 0x10000000000000, Doc: "its resource is locked"},
	{Name: "WAITED", Value: 0x20000000000000, Doc: "on the list of locks whose cancel is awaited"},
	{Name: "NS_SRV", Value: 0x40000000000000, Doc: "in the namespace of a server"},
	{Name: "EXCL", Value: 0x80000000000000, Doc: "used by one only"},
	{Name: "ALL_FLAGS_MASK", Value: 0xffffffc28f932f, Alias: true, Doc: "all flags; gone after 2.16"},
	{Name: "RESENT", Value: 0x100000000000000, Doc: "its enqueue was sent again"},
	{Name: "COS_ENABLED", Value: 0x200000000000000, Doc: "commit on sharing is on; gone after 2.15"},
	{Name: "NDELAY", Value: 0x400000000000000, Doc: "must not delay"},
	{Name: "LVB_CACHED", Value: 0x800000000000000, Doc: "its value block is up to date"},
})

// LdlmIntent are the intents: what to do along with taking the lock.
var LdlmIntent = Bits("ldlm_intent", "IT_", "what to do along with the lock", []Value{
	{Name: "OPEN", Value: 0x1, Doc: "open a file"},
	{Name: "CREAT", Value: 0x2, Doc: "create it"},
	{Name: "OPEN_CREAT", Value: 0x3, Alias: true, Doc: "open it, create it when it is not there"},
	{Name: "READDIR", Value: 0x4, Doc: "read a directory"},
	{Name: "GETATTR", Value: 0x8, Doc: "get attributes by name or FID"},
	{Name: "LOOKUP", Value: 0x10, Doc: "look a name up"},
	{Name: "GETXATTR", Value: 0x80, Doc: "get all extended attributes"},
	{Name: "LAYOUT", Value: 0x400, Doc: "get or change the layout"},
	{Name: "QUOTA_DQACQ", Value: 0x800, Doc: "acquire quota together with the lock of the id"},
	{Name: "QUOTA_CONN", Value: 0x1000, Doc: "connect a quota slave to a global index"},
	{Name: "GLIMPSE", Value: 0x4000, Doc: "get the size, no lock wanted"},
	{Name: "BRW", Value: 0x8000, Doc: "read or write"},
})

// LdlmInodebits are the parts of an inode that a lock covers.
var LdlmInodebits = Bits("ldlm_inodebits", "MDS_INODELOCK_", "the parts of an inode that a lock covers", []Value{
	{Name: "NONE", Value: 0x0, Since: "2.17", Doc: "nothing"},
	{Name: "LOOKUP", Value: 0x1, Doc: "name, owner, mode and access lists"},
	{Name: "UPDATE", Value: 0x2, Doc: "attributes and the entries of a directory"},
	{Name: "OPEN", Value: 0x4, Doc: "open handles"},
	{Name: "LAYOUT", Value: 0x8, Doc: "where the data lies"},
	{Name: "PERM", Value: 0x10, Doc: "owner, mode and access lists, for remote parents"},
	{Name: "XATTR", Value: 0x20, Doc: "extended attributes"},
	{Name: "DOM", Value: 0x40, Doc: "data in the MDT object"},
	{Name: "64BIT", Value: 0x100000000, Since: "2.17", Doc: "forces 64 bits"},
	{Name: "NUMBITS", Value: 0x7, Doc: "number of bits", Alias: true},
	{Name: "ELC", Value: 0x3f, Doc: "bits that early cancels look for", Alias: true},
	{Name: "FULL", Value: 0x7f, Doc: "all bits", Alias: true},
})

// LdlmError are statuses of lock replies that are no errnos.
var LdlmError = Enum("ldlm_error", "ELDLM_", "status of a lock reply", []Value{
	{Name: "OK", Value: 0x0, Doc: "done"},
	{Name: "LOCK_MATCHED", Value: 0x1, Doc: "a lock that fits was there"},
	{Name: "LOCK_CHANGED", Value: 0x12c, Doc: "the lock is another one than asked for"},
	{Name: "LOCK_ABORTED", Value: 0x12d, Doc: "the intent was done, there is no lock"},
	{Name: "LOCK_REPLACED", Value: 0x12e, Doc: "another lock is returned"},
	{Name: "NO_LOCK_DATA", Value: 0x12f, Doc: "the lock has no data"},
	{Name: "LOCK_WOULDBLOCK", Value: 0x130, Doc: "would have to wait"},
	{Name: "NAMESPACE_EXISTS", Value: 0x190, Doc: "the namespace exists already"},
	{Name: "BAD_NAMESPACE", Value: 0x191, Doc: "no such namespace"},
})

// ResNameSlots are the words of a resource name.
var ResNameSlots = Enum("res_name_slots", "LUSTRE_RES_ID_", "words of a resource name", []Value{
	{Name: "SEQ_OFF", Value: 0x0, Doc: "sequence of the FID"},
	{Name: "VER_OID_OFF", Value: 0x1, Doc: "object id, version in the upper half"},
	{Name: "WAS_VER_OFF", Value: 0x2, Doc: "version, long ago"},
	{Name: "QUOTA_SEQ_OFF", Value: 0x2, Alias: true, Doc: "quota id, or its sequence"},
	{Name: "QUOTA_VER_OID_OFF", Value: 0x3, Doc: "object id of the quota id"},
	{Name: "HSH_OFF", Value: 0x3, Alias: true, Doc: "hash of a name, for locks of one entry"},
})

// Disposition says how far an intent got.
var Disposition = Bits("disposition", "DISP_", "how far an intent got", []Value{
	{Name: "NONE", Value: 0x0, Since: "2.18", Doc: "nothing done"},
	{Name: "IT_EXECD", Value: 0x1, Doc: "the intent was carried out"},
	{Name: "LOOKUP_EXECD", Value: 0x2, Doc: "the name was looked up"},
	{Name: "LOOKUP_NEG", Value: 0x4, Doc: "the name is not there"},
	{Name: "LOOKUP_POS", Value: 0x8, Doc: "the name is there"},
	{Name: "OPEN_CREATE", Value: 0x10, Doc: "the file was created, or that was tried"},
	{Name: "OPEN_OPEN", Value: 0x20, Doc: "the open was tried"},
	{Name: "ENQ_OPEN_REF", Value: 0x800000, Doc: "the reply holds a reference for the open"},
	{Name: "ENQ_CREATE_REF", Value: 0x1000000, Doc: "the reply holds a reference for the create"},
	{Name: "OPEN_LOCK", Value: 0x2000000, Doc: "an open lock was taken"},
	{Name: "OPEN_LEASE", Value: 0x4000000, Doc: "a lease was taken"},
	{Name: "OPEN_STRIPE", Value: 0x8000000, Doc: "a layout was made"},
	{Name: "OPEN_DENY", Value: 0x10000000, Doc: "the open was refused"},
	{Name: "ALL", Value: 0xffffffff, Since: "2.18", Alias: true, Doc: "all bits"},
	{Name: "ENQ_COMPLETE", Value: 0x400000, Doc: "the enqueue is complete; gone after 2.17"},
})

// BarrierStatus are the states of a write barrier.
var BarrierStatus = Enum("barrier_status", "BS_", "state of a write barrier", []Value{
	{Name: "INIT", Value: 0x0, Doc: "never set"},
	{Name: "FREEZING_P1", Value: 0x1, Doc: "first phase: no new changes on clients"},
	{Name: "FREEZING_P2", Value: 0x2, Doc: "second phase: all changes go to disk"},
	{Name: "FROZEN", Value: 0x3, Doc: "frozen"},
	{Name: "THAWING", Value: 0x4, Doc: "thawing"},
	{Name: "THAWED", Value: 0x5, Doc: "thawed"},
	{Name: "FAILED", Value: 0x6, Doc: "failed"},
	{Name: "EXPIRED", Value: 0x7, Doc: "thawed by its timeout"},
	{Name: "RESCAN", Value: 0x8, Doc: "looking for MDTs"},
})

// BarrierCmd are what a barrier is told to do.
var BarrierCmd = Enum("barrier_cmd", "BC_", "barrier command", []Value{
	{Name: "FREEZE", Value: 0x1, Doc: "freeze"},
	{Name: "THAW", Value: 0x2, Doc: "thaw"},
	{Name: "STAT", Value: 0x3, Doc: "tell the state"},
	{Name: "RESCAN", Value: 0x4, Doc: "look for MDTs"},
})

// LockaheadMode are modes of statahead by advice and of lock-ahead.
var LockaheadMode = Enum("lockahead_mode", "", "modes of lock-ahead and of read-ahead of attributes", []Value{
	{Name: "LU_AH_MODE_NONE", Value: 0x0, Since: "2.16"},
	{Name: "LU_AH_NAME_INDEX", Value: 0x1, Since: "2.16"},
	{Name: "LU_AH_NAME_ARRAY", Value: 0x2, Since: "2.16"},
	{Name: "LU_AH_NAME_READDIR", Value: 0x3, Since: "2.16"},
	{Name: "LU_AH_MODE_MAX", Value: 0x4, Since: "2.16"},
	{Name: "MODE_READ_USER", Value: 0x1, Alias: true},
	{Name: "MODE_WRITE_USER", Value: 0x2, Alias: true},
	{Name: "MODE_MAX_USER", Value: 0x3, Alias: true},
})

// LockaheadResult are results of a lock-ahead.
var LockaheadResult = Enum("lockahead_result", "LLA_RESULT_", "result of a lock-ahead", []Value{
	{Name: "SENT", Value: 0x0, Doc: "the request was sent"},
	{Name: "DIFFERENT", Value: 0x1, Doc: "a lock of another mode is there"},
	{Name: "SAME", Value: 0x2, Doc: "a lock of that mode is there"},
})
