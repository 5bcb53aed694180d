package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

// lnetNid is struct lnet_nid.
var lnetNid = Define("lnet_nid",
	NID,
	"address of a node on an LNet network, long enough for IPv6",
	U8("nid_size", Since("2.15"), "bytes of the address beyond the first four: 0 or 12"),
	U8("nid_type", LnetLndType, Since("2.15"), "kind of network"),
	U16("nid_num", Since("2.15"), Big, "number of the network among those of its kind"),
	Arr("nid_addr", 4, U32("", Big, Hex), Since("2.15"), Big, "the address; an IPv4 address takes the first word"),
)

var _ = Define("lnet_process_id_packed",
	"a process on a node",
	U64("nid", NID4, "the node"),
	U32("pid", Remark(remarkPid), "LNet process id"),
)

// lnetHandleWire is struct lnet_handle_wire.
var lnetHandleWire = Define("lnet_handle_wire",
	Brief(briefWireHandle),
	"names an outstanding operation on the node that made it; the peer only copies it",
	U64("wh_interface_cookie", Cookie, "incarnation of the node's LNet"),
	U64("wh_object_cookie", Cookie, "the operation"),
)

// lnetAck is struct lnet_ack.
var lnetAck = Define("lnet_ack",
	Little,
	"tells the sender of a PUT that its data were accepted",
	Sub("dst_wmd", lnetHandleWire, "ack_wmd of the PUT"),
	U64("match_bits", Cookie, "match bits of the PUT"),
	U32("mlength", Size, "bytes that the target accepted"),
)

// lnetPut is struct lnet_put.
var lnetPut = Define("lnet_put",
	Little,
	"puts data into a buffer that the target has posted on a portal",
	Sub("ack_wmd", lnetHandleWire, "copied into the ACK; all ones when none is wanted"),
	U64("match_bits", Cookie, "picks the buffer: xid of a request; xid or agreed bits for a reply; numbered bits for bulk"),
	U64("hdr_data", Cookie, "free for the sender; Lustre leaves it 0"),
	U32("ptl_index", Portal, "portal: which service or kind of reply"),
	U32("offset", Size, "where in the buffer the data go"),
)

// lnetGet is struct lnet_get.
var lnetGet = Define("lnet_get",
	Little,
	"asks for data from a buffer that the target has posted",
	Sub("return_wmd", lnetHandleWire, "copied into the REPLY"),
	U64("match_bits", Cookie, "picks the buffer"),
	U32("ptl_index", Portal, "portal of the buffer"),
	U32("src_offset", Size, "where in the buffer to begin"),
	U32("sink_length", Size, "bytes wanted"),
)

// lnetReply is struct lnet_reply.
var lnetReply = Define("lnet_reply",
	Little,
	"brings the data that a GET asked for",
	Sub("dst_wmd", lnetHandleWire, "return_wmd of the GET"),
)

// lnetHello is struct lnet_hello.
var lnetHello = Define("lnet_hello",
	Little,
	"greeting of the first version of socklnd",
	U64("incarnation", Cookie, "changes when the node starts anew"),
	U32("type", KsockConnType, "what the connection is for"),
)

// lnetCmdHdr is union lnet_cmd_hdr. The headers have its members in themselves.
var _ = Define("lnet_cmd_hdr",
	Little,
	"the command of an LNet message, by the type in the header around it",
	Sub("ack", lnetAck),
	Sub("put", lnetPut, Over("ack")),
	Sub("get", lnetGet, Over("ack")),
	Sub("reply", lnetReply, Over("ack")),
	Sub("hello", lnetHello, Over("ack")),
)

// lnetHdrNid4 is struct lnet_hdr_nid4.
var lnetHdrNid4 = Define("lnet_hdr_nid4", append(lnetHdrFields(32,
	U64("dest_nid", NID4, "node the message is for, beyond any router"),
	U64("src_nid", NID4, "node the message is from, beyond any router"),
), "header of an LNet message with 8-byte NIDs")...)

