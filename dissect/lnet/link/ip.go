package link

import (
	"encoding/binary"

	"github.com/google/gopacket"
	"github.com/google/gopacket/layers"
)

// IP protocols, and extension headers of IPv6.
const (
	protoHopByHop    = byte(layers.IPProtocolIPv6HopByHop)
	protoICMP        = byte(layers.IPProtocolICMPv4)
	protoIPv4        = byte(layers.IPProtocolIPv4) // IP in IP
	protoTCP         = byte(layers.IPProtocolTCP)
	protoUDP         = byte(layers.IPProtocolUDP)
	protoIPv6        = byte(layers.IPProtocolIPv6)
	protoRouting     = byte(layers.IPProtocolIPv6Routing)
	protoFragment    = byte(layers.IPProtocolIPv6Fragment)
	protoGRE         = byte(layers.IPProtocolGRE)
	protoAuth        = byte(layers.IPProtocolAH)
	protoICMPv6      = byte(layers.IPProtocolICMPv6)
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

// mapped returns the mapped form of an IPv4 address.
func mapped(a [4]byte) [16]byte {
	return [16]byte{10: 0xff, 11: 0xff, 12: a[0], 13: a[1], 14: a[2], 15: a[3]}
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
	p = p.limit(total)
	d.header(LayerIPv4, p, header)
	// What is still invalid is an option. Options are decoded last, and the
	// fields before them are set.
	_ = d.ipv4Layer.DecodeFromBytes(b[:header], gopacket.NilDecodeFeedback)
	ip := &d.ipv4Layer
	a := addresses{mapped([4]byte(ip.SrcIP)), mapped([4]byte(ip.DstIP))}
	body := p.from(header)
	more := ip.Flags&layers.IPv4MoreFragments != 0
	if more || ip.FragOffset != 0 {
		if d.listing {
			return None
		}
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
		a = addresses{[16]byte(ip.SrcIP), [16]byte(ip.DstIP)}
		next, length = byte(ip.NextHeader), int(ip.Length)
	}
	if length > 0 {
		p = p.limit(ipv6Size + length)
	}
	d.header(LayerIPv6, p, ipv6Size)
	return d.extensions(next, a, p.from(ipv6Size), depth)
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
			d.header(extensionLayer(next), p, n)
			if next == protoHopByHop {
				p = jumbo(p, n)
			}
			next = byte(d.extension.NextHeader)
			p = p.from(n)
		case protoAuth: // its length has another unit; gopacket has no reusable layer for it
			if len(b) < 8 || len(b) < (int(b[1])+2)*4 {
				return None
			}
			d.header(LayerAuth, p, (int(b[1])+2)*4)
			next = b[0]
			p = p.from((int(b[1]) + 2) * 4)
		case protoFragment: // gopacket has no reusable layer for it
			if len(b) < 8 {
				return None
			}
			next = b[0]
			at := binary.BigEndian.Uint16(b[2:])
			id := binary.BigEndian.Uint32(b[4:])
			d.header(LayerFragment, p, 8)
			p = p.from(8)
			if at&^6 == 0 {
				continue // the only fragment
			}
			if d.listing {
				return None
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
	case protoICMP:
		return d.icmp(LayerICMP, p, depth+1)
	case protoICMPv6:
		return d.icmp(LayerICMPv6, p, depth+1)
	}
	return None
}

// tcp fills the rest of d.Segment.
func (d *Decoder) tcp(a addresses, p span) Kind {
	const needed = 14 // bytes up to the flags
	b := p.data
	if len(b) < needed {
		d.header(LayerTCP, p, tcpSize)
		return None
	}
	header := int(b[12]>>4) * 4
	if header < tcpSize || header > p.wire {
		return None
	}
	d.header(LayerTCP, p, header)
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

// Bounds of what is held of unfinished IP packets.
const (
	maxFragmentedPackets = 256
	maxFragmentBytes     = 4 << 20
	maxFragmentAge       = 30e9 // ns; Linux gives up after as long
	maxPacket            = 1 << 16
	maxParts             = 1 << 10 // of one packet
)

type fragmentKey struct {
	addresses
	source int32
	proto  byte
	six    bool
	id     uint32
}

type fragment struct {
	off  int
	more bool // not the last one
	span
}

// partialPacket is an IP packet whose fragments are not all there.
type partialPacket struct {
	parts []fragment
	since int64
	bytes int
	size  int // of the whole, 0 while the last fragment is missing
}

// fragments reassembles IP packets from their fragments.
type fragments struct {
	packets map[fragmentKey]*partialPacket
	bytes   int
	whole   []byte // the packet just finished
}

// add takes one fragment; when it completes its packet it returns the packet,
// valid until the next call. Bytes behind the first that was not captured
// count as not captured.
func (fs *fragments) add(key fragmentKey, f fragment, now int64) (span, bool) {
	if f.off+f.wire > maxPacket || f.wire == 0 {
		return span{}, false
	}
	p := fs.packets[key]
	if p != nil && now-p.since > maxFragmentAge {
		fs.drop(key)
		p = nil
	}
	if p != nil && fs.bytes+f.wire > maxFragmentBytes {
		fs.drop(key) // fragments that overlap would never end
		return span{}, false
	}
	if p == nil {
		fs.makeRoom(f.wire)
		p = &partialPacket{since: now}
		fs.packets[key] = p
	}
	if len(p.parts) >= maxParts {
		return span{}, false
	}
	for _, q := range p.parts {
		if q.off == f.off {
			return span{}, false // a duplicate
		}
	}
	if !f.more {
		p.size = f.off + f.wire
	}
	f.data = append([]byte(nil), f.data...)
	p.parts = append(p.parts, f)
	p.bytes += f.wire
	fs.bytes += f.wire
	if p.size == 0 || p.bytes < p.size {
		return span{}, false
	}
	fs.drop(key)
	return fs.join(p), true
}

// makeRoom keeps the bounds when a packet begins with a fragment of n bytes. If a
// bound is reached it drops all other packets, because so many of them will never
// be complete.
func (fs *fragments) makeRoom(n int) {
	if fs.packets == nil {
		fs.packets = make(map[fragmentKey]*partialPacket)
	}
	if len(fs.packets) >= maxFragmentedPackets || fs.bytes+n > maxFragmentBytes {
		clear(fs.packets)
		fs.bytes = 0
	}
}

func (fs *fragments) drop(key fragmentKey) {
	fs.bytes -= fs.packets[key].bytes
	delete(fs.packets, key)
}

// join copies the parts to their places, up to the first byte that is missing.
func (fs *fragments) join(p *partialPacket) span {
	fs.whole = fs.whole[:0]
	for len(fs.whole) < p.size {
		at := len(fs.whole)
		for _, f := range p.parts {
			if f.off <= at && at < f.off+len(f.data) {
				fs.whole = append(fs.whole, f.data[at-f.off:]...)
				break
			}
		}
		if len(fs.whole) == at {
			break
		}
	}
	return span{fs.whole[:min(len(fs.whole), p.size)], p.size}
}

// UDP ports.
const (
	portVXLAN = 4789
	portRoCE  = 4791
)

// Lengths of headers, in bytes.
const (
	udpSize   = 8
	vxlanSize = 8
	greSize   = 4 // without optional fields, which have as many bytes each
)

// GRE header flags.
const (
	greChecksum = 0x8000
	greRouting  = 0x4000
	greKey      = 0x2000
	greSequence = 0x1000
	greAck      = 0x0080
	greVersion  = 0x0007
)

// greERSPAN3 is the protocol number of ERSPAN type III, beside the Ethernet types.
const greERSPAN3 = 0x22eb

// udp decodes what VXLAN and RoCEv2 carry.
func (d *Decoder) udp(a addresses, p span, depth int) Kind {
	if len(p.data) < udpSize {
		return None
	}
	// What may be invalid is a length below that of the header; the ports are
	// set before.
	_ = d.udpLayer.DecodeFromBytes(p.data[:udpSize], gopacket.NilDecodeFeedback)
	if n := int(d.udpLayer.Length); n >= udpSize {
		p = p.limit(n)
	}
	d.header(LayerUDP, p, udpSize)
	switch d.udpLayer.DstPort {
	case portVXLAN:
		return d.vxlan(p.from(udpSize), depth+1)
	case portRoCE:
		return d.roce2(a, p.from(udpSize))
	}
	return None
}

// vxlan decodes the Ethernet frame inside.
func (d *Decoder) vxlan(p span, depth int) Kind {
	if len(p.data) < vxlanSize || d.vxlanLayer.DecodeFromBytes(p.data[:vxlanSize], gopacket.NilDecodeFeedback) != nil {
		return None
	}
	if !d.vxlanLayer.ValidIDFlag {
		return None
	}
	d.header(LayerVXLAN, p, vxlanSize)
	return d.ethernet(p.from(vxlanSize), depth)
}

// gre decodes what is inside of GRE version 0: IP, an Ethernet frame, or a
// mirrored frame (ERSPAN).
func (d *Decoder) gre(p span, depth int) Kind {
	b := p.data
	if depth > maxTunnels || len(b) < greSize {
		return None
	}
	flags := binary.BigEndian.Uint16(b)
	n := greSize
	for _, f := range [...]uint16{greChecksum, greKey, greSequence} {
		if flags&f != 0 {
			n += 4
		}
	}
	// gopacket reads beyond what was captured, and allocates routes, which
	// GRE has not had since RFC 2784.
	if flags&(greVersion|greRouting|greAck) != 0 || len(b) < n || d.greLayer.DecodeFromBytes(b[:n], gopacket.NilDecodeFeedback) != nil {
		return None
	}
	d.header(LayerGRE, p, n)
	p = p.from(n)
	mirrored := 0 // bytes of the header of a mirrored frame
	switch proto := uint16(d.greLayer.Protocol); {
	case proto == etherERSPAN && flags&greSequence != 0:
		mirrored = 8
	case proto == etherERSPAN:
	case proto == greERSPAN3:
		mirrored = 12
	default:
		return d.network(proto, p, depth)
	}
	d.header(LayerERSPAN, p, mirrored)
	return d.ethernet(p.from(mirrored), depth)
}
