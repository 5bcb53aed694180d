package link

import (
	"encoding/binary"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// IP protocols, and extension headers of IPv6.
const (
	protoHopByHop    = byte(layers.IPProtocolIPv6HopByHop)
	protoIPv4        = byte(layers.IPProtocolIPv4) // IP in IP
	protoTCP         = byte(layers.IPProtocolTCP)
	protoUDP         = byte(layers.IPProtocolUDP)
	protoIPv6        = byte(layers.IPProtocolIPv6)
	protoRouting     = byte(layers.IPProtocolIPv6Routing)
	protoFragment    = byte(layers.IPProtocolIPv6Fragment)
	protoGRE         = byte(layers.IPProtocolGRE)
	protoAuth        = byte(layers.IPProtocolAH)
	protoDestination = byte(layers.IPProtocolIPv6Destination)
	protoIPIP        = byte(layers.IPProtocolIPIP) // IP in IP too, rarely used
	protoMobility    = 135
)

// Lengths of headers without options, in bytes.
const (
	ipv4Size = 20
	ipv6Size = 40
	tcpSize  = 20
)

// TCPHeaders are the bytes in front of the payload of a TCP segment in the usual
// case: Ethernet, IPv4, TCP with a time stamp.
const TCPHeaders = ethernetSize + ipv4Size + tcpSize + tcpTimeStampSize

const tcpTimeStampSize = 12

// maxSegment is the longest segment that is accepted, in bytes: twice what BIG
// TCP sends as one.
const maxSegment = 1 << 20

const optJumbo = 0xc2 // hop-by-hop option: the length of a jumbogram

// addresses are the addresses of a packet; those of IPv4 are in the mapped form.
type addresses struct {
	src, dst [16]byte
}

func (d *Decoder) ipv4(p span, depth int) Kind {
	b := p.data
	if len(b) < ipv4Size || b[0]>>4 != 4 {
		return None
	}
	header := int(b[0]&0xf) * 4
	total := int(binary.BigEndian.Uint16(b[2:]))
	if total == 0 {
		// The packet is cut to size by the network card of its sender, or it
		// is longer than 16 bits can count. gopacket takes what was captured
		// for its length; it is that of the frame.
		total = p.wire
	}
	if header < ipv4Size || total < header || len(b) < header {
		return None
	}
	// What is still invalid is an option. Options are decoded last, and the
	// fields before them are set.
	_ = d.ipv4Layer.DecodeFromBytes(b[:header], gopacket.NilDecodeFeedback)
	ip := &d.ipv4Layer
	var a addresses
	a.src[10], a.src[11], a.dst[10], a.dst[11] = 0xff, 0xff, 0xff, 0xff
	copy(a.src[12:], ip.SrcIP)
	copy(a.dst[12:], ip.DstIP)
	body := p.limit(total).from(header)
	more := ip.Flags&layers.IPv4MoreFragments != 0
	if more || ip.FragOffset != 0 {
		key := fragmentKey{addresses: a, source: d.source, proto: byte(ip.Protocol), id: uint32(ip.Id)}
		var whole bool
		body, whole = d.frags.add(key, fragment{int(ip.FragOffset) * 8, more, body}, d.time)
		if !whole {
			return None
		}
	}
	return d.transport(byte(ip.Protocol), a, body, depth)
}

func (d *Decoder) ipv6(p span, depth int) Kind {
	b := p.data
	if len(b) < ipv6Size || b[0]>>4 != 6 {
		return None
	}
	var a addresses
	next, length := b[6], int(binary.BigEndian.Uint16(b[4:]))
	if next == protoHopByHop || length == 0 {
		// gopacket allocates hop-by-hop options, and refuses a length of 0
		// without them: network cards leave it out as that of IPv4.
		copy(a.src[:], b[8:24])
		copy(a.dst[:], b[24:40])
	} else {
		ip := &d.ipv6Layer
		if ip.DecodeFromBytes(b[:ipv6Size], gopacket.NilDecodeFeedback) != nil {
			return None
		}
		copy(a.src[:], ip.SrcIP)
		copy(a.dst[:], ip.DstIP)
		next, length = byte(ip.NextHeader), int(ip.Length)
	}
	body := p.from(ipv6Size)
	if length > 0 {
		body = body.limit(length)
	}
	return d.extensions(next, a, body, depth)
}

// extensions decodes the IPv6 extension headers. Each takes at least eight
// bytes, so this ends.
func (d *Decoder) extensions(next byte, a addresses, p span, depth int) Kind {
	for {
		b := p.data
		switch next {
		case protoHopByHop, protoRouting, protoDestination, protoMobility:
			if len(b) < 8 {
				return None
			}
			n := (int(b[1]) + 1) * 8
			if len(b) < n || d.extension.DecodeFromBytes(b[:n], gopacket.NilDecodeFeedback) != nil {
				return None
			}
			if next == protoHopByHop {
				p = jumbo(p, n)
			}
			next = byte(d.extension.NextHeader)
			p = p.from(n)
		case protoAuth: // its length has another unit; gopacket has no reusable layer for it
			if len(b) < 8 {
				return None
			}
			next = b[0]
			p = p.from((int(b[1]) + 2) * 4)
		case protoFragment: // gopacket has no reusable layer for it
			if len(b) < 8 {
				return None
			}
			next = b[0]
			at := binary.BigEndian.Uint16(b[2:])
			id := binary.BigEndian.Uint32(b[4:])
			p = p.from(8)
			if at&^6 == 0 {
				continue // the only fragment
			}
			key := fragmentKey{addresses: a, source: d.source, proto: byte(next), id: id, six: true}
			var whole bool
			p, whole = d.frags.add(key, fragment{int(at &^ 7), at&1 != 0, p}, d.time)
			if !whole {
				return None
			}
		default:
			return d.transport(next, a, p, depth)
		}
	}
}

// jumbo returns the span limited to the length of a jumbogram, if the n bytes of
// hop-by-hop options at its begin have that. gopacket allocates these options.
func jumbo(p span, n int) span {
	opts := p.data[2:max(2, min(n, len(p.data)))]
	for len(opts) >= 2 {
		if opts[0] == 0 { // one byte of padding
			opts = opts[1:]
			continue
		}
		if opts[0] == optJumbo && opts[1] == 4 && len(opts) >= 6 {
			return p.limit(int(binary.BigEndian.Uint32(opts[2:])))
		}
		opts = opts[min(2+int(opts[1]), len(opts)):]
	}
	return p
}

// transport decodes the payload of an IP packet by its protocol number.
func (d *Decoder) transport(proto byte, a addresses, p span, depth int) Kind {
	switch proto {
	case protoTCP:
		return d.tcp(a, p)
	case protoUDP:
		return d.udp(a, p, depth)
	case protoGRE:
		return d.gre(p, depth+1)
	case protoIPv4, protoIPv6, protoIPIP:
		return d.rawIP(p, depth+1)
	}
	return None
}

// tcp fills the rest of d.Segment.
func (d *Decoder) tcp(a addresses, p span) Kind {
	const needed = 14 // bytes up to the flags
	b := p.data
	if len(b) < needed {
		return None
	}
	header := int(b[12]>>4) * 4
	if header < tcpSize || header > p.wire {
		return None
	}
	s := &d.Segment
	s.Flow.Src, s.Flow.Dst = a.src, a.dst
	s.Flags, s.Window = b[13], UnknownWindow
	if len(b) >= 16 {
		s.Window = int32(binary.BigEndian.Uint16(b[14:]))
	}
	if len(b) >= header {
		// What is still invalid is an option. Options are decoded last, and
		// the fields before them are set.
		_ = d.tcpLayer.DecodeFromBytes(b[:header], gopacket.NilDecodeFeedback)
		t := &d.tcpLayer
		s.Flow.SrcPort, s.Flow.DstPort = uint16(t.SrcPort), uint16(t.DstPort)
		s.Seq, s.Ack = t.Seq, t.Ack
		s.options(b[tcpSize:header])
	} else { // cut by the snaplen, which gopacket refuses
		s.Flow.SrcPort = binary.BigEndian.Uint16(b)
		s.Flow.DstPort = binary.BigEndian.Uint16(b[2:])
		s.Seq = binary.BigEndian.Uint32(b[4:])
		s.Ack = binary.BigEndian.Uint32(b[8:])
		s.options(nil)
	}
	body := p.from(header)
	s.Data, s.Size = body.data, body.wire
	if s.Size > maxSegment {
		return None
	}
	return TCP
}
