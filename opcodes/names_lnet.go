package opcodes

// LnetMsgType is the group lnet_msg_type.
var LnetMsgType = Enum("lnet_msg_type", "LNET_MSG_", "", []Value{
	{Name: "ACK", Value: 0x0, Doc: "acknowledges a PUT"},
	{Name: "PUT", Value: 0x1, Doc: "data pushed to a portal/match entry"},
	{Name: "GET", Value: 0x2, Doc: "data pull; answered by REPLY"},
	{Name: "REPLY", Value: 0x3, Doc: "data for a GET"},
	{Name: "HELLO", Value: 0x4, Doc: "only in v1 socklnd hello"},
})

// LnetMagic is the group lnet_magic.
var LnetMagic = Enum("lnet_magic", "LNET_PROTO_", "", []Value{
	{Name: "IB_MAGIC", Value: 0xbe91b91, Doc: "o2iblnd message magic"},
	{Name: "EFA_MAGIC", Value: 0x2be092be, Since: "2.17"},
	{Name: "MAGIC", Value: 0x45726963, Doc: "v2-v4 hello"},
	{Name: "PING_MAGIC", Value: 0x70696e67},
	{Name: "ACCEPTOR_MAGIC", Value: 0xacce7100},
	{Name: "GNI_MAGIC", Value: 0xb00fbabe},
	{Name: "KFI_MAGIC", Value: 0xdeadbeef, Since: "2.16"},
	{Name: "TCP_MAGIC", Value: 0xeebc0ded, Doc: "v1 hello only"},
})

// LnetVersion is the group lnet_version.
var LnetVersion = Enum("lnet_version", "LNET_PROTO_", "", []Value{
	{Name: "TCP_VERSION_MINOR", Value: 0x0},
	{Name: "ACCEPTOR_VERSION", Value: 0x1},
	{Name: "TCP_VERSION_MAJOR", Value: 0x1, Alias: true},
	{Name: "ACCEPTOR_VERSION_16", Value: 0x2, Since: "2.15"},
})

// LnetLndType is the group lnet_lnd_type.
var LnetLndType = Enum("lnet_lnd_type", "", "", []Value{
	{Name: "SOCKLND", Value: 0x2, Doc: "text tcp"},
	{Name: "O2IBLND", Value: 0x5, Doc: "text o2ib"},
	{Name: "LOLND", Value: 0x9, Doc: "text lo"},
	{Name: "GNILND", Value: 0xd, Doc: "text gni"},
	{Name: "GNIIPLND", Value: 0xe, Doc: "text gip"},
	{Name: "PTL4LND", Value: 0xf, Doc: "text ptlf"},
	{Name: "KFILND", Value: 0x10, Since: "2.15", Doc: "text kfi"},
	{Name: "TOFULND", Value: 0x11, Since: "2.16", Doc: "no text name"},
	{Name: "EFALND", Value: 0x12, Since: "2.16", Doc: "text efa"},
	{Name: "BXI3LND", Value: 0x13, Since: "2.17", Doc: "text bxi3f"},
})

// LnetNiStatus is the group lnet_ni_status.
var LnetNiStatus = Enum("lnet_ni_status", "LNET_NI_STATUS_", "", []Value{
	{Name: "INVALID", Value: 0x0},
	{Name: "UP", Value: 0x15aac0de},
	{Name: "DOWN", Value: 0xdeadface},
})

// LnetPingFeatures is the group lnet_ping_features.
var LnetPingFeatures = Bits("lnet_ping_features", "LNET_PING_FEAT_", "", []Value{
	{Name: "INVAL", Value: 0x0},
	{Name: "BASE", Value: 0x1},
	{Name: "NI_STATUS", Value: 0x2},
	{Name: "RTE_DISABLED", Value: 0x4},
	{Name: "MULTI_RAIL", Value: 0x8},
	{Name: "DISCOVERY", Value: 0x10},
	{Name: "LARGE_ADDR", Value: 0x20, Since: "2.16"},
	{Name: "PRIMARY_LARGE", Value: 0x40, Since: "2.16"},
	{Name: "METADATA", Value: 0x80, Since: "2.17"},
	{Name: "BITS", Value: 0xff, Doc: "value changed: <=2.12=0x1f, 2.15=0x1f, 2.16=0x7f, 2.17=0xff, 2.18=0xff", Alias: true},
})

// LnetSpecial is the group lnet_special.
var LnetSpecial = Enum("lnet_special", "LNET_", "", []Value{
	{Name: "RESERVED_PORTAL", Value: 0x0, Doc: "ping / discovery portal"},
	{Name: "MTU_BITS", Value: 0x14},
	{Name: "MD_BUFFER_SZ", Value: 0x20, Since: "2.17"},
	{Name: "NIDSTR_SIZE", Value: 0x40, Doc: "value changed: <=2.12=0x20, 2.15=0x40, 2.16=0x40, 2.17=0x40, 2.18=0x40"},
	{Name: "PID_LUSTRE", Value: 0x3039, Doc: "pid used by kernel LNet users"},
	{Name: "MTU", Value: 0x100000, Doc: "largest single LNet payload: 1 MiB"},
	{Name: "PID_USERFLAG", Value: 0x80000000},
	{Name: "PID_RESERVED", Value: 0xf0000000},
	{Name: "PID_ANY", Value: 0xffffffff},
	{Name: "NET_ANY", Value: 0xffffffff, Since: "2.15", Alias: true},
	{Name: "NID_LO_0", Value: 0x9000000000000},
	{Name: "NID_ANY", Value: 0xffffffffffffffff},
	{Name: "WIRE_HANDLE_COOKIE_NONE", Value: 0xffffffffffffffff, Alias: true},
})

