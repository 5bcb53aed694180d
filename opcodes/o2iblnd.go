package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var IblndMsgType = Enum("iblnd_msg_type", "IBLND_MSG_", "messages of LNet over InfiniBand or RoCE", []Value{
	{Name: "CONNREQ", Value: 0xc0, Doc: "requests a connection"},
	{Name: "CONNACK", Value: 0xc1, Doc: "accepts a connection"},
	{Name: "NOOP", Value: 0xd0, Doc: "returns credits"},
	{Name: "IMMEDIATE", Value: KibImmediate, Doc: "a whole LNet message"},
	{Name: "PUT_REQ", Value: 0xd2, Doc: "announces a PUT, or the REPLY to a GET, that needs RDMA"},
	{Name: "PUT_NAK", Value: 0xd3, Doc: "refuses a PUT_REQ"},
	{Name: "PUT_ACK", Value: 0xd4, Doc: "accepts a PUT_REQ and describes the memory to write to"},
	{Name: "PUT_DONE", Value: 0xd5, Doc: "the RDMA writes after a PUT_ACK are complete, or failed"},
	{Name: "GET_REQ", Value: KibGetReq, Doc: "a GET, with the memory to write the data to"},
	{Name: "GET_DONE", Value: 0xd7, Doc: "the RDMA writes for a GET_REQ are complete, or failed"},
})

var IblndReject = Enum("iblnd_reject", "IBLND_REJECT_", "why an InfiniBand connection was refused", []Value{
	{Name: "CONN_RACE", Value: 0x1, Doc: "both nodes connected at once, and this connection lost the race"},
	{Name: "NO_RESOURCES", Value: 0x2, Doc: "out of memory or of another resource"},
	{Name: "FATAL", Value: 0x3, Doc: "any other error"},
	{Name: "CONN_UNCOMPAT", Value: 0x4, Doc: "incompatible protocol version"},
	{Name: "CONN_STALE", Value: 0x5, Doc: "stale incarnation: the node that refuses has restarted"},
	{Name: "RDMA_FRAGS", Value: 0x6, Doc: "the numbers of RDMA fragments do not match"},
	{Name: "MSG_QUEUE_SIZE", Value: 0x7, Doc: "the queue depths do not match"},
	{Name: "INVALID_SRV_ID", Value: 0x8, Doc: "no listener at the service id"},
	{Name: "EARLY", Value: 0x9, Since: "2.16", Doc: "the interface is not ready yet"},
})

func isKib(b []byte, big bool) bool {
	return magicAt(b, 0, LnetMagic.Number("LNET_PROTO_IB_MAGIC"), big)
}

var kibConnparams = &Struct{Name: "kib_connparams",
	Doc: "parameters that the two ends of an InfiniBand connection negotiate", Fields: []*Field{
		U16("ibcp_queue_depth", Harmless, "queue depth: messages that may be in flight at once"),
		U16("ibcp_max_frags", Harmless, "RDMA fragments of one transfer, at most"),
		U32("ibcp_max_msg_size", Size, "largest message sent without RDMA"),
	}}

var kibImmediateMsg = &Struct{Name: "kib_immediate_msg", Doc: "a whole LNet message, small enough for one SEND", Fields: []*Field{
	Sub("ibim_hdr", &LNetHdr4, "LNet header"),
	Opaque("ibim_payload", 0, "payload of the LNet message"),
}}

var kibRdmaFrag = &Struct{Name: "kib_rdma_frag", Doc: "fragment of memory that the peer may write to", Fields: []*Field{
	U32("rf_nob", Size, "length"),
	U64("rf_addr", Cookie, "DMA address"),
}}

var kibRdmaDesc = &Struct{Name: "kib_rdma_desc", Doc: "memory that the peer may write to", Fields: []*Field{
	U32("rd_key", Harmless, Hex, "remote key (rkey), which the RDMA writes must carry"),
	U32("rd_nfrags", Harmless, "number of fragments"),
	Subs("rd_frags", -1, &kibRdmaFrag, CountBy("rd_nfrags"), "the fragments"),
}}

var kibPutreqMsg = &Struct{Name: "kib_putreq_msg", Doc: "announces a PUT or REPLY that is too large for one SEND", Fields: []*Field{
	Sub("ibprm_hdr", &LNetHdr4, "LNet header"),
	U64("ibprm_cookie", Cookie, "returned in the PUT_ACK or PUT_NAK"),
}}

var kibPutackMsg = &Struct{Name: "kib_putack_msg", Doc: "accepts a PUT_REQ and describes the memory to write to", Fields: []*Field{
	U64("ibpam_src_cookie", Cookie, "cookie of the PUT_REQ"),
	U64("ibpam_dst_cookie", Cookie, "returned in the PUT_DONE"),
	Sub("ibpam_rd", &kibRdmaDesc, "memory to write the data to"),
}}

var kibGetMsg = &Struct{Name: "kib_get_msg", Doc: "a GET, with the memory to write the data to", Fields: []*Field{
	Sub("ibgm_hdr", &LNetHdr4, "LNet header"),
	U64("ibgm_cookie", Cookie, "returned in the GET_DONE"),
	Sub("ibgm_rd", &kibRdmaDesc, "memory to write the data to"),
}}

var kibCompletionMsg = &Struct{Name: "kib_completion_msg", Doc: "end of a transfer, or its refusal", Fields: []*Field{
	U64("ibcm_cookie", Cookie, "cookie of the PUT_ACK or GET_REQ, in a PUT_NAK that of the PUT_REQ"),
	S32("ibcm_status", Errno, "negative errno, or number of bytes written"),
}}

