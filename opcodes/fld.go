package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

const (
	SEQ_QUERY = 700
	FLD_QUERY = 900
)

var SeqOp = Enum("seq_op", "SEQ_ALLOC_", "which sequences are requested", []Value{
	{Name: "SUPER", Value: 0x0, Doc: "many, for a server that hands them out"},
	{Name: "META", Value: 0x1, Doc: "one, for a client"},
})

var FldOp = Enum("fld_op", "FLD_", "operation on the FID location database", []Value{
	{Name: "CREATE", Value: 0x0},
	{Name: "DELETE", Value: 0x1},
	{Name: "LOOKUP", Value: 0x2},
})

var SeqRangeType = Enum("seq_range_type", "LU_SEQ_RANGE_", "what kind of target a range of sequences belongs to", []Value{
	{Name: "MDT", Value: 0x0},
	{Name: "OST", Value: 0x1},
	{Name: "ANY", Value: 0x3},
	{Name: "MASK", Value: 0x3, Alias: true},
})

var luSeqRange = &Struct{Name: "lu_seq_range", Doc: "range of FID sequences and the target they belong to", Fields: []*Field{
	U64("lsr_start", Cookie, Remark(startRemark), "first sequence; 0 in requests: from any"),
	U64("lsr_end", Cookie, "sequence behind the last"),
	U32("lsr_index", Harmless, "index of the MDT or OST"),
	U32("lsr_flags", &SeqRangeType, "what kind of target"),
}}

// startRemark names the first sequence of a range. A range from 0 on is one that
// is not known yet, not that of the sequence 0.
func startRemark(v *View, dst []byte) []byte {
	if v.Value == 0 {
		return dst
	}
	return append(dst, FidSeq.Name(v.Value)...)
}

var luSeqRangeArray = &Struct{Name: "lu_seq_range_array", Order: Little,
	Doc: "ranges of the FID location database, in little-endian order always", Fields: []*Field{
		U32("lsra_count", Harmless, "number of ranges"),
		Pad("lsra_padding", 4),
		Subs("lsra_lsr", -1, &luSeqRange, CountBy("lsra_count")),
	}}

var (
	bufSeqRange = Sub("seq_range", &luSeqRange)
	bufFldRange = Sub("fld_range", &luSeqRange)
)

var allocateMeta = &Variant{Name: "meta",
	Request: Bufs(bufPtlrpcBody, U32("seq_opc", &SeqOp, "what is requested"), bufSeqRange),
	Reply:   Bufs(bufPtlrpcBody, bufSeqRange),
	SummarizeRequest: func(m *Msg, l *Line) {
		l.Key("for ")
		appendTargetIndex(m.Buf(2), m.Big, l)
	},
	SummarizeReply: func(m *Msg, l *Line) { appendSequenceRange(m.Buf(1), m.Big, l) },
}

var _ = DefineRPC(&RPC{Opcode: SEQ_QUERY, Name: "SEQ_QUERY", Variants: []*Variant{allocateMeta.As("super"), allocateMeta},
	Doc: "Allocates sequences, the upper part of FIDs. A server gets a super-sequence from MDT0000 to hand out itself; " +
		"a client gets one sequence (meta) from a server, under which it makes FIDs of new files.",
	Pick:      func(m *Msg) *Variant { return m.RPC.Variants[min(ReadUint(first4(m.Buf(1)), m.Big), 1)] },
	PickBytes: []int{4},
})

var _ = DefineRPC(&RPC{Opcode: FLD_QUERY, Name: "FLD_QUERY", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, U32("fld_opc", &FldOp, "operation"), bufFldRange),
	Reply:   Bufs(bufPtlrpcBody, bufFldRange),
	SummarizeRequest: func(m *Msg, l *Line) {
		l.Value(Flag, FldOp, ReadUint(first4(m.Buf(1)), m.Big))
		l.Key("seq ").Hex(Object, lsrStart.Uint(m.Buf(2), m.Big))
	},
	SummarizeReply: func(m *Msg, l *Line) { appendSequenceRange(m.Buf(1), m.Big, l) },
}},
	Doc: "Looks up the target of a sequence in the FID location database. The reply has the range that contains it and the target's index."})

var _ = DefineRPC(&RPC{Opcode: 901, Name: "FLD_READ", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufFldRange),
	Reply:   Bufs(bufPtlrpcBody, Sub("generic_data", &luSeqRangeArray)),
	SummarizeRequest: func(m *Msg, l *Line) {
		l.Key("of ")
		appendTargetIndex(m.Buf(1), m.Big, l)
	},
	SummarizeReply: func(m *Msg, l *Line) {
		if len(m.Buf(1)) >= 4 {
			l.Key("").Count(ReadUint(first4(m.Buf(1)), false), "range")
		}
	},
}},
	Doc: "Reads the whole FID location database of a server; a starting server keeps a copy."})

var (
	lsrStart = luSeqRange.Field("lsr_start")
	lsrEnd   = luSeqRange.Field("lsr_end")
	lsrIndex = luSeqRange.Field("lsr_index")
	lsrFlags = luSeqRange.Field("lsr_flags")
)

// appendTargetIndex writes a target as its name ends: MDT0001.
func appendTargetIndex(b []byte, big bool, l *Line) {
	l.Text = append(l.Text, SeqRangeType.Name(lsrFlags.Uint(b, big))...)
	index := lsrIndex.Uint(b, big)
	l.Text = AppendHexDigits(l.Text, index, 4)
	l.Mark(Node)
}

// appendSequenceRange: "[0x200000400-0x240000400) MDT0000".
func appendSequenceRange(b []byte, big bool, l *Line) {
	if len(b) < luSeqRange.Size || lsrEnd.Uint(b, big) == 0 {
		return
	}
	l.Key("[").Hex(Object, lsrStart.Uint(b, big))
	l.Add(Dim, "-")
	l.Hex(Object, lsrEnd.Uint(b, big))
	l.Add(Dim, ") ")
	appendTargetIndex(b, big, l)
}

// QueriedSequence returns the sequence of FIDs whose target a FLD_QUERY asks for, nil if it
// was not captured.
func QueriedSequence(m *Msg) []byte {
	if b := m.Buf(2); len(b) >= 8 {
		return b[:8]
	}
	return nil
}

// AllocatedSequences returns the range of sequences in a reply to a SEQ_QUERY.
func AllocatedSequences(m *Msg) (start, end uint64, ok bool) {
	b := m.Buf(1)
	if len(b) < luSeqRange.Size {
		return 0, 0, false
	}
	return lsrStart.Uint(b, m.Big), lsrEnd.Uint(b, m.Big), lsrEnd.Uint(b, m.Big) != 0
}
