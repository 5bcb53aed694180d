package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// LnetMsgType is the group lnet_msg_type.
var LnetMsgType = Enum("lnet_msg_type", "LNET_MSG_", "commands of LNet", []Value{
	{Name: "ACK", Value: 0x0, Doc: "a PUT was accepted"},
	{Name: "PUT", Value: 0x1, Doc: "brings data"},
	{Name: "GET", Value: 0x2, Doc: "asks for data"},
	{Name: "REPLY", Value: 0x3, Doc: "brings what a GET asked for"},
	{Name: "HELLO", Value: 0x4, Doc: "greeting of socklnd version 1"},
})

// LnetMagic is the group lnet_magic.
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

// LnetVersion is the group lnet_version.
var LnetVersion = Enum("lnet_version", "LNET_PROTO_", "versions of the connection protocols", []Value{
	{Name: "TCP_VERSION_MINOR", Value: 0x0, Doc: "of a hello of version 1"},
	{Name: "ACCEPTOR_VERSION", Value: 0x1, Doc: "connection request with an 8-byte NID"},
	{Name: "TCP_VERSION_MAJOR", Value: 0x1, Doc: "of a hello of version 1", Alias: true},
	{Name: "ACCEPTOR_VERSION_16", Value: 0x2, Since: "2.15", Doc: "connection request with a 20-byte NID"},
})

// LnetLndType is the group lnet_lnd_type.
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

// LnetNiStatus is the group lnet_ni_status.
var LnetNiStatus = Enum("lnet_ni_status", "LNET_NI_STATUS_", "whether a network interface works", []Value{
	{Name: "INVALID", Value: 0x0, Doc: "not known"},
	{Name: "UP", Value: 0x15aac0de, Doc: "works"},
	{Name: "DOWN", Value: 0xdeadface, Doc: "does not work"},
})

// LnetPingFeatures is the group lnet_ping_features.
var LnetPingFeatures = Bits("lnet_ping_features", "LNET_PING_FEAT_", "what a node's LNet can do", []Value{
	{Name: "INVAL", Value: 0x0, Doc: "none"},
	{Name: "BASE", Value: 0x1, Doc: "answers pings"},
	{Name: "NI_STATUS", Value: 0x2, Doc: "tells whether each interface works"},
	{Name: "RTE_DISABLED", Value: 0x4, Doc: "does not route"},
	{Name: "MULTI_RAIL", Value: 0x8, Doc: "uses several interfaces for one peer"},
	{Name: "DISCOVERY", Value: 0x10, Doc: "finds out the interfaces of its peers"},
	{Name: "LARGE_ADDR", Value: 0x20, Since: "2.16", Doc: "tells NIDs longer than 8 bytes"},
	{Name: "PRIMARY_LARGE", Value: 0x40, Since: "2.16", Doc: "the NID that stands for the node may be a long one"},
	{Name: "METADATA", Value: 0x80, Since: "2.17", Doc: "tells data about NIDs for their drivers"},
	{Name: "BITS", Value: 0xff, Doc: "all features of the newest release", Alias: true},
})

// LnetSpecial is the group lnet_special.
var LnetSpecial = Enum("lnet_special", "LNET_", "special values and limits of LNet", []Value{
	{Name: "RESERVED_PORTAL", Value: 0x0, Doc: "portal of ping and discovery"},
	{Name: "MTU_BITS", Value: 0x14, Doc: "log2 of the largest payload"},
	{Name: "MD_BUFFER_SZ", Value: 0x20, Since: "2.17", Doc: "bytes of data about a NID"},
	{Name: "NIDSTR_SIZE", Value: 0x40, Doc: "room for a NID as text; 32 up to 2.12"},
	{Name: "PID_LUSTRE", Value: 0x3039, Doc: "process id of all kernel users"},
	{Name: "MTU", Value: 0x100000, Doc: "largest payload of one message"},
	{Name: "PID_USERFLAG", Value: 0x80000000, Doc: "bit of the process ids of user space"},
	{Name: "PID_RESERVED", Value: 0xf0000000, Doc: "bits that process ids must not have"},
	{Name: "PID_ANY", Value: 0xffffffff, Doc: "any process"},
	{Name: "NET_ANY", Value: 0xffffffff, Since: "2.15", Doc: "any network", Alias: true},
	{Name: "NID_LO_0", Value: 0x9000000000000, Doc: "the node itself, 0@lo"},
	{Name: "NID_ANY", Value: 0xffffffffffffffff, Doc: "any node"},
	{Name: "WIRE_HANDLE_COOKIE_NONE", Value: 0xffffffffffffffff, Doc: "no handle", Alias: true},
})

// KsockMsgType is the group ksock_msg_type.
var KsockMsgType = Enum("ksock_msg_type", "KSOCK_MSG_", "messages on a TCP connection", []Value{
	{Name: "NOOP", Value: 0xc0, Doc: "no LNet message: acknowledges pages, or keeps the connection alive"},
	{Name: "LNET", Value: 0xc1, Doc: "an LNet message follows"},
})

// KsockProto is the group ksock_proto.
var KsockProto = Enum("ksock_proto", "KSOCK_PROTO_", "versions of socklnd", []Value{
	{Name: "V1_MINOR", Value: 0x0},
	{Name: "V1", Value: 0x1},
	{Name: "V1_MAJOR", Value: 0x1, Alias: true},
	{Name: "V2", Value: 0x2, Doc: "own header before each message"},
	{Name: "V3", Value: 0x3, Doc: "keep-alive and acknowledged ranges"},
	{Name: "V4", Value: 0x4, Since: "2.15", Doc: "20-byte NIDs, for IPv6"},
})

