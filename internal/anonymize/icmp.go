package anonymize

import "github.com/lshark/lshark/internal/anonymize/values"

const (
	protoTCP    = 6
	protoUDP    = 17
	protoICMPv6 = 58

	icmpSize = 8 // length of a header of ICMP
)

// arp rewrites the addresses of ARP for IPv4 over Ethernet. Of ARP for others there is nothing
// but the types and lengths.
func (h *headers) arp(p part) {
	const fixed, lengths = 8, 4
	if p.len() < fixed || h.in[p.off+lengths] != macSize || h.in[p.off+lengths+1] != 4 {
		h.removed.Other += int64(max(0, p.len()-fixed))
		return
	}
	h.fields(p, whole, []field{{8, 6, (*values.Mapper).MAC}, {14, 4, (*values.Mapper).IPv4}, {18, 6, (*values.Mapper).MAC}, {24, 4, (*values.Mapper).IPv4}})
}

// message is what is kept of a message of ICMP.
type message struct {
	fields   []field
	isPacket bool // the packet that an error is about is behind them, with headers of its own
	options  int  // offset of the options of neighbour discovery; 0: there are none
}

var (
	echo      = message{fields: []field{{0, icmpSize, nil}}}
	failure   = message{fields: []field{{0, icmpSize, nil}}, isPacket: true}
	neighbour = message{fields: []field{{0, icmpSize, nil}, {icmpSize, 16, (*values.Mapper).IPv6}}, options: icmpSize + 16}
)

// icmpMessages and icmpv6Messages have the types of which more than the checksum is kept.
var (
	icmpMessages = map[byte]message{
		0: echo, 8: echo,
		3: failure, 4: failure, 11: failure, 12: failure, // unreachable, quench, time exceeded, parameter problem
		5: {fields: []field{{4, 4, (*values.Mapper).IPv4}}, isPacket: true}, // redirect
	}
	icmpv6Messages = map[byte]message{
		0: failure, 1: failure, 2: failure, 3: failure, 4: failure,
		128: echo, 129: echo,
		133: {options: icmpSize},                          // router solicitation
		134: {fields: []field{{0, 16, nil}}, options: 16}, // and advertisement
		135: neighbour, 136: neighbour,                    // neighbour solicitation and advertisement
	}
)

// icmp rewrites what is behind the checksum of a message.
func (h *headers) icmp(p part, messages map[byte]message) {
	m := messages[h.in[p.off]]
	h.fields(p, whole, m.fields)
	switch {
	case m.options > 0:
		h.neighbourOptions(p.from(m.options))
	case !m.isPacket:
		h.removed.OtherIP += int64(p.from(icmpSize).len())
	}
}

// neighbourOptions maps the addresses in options of neighbour discovery. Of others, type and
// length are kept.
func (h *headers) neighbourOptions(p part) {
	const source, target, prefix, mtu = 1, 2, 3, 5
	for p.len() >= 8 {
		typ, n := h.in[p.off], int(h.in[p.off+1])*8
		h.copy(p, 2)
		switch {
		case n == 0:
			return
		case (typ == source || typ == target) && n == 8:
			h.replace(p, 2, macSize, (*values.Mapper).MAC)
		case typ == prefix && n == 32:
			h.copy(p, 16)
			h.replace(p, 16, 16, (*values.Mapper).IPv6)
		case typ == mtu && n == 8:
			h.copy(p, 8)
		default:
			h.removed.OtherIP += int64(min(n, p.len()) - 2)
		}
		p = p.from(n)
	}
}
