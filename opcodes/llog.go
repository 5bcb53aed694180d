package opcodes

import (
	"bytes"

	. "github.com/lshark/lshark/opcodes/schema"
)

const (
	LLOG_ORIGIN_HANDLE_CREATE      = 501
	LLOG_ORIGIN_HANDLE_NEXT_BLOCK  = 502
	LLOG_ORIGIN_HANDLE_READ_HEADER = 503
	LLOG_ORIGIN_HANDLE_PREV_BLOCK  = 508
)

// LlogPrefix begins the longest names of operations, which lines on narrow
// terminals abbreviate.
const LlogPrefix = "LLOG_ORIGIN_HANDLE_"

var LlogFlags = Bits("llog_flags", "LLOG_F_", "kind of a log, and what its changelog records carry", []Value{
	{Name: "ZAP_WHEN_EMPTY", Value: 0x1, Doc: "removed with its last record"},
	{Name: "IS_CAT", Value: 0x2, Doc: "a catalog: lists plain logs"},
	{Name: "IS_PLAIN", Value: 0x4, Doc: "a plain log"},
	{Name: "EXT_JOBID", Value: 0x8, Doc: "records have job ids"},
	{Name: "IS_FIXSIZE", Value: 0x10, Doc: "all records have one size"},
	{Name: "EXT_EXTRA_FLAGS", Value: 0x20, Doc: "records have extra flags"},
	{Name: "EXT_X_UIDGID", Value: 0x40, Doc: "records have users"},
	{Name: "EXT_X_NID", Value: 0x80, Doc: "records have NIDs"},
	{Name: "EXT_X_OMODE", Value: 0x100, Doc: "records have open modes"},
	{Name: "EXT_X_XATTR", Value: 0x200, Doc: "records have names of xattrs"},
	{Name: "RM_ON_ERR", Value: 0x400, Doc: "removed when it is broken"},
	{Name: "MAX_AGE", Value: 0x800, Since: "2.16", Doc: "old records are removed"},
	{Name: "EXT_X_NID_BE", Value: 0x1000, Since: "2.16", Doc: "NIDs are large ones"},
	{Name: "UNLCK_SEM", Value: 0x2000, Since: "2.17", Doc: "the lock of the log is released while a record is processed"},
	{Name: "EXT_MASK", Value: 0x33e8, Doc: "all flags about what records carry", Alias: true},
})

var LlogCtxt = Enum("llog_ctxt", "LLOG_", "what a log is for", []Value{
	{Name: "CONFIG_ORIG_CTXT", Value: 0x0, Doc: "configuration, on the MGS"},
	{Name: "CONFIG_REPL_CTXT", Value: 0x1, Doc: "configuration, on its reader"},
	{Name: "MDS_OST_ORIG_CTXT", Value: 0x2, Doc: "objects to destroy, on the MDT"},
	{Name: "MDS_OST_REPL_CTXT", Value: 0x3, Doc: "objects to destroy, on the OST"},
	{Name: "SIZE_ORIG_CTXT", Value: 0x4},
	{Name: "SIZE_REPL_CTXT", Value: 0x5},
	{Name: "TEST_ORIG_CTXT", Value: 0x8},
	{Name: "TEST_REPL_CTXT", Value: 0x9},
	{Name: "CHANGELOG_ORIG_CTXT", Value: 0xc, Doc: "changelog, on the MDT"},
	{Name: "CHANGELOG_REPL_CTXT", Value: 0xd, Doc: "changelog, on its reader"},
	{Name: "CHANGELOG_USER_ORIG_CTXT", Value: 0xe, Doc: "readers of the changelog"},
	{Name: "AGENT_ORIG_CTXT", Value: 0xf, Doc: "HSM requests"},
	{Name: "UPDATELOG_ORIG_CTXT", Value: 0x10, Doc: "distributed operations, on the MDT"},
	{Name: "UPDATELOG_REPL_CTXT", Value: 0x11, Doc: "distributed operations, on another MDT"},
})

var llogLogid = &Struct{Name: "llog_logid", Doc: "name of a log: the object that holds it", Fields: []*Field{
	Sub("lgl_oi", &ostId, OSTIDPlain, "object id and sequence; never a FID, whatever the numbers"),
	U32("lgl_ogen", Harmless, "generation of the object; zero but for very old logs"),
}}

var llogCatid = &Struct{Name: "llog_catid", Doc: "entry of a target's list of catalogs", Fields: []*Field{
	Sub("lci_logid", &llogLogid, "the catalog"),
	Padding("lci_padding", 1, 4, 4, 4),
}}

