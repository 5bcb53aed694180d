package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// GnilndMsgType is the group gnilnd_msg_type. In the types with _REV the other
// side moves the data.
var GnilndMsgType = Enum("gnilnd_msg_type", "GNILND_MSG_", "messages of LNet over Cray Gemini and Aries", []Value{
	{Name: "NONE", Value: 0x0, Doc: "not in use"},
	{Name: "NOOP", Value: 0x1, Doc: "keeps the connection alive"},
	{Name: "IMMEDIATE", Value: 0x2, Doc: "a whole LNet message"},
	{Name: "PUT_REQ", Value: 0x3, Doc: "offers data"},
	{Name: "PUT_NAK", Value: 0x4, Doc: "refuses data"},
	{Name: "PUT_ACK", Value: 0x5, Doc: "describes where to write"},
	{Name: "PUT_DONE", Value: 0x6, Doc: "the data are written"},
	{Name: "GET_REQ", Value: 0x7, Doc: "requests data and describes where to write them"},
	{Name: "GET_NAK", Value: 0x8, Doc: "has no such data"},
	{Name: "GET_DONE", Value: 0x9, Doc: "the data are written"},
	{Name: "CLOSE", Value: 0xa, Doc: "ends the connection"},
	{Name: "PUT_REQ_REV", Value: 0xb, Doc: "offers data and describes where to read them"},
	{Name: "PUT_DONE_REV", Value: 0xc, Doc: "the data have been read"},
	{Name: "PUT_NAK_REV", Value: 0xd, Doc: "refuses data"},
	{Name: "GET_REQ_REV", Value: 0xe, Doc: "requests data"},
	{Name: "GET_ACK_REV", Value: 0xf, Doc: "describes where to read"},
	{Name: "GET_DONE_REV", Value: 0x10, Doc: "the data have been read"},
	{Name: "GET_NAK_REV", Value: 0x11, Doc: "has no such data"},
})

var GnilndConnreqType = Enum("gnilnd_connreq_type", "GNILND_CONNREQ_", "datagrams that set connections of gnilnd up", []Value{
	{Name: "REQ", Value: 0x1, Doc: "requests a connection"},
	{Name: "NAK", Value: 0x2, Doc: "refuses a connection"},
	{Name: "CLOSE", Value: 0x3, Doc: "ends a connection"},
})

func isGnilnd(b []byte, big bool) bool {
	return magicAt(b, 0, LnetMagic.Number("LNET_PROTO_GNI_MAGIC"), big)
}

var kgnRdmaDesc = &Struct{Name: "kgn_rdma_desc_t", Doc: "memory that the peer may read or write", Fields: []*Field{
	Opaque("gnrd_key", 16, Harmless, "memory handle of the adapter"),
	U64("gnrd_addr", Cookie, "address"),
	U32("gnrd_nob", Size, "bytes"),
}}

var kgnImmediateMsg = &Struct{Name: "kgn_immediate_msg_t", Doc: "a whole LNet message; its payload follows", Fields: []*Field{
	Sub("gnim_hdr", &LNetHdr4, "LNet header"),
}}

var kgnPutreqMsg = &Struct{Name: "kgn_putreq_msg_t",
	Doc: "offers data that are too large for one message, or requests them (GET_REQ_REV)", Fields: []*Field{
		Sub("gnprm_hdr", &LNetHdr4, "LNet header"),
		U64("gnprm_cookie", Cookie, "returned in the answer"),
	}}

var kgnPutackMsg = &Struct{Name: "kgn_putack_msg_t", Doc: "accepts an offer and describes the memory", Fields: []*Field{
	U64("gnpam_src_cookie", Cookie, "cookie of the request"),
	U64("gnpam_dst_cookie", Cookie, "returned when the transfer is complete"),
	U16("gnpam_payload_cksum", Removed, Hex, "checksum of the data, where the sender of this message has them"),
	Sub("gnpam_desc", &kgnRdmaDesc, "the memory"),
}}

var kgnGetMsg = &Struct{Name: "kgn_get_msg_t", Doc: "request for data, or offer of data, with the memory of the sender", Fields: []*Field{
	Sub("gngm_hdr", &LNetHdr4, "LNet header"),
	U64("gngm_cookie", Cookie, "returned when the transfer is complete"),
	U16("gngm_payload_cksum", Removed, Hex, "checksum of the data, where the sender of this message has them"),
	Sub("gngm_desc", &kgnRdmaDesc, "the memory"),
}}

var kgnCompletionMsg = &Struct{Name: "kgn_completion_msg_t", Doc: "ends a transfer", Fields: []*Field{
	S32("gncm_retval", Errno, "negative errno of a refusal, or bytes"),
	U64("gncm_cookie", Cookie, "the transfer"),
}}

var kgnMsg = &Struct{Name: "kgn_msg_t", Detect: isGnilnd, Doc: "a message of LNet over Cray Gemini and Aries, by gnilnd", Fields: []*Field{
	U32("gnm_magic", Hex, &LnetMagic, "magic number, in the byte order of the sender"),
	U16("gnm_version", Harmless, "protocol version"),
	U16("gnm_type", &GnilndMsgType, "type of the message"),
	U64("gnm_srcnid", NID4, "NID of the sender"),
	U64("gnm_connstamp", Cookie, "incarnation of the connection"),
	U32("gnm_seq", Harmless, "number of the message on its connection"),
	U16("gnm_cksum", Removed, Hex, "checksum over the message, 0 for none"),
	U16("gnm_payload_cksum", Removed, Hex, "checksum over the payload, 0 for none"),
	U32("gnm_payload_len", Size, "bytes of the payload"),
	Sub("immediate", &kgnImmediateMsg, IfValue{"gnm_type", "IMMEDIATE"}),
	Sub("putreq", &kgnPutreqMsg, Over("immediate"), IfValue{"gnm_type", "PUT_REQ", "GET_REQ_REV"}),
	Sub("putack", &kgnPutackMsg, Over("immediate"), IfValue{"gnm_type", "PUT_ACK", "GET_ACK_REV"}),
	Sub("get", &kgnGetMsg, Over("immediate"), IfValue{"gnm_type", "GET_REQ", "PUT_REQ_REV"}),
	Sub("completion", &kgnCompletionMsg, Over("immediate"), IfValue{"gnm_type", "PUT_NAK", "PUT_DONE", "GET_NAK", "GET_DONE",
		"PUT_DONE_REV", "PUT_NAK_REV", "GET_DONE_REV", "GET_NAK_REV"}),
}}

var kgnConnreq = &Struct{Name: "kgn_connreq_t", Detect: isGnilnd,
	Doc: "datagram that sets up, refuses or ends a connection of gnilnd; what a request has behind it depends on the adapter",
	Fields: []*Field{
		U32("gncr_magic", Hex, &LnetMagic, "magic number, in the byte order of the sender"),
		U32("gncr_cksum", Removed, Hex, "checksum, 0 for none"),
		U16("gncr_type", &GnilndConnreqType, "type of the datagram"),
		U16("gncr_version", Harmless, "protocol version"),
		U32("gncr_timeout", Harmless, "seconds after which the sender gives up the connection"),
		U64("gncr_srcnid", NID4, "NID of the sender"),
		U64("gncr_dstnid", NID4, "NID of the receiver"),
		U64("gncr_peerstamp", Cookie, "incarnation of the sender"),
		U64("gncr_connstamp", Cookie, "incarnation of the connection"),
	}}
