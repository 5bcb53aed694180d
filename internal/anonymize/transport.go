package anonymize

import (
	"encoding/binary"
	"slices"

	"github.com/lshark/lshark/internal/checksum"
)

// Lengths of headers without options, in bytes.
const (
	tcpSize   = 20
	udpSize   = 8
	vxlanSize = 8
	greSize   = 4 // without optional fields, which have as many bytes each
	icmpSize  = 8
)

const (
	tcpSYN = 2
	tcpRST = 4
)

// TCP options that are kept.
const (
	optEnd       = 0
	optPad       = 1
	optMSS       = 2
	optScale     = 3
	optSACKOK    = 4
	optSACK      = 5
	optTimestamp = 8
)

// UDP ports of what is decoded over UDP.
const (
	portVXLAN = 4789
	portRoCE  = 4791
)

// addSum adds a checksum of a transport to those to be set, if it was captured. It covers
// the part p. The proto is that of the pseudo header, 0 for none.
func (h *headers) addSum(s sum, a *addresses, proto byte, p part) {
	if s.at+2 > p.end {
		return
	}
	s.from, s.to = p.off, p.end
	var pseudo [6]byte // what the pseudo header has besides the addresses
	if proto != 0 {
		pseudo[1] = proto
		binary.BigEndian.PutUint32(pseudo[2:], uint32(p.wire))
		s.pseudo = checksum.Add(a.before, pseudo[:])
	}
	s.state = s.internetState(h.in, p.cut())
	if proto != 0 {
		s.pseudo = checksum.Add(a.after, pseudo[:])
	}
	h.keep(s.at + 2)
	h.sums = append(h.sums, s)
}

// tcp rewrites a TCP segment. Its payload is read later, if it belongs to LNet.
func (h *headers) tcp(a *addresses, p part) {
	const upToFlags = 14
	b := h.in[p.off:p.end]
	if len(b) < upToFlags { // cut, as in an ICMP message
		h.copy(p, upToFlags)
		return
	}
	size := int(b[12]>>4) * 4
	if size < tcpSize || size > p.wire {
		h.removed.OtherTCP += int64(len(b))
		return
	}
	h.copy(p, tcpSize)
	h.tcpOptions(p, min(size, len(b)))
	h.addSum(sum{at: p.off + 16}, a, protoTCP, p)
	body := p.from(size)
	srcPort, dstPort := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	if !slices.Contains(h.ports, srcPort) && !slices.Contains(h.ports, dstPort) {
		h.removed.OtherTCP += int64(body.len())
		return
	}
	flags, seq := b[13], binary.BigEndian.Uint32(b[4:])
	if flags&tcpRST != 0 || body.len() == 0 {
		return
	}
	if flags&tcpSYN != 0 {
		seq++
	}
	h.truncated = h.truncated || body.cut()
	h.payload = payload{off: body.off, size: body.len(), tcp: true, cut: body.cut(), seq: seq,
		key: blockKey{flow: flow(a.src, a.dst, srcPort, dstPort)}}
}

// tcpOptions keeps the options that the analysis of a connection needs; others become
// padding. The header has size bytes, as far as it was captured.
func (c *copier) tcpOptions(p part, size int) {
	if size <= tcpSize {
		return
	}
	in, out := c.in[p.off+tcpSize:p.off+size], c.out[p.off+tcpSize:p.off+size]
	c.keep(p.off + size)
	for i := 0; i < len(in) && in[i] != optEnd; {
		if in[i] == optPad {
			out[i] = optPad
			i++
			continue
		}
		n := len(in) - i // of one that was cut
		if i+1 < len(in) {
			if n = int(in[i+1]); n < 2 {
				return
			}
		}
		end := min(i+n, len(in))
		switch in[i] {
		case optMSS, optScale, optSACKOK, optSACK, optTimestamp:
			copy(out[i:end], in[i:])
		default:
			for k := i; k < end; k++ {
				out[k] = optPad
			}
		}
		i = end
	}
}

// udp rewrites a datagram.
func (h *headers) udp(a *addresses, p part, depth int) {
	if p.len() < udpSize {
		h.removed.OtherUDP += int64(p.len())
		return
	}
	h.copy(p, udpSize)
	if n := int(binary.BigEndian.Uint16(h.in[p.off+4:])); n >= udpSize {
		p = p.limit(n)
	}
	h.addSum(sum{at: p.off + 6, isUDP: true}, a, protoUDP, p)
	body := p.from(udpSize)
	switch binary.BigEndian.Uint16(h.in[p.off+2:]) {
	case portVXLAN:
		h.vxlan(body, depth+1)
	case portRoCE:
		h.infiniband(a.dst, body, a.network, a.header)
	default:
		h.removed.OtherUDP += int64(body.len())
	}
}

