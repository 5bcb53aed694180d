package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var EfalndMsgType = Enum("efalnd_msg_type", "EFALND_MSG_", "messages of LNet over Amazon EFA", []Value{
	{Name: "RESERVED", Value: 0x0, Since: "2.17", Doc: "not in use"},
	{Name: "CONN_PROBE", Value: 0x1, Since: "2.17", Doc: "requests the protocol versions of the peer"},
	{Name: "CONN_PROBE_RESP", Value: 0x2, Since: "2.17", Doc: "answer to CONN_PROBE"},
	{Name: "CONN_REQ", Value: 0x3, Since: "2.17", Doc: "requests a connection"},
	{Name: "CONN_REQ_ACK", Value: 0x4, Since: "2.17", Doc: "answer to CONN_REQ"},
	{Name: "IMMEDIATE", Value: 0x5, Since: "2.17", Doc: "a whole LNet message"},
	{Name: "NACK", Value: 0x6, Since: "2.17", Doc: "refuses a PUTR_REQ or GETR_REQ"},
	{Name: "PUTR_REQ", Value: 0x7, Since: "2.17", Doc: "offers data, which the receiver reads"},
	{Name: "PUTR_DONE", Value: 0x8, Since: "2.17", Doc: "the data have been read"},
	{Name: "GETR_REQ", Value: 0x9, Since: "2.17", Doc: "requests data"},
	{Name: "GETR_ACK", Value: 0xa, Since: "2.17", Doc: "describes where to read the data"},
	{Name: "GETR_DONE", Value: 0xb, Since: "2.17", Doc: "the data have been read"},
})

var EfalndVersion = Enum("efalnd_version", "EFALND_PROTO_", "versions of the protocol of efalnd", []Value{
	{Name: "VER_1", Value: 0x81, Since: "2.17", Doc: "probes of connections; 8-byte NIDs"},
	{Name: "VER_2", Value: 0x82, Since: "2.17", Doc: "all messages; 20-byte NIDs"},
})

var EfalndStatus = Enum("efalnd_status", "KEFA_COMP_STATUS_", "results in messages of efalnd", []Value{
	{Name: "OK", Value: 0x0, Since: "2.17", Doc: "success"},
	{Name: "UNSUPPORTED_OP", Value: 0x1, Since: "2.17", Doc: "the peer does not know the operation"},
	{Name: "NO_MEMORY", Value: 0x2, Since: "2.17", Doc: "the peer is out of memory"},
	{Name: "GENERAL_ERROR", Value: 0x3, Since: "2.17", Doc: "another error of the peer"},
	{Name: "COMM_FAILURE", Value: 0x14, Since: "2.17", Doc: "the message could not be sent"},
	{Name: "NO_LNET_MSG", Value: 0x15, Since: "2.17", Doc: "the peer has no LNet message for it"},
	{Name: "BAD_ADDRESS", Value: 0x16, Since: "2.17", Doc: "the pages of the data could not be translated"},
	{Name: "DMA_FAILURE", Value: 0x17, Since: "2.17", Doc: "the memory could not be mapped"},
	{Name: "UNSUPPORTED_PROTO", Value: 0x18, Since: "2.17", Doc: "the peer does not know the protocol version"},
})

var kefaQPProto = &Struct{Name: "kefa_qp_proto", Since: "2.17", Doc: "a queue pair", Fields: []*Field{
	U16("qp_num", Harmless, "its number"),
	U32("qkey", Harmless, Hex, "key that its messages must have"),
}}

var kefaRdmaDesc = &Struct{Name: "kefa_rdma_desc", Since: "2.17", Doc: "memory that the peer reads", Fields: []*Field{
	U32("key", Harmless, Hex, "key of the memory"),
	U64("addr", Cookie, "address"),
	U32("nob", Size, "bytes"),
}}

var kefaImmediateMsg = &Struct{Name: "kefa_immediate_msg_v2", Since: "2.17",
	Doc: "a whole LNet message, small enough for one send", Fields: []*Field{
		Sub("hdr", &LNetHdr16, "LNet header"),
		Opaque("payload", 0, "what the LNet message carries"),
	}}

