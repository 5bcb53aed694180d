package opcodes

import (
	"strings"

	. "github.com/lshark/lshark/opcodes/schema"
)

const (
	OST_REPLY     = 0
	OST_GETATTR   = 1
	OST_SETATTR   = 2
	OST_CREATE    = 5
	OST_DESTROY   = 6
	OST_PUNCH     = 10
	OST_SYNC      = 16
	OST_FALLOCATE = 22
	OST_SEEK      = 23
)

var SeekWhence = Enum("seek_whence", "SEEK_", "what a seek looks for", []Value{
	{Name: "SET", Value: 0, Doc: "the offset itself"},
	{Name: "CUR", Value: 1, Doc: "from where the file is"},
	{Name: "END", Value: 2, Doc: "from the end"},
	{Name: "DATA", Value: 3, Doc: "the next data"},
	{Name: "HOLE", Value: 4, Doc: "the next hole"},
})

var FallocMode = Bits("falloc_mode", "FALLOC_FL_", "mode of a fallocate; 0 allocates", []Value{
	{Name: "KEEP_SIZE", Value: 0x1, Doc: "leave the size as it is"},
	{Name: "PUNCH_HOLE", Value: 0x2, Doc: "free the range"},
	{Name: "NO_HIDE_STALE", Value: 0x4, Doc: "old data may show"},
	{Name: "COLLAPSE_RANGE", Value: 0x8, Doc: "cut the range out"},
	{Name: "ZERO_RANGE", Value: 0x10, Doc: "make the range zero"},
	{Name: "INSERT_RANGE", Value: 0x20, Doc: "push what follows up"},
	{Name: "UNSHARE_RANGE", Value: 0x40, Doc: "give the range blocks of its own"},
})

var Ladvise = Enum("ladvise", "", "advice on a range of a file", []Value{
	{Name: "LU_LADVISE_INVALID", Value: 0x0, Doc: "none"},
	{Name: "LU_LADVISE_WILLREAD", Value: 0x1, Doc: "will be read soon"},
	{Name: "LU_LADVISE_DONTNEED", Value: 0x2, Doc: "will not be needed"},
	{Name: "LU_LADVISE_LOCKNOEXPAND", Value: 0x3, Doc: "locks are not to be grown"},
	{Name: "LU_LADVISE_LOCKAHEAD", Value: 0x4, Doc: "take this lock ahead of need"},
	{Name: "LU_LADVISE_AHEAD", Value: 0x5, Since: "2.16", Doc: "read attributes ahead"},
	{Name: "LU_LADVISE_MAX", Value: 0x6, Doc: "number of kinds; 5 through 2.15", Alias: true},
	{Name: "LAH_COUNT_MAX", Value: 0x400, Doc: "most pieces of advice in one message", Alias: true},
	{Name: "LADVISE_MAGIC", Value: 0x1adf1ce0, Doc: "magic of a ladvise_hdr"},
})

var LadviseFlags = Bits("ladvise_flags", "LF_", "how to take advice", []Value{
	{Name: "ASYNC", Value: 0x1, Doc: "do not wait for it"},
	{Name: "UNSET", Value: 0x2, Doc: "take it back"},
})

var luLadvise = &Struct{Name: "lu_ladvise", Doc: "advice on a range of a file", Fields: []*Field{
	U16("lla_advice", &Ladvise, "the advice"),
	U16("lla_value1", Harmless, "by advice; for lock-ahead the lock mode"),
	U32("lla_value2", Harmless, "flags of this piece of advice, as in lah_flags"),
	U64("lla_start", Size, "first byte"),
	U64("lla_end", Size, "end of the range"),
	U32("lla_value3", Harmless, "by advice; for lock-ahead its result"),
	U32("lla_value4", Harmless, "unused"),
}}

var ladviseHdr = &Struct{Name: "ladvise_hdr", Doc: "how much advice follows", Fields: []*Field{
	U32("lah_magic", &Ladvise, "LADVISE_MAGIC"),
	U32("lah_count", Harmless, "pieces of advice"),
	U64("lah_flags", &LadviseFlags, "how to take it"),
	U32("lah_value1", Harmless, "unused"),
	U32("lah_value2", Harmless, "unused"),
	U64("lah_value3", Harmless, "unused"),
	Subs("lah_advise", -1, &luLadvise, "the advice; on the wire it has a buffer of its own"),
}}

