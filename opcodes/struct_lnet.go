package opcodes

// lnetNid is struct lnet_nid.
var lnetNid = Define("lnet_nid",
	NID,
	U8("nid_size", Since("2.15")),
	U8("nid_type", Since("2.15")),
	U16("nid_num", Since("2.15"), Big),
	Arr("nid_addr", 4, U32("", Big), Since("2.15"), Big),
)

// lnetProcessIdPacked is struct lnet_process_id_packed.
var lnetProcessIdPacked = Define("lnet_process_id_packed",
	U64("nid", NID4),
	U32("pid"),
)

// lnetHandleWire is struct lnet_handle_wire.
var lnetHandleWire = Define("lnet_handle_wire",
	U64("wh_interface_cookie"),
	U64("wh_object_cookie"),
)

// lnetAck is struct lnet_ack.
var lnetAck = Define("lnet_ack",
	Little,
	Sub("dst_wmd", lnetHandleWire, "handle copied from the PUT/GET"),
	U64("match_bits", "request: xid; reply: xid or reply mbits; bulk: mbits"),
	U32("mlength", "bytes accepted by the target"),
)

// lnetPut is struct lnet_put.
var lnetPut = Define("lnet_put",
	Little,
	Sub("ack_wmd", lnetHandleWire, "all ones = no ACK wanted"),
	U64("match_bits", "request: xid; reply: xid or reply mbits; bulk: mbits"),
	U64("hdr_data", "0 in Lustre"),
	U32("ptl_index", "portal number"),
	U32("offset"),
)

// lnetGet is struct lnet_get.
var lnetGet = Define("lnet_get",
	Little,
	Sub("return_wmd", lnetHandleWire, "handle the REPLY must carry"),
	U64("match_bits", "request: xid; reply: xid or reply mbits; bulk: mbits"),
	U32("ptl_index", "portal number"),
	U32("src_offset"),
	U32("sink_length", "bytes wanted"),
)

// lnetReply is struct lnet_reply.
var lnetReply = Define("lnet_reply",
	Little,
	Sub("dst_wmd", lnetHandleWire, "handle copied from the PUT/GET"),
)

// lnetHello is struct lnet_hello.
var lnetHello = Define("lnet_hello",
	Little,
	U64("incarnation"),
	U32("type"),
)

// lnetCmdHdr is union lnet_cmd_hdr.
var lnetCmdHdr = Define("lnet_cmd_hdr",
	Little,
	Sub("ack", lnetAck),
	Sub("put", lnetPut, Over("ack")),
	Sub("get", lnetGet, Over("ack")),
	Sub("reply", lnetReply, Over("ack")),
	Sub("hello", lnetHello, Over("ack")),
)

// lnetMagicversion is struct lnet_magicversion.
var lnetMagicversion = Define("lnet_magicversion",
	Little,
	U32("magic"),
	U16("version_major"),
	U16("version_minor"),
)

// lnetAcceptorConnreq is struct lnet_acceptor_connreq.
var lnetAcceptorConnreq = Define("lnet_acceptor_connreq",
	U32("acr_magic"),
	U32("acr_version"),
	U64("acr_nid"),
)

// lnetAcceptorConnreqV2 is struct lnet_acceptor_connreq_v2.
var lnetAcceptorConnreqV2 = Define("lnet_acceptor_connreq_v2",
	Since("2.15"),
	U32("acr_magic"),
	U32("acr_version"),
	Sub("acr_nid", lnetNid),
)

// lnetNiStatus is struct lnet_ni_status.
var lnetNiStatus = Define("lnet_ni_status",
	U64("ns_nid", NID4),
	U32("ns_status"),
	U32("ns_msg_size", Since("2.16"), "named ns_unused through 2.15"),
)

// lnetNiLargeStatus is struct lnet_ni_large_status.
var lnetNiLargeStatus = Define("lnet_ni_large_status",
	Since("2.16"),
	U32("ns_status"),
	Sub("ns_nid", lnetNid),
)

// lnetNidMdEntry is struct lnet_nid_md_entry.
var lnetNidMdEntry = Define("lnet_nid_md_entry",
	Since("2.17"),
	U64("nid", NID4),
	Opaque("buffer", 32),
)

// lnetNidMetadata is struct lnet_nid_metadata.
var lnetNidMetadata = Define("lnet_nid_metadata",
	Since("2.17"),
	U32("num_nid_mappings"),
	Arr("nid_mappings", -1, Sub("", lnetNidMdEntry)),
)

// lnetPingInfo is struct lnet_ping_info.
var lnetPingInfo = Define("lnet_ping_info",
	U32("pi_magic"),
	U32("pi_features"),
	U32("pi_pid"),
	U32("pi_nnis"),
	Arr("pi_ni", -1, Sub("", lnetNiStatus)),
)

// lnetHdrNid4 is struct lnet_hdr_nid4.
var lnetHdrNid4 = Define("lnet_hdr_nid4",
	Little,
	U64("dest_nid", NID4),
	U64("src_nid", NID4),
	U32("dest_pid"),
	U32("src_pid"),
	U32("type"),
	U32("payload_length", "bytes following the header; 0 for GET/ACK"),
	Sub("msg", lnetCmdHdr),
)

// lnetHdrNid16 is struct lnet_hdr_nid16.
var lnetHdrNid16 = Define("lnet_hdr_nid16",
	Since("2.15"),
	Little,
	Sub("dest_nid", lnetNid),
	Sub("src_nid", lnetNid),
	U32("dest_pid"),
	U32("src_pid"),
	U32("type"),
	U32("payload_length", "bytes following the header; 0 for GET/ACK"),
	Sub("msg", lnetCmdHdr),
)