var kefaPutrReqMsg = &Struct{Name: "kefa_putr_req_msg_v2", Since: "2.17", Doc: "offers data for the peer to read", Fields: []*Field{
	Sub("hdr", &LNetHdr16, "LNet header"),
	U64("cookie", Cookie, "names the transfer"),
	Sub("rdma_desc", &kefaRdmaDesc, "where the data are"),
}}

var kefaGetrReqMsg = &Struct{Name: "kefa_getr_req_msg_v2", Since: "2.17", Doc: "requests data", Fields: []*Field{
	Sub("hdr", &LNetHdr16, "LNet header"),
	U64("sink_cookie", Cookie, "names the transfer on the node that gets the data"),
}}

var kefaGetrAckMsg = &Struct{Name: "kefa_getr_ack_msg", Since: "2.17", Doc: "describes the data that were requested", Fields: []*Field{
	U64("sink_cookie", Cookie, "names the transfer on the node that gets the data"),
	U64("src_cookie", Cookie, "names it on the node that has the data"),
	Sub("rdma_desc", &kefaRdmaDesc, "where the data are"),
}}

var kefaCompletionMsg = &Struct{Name: "kefa_completion_msg", Since: "2.17", Doc: "ends a transfer", Fields: []*Field{
	U64("cookie", Cookie, "the transfer"),
	U16("status", &EfalndStatus, "its result"),
}}

var kefaConnProbeMsg = &Struct{Name: "kefa_conn_probe_msg", Since: "2.17", Doc: "first message to a peer", Fields: []*Field{
	U16("lnd_ver", Harmless, "version of the driver"),
	Opaque("src_gid", 16, Address, "GID of the sender"),
	U64("src_epoch", Cookie, "incarnation of the sender"),
	Sub("cm_qp", &kefaQPProto, "its queue pair for messages about connections"),
	U64("caps", Harmless, Hex, "what the sender supports"),
}}

var kefaConnProbeRespMsg = &Struct{Name: "kefa_conn_probe_resp_msg", Since: "2.17", Doc: "answer to a probe", Fields: []*Field{
	U16("lnd_ver", Harmless, "version of the driver"),
	U16("status", &EfalndStatus, "result"),
	U64("src_epoch", Cookie, "incarnation of the sender"),
	U64("caps", Harmless, Hex, "what the sender supports"),
	U8("min_proto_ver", Hex, &EfalndVersion, "oldest protocol that it knows"),
	U8("max_proto_ver", Hex, &EfalndVersion, "newest protocol that it knows"),
}}

var kefaConnReqMsg = &Struct{Name: "kefa_conn_req_msg", Since: "2.17", Doc: "requests a connection", Fields: []*Field{
	U16("lnd_ver", Harmless, "version of the driver"),
	Opaque("src_gid", 16, Address, "GID of the sender"),
	U64("src_epoch", Cookie, "incarnation of the sender"),
	Sub("cm_qp", &kefaQPProto, "its queue pair for messages about connections"),
	U64("caps", Harmless, Hex, "what the sender supports"),
	Pad("reserved", 8),
	U64("requests", Harmless, Hex, "what the sender asks for"),
	U32("src_conn_id", Harmless, Hex, "id of the connection on the sender"),
	U32("nqps", Harmless, "number of queue pairs for data"),
	Subs("data_qps", -1, &kefaQPProto, CountBy("nqps"), "the queue pairs for data"),
}}

var kefaConnReqAck = &Struct{Name: "kefa_conn_req_ack", Since: "2.17", Doc: "answer to a request for a connection", Fields: []*Field{
	U16("lnd_ver", Harmless, "version of the driver"),
	U64("src_epoch", Cookie, "incarnation of the sender"),
	U64("caps", Harmless, Hex, "what the sender supports"),
	Pad("reserved", 8),
	U16("status", &EfalndStatus, "result"),
	U32("src_conn_id", Harmless, Hex, "id of the connection on the sender"),
	U32("nqps", Harmless, "number of queue pairs for data"),
	Subs("data_qps", -1, &kefaQPProto, CountBy("nqps"), "the queue pairs for data"),
}}

var kefaType = U8("type", &EfalndMsgType, "what the message is")

