package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// LdlmIntent are the intents: what to do along with taking the lock. DefineIntent
// adds the others.
var LdlmIntent = Bits("ldlm_intent", "IT_", "what to do along with the lock", []Value{
	{Name: "OPEN", Value: itOpen, Doc: "open a file"},
	{Name: "CREAT", Value: itCreat, Doc: "create it"},
	{Name: "OPEN_CREAT", Value: 0x3, Alias: true, Doc: "open it, create it when it is not there"},
	{Name: "READDIR", Value: 0x4, Doc: "read a directory"},
	{Name: "GETATTR", Value: 0x8, Doc: "get attributes by name or FID"},
	{Name: "LOOKUP", Value: itLookup, Doc: "look a name up"},
})

var Disposition = Bits("disposition", "DISP_", "progress of an intent", []Value{
	{Name: "NONE", Value: 0x0, Since: "2.18", Doc: "nothing done"},
	{Name: "IT_EXECD", Value: 0x1, Doc: "the intent was carried out"},
	{Name: "LOOKUP_EXECD", Value: 0x2, Doc: "the name was looked up"},
	{Name: "LOOKUP_NEG", Value: 0x4, Doc: "the name is not there"},
	{Name: "LOOKUP_POS", Value: 0x8, Doc: "the name is there"},
	{Name: "OPEN_CREATE", Value: 0x10, Doc: "the file was created, or that was tried"},
	{Name: "OPEN_OPEN", Value: 0x20, Doc: "the open was tried"},
	{Name: "ENQ_COMPLETE", Value: 0x400000, Doc: "the enqueue is complete; gone after 2.17"},
	{Name: "ENQ_OPEN_REF", Value: 0x800000, Doc: "the reply holds a reference for the open"},
	{Name: "ENQ_CREATE_REF", Value: 0x1000000, Doc: "the reply holds a reference for the create"},
	{Name: "OPEN_LOCK", Value: 0x2000000, Doc: "an open lock was taken"},
	{Name: "OPEN_LEASE", Value: 0x4000000, Doc: "a lease was taken"},
	{Name: "OPEN_STRIPE", Value: 0x8000000, Doc: "a layout was made"},
	{Name: "OPEN_DENY", Value: 0x10000000, Doc: "the open was refused"},
	{Name: "ALL", Value: 0xffffffff, Since: "2.18", Alias: true, Doc: "all bits"},
})

// Bits of the intent, ldlm_intent.opc.
const (
	itOpen   = 0x1
	itCreat  = 0x2
	itLookup = 0x10
)

var LayoutIntent = Enum("layout_intent", "LAYOUT_INTENT_", "what a client is about to do with a file, for which it needs the layout",
	[]Value{
		{Name: "ACCESS", Value: 0x0, Doc: "get the layout as it is"},
		{Name: "READ", Value: 0x1, Doc: "read"},
		{Name: "WRITE", Value: 0x2, Doc: "write: make the components of the range"},
		{Name: "GLIMPSE", Value: 0x3, Doc: "get the size"},
		{Name: "TRUNC", Value: 0x4, Doc: "truncate"},
		{Name: "RELEASE", Value: 0x5, Doc: "release to the archive"},
		{Name: "RESTORE", Value: 0x6, Doc: "restore from the archive"},
		{Name: "PCCRO_SET", Value: 0x7, Since: "2.16", Doc: "cache it read-only"},
		{Name: "PCCRO_CLEAR", Value: 0x8, Since: "2.16", Doc: "end the read-only cache"},
		{Name: "CHANGE", Value: 0x9, Since: "2.17", Doc: "change the layout"},
	})

var LayoutIntentFlags = Bits("layout_intent_flags", "LAIF_", "what else the client knows", []Value{
	{Name: "INCOMPRESSIBLE", Value: 0x1, Since: "2.17", Doc: "the data cannot be compressed"},
})

