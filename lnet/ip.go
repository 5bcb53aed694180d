package lnet

import "encoding/binary"

// IP protocols, and extension headers of IPv6.
const (
	protoHopByHop    = 0
	protoIPv4        = 4 // IP in IP
	protoTCP         = 6
	protoUDP         = 17
	protoIPv6        = 41
	protoRouting     = 43
	protoFragment    = 44
	protoGRE         = 47
	protoAuth        = 51
	protoDestination = 60
	protoIPIP        = 94 // the same, seldom
	protoMobility    = 135
)

// maxSegment is twice what BIG TCP makes of one segment; a longer one is a lie.
const maxSegment = 1 << 20

const optJumbo = 0xc2 // hop-by-hop option: the length of a jumbogram

// addresses of a packet; IPv4 in the mapped form.
type addresses struct {
	src, dst [16]byte
}

func (d *linkDecoder) ipv4(p span, depth int) bool {
	b := p.data
	if len(b) < 20 || b[0]>>4 != 4 {
		return false
	}
	header := int(b[0]&0xf) * 4
	total := int(binary.BigEndian.Uint16(b[2:]))
	if total == 0 {
		// The sender's card cuts the packet to size later, or it is longer
		// than 16 bits can say: the frame's own length is all there is.
		total = p.wire
	}
	if header < 20 || total < header || len(b) < header {
		return false
	}
	var a addresses
	a.src[10], a.src[11], a.dst[10], a.dst[11] = 0xff, 0xff, 0xff, 0xff
	copy(a.src[12:], b[12:16])
	copy(a.dst[12:], b[16:20])
	proto := b[9]
	body := p.limit(total).from(header)
	if frag := binary.BigEndian.Uint16(b[6:]); frag&0x3fff != 0 {
		key := fragmentKey{addresses: a, source: d.seg.key.source, proto: byte(proto), id: uint32(binary.BigEndian.Uint16(b[4:]))}
		var whole bool
		body, whole = d.frags.add(key, fragment{int(frag&0x1fff) * 8, frag&0x2000 != 0, body}, d.seg.time)
		if !whole {
			return false
		}
	}
	return d.transport(proto, a, body, depth)
}

func (d *linkDecoder) ipv6(p span, depth int) bool {
	b := p.data
	if len(b) < 40 || b[0]>>4 != 6 {
		return false
	}
	var a addresses
	copy(a.src[:], b[8:24])
	copy(a.dst[:], b[24:40])
	body := p.from(40)
	if n := int(binary.BigEndian.Uint16(b[4:])); n > 0 {
		body = body.limit(n)
	}
	return d.extensions(b[6], a, body, depth)
}

// extensions walks the IPv6 extension headers. Each takes at least eight
// bytes, so the walk ends.
func (d *linkDecoder) extensions(next byte, a addresses, p span, depth int) bool {
	for {
		b := p.data
		switch next {
		case protoHopByHop, protoRouting, protoDestination, protoMobility, protoAuth:
			if len(b) < 8 {
				return false
			}
			n := (int(b[1]) + 1) * 8
			if next == protoAuth {
				n = (int(b[1]) + 2) * 4
			}
			if next == protoHopByHop {
				p = jumbo(p, n)
			}
			next = b[0]
			p = p.from(n)
		case protoFragment:
			if len(b) < 8 {
				return false
			}
			next = b[0]
			at := binary.BigEndian.Uint16(b[2:])
			id := binary.BigEndian.Uint32(b[4:])
			p = p.from(8)
			if at&^6 == 0 {
				continue // the only fragment
			}
			key := fragmentKey{addresses: a, source: d.seg.key.source, proto: byte(next), id: id, six: true}
			var whole bool
			p, whole = d.frags.add(key, fragment{int(at &^ 7), at&1 != 0, p}, d.seg.time)
			if !whole {
				return false
			}
		default:
			return d.transport(next, a, p, depth)
		}
	}
}

// jumbo takes the length of a jumbogram from the n bytes of hop-by-hop
// options at p, when it is there.
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

// transport goes by the IP protocol.
func (d *linkDecoder) transport(proto byte, a addresses, p span, depth int) bool {
	switch proto {
	case protoTCP:
		return d.tcp(a, p)
	case protoUDP:
		return depth < maxTunnels && d.udp(p, depth+1)
	case protoGRE:
		return depth < maxTunnels && d.gre(p, depth+1)
	case protoIPv4, protoIPv6, protoIPIP:
		return depth < maxTunnels && d.rawIP(p, depth+1)
	}
	return false
}

// tcp fills the rest of d.seg.
func (d *linkDecoder) tcp(a addresses, p span) bool {
	b := p.data
	if len(b) < 14 {
		return false
	}
	header := int(b[12]>>4) * 4
	if header < 20 || header > p.wire {
		return false
	}
	s := &d.seg
	s.key.src, s.key.dst = a.src, a.dst
	s.key.sport = binary.BigEndian.Uint16(b)
	s.key.dport = binary.BigEndian.Uint16(b[2:])
	s.seq = binary.BigEndian.Uint32(b[4:])
	s.ack = binary.BigEndian.Uint32(b[8:])
	s.flags = b[13]
	body := p.from(header)
	s.data, s.size = body.data, body.wire
	return s.size <= maxSegment
}
