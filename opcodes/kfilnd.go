package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var KfilndMsgType = Enum("kfilnd_msg_type", "KFILND_MSG_", "messages of LNet over Slingshot", []Value{
	{Name: "INVALID", Value: 0x0, Since: "2.16", Doc: "not in use"},
	{Name: "IMMEDIATE", Value: 0x1, Since: "2.16", Doc: "a whole LNet message"},
	{Name: "BULK_PUT_REQ", Value: 0x2, Since: "2.16", Doc: "offers data, which the receiver reads from the sender's memory"},
	{Name: "BULK_GET_REQ", Value: 0x3, Since: "2.16", Doc: "requests data, which the receiver writes to the sender's memory"},
	{Name: "HELLO_REQ", Value: 0x4, Since: "2.16", Doc: "first message to a peer"},
	{Name: "HELLO_RSP", Value: 0x5, Since: "2.16", Doc: "answer to HELLO_REQ"},
})

var kfilndHelloMsg = &Struct{Name: "kfilnd_hello_msg", Since: "2.16",
	Doc: "what a node tells a peer about itself before other messages", Fields: []*Field{
		U16("version", Harmless, "newest version that it supports; in the answer the version that both use"),
		U16("rx_base", Harmless, "first receive context that the peer should send to"),
		U32("session_key", Harmless, Hex, "session with the peer; a change means that the node has restarted"),
		U16("rx_count", Harmless, "number of receive contexts that the peer may send to"),
	}}

var kfilndImmedMsg = &Struct{Name: "kfilnd_immed_msg", Since: "2.16",
	Doc: "a whole LNet message, small enough for one send", Fields: []*Field{
		Sub("hdr", &LNetHdr4, "LNet header"),
		Opaque("payload", 0, "what the LNet message carries"),
	}}

var kfilndBulkReqMsg = &Struct{Name: "kfilnd_bulk_req_msg", Since: "2.16",
	Doc: "memory that the receiver reads or writes, version 1", Fields: []*Field{
		Sub("hdr", &LNetHdr4, "LNet header"),
		U32("response_rx", Harmless, "receive context of the sender to answer to"),
		U16("key", Harmless, Hex, "key of the memory"),
	}}

var kfilndBulkReqMsgV2 = &Struct{Name: "kfilnd_bulk_req_msg_v2", Since: "2.16",
	Doc: "memory that the receiver reads or writes, version 2", Fields: []*Field{
		Sub("kbrm2_hdr", &LNetHdr4, "LNet header"),
		U32("kbrm2_response_rx", Harmless, "receive context of the sender to answer to"),
		U16("kbrm2_key", Harmless, Hex, "key of the memory"),
		U32("kbrm2_session_key", Harmless, Hex, "session with the peer"),
	}}

var (
	kfilndType    = U8("type", &KfilndMsgType, "what the message is")
	kfilndVersion = U16("version", Harmless, "protocol version")
)

// isKfilndType returns a condition that the message is of one of the types, and
// of the version unless that is 0.
func isKfilndType(version uint64, types ...string) If {
	return func(v *View) bool {
		if version != 0 && v.Uint(kfilndVersion) != version {
			return false
		}
		for _, name := range types {
			if v.Uint(kfilndType) == KfilndMsgType.Number(name) {
				return true
			}
		}
		return false
	}
}

var kfilndMsg = &Struct{Name: "kfilnd_msg", Since: "2.16", Detect: func(b []byte, big bool) bool {
	return magicAt(b, 0, LnetMagic.Number("LNET_PROTO_KFI_MAGIC"), big)
}, Doc: "a message of LNet over Slingshot, by kfilnd",
	Fields: []*Field{
		U32("magic", Hex, &LnetMagic, "marks the message and the byte order of the sender"),
		kfilndVersion,
		kfilndType,
		Pad("reserved", 1),
		U16("nob", Size, "bytes of the message"),
		U16("cksum", Removed, Hex, "checksum over the message, 0 for none"),
		U64("srcnid", NID4, "NID of the sender"),
		U64("dstnid", NID4, "NID of the receiver"),
		Sub("bulk_req_v2", &kfilndBulkReqMsgV2, If(isKfilndType(2, "BULK_PUT_REQ", "BULK_GET_REQ"))),
		Sub("immed", &kfilndImmedMsg, Over("bulk_req_v2"), If(isKfilndType(0, "IMMEDIATE"))),
		Sub("bulk_req", &kfilndBulkReqMsg, Over("bulk_req_v2"), If(isKfilndType(1, "BULK_PUT_REQ", "BULK_GET_REQ"))),
		Sub("hello", &kfilndHelloMsg, Over("bulk_req_v2"), If(isKfilndType(0, "HELLO_REQ", "HELLO_RSP"))),
	}}
