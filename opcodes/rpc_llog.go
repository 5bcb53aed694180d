package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var bufLogBlock = Sub("eadata", llogBlock, "part of the log")

var _ = DefineRPC(&RPC{Opcode: LLOG_ORIGIN_HANDLE_CREATE, Name: "LLOG_ORIGIN_HANDLE_CREATE", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufLlogdBody, bufName, bufMdtBody),
	Reply:   Bufs(bufPtlrpcBody, bufLlogdBody),
	Ask:     askLogOpen,
	Answer:  answerLogOpen,
	Subject: func(m *Msg) (fid, name []byte) { return nil, TrimNUL(m.Buf(2)) },
}},
	Doc: "Opens a log on the server, by name (a configuration on the MGS, a changelog catalog on an MDT) or by its id. " +
		"The answer is the id that the reads which follow use."})

var _ = DefineRPC(&RPC{Opcode: LLOG_ORIGIN_HANDLE_NEXT_BLOCK, Name: "LLOG_ORIGIN_HANDLE_NEXT_BLOCK", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufLlogdBody),
	Reply:   Bufs(bufPtlrpcBody, bufLlogdBody, bufLogBlock),
	Ask:     askLogBlock,
	Answer:  answerLogBlock,
}},
	Doc: "Reads the block of a log that has the wanted record, or the one behind the given position. " +
		"Mounting clients fetch their configuration with it, readers of changelogs the changes."})

var _ = DefineRPC(&RPC{Opcode: LLOG_ORIGIN_HANDLE_READ_HEADER, Name: "LLOG_ORIGIN_HANDLE_READ_HEADER", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufLlogdBody),
	Reply:   Bufs(bufPtlrpcBody, bufLlogLogHdr),
	Ask:     askLog,
	Answer:  answerLogHeader,
}},
	Doc: "Reads the first block of a log: its kind, its flags and the bitmap of the records in use."})

var _ = DefineRPC(&RPC{Opcode: LLOG_ORIGIN_HANDLE_PREV_BLOCK, Name: "LLOG_ORIGIN_HANDLE_PREV_BLOCK", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufLlogdBody),
	Reply:   Bufs(bufPtlrpcBody, bufLlogdBody, bufLogBlock),
	Ask:     askLogBlock,
	Answer:  answerLogBlock,
}},
	Doc: "Reads the block of a log that has the wanted record, for a reader that goes backwards."})

var _ = DefineRPC(&RPC{Opcode: LLOG_ORIGIN_HANDLE_DESTROY, Name: "LLOG_ORIGIN_HANDLE_DESTROY", Retired: true,
	Doc: "Was meant to remove a log on the server. No release since 2.12 sends it."})

var (
	lgdCtxt   = llogdBody.Field("lgd_ctxt_idx")
	lgdIndex  = llogdBody.Field("lgd_index")
	lgdOffset = llogdBody.Field("lgd_cur_offset")
	llhCount  = llogLogHdr.Field("llh_count")
	llhFlags  = llogLogHdr.Field("llh_flags")
)

// llogKinds are the flags that say whether a log is a catalog or a plain one.
const llogKinds = 0x2 | 0x4

// askLogOpen: the log's name, or its id when it has none.
func askLogOpen(m *Msg, l *Line) {
	body := m.Buf(1)
	if name := TrimNUL(m.Buf(2)); len(name) > 0 {
		l.Label(Name, name)
	} else {
		logID(m, l)
	}
	l.Key("for ")
	l.Value(Flag, LlogCtxt, lgdCtxt.Uint(body, m.Big))
}

func logID(m *Msg, l *Line) {
	l.Text = AppendOSTID(l.Text, m.Buf(1), m.Big, true)
	l.Mark(Object)
}

func answerLogOpen(m *Msg, l *Line) {
	if m.Status >= 0 && len(m.Buf(1)) >= llogLogid.Size {
		l.Key("log ")
		logID(m, l)
	}
}

func askLog(m *Msg, l *Line) {
	l.Key("log ")
	logID(m, l)
}

func askLogBlock(m *Msg, l *Line) {
	askLog(m, l)
	l.Key("record ")
	l.Num(lgdIndex.Uint(m.Buf(1), m.Big))
	l.Key("at ")
	l.Offset(lgdOffset.Uint(m.Buf(1), m.Big))
}

// answerLogBlock counts the records of a block and says what kind the first is.
func answerLogBlock(m *Msg, l *Line) {
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
	l.Key("")
	l.Count(uint64(count), "record")
	if kind != 0 {
		l.Key("")
		l.Value(Flag, LlogRecType, kind)
	}
}

func answerLogHeader(m *Msg, l *Line) {
	b := m.Buf(1)
	if len(b) < llogLogHdr.Size {
		return
	}
	big := llogBig(b, m.Big)
	l.Key("")
	l.Count(llhCount.Uint(b, big), "record")
	l.Key("")
	l.Flags(LlogFlags, llhFlags.Uint(b, big)&llogKinds)
}
