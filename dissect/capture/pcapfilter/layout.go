package pcapfilter

// maxTags is how many VLAN tags a filter can look behind.
const maxTags = 2

// layout holds the offsets of the headers in frames of one link type.
type layout struct {
	header int  // bytes before the IP header, without VLAN tags
	etype  int  // offset of the EtherType; -1 when there is none
	kernel bool // the program runs in the kernel, which keeps VLAN tags beside the frame
	cooked bool // the kernel keeps the whole link header beside the frame

	// opaque is the name of the link type where nothing but the length of a frame
	// can be tested.
	opaque string

	families bool   // an address family of 4 bytes precedes the packet
	version  uint32 // of IP where the link type implies it, else 0
}

var layouts = map[LinkType]layout{
	LinkEthernet:   {header: 14, etype: 12},
	LinkLinuxSLL:   {header: 16, etype: 14},
	LinkLinuxSLL2:  {header: 20, etype: 0},
	LinkRaw:        {etype: -1},
	LinkRawBSD:     {etype: -1},
	LinkRawOpenBSD: {etype: -1},
	LinkIPv4:       {etype: -1, version: 4},
	LinkIPv6:       {etype: -1, version: 6},
	LinkERF:        {etype: -1, opaque: "ERF"},
	LinkInfiniBand: {etype: -1, opaque: "INFINIBAND"},
	LinkNull:       {header: 4, etype: -1, families: true},
	LinkLoop:       {header: 4, etype: -1, families: true},
}

// packet returns the offset of the IP header behind VLAN tags.
func (l *layout) packet(tags int) int { return l.header + 4*tags }

// typeOffset returns the offset of the EtherType behind VLAN tags: the last two
// bytes before the packet, except that a LINUX_SLL2 header begins with it.
func (l *layout) typeOffset(tags int) int {
	if tags == 0 {
		return l.etype
	}
	return l.packet(tags) - 2
}

// family emits a test of the EtherType.
func (e *emitter) family(tags int, etherType uint32, yes, no label) label {
	switch {
	case e.opaque != "":
		e.refused = true
		return no
	case e.cooked && tags == 0:
		return e.equal(opLoadWord, skfProtocol, etherType, yes, no)
	case e.cooked:
		return e.equal(opLoadHalf, 4*tags-2, etherType, yes, no)
	case e.etype >= 0:
		return e.equal(opLoadHalf, e.typeOffset(tags), etherType, yes, no)
	case tags > 0:
		return no // these link types have no VLANs
	}
	switch etherType {
	case etherTypes["ip"]:
		return e.rawFamily(4, []uint32{2}, yes, no)
	case etherTypes["ip6"]:
		return e.rawFamily(6, []uint32{10, 24, 28, 30}, yes, no) // Linux, NetBSD, FreeBSD, macOS
	}
	return no
}

// rawFamily emits a test of the IP version for link types without EtherType.
func (e *emitter) rawFamily(version uint32, families []uint32, yes, no label) label {
	switch {
	case e.families:
		for _, n := range families {
			no = e.equal(opLoadWord, 0, n, yes, no)
			no = e.equal(opLoadWord, 0, n<<24, yes, no)
		}
		return no
	case e.version == 0:
		return e.masked(opLoadByte, 0, 0xf0, opJumpEqual, version<<4, yes, no)
	case e.version == version:
		return yes
	}
	return no
}

// LinkType is the type of the header that a frame begins with. The numbers are
// those of capture files (LINKTYPE_… of the tcpdump group). It is not gopacket's
// type because that has eight bits, which cannot hold LINUX_SLL2.
type LinkType uint16

// The link types that filters support; of frames of LinkERF and LinkInfiniBand
// they can test nothing but the length.
const (
	LinkNull       LinkType = 0   // address family, 4 bytes, in the byte order of the writer
	LinkEthernet   LinkType = 1   // Ethernet, without preamble and checksum
	LinkRawBSD     LinkType = 12  // an IPv4 or IPv6 packet, as BSD numbered it
	LinkRawOpenBSD LinkType = 14  // an IPv4 or IPv6 packet, as OpenBSD numbered it
	LinkRaw        LinkType = 101 // an IPv4 or IPv6 packet
	LinkLoop       LinkType = 108 // address family, 4 bytes, big endian
	LinkLinuxSLL   LinkType = 113 // Linux cooked capture, 16 bytes
	LinkERF        LinkType = 197 // a record of Endace's Extensible Record Format, which has a link type of its own
	LinkIPv4       LinkType = 228 // an IPv4 packet
	LinkIPv6       LinkType = 229 // an IPv6 packet
	LinkInfiniBand LinkType = 247 // InfiniBand, from its local route header
	LinkLinuxSLL2  LinkType = 276 // Linux cooked capture version 2, 20 bytes
)
