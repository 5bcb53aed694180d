package pcapfilter

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