var _ = DefineRPC(&RPC{Opcode: OST_GETATTR, Name: "OST_GETATTR", Does: Stats | OfObject,
	Doc: "Asks for size, blocks, times and owner of an object, also for its data version.",
	Variants: []*Variant{{
		Request:          Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:            Bufs(bufPtlrpcBody, bufOstBody),
		SummarizeRequest: func(m *Msg, l *Line) { attrsOf(m, 1).object(l) }, SummarizeReply: summarizeSizeReply, Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_SETATTR, Name: "OST_SETATTR", Does: SetsAttrs | OfObject,
	Doc: "Sets times, owner, project or layout of an object, selected by o_valid. MDTs send it after a chown.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		SummarizeRequest: func(m *Msg, l *Line) {
			a := attrsOf(m, 1)
			a.object(l)
			a.sets(l)
		},
		SummarizeReply: NoSummary, Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_CREATE, Name: "OST_CREATE",
	Doc: "An MDT has objects made ahead of need, up to the id given; with DELORPHAN it has those destroyed that no file uses.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		SummarizeRequest: func(m *Msg, l *Line) {
			a := attrsOf(m, 1)
			if a.flag(ObdoFlags.Bit("DELORPHAN")) {
				l.Add(Flag, "DELORPHAN")
				l.Key("above ")
			} else {
				l.Key("up to ")
			}
			a.object(l)
		},
		SummarizeReply: func(m *Msg, l *Line) {
			l.Key("last ")
			attrsOf(m, 1).object(l)
		},
		Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_DESTROY, Name: "OST_DESTROY", Does: OfObject,
	Doc: "Destroys an object of a file that was removed, or several with consecutive ids.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufDlmReq, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		SummarizeRequest: func(m *Msg, l *Line) {
			a := attrsOf(m, 1)
			a.object(l)
			if a.valid(validCount) {
				l.Key("objects ").Num(a.word(obdo.Field("o_misc")))
			}
			l.NumIfSet("cancels ", lockCount.Uint(m.Buf(2), m.Big)) // all handles of the buffer
		},
		SummarizeReply: NoSummary, Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_PUNCH, Name: "OST_PUNCH", Does: Punches | OfObject,
	Doc: "Truncates an object, or frees a range of it.",
	Variants: []*Variant{{
		Request:          Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:            Bufs(bufPtlrpcBody, bufOstBody),
		SummarizeRequest: summarizeSpanRequest, SummarizeReply: summarizeSizeReply, Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_SYNC, Name: "OST_SYNC", Does: Syncs | OfObject,
	Doc: "Has a range of an object written to disk, or the whole target when no object is named.",
	Variants: []*Variant{{
		Request:          Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:            Bufs(bufPtlrpcBody, bufOstBody),
		SummarizeRequest: summarizeSpanRequest, SummarizeReply: NoSummary, Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_FALLOCATE, Name: "OST_FALLOCATE", Does: OfObject,
	Doc: "Allocates a range of an object, frees it or makes it zero, by the mode; since 2.15.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, bufCapa1),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		SummarizeRequest: func(m *Msg, l *Line) {
			a := attrsOf(m, 1)
			a.object(l)
			switch mode := a.word(oFallocM); {
			case mode != 0:
				l.Key("").Flags(FallocMode, mode)
			case a.reach(oFallocM):
				l.Key("").Add(Flag, "ALLOCATE")
			}
			a.span(l)
		},
		SummarizeReply: summarizeSizeReply, Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: OST_SEEK, Name: "OST_SEEK", Does: OfObject,
	Doc: "Finds the next data or the next hole in an object; since 2.15.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		SummarizeRequest: func(m *Msg, l *Line) {
			a := attrsOf(m, 1)
			a.object(l)
			if a.reach(oMode) {
				l.Key("").Value(Flag, SeekWhence, a.word(oMode))
				l.Key("from ").Offset(a.word(oSize))
			}
		},
		SummarizeReply: func(m *Msg, l *Line) {
			if a := attrsOf(m, 1); m.Status >= 0 && a.reach(oSize) {
				l.Key("at ").Offset(a.word(oSize))
			}
		},
		Subject: objectSubject,
	}}})

var _ = DefineRPC(&RPC{Opcode: 21, Name: "OST_LADVISE", Does: OfObject,
	Doc: "Tells how a range of an object will be used, from lfs ladvise.",
	Variants: []*Variant{{
		Request: Bufs(bufPtlrpcBody, bufOstBody, Sub("ladvise_hdr", &ladviseHdr, "how much advice follows"), Subs("ladvise", -1, &luLadvise, "the advice")),
		Reply:   Bufs(bufPtlrpcBody, bufOstBody),
		SummarizeRequest: func(m *Msg, l *Line) {
			attrsOf(m, 1).object(l)
			if b := m.Buf(3); len(b) >= luLadvise.Size {
				l.Key("").Add(Flag, strings.TrimPrefix(Ladvise.Name(luLadvise.Field("lla_advice").Uint(b, m.Big)), "LU_LADVISE_"))
				l.Key("from ").Offset(luLadvise.Field("lla_start").Uint(b, m.Big))
				l.Key("to ").Offset(luLadvise.Field("lla_end").Uint(b, m.Big))
			}
		},
		SummarizeReply: NoSummary, Subject: objectSubject,
	}}})

func summarizeSizeReply(m *Msg, l *Line) { attrsOf(m, 1).size(l) }

// summarizeSpanRequest is the request of an operation on a range of an object.
func summarizeSpanRequest(m *Msg, l *Line) {
	a := attrsOf(m, 1)
	a.object(l)
	a.span(l)
}

func objectSubject(m *Msg) (fid, name []byte) { return attrsOf(m, 1).file(m.Scratch[:0]), nil }
