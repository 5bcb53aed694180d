package opcodes

import (
	"slices"

	. "github.com/lshark/lshark/opcodes/schema"
)

// IBOpcode is the group ib_opcode: the high bits are the transport service, the low
// five the operation.
var IBOpcode = Enum("ib_opcode", "IB_OPCODE_", "operations of InfiniBand packets", ibOpcodes())

// ibServices are the transport services that have the usual operations.
var ibServices = []Value{
	{Name: "RC", Value: 0x00, Doc: "reliable connection"},
	{Name: "UC", Value: ibUC, Doc: "unreliable connection"},
	{Name: "RD", Value: ibRD, Doc: "reliable datagram"},
	{Name: "UD", Value: ibUD, Doc: "unreliable datagram"},
	{Name: "XRC", Value: ibXRC, Doc: "extended reliable connection"},
}

// ibOperations are the operations; a service has some of them.
var ibOperations = []Value{
	{Name: "SEND_FIRST", Value: 0x00, Doc: "first packet of a message"},
	{Name: "SEND_MIDDLE", Value: 0x01, Doc: "middle packet of a message"},
	{Name: "SEND_LAST", Value: 0x02, Doc: "last packet of a message"},
	{Name: "SEND_LAST_WITH_IMMEDIATE", Value: 0x03, Doc: "last packet of a message, with immediate data"},
	{Name: "SEND_ONLY", Value: 0x04, Doc: "a message in one packet"},
	{Name: "SEND_ONLY_WITH_IMMEDIATE", Value: 0x05, Doc: "a message in one packet, with immediate data"},
	{Name: "RDMA_WRITE_FIRST", Value: 0x06, Doc: "first packet of an RDMA write"},
	{Name: "RDMA_WRITE_MIDDLE", Value: 0x07, Doc: "middle packet of an RDMA write"},
	{Name: "RDMA_WRITE_LAST", Value: 0x08, Doc: "last packet of an RDMA write"},
	{Name: "RDMA_WRITE_LAST_WITH_IMMEDIATE", Value: 0x09, Doc: "last packet of an RDMA write, with immediate data"},
	{Name: "RDMA_WRITE_ONLY", Value: 0x0a, Doc: "an RDMA write in one packet"},
	{Name: "RDMA_WRITE_ONLY_WITH_IMMEDIATE", Value: 0x0b, Doc: "an RDMA write in one packet, with immediate data"},
	{Name: "RDMA_READ_REQUEST", Value: ibReadRequest, Doc: "requests an RDMA read"},
	{Name: "RDMA_READ_RESPONSE_FIRST", Value: 0x0d, Doc: "first packet of the data of an RDMA read"},
	{Name: "RDMA_READ_RESPONSE_MIDDLE", Value: 0x0e, Doc: "middle packet of the data of an RDMA read"},
	{Name: "RDMA_READ_RESPONSE_LAST", Value: 0x0f, Doc: "last packet of the data of an RDMA read"},
	{Name: "RDMA_READ_RESPONSE_ONLY", Value: 0x10, Doc: "the data of an RDMA read in one packet"},
	{Name: "ACKNOWLEDGE", Value: 0x11, Doc: "ACK or NAK"},
	{Name: "ATOMIC_ACKNOWLEDGE", Value: 0x12, Doc: "result of an atomic operation"},
	{Name: "COMPARE_SWAP", Value: 0x13, Doc: "atomic compare and swap"},
	{Name: "FETCH_ADD", Value: 0x14, Doc: "atomic fetch and add"},
	{Name: "RESYNC", Value: ibResync, Doc: "resynchronizes the packet sequence numbers"},
	{Name: "SEND_LAST_WITH_INVALIDATE", Value: 0x16, Doc: "last packet of a message; invalidates a remote key"},
	{Name: "SEND_ONLY_WITH_INVALIDATE", Value: 0x17, Doc: "a message in one packet; invalidates a remote key"},
	{Name: "FLUSH", Value: ibFlush, Doc: "makes earlier writes globally visible or persistent"},
	{Name: "ATOMIC_WRITE", Value: 0x1d, Doc: "atomic write of 8 bytes"},
}

// Numbers of services, and the first operations that some services do not have.
const (
	ibUC, ibRD, ibUD, ibXRC = 0x20, 0x40, 0x60, 0xa0
	ibReadRequest           = 0x0c
	ibResync                = 0x15
	ibFlush                 = 0x1c
	ibCNP                   = 0x81

	ibServiceBits, ibOperationBits = 0xe0, 0x1f
)

