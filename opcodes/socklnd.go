package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

var KsockMsgType = Enum("ksock_msg_type", "KSOCK_MSG_", "messages on a TCP connection", []Value{
	{Name: "NOOP", Value: 0xc0, Doc: "no LNet message: acknowledges pages, or keeps the connection alive"},
	{Name: "LNET", Value: 0xc1, Doc: "an LNet message follows"},
})

var KsockConnType = Enum("ksock_conn_type", "SOCKLND_CONN_", "what a TCP connection is for", []Value{
	{Name: "ANY", Value: 0x0, Doc: "everything"},
	{Name: "CONTROL", Value: 0x1, Doc: "small messages"},
	{Name: "ACK", Value: 0x2, Doc: "acknowledges pages; another name of BULK_IN", Alias: true},
	{Name: "BULK_IN", Value: 0x2, Doc: "bulk data to the sender of the hello"},
	{Name: "BULK_OUT", Value: 0x3, Doc: "bulk data from the sender of the hello"},
	{Name: "NTYPES", Value: 0x4, Doc: "number of types"},
	{Name: "NONE", Value: 0xffffffff, Doc: "refuses, since both nodes connected at once"},
})

func isHello(b []byte, big bool) bool {
	return magicAt(b, 0, LnetMagic.Number("LNET_PROTO_MAGIC"), big)
}

var HelloV4 = &Struct{Name: "ksock_hello_msg", Since: "2.15", Detect: isHello,
	Doc: "greeting on a new TCP connection, from either side, in version 4 with 20-byte NIDs", Fields: []*Field{
		U32("kshm_magic", Hex, &LnetMagic, "marks the hello and the byte order of the sender"),
		U32("kshm_version", Harmless, Shown{Label: "version ", Role: Flag}, "protocol version"),
		Sub("kshm_src_nid", &LnetNid, Shown{Label: "from ", Role: Node, Wide: true}, "NID of the sender"),
		Sub("kshm_dst_nid", &LnetNid, Shown{Label: "to ", Role: Node, Wide: true}, "NID of the receiver"),
		U32("kshm_src_pid", Harmless, Remark(remarkPid), "LNet process id of the sender"),
		U32("kshm_dst_pid", Harmless, Remark(remarkPid), "LNet process id of the receiver"),
		U64("kshm_src_incarnation", Cookie, "changes when the sender's LNet starts anew"),
		U64("kshm_dst_incarnation", Cookie, "incarnation of the receiver that the sender knows, 0 when none"),
		U32("kshm_ctype", &KsockConnType, Shown{Label: "for ", Role: Flag}, "what the sender wants to use the connection for"),
		U32("kshm_nips", Harmless, "number of addresses that follow; always 0 in this version"),
		Arr("kshm_ips", -1, U32("", IPv4), CountBy("kshm_nips"), "addresses of the sender"),
	}}

var HelloV2 = &Struct{Name: "ksock_hello_msg_nid4", Detect: isHello,
	Doc: "greeting on a new TCP connection, from either side, in versions 2 and 3 with 8-byte NIDs", Fields: []*Field{
		U32("kshm_magic", Hex, &LnetMagic, "marks the hello and the byte order of the sender"),
		U32("kshm_version", Harmless, Shown{Label: "version ", Role: Flag}, "protocol version"),
		U64("kshm_src_nid", NID4, Shown{Label: "from ", Role: Node, Wide: true}, "NID of the sender"),
		U64("kshm_dst_nid", NID4, Shown{Label: "to ", Role: Node, Wide: true}, "NID of the receiver"),
		U32("kshm_src_pid", Harmless, Remark(remarkPid), "LNet process id of the sender"),
		U32("kshm_dst_pid", Harmless, Remark(remarkPid), "LNet process id of the receiver"),
		U64("kshm_src_incarnation", Cookie, "changes when the sender's LNet starts anew"),
		U64("kshm_dst_incarnation", Cookie, "incarnation of the receiver that the sender knows, 0 when none"),
		U32("kshm_ctype", &KsockConnType, Shown{Label: "for ", Role: Flag}, "what the sender wants to use the connection for"),
		U32("kshm_nips", Harmless, "number of addresses that follow; 0 since 2.15"),
		Arr("kshm_ips", -1, U32("", IPv4), CountBy("kshm_nips"), "addresses of the sender's interfaces, when it has several"),
	}}

