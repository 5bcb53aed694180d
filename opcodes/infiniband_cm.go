package opcodes

import (
	"fmt"

	. "github.com/lshark/lshark/opcodes/schema"
)

// Messages of the connection manager of InfiniBand, by which two nodes agree on their queue
// pairs. Where numbers share a byte, a remark has those that one looks for.

var cmType = Enum("ib_cm_type", "CM_", "messages of the connection manager of InfiniBand", []Value{
	{Name: "REQ", Value: 0x10, Doc: "asks for a connection"},
	{Name: "MRA", Value: 0x11, Doc: "the answer will take a while"},
	{Name: "REJ", Value: 0x12, Doc: "refuses a connection"},
	{Name: "REP", Value: 0x13, Doc: "accepts a connection"},
	{Name: "RTU", Value: 0x14, Doc: "the connection is ready to use"},
	{Name: "DREQ", Value: 0x15, Doc: "asks to disconnect"},
	{Name: "DREP", Value: 0x16, Doc: "disconnected"},
})

var mad = &Struct{Name: "mad", Order: Big, Doc: "header of a management datagram", Fields: []*Field{
	U8("mad_base_version", Harmless, Hex, "version of the header"),
	U8("mad_class", Harmless, Hex, "management class, 7 is the connection manager"),
	U8("mad_class_version", Harmless, Hex, "version of the class"),
	U8("mad_method", Harmless, Hex, "what to do with the attribute"),
	U16("mad_status", Harmless, Hex, "status"),
	U16("mad_class_specific", Harmless, Hex, "depends on the class"),
	U64("mad_tid", Cookie, "number of the transaction"),
	U16("mad_attr_id", Hex, &cmType, "what the data are: type of the message"),
	Pad("mad_reserved", 2),
	U32("mad_attr_mod", Harmless, Hex, "modifier of the attribute"),
}}

var cmReqMsg = &Struct{Name: "cm_req", Order: Big, Doc: "asks for a connection", Fields: []*Field{
	U32("cm_local_id", Harmless, Hex, "number of the connection at the sender"),
	Pad("cm_reserved1", 4),
	U64("cm_service_id", Harmless, Hex, "service that is asked: the last 16 bits are the port of o2iblnd"),
	U64("cm_local_ca_guid", Cookie, "adapter of the sender"),
	Pad("cm_reserved2", 4),
	U32("cm_local_qkey", Harmless, Hex, "queue key of the sender"),
	U24("cm_local_qpn", Harmless, Hex, "queue pair of the sender"),
	U8("cm_responder_resources", Harmless, "RDMA reads that the sender accepts at once"),
	U24("cm_local_eecn", Harmless, Hex, "end-to-end context of the sender"),
	U8("cm_initiator_depth", Harmless, "RDMA reads that the sender wants to send at once"),
	U24("cm_remote_eecn", Harmless, Hex, "end-to-end context of the receiver"),
	U8("cm_service", Harmless, Hex,
		"time within which the receiver must answer, transport service, end-to-end flow control"),
	U24("cm_starting_psn", Harmless, "packet sequence number with which requests to the sender begin"),
	U8("cm_retry", Harmless, Hex, Remark(func(v *View, dst []byte) []byte { return fmt.Appendf(dst, "retry count %d", v.Value&7) }),
		"time within which the sender answers, and how often a packet is sent again that is not acknowledged"),
	U16("cm_pkey", Harmless, Hex, "partition key"),
	U8("cm_path_mtu", Harmless, Hex, Remark(func(v *View, dst []byte) []byte {
		if code := v.Value >> 4; code >= 1 && code <= 5 {
			dst = fmt.Appendf(dst, "MTU %d, ", 128<<code)
		}
		return fmt.Appendf(dst, "RNR retry count %d", v.Value&7)
	}), "MTU of the path, and how often a packet is sent again when the receiver was not ready"),
	U8("cm_retries", Harmless, Hex, "how often messages of the connection manager are sent again"),
	Sub("primary", &cmPath, "the path"),
	Sub("alternate", &cmPath, "the path when the first one fails"),
}}

var cmPath = &Struct{Name: "cm_path", Order: Big, Doc: "a path between two ports", Fields: []*Field{
	U16("cm_local_lid", Harmless, Hex, "LID of the sender, 0xffff on RoCE"),
	U16("cm_remote_lid", Harmless, Hex, "LID of the receiver"),
	Opaque("cm_local_gid", 16, "GID of the sender"),
	Opaque("cm_remote_gid", 16, "GID of the receiver"),
	U32("cm_flow_label", Harmless, Hex, "flow label in the upper 20 bits, packet rate in the last 6"),
	U8("cm_traffic_class", Harmless, Hex, "traffic class"),
	U8("cm_hop_limit", Harmless, "hop limit"),
	U8("cm_sl", Harmless, Hex, "service level, and whether the path stays in the subnet"),
	U8("cm_ack_timeout", Harmless, Hex, "time to wait for an acknowledgement: 4.096 µs, doubled that often"),
}}