var ldlmIntent = &Struct{Name: "ldlm_intent", Doc: "what to do along with the lock", Fields: []*Field{
	U64("opc", &LdlmIntent, "the intent"),
}}

var layoutIntent = &Struct{Name: "layout_intent",
	Doc: "what a client is about to do with a range of a file, for which it needs the layout", Fields: []*Field{
		U32("lai_opc", Since("2.16"), &LayoutIntent, "what; named li_opc up to 2.15"),
		U32("lai_flags", Since("2.16"), &LayoutIntentFlags, "what else it knows; named li_flags up to 2.15"),
		Sub("lai_extent", &luExtent, Since("2.16"), "the range; named li_extent up to 2.15"),
	}}

var bufLdlmIntent = Sub("ldlm_intent", &ldlmIntent, "what to do along with the lock")

// pickEnqueue goes by the intent when there is one, else by the kind of lock.
// A glimpse of an OST object, or of data on an MDT, has the flag for an intent, and no intent;
// so has the lock for reading a directory.
func pickEnqueue(m *Msg) *Variant {
	intent := m.Buf(2)
	if len(intent) < 8 {
		k := requestLock(m.Buf(1), m.Big)
		hasIntent := lockFlags.Uint(m.Buf(1), m.Big)&flagHasIntent != 0
		switch kind := k.kind(); {
		case hasIntent && kind == InodeLock && len(m.Buf(1)) < lockDesc.Off+lPolicyData.Off+8:
			return Protocol.ByOpcode(LDLM_ENQUEUE).Common // the bits were not captured
		case hasIntent && (kind == ExtentLock || kind == InodeLock && k.bits() == LdlmInodebits.Bit("DOM") && len(m.Bufs) == 2):
			return enqueueGlimpse
		default:
			return enqueueByKind(kind)
		}
	}
	switch opc := ReadUint(intent[:8], m.Big); {
	case opc&(itOpen|itCreat) != 0 && rrOpcode.Uint(m.Buf(3), m.Big) == reintCreate:
		return intentCreate
	case opc&(itOpen|itCreat) == itOpen|itCreat:
		return intentOpenCreat
	case opc&(itOpen|itCreat) != 0:
		return intentOpen
	case opc != 0:
		for _, v := range Protocol.ByOpcode(LDLM_ENQUEUE).Variants {
			if opc&v.Select != 0 {
				return v
			}
		}
		if opc&itLookup != 0 {
			return intentLookup
		}
	}
	return intentGetattr
}

func enqueueByKind(kind uint64) *Variant {
	switch kind {
	case ExtentLock:
		return enqueueExtent
	case FlockLock:
		return enqueueFlock
	case InodeLock:
		return enqueueIbits
	}
	return enqueuePlain
}