// IbmType is kib_msg.ibm_type.
var IbmType = U8("ibm_type", &IblndMsgType, "type of the message")

var kibMsg = &Struct{Name: "kib_msg", Detect: isKib, Doc: "a message of LNet over InfiniBand or RoCE", Fields: []*Field{
	U32("ibm_magic", Hex, &LnetMagic, "magic number, in the byte order of the sender"),
	U16("ibm_version", Harmless, Hex, "protocol version"),
	IbmType,
	U8("ibm_credits", Harmless, "credits returned to the receiver: messages that it may send"),
	U32("ibm_nob", Size, "length of the message"),
	U32("ibm_cksum", TransportSum, Hex, "checksum over the message, 0 for none"),
	U64("ibm_srcnid", NID4, "NID of the sender"),
	U64("ibm_srcstamp", Cookie, "incarnation of the sender"),
	U64("ibm_dstnid", NID4, "NID of the receiver"),
	U64("ibm_dststamp", Cookie, "incarnation of the receiver, as far as the sender knows it"),
	Sub("connparams", &kibConnparams, IfValue{"ibm_type", "CONNREQ", "CONNACK"}, "of CONNREQ and CONNACK"),
	Sub("immediate", &kibImmediateMsg, Over("connparams"), IfValue{"ibm_type", "IMMEDIATE"}, "of IMMEDIATE"),
	Sub("putreq", &kibPutreqMsg, Over("connparams"), IfValue{"ibm_type", "PUT_REQ"}, "of PUT_REQ"),
	Sub("putack", &kibPutackMsg, Over("connparams"), IfValue{"ibm_type", "PUT_ACK"}, "of PUT_ACK"),
	Sub("get", &kibGetMsg, Over("connparams"), IfValue{"ibm_type", "GET_REQ"}, "of GET_REQ"),
	Sub("completion", &kibCompletionMsg, Over("connparams"), IfValue{"ibm_type", "PUT_NAK", "PUT_DONE", "GET_DONE"},
		"of PUT_NAK, PUT_DONE and GET_DONE"),
}}

// KibMsg is kib_msg as trees show it: the LNet header in some of the messages is a
// section of its own, and so is the payload.
var KibMsg = kibForm(func(f *Field) *Field {
	switch f.Name {
	case "immediate":
		return nil
	case "putreq", "get":
		c := f.Copy()
		c.Type = withoutFirst(f.Type)
		return c
	}
	return f.Copy()
})

// KibConnect is kib_msg of a connection request and of its answer, with the fields
// that summary lines show.
var KibConnect = kibForm(func(f *Field) *Field {
	switch f.Name {
	case "ibm_version":
		return f.Copy(Shown{Label: "version ", Role: Flag})
	}
	if f.Type != nil && f.Type != kibConnparams {
		return nil
	}
	return f.Copy()
})

// kibForm returns the form of kib_msg with the fields that change returns; nil leaves one out.
func kibForm(change func(f *Field) *Field) *Struct {
	var fields []*Field
	for _, f := range kibMsg.Resolve().Fields {
		if f = change(f); f != nil {
			fields = append(fields, f)
		}
	}
	return kibMsg.WithFields(kibMsg.Doc, fields)
}

// withoutFirst returns a form of a struct without its first field. The others keep their
// offsets.
func withoutFirst(s *Struct) *Struct {
	var fields []*Field
	for _, f := range s.Resolve().Fields[1:] {
		fields = append(fields, f.Copy(At(f.Off)))
	}
	return s.WithFields(s.Doc, fields)
}

// kibLater are the messages of a transfer after the first one. Trees show them inside
// the section of the transport.
var kibLater = [...]struct {
	typ   uint8
	field *Field
}{
	{0xd3, Sub("put_nak", &KibMsg, "the receiver refuses the payload")},
	{0xd4, Sub("put_ack", &KibMsg, "the receiver describes the memory to write the payload to")},
	{0xd5, Sub("put_done", &KibMsg, "the RDMA writes are complete, or failed")},
	{0xd7, Sub("get_done", &KibMsg, "the RDMA writes are complete, or failed")},
}

// KibLater returns the field for a message of a transfer after the first one, nil
// for other types.
func KibLater(typ uint8) *Field {
	for i := range kibLater {
		if kibLater[i].typ == typ {
			return kibLater[i].field
		}
	}
	return nil
}

// Types of messages that carry an LNet header and are shown as LNet messages.
const (
	KibImmediate = 0xd1
	KibGetReq    = 0xd6
)

var KibRej = &Struct{Name: "kib_rej", Shorter: []int{8, 16}, Detect: isKib, Doc: "reason why a connection was refused", Fields: []*Field{
	U32("ibr_magic", Hex, &LnetMagic, "magic number, in the byte order of the sender"),
	U16("ibr_version", Harmless, Hex, "protocol version of the sender"),
	U8("ibr_why", &IblndReject, Remark(func(v *View, dst []byte) []byte { return append(dst, IblndReject.DocOf(v.Value)...) }), "the reason"),
	Pad("ibr_padding", 1),
	U64("ibr_incarnation", Cookie, "incarnation of the sender"),
	Sub("ibr_cp", &kibConnparams, "parameters that the sender would accept"),
}}

// Refusal returns the name of the reason for which a connection was refused, empty when
// it is unknown, and what it means. cm is the reason of the connection manager, data are
// its private data.
func Refusal(cm uint16, data []byte) (name, doc string) {
	names, why := IBReject, uint64(cm)
	if at := KibRej.Field("ibr_why").Off; names.Name(why) == "CONSUMER_DEFINED" && len(data) > at {
		names, why = IblndReject, uint64(data[at])
	}
	return names.Name(why), names.DocOf(why)
}