func ibOpcodes() []Value {
	list := make([]Value, 0, len(ibServices)*len(ibOperations)+1)
	for _, service := range ibServices {
		for _, op := range ibOperations {
			if ibHas(service.Value, op) {
				list = append(list, Value{Name: service.Name + "_" + op.Name, Value: service.Value | op.Value, Doc: op.Doc + "; " + service.Doc})
			}
		}
	}
	return append(list, Value{Name: "CNP", Value: ibCNP, Doc: "congestion notification of RoCE version 2"})
}

func ibHas(service uint64, op Value) bool {
	switch service {
	case ibUC:
		return op.Value < ibReadRequest
	case ibRD:
		return op.Value <= ibResync
	case ibUD:
		return op.Name == "SEND_ONLY" || op.Name == "SEND_ONLY_WITH_IMMEDIATE"
	case ibXRC:
		return op.Value < ibFlush && op.Value != ibResync
	}
	return op.Value != ibResync
}

var bthFlags = Bits("bth_flags", "", "flags, padding and version of an InfiniBand packet", []Value{
	{Name: "PAD_1", Value: 0x10, Mask: 0x30, Doc: "one byte of padding behind the payload"},
	{Name: "PAD_2", Value: 0x20, Mask: 0x30, Doc: "two bytes of padding behind the payload"},
	{Name: "PAD_3", Value: 0x30, Mask: 0x30, Doc: "three bytes of padding behind the payload"},
	{Name: "MIGRATED", Value: 0x40, Doc: "migration state MIGRATED, not ARMED"},
	{Name: "SOLICITED", Value: 0x80, Doc: "the receiver should raise an event"},
})

var bthECN = Bits("bth_ecn", "", "congestion bits of an InfiniBand packet", []Value{
	{Name: "BECN", Value: 0x40, Doc: "backward explicit congestion notification: packets of the other direction met congestion"},
	{Name: "FECN", Value: 0x80, Doc: "forward explicit congestion notification: this packet met congestion"},
})

var bthAck = Bits("bth_ack", "", "acknowledge request of an InfiniBand packet", []Value{
	{Name: "ACK_REQUEST", Value: 0x80, Doc: "the sender requests an acknowledgement"},
})

var aethNak = Enum("aeth_nak", "", "reasons of an InfiniBand NAK", []Value{
	{Name: "NAK_PSN_SEQUENCE_ERROR", Value: 0x60, Doc: "packets are missing: to be sent again from this number on"},
	{Name: "NAK_INVALID_REQUEST", Value: 0x61, Doc: "unsupported or invalid request"},
	{Name: "NAK_REMOTE_ACCESS_ERROR", Value: 0x62, Doc: "invalid remote key or address, or no permission"},
	{Name: "NAK_REMOTE_OPERATIONAL_ERROR", Value: 0x63, Doc: "the receiver could not complete the request"},
	{Name: "NAK_INVALID_RD_REQUEST", Value: 0x64, Doc: "invalid request of a reliable datagram"},
})

