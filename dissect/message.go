package dissect

import (
	"github.com/lshark/lshark/lnet"
	"github.com/lshark/lshark/opcodes/schema"
)

// Message is an LNet message with what ptlrpc says about it. The Dissector
// reuses it: it and all it refers to are valid until the handler returns. Clone
// keeps one.
type Message struct {
	lnet.Message

	RPC     RPC
	Req     *RequestInfo // of a reply or a bulk: its request, when it was seen; of a request itself
	Msg     *schema.Msg  // the lustre_msg of a request or reply in the clear, its buffers told apart
	Content []byte       // bulk data put together, in the message that completed them
}
