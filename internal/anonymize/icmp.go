package anonymize

const (
	protoTCP    = 6
	protoUDP    = 17
	protoICMPv6 = 58

	icmpSize = 8 // length of a header of ICMP
)

// arp rewrites the addresses of ARP for IPv4 over Ethernet. Of ARP for others there is nothing
// but the types and lengths.
func (c *copier) arp(p part) {
	const fixed, lengths = 8, 4
	if p.len() < fixed || c.in[p.off+lengths] != macSize || c.in[p.off+lengths+1] != 4 {
		c.removed.Other += int64(max(0, p.len()-fixed))
		return
	}
	c.fields(p, whole, []field{{8, 6, (*copier).mac}, {14, 4, (*copier).ipv4}, {18, 6, (*copier).mac}, {24, 4, (*copier).ipv4}})
}

// icmp rewrites what is behind the checksum of an ICMP message. The packet that an error is about
// has headers of its own.
func (c *copier) icmp(p part) {
	const echoReply, unreachable, quench, redirect, echo, timeExceeded, parameterProblem = 0, 3, 4, 5, 8, 11, 12
	switch c.in[p.off] {
	case unreachable, quench, timeExceeded, parameterProblem:
		c.copy(p, icmpSize)
	case redirect:
		c.replace(p, 4, 4, (*copier).ipv4)
	case echo, echoReply:
		c.copy(p, icmpSize)
		c.removed.OtherIP += int64(p.from(icmpSize).len())
	default:
		c.removed.OtherIP += int64(p.from(icmpSize).len())
	}
}

// icmpv6 rewrites what is behind the checksum of an ICMPv6 message, with the addresses of
// neighbour discovery.
func (c *copier) icmpv6(p part) {
	const lastError, echo, echoReply = 4, 128, 129
	const routerSolicit, routerAdvert, neighbourSolicit, neighbourAdvert = 133, 134, 135, 136
	switch typ := c.in[p.off]; {
	case typ <= lastError:
		c.copy(p, icmpSize)
	case typ == echo || typ == echoReply:
		c.copy(p, icmpSize)
		c.removed.OtherIP += int64(p.from(icmpSize).len())
	case typ == routerSolicit:
		c.neighbourOptions(p.from(icmpSize))
	case typ == routerAdvert:
		c.copy(p, 16)
		c.neighbourOptions(p.from(16))
	case typ == neighbourSolicit || typ == neighbourAdvert:
		c.copy(p, icmpSize)
		c.replace(p, icmpSize, 16, (*copier).ipv6)
		c.neighbourOptions(p.from(icmpSize + 16))
	default:
		c.removed.OtherIP += int64(p.from(4).len())
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
			c.replace(p, 2, macSize, (*copier).mac)
		case typ == prefix && n == 32:
			c.copy(p, 16)
			c.replace(p, 16, 16, (*copier).ipv6)
		case typ == mtu && n == 8:
			c.copy(p, 8)
		default:
			c.removed.OtherIP += int64(min(n, p.len()) - 2)
		}
		p = p.from(n)
	}
}
