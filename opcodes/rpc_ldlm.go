package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var rpcLdlmEnqueue = DefineRPC(&RPC{Opcode: LDLM_ENQUEUE, Name: "LDLM_ENQUEUE",
	Doc: "Asks for a lock. With an intent the server does what the intent says in the same step: opens, looks up, gets attributes, and so on. " +
		"When the lock has to wait, a completion callback follows.",
	Variants: []*Variant{
		enqueueExtent, enqueueGlimpse, enqueueFlock, enqueueIbits, enqueuePlain,
		intentOpen, intentOpenCreat, intentCreate, intentGetattr, intentLookup, intentGetxattr,
		intentLayout, intentGlimpse, intentBrw, intentDqacq, intentQuotaConn,
	},
	Pick: pickEnqueue, Guess: guessEnqueue,
	Picks: []int{lockDescAt + 4, ldlmIntent.Size}, // flags and kind, the intent
})

var (
	enqueueExtent  = plainEnqueue("extent")
	enqueueGlimpse = plainEnqueue("glimpse")
	enqueueFlock   = plainEnqueue("flock")
	enqueueIbits   = plainEnqueue("ibits")
	enqueuePlain   = plainEnqueue("plain")
)

// plainEnqueue is the form of an enqueue without an intent buffer.
func plainEnqueue(name string) *Variant {
	return &Variant{Name: name,
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvb),
		Ask:     askLock, Answer: answerLock, Subject: lockSubject,
	}
}

var _ = DefineRPC(&RPC{Opcode: LDLM_CONVERT, Name: "LDLM_CONVERT",
	Doc: "A client keeps some of the bits of an inode lock and gives the others up, instead of cancelling the lock.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep),
		Ask: func(m *Msg, l *Line) {
			b := m.Buf(1)
			sayServerLock(b, 0, l)
			l.Key("keep ")
			l.Flags(LdlmInodebits, requestLock(b, m.Big).bits())
		},
		Answer: func(m *Msg, l *Line) {
			if b := m.Buf(1); len(b) > 0 {
				l.Key("holds ")
				l.Flags(LdlmInodebits, requestLock(b, m.Big).bits())
			}
		},
		Subject: lockSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: LDLM_CANCEL, Name: "LDLM_CANCEL",
	Doc: "A client gives locks back, by the server's handles: after a blocking callback, or because it has not used them.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody),
		Ask: func(m *Msg, l *Line) {
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
				sayServerLock(b, i, l)
			}
			if n > cancelsShown {
				l.Add(Dim, ",…")
			}
		},
	}}})

// cancelsShown handles of a cancel fit into a summary.
const cancelsShown = 2

var _ = DefineRPC(&RPC{Opcode: LDLM_BL_CALLBACK, Name: "LDLM_BL_CALLBACK",
	Doc: "The server tells a client that its lock is in somebody's way. The client answers at once, then writes back and cancels; when it takes too long it is evicted.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufDlmReq),
		Reply:   Bufs(bufPtlrpcBody),
		Ask: func(m *Msg, l *Line) {
			b := m.Buf(1)
			k := requestLock(b, m.Big)
			k.wild = true
			l.Key("blocks ")
			k.describe(l, k.asked())
			if k.kind() == ldlmIbitsType && k.conflict() != 0 && k.conflict() != k.bits() {
				l.Key("in ")
				l.Flags(LdlmInodebits, k.conflict())
			}
			sayHandle(b, 0, l)
		},
		Subject: lockSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: LDLM_CP_CALLBACK, Name: "LDLM_CP_CALLBACK",
	Doc: "The server tells a client that the lock it has been waiting for is granted. With AST_SENT the lock is wanted back at the same time.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufDlmLvb),
		Reply:   Bufs(bufPtlrpcBody),
		Ask: func(m *Msg, l *Line) {
			b := m.Buf(1)
			k := requestLock(b, m.Big)
			l.Key("granted ")
			k.describe(l, k.granted())
			sayHandle(b, 0, l)
			if flags := lockFlags.Uint(b, m.Big); flags != 0 {
				l.Key("")
				l.Flags(LdlmFlags, flags)
			}
		},
		Subject: lockSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: LDLM_SET_INFO, Name: "LDLM_SET_INFO",
	Doc: "An MDT hands HSM actions to the copytool of a client.",
	Variants: []*Variant{{Name: "hsm_send",
		Request: Bufs(bufPtlrpcBody, bufSetinfoKey, bufSetinfoValKucHdr),
		Reply:   Bufs(bufPtlrpcBody),
		Ask:     askHsmSend,
	}}})