var IBReject = Enum("ib_cm_reject", "IB_CM_REJ_", "why the connection manager of InfiniBand refused a connection", []Value{
	{Name: "NO_QP", Value: 1, Doc: "no queue pair is available"},
	{Name: "NO_EEC", Value: 2, Doc: "no end-to-end context is available"},
	{Name: "NO_RESOURCES", Value: 3, Doc: "out of memory or of another resource"},
	{Name: "TIMEOUT", Value: 4, Doc: "the connection was not established in time"},
	{Name: "UNSUPPORTED", Value: 5, Doc: "the request is not supported"},
	{Name: "INVALID_COMM_ID", Value: 6, Doc: "unknown communication id"},
	{Name: "INVALID_COMM_INSTANCE", Value: 7, Doc: "unknown pair of communication ids"},
	{Name: "INVALID_SERVICE_ID", Value: 8, Doc: "no listener at the service id"},
	{Name: "INVALID_TRANSPORT_TYPE", Value: 9, Doc: "transport service not accepted"},
	{Name: "STALE_CONN", Value: 10, Doc: "the queue pair is still part of an earlier connection"},
	{Name: "RDC_NOT_EXIST", Value: 11, Doc: "no such reliable datagram channel"},
	{Name: "INVALID_GID", Value: 12, Doc: "invalid GID of the primary path"},
	{Name: "INVALID_LID", Value: 13, Doc: "invalid LID of the primary path"},
	{Name: "INVALID_SL", Value: 14, Doc: "invalid service level of the primary path"},
	{Name: "INVALID_TRAFFIC_CLASS", Value: 15, Doc: "invalid traffic class of the primary path"},
	{Name: "INVALID_HOP_LIMIT", Value: 16, Doc: "invalid hop limit of the primary path"},
	{Name: "INVALID_PACKET_RATE", Value: 17, Doc: "invalid packet rate of the primary path"},
	{Name: "INVALID_ALT_GID", Value: 18, Doc: "invalid GID of the alternate path"},
	{Name: "INVALID_ALT_LID", Value: 19, Doc: "invalid LID of the alternate path"},
	{Name: "INVALID_ALT_SL", Value: 20, Doc: "invalid service level of the alternate path"},
	{Name: "INVALID_ALT_TRAFFIC_CLASS", Value: 21, Doc: "invalid traffic class of the alternate path"},
	{Name: "INVALID_ALT_HOP_LIMIT", Value: 22, Doc: "invalid hop limit of the alternate path"},
	{Name: "INVALID_ALT_PACKET_RATE", Value: 23, Doc: "invalid packet rate of the alternate path"},
	{Name: "PORT_CM_REDIRECT", Value: 24, Doc: "redirected to another port and connection manager"},
	{Name: "PORT_REDIRECT", Value: 25, Doc: "redirected to another port"},
	{Name: "INVALID_MTU", Value: 26, Doc: "invalid path MTU"},
	{Name: "INSUFFICIENT_RESP_RESOURCES", Value: 27, Doc: "insufficient responder resources: too many RDMA reads at once"},
	{Name: "CONSUMER_DEFINED", Value: 28, Doc: "the reason is in the private data"},
	{Name: "INVALID_RNR_RETRY", Value: 29, Doc: "RNR retry count not accepted"},
	{Name: "DUPLICATE_LOCAL_COMM_ID", Value: 30, Doc: "the communication id is in use"},
	{Name: "INVALID_CLASS_VERSION", Value: 31, Doc: "class version of the connection manager not supported"},
	{Name: "INVALID_FLOW_LABEL", Value: 32, Doc: "invalid flow label of the primary path"},
	{Name: "INVALID_ALT_FLOW_LABEL", Value: 33, Doc: "invalid flow label of the alternate path"},
	{Name: "VENDOR_OPTION_NOT_SUPPORTED", Value: 35, Doc: "vendor option not supported"},
})

var bth = &Struct{Name: "bth", Order: Big,
	Doc: "base transport header, the first header of each packet above the network layer", Fields: []*Field{
		U8("bth_opcode", &IBOpcode, "service and operation"),
		U8("bth_flags", &bthFlags, "solicited event, migration state, padding, version"),
		U16("bth_pkey", Harmless, Hex, "partition key"),
		U8("bth_ecn", &bthECN, "congestion"),
		U24("bth_destqp", Harmless, Hex, "queue pair of the receiver"),
		U8("bth_ack", &bthAck, "acknowledge request"),
		U24("bth_psn", Harmless, "packet sequence number"),
	}}

var reth = &Struct{Name: "reth", Order: Big,
	Doc: "RDMA extended transport header, in the first packet of an RDMA write or read", Fields: []*Field{
		U64("reth_va", Cookie, "address in the memory of the receiver"),
		U32("reth_rkey", Harmless, Hex, "remote key of that memory"),
		U32("reth_dmalen", Size, "length of the whole write or read"),
	}}

var aeth = &Struct{Name: "aeth", Order: Big, Doc: "ACK extended transport header", Fields: []*Field{
	U8("aeth_syndrome", Hex, &aethNak, Remark(func(v *View, dst []byte) []byte {
		switch v.Value >> 5 {
		case 0:
			return append(dst, "ACK"...)
		case 1:
			return append(dst, "receiver not ready"...)
		}
		return dst
	}), "ACK with credits, RNR NAK with the time to wait, or NAK with the reason"),
	U24("aeth_msn", Harmless, "message sequence number: messages that the receiver has completed"),
}}