// vxlan rewrites the Ethernet frame inside.
func (h *headers) vxlan(p part, depth int) {
	const validID = 0x08
	if p.len() < vxlanSize || h.in[p.off]&validID == 0 {
		h.removed.OtherUDP += int64(p.len())
		return
	}
	h.copy(p, vxlanSize)
	h.ethernet(p.from(vxlanSize), depth)
}

// gre rewrites what is inside of GRE version 0: IP, an Ethernet frame, or a mirrored frame
// (ERSPAN).
func (h *headers) gre(p part, depth int) {
	const (
		checksum, routing, key, sequence, ack, version = 0x8000, 0x4000, 0x2000, 0x1000, 0x0080, 0x0007

		erspan3                  = 0x22eb
		erspan2Size, erspan3Size = 8, 12
	)
	if depth > maxTunnels || p.len() < greSize {
		h.removed.OtherIP += int64(p.len())
		return
	}
	b := h.in[p.off:p.end]
	flags, proto := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	n := greSize
	for _, f := range [...]uint16{checksum, key, sequence} {
		if flags&f != 0 {
			n += 4
		}
	}
	if flags&(version|routing|ack) != 0 || len(b) < n {
		h.removed.OtherIP += int64(p.len())
		return
	}
	h.copy(p, n)
	if flags&checksum != 0 {
		h.addSum(sum{at: p.off + greSize}, nil, 0, p)
	}
	p = p.from(n)
	switch {
	case proto == etherERSPAN && flags&sequence != 0:
		h.copy(p, erspan2Size)
		h.ethernet(p.from(erspan2Size), depth)
	case proto == etherERSPAN:
		h.ethernet(p, depth)
	case proto == erspan3:
		h.copy(p, erspan3Size)
		h.ethernet(p.from(erspan3Size), depth)
	default:
		h.network(proto, p, depth)
	}
}

// icmp rewrites an ICMP message: its header, and the packet that an error is about.
func (h *headers) icmp(p part, depth int) {
	const unreachable, quench, redirect, timeExceeded, parameterProblem = 3, 4, 5, 11, 12
	const echoReply, echo = 0, 8
	if p.len() < icmpSize || depth > maxTunnels {
		h.removed.OtherIP += int64(p.len())
		return
	}
	h.copy(p, 4)
	h.addSum(sum{at: p.off + 2}, nil, 0, p)
	body := p.from(icmpSize)
	switch h.in[p.off] {
	case unreachable, quench, timeExceeded, parameterProblem:
		h.copy(p, icmpSize)
		h.rawIP(body, depth)
	case redirect:
		h.ipv4Address(p, 4)
		h.rawIP(body, depth)
	case echo, echoReply:
		h.copy(p, icmpSize)
		h.removed.OtherIP += int64(body.len())
	default:
		h.removed.OtherIP += int64(body.len())
	}
}

// icmpv6 rewrites an ICMPv6 message: its header, the packet that an error is about, and the
// addresses of neighbour discovery.
func (h *headers) icmpv6(a *addresses, p part, depth int) {
	const lastError, echo, echoReply = 4, 128, 129
	const routerSolicit, routerAdvert, neighbourSolicit, neighbourAdvert = 133, 134, 135, 136
	if p.len() < icmpSize || depth > maxTunnels {
		h.removed.OtherIP += int64(p.len())
		return
	}
	h.copy(p, 4)
	h.addSum(sum{at: p.off + 2}, a, protoICMPv6, p)
	switch typ := h.in[p.off]; {
	case typ <= lastError:
		h.copy(p, icmpSize)
		h.rawIP(p.from(icmpSize), depth)
	case typ == echo || typ == echoReply:
		h.copy(p, icmpSize)
		h.removed.OtherIP += int64(p.from(icmpSize).len())
	case typ == routerSolicit:
		h.neighbourOptions(p.from(icmpSize))
	case typ == routerAdvert:
		h.copy(p, 16)
		h.neighbourOptions(p.from(16))
	case typ == neighbourSolicit || typ == neighbourAdvert:
		h.copy(p, icmpSize)
		h.ipv6Address(p, icmpSize)
		h.neighbourOptions(p.from(icmpSize + 16))
	default:
		h.removed.OtherIP += int64(p.from(4).len())
	}
}

// neighbourOptions maps the addresses in options of neighbour discovery. Of others, type and
// length are kept.
func (c *copier) neighbourOptions(p part) {
	const source, target, prefix, mtu = 1, 2, 3, 5
	for p.len() >= 8 {
		typ, n := c.in[p.off], int(c.in[p.off+1])*8
		c.copy(p, 2)
		switch {
		case n == 0:
			return
		case (typ == source || typ == target) && n == 8:
			c.mac(p, 2)
		case typ == prefix && n == 32:
			c.copy(p, 16)
			c.ipv6Address(p, 16)
		case typ == mtu && n == 8:
			c.copy(p, 8)
		default:
			c.removed.OtherIP += int64(min(n, p.len()) - 2)
		}
		p = p.from(n)
	}
}
