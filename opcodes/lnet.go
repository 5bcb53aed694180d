package opcodes

import (
	"strconv"

	. "github.com/lshark/lshark/opcodes/schema"
)

var LnetMsgType = Enum("lnet_msg_type", "LNET_MSG_", "commands of LNet", []Value{
	{Name: "ACK", Value: 0x0, Doc: "a PUT was accepted"},
	{Name: "PUT", Value: 0x1, Doc: "brings data"},
	{Name: "GET", Value: 0x2, Doc: "requests data"},
	{Name: "REPLY", Value: 0x3, Doc: "brings what a GET asked for"},
	{Name: "HELLO", Value: 0x4, Doc: "greeting of socklnd version 1"},
})

var LnetMagic = Enum("lnet_magic", "", "magic numbers at the start of connections and messages", []Value{
	{Name: "LNET_PROTO_IB_MAGIC", Value: 0xbe91b91, Doc: "message of o2iblnd"},
	{Name: "LNET_PROTO_EFA_MAGIC", Value: 0x2be092be, Since: "2.17", Doc: "message of the EFA driver"},
	{Name: "LNET_PROTO_MAGIC", Value: 0x45726963, Doc: "hello of socklnd from version 2 on"},
	{Name: "LNET_PROTO_PING_MAGIC", Value: 0x70696e67, Doc: "answer to a ping"},
	{Name: "LNET_PROTO_ACCEPTOR_MAGIC", Value: 0xacce7100, Doc: "connection request"},
	{Name: "LNET_PROTO_GNI_MAGIC", Value: 0xb00fbabe, Doc: "message of the Cray Gemini driver"},
	{Name: "LNET_PROTO_KFI_MAGIC", Value: 0xdeadbeef, Since: "2.16", Doc: "message of the Slingshot driver"},
	{Name: "LNET_PROTO_TCP_MAGIC", Value: 0xeebc0ded, Doc: "hello of socklnd version 1"},
})

var LnetLndType = Enum("lnet_lnd_type", "", "kinds of networks", []Value{
	{Name: "SOCKLND", Value: 0x2, Doc: "TCP, written tcp"},
	{Name: "O2IBLND", Value: 0x5, Doc: "InfiniBand and RoCE, written o2ib"},
	{Name: "LOLND", Value: 0x9, Doc: "loopback, written lo"},
	{Name: "GNILND", Value: 0xd, Doc: "Cray Gemini and Aries, written gni"},
	{Name: "GNIIPLND", Value: 0xe, Doc: "Cray Gemini with IP addresses, written gip"},
	{Name: "PTL4LND", Value: 0xf, Doc: "Portals 4, written ptlf"},
	{Name: "KFILND", Value: 0x10, Since: "2.15", Doc: "Slingshot, written kfi"},
	{Name: "TOFULND", Value: 0x11, Since: "2.16", Doc: "Tofu; has no name in NIDs"},
	{Name: "EFALND", Value: 0x12, Since: "2.16", Doc: "Amazon EFA, written efa"},
	{Name: "BXI3LND", Value: 0x13, Since: "2.17", Doc: "Bull BXI 3, written bxi3f"},
})

var LnetNid = &Struct{Name: "lnet_nid", Order: Big, Atom: NID, Doc: "address of a node on an LNet network, long enough for IPv6", Fields: []*Field{
	U8("nid_size", Since("2.15"), "bytes of the address beyond the first four: 0 or 12"),
	U8("nid_type", &LnetLndType, Since("2.15"), "kind of network"),
	U16("nid_num", Since("2.15"), "number of the network among those of its kind"),
	Arr("nid_addr", 4, U32("", Hex), Since("2.15"), "the address; an IPv4 address takes the first word"),
}}

var lnetProcessIdPacked = &Struct{Name: "lnet_process_id_packed", Doc: "a process on a node", Fields: []*Field{
	U64("nid", NID4, "the node"),
	U32("pid", Harmless, Remark(remarkPid), "LNet process id"),
}}