// askHsmSend tells how many actions come, and the first of them.
func askHsmSend(m *Msg, l *Line) {
	b := m.Buf(2)
	v := View{Struct: b, Rest: b, Big: kucMessage.Big(b, m.Big)}
	if isActionList(&v) {
		l.Key("")
		v.Struct = b[kucHdr.Size:]
		l.Text = briefActions(&v, l.Text)
		l.Mark(Number)
	}
}

var (
	lockFlags = ldlmRequest.Field("lock_flags")
	lockCount = ldlmRequest.Field("lock_count")
)

// askLock says which lock is asked for.
func askLock(m *Msg, l *Line) {
	b := m.Buf(1)
	k := requestLock(b, m.Big)
	k.describe(l, k.asked())
	if flags := lockFlags.Uint(b, m.Big) &^ flagHasIntent; flags != 0 {
		l.Key("")
		l.Flags(LdlmFlags, flags)
	}
	sayEarlyCancels(b, m.Big, l)
}

var (
	flagHasIntent = LdlmFlags.Bit("HAS_INTENT")
	flagsWaiting  = LdlmFlags.Bit("BLOCK_GRANTED") | LdlmFlags.Bit("BLOCK_WAIT") | LdlmFlags.Bit("BLOCK_CONV")
)

// sayEarlyCancels: behind the handle of the new lock stand those of locks that
// the client gives back.
func sayEarlyCancels(b []byte, big bool, l *Line) {
	if n := lockCount.Uint(b, big); n > 1 {
		l.Key("cancels ")
		l.Num(n - 1)
	}
}

// sayCancels: all handles of the buffer are those of locks that the client
// gives back.
func sayCancels(b []byte, big bool, l *Line) {
	if n := lockCount.Uint(b, big); n > 0 {
		l.Key("cancels ")
		l.Num(n)
	}
}

// sayHandle appends handle i of a struct ldlm_request.
func sayHandle(b []byte, i int, l *Line) {
	if at := handlesAt + 8*i; len(b) >= at+8 {
		l.Key("")
		l.Handle(b[at:])
	}
}

// answerLock says which lock came of it.
func answerLock(m *Msg, l *Line) {
	b := m.Buf(1)
	k := requestLock(b, m.Big)
	flags := lockFlags.Uint(b, m.Big)
	switch {
	case len(b) < lockDescAt+lockPolicyAt:
		return
	case k.granted() != 0:
		l.Key("")
		l.Value(Flag, LdlmMode, k.granted())
		k.policy(l)
	case m.Status == 0:
		l.Key("")
		l.Add(Bad, "waits")
	}
	if waiting := flags & flagsWaiting; waiting != 0 {
		l.Key("")
		l.Flags(LdlmFlags, waiting)
	}
	sayLvb(m, l)
}

// sayLvb appends the size of the object when the reply has it.
func sayLvb(m *Msg, l *Line) {
	b := m.Buf(2)
	if k := requestLock(m.Buf(1), m.Big).kind(); k != ldlmExtentType && k != ldlmIbitsType || len(b) != ostLvb.Size && len(b) != ostLvbV1.Size {
		return
	}
	sayLvbSize(b, m.Big, l)
}

func sayLvbSize(b []byte, big bool, l *Line) {
	if len(b) < ostLvbV1.Size {
		return
	}
	if blocks := ReadUint(b[32:40], big); blocks>>32 == lvbError {
		l.Key("lvb ")
		l.Errno(int32(blocks))
		return
	}
	l.Key("size ")
	l.Offset(ReadUint(b[:8], big))
}

// LockStatus is the name of a status that is no errno, as replies about locks
// have it; empty for all others.
func LockStatus(opcode uint32, status int32) string {
	if status < 300 || !AboutLocks(opcode) {
		return ""
	}
	return LdlmError.Name(uint64(status))
}

// AboutLocks says whether an operation is one of the lock manager's.
func AboutLocks(opcode uint32) bool { return opcode >= LDLM_ENQUEUE && opcode <= LDLM_SET_INFO }

// Offsets in a ptlrpc_body of type, operation and status.
const (
	bodyTypeAt   = 8
	bodyOpcodeAt = 16
	bodyStatusAt = 20
	typeReply    = 4713
)

// lockStatusText is the name of pb_status where it is one of a lock.
func lockStatusText(v *View, dst []byte) []byte {
	if len(v.Struct) < bodyStatusAt+4 {
		return dst
	}
	word := func(at int) uint32 { return uint32(ReadUint(v.Struct[at:at+4], v.Big)) }
	if word(bodyTypeAt) != typeReply {
		return dst
	}
	return append(dst, LockStatus(word(bodyOpcodeAt), int32(word(bodyStatusAt)))...)
}

func lockSubject(m *Msg) (fid, name []byte) {
	return requestLock(m.Buf(1), m.Big).fid(), nil
}
