package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// A fictitious message, declared as a real one would be: an operation, a struct
// with a word of flags, a FID and a size, and an intent. It exists in the tests of this
// package only. docs/adding-a-message.md explains it step by step.

// ToyFlags are the flags of toy_body.
var ToyFlags = Bits("toy_flags", "TOY_", "which fields of a toy_body mean something", []Value{
	{Name: "FID", Value: 0x1, Since: "2.99", Doc: "tb_fid"},
	{Name: "SIZE", Value: 0x2, Since: "2.99", Doc: "tb_size"},
})

var toyBody = &Struct{Name: "toy_body", Since: "2.99", Doc: "the object to play with, and how large it may become", Fields: []*Field{
	U64("tb_valid", &ToyFlags, "which of the fields below mean something"),
	Sub("tb_fid", &LuFid, When{"tb_valid", "FID"}, "the object"),
	U64("tb_size", Size, When{"tb_valid", "SIZE"}, "largest size of the object"),
}}

var (
	tbFid      = toyBody.Field("tb_fid")
	bufToyBody = Sub("toy_body", &toyBody)
)

var _ = DefineRPC(&RPC{Opcode: 99, Name: "MDS_TOY", Since: "2.99",
	Doc: "Plays with an object. The reply has the size that the object may have from then on.",
	Variants: []*Variant{{
		Request:          Bufs(bufPtlrpcBody, bufToyBody),
		Reply:            Bufs(bufPtlrpcBody, bufToyBody),
		SummarizeRequest: summarizeToy, SummarizeReply: summarizeToy, Subject: toySubject,
	}}})

var _ = DefineIntent(Value{Name: "TOY", Value: 0x10000, Since: "2.99", Doc: "play with an object"}, &Variant{
	Request:          Bufs(bufPtlrpcBody, bufDlmReq, bufLdlmIntent, bufToyBody),
	Reply:            Bufs(bufPtlrpcBody, bufDlmRep, bufToyBody),
	SummarizeRequest: summarizeIntentRequest(summarizeToy), SummarizeReply: summarizeToy, InnerError: intentError, Subject: toySubject,
})

// summarizeToy writes the object and its size: [0x200000401:0x1:0x0] size 4096.
func summarizeToy(m *Msg, l *Line) {
	b := m.Named("toy_body")
	l.FID(tbFid.Bytes(b), m.Big)
	if toyBody.Field("tb_valid").Uint(b, m.Big)&ToyFlags.Bit("SIZE") != 0 {
		l.Key("size ").Offset(toyBody.Field("tb_size").Uint(b, m.Big))
	}
}

func toySubject(m *Msg) (fid, name []byte) { return tbFid.Bytes(m.Named("toy_body")), nil }