var llogLogHdr = &Struct{Name: "llog_log_hdr", Detect: llogBig, Doc: "first block of a log", Fields: []*Field{
	Sub("llh_hdr", &llogRecHdr),
	S64("llh_timestamp", Time, "when the log was made"),
	U32("llh_count", Harmless, "records in use, this header among them"),
	llhBitmapOffset,
	U32("llh_size", Size, "bytes of a record, when all have one size"),
	U32("llh_flags", &LlogFlags, "kind of log, and what its changelog records carry"),
	U32("llh_cat_idx", Harmless, "of a plain log: its place in the catalog; of a catalog: its first log"),
	Sub("llh_tgtuuid", &obdUuid, "target that the log is of"),
	Pads("llh_reserved", 1, 4),
	Pad("llh_fill", 0, CountOf(beforeBitmap)),
	Derived("llh_used", usedIndices, "indices that the bitmap has set"),
	Arr("llh_bitmap", -1, U32("", Hex), Harmless, CountOf(bitmapWords), AfterPrevious(true), "a bit for each index that is in use"),
	Sub("llh_tail", &llogRecTail, AfterPrevious(true)),
}}

var llhBitmapOffset = U32("llh_bitmap_offset", Harmless, "where the bitmap begins")

const logHeader = 88 // bytes of struct llog_log_hdr before the bitmap

// beforeBitmap returns the bytes between the fixed part of a log header and its
// bitmap.
func beforeBitmap(v *View) int {
	offset, size := llhBitmapOffset.Uint(v.Struct, v.Big), lrhLen.Uint(v.Struct, v.Big)
	if offset < logHeader || offset+llogTail > min(size, maxLogRecord) {
		return 0
	}
	return int(offset) - logHeader
}

// bitmapWords returns the size of the bitmap of a log header, in words of 4
// bytes: it fills the header up to the tail. Headers have the size of the blocks
// of their log, 8 KiB or more.
func bitmapWords(v *View) int {
	size := int(min(lrhLen.Uint(v.Struct, v.Big), maxLogRecord))
	return max(0, size-logHeader-beforeBitmap(v)-llogTail) / 4
}

var llogCookie = &Struct{Name: "llog_cookie", Doc: "log and index of a record, to cancel it by", Fields: []*Field{
	Sub("lgc_lgl", &llogLogid, "the log"),
	U64("lgc_offset", Harmless, Over("lgc_lgl"), If(never), "the same bytes, as an offset"),
	U32("lgc_subsys", At(24), &LlogCtxt, "what the log is for"),
	U32("lgc_index", Harmless, "the record"),
	Pad("lgc_padding", 4),
}}

var llogdBody = &Struct{Name: "llogd_body", Doc: "which log, and where in it", Fields: []*Field{
	Sub("lgd_logid", &llogLogid, "the log; zero in a request that opens one by name"),
	U32("lgd_ctxt_idx", &LlogCtxt, "what the log is for"),
	U32("lgd_llh_flags", &LlogFlags, "kind of log"),
	U32("lgd_index", Harmless, "record that is wanted"),
	U32("lgd_saved_index", Harmless, "last record before the block; the server moves it on"),
	U32("lgd_len", Size, "bytes of the block"),
	U64("lgd_cur_offset", Size, "where the block begins in the log; the server moves it on"),
}}

var llogdConnBody = &Struct{Name: "llogd_conn_body", Doc: "connects the two ends of a log; no longer sent", Fields: []*Field{
	Sub("lgdc_gen", &llogGen),
	Sub("lgdc_logid", &llogLogid),
	U32("lgdc_ctxt_idx", &LlogCtxt),
}}

var bufLlogdBody = Sub("llogd_body", &llogdBody)

// IsOptionalLog reports whether a configuration log is one that a file system
// can do without: nodes try to open it at each mount.
func IsOptionalLog(name []byte) bool {
	return string(name) == "params" || bytes.HasSuffix(name, []byte("-sptlrpc"))
}

var bufLogBlock = Sub("eadata", &llogBlock, "part of the log")

var _ = DefineRPC(&RPC{Opcode: LLOG_ORIGIN_HANDLE_CREATE, Name: "LLOG_ORIGIN_HANDLE_CREATE", Variants: []*Variant{{
	Request:          Bufs(bufPtlrpcBody, bufLlogdBody, bufName, bufMdtBody),
	Reply:            Bufs(bufPtlrpcBody, bufLlogdBody),
	SummarizeRequest: summarizeLogOpenRequest,
	SummarizeReply:   summarizeLogOpenReply,
	Subject:          func(m *Msg) (fid, name []byte) { return nil, TrimNUL(m.Buf(2)) },
}},
	Doc: "Opens a log on the server, by name (a configuration on the MGS, a changelog catalog on an MDT) or by its id. " +
		"The answer is the id that the reads which follow use."})

