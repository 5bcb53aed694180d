package anonymize

import (
	"encoding/binary"

	"github.com/lshark/lshark/internal/checksum"
)

// IP protocols, and extension headers of IPv6.
const (
	protoHopByHop    = 0
	protoICMP        = 1
	protoIPv4        = 4 // IP in IP
	protoTCP         = 6
	protoUDP         = 17
	protoIPv6        = 41
	protoRouting     = 43
	protoFragment    = 44
	protoGRE         = 47
	protoAuth        = 51
	protoICMPv6      = 58
	protoDestination = 60
	protoIPIP        = 94 // IP in IP, rarely used
	protoMobility    = 135
)

// Lengths of headers without options, in bytes.
const (
	ipv4Size = 20
	ipv6Size = 40
)

// IP options that are kept: they have no address or text.
const (
	opt4End         = 0
	opt4Nop         = 1
	opt4Timestamp   = 68
	opt4RouterAlert = 148
	opt6Pad1        = 0
	opt6PadN        = 1
	opt6RouterAlert = 5
	opt6Jumbo       = 0xc2
)

// addresses are those of an IP packet, before they were mapped and after, as summed by the
// pseudo header of transport checksums.
type addresses struct {
	src, dst      [16]byte // those of IPv4 in the mapped form
	before, after uint16
	header        networkHeader
	network       int // offset of the IP header
}

// rawIP rewrites a packet of the IP version in its first byte.
func (h *headers) rawIP(p part, depth int) {
	version := byte(0)
	if depth <= maxTunnels && p.len() > 0 {
		version = h.in[p.off] >> 4
	}
	switch version {
	case 4:
		h.ipv4(p, depth)
	case 6:
		h.ipv6(p, depth)
	default:
		h.removed.OtherIP += int64(p.len())
	}
}

func (h *headers) ipv4(p part, depth int) {
	if p.len() < ipv4Size || h.in[p.off]>>4 != 4 {
		h.removed.OtherIP += int64(p.len())
		return
	}
	b := h.in[p.off:p.end]
	size := int(b[0]&0xf) * 4
	total := int(binary.BigEndian.Uint16(b[2:]))
	if total == 0 {
		total = p.wire // segmentation is left to the network card, or the packet is longer than 64 KiB
	}
	if size < ipv4Size || total < size || len(b) < size {
		h.removed.OtherIP += int64(p.len())
		return
	}
	h.copy(p, 12)
	h.ipv4Address(p, 12)
	h.ipv4Address(p, 16)
	h.ipv4Options(p, size)
	ipSum := sum{at: p.off + 10, from: p.off, to: p.off + size}
	ipSum.state = ipSum.internetState(h.in, false)
	ipSum.set(h.out)

	a := addresses{header: headerIPv4, network: p.off}
	a.src[10], a.src[11], a.dst[10], a.dst[11] = 0xff, 0xff, 0xff, 0xff
	copy(a.src[12:], b[12:16])
	copy(a.dst[12:], b[16:20])
	a.before, a.after = checksum.Add(0, b[12:20]), checksum.Add(0, h.out[p.off+12:p.off+20])
	body := p.limit(total).from(size)
	if binary.BigEndian.Uint16(b[6:])&0x3fff != 0 { // more fragments, or an offset
		h.removed.Fragments += int64(body.len())
		return
	}
	h.transport(b[9], &a, body, depth)
}

// ipv4Options keeps options without addresses; others become padding.
func (c *copier) ipv4Options(p part, size int) {
	in, out := c.in[p.off+ipv4Size:p.off+size], c.out[p.off+ipv4Size:p.off+size]
	c.keep(p.off + size)
	for i := 0; i < len(in) && in[i] != opt4End; {
		if in[i] == opt4Nop {
			out[i] = opt4Nop
			i++
			continue
		}
		n := 0
		if i+1 < len(in) {
			n = int(in[i+1])
		}
		if n < 2 || i+n > len(in) {
			return
		}
		const timestampsOnly = 0
		switch {
		case in[i] == opt4RouterAlert, in[i] == opt4Timestamp && n >= 4 && in[i+3]&0xf == timestampsOnly:
			copy(out[i:i+n], in[i:])
		default:
			for k := range n {
				out[i+k] = opt4Nop
			}
		}
		i += n
	}
}

