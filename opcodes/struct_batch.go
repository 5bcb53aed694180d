package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// batchUpdateRequest is struct batch_update_request.
var batchUpdateRequest = Define("batch_update_request", "requests that travel together", Since("2.16"),
	U32("burq_magic", BatchMagic),
	U16("burq_count", "number of requests"),
	Pad("burq_padding", 2),
	Arr("burq_reqmsg", -1, Sub("", lustreMsgV2), If(never), "the requests; shown as `messages`"),
	Records("messages", nextBatched, []*Field{batched}, "the requests, each a message with buffers of its own"),
)

var (
	batched    = Msgs("", "message inside a batch; lm_opc has its operation, or its result")
	batchCount = Field{Off: 4, Size: 2}
)

// nextBatched: a message knows its own length. An answer that tells of an
// error does not count the request that failed, but has its message.
func nextBatched(v *View) (*Field, int) {
	n := int(batchCount.Uint(v.Struct, v.Big))
	if v.Msg != nil && v.Msg.Reply && v.Msg.Status < 0 {
		n++
	}
	if v.Index >= n || len(v.Rest) < 32 {
		return nil, 0
	}
	return batched, 0
}

// butUpdateHeader is struct but_update_header.
var butUpdateHeader = Define("but_update_header", "where the requests of a batch are", Since("2.16"),
	U32("buh_magic", BatchMagic),
	U32("buh_count", "number of buffers with requests"),
	U32("buh_inline_length", Size, "bytes of the requests that follow; 0: they come as bulk data"),
	U32("buh_reply_size", Size, "room for the answers"),
	U32("buh_update_count", "number of requests"),
	Pad("buh_padding", 4),
	OneOf("buh_inline_data", func(v *View) *Field { return formBatch }, []*Field{formBatch},
		If(func(v *View) bool { return ouhInline.Uint(v.Struct, v.Big) != 0 }), "the requests").Rest(),
)

var formBatch = Sub("", batchUpdateRequest)

// butUpdateBuffer is struct but_update_buffer.
var butUpdateBuffer = Define("but_update_buffer", "size of a buffer with requests that is to be fetched", Since("2.16"),
	U32("bub_size", Size, "its bytes"),
	Pad("bub_padding", 4),
)

// batchBulk is the bulk data of a batch that has no room in the request.
var batchBulk = Define("but_update_bulk", "requests of a batch that came as bulk data", Since("2.16"),
	Records("requests", func(v *View) (*Field, int) {
		f, n := nextUpdates(v)
		if f != nil {
			f = formBatch
		}
		return f, n
	}, []*Field{formBatch}),
)

// batchUpdateReply is struct batch_update_reply.
var batchUpdateReply = Define("batch_update_reply", "answers to the requests of a batch", Since("2.16"),
	U32("burp_magic", BatchMagic),
	U16("burp_count", "number of answers"),
	Pad("burp_padding", 2),
	Arr("burp_repmsg", -1, Sub("", lustreMsgV2), If(never), "the answers; shown as `messages`"),
	Records("messages", nextBatched, []*Field{batched}, "the answers, each a message with buffers of its own"),
)