var _ = DefineRPC(&RPC{Opcode: LLOG_ORIGIN_HANDLE_NEXT_BLOCK, Name: "LLOG_ORIGIN_HANDLE_NEXT_BLOCK", Variants: []*Variant{{
	Request:          Bufs(bufPtlrpcBody, bufLlogdBody),
	Reply:            Bufs(bufPtlrpcBody, bufLlogdBody, bufLogBlock),
	Subject:          NoSubject, // the FID is of a log
	SummarizeRequest: summarizeLogBlockRequest,
	SummarizeReply:   summarizeLogBlockReply,
}},
	Doc: "Reads the block of a log that has the wanted record, or the one behind the given position. " +
		"Mounting clients fetch their configuration with it, readers of changelogs the changes."})

var _ = DefineRPC(&RPC{Opcode: LLOG_ORIGIN_HANDLE_READ_HEADER, Name: "LLOG_ORIGIN_HANDLE_READ_HEADER", Variants: []*Variant{{
	Request:          Bufs(bufPtlrpcBody, bufLlogdBody),
	Reply:            Bufs(bufPtlrpcBody, Sub("llog_log_hdr", &llogLogHdr)),
	Subject:          NoSubject,
	SummarizeRequest: summarizeLogRequest,
	SummarizeReply:   summarizeLogHeaderReply,
}},
	Doc: "Reads the first block of a log: its kind, its flags and the bitmap of the records in use."})

var _ = DefineRPC(&RPC{Opcode: LLOG_ORIGIN_HANDLE_PREV_BLOCK, Name: "LLOG_ORIGIN_HANDLE_PREV_BLOCK", Variants: []*Variant{{
	Request:          Bufs(bufPtlrpcBody, bufLlogdBody),
	Reply:            Bufs(bufPtlrpcBody, bufLlogdBody, bufLogBlock),
	Subject:          NoSubject, // the FID is of a log
	SummarizeRequest: summarizeLogBlockRequest,
	SummarizeReply:   summarizeLogBlockReply,
}},
	Doc: "Reads the block of a log that has the wanted record, for a reader that goes backwards."})

var (
	lgdCtxt  = llogdBody.Field("lgd_ctxt_idx")
	llhCount = llogLogHdr.Field("llh_count")
	llhFlags = llogLogHdr.Field("llh_flags")
)

// llogKinds are the flags that distinguish catalogs from plain logs.
const llogKinds = 0x2 | 0x4

// summarizeLogOpenRequest: the log's name, or its id when it has none.
func summarizeLogOpenRequest(m *Msg, l *Line) {
	body := m.Buf(1)
	if name := TrimNUL(m.Buf(2)); len(name) > 0 {
		l.Label(Name, name)
	} else {
		logID(m, l)
	}
	l.Key("for ").Value(Flag, LlogCtxt, lgdCtxt.Uint(body, m.Big))
}

func logID(m *Msg, l *Line) {
	l.Text = AppendOSTID(l.Text, m.Buf(1), m.Big, true)
	l.Mark(Object)
}

func summarizeLogOpenReply(m *Msg, l *Line) {
	if m.Status >= 0 && len(m.Buf(1)) >= llogLogid.Size {
		l.Key("log ")
		logID(m, l)
	}
}

func summarizeLogRequest(m *Msg, l *Line) {
	l.Key("log ")
	logID(m, l)
}

func summarizeLogBlockRequest(m *Msg, l *Line) {
	summarizeLogRequest(m, l)
	l.Key("record ").Num(llogdBody.Field("lgd_index").Uint(m.Buf(1), m.Big))
	l.Key("at ").Offset(llogdBody.Field("lgd_cur_offset").Uint(m.Buf(1), m.Big))
}

// summarizeLogBlockReply appends the number of records of a block and the kind of the first.
func summarizeLogBlockReply(m *Msg, l *Line) {
	v := View{Rest: m.Buf(2), Big: m.Big}
	count, kind := 0, uint64(0)
	for {
		form, n := nextLogRecord(&v)
		if form == nil {
			break
		}
		if kind == 0 {
			kind = lrhType.Uint(v.Rest, llogBig(v.Rest, v.Big))
		}
		count++
		v.Rest = v.Rest[min(n, len(v.Rest)):]
	}
	if len(m.Buf(2)) == 0 {
		return
	}
	l.Key("").Count(uint64(count), "record")
	if kind != 0 {
		l.Key("").Value(Flag, LlogRecType, kind)
	}
}

func summarizeLogHeaderReply(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < llogLogHdr.Size {
		return
	}
	big := llogBig(b, m.Big)
	count := llhCount.Uint(b, big)
	l.Key("").Count(count-min(count, 1), "record") // the header counts itself
	l.Key("").Flags(LlogFlags, llhFlags.Uint(b, big)&llogKinds)
}