var kefaHdr = &Struct{Name: "kefa_hdr", Since: "2.17", Doc: "begins each message of efalnd", Fields: []*Field{
	U32("magic", Hex, &LnetMagic, "marks the message"),
	U8("proto_ver", Hex, &EfalndVersion, "protocol version"),
	kefaType,
	U16("nob", Size, "bytes of the message"),
}}

// isKefaType reports whether the kefa_hdr in front of a kefa_msg_v1 or kefa_msg_v2 has one of these types.
func isKefaType(types ...string) If {
	var mask uint64
	for _, name := range types {
		mask |= 1 << EfalndMsgType.Number(name)
	}
	return func(v *View) bool {
		kind := EfalndMsgType.Number("RESERVED")
		if v.Up != nil && len(v.Up.Struct) >= kefaHdr.Size {
			kind = kefaType.Uint(v.Up.Struct, v.Up.Big)
		}
		return mask>>kind&1 != 0
	}
}

var kefaMsgV1 = &Struct{Name: "kefa_msg_v1", Since: "2.17", Doc: "message of efalnd in version 1", Fields: []*Field{
	U64("srcnid", NID4, "NID of the sender"),
	U64("dstnid", NID4, "NID of the receiver"),
	U64("dst_epoch", Cookie, "incarnation of the receiver"),
	U32("dst_conn_id", Harmless, Hex, "id of the connection on the receiver"),
	U8("credits", Harmless, "sends that the receiver gets back"),
	Sub("conn_probe", &kefaConnProbeMsg, If(isKefaType("CONN_PROBE"))),
	Sub("conn_probe_resp", &kefaConnProbeRespMsg, Over("conn_probe"), If(isKefaType("CONN_PROBE_RESP"))),
}}

var kefaMsgV2 = &Struct{Name: "kefa_msg_v2", Since: "2.17", Doc: "message of efalnd in version 2", Fields: []*Field{
	Sub("srcnid", &LnetNid, "NID of the sender"),
	Sub("dstnid", &LnetNid, "NID of the receiver"),
	U64("dst_epoch", Cookie, "incarnation of the receiver"),
	U32("dst_conn_id", Harmless, Hex, "id of the connection on the receiver"),
	U8("credits", Harmless, "sends that the receiver gets back"),
	Sub("putr_req", &kefaPutrReqMsg, If(isKefaType("PUTR_REQ"))),
	Sub("immediate", &kefaImmediateMsg, Over("putr_req"), If(isKefaType("IMMEDIATE"))),
	Sub("getr_req", &kefaGetrReqMsg, Over("putr_req"), If(isKefaType("GETR_REQ"))),
	Sub("getr_ack", &kefaGetrAckMsg, Over("putr_req"), If(isKefaType("GETR_ACK"))),
	Sub("completion", &kefaCompletionMsg, Over("putr_req"), If(isKefaType("NACK", "PUTR_DONE", "GETR_DONE"))),
	Sub("conn_probe", &kefaConnProbeMsg, Over("putr_req"), If(isKefaType("CONN_PROBE"))),
	Sub("conn_probe_resp", &kefaConnProbeRespMsg, Over("putr_req"), If(isKefaType("CONN_PROBE_RESP"))),
	Sub("conn_request", &kefaConnReqMsg, Over("putr_req"), If(isKefaType("CONN_REQ"))),
	Sub("conn_request_ack", &kefaConnReqAck, Over("putr_req"), If(isKefaType("CONN_REQ_ACK"))),
}}

func isKefaVersion(version string) If {
	number := EfalndVersion.Number(version)
	return func(v *View) bool { return len(v.Struct) >= kefaHdr.Size && uint64(v.Struct[4]) == number }
}

var kefaMsg = &Struct{Name: "kefa_msg", Since: "2.17", Doc: "a message of LNet over Amazon EFA, by efalnd", Fields: []*Field{
	Sub("hdr", &kefaHdr, "what and how long the message is"),
	Sub("msg_v1", &kefaMsgV1, If(isKefaVersion("VER_1"))),
	Sub("msg_v2", &kefaMsgV2, Over("msg_v1"), If(isKefaVersion("VER_2"))),
}}
