package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// Bits of the intent, ldlm_intent.opc.
const (
	itOpen      = 0x1
	itCreat     = 0x2
	itGetattr   = 0x8
	itLookup    = 0x10
	itGetxattr  = 0x80
	itLayout    = 0x400
	itDqacq     = 0x800
	itQuotaConn = 0x1000
	itGlimpse   = 0x4000
	itBrw       = 0x8000
)

// pickEnqueue goes by the intent when there is one, else by the kind of lock.
// A glimpse of an OST object has the flag for an intent, and no intent.
func pickEnqueue(m *Msg) *Variant {
	intent := m.Buf(2)
	if len(intent) < 8 {
		if lockFlags.Uint(m.Buf(1), m.Big)&flagHasIntent != 0 && requestLock(m.Buf(1), m.Big).kind() == ldlmExtentType {
			return enqueueGlimpse
		}
		return enqueueByKind(requestLock(m.Buf(1), m.Big).kind())
	}
	switch opc := ReadUint(intent[:8], m.Big); {
	case opc&(itOpen|itCreat) != 0 && rrOpcode.Uint(m.Buf(3), m.Big) == reintCreate:
		return intentCreate
	case opc&(itOpen|itCreat) == itOpen|itCreat:
		return intentOpenCreat
	case opc&(itOpen|itCreat) != 0:
		return intentOpen
	default:
		return intentVariant(opc)
	}
}

func intentVariant(opc uint64) *Variant {
	switch {
	case opc&itGetxattr != 0:
		return intentGetxattr
	case opc&itLayout != 0:
		return intentLayout
	case opc&itDqacq != 0:
		return intentDqacq
	case opc&itQuotaConn != 0:
		return intentQuotaConn
	case opc&itGlimpse != 0:
		return intentGlimpse
	case opc&itBrw != 0:
		return intentBrw
	case opc&itLookup != 0:
		return intentLookup
	}
	return intentGetattr
}

func enqueueByKind(kind uint64) *Variant {
	switch kind {
	case ldlmExtentType:
		return enqueueExtent
	case ldlmFlockType:
		return enqueueFlock
	case ldlmIbitsType:
		return enqueueIbits
	}
	return enqueuePlain
}

var (
	dispOpen = Disposition.Bit("OPEN_OPEN") | Disposition.Bit("OPEN_CREATE")
	lockRes1 = ldlmReply.Field("lock_policy_res1")
	lockRes2 = ldlmReply.Field("lock_policy_res2")
)

// guessEnqueue tells a reply whose request is not known by the number of its
// buffers, and where that is the same for several by what is in them.
func guessEnqueue(m *Msg) *Variant {
	k := requestLock(m.Buf(1), m.Big)
	opened := lockRes1.Uint(m.Buf(1), m.Big)&dispOpen != 0
	switch n := len(m.Bufs); {
	case n <= 3:
		return guessPlain(m, k)
	case n == 4:
		if id := qbID.Bytes(m.Buf(3)); len(id) < 16 || ReadUint(id[:8], m.Big) == 0 {
			return intentQuotaConn
		}
		return intentDqacq
	case n == 5:
		return intentGlimpse
	case n == 8:
		return intentGetxattr
	case n >= 10 || opened:
		return intentOpen
	}
	return intentGetattr
}

func guessPlain(m *Msg, k lock) *Variant {
	switch {
	case k.kind() == ldlmIbitsType && layoutForm(m.Buf(2), false) != nil:
		return intentLayout
	case k.kind() == ldlmExtentType && m.Status >= 300:
		return enqueueGlimpse
	}
	return enqueueByKind(k.kind())
}

var (
	intentOpen      = openIntent("OPEN")
	intentOpenCreat = openIntent("OPEN|CREAT")
	intentGetattr   = getattrIntent("GETATTR")
	intentLookup    = getattrIntent("LOOKUP")

	intentCreate = &Variant{Name: "CREATE",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintMdtRecCreate, bufCapa1, bufName, bufEadata3, bufFileSecctxName, bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufFileSecctx, bufDefaultMdtMd, bufFileEncctx),
		Ask:     askIntent(askCreate), Answer: answerIntent, Inner: intentError, Subject: reintSubject,
	}
	intentGetxattr = &Variant{Name: "GETXATTR",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufMdtBody, bufCapa1, bufSelinuxPol),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufEadata4, bufEavals, bufEavalsLens),
		Ask:     askIntent(askBody), Answer: answerIntent, Inner: intentError, Subject: bodySubject,
	}
	intentLayout = &Variant{Name: "LAYOUT",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufLayoutIntent, bufEadataLovCompMdV1),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvbLayout),
		Ask:     askIntent(askLayout), Answer: answerLayout, Inner: intentError, Subject: lockSubject,
	}
	intentGlimpse = &Variant{Name: "GLIMPSE",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintMdtRecReint),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl),
		Ask:     askLock, Answer: answerIntent, Inner: intentError, Subject: lockSubject,
	}
	intentBrw = &Variant{Name: "BRW",
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintMdtRecReint),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl),
		Ask:     askLock, Answer: answerIntent, Inner: intentError, Subject: lockSubject,
	}
	intentDqacq     = quotaIntent("QUOTA_DQACQ")
	intentQuotaConn = quotaIntent("QUOTA_CONN")
)

func openIntent(name string) *Variant {
	return &Variant{Name: name,
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintMdtRecCreate, bufCapa1, bufCapa2, bufName, bufEadata3, bufFileSecctxName, bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2, bufNiobufInline, bufFileSecctx, bufFileEncctx, bufDefaultMdtMd),
		Ask:     askIntent(askOpen), Answer: answerIntent, Inner: intentError, Subject: reintSubject,
	}
}

func getattrIntent(name string) *Variant {
	return &Variant{Name: name,
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufMdtBody, bufCapa1, bufName, bufFileSecctxName),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufFileSecctx, bufDefaultMdtMd, bufFileEncctx),
		Ask:     askIntent(askBody), Answer: answerIntent, Inner: intentError, Subject: bodySubject,
	}
}

func quotaIntent(name string) *Variant {
	return &Variant{Name: name,
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufQuotaBody),
		Reply:   Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvbLquotaLvb, bufQuotaBody),
		Ask:     func(m *Msg, l *Line) { askAcquire(m.Buf(3), m.Big, l) },
		Answer:  func(m *Msg, l *Line) { answerAcquire(m.Buf(3), m.Big, l) },
		Inner:   intentError,
	}
}
