package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const (
	LDLM_ENQUEUE     = 101
	LDLM_CONVERT     = 102
	LDLM_CANCEL      = 103
	LDLM_BL_CALLBACK = 104
	LDLM_CP_CALLBACK = 105
	LDLM_SET_INFO    = 107
)

// LdlmFlags are lock flags. Only the low 32 bits travel.
var LdlmFlags = Bits("ldlm_flags", "LDLM_FL_", "lock flags; the upper half never leaves its node", []Value{
	{Name: "LOCK_CHANGED", Value: 0x1, Doc: "the granted lock differs from the requested one"},
	{Name: "BLOCK_GRANTED", Value: 0x2, Doc: "has to wait for granted locks"},
	{Name: "BLOCK_CONV", Value: 0x4, Doc: "has to wait for converting locks; gone after 2.16"},
	{Name: "BLOCK_WAIT", Value: 0x8, Doc: "has to wait behind waiting locks"},
	{Name: "BLOCKED_MASK", Value: 0xa, Alias: true, Doc: "the reasons to wait"},
	{Name: "SPECULATIVE", Value: 0x10, Doc: "requested speculatively; not worth a wait or a retry"},
	{Name: "AST_SENT", Value: 0x20, Doc: "in a completion callback: cancel the lock at once, it already blocks another one"},
	{Name: "CONTENTION", Value: 0x40, Since: "2.18", Doc: "the resource is contended"},
	{Name: "REPLAY", Value: 0x100, Doc: "the client gives the lock back to a restarted server"},
	{Name: "INTENT_ONLY", Value: 0x200, Doc: "do what the intent says, no lock wanted"},
	{Name: "HAS_INTENT", Value: 0x1000, Doc: "an intent comes with it; for an OST lock it means glimpse"},
	{Name: "FLOCK_DEADLOCK", Value: 0x8000, Doc: "the lock would be part of a deadlock"},
	{Name: "DISCARD_DATA", Value: 0x10000, Doc: "drop dirty data instead of writing it"},
	{Name: "AST_MASK", Value: 0x18000, Alias: true, Doc: "what callbacks pass on"},
	{Name: "WIRE_AST_FLAGS_MASK", Value: 0x18020, Since: "2.17", Alias: true, Doc: "what callbacks may carry"},
	{Name: "NO_TIMEOUT", Value: 0x20000, Doc: "may wait without bound"},
	{Name: "SRV_ENQ_MASK", Value: 0x2000b, Alias: true, Doc: "flags that a server may return"},
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

var LdlmError = Enum("ldlm_error", "ELDLM_", "status of a lock reply", []Value{
	{Name: "OK", Value: 0x0, Doc: "done"},
	{Name: "LOCK_MATCHED", Value: 0x1, Doc: "a lock that fits was there"},
	{Name: "LOCK_CHANGED", Value: 0x12c, Doc: "the lock differs from the requested one"},
	{Name: "LOCK_ABORTED", Value: lockAborted, Doc: "the intent was executed, no lock was granted"},
	{Name: "LOCK_REPLACED", Value: 0x12e, Doc: "another lock is returned"},
	{Name: "NO_LOCK_DATA", Value: 0x12f, Doc: "the lock has no data"},
	{Name: "LOCK_WOULDBLOCK", Value: 0x130, Doc: "would have to wait"},
	{Name: "NAMESPACE_EXISTS", Value: 0x190, Doc: "the namespace exists already"},
	{Name: "BAD_NAMESPACE", Value: 0x191, Doc: "no such namespace"},
})

var ldlmRequest = &Struct{Name: "ldlm_request", Doc: "a lock to enqueue, convert or cancel, or the lock of a callback", Fields: []*Field{
	U32("lock_flags", &LdlmFlags, "lower half of the lock flags"),
	U32("lock_count", Harmless, "handles that count in lock_handle; 0 means 1 in a cancel"),
	Sub("lock_desc", &ldlmLockDesc, "the lock; in a blocking callback the lock that is in conflict"),
	Subs("lock_handle", -1, &lustreHandle,
		"an enqueue: [0] the client's cookie of the new lock, behind it locks to cancel; a callback: [0] the client's cookie, [1] the "+
			"server's; a cancel: server cookies"),
}}

// LockHandles is the array of lock handles in an ldlm_request.
var LockHandles = ldlmRequest.Field("lock_handle")

var ldlmReply = &Struct{Name: "ldlm_reply", Doc: "the lock that was granted or waits", Fields: []*Field{
	U32("lock_flags", &LdlmFlags, "how the lock was granted, or why it waits"),
	Pad("lock_padding", 4),
	Sub("lock_desc", &ldlmLockDesc, "the lock as the server has it"),
	Sub("lock_handle", &lustreHandle, "the server's cookie of the lock; in a convert the client's"),
	U64("lock_policy_res1", &Disposition, "progress of the intent"),
	S64("lock_policy_res2", Errno, Remark(func(v *View, dst []byte) []byte {
		if n := ErrnoValue(v.Value); n > 0 {
			return append(dst, Errnos.Name(uint64(n))...)
		}
		return dst
	}), "result of the intent; the lower half is the errno, some senders extend its sign"),
}}

var (
	bufDlmReq = Sub("dlm_req", &ldlmRequest, "the lock, or locks to cancel early")
	bufDlmRep = Sub("dlm_rep", &ldlmReply, "the lock")
	lockDesc  = ldlmRequest.Resolve().Field("lock_desc") // ldlm_reply has it at the same offset
	lockFlags = ldlmRequest.Field("lock_flags")
	lockCount = ldlmRequest.Field("lock_count")
	lockRes1  = ldlmReply.Field("lock_policy_res1")
	lockRes2  = ldlmReply.Field("lock_policy_res2")
)

var _ = DefineRPC(&RPC{Opcode: LDLM_ENQUEUE, Name: "LDLM_ENQUEUE",
	Doc: "Requests a lock. With an intent the server also executes an operation: open, lookup, getattr and others. " +
		"When the lock has to wait, a completion callback follows.",
	Variants: []*Variant{
		enqueueExtent, enqueueGlimpse, enqueueFlock, enqueueIbits, enqueuePlain,
		intentOpen, intentOpenCreat, intentCreate, intentGetattr, intentLookup, // and those of DefineIntent
	},
	Pick: pickEnqueue, PickReply: pickEnqueueReply,
	PickBytes: []int{lockDesc.Off + lrType.Size, ldlmIntent.Resolve().Size}, // flags and kind, the intent
})

var (
	enqueueExtent  = plainEnqueue("extent", OfObject)
	enqueueGlimpse = plainEnqueue("glimpse", Glimpses|OfObject)
	enqueueFlock   = plainEnqueue("flock", 0)
	enqueueIbits   = plainEnqueue("ibits", 0)
	enqueuePlain   = plainEnqueue("plain", 0)
)

// plainEnqueue is the form of an enqueue without an intent buffer.
func plainEnqueue(name string, does Actions) *Variant {
	return &Variant{Name: name, Does: does,
		Request:          Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:            Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvb),
		SummarizeRequest: summarizeLockRequest, SummarizeReply: summarizeLockReply, Subject: lockSubject,
	}
}

// summarizeLockRequest writes mode, resource and range of the requested lock.
func summarizeLockRequest(m *Msg, l *Line) {
	b := m.Buf(1)
	k := requestLock(b, m.Big)
	if k.kind() == FlockLock && k.requestedMode() == modeNull {
		l.Add(Flag, "unlock")
		k.appendWithMode(l, 0)
	} else {
		k.appendWithMode(l, k.requestedMode())
	}
	l.FlagsIfSet("", LdlmFlags, lockFlags.Uint(b, m.Big)&^flagHasIntent)
	appendEarlyCancels(b, m.Big, l)
}

// summarizeLockReply writes the granted lock, or the reason why it waits.
func summarizeLockReply(m *Msg, l *Line) {
	b := m.Buf(1)
	k := requestLock(b, m.Big)
	flags := lockFlags.Uint(b, m.Big)
	switch {
	case len(b) < lockDesc.Off+lPolicyData.Off:
		return
	case k.grantedMode() != 0:
		l.Key("")
		if k.kind() == FlockLock && k.grantedMode() == modeNull {
			l.Add(Flag, "unlock")
		} else {
			l.Value(Flag, LdlmMode, k.grantedMode())
		}
		k.policy(l)
	case k.kind() == FlockLock && flags&flagTest != 0:
		k.summarizeTest(l)
	case m.Status == 0 && flags&flagsWaiting != 0:
		l.Key("").Add(Bad, "waits")
	}
	l.FlagsIfSet("", LdlmFlags, flags&flagsWaiting)
	appendLvb(m, l)
}

// summarizeTest writes the flock that a test (F_GETLK) has found in the way: the server puts it in
// the place of the one that was asked about.
func (k lock) summarizeTest(l *Line) {
	if k.requestedMode() == modeNull {
		l.Key("").Add(Good, "no conflict")
		return
	}
	l.Key("conflict ").Value(Flag, LdlmMode, k.requestedMode())
	k.policy(l)
	l.Key("pid ").Num(k.policyWord(flockPID))
}

var (
	flagHasIntent = LdlmFlags.Bit("HAS_INTENT")
	flagsWaiting  = LdlmFlags.Bit("BLOCK_GRANTED", "BLOCK_WAIT", "BLOCK_CONV")
)

// appendEarlyCancels appends the number of locks that the client cancels with
// the enqueue; their handles follow that of the new lock.
func appendEarlyCancels(b []byte, big bool, l *Line) {
	if n := lockCount.Uint(b, big); n > 1 {
		l.Key("cancels ").Num(n - 1)
	}
}

// appendHandle appends handle i of a struct ldlm_request.
func appendHandle(b []byte, i int, l *Line) {
	if at := LockHandles.Off + 8*i; len(b) >= at+8 {
		l.Key("").Handle(b[at:])
	}
}

// appendServerLock appends the lock that handle i of a struct ldlm_request is the
// server's cookie of, with the name of its resource where that is known.
func appendServerLock(b []byte, i int, l *Line) {
	at := LockHandles.Off + 8*i
	if len(b) < at+8 {
		return
	}
	if l.HandleName != nil {
		text := len(l.Text)
		l.Text = l.HandleName(l.Text, ReadUint(b[at:at+8], false))
		if len(l.Text) > text {
			l.Mark(Object)
			l.Add(Dim, " ")
		}
	}
	l.Handle(b[at:])
}

// appendHeldLock appends mode and range of the lock that a callback is about,
// where they are known: its second handle is the server's cookie.
func appendHeldLock(b []byte, l *Line) {
	at := LockHandles.Off + 8
	if l.HeldLock == nil || len(b) < at+8 {
		return
	}
	text := len(l.Text)
	l.Key("held ")
	value := len(l.Text)
	if l.Text = l.HeldLock(l.Text, ReadUint(b[at:at+8], false)); len(l.Text) == value {
		l.Cut(text)
		return
	}
	l.Mark(Flag)
}

var _ = DefineRPC(&RPC{Opcode: LDLM_CONVERT, Name: "LDLM_CONVERT",
	Doc: "A client keeps some bits of an inode lock and releases the others, instead of cancelling the lock.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep),
		SummarizeRequest: func(m *Msg, l *Line) {
			b := m.Buf(1)
			appendServerLock(b, 0, l)
			l.Key("keep ").Flags(LdlmInodebits, requestLock(b, m.Big).bits())
		},
		SummarizeReply: func(m *Msg, l *Line) {
			if b := m.Buf(1); len(b) > 0 {
				l.Key("holds ").Flags(LdlmInodebits, requestLock(b, m.Big).bits())
			}
		},
		Subject: lockSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: LDLM_CANCEL, Name: "LDLM_CANCEL",
	Doc: "A client cancels locks, by the server's handles: after a blocking callback, or because they are unused.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		SummarizeRequest: func(m *Msg, l *Line) {
			b := m.Buf(1)
			n := max(1, lockCount.Uint(b, m.Big))
			if n > 1 {
				l.Num(n)
				l.Key("locks ")
			}
			for i := range min(int(n), cancelsShown) {
				if i > 0 {
					l.Add(Dim, ",")
				}
				appendServerLock(b, i, l)
			}
			if n > cancelsShown {
				l.Add(Dim, ",…")
			}
		},
	}}})