// pickEnqueueReply chooses the variant of a reply whose request was not captured
// by the number of buffers, and by their content where that is ambiguous.
func pickEnqueueReply(m *Msg) *Variant {
	k := requestLock(m.Buf(1), m.Big)
	opened := lockRes1.Uint(m.Buf(1), m.Big)&Disposition.Bit("OPEN_OPEN", "OPEN_CREATE") != 0
	switch n := len(m.Bufs); {
	case n <= 3:
		return pickReplyByLock(m, k)
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

func pickReplyByLock(m *Msg, k lock) *Variant {
	switch {
	case k.kind() == InodeLock && layoutForm(m.Buf(2), false) != nil:
		return intentLayout
	case k.kind() == ExtentLock && m.Status >= 300:
		return enqueueGlimpse
	}
	return enqueueByKind(k.kind())
}

var (
	intentOpen      = openIntent("OPEN", Opens|OtherLock)
	intentOpenCreat = openIntent("OPEN|CREAT", Opens|Creates|OtherLock)
	intentGetattr   = getattrIntent("GETATTR", Stats)
	intentLookup    = getattrIntent("LOOKUP", LooksUp)

	intentCreate = &Variant{Name: "CREATE", Does: Creates | OtherLock,
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintCreate, bufCapa1, bufName, bufEadataOpen, bufFileSecctxName,
			bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Reply:            Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufFileSecctx, bufDefaultMdtMd, bufFileEncctx),
		SummarizeRequest: summarizeIntentRequest(summarizeCreateRequest), SummarizeReply: summarizeIntentReply, InnerError: intentError,
		Subject: reintSubject,
	}
	intentGetxattr = DefineIntent(Value{Name: "GETXATTR", Value: 0x80, Doc: "get all extended attributes"}, &Variant{Does: Xattrs,
		Request:          Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufMdtBody, bufCapa1, bufSelinuxPol),
		Reply:            Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBodyXattrs, bufMdtMd, bufAcl, bufEadataGetxattr, bufEavals, bufEavalsLens),
		SummarizeRequest: summarizeIntentRequest(summarizeBodyRequest), SummarizeReply: summarizeIntentReply, InnerError: intentError,
		Subject: bodySubject,
	})
	intentLayout = DefineIntent(Value{Name: "LAYOUT", Value: 0x400, Doc: "get or change the layout"}, &Variant{Does: AsksForLock | OtherLock,
		Request:          Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, Sub("layout_intent", &layoutIntent, "what the client is about to do"), bufEadataLayoutIntent),
		Reply:            Bufs(bufPtlrpcBody, bufDlmRep, OneOf("dlm_lvb", chooseLayout, layoutForms, Tagged(true), "the layout")),
		SummarizeRequest: summarizeIntentRequest(summarizeLayoutRequest), SummarizeReply: func(m *Msg, l *Line) {
			appendGranted(m, l)
			addLayout(l, m.Buf(2), false)
		}, InnerError: intentError,
		Subject: lockSubject,
	})
	intentGlimpse = DefineIntent(Value{Name: "GLIMPSE", Value: 0x4000, Doc: "get the size, no lock wanted"}, &Variant{Does: AsksForLock | OtherLock,
		Request:          Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintIgnored),
		Reply:            Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl),
		SummarizeRequest: summarizeLockRequest, SummarizeReply: summarizeIntentReply, InnerError: intentError, Subject: lockSubject,
	})
	_ = DefineIntent(Value{Name: "BRW", Value: 0x8000, Doc: "read or write"}, &Variant{Does: AsksForLock,
		Request:          Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintIgnored),
		Reply:            Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl),
		SummarizeRequest: summarizeLockRequest, SummarizeReply: summarizeIntentReply, InnerError: intentError, Subject: lockSubject,
	})
	intentDqacq = DefineIntent(Value{Name: "QUOTA_DQACQ", Value: 0x800, Doc: "acquire quota together with the lock of the id"}, quotaIntent(
		func(m *Msg, l *Line) { summarizeAcquireRequest(m.Buf(3), m.Big, l) },
		func(m *Msg, l *Line) { summarizeAcquireReply(m.Buf(3), m.Big, l) }))
	intentQuotaConn = DefineIntent(Value{Name: "QUOTA_CONN", Value: 0x1000, Doc: "connect a quota slave to a global index"},
		quotaIntent(summarizeQuotaConnectRequest, summarizeQuotaConnectReply))
)

func openIntent(name string, does Actions) *Variant {
	return &Variant{Name: name, Does: does,
		Request: Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufRecReintCreate, bufCapa1, bufCapa2, bufName, bufEadataOpen,
			bufFileSecctxName, bufFileSecctx, bufSelinuxPol, bufFileEncctx),
		Reply: Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufCapa2, bufNiobufInline, bufFileSecctx,
			bufFileEncctx, bufDefaultMdtMd),
		SummarizeRequest: summarizeIntentRequest(summarizeOpenRequest), SummarizeReply: summarizeIntentReply, InnerError: intentError,
		Subject: reintSubject,
	}
}