var lnetHandleWire = &Struct{Name: "lnet_handle_wire", Summarize: briefWireHandle,
	Doc: "names an outstanding operation on the node that made it; the peer only copies it", Fields: []*Field{
		U64("wh_interface_cookie", Cookie, "incarnation of the node's LNet"),
		U64("wh_object_cookie", Cookie, "the operation"),
	}}

var lnetAck = &Struct{Name: "lnet_ack", Order: Little, Doc: "confirms to the sender of a PUT that its data were accepted", Fields: []*Field{
	Sub("dst_wmd", &lnetHandleWire, "ack_wmd of the PUT"),
	U64("match_bits", Cookie, "match bits of the PUT"),
	U32("mlength", Size, "bytes that the target accepted"),
}}

var lnetPut = &Struct{Name: "lnet_put", Order: Little,
	Doc: "puts data into a buffer that the target has posted on a portal", Fields: []*Field{
		Sub("ack_wmd", &lnetHandleWire, "copied into the ACK; all ones when none is wanted"),
		U64("match_bits", Cookie, "picks the buffer: xid of a request; xid or agreed bits for a reply; numbered bits for bulk"),
		U64("hdr_data", Cookie, "free for the sender; Lustre leaves it 0"),
		U32("ptl_index", &Portal, "portal: which service or kind of reply"),
		U32("offset", Size, "where in the buffer the data go"),
	}}

var lnetGet = &Struct{Name: "lnet_get", Order: Little, Doc: "asks for data from a buffer that the target has posted", Fields: []*Field{
	Sub("return_wmd", &lnetHandleWire, "copied into the REPLY"),
	U64("match_bits", Cookie, "picks the buffer"),
	U32("ptl_index", &Portal, "portal of the buffer"),
	U32("src_offset", Size, "where in the buffer to begin"),
	U32("sink_length", Size, "bytes wanted"),
}}

var lnetReply = &Struct{Name: "lnet_reply", Order: Little, Doc: "brings the data that a GET asked for", Fields: []*Field{
	Sub("dst_wmd", &lnetHandleWire, "return_wmd of the GET"),
}}

var lnetHello = &Struct{Name: "lnet_hello", Order: Little, Doc: "greeting of the first version of socklnd", Fields: []*Field{
	U64("incarnation", Cookie, "changes when the node starts anew"),
	U32("type", &KsockConnType, "what the connection is for"),
}}

// lnetCmdHdr is union lnet_cmd_hdr. The headers have its members in themselves.
var lnetCmdHdr = &Struct{Name: "lnet_cmd_hdr", Order: Little,
	Doc: "the command of an LNet message, by the type in the header around it", Fields: []*Field{
		Sub("ack", &lnetAck),
		Sub("put", &lnetPut, Over("ack")),
		Sub("get", &lnetGet, Over("ack")),
		Sub("reply", &lnetReply, Over("ack")),
		Sub("hello", &lnetHello, Over("ack")),
	}}

var LNetHdr4 = &Struct{Name: "lnet_hdr_nid4", Order: Little, Doc: "header of an LNet message with 8-byte NIDs", Fields: lnetHdrFields(32,
	U64("dest_nid", NID4, "node the message is for, beyond any router"),
	U64("src_nid", NID4, "node the message is from, beyond any router"),
)}

var LNetHdr16 = &Struct{Name: "lnet_hdr_nid16", Since: "2.15", Order: Little, Doc: "header of an LNet message with 20-byte NIDs",
	Fields: lnetHdrFields(56,
		Sub("dest_nid", &LnetNid, "node the message is for, beyond any router"),
		Sub("src_nid", &LnetNid, "node the message is from, beyond any router"),
	)}

