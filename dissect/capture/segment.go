package capture

import (
	"encoding/binary"
	"net/netip"
)

// segment identifies a TCP segment, or a packet of RoCEv2, in several captures.
type segment struct {
	flow
	seq, size uint32
}

type flow struct {
	src, dst netip.AddrPort
}

func (f flow) back() flow { return flow{f.dst, f.src} }

// Offsets in an IPv4 and an IPv6 header, in bytes.
const (
	ip4Fragment = 6 // and flags, two bytes
	ip4Proto    = 9
	protoTCP    = 6
	protoUDP    = 17
	ip4Source   = 12
	ip4Dest     = 16
	ip6Next     = 6
	ip6Source   = 8
	ip6Dest     = 24
	ip6Header   = 40

	moreOrOffset = 0x3fff // of the field at ip4Fragment: the packet is a fragment
)

// maxTags is how many VLAN tags a frame may have before its IP header.
const maxTags = 2

// ipPacket returns what follows the link header and up to two VLAN tags. It
// reports whether the link type is known and the frame is long enough.
func ipPacket(f *Frame) ([]byte, bool) {
	header, typeAt := 0, 0
	switch f.Link {
	case LinkEthernet:
		header, typeAt = 14, 12
	case LinkLinuxSLL:
		header, typeAt = 16, 14
	case LinkLinuxSLL2:
		header, typeAt = 20, 0
	case LinkNull, LinkLoop:
		return f.Data[min(4, len(f.Data)):], true
	case LinkRaw, LinkRawBSD, LinkRawOpenBSD, LinkIPv4, LinkIPv6:
		return f.Data, true
	default:
		return nil, false
	}
	for tags := 0; tags <= maxTags && len(f.Data) >= header; tags++ {
		if etherType := binary.BigEndian.Uint16(f.Data[typeAt:]); etherType != 0x8100 && etherType != 0x88a8 {
			return f.Data[header:], true
		}
		header += 4
		typeAt = header - 2
	}
	return nil, false
}

// segmentOf returns the TCP segment of a frame, or its packet of RoCEv2, and reports
// whether there is one with payload. It does not decode IP fragments, extension headers
// and tunnels.
func segmentOf(f *Frame) (segment, bool) {
	ip, ok := ipPacket(f)
	if !ok {
		return segment{}, false
	}
	var s segment
	var proto byte
	header, total := 0, 0
	switch {
	case len(ip) >= 20 && ip[0]>>4 == 4 && binary.BigEndian.Uint16(ip[ip4Fragment:])&moreOrOffset == 0:
		proto, header, total = ip[ip4Proto], int(ip[0]&15)*4, int(binary.BigEndian.Uint16(ip[2:]))
		s.src = netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[ip4Source:])), 0)
		s.dst = netip.AddrPortFrom(netip.AddrFrom4([4]byte(ip[ip4Dest:])), 0)
	case len(ip) >= ip6Header && ip[0]>>4 == 6:
		proto, header, total = ip[ip6Next], ip6Header, ip6Header+int(binary.BigEndian.Uint16(ip[4:]))
		s.src = netip.AddrPortFrom(netip.AddrFrom16([16]byte(ip[ip6Source:])), 0)
		s.dst = netip.AddrPortFrom(netip.AddrFrom16([16]byte(ip[ip6Dest:])), 0)
	}
	if len(ip) < header+20 {
		return segment{}, false
	}
	switch proto {
	case protoTCP:
		tcp := ip[header:]
		payload := total - header - int(tcp[12]>>4)*4
		s.src = netip.AddrPortFrom(s.src.Addr(), binary.BigEndian.Uint16(tcp))
		s.dst = netip.AddrPortFrom(s.dst.Addr(), binary.BigEndian.Uint16(tcp[2:]))
		s.seq, s.size = binary.BigEndian.Uint32(tcp[4:]), uint32(payload)
		return s, payload > 0
	case protoUDP:
		return s.roce(ip[header:], total-header)
	}
	return segment{}, false
}

// roce completes the segment of a packet of RoCEv2 from its UDP header on, which has n
// bytes. The addresses have no ports: those of the sender differ by direction. The
// queue pair stands in place of the size, the opcode is part of the number.
func (s segment) roce(udp []byte, n int) (segment, bool) {
	const (
		port          = 4791
		headers       = 8 + 12 + 4 // of UDP and InfiniBand, and the checksum
		serviceBits   = 0xe0       // of the opcode, 0 of reliable connections
		acknowledge   = 0x11
		bth           = 8
		psnOff, qpOff = bth + 8, bth + 4
		low24         = 1<<24 - 1
	)
	if binary.BigEndian.Uint16(udp[2:]) != port || n <= headers || len(udp) < bth+12 {
		return segment{}, false
	}
	opcode := udp[bth]
	if opcode&serviceBits != 0 || opcode == acknowledge {
		return segment{}, false
	}
	s.seq = uint32(opcode)<<24 | binary.BigEndian.Uint32(udp[psnOff:])&low24
	s.size = binary.BigEndian.Uint32(udp[qpOff:]) & low24
	return s, true
}