var kshType = U32("ksh_type", &KsockMsgType, "whether an LNet message follows")

var KsockHdr = &Struct{Name: "ksock_msg_hdr", Doc: "stands before each LNet message on a TCP connection", Fields: []*Field{
	kshType,
	U32("ksh_csum", TransportSum, "CRC-32 of headers and payload in version 2, if wanted; 0 is none"),
	Arr("ksh_zc_cookies", 2, U64("", Cookie), Remark(remarkZeroCopy),
		"first: the sender requests a notification when its pages may be reused; second: that notification. A NOOP acknowledges all from the "+
			"first to the second"),
}}

// remarkZeroCopy describes the two cookies of a ksock header.
func remarkZeroCopy(v *View, dst []byte) []byte {
	const keepAlive = 1
	want, done := ReadUint(v.Rest[:8], v.Big), ReadUint(v.Rest[8:16], v.Big)
	noop := KsockMsgType.Name(v.Uint(kshType)) == "NOOP"
	switch {
	case want == 0 && done == 0:
		return dst
	case noop && want == 0 && done == keepAlive:
		return append(dst, "keep-alive"...)
	case noop && want == 0, !noop && want == 0:
		return append(dst, "acknowledges one"...)
	case noop && want < done:
		return append(dst, "acknowledges a range"...)
	case noop:
		return append(dst, "acknowledges two"...)
	case done == 0:
		return append(dst, "wants to know when its pages are free"...)
	}
	return append(dst, "acknowledges one, and wants to know when its pages are free"...)
}

var ksockMsg = &Struct{Name: "ksock_msg", Doc: "the headers of a message on a TCP connection", Fields: []*Field{
	Sub("ksm_kh", &KsockHdr, Since("2.15"), "socklnd's own header"),
	Sub("ksm_u.lnetmsg_nid4", &LNetHdr4, Since("2.15"), "LNet header in versions 2 and 3; named ksm_u.lnetmsg up to 2.12"),
	Sub("ksm_u.lnetmsg_nid16", &LNetHdr16, Over("ksm_u.lnetmsg_nid4"), Since("2.15"), "LNet header in version 4"),
}}

var helloLength = U32("payload_length", Size, "bytes of the addresses behind the header, 4 each")

var HelloV1 = &Struct{Name: "ksock_hello_v1", Order: Little,
	Doc: "greeting of socklnd version 1: an LNet header with the command HELLO", Fields: []*Field{
		U32("magic", Hex, &LnetMagic, "marks a hello of version 1"),
		U16("version_major", Harmless, Shown{Label: "version ", Role: Flag}, "1"),
		U16("version_minor", Harmless, "0"),
		U64("src_nid", NID4, Shown{Label: "from ", Role: Node, Wide: true}, "NID of the sender"),
		U32("dest_pid", Harmless, Remark(remarkPid), "0"),
		U32("src_pid", Harmless, Remark(remarkPid), "LNet process id of the sender"),
		U32("type", &LnetMsgType, "HELLO"),
		helloLength,
		Sub("hello", &lnetHello, "the command"),
		Pad("pad", 28, "the rest of the command"),
		Arr("ips", -1, U32("", IPv4), CountOf(func(v *View) int { return int(v.Uint(helloLength)&0xffff) / 4 }), "addresses of the sender's interfaces"),
	}}

var ksockMsgV2v3 = &Struct{Name: "ksock_msg_v2v3", Doc: "a message on a TCP connection in versions 2 and 3", Fields: []*Field{
	Sub("ksm_kh", &KsockHdr, "socklnd's own header"),
	Sub("lnetmsg", &LNetHdr4, "LNet header; a NOOP has none"),
	Opaque("payload", 0, "what the LNet message carries"),
}}

var ksockMsgV4 = &Struct{Name: "ksock_msg_v4", Since: "2.15", Doc: "a message on a TCP connection in version 4", Fields: []*Field{
	Sub("ksm_kh", &KsockHdr, "socklnd's own header"),
	Sub("lnetmsg", &LNetHdr16, "LNet header; a NOOP has none"),
	Opaque("payload", 0, "what the LNet message carries"),
}}