// cancelsShown is the number of handles of a cancel in a summary.
const cancelsShown = 2

var _ = DefineRPC(&RPC{Opcode: LDLM_BL_CALLBACK, Name: "LDLM_BL_CALLBACK", Does: CallsBack,
	Doc: "The server notifies a client that its lock blocks another one. The client replies at once, writes back and cancels the lock; a " +
		"client that takes too long is evicted.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		SummarizeRequest: func(m *Msg, l *Line) {
			b := m.Buf(1)
			k := requestLock(b, m.Big)
			k.endUnknown = true
			l.Key("blocks ")
			k.appendWithMode(l, k.requestedMode())
			if k.kind() == InodeLock && k.conflict() != 0 && k.conflict() != k.bits() {
				l.Key("in ").Flags(LdlmInodebits, k.conflict())
			}
			appendHeldLock(b, l)
			appendHandle(b, 0, l)
		},
		Subject: lockSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: LDLM_CP_CALLBACK, Name: "LDLM_CP_CALLBACK", Does: CallsBack,
	Doc: "The server notifies a client that its waiting lock is granted. With AST_SENT the client must cancel it at once.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufDlmLvb),
		SummarizeRequest: func(m *Msg, l *Line) {
			b := m.Buf(1)
			k := requestLock(b, m.Big)
			l.Key("granted ")
			k.appendWithMode(l, k.grantedMode())
			appendHandle(b, 0, l)
			l.FlagsIfSet("", LdlmFlags, lockFlags.Uint(b, m.Big))
		},
		Subject: lockSubject,
	}}})

func lockSubject(m *Msg) (fid, name []byte) {
	return requestLock(m.Buf(1), m.Big).fid(), nil
}

// LockStatus is the name of a status that is no errno, as replies about locks
// have it; empty for all others.
func LockStatus(opcode uint32, status int32) string {
	if status < 300 || !IsLockOpcode(opcode) {
		return ""
	}
	return LdlmError.Name(uint64(status))
}

// IsIntentDone reports whether the status of a reply says no more than that an intent, or a
// glimpse, was executed and no lock granted: then InnerError has the result.
func IsIntentDone(m *Msg) bool {
	return m != nil && m.Status == lockAborted && m.Opcode == LDLM_ENQUEUE && m.Variant != nil && !m.VariantGuessed &&
		(m.Variant == enqueueGlimpse || m.Variant.InnerError != nil) && len(m.Buf(1)) >= ldlmReply.Size
}

const lockAborted = 0x12d

// IsLockOpcode reports whether an operation is one of the lock manager's.
func IsLockOpcode(opcode uint32) bool { return opcode >= LDLM_ENQUEUE && opcode <= LDLM_SET_INFO }
