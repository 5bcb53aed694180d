package opcodes

import . "github.com/lshark/lshark/opcodes/schema"

// The NIDs of a node, as ping and discovery report them.

var LnetNiStatus = Enum("lnet_ni_status", "LNET_NI_STATUS_", "whether a network interface works", []Value{
	{Name: "INVALID", Value: 0x0, Doc: "not known"},
	{Name: "UP", Value: 0x15aac0de, Doc: "works"},
	{Name: "DOWN", Value: 0xdeadface, Doc: "does not work"},
})

var LnetPingFeatures = Bits("lnet_ping_features", "LNET_PING_FEAT_", "what a node's LNet can do", []Value{
	{Name: "INVAL", Value: 0x0, Doc: "none"},
	{Name: "BASE", Value: 0x1, Doc: "answers pings"},
	{Name: "NI_STATUS", Value: 0x2, Doc: "the status of each interface is valid"},
	{Name: "RTE_DISABLED", Value: 0x4, Doc: "does not route"},
	{Name: "MULTI_RAIL", Value: 0x8, Doc: "uses several interfaces for one peer"},
	{Name: "DISCOVERY", Value: 0x10, Doc: "finds out the interfaces of its peers"},
	{Name: "LARGE_ADDR", Value: 0x20, Since: "2.16", Doc: "NIDs may be longer than 8 bytes"},
	{Name: "PRIMARY_LARGE", Value: 0x40, Since: "2.16", Doc: "the NID that stands for the node may be a long one"},
	{Name: "METADATA", Value: 0x80, Since: "2.17", Doc: "data for the network drivers follows the NIDs"},
	{Name: "BITS", Value: 0xff, Doc: "all features of the newest release", Alias: true},
})

var lnetNiStatus = &Struct{Name: "lnet_ni_status", Doc: "one 8-byte NID of the node and whether it works", Fields: []*Field{
	U64("ns_nid", NID4, Shown{Role: Node}, "the NID; the first entry is the loopback"),
	U32("ns_status", &LnetNiStatus, Shown{Role: Bad, Only: "DOWN"}, Remark(func(v *View, dst []byte) []byte {
		if v.Index > 0 || LnetNiStatus.Name(v.Value) != "" {
			return dst
		}
		return append(dst, "sequence number"...)
	}), "whether the interface works; in the first "+
		"entry it may be a number that is raised at each change of the node's NIDs"),
	U32("ns_msg_size", Size, Since("2.16"), "first entry: bytes of all the information, long addresses included; unused up to 2.15"),
}}

var lnetNiLargeStatus = &Struct{Name: "lnet_ni_large_status", Since: "2.16",
	Doc: "one long NID of the node and whether it works; takes only as many bytes as the address needs", Fields: []*Field{
		U32("ns_status", &LnetNiStatus, Shown{Role: Bad, Only: "DOWN"}, "whether the interface works"),
		Sub("ns_nid", &LnetNid, Shown{Role: Node}, "the NID"),
	}}

var lnetNidMdEntry = &Struct{Name: "lnet_nid_md_entry", Since: "2.17",
	Doc: "what a kind of network wants its peers to know about a NID", Fields: []*Field{
		U64("nid", NID4, Shown{Role: Node}, "the NID"),
		Opaque("buffer", 32, "data of the network driver"),
	}}

var lnetNidMetadata = &Struct{Name: "lnet_nid_metadata", Since: "2.17",
	Doc: "data about the NIDs of the node, for the drivers of their networks", Fields: []*Field{
		U32("num_nid_mappings", Harmless, "number of entries"),
		Subs("nid_mappings", -1, &lnetNidMdEntry, CountBy("num_nid_mappings"), "one entry a NID"),
	}}

var pingFeatures = U32("pi_features", &LnetPingFeatures, "what the node's LNet can do")

var PingInfo = &Struct{Name: "lnet_ping_info", Detect: func(b []byte, big bool) bool { return magicAt(b, 0, LnetMagic.Number("LNET_PROTO_PING_MAGIC"), big) },
	Doc: "what a node reports about itself in the reply to a ping, or in a push without a ping: features and NIDs", Fields: []*Field{
		U32("pi_magic", Hex, &LnetMagic, "marks the information and the byte order of the sender"),
		pingFeatures,
		U32("pi_pid", Harmless, Remark(remarkPid), "LNet process id"),
		U32("pi_nnis", Harmless, "number of 8-byte NIDs, loopback included"),
		Subs("pi_ni", -1, &lnetNiStatus, CountBy("pi_nnis"), "the 8-byte NIDs"),
		Records("pi_large_ni", stepLargeNi, largeNi, Since("2.16"), If(hasFeature("LARGE_ADDR")),
			"the long NIDs, each in as many bytes as its address needs"),
		Sub("pi_metadata", &lnetNidMetadata, Since("2.17"), If(hasFeature("METADATA")), "data for the drivers of the networks"),
	}}

func hasFeature(name string) If {
	bit := LnetPingFeatures.Bit(name)
	return func(v *View) bool { return len(v.Rest) > 0 && v.Uint(pingFeatures)&bit != 0 }
}

var (
	largeStatus = lnetNiLargeStatus.Field("ns_status")
	largeNi     = Sub("", &lnetNiLargeStatus)
)

// stepLargeNi takes one long NID. They end at the size that the first entry of
// pi_ni gives, or where something stands that is no status.
func stepLargeNi(v *View) (*Field, int) {
	const infoFixed, nidFixed = 16, 8
	if len(v.Struct) < infoFixed || len(v.Rest) < largeStatus.Size+nidFixed {
		return nil, 0
	}
	at, end := len(v.Struct)-len(v.Rest), lnetNiStatus.Field("ns_msg_size").Uint(v.Struct[infoFixed:], v.Big)
	if uint64(at) >= end || LnetNiStatus.Name(largeStatus.Uint(v.Rest, v.Big)) == "" {
		return nil, 0
	}
	addressRest := int(v.Rest[largeStatus.Size])
	return largeNi, (largeStatus.Size + nidFixed + addressRest + 3) &^ 3
}

// PingInterfaces calls f for each interface of a node with an 8-byte NID, the loopback
// apart, as b, an lnet_ping_info, has them. down is set if the node says that the
// interface does not work. It returns whether b has all of them.
func PingInterfaces(b []byte, f func(nid uint64, down bool)) (all bool) {
	const infoFixed = 16
	if len(b) < infoFixed {
		return false
	}
	big := magicAt(b, 0, LnetMagic.Number("LNET_PROTO_PING_MAGIC"), false)
	statuses := ReadUint(b[4:8], big)&LnetPingFeatures.Bit("NI_STATUS") != 0
	down := LnetNiStatus.Number("DOWN")
	n, entry := ReadUint(b[12:16], big), b[infoFixed:]
	for ; n > 0 && len(entry) >= lnetNiStatus.Size; n, entry = n-1, entry[lnetNiStatus.Size:] {
		nid := ReadUint(entry[:8], big)
		if kind := nid >> 48; nid != 0 && kind != loopback {
			f(nid, statuses && ReadUint(entry[8:12], big) == down)
		}
	}
	return n == 0
}

// loopback is the type of the network that a node has with itself.
const loopback = 9