// KsockConnType is the group ksock_conn_type.
var KsockConnType = Enum("ksock_conn_type", "SOCKLND_CONN_", "what a TCP connection is for", []Value{
	{Name: "ANY", Value: 0x0, Doc: "everything"},
	{Name: "CONTROL", Value: 0x1, Doc: "small messages"},
	{Name: "ACK", Value: 0x2, Doc: "acknowledges pages; another name of BULK_IN", Alias: true},
	{Name: "BULK_IN", Value: 0x2, Doc: "bulk data to the sender of the hello"},
	{Name: "BULK_OUT", Value: 0x3, Doc: "bulk data from the sender of the hello"},
	{Name: "NTYPES", Value: 0x4, Doc: "number of types"},
	{Name: "NONE", Value: 0xffffffff, Doc: "refuses, since both nodes connected at once"},
})

// KsockZc is the group ksock_zc.
var KsockZc = Enum("ksock_zc", "", "special values of zero-copy cookies", []Value{
	{Name: "SOCKNAL_KEEPALIVE_PING", Value: 0x1, Doc: "reserved ZC cookie value: keep-alive"},
})

// IblndMsgType is the group iblnd_msg_type.
var IblndMsgType = Enum("iblnd_msg_type", "IBLND_MSG_", "messages of LNet over InfiniBand or RoCE", []Value{
	{Name: "CONNREQ", Value: 0xc0, Doc: "asks for a connection"},
	{Name: "CONNACK", Value: 0xc1, Doc: "accepts a connection"},
	{Name: "NOOP", Value: 0xd0, Doc: "gives back credits"},
	{Name: "IMMEDIATE", Value: 0xd1, Doc: "a whole LNet message"},
	{Name: "PUT_REQ", Value: 0xd2, Doc: "offers data"},
	{Name: "PUT_NAK", Value: 0xd3, Doc: "refuses data"},
	{Name: "PUT_ACK", Value: 0xd4, Doc: "says where to write"},
	{Name: "PUT_DONE", Value: 0xd5, Doc: "the data are written"},
	{Name: "GET_REQ", Value: 0xd6, Doc: "asks for data"},
	{Name: "GET_DONE", Value: 0xd7, Doc: "the data are written"},
})

// IblndVersion is the group iblnd_version.
var IblndVersion = Enum("iblnd_version", "IBLND_MSG_", "versions and sizes of o2iblnd", []Value{
	{Name: "QUEUE_SIZE_V1", Value: 0x8, Doc: "messages under way in version 1"},
	{Name: "VERSION_1", Value: 0x11, Doc: "first version"},
	{Name: "VERSION", Value: 0x12, Doc: "newest version"},
	{Name: "VERSION_2", Value: 0x12, Doc: "agrees on queue depth and pieces", Alias: true},
	{Name: "SIZE", Value: 0x1000, Doc: "longest message"},
	{Name: "MAGIC", Value: 0xbe91b91, Doc: "magic number"},
})

// IblndReject is the group iblnd_reject.
var IblndReject = Enum("iblnd_reject", "IBLND_REJECT_", "why an InfiniBand connection was refused", []Value{
	{Name: "CONN_RACE", Value: 0x1, Doc: "both nodes connected at once"},
	{Name: "NO_RESOURCES", Value: 0x2, Doc: "short of memory or the like"},
	{Name: "FATAL", Value: 0x3, Doc: "anything else"},
	{Name: "CONN_UNCOMPAT", Value: 0x4, Doc: "protocol version"},
	{Name: "CONN_STALE", Value: 0x5, Doc: "the request is for an earlier life of the node"},
	{Name: "RDMA_FRAGS", Value: 0x6, Doc: "number of pieces of a transfer"},
	{Name: "MSG_QUEUE_SIZE", Value: 0x7, Doc: "number of messages under way"},
	{Name: "INVALID_SRV_ID", Value: 0x8, Doc: "nobody listens there"},
	{Name: "EARLY", Value: 0x9, Since: "2.16", Doc: "the interface is not ready yet"},
})

// LnetAckWmd is the group lnet_ack_wmd.
var LnetAckWmd = Enum("lnet_ack_wmd", "", "special handles of LNet", []Value{
	{Name: "LNET_WIRE_HANDLE_NONE", Value: 0xffffffffffffffff, Doc: "ack_wmd with both cookies all-ones means no ACK is wanted"},
})

// Acceptor is the group acceptor.
var Acceptor = Enum("acceptor", "", "ports of LNet over TCP", []Value{
	{Name: "acceptor_default_port", Value: 0x3dc, Doc: "TCP port 988 (module option can change it; a second bulk port is possible since 2.17)"},
	{Name: "LNET_ACCEPTOR_MIN_RESERVED_PORT", Value: 0x200, Doc: "connecting side binds source port 512..1023"},
	{Name: "LNET_ACCEPTOR_MAX_RESERVED_PORT", Value: 0x3ff},
})

// IblndService is the group iblnd_service.
var IblndService = Enum("iblnd_service", "", "ports of LNet over InfiniBand", []Value{
	{Name: "o2iblnd_default_service_port", Value: 0x3db, Doc: "rdma_cm port 987 (module option service)"},
})

// LnetPing is the group lnet_ping.
var LnetPing = Enum("lnet_ping", "", "match bits of LNet ping", []Value{
	{Name: "LNET_PROTO_PING_MATCHBITS", Value: 0x8000000000000000, Doc: "match bits of ping GET and discovery push PUT on portal 0"},
})
