package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// objectUpdateParam is struct object_update_param.
var objectUpdateParam = Protocol.AddStruct(newParam(chooseUpdateParam, append([]*Field{formLog, formCatids}, paramForms...)))

// newParam: the form of a parameter follows from the update, which is at
// another place in messages than in the records of distributed operations.
func newParam(choose func(*View) *Field, forms []*Field) *Struct {
	return NewStruct("object_update_param", "parameter of an update",
		U16("oup_len", Size, "bytes of the parameter"),
		Pad("oup_padding", 2),
		Pad("oup_padding2", 4),
		OneOf("oup_buf", choose, forms, Tagged(true), "the parameter; its form follows from the type of the update").Rest(),
	)
}

const (
	paramHeader  = 8
	updateHeader = 40 // bytes of struct object_update
)

// paramSize is the number of bytes that the parameter at b takes.
func paramSize(b []byte, big bool) int {
	if len(b) < 2 {
		return 0
	}
	return paramHeader + pad8(int(ReadUint(b[:2], big)))
}

// paramValue is the parameter at b, without its header.
func paramValue(b []byte, big bool) []byte {
	if len(b) < paramHeader {
		return nil
	}
	return b[paramHeader:min(len(b), paramHeader+int(ReadUint(b[:2], big)))]
}

// objectUpdate is struct object_update.
var objectUpdate = Define("object_update", "one change of an object, or one question about it",
	Brief(updateBrief),
	U16("ou_type", OutUpdateType, "what to do"),
	U16("ou_params_count", "number of parameters"),
	U32("ou_result_size", Size, "room for the answer"),
	U32("ou_flags", OutUpdateFlags),
	Pad("ou_padding1", 4),
	U64("ou_batchid", "transaction that it is part of"),
	Sub("ou_fid", luFid, "the object"),
	Records("ou_params", nextUpdateParam, []*Field{updateParam}),
)

var (
	updateParam = Sub("", objectUpdateParam)
	updateForm  = Sub("", objectUpdate)

	ouType   = Field{Size: 2}
	ouParams = Field{Off: 2, Size: 2}
	ouFid    = Field{Off: 24, Size: 16}
)

func nextUpdateParam(v *View) (*Field, int) {
	if v.Index >= int(ouParams.Uint(v.Struct, v.Big)) || len(v.Rest) < paramHeader {
		return nil, 0
	}
	return updateParam, paramSize(v.Rest, v.Big)
}

// updateSize is the number of bytes that the update at b takes.
func updateSize(b []byte, big bool) int {
	at := updateHeader
	for range ouParams.Uint(b, big) {
		if at+paramHeader > len(b) {
			return len(b)
		}
		at += paramSize(b[at:], big)
	}
	return at
}

// objectUpdateRequest is struct object_update_request.
var objectUpdateRequest = Define("object_update_request", "updates, in the order in which they are to be made",
	U32("ourq_magic", OutMagic),
	U16("ourq_count", "number of updates"),
	Pad("ourq_padding", 2),
	Arr("ourq_updates", -1, Sub("", objectUpdate), If(never), "the updates; shown as `updates`"),
	Records("updates", nextUpdate, []*Field{updateForm}),
)

var ourqCount = Field{Off: 4, Size: 2}

const updateRequestHeader = 8

func nextUpdate(v *View) (*Field, int) {
	if v.Index >= int(ourqCount.Uint(v.Struct, v.Big)) || len(v.Rest) < updateHeader {
		return nil, 0
	}
	n := updateSize(v.Rest, v.Big)
	if n >= len(v.Rest) {
		return updateForm, 0 // the last, or cut: it ends where its parameters do
	}
	return updateForm, n
}

// outUpdateHeader is struct out_update_header.
var outUpdateHeader = Define("out_update_header", "where the updates are",
	U32("ouh_magic", OutMagic),
	U32("ouh_count", "number of buffers with updates"),
	U32("ouh_inline_length", Size, "bytes of the updates that follow; 0: they come as bulk data"),
	U32("ouh_reply_size", Size, "room for the answer"),
	OneOf("ouh_inline_data", func(v *View) *Field { return formUpdates }, []*Field{formUpdates},
		If(func(v *View) bool { return ouhInline.Uint(v.Struct, v.Big) != 0 }), "the updates").Rest(),
)