var deth = &Struct{Name: "deth", Order: Big, Doc: "datagram extended transport header", Fields: []*Field{
	U32("deth_qkey", Harmless, Hex, "queue key of the receiver"),
	Pad("deth_reserved", 1),
	U24("deth_srcqp", Harmless, Hex, "queue pair of the sender"),
}}

var immdt = &Struct{Name: "immdt", Order: Big, Doc: "immediate data", Fields: []*Field{
	U32("immdt_data", Harmless, Hex, "passed to the receiver with the completion"),
}}

var ieth = &Struct{Name: "ieth", Order: Big, Doc: "invalidate extended transport header", Fields: []*Field{
	U32("ieth_rkey", Harmless, Hex, "remote key that the receiver invalidates"),
}}

var IBPacket = &Struct{Name: "ib_packet",
	Doc: "headers of an InfiniBand packet above the network layer: the base transport header and the extension headers of its opcode",
	Fields: []*Field{
		Sub("bth", &bth, "base transport header"),
		Sub("deth", &deth, AfterPrevious(true), If(func(v *View) bool {
			return len(v.Struct) > 0 && v.Struct[0] != ibCNP && isDatagram(v.Struct[0])
		}), "datagram header"),
		Sub("reth", &reth, AfterPrevious(true), ibHeader("RDMA_WRITE_FIRST", "RDMA_WRITE_ONLY", "RDMA_WRITE_ONLY_WITH_IMMEDIATE",
			"RDMA_READ_REQUEST", "ATOMIC_WRITE"), "address, key and length of an RDMA write or read"),
		Sub("aeth", &aeth, AfterPrevious(true), ibHeader("RDMA_READ_RESPONSE_FIRST", "RDMA_READ_RESPONSE_LAST", "RDMA_READ_RESPONSE_ONLY",
			"ACKNOWLEDGE", "ATOMIC_ACKNOWLEDGE"), "acknowledgement"),
		Sub("immdt", &immdt, AfterPrevious(true), ibHeader("SEND_LAST_WITH_IMMEDIATE", "SEND_ONLY_WITH_IMMEDIATE", "RDMA_WRITE_LAST_WITH_IMMEDIATE",
			"RDMA_WRITE_ONLY_WITH_IMMEDIATE"), "immediate data"),
		Sub("ieth", &ieth, AfterPrevious(true), ibHeader("SEND_LAST_WITH_INVALIDATE", "SEND_ONLY_WITH_INVALIDATE"), "key that the message invalidates"),
		Sub("mad", &mad, AfterPrevious(true), If(hasMAD), "header of a management datagram"),
		Sub("cm_req", &cmReqMsg, AfterPrevious(true), If(hasCM("REQ")), "request of the connection manager"),
		Sub("cm_ip", &cmIP, AfterPrevious(true), If(func(v *View) bool { return hasCM("REQ")(v) && len(v.Struct) > 184 }), "addresses of the RDMA connection manager"),
		Sub("cm_rep", &cmRepMsg, AfterPrevious(true), If(hasCM("REP")), "answer of the connection manager"),
		Sub("cm_rej", &cmRejMsg, AfterPrevious(true), If(hasCM("REJ")), "refusal of the connection manager"),
		Sub("cm_dreq", &cmDreqMsg, AfterPrevious(true), If(hasCM("DREQ")), "end of a connection"),
		Sub("cm_drep", &cmDrepMsg, AfterPrevious(true), If(hasCM("DREP")), "answer to a cm_dreq"),
	}}

// RDMAWrite is the field of the first of the RDMA writes that carried the payload of a
// message.
var RDMAWrite = Sub("rdma_write", &IBPacket, "headers of the first packet of the RDMA writes with the payload")

// infinibandPlaces are the fields of the sections of InfiniBand that are in no struct.
func infinibandPlaces() []Place {
	places := []Place{{Field: RDMAWrite, In: "ib"}}
	for _, m := range kibLater {
		places = append(places, Place{Field: m.field, In: "o2iblnd"})
	}
	return places
}

// ibHeader is the condition of an extension header: present in packets of these operations.
func ibHeader(operations ...string) If {
	var has uint32
	for _, op := range ibOperations {
		if slices.Contains(operations, op.Name) {
			has |= 1 << op.Value
		}
	}
	return func(v *View) bool {
		return len(v.Struct) > 0 && v.Struct[0] != ibCNP && has>>(v.Struct[0]&ibOperationBits)&1 != 0
	}
}

func isDatagram(opcode uint8) bool { return opcode&ibServiceBits == ibUD }