// lnetHdrFields are the fields of a header whose command begins at offset
// command. The members of the command stand in the header itself.
func lnetHdrFields(command int, nids ...*Field) []*Field {
	fields := append(nids,
		U32("dest_pid", Harmless, Remark(remarkPid), "LNet process id of the receiver"),
		U32("src_pid", Harmless, Remark(remarkPid), "LNet process id of the sender"),
		U32("type", &LnetMsgType, "the command"),
		U32("payload_length", Size, "bytes behind the header; GET and ACK have none"),
	)
	for _, m := range []struct {
		s    *Struct
		name string
		when IfValue
	}{
		{lnetPut, "ack_wmd", IfValue{"type", "PUT"}},
		{lnetGet, "return_wmd", IfValue{"type", "GET"}},
		{lnetAck, "dst_wmd", IfValue{"type", "ACK", "REPLY"}},
		{lnetPut, "match_bits", IfValue{"type", "PUT", "GET", "ACK"}},
		{lnetPut, "hdr_data", IfValue{"type", "PUT"}},
		{lnetPut, "ptl_index", IfValue{"type", "PUT"}},
		{lnetPut, "offset", IfValue{"type", "PUT"}},
		{lnetGet, "ptl_index", IfValue{"type", "GET"}},
		{lnetGet, "src_offset", IfValue{"type", "GET"}},
		{lnetGet, "sink_length", IfValue{"type", "GET"}},
		{lnetAck, "mlength", IfValue{"type", "ACK"}},
		{lnetHello, "incarnation", IfValue{"type", "HELLO"}},
	} {
		f := m.s.Resolve().Field(m.name)
		fields = append(fields, f.Copy(At(command+f.Off), m.when))
	}
	return fields
}

var lnetMagicversion = &Struct{Name: "lnet_magicversion", Order: Little,
	Doc: "stands in place of the destination NID in the hello of socklnd version 1", Fields: []*Field{
		U32("magic", Hex, &LnetMagic, "kind of network"),
		U16("version_major", Harmless, Shown{Label: "version ", Role: Flag}, "protocol version"),
		U16("version_minor", Harmless, "protocol version, minor part"),
	}}

var ConnreqV1 = &Struct{Name: "lnet_acceptor_connreq", Detect: isAcceptor,
	Doc: "first bytes of a connection: the address that the connecting node wants to reach", Fields: []*Field{
		U32("acr_magic", Hex, &LnetMagic, "marks the request and the byte order of the sender"),
		U32("acr_version", Harmless, Shown{Label: "version ", Role: Flag}, "1: 8-byte NID"),
		U64("acr_nid", NID4, Shown{Label: "to ", Role: Node}, "NID of the node to connect to"),
	}}

var ConnreqV2 = &Struct{Name: "lnet_acceptor_connreq_v2", Since: "2.15", Detect: isAcceptor,
	Doc: "first bytes of a connection to a node with a long address", Fields: []*Field{
		U32("acr_magic", Hex, &LnetMagic, "marks the request and the byte order of the sender"),
		U32("acr_version", Harmless, Shown{Label: "version ", Role: Flag}, "2: 20-byte NID"),
		Sub("acr_nid", &LnetNid, Shown{Label: "to ", Role: Node}, "NID of the node to connect to"),
	}}

func isAcceptor(b []byte, big bool) bool {
	return magicAt(b, 0, LnetMagic.Number("LNET_PROTO_ACCEPTOR_MAGIC"), big)
}

// remarkPid names the process id that all of Lustre uses.
func remarkPid(v *View, dst []byte) []byte {
	const lustre, user = 12345, 1 << 31
	switch pid := v.Value; {
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

// magicAt reports whether the integers around a magic number are big-endian,
// going by which way round the magic stands at off; big when it is not there.
func magicAt(b []byte, off int, magic uint64, big bool) bool {
	if len(b) < off+4 {
		return big
	}
	switch word := b[off : off+4]; magic {
	case ReadUint(word, false):
		return false
	case ReadUint(word, true):
		return true
	}
	return big
}