var (
	formUpdates = Sub("", objectUpdateRequest)
	ouhInline   = Field{Off: 8, Size: 4}
)

const outHeaderSize = 16

// outUpdateBuffer is struct out_update_buffer.
var outUpdateBuffer = Define("out_update_buffer", "size of a buffer with updates that is to be fetched",
	U32("oub_size", Size, "its bytes"),
	Pad("oub_padding", 4),
)

// updatesBulk is the bulk data of an OUT_UPDATE that has no room for its
// updates in the request.
var updatesBulk = Define("out_update_bulk", "updates that came as bulk data",
	Records("requests", nextUpdates, []*Field{formUpdates}),
)

// nextUpdates takes the sizes of the buffers from the request.
func nextUpdates(v *View) (*Field, int) {
	if len(v.Rest) < updateRequestHeader {
		return nil, 0
	}
	if v.Msg == nil || v.Msg.Req == nil {
		return formUpdates, len(v.Rest)
	}
	sizes := v.Msg.Req.Buf(2)
	at := v.Index * outUpdateBuffer.Size
	if at+4 > len(sizes) {
		return nil, 0
	}
	n := int(ReadUint(sizes[at:at+4], v.Msg.Req.Big))
	if n == 0 {
		return nil, 0
	}
	return formUpdates, n
}

// objectUpdateResult is struct object_update_result.
var objectUpdateResult = Define("object_update_result", "what became of an update",
	S32("our_rc", Errno, "0, a negative errno, or the size of what was asked for"),
	U16("our_datalen", Size, "bytes of data"),
	Pad("our_padding", 2),
	OneOf("our_data", chooseUpdateResult, outResultForms, Tagged(true),
		If(func(v *View) bool { return ourDatalen.Uint(v.Struct, v.Big) != 0 }), "what was asked for").Rest(),
)

var (
	ourRc      = Field{Kind: Int, Size: 4}
	ourDatalen = Field{Off: 4, Size: 2}
	resultForm = Sub("", objectUpdateResult)
)

// objectUpdateReply is struct object_update_reply.
var objectUpdateReply = Define("object_update_reply", "results, in the order of the updates",
	U32("ourp_magic", OutMagic),
	U16("ourp_count", "number of results"),
	Pad("ourp_padding", 2),
	Arr("ourp_lens", -1, U16("", Size), CountBy("ourp_count"), "bytes of each result"),
	Pad("ourp_fill", 0, CountOf(func(v *View) int { n := 2 * int(ourpCount.Uint(v.Struct, v.Big)); return pad8(n) - n })),
	Records("results", nextUpdateResult, []*Field{resultForm}),
)

var ourpCount = Field{Off: 4, Size: 2}

const resultsAt = 8

// nextUpdateResult takes the length of the next result from ourp_lens.
func nextUpdateResult(v *View) (*Field, int) {
	at := resultsAt + 2*v.Index
	if v.Index >= int(ourpCount.Uint(v.Struct, v.Big)) || at+2 > len(v.Struct) || len(v.Rest) == 0 {
		return nil, 0
	}
	n := int(ReadUint(v.Struct[at:at+2], v.Big))
	if n == 0 {
		return nil, 0
	}
	return resultForm, pad8(n)
}

// outReadReply is struct out_read_reply.
var outReadReply = Define("out_read_reply", "how much an OUT_READ read", Little,
	U32("orr_size", Size, "bytes"),
	Pad("orr_padding", 4),
	U64("orr_offset", Size, "where they end"),
	Opaque("orr_data", 0, If(never), "the data; it travels as bulk data"),
)

// outReadBulk is what an OUT_READ reads: as a rule a log.
var outReadBulk = Define("out_read_data", "what was read from an object of another MDT",
	OneOf("data", chooseReadData, []*Field{formLog, formCatids, formRead}, Tagged(true)).Rest(),
)

// chooseReadData: which object was read is known from the request.
func chooseReadData(v *View) *Field {
	var fid []byte
	if v.Msg != nil {
		if u := updateAt(v.Msg.Req, 0); u != nil {
			fid = ouFid.Bytes(u)
		}
	}
	if f := logForm(fid, v.Rest, v.Big); f != paramBytes {
		return f
	}
	return formRead
}

var (
	formLog    = Sub("", llogBlock)
	formCatids = Arr("", -1, Sub("", llogCatid))
	formRead   = Opaque("", 0)
)
