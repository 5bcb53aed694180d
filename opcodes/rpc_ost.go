package opcodes

import (
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

var _ = DefineRPC(&RPC{Opcode: OST_REPLY, Name: "OST_REPLY", Retired: true, Doc: "a number that no message has"})

var _ = DefineRPC(&RPC{Opcode: OST_GETATTR, Name: "OST_GETATTR",
	Doc: "Asks for size, blocks, times and owner of an object, also for its data version.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Ask:     askObject, Answer: answerSize, Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_SETATTR, Name: "OST_SETATTR",
	Doc: "Sets times, owner, project or layout of an object; o_valid says which. MDTs send it after a chown.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Ask: func(m *Msg, l *Line) {
			a := attrsOf(m, 1)
			a.object(l)
			a.sets(l)
		},
		Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_CREATE, Name: "OST_CREATE",
	Doc: "An MDT has objects made ahead of need, up to the id given; with DELORPHAN it has those destroyed that no file uses.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Ask: func(m *Msg, l *Line) {
			a := attrsOf(m, 1)
			if a.flag(flagDelOrphan) {
				l.Add(Flag, "DELORPHAN")
				l.Key("above ")
			} else {
				l.Key("up to ")
			}
			a.object(l)
		},
		Answer: func(m *Msg, l *Line) {
			l.Key("last ")
			attrsOf(m, 1).object(l)
		},
		Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_DESTROY, Name: "OST_DESTROY",
	Doc: "Destroys an object of a file that was removed, or several with consecutive ids.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufDlmReq, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Ask: func(m *Msg, l *Line) {
			a := attrsOf(m, 1)
			a.object(l)
			if a.valid(validCount) {
				l.Key("objects ")
				l.Num(a.word(oMisc))
			}
			sayCancels(m.Buf(2), m.Big, l)
		},
		Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_PUNCH, Name: "OST_PUNCH",
	Doc: "Truncates an object, or frees a range of it.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Ask:     askSpan, Answer: answerSize, Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_SYNC, Name: "OST_SYNC",
	Doc: "Has a range of an object written to disk, or the whole target when no object is named.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Ask:     askSpan, Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_FALLOCATE, Name: "OST_FALLOCATE",
	Doc: "Allocates a range of an object, frees it or makes it zero, by the mode; since 2.15.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Ask: func(m *Msg, l *Line) {
			a := attrsOf(m, 1)
			a.object(l)
			switch mode := a.word(oFallocM); {
			case mode != 0:
				l.Key("")
				l.Flags(FallocMode, mode)
			case a.reach(oFallocM):
				l.Key("")
				l.Add(Flag, "ALLOCATE")
			}
			a.span(l)
		},
		Answer: answerSize, Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_SEEK, Name: "OST_SEEK",
	Doc: "Finds the next data or the next hole in an object; since 2.15.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Ask: func(m *Msg, l *Line) {
			a := attrsOf(m, 1)
			a.object(l)
			if a.reach(oMode) {
				l.Key("")
				l.Value(Flag, SeekWhence, a.word(oMode))
				l.Key("from ")
				l.Offset(a.word(oSize))
			}
		},
		Answer: func(m *Msg, l *Line) {
			if a := attrsOf(m, 1); m.Status >= 0 && a.reach(oSize) {
				l.Key("at ")
				l.Offset(a.word(oSize))
			}
		},
		Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_LADVISE, Name: "OST_LADVISE",
	Doc: "Tells how a range of an object will be used, from lfs ladvise.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufLadviseHdr, bufLadvise),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		Ask: func(m *Msg, l *Line) {
			attrsOf(m, 1).object(l)
			if b := m.Buf(3); len(b) >= luLadvise.Size {
				l.Key("")
				l.Add(Flag, strings.TrimPrefix(Ladvise.Name(llaAdvice.Uint(b, m.Big)), "LU_LADVISE_"))
				l.Key("from ")
				l.Offset(llaStart.Uint(b, m.Big))
				l.Key("to ")
				l.Offset(llaEnd.Uint(b, m.Big))
			}
		},
		Subject: objectSubject,
	}}})

var (
	llaAdvice = luLadvise.Field("lla_advice")
	llaStart  = luLadvise.Field("lla_start")
	llaEnd    = luLadvise.Field("lla_end")
)

var (
	_ = DefineRPC(&RPC{Opcode: OST_OPEN, Name: "OST_OPEN", Retired: true, Doc: "opened an object, long ago"})
	_ = DefineRPC(&RPC{Opcode: OST_CLOSE, Name: "OST_CLOSE", Retired: true, Doc: "closed an object, long ago"})
	_ = DefineRPC(&RPC{Opcode: OST_QUOTACHECK, Name: "OST_QUOTACHECK", Retired: true, Doc: "counted the usage for quota, long ago"})
	_ = DefineRPC(&RPC{Opcode: OST_QUOTA_ADJUST_QUNIT, Name: "OST_QUOTA_ADJUST_QUNIT", Retired: true, Doc: "changed the unit in which quota is handed out, long ago"})
)