func getattrIntent(name string, does Actions) *Variant {
	return &Variant{Name: name, Does: does,
		Request:          Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufMdtBody, bufCapa1, bufName, bufFileSecctxName),
		Reply:            Bufs(bufPtlrpcBody, bufDlmRep, bufMdtBody, bufMdtMd, bufAcl, bufCapa1, bufFileSecctx, bufDefaultMdtMd, bufFileEncctx),
		SummarizeRequest: summarizeIntentRequest(summarizeBodyRequest), SummarizeReply: summarizeIntentReply, InnerError: intentError,
		Subject: bodySubject,
	}
}

func quotaIntent(request, reply func(m *Msg, l *Line)) *Variant {
	return &Variant{Does: AcquiresQuota,
		Request:          Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufQuotaBody),
		Reply:            Bufs(bufPtlrpcBody, bufDlmRep, bufDlmLvbQuota, bufQuotaBody),
		Subject:          NoSubject, // the FID is of a quota index
		SummarizeRequest: request, InnerError: intentError,
		SummarizeReply: func(m *Msg, l *Line) {
			appendIntentError(m, l)
			reply(m, l)
			l.FlagsIfSet("", QuotaGlimpseFlags, lquotaLvb.Field("lvb_flags").Uint(m.Buf(2), m.Big))
		},
	}
}

// summarizeIntentRequest returns a func that writes the summary of the inner
// operation and the number of locks that the client cancels with it.
func summarizeIntentRequest(inner func(m *Msg, l *Line)) func(m *Msg, l *Line) {
	return func(m *Msg, l *Line) {
		inner(m, l)
		appendEarlyCancels(m.Buf(1), m.Big, l)
	}
}

var (
	dispNeg  = Disposition.Bit("LOOKUP_NEG")
	dispMade = Disposition.Bit("OPEN_CREATE")
)

func summarizeLayoutRequest(m *Msg, l *Line) {
	requestLock(m.Buf(1), m.Big).resource(l)
	if b := m.Buf(3); len(b) >= layoutIntent.Size {
		l.Key("").Value(Flag, LayoutIntent, layoutIntent.Field("lai_opc").Uint(b, m.Big))
	}
}

// intentError returns the error of the operation of an intent, 0 for success. A
// missing name is a result, not an error.
func intentError(m *Msg) int32 {
	return intentResult(m.Buf(1), m.Big)
}

// intentResult returns the error in the ldlm_reply rep, or 0.
func intentResult(rep []byte, big bool) int32 {
	rc := int32(lockRes2.Uint(rep, big))
	if rc > 0 || rc == ENOENT && lockRes1.Uint(rep, big)&dispNeg != 0 {
		return 0
	}
	return rc
}

// appendIntentError appends the error of the intent's operation, if what stands in the
// place of the status does not tell it.
func appendIntentError(m *Msg, l *Line) {
	if rc := intentError(m); rc != 0 && rc != m.Status && !IsIntentDone(m) {
		l.Key("").Errno(rc)
	}
}

// summarizeIntentReply writes the result of the intent and the granted lock.
func summarizeIntentReply(m *Msg, l *Line) {
	rep := m.Buf(1)
	if len(rep) < ldlmReply.Size {
		return
	}
	disp := lockRes1.Uint(rep, m.Big)
	switch {
	case disp&dispNeg != 0 && disp&dispMade == 0:
		l.Add(Flag, "no such name")
	case disp&dispMade != 0 && intentError(m) == 0:
		l.Add(Good, "created")
	}
	appendIntentError(m, l)
	summarizeAttrsReply(m, l)
	appendGranted(m, l)
}

// appendGranted appends mode and bits of the lock that came with an intent.
func appendGranted(m *Msg, l *Line) {
	k := requestLock(m.Buf(1), m.Big)
	if k.grantedMode() == 0 {
		return
	}
	l.Key("lock ").Value(Flag, LdlmMode, k.grantedMode())
	k.policy(l)
}
