package opcodes

// ksockHelloMsg is struct ksock_hello_msg.
var ksockHelloMsg = Define("ksock_hello_msg",
	Since("2.15"),
	U32("kshm_magic"),
	U32("kshm_version"),
	Sub("kshm_src_nid", lnetNid, "size 8 in <=2.12"),
	Sub("kshm_dst_nid", lnetNid, "offset 16 in <=2.12"),
	U32("kshm_src_pid", "offset 24 in <=2.12"),
	U32("kshm_dst_pid", "offset 28 in <=2.12"),
	U64("kshm_src_incarnation", "offset 32 in <=2.12"),
	U64("kshm_dst_incarnation", "offset 40 in <=2.12"),
	U32("kshm_ctype", "SOCKLND_CONN_*; offset 48 in <=2.12"),
	U32("kshm_nips", "offset 52 in <=2.12"),
	Arr("kshm_ips", -1, U32(""), "offset 56 in <=2.12"),
)

// ksockHelloMsgNid4 is struct ksock_hello_msg_nid4.
var ksockHelloMsgNid4 = Define("ksock_hello_msg_nid4",
	U32("kshm_magic"),
	U32("kshm_version"),
	U64("kshm_src_nid", NID4),
	U64("kshm_dst_nid", NID4),
	U32("kshm_src_pid"),
	U32("kshm_dst_pid"),
	U64("kshm_src_incarnation"),
	U64("kshm_dst_incarnation"),
	U32("kshm_ctype", "SOCKLND_CONN_*"),
	U32("kshm_nips"),
	Arr("kshm_ips", -1, U32("")),
)

// ksockMsgHdr is struct ksock_msg_hdr.
var ksockMsgHdr = Define("ksock_msg_hdr",
	U32("ksh_type", "KSOCK_MSG_*"),
	U32("ksh_csum", "0 = no checksum"),
	Arr("ksh_zc_cookies", 2, U64(""), "[0] request cookie, [1] ack cookie; NOOP uses both as ack range"),
)

// ksockMsg is struct ksock_msg.
var ksockMsg = Define("ksock_msg",
	Sub("ksm_kh", ksockMsgHdr, Since("2.15")),
	Sub("ksm_u.lnetmsg_nid4", lnetHdrNid4, Since("2.15"), "named ksm_u.lnetmsg through 2.12"),
	Sub("ksm_u.lnetmsg_nid16", lnetHdrNid16, Over("ksm_u.lnetmsg_nid4"), Since("2.15")),
)

// ksockHelloV1 is struct ksock_hello_v1.
var ksockHelloV1 = Define("ksock_hello_v1",
	U32("magic", "0xeebc0ded"),
	U16("version_major", "1"),
	U16("version_minor", "0"),
	U64("src_nid"),
	U32("dest_pid", "0"),
	U32("src_pid"),
	U32("type", "LNET_MSG_HELLO"),
	U32("payload_length", "4*number of IPs"),
	U64("hello.incarnation"),
	U32("hello.type", "SOCKLND_CONN_*"),
	Opaque("pad", 28, "rest of the command union"),
	Arr("ips", -1, U32("")),
)

// ksockMsgV2v3 is struct ksock_msg_v2v3.
var ksockMsgV2v3 = Define("ksock_msg_v2v3",
	Sub("ksm_kh", ksockMsgHdr),
	Sub("lnetmsg", lnetHdrNid4, "absent for KSOCK_MSG_NOOP"),
	Opaque("payload", 0),
)

// ksockMsgV4 is struct ksock_msg_v4.
var ksockMsgV4 = Define("ksock_msg_v4",
	Since("2.15"),
	Sub("ksm_kh", ksockMsgHdr),
	Sub("lnetmsg", lnetHdrNid16, "absent for KSOCK_MSG_NOOP"),
	Opaque("payload", 0),
)