var cmIP = &Struct{Name: "cm_ip", Order: Big, Doc: "addresses that the RDMA connection manager puts before the private data",
	Fields: []*Field{
		U8("cma_version", Harmless, Hex, "version of the header"),
		U8("cma_ip_version", Harmless, Hex, "version of IP in the upper half"),
		U16("cma_port", Harmless, "port of the sender"),
		Opaque("cma_src", 16, "address of the sender; of IPv4 the last 4 bytes"),
		Opaque("cma_dst", 16, "address of the receiver"),
	}}

var cmRepMsg = &Struct{Name: "cm_rep", Order: Big, Doc: "accepts a connection", Fields: []*Field{
	U32("cm_local_id", Harmless, Hex, "number of the connection at the sender"),
	U32("cm_remote_id", Harmless, Hex, "number of the connection at the receiver"),
	U32("cm_local_qkey", Harmless, Hex, "queue key of the sender"),
	U24("cm_local_qpn", Harmless, Hex, "queue pair of the sender"),
	Pad("cm_reserved1", 1),
	U24("cm_local_eecn", Harmless, Hex, "end-to-end context of the sender"),
	Pad("cm_reserved2", 1),
	U24("cm_starting_psn", Harmless, "packet sequence number with which requests to the sender begin"),
	Pad("cm_reserved3", 1),
	U8("cm_responder_resources", Harmless, "RDMA reads that the sender accepts at once"),
	U8("cm_initiator_depth", Harmless, "RDMA reads that the sender wants to send at once"),
	U8("cm_target_ack_delay", Harmless, Hex, "how long the sender may take to acknowledge"),
	U8("cm_rnr_retry", Harmless, Hex, Remark(func(v *View, dst []byte) []byte {
		return fmt.Appendf(dst, "RNR retry count %d", v.Value>>5)
	}), "how often a packet is sent again when the receiver was not ready"),
	U64("cm_local_ca_guid", Cookie, "adapter of the sender"),
}}

var cmRejMsg = &Struct{Name: "cm_rej", Order: Big, Doc: "refuses a connection", Fields: []*Field{
	U32("cm_local_id", Harmless, Hex, "number of the connection at the sender"),
	U32("cm_remote_id", Harmless, Hex, "number of the connection at the receiver"),
	U8("cm_rejected", Harmless, Hex, Remark(func(v *View, dst []byte) []byte {
		names := [...]string{"REQ", "REP", "another message", "reserved"}
		return append(dst, names[v.Value>>6]...)
	}), "message that is refused, in the upper 2 bits"),
	U8("cm_info_length", Harmless, Hex, "length of the additional information"),
	U16("cm_reason", &IBReject, "why"),
	Opaque("cm_info", 72, "additional information"),
}}

var cmDreqMsg = &Struct{Name: "cm_dreq", Order: Big, Doc: "asks to end a connection", Fields: []*Field{
	U32("cm_local_id", Harmless, Hex, "number of the connection at the sender"),
	U32("cm_remote_id", Harmless, Hex, "number of the connection at the receiver"),
	U24("cm_remote_qpn", Harmless, Hex, Shown{Label: "queue pair ", Role: Number}, "queue pair of the receiver"),
	Pad("cm_reserved1", 1),
}}

var cmDrepMsg = &Struct{Name: "cm_drep", Order: Big, Doc: "the connection has ended", Fields: []*Field{
	U32("cm_local_id", Harmless, Hex, "number of the connection at the sender"),
	U32("cm_remote_id", Harmless, Hex, "number of the connection at the receiver"),
}}

// hasCM returns the condition that a packet has a message of the connection manager of a type.
func hasCM(name string) If {
	const mad, attr, end = 20, 36, 44 // behind BTH and DETH
	typ := cmType.Number(name)
	return func(v *View) bool {
		b := v.Struct
		return len(b) >= end && isDatagram(b[0]) && b[mad+1] == 7 && ReadUint(b[attr:attr+2], true) == typ
	}
}

func hasMAD(v *View) bool { return len(v.Struct) > 20 && isDatagram(v.Struct[0]) }
