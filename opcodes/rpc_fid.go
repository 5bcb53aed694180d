package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var _ = DefineRPC(&RPC{Opcode: SEQ_QUERY, Name: "SEQ_QUERY", Variants: []*Variant{
	{Name: "super",
		Request: Bufs(bufPtlrpcBody, bufSeqOpc, bufSeqRange),
		Reply:   Bufs(bufPtlrpcBody, bufSeqRange),
		Ask:     func(m *Msg, l *Line) { askRange(m, l) },
		Answer:  func(m *Msg, l *Line) { addRange(m.Buf(1), m.Big, l) },
	},
	{Name: "meta",
		Request: Bufs(bufPtlrpcBody, bufSeqOpc, bufSeqRange),
		Reply:   Bufs(bufPtlrpcBody, bufSeqRange),
		Ask:     func(m *Msg, l *Line) { askRange(m, l) },
		Answer:  func(m *Msg, l *Line) { addRange(m.Buf(1), m.Big, l) },
	},
},
	Doc: "Asks for sequences, the upper part of FIDs. A server gets a super-sequence from MDT0000 to hand out itself; " +
		"a client gets one sequence (meta) from a server, under which it makes FIDs of new files.",
	Pick:  func(m *Msg) *Variant { return m.RPC.Variants[min(ReadUint(first4(m.Buf(1)), m.Big), 1)] },
	Picks: []int{4},
})

var _ = DefineRPC(&RPC{Opcode: FLD_QUERY, Name: "FLD_QUERY", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufFldOpc, bufFldRange),
	Reply:   Bufs(bufPtlrpcBody, bufFldRange),
	Ask: func(m *Msg, l *Line) {
		l.Value(Flag, FldOp, ReadUint(first4(m.Buf(1)), m.Big))
		l.Key("seq ")
		l.Hex(Object, lsrStart.Uint(m.Buf(2), m.Big))
	},
	Answer: func(m *Msg, l *Line) { addRange(m.Buf(1), m.Big, l) },
}},
	Doc: "Asks the FID location database on which target a sequence lives. The answer is the range around it and the target's index."})

var _ = DefineRPC(&RPC{Opcode: FLD_READ, Name: "FLD_READ", Variants: []*Variant{{
	Request: Bufs(bufPtlrpcBody, bufFldRange),
	Reply:   Bufs(bufPtlrpcBody, bufGenericDataLuSeqRangeArray),
	Ask: func(m *Msg, l *Line) {
		l.Key("of ")
		addTargetIndex(m.Buf(1), m.Big, l)
	},
	Answer: func(m *Msg, l *Line) {
		if len(m.Buf(1)) >= 4 {
			l.Key("")
			l.Count(ReadUint(first4(m.Buf(1)), false), "range")
		}
	},
}},
	Doc: "Reads the whole FID location database of a server, which a starting server keeps a copy of."})

var (
	lsrStart = luSeqRange.Field("lsr_start")
	lsrEnd   = luSeqRange.Field("lsr_end")
	lsrIndex = luSeqRange.Field("lsr_index")
	lsrFlags = luSeqRange.Field("lsr_flags")
)

// first4 is the first word of a buffer, or what there is of it.
func first4(b []byte) []byte { return b[:min(4, len(b))] }

func askRange(m *Msg, l *Line) {
	l.Key("for ")
	addTargetIndex(m.Buf(2), m.Big, l)
}

// addTargetIndex writes a target as its name ends: MDT0001.
func addTargetIndex(b []byte, big bool, l *Line) {
	l.Text = append(l.Text, SeqRangeType.Name(lsrFlags.Uint(b, big))...)
	index := lsrIndex.Uint(b, big)
	l.Text = AppendHexDigits(l.Text, index, 4)
	l.Mark(Node)
}

// addRange: "[0x200000400-0x240000400) MDT0000".
func addRange(b []byte, big bool, l *Line) {
	if len(b) < luSeqRange.Size || lsrEnd.Uint(b, big) == 0 {
		return
	}
	l.Key("[")
	l.Hex(Object, lsrStart.Uint(b, big))
	l.Add(Dim, "-")
	l.Hex(Object, lsrEnd.Uint(b, big))
	l.Add(Dim, ") ")
	addTargetIndex(b, big, l)
}