func (h *headers) ipv6(p part, depth int) {
	if p.len() < ipv6Size || h.in[p.off]>>4 != 6 {
		h.removed.OtherIP += int64(p.len())
		return
	}
	b := h.in[p.off:p.end]
	h.copy(p, 8)
	h.ipv6Address(p, 8)
	h.ipv6Address(p, 24)
	a := addresses{header: headerIPv6, network: p.off}
	copy(a.src[:], b[8:24])
	copy(a.dst[:], b[24:40])
	a.before, a.after = checksum.Add(0, b[8:40]), checksum.Add(0, h.out[p.off+8:p.off+40])
	body := p.from(ipv6Size)
	if length := int(binary.BigEndian.Uint16(b[4:])); length > 0 {
		body = body.limit(length)
	}
	h.extensions(b[6], &a, body, depth)
}

// extensions rewrites the IPv6 extension headers. Each takes at least eight bytes, so this
// ends.
func (h *headers) extensions(next byte, a *addresses, p part, depth int) {
	for {
		b := h.in[p.off:p.end]
		n := 8
		switch next {
		case protoHopByHop, protoRouting, protoDestination, protoMobility, protoFragment, protoAuth:
			if len(b) >= 8 && next == protoAuth {
				n = (int(b[1]) + 2) * 4
			} else if len(b) >= 8 && next != protoFragment {
				n = (int(b[1]) + 1) * 8
			}
			if len(b) < n || n < 8 {
				h.removed.OtherIP += int64(len(b))
				return
			}
		default:
			h.transport(next, a, p, depth)
			return
		}
		switch next {
		case protoHopByHop, protoDestination:
			h.copy(p, 2)
			jumbo := h.ipv6Options(p, n)
			if next == protoHopByHop && jumbo > 0 {
				p = p.limit(jumbo)
			}
		case protoRouting:
			h.copy(p, 4) // behind it are addresses
		case protoMobility:
			h.copy(p, 3)
		case protoAuth:
			h.copy(p, 8) // behind it is the value that proves the sender
		case protoFragment:
			h.copy(p, n)
			if binary.BigEndian.Uint16(b[2:])&^6 != 0 {
				h.removed.Fragments += int64(p.from(n).len())
				return
			}
		}
		next = b[0]
		h.keep(p.off + n)
		p = p.from(n)
	}
}

// ipv6Options keeps options without addresses; others become padding. It returns the length
// of a jumbogram, 0 for none.
func (c *copier) ipv6Options(p part, size int) (jumbo int) {
	in, out := c.in[p.off:p.off+size], c.out[p.off:p.off+size]
	for i := 2; i+1 < len(in); {
		if in[i] == opt6Pad1 {
			i++
			continue
		}
		n := 2 + int(in[i+1])
		if i+n > len(in) {
			break
		}
		out[i], out[i+1] = opt6PadN, in[i+1]
		switch {
		case in[i] == opt6RouterAlert:
			copy(out[i:i+n], in[i:])
		case in[i] == opt6Jumbo && n == 6:
			copy(out[i:i+n], in[i:])
			jumbo = int(binary.BigEndian.Uint32(in[i+2:]))
		}
		i += n
	}
	return jumbo
}

// transport rewrites the payload of an IP packet by its protocol number.
func (h *headers) transport(proto byte, a *addresses, p part, depth int) {
	switch proto {
	case protoTCP:
		h.tcp(a, p)
	case protoUDP:
		h.udp(a, p, depth)
	case protoGRE:
		h.gre(p, depth+1)
	case protoIPv4, protoIPv6, protoIPIP:
		h.rawIP(p, depth+1)
	case protoICMP:
		h.icmp(p, depth+1)
	case protoICMPv6:
		h.icmpv6(a, p, depth+1)
	default:
		h.removed.OtherIP += int64(p.len())
	}
}