// lnetHdrNid16 is struct lnet_hdr_nid16.
var lnetHdrNid16 = Define("lnet_hdr_nid16", append(lnetHdrFields(56,
	Sub("dest_nid", lnetNid, "node the message is for, beyond any router"),
	Sub("src_nid", lnetNid, "node the message is from, beyond any router"),
), Since("2.15"), "header of an LNet message with 20-byte NIDs")...)

// lnetHdrFields are the fields of a header whose command begins at offset
// command. The members of the command stand in the header itself.
func lnetHdrFields(command int, nids ...*Field) []any {
	parts := []any{Little, nids[0], nids[1],
		U32("dest_pid", Remark(remarkPid), "LNet process id of the receiver"),
		U32("src_pid", Remark(remarkPid), "LNet process id of the sender"),
		U32("type", LnetMsgType, "the command"),
		U32("payload_length", Size, "bytes behind the header; GET and ACK have none"),
	}
	for _, m := range []struct {
		s        *Struct
		name     string
		commands []string
	}{
		{lnetPut, "ack_wmd", []string{"PUT"}},
		{lnetGet, "return_wmd", []string{"GET"}},
		{lnetAck, "dst_wmd", []string{"ACK", "REPLY"}},
		{lnetPut, "match_bits", []string{"PUT", "GET", "ACK"}},
		{lnetPut, "hdr_data", []string{"PUT"}},
		{lnetPut, "ptl_index", []string{"PUT"}},
		{lnetPut, "offset", []string{"PUT"}},
		{lnetGet, "ptl_index", []string{"GET"}},
		{lnetGet, "src_offset", []string{"GET"}},
		{lnetGet, "sink_length", []string{"GET"}},
		{lnetAck, "mlength", []string{"ACK"}},
		{lnetHello, "incarnation", []string{"HELLO"}},
	} {
		f := m.s.Field(m.name)
		parts = append(parts, f.Copy(At(command+f.Off), For("type", m.commands...)))
	}
	return parts
}

var _ = Define("lnet_magicversion",
	Little,
	"stands in place of the destination NID in the hello of socklnd version 1",
	U32("magic", Hex, LnetMagic, "kind of network"),
	U16("version_major", "protocol version"),
	U16("version_minor", "protocol version, minor part"),
)

// lnetAcceptorConnreq is struct lnet_acceptor_connreq.
var lnetAcceptorConnreq = Define("lnet_acceptor_connreq",
	Detect(isAcceptor),
	"first bytes of a connection: the address that the connecting node wants to reach",
	U32("acr_magic", Hex, LnetMagic, "marks the request and the byte order of the sender"),
	U32("acr_version", "1: 8-byte NID"),
	U64("acr_nid", NID4, "NID the connection is meant for"),
)

// lnetAcceptorConnreqV2 is struct lnet_acceptor_connreq_v2.
var lnetAcceptorConnreqV2 = Define("lnet_acceptor_connreq_v2",
	Since("2.15"),
	Detect(isAcceptor),
	"first bytes of a connection to a node with a long address",
	U32("acr_magic", Hex, LnetMagic, "marks the request and the byte order of the sender"),
	U32("acr_version", "2: 20-byte NID"),
	Sub("acr_nid", lnetNid, "NID the connection is meant for"),
)

func isAcceptor(b []byte, big bool) bool { return magicAt(b, 0, 0xacce7100, big) }

// remarkPid names the process id that all of Lustre uses.
func remarkPid(v *View, dst []byte) []byte {
	const lustre, user = 12345, 1 << 31
	if len(v.Rest) < 4 {
		return dst
	}
	switch pid := ReadUint(v.Rest[:4], v.Big); {
	case pid == lustre:
		return append(dst, "Lustre"...)
	case pid == 1<<32-1:
		return append(dst, "any"...)
	case pid&user != 0:
		return strconv.AppendUint(append(dst, "user process "...), pid&^user, 10)
	}
	return dst
}

func briefWireHandle(v *View, dst []byte) []byte {
	for _, c := range v.Struct[:min(16, len(v.Struct))] {
		if c != 0xff {
			return dst
		}
	}
	return append(dst, "none"...)
}