// KsockMsgType is the group ksock_msg_type.
var KsockMsgType = Enum("ksock_msg_type", "KSOCK_MSG_", "", []Value{
	{Name: "NOOP", Value: 0xc0, Doc: "24-byte header only; ZC-ACK or keep-alive"},
	{Name: "LNET", Value: 0xc1, Doc: "followed by LNet header and payload"},
})

// KsockProto is the group ksock_proto.
var KsockProto = Enum("ksock_proto", "KSOCK_PROTO_", "", []Value{
	{Name: "V1_MINOR", Value: 0x0},
	{Name: "V1", Value: 0x1},
	{Name: "V1_MAJOR", Value: 0x1, Alias: true},
	{Name: "V2", Value: 0x2},
	{Name: "V3", Value: 0x3},
	{Name: "V4", Value: 0x4, Since: "2.15", Doc: "IPv6 / 16-byte NIDs"},
})

// KsockConnType is the group ksock_conn_type.
var KsockConnType = Enum("ksock_conn_type", "SOCKLND_CONN_", "", []Value{
	{Name: "ANY", Value: 0x0},
	{Name: "CONTROL", Value: 0x1},
	{Name: "ACK", Value: 0x2},
	{Name: "BULK_IN", Value: 0x2, Alias: true},
	{Name: "BULK_OUT", Value: 0x3},
	{Name: "NTYPES", Value: 0x4},
	{Name: "NONE", Value: 0xffffffff, Doc: "-1 as 32-bit value: refused / race lost"},
})

// KsockZc is the group ksock_zc.
var KsockZc = Enum("ksock_zc", "", "", []Value{
	{Name: "SOCKNAL_KEEPALIVE_PING", Value: 0x1, Doc: "reserved ZC cookie value: keep-alive"},
})

// IblndMsgType is the group iblnd_msg_type.
var IblndMsgType = Enum("iblnd_msg_type", "IBLND_MSG_", "", []Value{
	{Name: "CONNREQ", Value: 0xc0},
	{Name: "CONNACK", Value: 0xc1},
	{Name: "NOOP", Value: 0xd0},
	{Name: "IMMEDIATE", Value: 0xd1},
	{Name: "PUT_REQ", Value: 0xd2},
	{Name: "PUT_NAK", Value: 0xd3},
	{Name: "PUT_ACK", Value: 0xd4},
	{Name: "PUT_DONE", Value: 0xd5},
	{Name: "GET_REQ", Value: 0xd6},
	{Name: "GET_DONE", Value: 0xd7},
})

// IblndVersion is the group iblnd_version.
var IblndVersion = Enum("iblnd_version", "IBLND_MSG_", "", []Value{
	{Name: "QUEUE_SIZE_V1", Value: 0x8},
	{Name: "VERSION_1", Value: 0x11},
	{Name: "VERSION", Value: 0x12},
	{Name: "VERSION_2", Value: 0x12, Alias: true},
	{Name: "SIZE", Value: 0x1000},
	{Name: "MAGIC", Value: 0xbe91b91},
})

// IblndReject is the group iblnd_reject.
var IblndReject = Enum("iblnd_reject", "IBLND_REJECT_", "", []Value{
	{Name: "CONN_RACE", Value: 0x1, Doc: "lost the connection race"},
	{Name: "NO_RESOURCES", Value: 0x2, Doc: "out of memory etc"},
	{Name: "FATAL", Value: 0x3},
	{Name: "CONN_UNCOMPAT", Value: 0x4, Doc: "incompatible protocol version"},
	{Name: "CONN_STALE", Value: 0x5, Doc: "stale incarnation"},
	{Name: "RDMA_FRAGS", Value: 0x6, Doc: "fragment count mismatch"},
	{Name: "MSG_QUEUE_SIZE", Value: 0x7, Doc: "queue depth mismatch"},
	{Name: "INVALID_SRV_ID", Value: 0x8, Doc: "no listener at the service id"},
	{Name: "EARLY", Value: 0x9, Since: "2.16", Doc: "interface not ready"},
})

// LnetAckWmd is the group lnet_ack_wmd.
var LnetAckWmd = Enum("lnet_ack_wmd", "", "", []Value{
	{Name: "LNET_WIRE_HANDLE_NONE", Value: 0xffffffffffffffff, Doc: "ack_wmd with both cookies all-ones means no ACK is wanted"},
})

// Acceptor is the group acceptor.
var Acceptor = Enum("acceptor", "", "", []Value{
	{Name: "acceptor_default_port", Value: 0x3dc, Doc: "TCP port 988 (module option can change it; a second bulk port is possible since 2.17)"},
	{Name: "LNET_ACCEPTOR_MIN_RESERVED_PORT", Value: 0x200, Doc: "connecting side binds source port 512..1023"},
	{Name: "LNET_ACCEPTOR_MAX_RESERVED_PORT", Value: 0x3ff},
})

// IblndService is the group iblnd_service.
var IblndService = Enum("iblnd_service", "", "", []Value{
	{Name: "o2iblnd_default_service_port", Value: 0x3db, Doc: "rdma_cm port 987 (module option service)"},
})

// LnetPing is the group lnet_ping.
var LnetPing = Enum("lnet_ping", "", "", []Value{
	{Name: "LNET_PROTO_PING_MATCHBITS", Value: 0x8000000000000000, Doc: "match bits of ping GET and discovery push PUT on portal 0"},
})
